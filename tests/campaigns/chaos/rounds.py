"""A round: a crowd writes, Aldis is killed and started again, all comes to rest, and the evidence is gathered.

One life comes after the other, ended at random, at a step, or with a request under way. Then come calm lives that end
as an operator ends them, until nothing is open any more.
"""

import asyncio
import math
import random
import sys
import time
from contextlib import suppress
from pathlib import Path

import aiohttp

from bot.web.control import ask_running
from tests.campaigns.chaos.crowd import Letter
from tests.campaigns.chaos.evidence import read_store
from tests.campaigns.chaos.phones import KEEPING
from tests.campaigns.chaos.record import PLACES
from tests.campaigns.chaos.world import VENDORS, Life, Size, Step, Vendor, World, world
from tests.ports import free_port
from tests.waiting import WAIT_SECONDS

_MAX_WAITING = 60
"""With so many frames at Signal's server the crowd pauses: Aldis is too slow on this machine."""
_MAX_LIFE_SECONDS = 5.0
_MAX_START_SECONDS = 0.3
"""About what a life takes until it has connected."""
_LATEST_STEP = 300
_REST_SECONDS = 120.0
"""How long it may take until all has come to rest; generous, for machines that are busy."""


async def played(size: Size, folder: Path) -> World:
    async with world(size, folder) as here:
        async with asyncio.TaskGroup() as group:
            writing = group.create_task(_writing(here))
            await _killing(here)
            writing.cancel()
        here.rested = await _rested(here)
    here.store = await read_store(folder / "aldis.db", [chat.id for chat in here.pen.crowd.chats])
    return here


# People


async def _writing(here: World) -> None:
    """Letters at their rate, a twentieth of them twice, oddities in between; until cancelled."""
    lots = random.Random(f"{here.size.seed}|writing")
    due_at = time.monotonic()
    async with asyncio.TaskGroup() as group:
        while True:
            due_at += lots.expovariate(here.size.rate_per_second)
            while here.phones.waiting > _MAX_WAITING:
                await asyncio.sleep(0.1)
                due_at = time.monotonic()
            await asyncio.sleep(max(0.0, due_at - time.monotonic()))
            letter = here.pen.letter()
            await here.deliver(letter)
            if lots.random() < 0.05:
                group.create_task(_again(here, letter, lots.uniform(0, 3)))
            if lots.random() < 0.03:
                odd = here.pen.oddity()
                await (here.phones.deliver_data(odd) if isinstance(odd, str) else here.phones.deliver(odd))


async def _again(here: World, letter: Letter, seconds: float) -> None:
    await asyncio.sleep(seconds)
    await here.deliver(letter)


# Lives and their ends


async def _killing(here: World) -> None:
    lots = random.Random(f"{here.size.seed}|kills")
    while here.kills < here.size.kills or here.stops < here.size.stops:
        if here.lives and len(here.lives) % 10 == 0:
            sys.stderr.write(f"{here.kills} kills, {here.stops} stops, {len(here.phones.sent)} messages sent\n")
        vendor = lots.choice(VENDORS)
        stops_left, kills_left = here.size.stops - here.stops, here.size.kills - here.kills
        if lots.random() * (stops_left + kills_left) < stops_left:
            await _stopped(here, await here.begin(vendor), lots)
            continue
        draw = lots.random()
        if draw < 0.35:
            life = await here.begin(vendor)
            await here.connected(life)
            await life.over(min(lots.expovariate(1 / here.size.uptime_seconds), _MAX_LIFE_SECONDS))
            if here.size.restarts:
                await _asked_to_restart(here)
                await life.over(lots.uniform(0, here.size.uptime_seconds))
            await here.kill(life, "at random")
        elif draw < 0.70:
            # It does that itself; one that never comes to its step is killed all the same.
            life = await here.begin(vendor, step=_step(here, lots))
            await here.connected(life)
            await life.over(_MAX_LIFE_SECONDS)
            await here.kill(life, "before its step")
        elif draw < 0.95:
            await _killed_in_flight(here, await here.begin(vendor), lots)
        else:
            life = await here.begin(vendor)
            await asyncio.sleep(lots.uniform(0, _MAX_START_SECONDS))
            await here.kill(life, "starting")


def _step(here: World, lots: random.Random) -> Step:
    """One of all steps, or one of a kind that has been seen before, so that the rare ones have their turn."""
    when = lots.choice(("before", "after"))
    names = sorted({step.split()[-1] for step in here.steps})
    if names and lots.random() < 0.5:
        return when, lots.randint(1, 3), lots.choice(names)
    return when, round(math.exp(lots.uniform(0, math.log(_LATEST_STEP)))), ""


async def _killed_in_flight(here: World, life: Life, lots: random.Random) -> None:
    place = lots.choice(PLACES)
    await here.connected(life)
    await life.over(lots.uniform(0, here.size.uptime_seconds))
    here.record.arm(place)
    with suppress(TimeoutError):
        async with asyncio.timeout(_MAX_LIFE_SECONDS):
            await here.record.tripped.wait()
    await here.kill(life, place if here.record.tripped.is_set() else f"waiting for: {place}")
    here.record.disarm()


async def _stopped(here: World, life: Life, lots: random.Random) -> None:
    """SIGTERM while people write: what was fetched is written down, the rest is for the next life."""
    streams = here.phones.streams_opened
    await here.connected(life)
    await life.over(min(lots.expovariate(1 / here.size.uptime_seconds), _MAX_LIFE_SECONDS))
    lost = len(here.phones.lost)
    for _ in range(here.size.restarts):
        restarted = asyncio.create_task(here.connected(life))
        here.restarts += await _asked_to_restart(here)
        await restarted
        await life.over(lots.uniform(0, here.size.uptime_seconds))
    await here.stop(life, "asked to stop")
    if here.size.way in KEEPING:
        here.lost_in_order += len(here.phones.lost) - lost
        here.phones.calm_streams.update(range(streams + 1, here.phones.streams_opened + 1))


async def _asked_to_restart(here: World) -> bool:
    return await ask_running(here.folder / "aldis.db", "restart") is not None


# Rest


async def _rested(here: World) -> bool:
    """Calm lives, one for each vendor, work all off and are asked once more; gives whether all came to rest."""
    await here.phones.disconnected()
    for double in (here.phones, *here.models.values()):
        double.is_calm = True
    for vendor in VENDORS:
        if not await _calm_life(here, vendor):
            return False
    return True


async def _calm_life(here: World, vendor: Vendor) -> bool:
    port = free_port()
    life = await here.begin(vendor, web_port=port)
    await here.connected(life)
    for chat in here.pen.crowd.listed:
        await here.deliver(here.pen.question(chat))
    calm = 0
    deadline = time.monotonic() + _REST_SECONDS
    async with aiohttp.ClientSession() as http:
        while calm < 2 and time.monotonic() < deadline and not life.ending.done():
            await asyncio.sleep(0.2)
            calm = calm + 1 if here.phones.is_quiet and await _open_items(http, port) == (0, 0) else 0
    await here.stop(life, "at rest")
    return calm == 2


async def _open_items(http: aiohttp.ClientSession, port: int) -> tuple[int | None, int | None]:
    """How much is open in the inbox and in the outbox; None where the health page does not say."""
    try:
        async with asyncio.timeout(WAIT_SECONDS), http.get(f"http://127.0.0.1:{port}/healthz") as response:
            state = await response.json()
    except (aiohttp.ClientError, TimeoutError):
        return None, None
    return state.get("inbox", {}).get("open"), state.get("outbox", {}).get("open")
