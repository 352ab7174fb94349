"""A round: people write, then one conversation is stubborn as well, and the process is watched all the time."""

import asyncio
import random
import re
import sys
import time
from collections import Counter
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

import aiohttp
from aiohttp import web

from tests.campaigns.chaos.crowd import CANARY, Chat, Crowd
from tests.campaigns.chaos.record import Forgetful
from tests.campaigns.chaos.world import GENEROUS
from tests.campaigns.proc import Usage, usage
from tests.flows.processes import Process, started
from tests.ports import free_port
from tests.servers import envelopes
from tests.servers.base import Seen
from tests.servers.envelopes import ACCOUNT
from tests.servers.openai import OpenAIServer
from tests.servers.script import Heard, Scripted, parsed, say
from tests.servers.signal_cli import SignalCli
from tests.servers.signal_server import Parcel, Plan, Sent

Phase = Literal["warm-up", "alone", "beside"]
"""All conversations are alike in the first two; `beside` is what is written beside a stubborn one."""

_BOUT = (1, 1, 1, 2, 3)
_STUBBORN_PAUSE_SECONDS = 1.0
_LOOK_SECONDS = 0.1
_REST_SECONDS = 120.0
"""How long it may take until all is settled; generous, for machines that are busy."""
_PAGE_SECONDS = 10.0
_MAX_IDLE_SECONDS = 30.0
"""How long connections may take to close after that."""
_NUMBER = re.compile(r"number (\d+)")
_SETTINGS = {
    "SIGNAL__ACCOUNT": ACCOUNT,
    "LLM__OPENAI__MODEL": "llama",
    "LLM__TIMEOUT_SECONDS": "3600",
    "HISTORY__MAX_TURNS": "2",  # all histories soon have their full length: memory has no reason to grow after that
    "LOG__LEVEL": "warning",
    "LIMITS__TURNS_AT_ONCE": "1000",
    **GENEROUS,
}


def numbers_in(text: str) -> list[int]:
    return [int(number) for number in _NUMBER.findall(text)]


@dataclass(frozen=True, kw_only=True)
class Size:
    seed: int
    conversations: int
    seconds: float
    """How long people write in all: a sixth is the warm-up, the two phases share the rest."""
    pause_seconds: float = 30.0
    """Between two bouts of letters in one conversation, on average."""
    model_seconds: tuple[float, float] = (0.5, 3.0)
    """What the model takes for an answer, at least and at most."""
    turn_timeout_seconds: float = 15.0
    patience_seconds: float = 40.0
    """No letter of anybody but the stubborn may wait longer; generous, for busy machines."""


@dataclass(frozen=True, kw_only=True)
class Letter:
    """A message that was handed to Aldis; `number` counts within its conversation, from 1."""

    chat: str
    number: int
    phase: Phase
    at_seconds: float


@dataclass(frozen=True, kw_only=True)
class Look(Usage):
    at_seconds: float
    database_bytes: int
    tasks: int


@dataclass
class Record:
    """A round, as it was seen from the outside. Times are of the monotonic clock."""

    size: Size
    chats: tuple[Chat, ...]
    letters: list[Letter] = field(default_factory=list[Letter])
    outs: list[tuple[float, Sent]] = field(default_factory=list[tuple[float, Sent]])
    silenced: list[list[int]] = field(default_factory=list[list[int]])
    """The letters of each question to which the model gave the stubborn no answer."""
    refusals: list[str] = field(default_factory=list[str])
    looks: list[Look] = field(default_factory=list[Look])
    """Once a second from the end of the warm-up until people stopped writing."""
    before: Look | None = None
    after: Look | None = None
    rested: bool = True
    status: int = 0
    log: str = ""

    @property
    def stubborn(self) -> Chat:
        """The conversation that is stubborn in the last phase: one of a single person."""
        return self.chats[0]

    def visible(self, chat: str) -> list[tuple[float, str]]:
        """What stands in a chat in the end, and when it came: a status is gone where the answer replaced it."""
        edited = {sent.edits for _, sent in self.outs if sent.chat == chat}
        return [(at, sent.text) for at, sent in self.outs if sent.chat == chat and sent.timestamp not in edited]

    def waits(self, phase: Phase) -> list[float]:
        """The seconds that each letter of a phase waited for its answer, by its delivery; the stubborn left out."""
        answered = {
            (chat.id, number): at
            for chat in self.chats
            for at, text in reversed(self.visible(chat.id))
            for number in numbers_in(text)
        }
        return [
            answered[letter.chat, letter.number] - letter.at_seconds
            for letter in self.letters
            if letter.phase == phase and letter.chat != self.stubborn.id and (letter.chat, letter.number) in answered
        ]


