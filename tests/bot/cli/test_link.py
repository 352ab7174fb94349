"""Codes to link by: a new one as long as somebody may still come, over both bridges."""

import asyncio
import sys
from collections.abc import AsyncGenerator, Callable, Coroutine
from contextlib import nullcontext
from functools import partial
from typing import Any

import pytest

from bot.cli import look
from bot.signal.protocol import MAX_LINK_CODES, Linking
from bot.signal.rest_api.transport import RestApiLinking
from bot.signal.signal_cli.transport import SignalCliLinking
from bot.web.admin.account import show_codes
from tests.servers.envelopes import ACCOUNT
from tests.servers.signal_cli import SignalCli
from tests.servers.signal_rest_api import SignalRestApi
from tests.servers.signal_server import SignalServer
from tests.waiting import WAIT_SECONDS

Row = tuple[SignalServer, Linking]
QUICK = 0.01


def by_signal_cli(server: SignalServer) -> Linking:
    server.link_seconds = QUICK
    return SignalCliLinking(server.url)


def by_rest_api(server: SignalServer) -> Linking:
    return RestApiLinking(server.url, scan_seconds=QUICK, poll_seconds=QUICK / 2)


@pytest.fixture(params=[(SignalCli, by_signal_cli), (SignalRestApi, by_rest_api)], ids=["signal_cli", "rest_api"])
async def row(request: pytest.FixtureRequest) -> AsyncGenerator[Row]:
    """A bridge without an account whose codes are good for hardly any time, and the way to link by it."""
    build: Callable[[SignalServer], Any]
    bridge, build = request.param
    async with bridge(accounts=[]) as server:
        link = build(server)
        yield server, link
        await link.aclose()


def scanned(link: Linking) -> Coroutine[Any, Any, str | None]:
    """What the command line does with a bridge that answers."""
    shown: dict[str, Any] = {"on_code": look._show, "on_trouble": lambda error: sys.stderr.write(f"{error}\n")}
    return show_codes(partial(nullcontext, link), pause_seconds=0, **shown)


async def test_a_code_that_nobody_scans_is_replaced(row: Row, capsys: pytest.CaptureFixture[str]) -> None:
    """By another one, until somebody comes; each is said to be new, and how it is done is said once."""
    server, link = row
    scanning = asyncio.ensure_future(scanned(link))
    await server.until(lambda: server.links_begun >= 3)
    server.link_seconds = WAIT_SECONDS
    if isinstance(link, RestApiLinking):
        link.scan_seconds = WAIT_SECONDS
    await server.scan(ACCOUNT)
    assert await scanning == ACCOUNT
    told = capsys.readouterr()
    assert told.out.count("sgnl://linkdevice?") == server.links_begun
    assert told.err.count("This is a new code") == server.links_begun - 1
    assert told.err.count("Linked devices") == 1


async def test_a_code_is_not_waited_for_for_ever(row: Row, capsys: pytest.CaptureFixture[str]) -> None:
    """Each code is a request to Signal's server: after some it is enough, also of a bridge that does not come back."""
    server, link = row
    assert await scanned(link) is None
    assert capsys.readouterr().err.count("not scanned in time") == MAX_LINK_CODES
    await server.stop()
    assert await scanned(link) is None
    assert capsys.readouterr().out == ""
