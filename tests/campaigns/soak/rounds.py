"""A round: people write, then one conversation is stubborn as well, and the process is looked at all the time."""

import asyncio
import random
import time
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path

from tests.campaigns.chaos.crowd import Chat, Crowd
from tests.campaigns.soak.beats import read_beats
from tests.campaigns.soak.letters import Letter, Pen, Phase
from tests.campaigns.soak.model import SlowModel
from tests.campaigns.soak.phones import Phones
from tests.campaigns.soak.process_stats import Files, Page, ProcessStats, page, stats
from tests.campaigns.soak.record import Idle, Record, Size
from tests.flows.processes import Process, started
from tests.ports import free_port
from tests.servers.envelopes import ACCOUNT

_BOUT = (1, 1, 1, 2, 3)
"""How many letters are written at once."""
_STUBBORN_PAUSE_SECONDS = 1.0
_HISTORY_TURNS = 2
"""Few, so that all histories soon have their full length: in the second half memory has no reason to grow."""

_REST_SECONDS = 120.0
"""How long it may take until all is settled; generous, for machines that are busy."""
_IDLE_SECONDS = 0.5
_MAX_IDLE_SECONDS = 30.0
"""How long what was open may take to close; generous, for machines that are busy."""
_LOOK_SECONDS = 0.1
_BEATS = "beats"
"""The file in which Aldis's own process tells how its loop turns."""
_GENEROUS = {
    "LIMITS__MESSAGES_PER_MINUTE": "10000",
    "LIMITS__CONVERSATION_MESSAGES_PER_MINUTE": "10000",
    "LIMITS__MAX_WAITING": "100000",
    "LIMITS__TURNS_AT_ONCE": "1000",
}
"""Nothing is refused."""


@dataclass(frozen=True, kw_only=True)
class Progress:
    """How far a round is."""

    seconds: float
    doing: str
    letters: int
    sent: int
    stats: ProcessStats | None


@dataclass
class World:
    """The outside of Aldis, the process, and what is gathered about both."""

    size: Size
    folder: Path
    crowd: Crowd
    phones: Phones
    model: SlowModel
    process: Process
    page: Page
    stop: asyncio.Event
    pen: Pen = field(default_factory=Pen)
    letters: list[Letter] = field(default_factory=list[Letter])
    stats: list[ProcessStats] = field(default_factory=list[ProcessStats])
    files: list[Files] = field(default_factory=list[Files])
    lag_seconds: list[float] = field(default_factory=list[float])
    doing: str = "starting"
    rested: bool = True

    @property
    def process_id(self) -> int:
        return self.process.process_id

    @property
    def stubborn(self) -> Chat:
        """The conversation that is stubborn in the last phase: one of a single person."""
        return self.crowd.listed[0]

    @property
    def is_over(self) -> bool:
        """Whether there is nothing more to do: somebody wants it to end, or Aldis has ended by itself."""
        return self.stop.is_set() or not self.process.is_running

    async def deliver(self, chat: Chat, phase: Phase, lots: random.Random) -> None:
        number, frame = self.pen.frame(chat, lots)
        await self.phones.deliver(frame)
        self.letters.append(
            Letter(
                chat=chat.id,
                number=number,
                phase=phase,
                sent_at=frame["envelope"]["timestamp"],
                delivered_seconds=time.monotonic(),
            )
        )


def _settings(size: Size, crowd: Crowd, phones: Phones, model: SlowModel, port: int) -> dict[str, str]:
    return {
        "SIGNAL__URL": phones.url,
        "SIGNAL__ACCOUNT": ACCOUNT,
        "SIGNAL__TRANSPORT": "signal_cli",
        "OPENAI_API_KEY": model.key or "",
        "OPENAI_BASE_URL": model.base_url,
        "LLM__OPENAI__MODEL": "llama",
        "LLM__TIMEOUT_SECONDS": "3600",
        "HISTORY__MAX_TURNS": str(_HISTORY_TURNS),
        "LOG__LEVEL": "warning",
        "WEB__PORT": str(port),
        "WORKER__CONVERSATIONS_AT_ONCE": str(min(1000, size.conversations + 8)),
        "WORKER__TURN_TIMEOUT_SECONDS": str(size.turn_timeout_seconds),
        **crowd.settings(),
        **_GENEROUS,
    }


