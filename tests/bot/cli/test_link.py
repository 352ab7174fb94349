"""Codes to link by: a new one as long as a phone may still come."""

import asyncio
import sys
from contextlib import nullcontext
from functools import partial
from typing import Any

import pytest

from bot.cli import look
from bot.signal.protocol import MAX_LINK_CODES, Linking
from bot.signal.signal_cli.transport import SignalCliLinking
from bot.web.admin.account import show_codes
from tests.servers.envelopes import ACCOUNT
from tests.servers.signal_cli import SignalCli
from tests.waiting import WAIT_SECONDS


async def scanned(link: Linking) -> str | None:
    shown: dict[str, Any] = {"on_code": look._show, "on_trouble": lambda error: sys.stderr.write(f"{error}\n")}
    return await show_codes(partial(nullcontext, link), pause_seconds=0, **shown)


async def test_a_code_that_is_not_scanned_is_replaced(capsys: pytest.CaptureFixture[str]) -> None:
    """Each is said to be new, how it is done only once; after some it is enough, for each asks Signal's server."""
    async with SignalCli(accounts=[], link_seconds=0.01) as server:
        link = SignalCliLinking(server.url)
        assert await scanned(link) is None
        assert capsys.readouterr().err.count("not scanned in time") == MAX_LINK_CODES
        scanning = asyncio.ensure_future(scanned(link))
        await server.until(lambda: server.links_begun >= MAX_LINK_CODES + 3)
        server.link_seconds = WAIT_SECONDS
        await server.scan(ACCOUNT)
        assert await scanning == ACCOUNT
        said, codes = capsys.readouterr(), server.links_begun - MAX_LINK_CODES
        assert said.out.count("sgnl://linkdevice?") == codes
        assert said.err.count("This is a new code") == codes - 1
        assert said.err.count("Linked devices") == 1
        await server.stop()
        assert await scanned(link) is None
        assert capsys.readouterr().out == ""
        await link.aclose()
