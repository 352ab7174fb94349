"""Signal between Aldis and people's phones: the bridges' doubles, with sends that fail and receipts that come late.

Which sends go wrong and how is drawn from the seed, the conversation, the text and the number of the attempt; from the
fourth attempt of a text on all go well, so that nothing has to be given up. Every frame that is handed to a life is
remembered: what was handed to a process that died with it is lost by the bridges' own protocols.
"""

import asyncio
import json
import random
import time
from abc import ABC
from collections import Counter
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any, Literal

from aiohttp import web

from tests.campaigns.chaos.record import Forgetful, Record, WentOut
from tests.servers.base import Seen
from tests.servers.envelopes import receipt
from tests.servers.signal_cli import SignalCli, _Subscription
from tests.servers.signal_rest_api import SignalRestApi
from tests.servers.signal_server import Parcel, Plan, Sent, SignalServer, cut

Way = Literal["unix", "tcp", "websocket"]
WAYS: tuple[Way, ...] = ("unix", "tcp", "websocket")
"""How Aldis hears: signal-cli's sockets, and signal-cli-rest-api's websocket."""
KEEPING: frozenset[Way] = frozenset({"unix", "tcp"})
"""Those on which nothing at all is lost by an orderly end, whatever comes meanwhile."""

SEND_SECONDS = 5.0
GRACE_SECONDS = 6.0

_ALWAYS_WELL_FROM = 3
_LATE_RECEIPT_SECONDS = (1.0, 4.0)
"""A receipt that comes late comes within the grace period: later than that, nobody is promised anything."""
_MAX_DECRYPTING_SECONDS = 2.0
_MAX_UNREAD = 4
"""After so many letters that were handed over and not shown as read, the next frame waits a moment, as it does when
signal-cli has to decrypt it first: what lies in the socket when a life is killed is lost."""

_TROUBLE: tuple[tuple[float, Plan], ...] = (
    (0.03, Plan(delay_seconds=0.3)),
    (0.02, Plan(delay_seconds=SEND_SECONDS + 0.5)),
    (0.02, Plan(answer=cut, goes_out=True)),
    (0.01, Plan(answer=cut, goes_out=False)),
    (0.01, Plan(error=-32603, goes_out=True)),
    (0.01, Plan(error=-32603, goes_out=False)),
    (0.01, Plan(error=-3, goes_out=False)),
    (0.01, Plan(results=("NETWORK_FAILURE",))),
    (0.01, Plan(results=("RATE_LIMIT_FAILURE",), retry_after_seconds=1)),
    (0.01, Plan(error=-5)),
    (0.01, Plan(answer=lambda _: web.Response(status=503), goes_out=False)),
)


@dataclass(frozen=True, kw_only=True)
class Handed:
    """A frame that was written to a stream: a letter by its time, or a receipt by the times that it confirms."""

    stream: int
    at: int
    """When it was written, in milliseconds since 1970."""
    author: str
    """The uuid of whoever it is of; empty where it does not tell."""
    sent_at: int | None
    confirms: tuple[int, ...]


