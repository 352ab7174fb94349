"""The health page of a running Aldis, and the verb that asks it."""

import asyncio
import json
import socket
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import aiohttp

from tests.flows.consoles import WAIT_SECONDS
from tests.flows.processes import Ended, started
from tests.servers.envelopes import ALICE, message
from tests.servers.signal_cli import SignalCli

CLOSED = "the stream of messages is not open"


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as listening:
        return listening.getsockname()[1]


async def page(port: int, *, until: int) -> dict[str, Any]:
    """What the page says once it answers with this status."""
    async with asyncio.timeout(WAIT_SECONDS), aiohttp.ClientSession() as http:
        while True:
            try:
                async with http.get(f"http://127.0.0.1:{port}/healthz") as response:
                    if response.status == until:
                        return await response.json()
            except aiohttp.ClientConnectionError:
                pass  # it does not listen yet
            await asyncio.sleep(0.05)


async def asked(settings: Mapping[str, str], folder: Path) -> Ended:
    async with started("health", settings=settings, folder=folder) as process:
        return await process.ended()


async def test_well_while_the_stream_is_open_and_ill_while_it_is_not(tmp_path: Path) -> None:
    """200 and status 0 when connected; 503 with the reason and status 1 while signal-cli is down; well again after."""
    port = free_port()
    async with SignalCli() as signal:
        settings = {"SIGNAL__URL": signal.url, "ACCESS__ALLOWED": ALICE.uuid, "WEB__PORT": str(port)}
        async with started("run", settings=settings, folder=tmp_path) as process:
            await signal.connected()
            await signal.deliver(message("hello"))
            await signal.sent_count(1)
            state = await page(port, until=200)
            assert (state["ok"], state["problems"]) == (True, [])
            assert state["counts"]["envelopes_message"] == 1
            well = await asked(settings, tmp_path)
            assert (well.status, json.loads(well.stdout)["ok"], well.stderr) == (0, True, "")

            await signal.stop()
            assert (await page(port, until=503))["problems"] == [CLOSED]
            ill = await asked(settings, tmp_path)
            assert (ill.status, json.loads(ill.stdout)["problems"], ill.stderr) == (1, [CLOSED], "")

            await signal.start()
            await page(port, until=200)
            ended = await process.terminate()
    assert ended.status == 0
