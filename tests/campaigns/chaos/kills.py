"""The kills of a round: one life after the other, ended at random, at a step, or with a request under way."""

import asyncio
import math
import random
from contextlib import suppress

from bot.web.control import ask_running
from tests.campaigns.chaos.kill_switch import PLACES
from tests.campaigns.chaos.lives import Life, Step
from tests.campaigns.chaos.phones import KEEPING
from tests.campaigns.chaos.world import VENDORS, World

_MAX_LIFE_SECONDS = 5.0
_START_SECONDS = 60.0
_MAX_START_SECONDS = 0.3
"""About what a life takes until it has connected."""
_LATEST_STEP = 300


async def killing(here: World, stop: asyncio.Event) -> None:
    """One life after the other, each of them killed or, as the round has it, stopped."""
    lots = random.Random(f"{here.size.seed}|kills")
    while (here.kills < here.size.kills or here.stops < here.size.stops) and not stop.is_set():
        vendor = lots.choice(VENDORS)
        stops_left, kills_left = here.size.stops - here.stops, here.size.kills - here.kills
        if lots.random() * (stops_left + kills_left) < stops_left:
            await _stopped(here, await here.begin(vendor), lots)
            continue
        draw = lots.random()
        if draw < 0.35:
            await _killed_at_random(here, await here.begin(vendor), lots)
        elif draw < 0.70:
            life = await here.begin(vendor, step=_step(here, lots))
            await _killed_at_step(here, life)
        elif draw < 0.95:
            await _killed_in_flight(here, await here.begin(vendor), lots)
        else:
            life = await here.begin(vendor)
            await asyncio.sleep(lots.uniform(0, _MAX_START_SECONDS))
            await _killed(here, life, "starting")


def _step(here: World, lots: random.Random) -> Step:
    """One of all steps, or one of a kind that has been seen before, so that the rare ones have their turn."""
    when = lots.choice(("before", "after"))
    names = sorted({step.split()[-1] for step in here.steps})
    if names and lots.random() < 0.5:
        return when, lots.randint(1, 3), lots.choice(names)
    return when, round(math.exp(lots.uniform(0, math.log(_LATEST_STEP)))), ""


async def _killed_at_random(here: World, life: Life, lots: random.Random) -> None:
    await connected(here, life)
    await _over(life, min(lots.expovariate(1 / here.size.uptime_seconds), _MAX_LIFE_SECONDS))
    if here.size.restarts:
        await _asked_to_restart(here)
        await _over(life, lots.uniform(0, here.size.uptime_seconds))
    await _killed(here, life, "at random")


async def _killed_at_step(here: World, life: Life) -> None:
    """It does that itself; one that never comes to its step is killed all the same."""
    await connected(here, life)
    await _over(life, _MAX_LIFE_SECONDS)
    await _killed(here, life, "before its step")


async def _killed_in_flight(here: World, life: Life, lots: random.Random) -> None:
    place = lots.choice(PLACES)
    await connected(here, life)
    await _over(life, lots.uniform(0, here.size.uptime_seconds))
    here.kill_switch.arm(place)
    with suppress(TimeoutError):
        async with asyncio.timeout(_MAX_LIFE_SECONDS):
            await here.kill_switch.tripped.wait()
    await _killed(here, life, place if here.kill_switch.tripped.is_set() else f"waiting for: {place}")
    here.kill_switch.disarm()


async def _stopped(here: World, life: Life, lots: random.Random) -> None:
    """SIGTERM while people write: what was fetched is written down, the rest is for the next life."""
    streams = here.phones.streams_opened
    await connected(here, life)
    await _over(life, min(lots.expovariate(1 / here.size.uptime_seconds), _MAX_LIFE_SECONDS))
    lost = len(here.phones.unheard)
    for _ in range(here.size.restarts):
        restarted = asyncio.create_task(connected(here, life))
        here.restarts += await _asked_to_restart(here)
        await restarted
        await _over(life, lots.uniform(0, here.size.uptime_seconds))
    await life.terminate()
    here.bury(life, "asked to stop", meant=0)
    await here.phones.disconnected()
    if here.size.way in KEEPING:
        here.lost_in_order += len(here.phones.unheard) - lost
        here.phones.calm_streams.update(range(streams + 1, here.phones.streams_opened + 1))


async def _asked_to_restart(here: World) -> bool:
    """As `aldis restart` asks; gives whether somebody was there to be asked."""
    return await ask_running(here.folder / "aldis.db", "restart") is not None


async def _killed(here: World, life: Life, how: str) -> None:
    await life.kill()
    here.bury(life, how, meant=-9)


async def connected(here: World, life: Life) -> None:
    """Wait until this life has its stream, or is over."""
    opened = here.phones.streams_opened
    connected = asyncio.create_task(here.phones.until(lambda: here.phones.streams_opened > opened))
    await asyncio.wait((connected, life.ending), timeout=_START_SECONDS, return_when=asyncio.FIRST_COMPLETED)
    connected.cancel()
    await asyncio.gather(connected, return_exceptions=True)


async def _over(life: Life, seconds: float) -> None:
    """Wait until it is over, at most so long."""
    await asyncio.wait((life.ending,), timeout=seconds)