@dataclass
class Phones(Forgetful, SignalCli):
    record: Record = field(kw_only=True)
    slow_seconds: dict[str, float] = field(default_factory=dict[str, float])

    async def note(self, repository: list[Any], value: Any) -> None:
        if repository is self.sent:
            self.record.outs.append((time.monotonic(), value))
        await super().note(repository, value)

    async def _send(self, sent: Parcel, seen: Seen, wire: asyncio.BaseTransport | None) -> Any:
        self.plans.append(Plan(delay_seconds=self.slow_seconds.get(sent.chat, 0)))
        return await super()._send(sent, seen, wire)


@dataclass
class SlowModel(Forgetful, OpenAIServer):
    """Answers name what they answer. How long they take is drawn from the seed and from what was asked."""

    record: Record = field(kw_only=True)
    silent_for: set[str] = field(default_factory=set[str])
    """The canaries of the conversations whose questions get no answer, as long as Aldis waits for it."""

    def __post_init__(self) -> None:
        self.local = True
        self.reply = _echoed

    def hang_up(self) -> None:
        """Close the connections on which nothing is asked, as servers do after a while."""
        server = self._runner.server if self._runner else None
        for connection in server.connections if server else ():
            connection.force_close()  # the gentle way ends the reading and leaves the connection open

    async def respond(self, seen: Seen, request: web.Request) -> web.StreamResponse:
        heard = self.heard(seen, parsed(seen.body))
        if not heard.tools:  # a summary of older turns, which no turn waits for
            return await super().respond(seen, request)
        [canary, *_] = CANARY.findall(heard.text)
        if canary in self.silent_for:
            self.record.silenced.append(numbers_in(heard.text))
            while request.transport is not None:  # aiohttp tells in no other way that Aldis has hung up
                await asyncio.sleep(_LOOK_SECONDS)
            return web.Response()
        lots = random.Random(f"{self.record.size.seed}|model|{canary}|{numbers_in(heard.text)}")
        await asyncio.sleep(lots.uniform(*self.record.size.model_seconds))
        return await super().respond(seen, request)


def _echoed(heard: Heard) -> Scripted:
    if not heard.tools:
        return say("They spoke of what grows.")
    named = ", ".join(f"number {number}" for number in numbers_in(heard.text))
    return say(f"On {CANARY.findall(heard.text)[0]}: to {named} I say that it grows.")