@asynccontextmanager
async def world(size: Size, folder: Path, stop: asyncio.Event) -> AsyncGenerator[World]:
    """The doubles, and Aldis connected to them; a fifth of the conversations are groups."""
    groups = size.conversations // 5
    crowd = Crowd.drawn(size.seed, people=size.conversations - groups, groups=groups, strangers=0)
    port = free_port()
    async with (
        Phones(groups=crowd.groups, people=crowd.people) as phones,
        SlowModel(seed=size.seed, takes_seconds=size.model_seconds) as model,
        page(port) as figures,
        started(
            str(folder / _BEATS),
            "run",
            settings=_settings(size, crowd, phones, model, port),
            folder=folder,
            module="tests.campaigns.soak.apart",
            is_warm=False,
        ) as process,
    ):
        await phones.connected()
        yield World(
            size=size,
            folder=folder,
            crowd=crowd,
            phones=phones,
            model=model,
            process=process,
            page=figures,
            stop=stop,
        )


async def played(
    size: Size, folder: Path, *, stop: asyncio.Event | None = None, told: Callable[[Progress], None] | None = None
) -> Record:
    """Play a round in an empty folder. `stop` ends it early; `told` hears every few seconds how far it is."""
    async with world(size, folder, stop or asyncio.Event()) as here, asyncio.TaskGroup() as group:
        watching = [group.create_task(_telling(here, told)), group.create_task(_oversleeping(here))]
        await _written(here, "warm-up", size.warm_up_seconds)
        before = await _idle(here)
        looking = group.create_task(_looking(here))
        await _written(here, "alone", size.phase_seconds)
        await _beside(here)
        looking.cancel()
        after = await _idle(here, before)
        for task in watching:
            task.cancel()
        return await _record(here, before, after)


async def _record(here: World, before: Idle | None, after: Idle | None) -> Record:
    ended = await (here.process.terminate() if here.process.is_running else here.process.ended())
    return Record(
        size=here.size,
        chats=here.crowd.listed,
        stubborn=here.stubborn.id,
        letters=tuple(here.letters),
        outs=tuple(here.phones.outs),
        thoughts=tuple(here.model.thoughts),
        read_seconds=here.phones.read_seconds,
        refusals=tuple(here.model.refused),
        stats=tuple(here.stats),
        files=tuple(here.files),
        before=before,
        after=after,
        page_seconds=tuple(here.page.answer_seconds),
        lag_seconds=tuple(here.lag_seconds),
        beats=read_beats(here.folder / _BEATS),
        rested=here.rested,
        was_stopped=here.stop.is_set(),
        status=ended.status,
        log=ended.stderr,
    )


# What people do


async def _beside(here: World) -> None:
    """The last phase: what the stubborn conversation asks has no answer, and what it is sent takes long."""
    here.model.silent_for.add(here.stubborn.canary)
    here.phones.slow_seconds[here.stubborn.id] = here.size.turn_timeout_seconds
    await _written(here, "beside", here.size.phase_seconds)


async def _written(here: World, phase: Phase, seconds: float) -> None:
    """All conversations write for so long; then nobody is stubborn any more, and all that was written comes to rest."""
    if here.is_over:
        return
    here.doing = phase
    over = asyncio.Event()
    async with asyncio.TaskGroup() as group:
        for chat in here.crowd.listed:
            group.create_task(_writing(here, chat, phase, over))
        await _passed(here.stop, seconds)
        over.set()
    here.model.silent_for.clear()
    here.phones.slow_seconds.clear()
    here.doing = f"resting after: {phase}"
    here.rested = await _at_rest(here) and here.rested


