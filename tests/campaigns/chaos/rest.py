"""Rest after the kills: lives that end as an operator ends them, until nothing is open any more."""

import asyncio
import time
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager

import aiohttp

from tests.campaigns.chaos.kills import connected
from tests.campaigns.chaos.lives import Life
from tests.campaigns.chaos.world import VENDORS, Vendor, World
from tests.ports import free_port
from tests.waiting import WAIT_SECONDS

_REST_SECONDS = 120.0
"""How long it may take until all has come to rest; generous, for machines that are busy."""

Watch = Callable[[], Awaitable[tuple[int | None, int | None]]]
"""Gives how much is open in the inbox and in the outbox; None where the health page does not tell."""


async def resting(here: World) -> bool:
    """Calm lives, one for each vendor: all is worked off, and in every conversation one more question is asked.

    Each ends as an operator ends it. The history of every conversation goes through the rules of every vendor by that,
    and whatever was handed to a life before must have an end. Gives whether all came to rest in time.
    """
    await here.phones.disconnected()
    for double in (here.phones, *here.models.values()):
        double.is_calm = True
    for vendor in VENDORS:
        if not await _rested(here, vendor):
            return False
    return True


async def _rested(here: World, vendor: Vendor) -> bool:
    """One calm life; gives whether it came to rest."""
    port = free_port()
    life = await here.begin(vendor, web_port=port)
    await connected(here, life)
    for chat in here.pen.crowd.listed:
        await here.deliver(here.pen.question(chat))
    rested = await _at_rest(here, life, port)
    await life.terminate()
    here.bury(life, "asked to stop", meant=0)
    await here.phones.disconnected()
    return rested


async def _at_rest(here: World, life: Life, port: int) -> bool:
    """Wait until nothing is on its way to Aldis and nothing is open in it, twice in a row."""
    calm = 0
    deadline = time.monotonic() + _REST_SECONDS
    async with _watched(port) as watch:
        while calm < 2 and time.monotonic() < deadline and not life.is_over:
            await asyncio.sleep(0.2)
            calm = calm + 1 if here.phones.is_quiet and await watch() == (0, 0) else 0
    return calm == 2


@asynccontextmanager
async def _watched(port: int) -> AsyncGenerator[Watch]:
    async with aiohttp.ClientSession() as http:

        async def watch() -> tuple[int | None, int | None]:
            try:
                async with asyncio.timeout(WAIT_SECONDS), http.get(f"http://127.0.0.1:{port}/healthz") as response:
                    state = await response.json()
            except (aiohttp.ClientError, TimeoutError):
                return None, None
            return state.get("inbox", {}).get("open"), state.get("outbox", {}).get("open")

        yield watch