@dataclass
class World:
    record: Record
    folder: Path
    phones: Phones
    model: SlowModel
    process: Process
    http: aiohttp.ClientSession
    page: str
    counts: Counter[str] = field(default_factory=Counter[str])

    async def state(self) -> dict[str, Any]:
        try:
            async with asyncio.timeout(_PAGE_SECONDS), self.http.get(self.page) as response:
                return await response.json()
        except (aiohttp.ClientError, TimeoutError):
            return {}

    async def look(self) -> Look | None:
        tasks = (await self.state()).get("tasks", 0)
        with suppress(OSError, KeyError):
            return Look(
                **vars(usage(self.process.process_id)),
                at_seconds=time.monotonic(),
                database_bytes=(self.folder / "aldis.db").stat().st_size,
                tasks=int(tasks),
            )
        return None

    async def written(self, phase: Phase, seconds: float) -> None:
        """Let all conversations write for so long; then no one is stubborn any more, and all comes to rest."""
        sys.stderr.write(f"{phase}: {seconds:.0f} s\n")
        over = asyncio.Event()
        async with asyncio.TaskGroup() as group:
            for chat in self.record.chats:
                group.create_task(self._writing(chat, phase, over))
            await asyncio.sleep(seconds)
            over.set()
        self.model.silent_for.clear()
        self.phones.slow_seconds.clear()
        self.record.rested = await self._at_rest() and self.record.rested

    async def _writing(self, chat: Chat, phase: Phase, over: asyncio.Event) -> None:
        """One conversation: a pause, a few letters, a pause, until it is over. The stubborn does not wait to begin."""
        lots = random.Random(f"{self.record.size.seed}|{phase}|{chat.canary}")
        is_stubborn = phase == "beside" and chat is self.record.stubborn
        every_seconds = _STUBBORN_PAUSE_SECONDS if is_stubborn else self.record.size.pause_seconds
        pause_seconds = 0.0 if is_stubborn else lots.expovariate(1 / every_seconds)
        while not await _passed(over, pause_seconds):
            for _ in range(lots.choice(_BOUT)):
                await self._deliver(chat, phase, lots)
            pause_seconds = lots.expovariate(1 / every_seconds)

    async def _deliver(self, chat: Chat, phase: Phase, lots: random.Random) -> None:
        self.counts[chat.id] += 1
        number = self.counts[chat.id]
        words = f"{'Aldis, ' if chat.group else ''}number {number} about {chat.canary}: how does the garden grow?"
        self.record.letters.append(Letter(chat=chat.id, number=number, phase=phase, at_seconds=time.monotonic()))
        await self.phones.deliver(envelopes.message(words, author=lots.choice(chat.members), group=chat.group))

    async def _at_rest(self) -> bool:
        calm, deadline = 0, time.monotonic() + self.record.size.turn_timeout_seconds + _REST_SECONDS
        while calm < 2 and time.monotonic() < deadline and self.process.is_running:
            await asyncio.sleep(_LOOK_SECONDS)
            state = await self.state()
            queues = [state.get(name, {}).get("open") for name in ("inbox", "outbox")]
            settled = not self.phones.waiting and queues == [0, 0]
            calm = calm + 1 if settled else 0
        return calm == 2

    async def idle(self, before: Look | None = None) -> Look | None:
        """A look at rest; after what it held `before`, again until it holds no more than that, at most so long."""
        self.model.hang_up()
        deadline = time.monotonic() + _MAX_IDLE_SECONDS
        while self.process.is_running:
            await asyncio.sleep(5 * _LOOK_SECONDS)
            if not (await self.state()).get("cells") and time.monotonic() < deadline:
                continue  # what files are opened in is prepared some seconds after the start
            held = await self.look()
            if held is None or before is None or time.monotonic() > deadline or _holds_no_more(held, before):
                return held
        return None


def _holds_no_more(after: Look, before: Look) -> bool:
    names = ("descriptors", "threads", "tasks")
    return all(getattr(after, name) <= getattr(before, name) for name in names)


async def _passed(event: asyncio.Event, seconds: float) -> bool:
    try:
        async with asyncio.timeout(seconds):
            return await event.wait()
    except TimeoutError:
        return False


async def play(size: Size, folder: Path) -> Record:
    groups = size.conversations // 5
    crowd = Crowd.drawn(size.seed, people=size.conversations - groups, groups=groups, strangers=0)
    record, port = Record(size=size, chats=crowd.listed), free_port()
    async with (
        Phones(groups=crowd.groups, people=crowd.people, record=record) as phones,
        SlowModel(record=record) as model,
        aiohttp.ClientSession(connector=aiohttp.TCPConnector(force_close=True)) as http,
    ):
        settings = {
            "SIGNAL__URL": phones.url,
            "OPENAI_API_KEY": model.key or "",
            "OPENAI_BASE_URL": model.base_url,
            "WEB__PORT": str(port),
            "WORKER__CONVERSATIONS_AT_ONCE": str(min(1000, size.conversations + 8)),
            "WORKER__TURN_TIMEOUT_SECONDS": str(size.turn_timeout_seconds),
            **crowd.settings(),
            **_SETTINGS,
        }
        async with started("run", settings=settings, folder=folder, is_warm=False) as process:
            await phones.connected()
            page = f"http://127.0.0.1:{port}/healthz"
            await _played(World(record, folder, phones, model, process, http, page))
            ended = await (process.terminate() if process.is_running else process.ended())
    record.status, record.log, record.refusals = ended.status, ended.stderr, [*model.refused]
    return record


async def _played(here: World) -> None:
    record, size = here.record, here.record.size
    warm_up_seconds = size.seconds / 6
    phase_seconds = (size.seconds - warm_up_seconds) / 2
    await here.written("warm-up", warm_up_seconds)
    record.before = await here.idle()
    async with asyncio.TaskGroup() as group:
        watching = group.create_task(_watching(here))
        await here.written("alone", phase_seconds)
        here.model.silent_for.add(record.stubborn.canary)
        here.phones.slow_seconds[record.stubborn.id] = size.turn_timeout_seconds
        await here.written("beside", phase_seconds)
        watching.cancel()
    record.after = await here.idle(record.before)


async def _watching(here: World) -> None:
    while True:
        if look := await here.look():
            here.record.looks.append(look)
        await asyncio.sleep(1)