async def _writing(here: World, chat: Chat, phase: Phase, over: asyncio.Event) -> None:
    """One conversation: a pause, a few letters, a pause, until it is over. The stubborn does not wait to begin."""
    lots = random.Random(f"{here.size.seed}|{phase}|{chat.canary}")
    is_stubborn = phase == "beside" and chat is here.stubborn
    every_seconds = _STUBBORN_PAUSE_SECONDS if is_stubborn else here.size.pause_seconds
    pause_seconds = 0.0 if is_stubborn else lots.expovariate(1 / every_seconds)
    while not await _passed(over, pause_seconds):
        for _ in range(lots.choice(_BOUT)):
            await here.deliver(chat, phase, lots)
        pause_seconds = lots.expovariate(1 / every_seconds)


async def _passed(event: asyncio.Event, seconds: float) -> bool:
    """Wait for the event, at most so long; gives whether it happened."""
    try:
        async with asyncio.timeout(seconds):
            return await event.wait()
    except TimeoutError:
        return False


# What is looked at


async def _at_rest(here: World) -> bool:
    """Wait until nothing is on its way to Aldis and nothing is open in it, twice in a row; gives whether it came so."""
    calm = 0
    deadline = time.monotonic() + here.size.turn_timeout_seconds + _REST_SECONDS
    while calm < 2 and time.monotonic() < deadline and here.process.is_running:
        await asyncio.sleep(_LOOK_SECONDS)
        calm = calm + 1 if await _is_settled(here) else 0
    return calm == 2


async def _is_settled(here: World) -> bool:
    figures = await here.page.figures()
    return here.phones.is_quiet and figures.get("inbox_open") == 0 and figures.get("outbox_open") == 0


async def _idle(here: World, before: Idle | None = None) -> Idle | None:
    """What the process holds while it rests: the least of several looks, for what is open closes in its own time.

    After what it held `before` it is looked at until it holds no more than that, at most so long.
    """
    if not here.rested or not here.process.is_running:
        return None
    here.doing = "idle"
    here.model.hang_up()
    held = await _look(here)
    began_seconds = time.monotonic()
    while (seconds := time.monotonic() - began_seconds) < _MAX_IDLE_SECONDS:
        if seconds >= _IDLE_SECONDS and (before is None or held.least(before) == held):
            break
        await asyncio.sleep(_LOOK_SECONDS)
        held = held.least(await _look(here))
    return held


async def _look(here: World) -> Idle:
    found = stats(here.process_id)
    tasks = (await here.page.figures()).get("tasks")
    idle = Idle(descriptors=None, threads=None, tasks=None if tasks is None else int(tasks))
    return idle if found is None else replace(idle, descriptors=found.descriptors, threads=found.threads)


async def _looking(here: World) -> None:
    """Once a second, until cancelled."""
    while True:
        found = stats(here.process_id)
        if found is not None:
            here.stats.append(found)
        here.files.append(Files.of(here.folder / "aldis.db"))
        await here.page.figures()
        await asyncio.sleep(1)


async def _oversleeping(here: World) -> None:
    """By how much the loop of the soak itself oversleeps, until cancelled."""
    while True:
        began_seconds = time.monotonic()
        await asyncio.sleep(_LOOK_SECONDS)
        here.lag_seconds.append(time.monotonic() - began_seconds - _LOOK_SECONDS)


async def _telling(here: World, told: Callable[[Progress], None] | None) -> None:
    began_seconds = time.monotonic()
    while told is not None:
        await asyncio.sleep(5)
        told(
            Progress(
                seconds=time.monotonic() - began_seconds,
                doing=here.doing,
                letters=len(here.letters),
                sent=len(here.phones.outs),
                stats=stats(here.process_id),
            )
        )
