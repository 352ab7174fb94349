"""The record: what the doubles saw, in the order in which they saw it. One record for all of them."""

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
    """A completion was written out whole: it is paid for."""

    life: str
    labels: tuple[str, ...]
    step: int


@dataclass(frozen=True, kw_only=True)
class SummedUp:
    """A summary of older turns was written out whole: it is paid for, by one of the turns."""


@dataclass(frozen=True, kw_only=True)
class Searched:
    """A tool looked something up for a question, as the answer of the model to step `step` asked for."""

    label: str
    step: int


@dataclass(frozen=True, kw_only=True)
class WentOut:
    """People got a message."""

    sent: Sent


Entry = Asked | Answered | SummedUp | Searched | WentOut


@dataclass
class Record:
    """Entries, oldest first."""

    entries: list[Entry] = field(default_factory=list[Entry])

    def note(self, entry: Entry) -> None:
        self.entries.append(entry)

    def __iter__(self) -> Iterator[Entry]:
        return iter(self.entries)


class Forgetful:
    """Part of a double that works for half an hour: it does not keep the bodies of all requests.

    And it takes it calmly when whoever asked is dead by the time it answers.
    """

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
