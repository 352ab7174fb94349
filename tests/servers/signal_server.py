"""What the doubles of the two bridges to Signal share: the people behind them, and what went out to them.

A test builds `tests.servers.signal_cli.SignalCli` or `tests.servers.signal_rest_api.SignalRestApi` and uses either in
the same words:

    async with SignalCli() as server:
        await server.deliver(message("hi"))       # frames come from tests.servers.envelopes
        [sent] = await server.sent_count(1)        # waits for the first reply, as people see it
"""

import asyncio
import json
from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Literal, TypeVar

from aiohttp import web

from tests.servers.base import Answer, Seen, Server
from tests.servers.envelopes import ACCOUNT, ALDIS, ALICE, BOB, CAROL, GROUP, MALLORY, Frame, Person, receipt

T = TypeVar("T")

WAIT_SECONDS = 30.0
"""How long a test waits for something that should happen at once; generous, for machines that are busy."""

End = Literal["drop", "close", "silence"]
"""How a stream of envelopes ends: broken in the middle, in good order, or not at all but mute."""


@dataclass(frozen=True, kw_only=True)
class Sent:
    """One message that went out, as people see it."""

    text: str
    recipient: str | None
    """The uuid or number of a direct message."""
    group: str | None
    """The group's id as it stands in envelopes."""
    styles: tuple[str, ...]
    """`start:length:STYLE` in UTF-16 units."""
    quote_timestamp: int | None
    quote_author: str | None
    quote_text: str | None
    timestamp: int

    @property
    def chat(self) -> str:
        """The `ChatId` it went to."""
        return f"group:{self.group}" if self.group else f"direct:{self.recipient}"


@dataclass(frozen=True, kw_only=True)
class Plan:
    """How one send goes; the default goes well. Put plans into `plans`: the next sends take them in order."""

    results: tuple[str, ...] = ()
    """Per recipient, e.g. `("SUCCESS", "NETWORK_FAILURE")`; empty means all `SUCCESS`."""
    retry_after_seconds: int | None = None
    """Stands with every `RATE_LIMIT_FAILURE` of signal-cli; the rest-api drops it."""
    error: int | None = None
    """A JSON-RPC error code of signal-cli instead of results; the rest-api makes 400 or 429 of it."""
    goes_out: bool | None = None
    """Whether the message reaches people all the same; None follows from results and error."""
    delay_seconds: float = 0
    """Between going out and the answer: how to answer after the client's deadline."""
    answer: Answer | None = None
    """An HTTP answer in place of the regular one; `hang` never answers, `cut` closes the connection."""

    @property
    def succeeds(self) -> bool:
        """Whether anybody gets the message, as far as the answer tells."""
        return self.error is None and self.answer is None and (not self.results or "SUCCESS" in self.results)


async def cut(_: Seen) -> web.StreamResponse:
    """An answer for `Plan`: the connection is closed without one."""
    return web.Response()


