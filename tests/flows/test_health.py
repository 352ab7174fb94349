"""The health page of a running Aldis, and the verb that asks it."""

import asyncio
import json
from pathlib import Path
from typing import Any

import aiohttp

from bot.loops.watchdog import CLOSED
from tests.flows.processes import run_to_end, started
from tests.ports import free_port
from tests.servers.envelopes import ALICE, MALLORY, message
from tests.servers.signal_cli import SignalCli
from tests.waiting import WAIT_SECONDS, eventually_found


async def page(port: int, *, until: int) -> dict[str, Any]:
    async with asyncio.timeout(WAIT_SECONDS), aiohttp.ClientSession() as http:
        while True:
            try:
                async with http.get(f"http://127.0.0.1:{port}/healthz") as response:
                    if response.status == until:
                        return await response.json()
            except aiohttp.ClientConnectionError:
                pass  # it does not listen yet
            await asyncio.sleep(0.05)


async def test_well_while_the_stream_is_open_and_ill_while_it_is_not(tmp_path: Path) -> None:
    """503 while it waits for the bridge; 200 and status 0 when connected; 503 with the reason and status 1 while
    signal-cli is down; well again after.
    """
    port = free_port()
    async with SignalCli() as signal:
        settings = {"SIGNAL__URL": signal.url, "ACCESS__ALLOWED": ALICE.uuid, "WEB__PORT": str(port)}
        await signal.stop()
        async with started("run", settings=settings, folder=tmp_path, is_warm=False) as process:

            async def waits() -> bool:
                [problem] = (await page(port, until=503))["problems"]
                return problem.startswith("waiting for Signal: nothing answers at SIGNAL__URL yet")

            await eventually_found(waits)
            await signal.start()
            await signal.connected()
            await signal.deliver(message("let me in", author=MALLORY), message("hello"))
            await signal.sent_count(1)
            state = await page(port, until=200)
            assert (state["ok"], state["problems"]) == (True, [])
            assert state["counts"]["envelopes_message"] == 2
            assert state["counts"]["unanswered_not_allowed"] == 1
            well = await run_to_end("health", settings=settings, folder=tmp_path, is_warm=False)
            assert (well.status, json.loads(well.stdout)["ok"], well.stderr) == (0, True, "")

            await signal.stop()
            assert str(CLOSED) in (await page(port, until=503))["problems"]
            ill = await run_to_end("health", settings=settings, folder=tmp_path, is_warm=False)
            assert (ill.status, str(CLOSED) in json.loads(ill.stdout)["problems"], ill.stderr) == (1, True, "")

            await signal.start()
            await page(port, until=200)
            ended = await process.terminate()
    assert ended.status == 0
