"""Codes to link by: a new one as long as a phone may still come."""

import asyncio

import pytest

from bot.cli.look import _linked
from bot.settings.load import load_settings
from bot.signal.protocol import MAX_LINK_CODES
from tests.servers.envelopes import ACCOUNT
from tests.servers.signal_cli import SignalCli
from tests.waiting import WAIT_SECONDS


async def test_a_code_that_is_not_scanned_is_replaced(capsys: pytest.CaptureFixture[str]) -> None:
    """Each is said to be new, how it is done only once; after some it is enough, for each asks Signal's server."""
    async with SignalCli(accounts=[], link_seconds=0.01) as server:
        given = load_settings({"SIGNAL__URL": server.url}, None)
        assert await _linked(given) is None
        assert capsys.readouterr().err.count("not scanned in time") == MAX_LINK_CODES
        scanning = asyncio.ensure_future(_linked(given))
        await server.until(lambda: server.links_begun >= MAX_LINK_CODES + 3)
        server.link_seconds = WAIT_SECONDS
        await server.scan(ACCOUNT)
        assert await scanning == ACCOUNT
        said, codes = capsys.readouterr(), server.links_begun - MAX_LINK_CODES
        assert said.out.count("sgnl://linkdevice?") == codes
        assert said.err.count("This is a new code") == codes - 1
        assert said.err.count("Linked devices") == 1
        scanning = asyncio.ensure_future(_linked(given, pause_seconds=0))
        await server.until(lambda: server.links_begun > MAX_LINK_CODES + codes)
        await server.stop()
        assert await scanning is None
        assert capsys.readouterr().out.count("sgnl://linkdevice?") == 1
