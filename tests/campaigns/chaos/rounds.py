"""A round: a crowd writes, Aldis is killed and started again, all comes to rest, and the evidence is gathered."""

import asyncio
import random
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from tests.campaigns.chaos import store_contents
from tests.campaigns.chaos.crowd import Letter
from tests.campaigns.chaos.evidence import Evidence
from tests.campaigns.chaos.kills import killing
from tests.campaigns.chaos.rest import resting
from tests.campaigns.chaos.world import Size, World, world
from tests.servers.envelopes import Frame

_MAX_WAITING = 60
"""With so many frames at Signal's server the crowd pauses: Aldis is too slow on this machine."""
_TOLD_EVERY_SECONDS = 5.0


@dataclass(frozen=True, kw_only=True)
class Progress:
    """How far a round is."""

    seconds: float
    kills: int
    stops: int
    letters: int
    sent: int


async def played(
    size: Size, folder: Path, *, stop: asyncio.Event | None = None, told: Callable[[Progress], None] | None = None
) -> Evidence:
    """Play a round in an empty folder. `stop` ends the kills early; `told` hears every few seconds how far it is."""
    stop = stop or asyncio.Event()
    async with world(size, folder) as here, asyncio.TaskGroup() as group:
        telling = group.create_task(_telling(here, told))
        began = time.monotonic()
        writing = group.create_task(_writing(here, stop))
        await killing(here, stop)
        writing.cancel()
        seconds = time.monotonic() - began
        stops = here.stops
        rested = await resting(here)
        telling.cancel()
        return await _evidence(here, stops=stops, rested=rested, seconds=seconds)


async def _telling(here: World, told: Callable[[Progress], None] | None) -> None:
    began = time.monotonic()
    while told is not None:
        await asyncio.sleep(_TOLD_EVERY_SECONDS)
        told(
            Progress(
                seconds=time.monotonic() - began,
                kills=here.kills,
                stops=here.stops,
                letters=len(here.pen.letters),
                sent=len(here.phones.sent),
            )
        )


async def _writing(here: World, stop: asyncio.Event) -> None:
    """Letters at their rate, a twentieth of them twice, oddities in between; until cancelled or stopped."""
    lots = random.Random(f"{here.size.seed}|writing")
    due_at = time.monotonic()
    async with asyncio.TaskGroup() as group:
        while not stop.is_set():
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
                await _odd(here, here.pen.oddity())


async def _again(here: World, letter: Letter, seconds: float) -> None:
    await asyncio.sleep(seconds)
    await here.deliver(letter)


async def _odd(here: World, frame: Frame | str) -> None:
    await (here.phones.deliver_data(frame) if isinstance(frame, str) else here.phones.deliver(frame))


async def _evidence(here: World, *, stops: int, rested: bool, seconds: float) -> Evidence:
    return Evidence(
        pen=here.pen,
        deliveries=here.deliveries,
        handed=tuple(here.phones.handed),
        calm_streams=frozenset(here.phones.calm_streams),
        stops=stops,
        restarts=here.restarts,
        lost_in_order=here.lost_in_order,
        sent=tuple(here.phones.sent),
        removed=tuple(here.phones.removed),
        read=tuple(here.phones.read),
        typing_chats=frozenset(chat for chat, _ in here.phones.typing),
        record=here.record,
        refusals=tuple(refusal for name in ("chat", "anthropic") for refusal in here.models[name].refused),
        lives=tuple(here.lives),
        rested=rested,
        seconds=seconds,
        store=await store_contents.read(here.folder / "aldis.db", [chat.id for chat in here.pen.crowd.chats]),
    )
