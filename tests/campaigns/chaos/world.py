"""The world of a round: the doubles of everything that Aldis talks to, and what is known of its lives."""

import time
from collections import Counter
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from tests.campaigns.chaos.crowd import Crowd, Letter, Pen
from tests.campaigns.chaos.evidence import Ended
from tests.campaigns.chaos.kill_switch import KillSwitch
from tests.campaigns.chaos.lives import Life, Step
from tests.campaigns.chaos.lookups import Searches, Weather
from tests.campaigns.chaos.models import Anthropic, OpenAI
from tests.campaigns.chaos.phones import GRACE_SECONDS, SEND_SECONDS, Phones, Way, phones
from tests.campaigns.chaos.record import Record
from tests.servers.envelopes import ACCOUNT

Vendor = Literal["chat", "responses", "anthropic"]
VENDORS: tuple[Vendor, ...] = ("chat", "responses", "anthropic")
"""Which model API a life speaks; the next one goes on where it stopped, whatever it speaks itself."""

_GENEROUS = {
    "LIMITS__MESSAGES_PER_MINUTE": "10000",
    "LIMITS__CONVERSATION_MESSAGES_PER_MINUTE": "10000",
    "LIMITS__MAX_WAITING": "100000",
}
"""The crowd is in a hurry."""


@dataclass(frozen=True, kw_only=True)
class Size:
    """How much happens in a round."""

    seed: int
    kills: int
    rate_per_second: float
    way: Way = "unix"
    stops: int = 0
    """How many lives more end as an operator ends them, while people write."""
    restarts: int = 0
    """How often each of those is restarted within its process before; and those killed at random are, then killed."""
    people: int = 25
    groups: int = 5
    strangers: int = 4
    uptime_seconds: float = 2.0
    """How long a life lasts after it has connected, on average."""


@dataclass
class World:
    """The outside of Aldis, and what is known of its lives."""

    size: Size
    folder: Path
    pen: Pen
    phones: Phones
    models: dict[Vendor, Anthropic | OpenAI]
    searches: Searches
    weather: Weather
    kill_switch: KillSwitch
    record: Record
    deliveries: Counter[int] = field(default_factory=Counter[int])
    lives: list[Ended] = field(default_factory=list[Ended])
    steps: list[str] = field(default_factory=list[str])
    """The names of the steps at which lives have ended so far."""
    life: Life | None = None
    """The latest one."""
    numbers: int = 0
    restarts: int = 0
    """How many restarts have been asked for in lives that then ended in order."""
    lost_in_order: int = 0
    """How much was fetched and handed to nobody while a life ended in order."""

    def settings(self, vendor: Vendor, number: int, web_port: int) -> dict[str, str]:
        """The environment of one life."""
        return {
            "SIGNAL__ACCOUNT": ACCOUNT,
            **self.phones.settings,
            "LOG__FORMAT": "json",
            "SIGNAL__SEND_TIMEOUT_SECONDS": str(SEND_SECONDS),
            "SIGNAL__UNKNOWN_GRACE_SECONDS": str(GRACE_SECONDS),
            "LLM__TIMEOUT_SECONDS": "240",
            "TOOLS__CALLS_PER_MINUTE": "10000",
            "TOOLS__WEATHER__BASE_URL": self.weather.url,
            "TOOLS__WEATHER__GEOCODING_BASE_URL": self.weather.url,
            "TOOLS__WEB_SEARCH__SEARXNG_BASE_URL": self.searches.url,
            "TOOLS__WEB_SEARCH__WIKIPEDIA_BASE_URL": self.searches.url,
            "WEB__PORT": str(web_port),
            "WORKER__CONVERSATIONS_AT_ONCE": "16",
            **self.pen.crowd.settings(),
            **_model_settings(vendor, self.models[vendor].base_url, f"life-{number}"),
            **_GENEROUS,
        }

    @property
    def kills(self) -> int:
        return sum(ended.status == -9 for ended in self.lives)

    @property
    def stops(self) -> int:
        """How many lives have ended in order."""
        return sum(ended.status == 0 for ended in self.lives)

    async def deliver(self, letter: Letter) -> None:
        if letter.label and letter.chat.is_listed and not self.deliveries[letter.sent_at]:
            self.phones.awaited.add(letter.sent_at)
        self.deliveries[letter.sent_at] += 1
        await self.phones.deliver(letter.frame)

    async def begin(self, vendor: Vendor, *, step: Step | None = None, web_port: int = 0) -> Life:
        """A new life; the one before must be over."""
        self.numbers += 1
        settings = self.settings(vendor, self.numbers, web_port)
        self.life = await Life.born(settings, number=self.numbers, folder=self.folder, step=step)
        return self.life

    def bury(self, life: Life, how: str, *, meant: int) -> None:
        """Note how a life ended; `meant` is the status that it should have."""
        was_meant = life.status == meant
        words = self.pen.told_in(life.log)
        step = life.died_at()
        if step is not None:
            self.steps.append(step)
        self.lives.append(
            Ended(
                number=life.number,
                born_at=life.born_at,
                ended_at=time.time_ns() // 1_000_000,
                how=step or how,
                status=life.status,
                was_meant=was_meant,
                words=tuple(sorted(words)),
                log=life.log[-4000:] if words or not was_meant or "Traceback" in life.log else "",
                told=life.told(),
            )
        )


def _model_settings(vendor: Vendor, address: str, key: str) -> dict[str, str]:
    if vendor == "anthropic":
        return {"ANTHROPIC_API_KEY": key, "LLM__ANTHROPIC__BASE_URL": address}
    return {
        "OPENAI_API_KEY": key,
        "OPENAI_BASE_URL": address,
        "LLM__OPENAI__MODEL": "gpt-4.1",
        "LLM__OPENAI__API": vendor,
    }


@asynccontextmanager
async def world(size: Size, folder: Path) -> AsyncGenerator[World]:
    """The doubles of everything that Aldis talks to, listening."""
    crowd = Crowd.drawn(size.seed, people=size.people, groups=size.groups, strangers=size.strangers)
    pen = Pen(crowd=crowd, seed=size.seed)
    record, kill_switch = Record(), KillSwitch()
    shared: dict[str, Any] = {"seed": size.seed, "record": record, "kill_switch": kill_switch}
    async with (
        phones(
            size.way,
            **shared,
            groups=crowd.groups,
            people=(*crowd.people, *crowd.strangers),
        ) as signal,
        OpenAI(**shared, pen=pen) as openai,
        Anthropic(**shared, pen=pen) as anthropic,
        Searches(**shared) as searches,
        Weather(kill_switch=kill_switch) as weather,
    ):
        here = World(
            size=size,
            folder=folder,
            pen=pen,
            phones=signal,
            models={"chat": openai, "responses": openai, "anthropic": anthropic},
            searches=searches,
            weather=weather,
            kill_switch=kill_switch,
            record=record,
        )
        try:
            yield here
        finally:
            if here.life is not None:
                await here.life.kill()
