"""The record: what the doubles saw, in the order in which they saw it, and the place at which one of them kills."""

import asyncio
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from aiohttp import web

from tests.servers.base import Seen
from tests.servers.signal_server import Sent


@dataclass(frozen=True, kw_only=True)
class Asked:
    """A model was asked; `step` is how often it was asked in this turn before, `labels` the questions of the turn."""

    life: str
    vendor: str
    labels: tuple[str, ...]
    step: int
    foreign: tuple[str, ...]
    """Canaries and labels of other conversations in the prompt: there must be none."""


@dataclass(frozen=True, kw_only=True)
class Answered:
    life: str
    labels: tuple[str, ...]
    step: int


@dataclass(frozen=True, kw_only=True)
class SummedUp:
    """A summary of older turns was written out whole: it is paid for, by one of the turns."""


@dataclass(frozen=True, kw_only=True)
class Searched:
    label: str
    step: int


@dataclass(frozen=True, kw_only=True)
class WentOut:
    sent: Sent


Entry = Asked | Answered | SummedUp | Searched | WentOut

PLACES = ("model asked", "model answered", "tool asked", "send begun", "send out")
"""A request has arrived and nothing has been done; the model's answer was written whole, or the message has gone out to
people, and Aldis has not heard of it."""


@dataclass
class Record:
    """Entries, oldest first; and one of the places at which Aldis is killed when its next request comes by there."""

    entries: list[Entry] = field(default_factory=list[Entry])
    place: str | None = None
    tripped: asyncio.Event = field(default_factory=asyncio.Event)
    _disarmed: asyncio.Event = field(default_factory=asyncio.Event)

    def note(self, entry: Entry) -> None:
        self.entries.append(entry)

    def __iter__(self) -> Iterator[Entry]:
        return iter(self.entries)

    def arm(self, place: str) -> None:
        self.place, self.tripped, self._disarmed = place, asyncio.Event(), asyncio.Event()

    def disarm(self) -> None:
        """Aldis is dead: let go what was held."""
        self.place = None
        self._disarmed.set()

    async def passed(self, place: str) -> bool:
        """Whether it was armed here; then this returns only when Aldis is dead."""
        if self.place != place:
            return False
        self.place = None
        self.tripped.set()
        await self._disarmed.wait()
        return True


class Forgetful:
    """Part of a double that works for half an hour: it keeps no requests, and answers the dead calmly."""

    requests: list[Seen]

    async def handle(self, request: web.Request) -> web.StreamResponse:
        try:
            return await super().handle(request)  # pyright: ignore[reportAttributeAccessIssue] (the double's own)
        except ConnectionError:
            return web.Response()
        finally:
            self.requests.clear()

    async def _take(self, connection: Any, line: bytes) -> None:
        try:
            await super()._take(connection, line)  # pyright: ignore[reportAttributeAccessIssue] (the double's own)
        finally:
            self.requests.clear()