@dataclass
class SignalServer(Server, ABC):
    """A bridge with one account; `async with` starts and stops it. `deliver` is the way in, `sent` the way out."""

    accounts: list[str] = field(default_factory=lambda: [ACCOUNT])
    groups: dict[str, tuple[Person, ...]] = field(default_factory=lambda: {GROUP: (ALICE, BOB, CAROL)})
    """The groups the account is in, by id: their other members."""
    people: tuple[Person, ...] = (ALICE, BOB, CAROL, MALLORY)
    own: Person | None = ALDIS
    """What the account knows of itself; None: nothing."""
    receipts_mode: Literal["at_once", "on_call", "never"] = "at_once"
    """When people's phones confirm what was sent; `on_call` waits for `confirm()`."""
    plans: deque[Plan] = field(default_factory=deque[Plan])
    link_uri: str = "sgnl://linkdevice?uuid=c29tZS11dWlk&pub_key=c29tZS1rZXk%3D"

    sent: list[Sent] = field(default_factory=list[Sent])
    read: list[tuple[str, int]] = field(default_factory=list[tuple[str, int]])
    """Read receipts that were sent: (recipient, timestamp)."""
    typing: list[tuple[str, bool]] = field(default_factory=list[tuple[str, bool]])
    """Typing indicators that were sent: (chat id, started)."""
    streams_opened: int = 0
    """How many streams of envelopes there were so far, the closed ones included."""
    streams_open: int = 0

    _changed: asyncio.Condition = field(default_factory=asyncio.Condition)
    _unconfirmed: list[Sent] = field(default_factory=list[Sent])

    async def deliver(self, *frames: Frame) -> None:
        """Let frames arrive from Signal."""
        for frame in frames:
            await self.deliver_data(json.dumps(frame, ensure_ascii=False))

    @abstractmethod
    async def deliver_data(self, text: str) -> None:
        """Let any text arrive where a frame should be."""

    @abstractmethod
    async def delivered(self) -> None:
        """Wait until everything that arrived so far has been written to a stream, or was dropped."""

    @abstractmethod
    async def end_streams(self, how: End) -> None:
        """End every open stream, or let it fall silent without ending."""

    async def connected(self, streams_opened: int = 1) -> None:
        """Wait until a stream is open, and so many have been opened in all."""
        await self.until(lambda: self.streams_open > 0 and self.streams_opened >= streams_opened)

    async def disconnected(self) -> None:
        """Wait until no stream is open."""
        await self.until(lambda: self.streams_open == 0)

    async def sent_count(self, count: int) -> list[Sent]:
        """Wait until so many messages went out and give them, oldest first."""
        await self.until(lambda: len(self.sent) >= count)
        return self.sent[:count]

    async def read_count(self, count: int) -> list[tuple[str, int]]:
        """Wait until so many read receipts were sent and give them, oldest first."""
        await self.until(lambda: len(self.read) >= count)
        return self.read[:count]

    async def typing_count(self, count: int) -> list[tuple[str, bool]]:
        """Wait until so many typing indicators were sent and give them, oldest first."""
        await self.until(lambda: len(self.typing) >= count)
        return self.typing[:count]

    async def until(self, holds: Callable[[], bool]) -> None:
        """Wait until something of this server holds; fails after `WAIT_SECONDS`."""
        async with asyncio.timeout(WAIT_SECONDS), self._changed:
            await self._changed.wait_for(holds)

    async def confirm(self) -> None:
        """Let people's phones confirm everything that went out and is not confirmed yet."""
        confirmed, self._unconfirmed = self._unconfirmed, []
        for sent in confirmed:
            for person in self.recipients(sent):
                await self.deliver(receipt([sent.timestamp], author=person))

    async def scan(self, number: str) -> None:
        """The operator scans the QR code with the phone of that number."""
        await self.note(self.accounts, number)

    def recipients(self, sent: Sent) -> tuple[Person, ...]:
        """Who gets a message: the members of the group, or one person."""
        if sent.group:
            return self.groups[sent.group]
        known = tuple(person for person in self.people if sent.recipient in {person.uuid, person.number})
        return known or (Person(uuid=sent.recipient or "", name=None),)

    def outcomes(self, sent: Sent, plan: Plan) -> list[tuple[Person, str]]:
        """Who got the message and who did not, and why: one result type for each recipient."""
        people = self.recipients(sent)
        kinds = plan.results or ("SUCCESS",) * len(people)
        return [(people[number % len(people)], kind) for number, kind in enumerate(kinds)]

    async def go_out(self, sent: Sent, plan: Plan) -> None:
        """Hand a message to the people it is for, if the plan lets it through."""
        if not (plan.succeeds if plan.goes_out is None else plan.goes_out):
            return
        self._unconfirmed.append(sent)
        await self.note(self.sent, sent)
        if self.receipts_mode == "at_once":
            await self.confirm()
        elif self.receipts_mode == "never":
            self._unconfirmed.clear()

    async def note(self, shelf: list[T], value: T) -> None:
        """Remember something and wake whoever waits for it."""
        async with self._changed:
            shelf.append(value)
            self._changed.notify_all()

    async def opened(self, change: int) -> None:
        """A stream was opened (1) or is gone (-1)."""
        async with self._changed:
            self.streams_open += change
            self.streams_opened += max(change, 0)
            self._changed.notify_all()
