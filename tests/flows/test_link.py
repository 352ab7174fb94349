"""Linking Aldis to an account: the code is there to be scanned while Aldis waits, and every end is told."""

import io
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


@pytest.mark.parametrize("bridge", [SignalCli, SignalRestApi])
async def test_the_code_is_shown_and_scanned(bridge: type[SignalServer], tmp_path: Path) -> None:
    """The QR code stands alone on standard output before anybody scans it; then the number is named, status 0."""
    async with bridge(accounts=[]) as server:
        code = code_of(server.link_uri)
        assert "█" in code
        async with watched("link", settings={"SIGNAL__URL": server.url}, folder=tmp_path) as console:
            await console.out.until(code)
            await console.err.until("Linked devices")
            await server.scan(ACCOUNT)
            ended = await console.ended()
    assert (ended.status, ended.stdout) == (0, code)
    assert f"Linked as a device of {ACCOUNT}. Start Aldis with: python -m bot run" in ended.stderr


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


async def test_a_bridge_that_is_not_there(tmp_path: Path) -> None:
    """Where the kind of bridge is to be found out Aldis waits for one and says so; where it is set, it gives up."""
    async with SignalCli() as server:
        url = server.url
    async with watched("link", settings={"SIGNAL__URL": url}, folder=tmp_path) as console:
        await console.err.until("waiting for Signal: nothing answers at SIGNAL__URL yet")
        console.send(signal.SIGINT)
        waited = await console.ended()
    assert (waited.status, waited.stdout) == (1, "")
    assert waited.stderr.endswith("Not linked.\n")

    known = {"SIGNAL__URL": url, "SIGNAL__TRANSPORT": "rest_api"}
    async with watched("link", settings=known, folder=tmp_path) as console:
        ended = await console.ended()
    assert (ended.status, ended.stdout) == (2, "")
    assert ended.stderr.startswith("aldis: no connection to signal-cli-rest-api")
    assert ended.stderr.count("\n") == 1
