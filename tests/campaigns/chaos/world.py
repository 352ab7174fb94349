"""The world of a round: the doubles of everything that Aldis talks to, its lives, and what is known of them."""

import asyncio
import re
from collections import Counter, defaultdict
from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal, NamedTuple

from tests.campaigns.chaos.crowd import Crowd, Letter, Pen
from tests.campaigns.chaos.evidence import StoreContents
from tests.campaigns.chaos.lookups import Searches, Weather
from tests.campaigns.chaos.models import Anthropic, OpenAI
from tests.campaigns.chaos.phones import GRACE_SECONDS, SEND_SECONDS, BridgePhones, DaemonPhones, Phones, Way
from tests.campaigns.chaos.record import Asked, Record
from tests.flows import processes
from tests.servers import envelopes
from tests.servers.signal_server import Sent

Vendor = Literal["chat", "responses", "anthropic"]
VENDORS: tuple[Vendor, ...] = ("chat", "responses", "anthropic")
"""Which model API a life speaks; the next one goes on where it stopped, whatever it speaks itself."""

Step = tuple[str, int, str]
"""`before` or `after`, the number of a transaction of this name, from 1, and the name; empty for any."""

_START_SECONDS = 60.0
_DIED_AT = re.compile(r"^died at (.+)$", re.MULTILINE)

GENEROUS = {
    "LIMITS__MESSAGES_PER_MINUTE": "10000",
    "LIMITS__CONVERSATION_MESSAGES_PER_MINUTE": "10000",
    "LIMITS__MAX_WAITING": "100000",
}


@dataclass(frozen=True, kw_only=True)
class Size:
    seed: int
    kills: int
    way: Way = "unix"
    stops: int = 0
    """How many lives more end as an operator ends them, while people write."""
    restarts: int = 0
    """How often each of those is restarted within its process before; and those killed at random are, then killed."""
    rate_per_second: float = 20.0
    people: int = 25
    groups: int = 5
    strangers: int = 4
    uptime_seconds: float = 2.0
    """How long a life lasts after it has connected, on average."""


@dataclass
class Life:
    number: int
    process: processes.Process
    ending: asyncio.Task[processes.Ended]

    async def over(self, seconds: float) -> None:
        await asyncio.wait((self.ending,), timeout=seconds)


class Ended(NamedTuple):
    number: int
    how: str
    status: int
    meant: int
    log: str


