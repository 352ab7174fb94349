"""Linking Aldis to an account: the code is there to be scanned while Aldis waits, and every end is told."""

import io
import re
import signal
from pathlib import Path

import pytest
import segno

from tests.flows.consoles import watched
from tests.servers.envelopes import ACCOUNT
from tests.servers.signal_cli import SignalCli
from tests.servers.signal_rest_api import SignalRestApi
from tests.servers.signal_server import SignalServer
from tests.waiting import eventually


def code_of(uri: str) -> str:
    """The QR code of an address in block characters."""
    shown = io.StringIO()
    segno.make(uri).terminal(out=shown, compact=True)
    return shown.getvalue()


BRIDGES = pytest.mark.parametrize("bridge", [SignalCli, SignalRestApi])


def shown(uri: str) -> str:
    """What stands on standard output for an address: its code, and the address itself below."""
    return f"{code_of(uri)}{uri}\n"


@BRIDGES
async def test_the_code_is_shown_and_scanned(bridge: type[SignalServer], tmp_path: Path) -> None:
    """The QR code and its address stand alone on standard output before anybody scans it; then the number is named."""
    async with (
        bridge(accounts=[]) as server,
        watched("link", settings={"SIGNAL__URL": server.url}, folder=tmp_path) as console,
    ):
        await server.until(lambda: server.links_begun > 0)
        code = shown(server.link_uri)
        assert "█" in code
        await console.out.until(code)
        await console.err.until("Linked devices")
        await server.scan(ACCOUNT)
        ended = await console.ended()
    assert (ended.status, ended.stdout) == (0, code)
    assert re.search(rf"Linked as a device of {re.escape(ACCOUNT)}\. Start Aldis with: \S+ -m bot run\n", ended.stderr)


@BRIDGES
async def test_a_bridge_that_is_just_starting(bridge: type[SignalServer], tmp_path: Path) -> None:
    """As in the compose files, where nothing waits for it: Aldis does, says so once, and shows the code then."""
    async with bridge(accounts=[]) as server:
        await server.stop()
        settings = {"SIGNAL__URL": server.url}
        async with watched("link", settings=settings, folder=tmp_path) as console:
            await console.err.until("Waiting for Signal: ")
            await server.start()
            await console.err.until("Linked devices")
            await server.scan(ACCOUNT)
            ended = await console.ended()
    assert (ended.status, ended.stdout) == (0, shown(server.link_uri))
    assert ended.stderr.count("Waiting for Signal: ") == 1


async def test_an_account_that_is_linked_already(tmp_path: Path) -> None:
    """That there is one is said before, and signal-cli's own sentence when it is scanned again."""
    async with (
        SignalCli() as server,
        watched("link", settings={"SIGNAL__URL": server.url}, folder=tmp_path) as console,
    ):
        await console.err.until(f"The bridge already has an account: {ACCOUNT}.")
        await server.scan(ACCOUNT)
        ended = await console.ended()
    assert ended.status == 1
    told = f'aldis: not linked; the bridge says: The user {ACCOUNT} already exists Delete "account.d/123456"'
    assert ended.stderr.splitlines()[-1].startswith(told)


async def test_giving_up(tmp_path: Path) -> None:
    """Ctrl-C while the code waits for a phone: one line, status 1, no trace of the code's address in the log."""
    async with (
        SignalCli(accounts=[]) as server,
        watched("link", settings={"SIGNAL__URL": server.url}, folder=tmp_path) as console,
    ):
        await console.err.until("Waiting for the phone")
        await eventually(lambda: "finishLink" in str(server.requests))
        console.send(signal.SIGINT)
        ended = await console.ended()
    assert ended.status == 1
    assert ended.stderr.splitlines()[-1] == "Not linked."
    assert "Traceback" not in ended.stderr
    assert server.link_uri not in ended.stderr
