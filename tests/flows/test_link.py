"""Linking Aldis to an account: the code is there to be scanned while Aldis waits, and every end is told."""

import io
import re
import signal
from pathlib import Path

import pytest
import segno

from tests.flows.processes import started
from tests.servers.envelopes import ACCOUNT
from tests.servers.signal_cli import SignalCli
from tests.servers.signal_rest_api import SignalRestApi
from tests.servers.signal_server import SignalServer
from tests.waiting import eventually


@pytest.mark.parametrize("bridge", [SignalCli, SignalRestApi])
async def test_the_code_is_shown_and_scanned(bridge: type[SignalServer], tmp_path: Path) -> None:
    """As in the compose files, where nothing waits for the bridge: Aldis does, and says so once. Then the QR code and
    its address stand alone on standard output before a phone scans it, and the number is named.
    """
    async with bridge(accounts=[]) as server:
        await server.stop()
        settings = {"SIGNAL__URL": server.url, "HTTP_PROXY": "http://127.0.0.1:1"}  # which is not for the bridge
        async with started("link", settings=settings, folder=tmp_path) as console:
            await console.err.until("waiting for Signal: ")
            await server.start()
            await console.err.until("Linked devices")
            code = io.StringIO()
            segno.make(server.link_uri).terminal(out=code, compact=True)
            shown = f"{code.getvalue()}{server.link_uri}\n"
            await console.out.until(shown)
            await server.scan(ACCOUNT)
            ended = await console.ended()
    assert (ended.status, ended.stdout) == (0, shown)
    assert ended.stderr.count("waiting for Signal: ") == 1
    assert re.search(rf"Linked as a device of {re.escape(ACCOUNT)}\. Start Aldis with: \S+ -m bot run\n", ended.stderr)


@pytest.mark.parametrize("scans", [False, True])
async def test_giving_up(tmp_path: Path, scans: bool) -> None:
    """Ctrl-C while the code waits for a phone, or one whose account is linked already, which is said before: a line,
    status 1, no trace of the code's address in the log.
    """
    async with (
        SignalCli() as server,
        started("link", settings={"SIGNAL__URL": server.url}, folder=tmp_path) as console,
    ):
        await console.err.until(f"The bridge already has an account: {ACCOUNT}.")
        await console.err.until("Waiting for the phone")
        await eventually(lambda: "finishLink" in str(server.requests))
        if scans:
            await server.scan(ACCOUNT)
        else:
            console.signal(signal.SIGINT)
        ended = await console.ended()
    assert ended.status == 1
    refused = f"aldis: not linked; the bridge says: The user {ACCOUNT} already exists"
    assert ended.stderr.splitlines()[-1].startswith(refused if scans else "Not linked.")
    assert "Traceback" not in ended.stderr
    assert server.link_uri not in ended.stderr


async def test_a_second_account(tmp_path: Path) -> None:
    """The setting that has to name one of them from now on is said."""
    async with (
        SignalCli() as server,
        started("link", settings={"SIGNAL__URL": server.url}, folder=tmp_path) as console,
    ):
        await server.scan("+15550100009")
        ended = await console.ended()
    assert ended.status == 0
    assert "The bridge has several accounts now: set SIGNAL__ACCOUNT=+15550100009.\n" in ended.stderr