@dataclass
class World:
    """The outside of Aldis, and all that is known of its lives: when it is over, the evidence for the audit."""

    size: Size
    folder: Path
    pen: Pen
    phones: Phones
    models: dict[Vendor, Anthropic | OpenAI]
    settings: Mapping[str, str]
    """Of every life; each has those of its model besides."""
    record: Record
    deliveries: Counter[int] = field(default_factory=Counter[int])
    lives: list[Ended] = field(default_factory=list[Ended])
    steps: list[str] = field(default_factory=list[str])
    life: Life | None = None
    restarts: int = 0
    """How many restarts have been asked for in lives that then ended in order."""
    lost_in_order: int = 0
    """How much was fetched and handed to no life while one ended in order."""
    rested: bool = False
    store: StoreContents = field(init=False)

    @property
    def kills(self) -> int:
        return sum(ended.status == -9 for ended in self.lives)

    @property
    def stops(self) -> int:
        return sum(ended.status == 0 and ended.how != "at rest" for ended in self.lives)

    @property
    def asked(self) -> list[Asked]:
        return [entry for entry in self.record if isinstance(entry, Asked)]

    @property
    def standing(self) -> list[Sent]:
        gone = {(removed.chat, removed.target) for removed in self.phones.removed}
        return [sent for sent in self.phones.sent if (sent.chat, sent.timestamp) not in gone]

    def questions_by_turn(self) -> dict[int, tuple[str, ...]]:
        turns: dict[int, tuple[str, ...]] = defaultdict(tuple)
        for row in self.store.inbox:
            letter = self.pen.letters.get(row.sent_at)
            if letter is not None and letter.label and row.turn is not None:
                turns[row.turn] += (letter.label,)
        return turns

    async def deliver(self, letter: Letter) -> None:
        if letter.label and letter.chat.is_listed and not self.deliveries[letter.sent_at]:
            self.phones.awaited.add(letter.sent_at)
        self.deliveries[letter.sent_at] += 1
        await self.phones.deliver(letter.frame)

    async def begin(self, vendor: Vendor, *, step: Step | None = None, web_port: int = 0) -> Life:
        """A new life, which kills itself at the step if there is one; the one before must be over."""
        number = len(self.lives) + 1
        settings = {
            **self.settings,
            "WEB__PORT": str(web_port),
        }
        address, key = self.models[vendor].base_url, f"life-{number}"
        if vendor == "anthropic":
            settings |= {"ANTHROPIC_API_KEY": key, "LLM__ANTHROPIC__BASE_URL": address}
        else:
            settings |= {"OPENAI_API_KEY": key, "OPENAI_BASE_URL": address}
            settings |= {"LLM__OPENAI__MODEL": "gpt-4.1", "LLM__OPENAI__API": vendor}
        arguments, module = (("run",), "bot") if step is None else ((*map(str, step), "run"), "tests.flows.dying")
        process = await processes.begun(*arguments, settings=settings, folder=self.folder, module=module)
        self.life = Life(number, process, asyncio.create_task(process.at_its_end()))
        return self.life

    async def connected(self, life: Life) -> None:
        opened = self.phones.streams_opened
        connected = asyncio.create_task(self.phones.until(lambda: self.phones.streams_opened > opened))
        await asyncio.wait((connected, life.ending), timeout=_START_SECONDS, return_when=asyncio.FIRST_COMPLETED)
        connected.cancel()
        await asyncio.gather(connected, return_exceptions=True)

    async def kill(self, life: Life, how: str) -> None:
        await life.process.kill()
        await self._bury(life, how, meant=-9)

    async def stop(self, life: Life, how: str) -> None:
        await life.process.terminate()
        await self._bury(life, how, meant=0)
        await self.phones.disconnected()

    async def _bury(self, life: Life, how: str, *, meant: int) -> None:
        ended = await life.ending
        died_at = _DIED_AT.search(ended.stderr)
        if died_at:
            self.steps.append(died_at[1])
        how = died_at[1] if died_at else how
        self.lives.append(Ended(life.number, how, ended.status, meant, ended.stderr))


@asynccontextmanager
async def world(size: Size, folder: Path) -> AsyncGenerator[World]:
    envelopes._last = 0  # each name is a later one: many that other tests gave put the clock ahead, by half a minute
    crowd = Crowd.drawn(size.seed, people=size.people, groups=size.groups, strangers=size.strangers)
    pen, record = Pen(crowd=crowd, seed=size.seed), Record()
    shared: dict[str, Any] = {"seed": size.seed, "record": record}
    shown: dict[str, Any] = {**shared, "groups": crowd.groups, "people": (*crowd.people, *crowd.strangers)}
    double = BridgePhones(**shown) if size.way == "websocket" else DaemonPhones(way=size.way, **shown)
    async with (
        double as signal,
        OpenAI(**shared, pen=pen) as openai,
        Anthropic(**shared, pen=pen) as anthropic,
        Searches(**shared) as searches,
        Weather(record=record) as weather,
    ):
        settings = {
            "SIGNAL__ACCOUNT": envelopes.ACCOUNT,
            "SIGNAL__URL": signal.url,
            "SIGNAL__SEND_TIMEOUT_SECONDS": str(SEND_SECONDS),
            "SIGNAL__UNKNOWN_GRACE_SECONDS": str(GRACE_SECONDS),
            "LLM__TIMEOUT_SECONDS": "240",
            "TOOLS__CALLS_PER_MINUTE": "10000",
            "TOOLS__WEATHER__BASE_URL": weather.url,
            "TOOLS__WEATHER__GEOCODING_BASE_URL": weather.url,
            "TOOLS__WEB_SEARCH__SEARXNG_BASE_URL": searches.url,
            "TOOLS__WEB_SEARCH__WIKIPEDIA_BASE_URL": searches.url,
            "WORKER__CONVERSATIONS_AT_ONCE": "16",
            **crowd.settings(),
            **GENEROUS,
        }
        models: dict[Vendor, Anthropic | OpenAI] = {"chat": openai, "responses": openai, "anthropic": anthropic}
        here = World(size=size, folder=folder, pen=pen, phones=signal, models=models, settings=settings, record=record)
        try:
            yield here
        finally:
            if here.life is not None:
                await here.life.process.kill()
                await here.life.ending