@dataclass
class Phones(Forgetful, SignalServer, ABC):
    seed: int = 0
    is_calm: bool = False
    awaited: set[int] = field(default_factory=set[int])
    record: Record = field(default_factory=Record)
    handed: list[Handed] = field(default_factory=list[Handed])
    calm_streams: set[int] = field(default_factory=set[int])
    _unread: list[int] = field(default_factory=list[int])
    _attempts: Counter[tuple[str, str]] = field(default_factory=Counter[tuple[str, str]])
    _late: set[asyncio.Task[None]] = field(default_factory=set[asyncio.Task[None]])

    def __post_init__(self) -> None:
        self.receipts_mode = "never"  # the phones below confirm, each in its own time

    @property
    def is_quiet(self) -> bool:
        return not self.waiting and not self._late

    async def stop(self) -> None:
        for task in self._late:
            task.cancel()
        await asyncio.gather(*self._late, return_exceptions=True)
        await super().stop()

    # In

    def _note_stream(self, number: int) -> None:
        self._unread.clear()
        if self.is_calm:
            self.calm_streams.add(number)

    def _note_handed(self, stream: int, text: str) -> None:
        frame = _handed(stream, text)
        self.handed.append(frame)
        if frame.sent_at in self.awaited:
            self._unread.append(frame.sent_at)

    async def _rest(self) -> None:
        with suppress(TimeoutError):
            async with asyncio.timeout(_MAX_DECRYPTING_SECONDS), self._changed:
                await self._changed.wait_for(lambda: len(self._unread) < _MAX_UNREAD or not self.streams_open)
                return
        self._unread.clear()

    async def note(self, repository: list[Any], value: Any) -> None:
        if repository is self.read and value[1] in self._unread:
            self._unread.remove(value[1])
        await super().note(repository, value)
        if repository is self.sent:
            self.record.note(WentOut(sent=value))

    # Out

    async def _is_cut_off(self, sent: Parcel) -> bool:
        """Whether Aldis was killed when it began this send; else how it goes is planned."""
        text = sent.text if isinstance(sent, Sent) else ""
        attempt = self._attempts[sent.chat, text]
        # One that a kill cuts off counts: Aldis gives up after a few of which nobody knows what became of them.
        self._attempts[sent.chat, text] += 1
        if await self.record.passed("send begun"):
            return True
        self.plans.append(self._plan(sent, text, attempt))
        return False

    def _plan(self, sent: Parcel, text: str, attempt: int) -> Plan:
        if self.record.place == "send out":
            return Plan(answer=self._held, goes_out=True)
        if self.is_calm or attempt >= _ALWAYS_WELL_FROM:
            return Plan()
        draw = random.Random(f"{self.seed}|send|{sent.chat}|{text}|{attempt}").random()
        for share, plan in _TROUBLE:
            if draw < share:
                return plan
            draw -= share
        return Plan()

    async def _held(self, _: Seen) -> web.StreamResponse:
        await self.record.passed("send out")
        return web.Response(status=503)

    def _arrived_at_phones(self, parcel: Parcel) -> None:
        """Every phone that got it confirms it: most at once, some within the grace period, some never."""
        super()._arrived_at_phones(parcel)
        text = parcel.text if isinstance(parcel, Sent) else ""
        lots = random.Random(f"{self.seed}|receipt|{parcel.chat}|{text}|{parcel.timestamp % 7}")
        delays = [self._delay_seconds(lots) for _ in self.recipients(parcel)]
        for person, seconds in zip(self.recipients(parcel), delays, strict=True):
            if seconds is not None:
                frame = receipt([parcel.timestamp], author=person)
                task = asyncio.create_task(self._delivered_later(frame, seconds))
                self._late.add(task)
                task.add_done_callback(self._late.discard)

    def _delay_seconds(self, lots: random.Random) -> float | None:
        draw = 0.0 if self.is_calm else lots.random()
        if draw < 0.85:
            return lots.uniform(0, 0.08)
        return lots.uniform(*_LATE_RECEIPT_SECONDS) if draw < 0.93 else None

    async def _delivered_later(self, frame: dict[str, Any], seconds: float) -> None:
        await asyncio.sleep(seconds)
        await self.deliver(frame)


@dataclass
class DaemonPhones(Phones, SignalCli):
    _fed: list[_Subscription] = field(default_factory=list[_Subscription])
    """All streams so far; a stream's number is its place, from 1."""

    async def _send(self, sent: Parcel, seen: Seen, wire: asyncio.BaseTransport | None) -> Any:
        return web.Response(status=503) if await self._is_cut_off(sent) else await super()._send(sent, seen, wire)

    async def _listen(self, listener: _Subscription) -> None:
        self._fed.append(listener)
        self._note_stream(len(self._fed))
        await super()._listen(listener)

    async def _hand(self, listener: _Subscription, arrival: str) -> None:
        await super()._hand(listener, arrival)
        self._note_handed(next(number for number, fed in enumerate(self._fed, 1) if fed is listener), arrival)


@dataclass
class BridgePhones(Phones, SignalRestApi):
    async def _send(self, sent: Parcel, seen: Seen, request: web.Request) -> web.StreamResponse:
        return web.Response(status=503) if await self._is_cut_off(sent) else await super()._send(sent, seen, request)

    async def opened(self, change: int) -> None:
        if change > 0:
            self._note_stream(self.streams_opened + 1)
        await super().opened(change)

    async def deliver_data(self, text: str) -> None:
        if self.streams_open:
            await self._rest()
        if self._sockets:
            self._note_handed(self.streams_opened, text)
        await super().deliver_data(text)


def _handed(stream: int, text: str) -> Handed:
    at = time.time_ns() // 1_000_000
    try:
        envelope = json.loads(text)["envelope"]
        confirms = tuple(envelope.get("receiptMessage", {}).get("timestamps", ()))
        author = envelope.get("sourceUuid") or ""
        return Handed(stream=stream, at=at, author=author, sent_at=int(envelope["timestamp"]), confirms=confirms)
    except (ValueError, TypeError, KeyError):
        return Handed(stream=stream, at=at, author="", sent_at=None, confirms=())
