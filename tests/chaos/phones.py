"""Signal between Aldis and people's phones: signal-cli's double, with sends that fail and receipts that come late.

Which sends go wrong and how is drawn from the seed, the conversation, the text and the number of the attempt; from the
fourth attempt of a text on all go well, so that nothing has to be given up. Every frame that is written to a stream is
remembered: what was handed to a process that died with it is lost by signal-cli's own protocol.
"""

import asyncio
import json
import random
import time
from collections import Counter
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

from aiohttp import web

from tests.chaos.diary import Diary, Forgetful, WentOut
from tests.chaos.tripwire import Tripwire
from tests.servers.base import Seen
from tests.servers.envelopes import receipt
from tests.servers.signal_cli import SignalCli, _Arrival, _Listener
from tests.servers.signal_server import Parcel, Plan, Sent, cut

SEND_SECONDS = 5.0
"""Aldis's `SIGNAL__SEND_TIMEOUT_SECONDS`."""
GRACE_SECONDS = 6.0
"""Aldis's `SIGNAL__UNKNOWN_GRACE_SECONDS`."""

_ALWAYS_WELL_FROM = 3
_LONGEST_DECRYPTING_SECONDS = 2.0

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
"""How likely each is; what is left goes well."""


@dataclass(frozen=True, kw_only=True)
class Handed:
    """A frame that was written to a stream: a letter by its time, or a receipt by the times that it confirms."""

    stream: int
    at: int
    """When it was written, in milliseconds since 1970."""
    sent_at: int | None
    confirms: tuple[int, ...]


@dataclass
class Phones(Forgetful, SignalCli):
    """Signal, as the crowd has it."""

    seed: int = 0
    is_calm: bool = False
    """In calm all sends go well, and every receipt comes at once."""
    most_unread: int | None = None
    """After so many letters that were handed over and not shown as read, the next frame waits a moment, as it does when
    signal-cli has to decrypt it first: what lies in the socket when a life is killed is lost. None: back to back."""
    awaited: set[int] = field(default_factory=set[int])
    """The letters that should be shown as read, by their times."""
    diary: Diary = field(default_factory=Diary)
    wire: Tripwire = field(default_factory=Tripwire)
    handed: list[Handed] = field(default_factory=list[Handed])
    calm_streams: set[int] = field(default_factory=set[int])
    """The streams that were opened in calm: their processes were not killed."""
    _unread: list[int] = field(default_factory=list[int])
    _fed: list[_Listener] = field(default_factory=list[_Listener])
    """All streams so far; a stream's number is its place, from 1."""
    _attempts: Counter[tuple[str, str]] = field(default_factory=Counter[tuple[str, str]])
    _late: set[asyncio.Task[None]] = field(default_factory=set[asyncio.Task[None]])

    def __post_init__(self) -> None:
        self.receipts_mode = "never"  # the phones below confirm, each in its own time

    @property
    def is_quiet(self) -> bool:
        """Whether nothing is on its way to Aldis."""
        return not self._waiting and not self._late

    async def stop(self) -> None:
        for task in self._late:
            task.cancel()
        await asyncio.gather(*self._late, return_exceptions=True)
        await super().stop()

    # In

    async def _listen(self, listener: _Listener, connection: object) -> None:
        self._unread.clear()
        self._fed.append(listener)
        if self.is_calm:
            self.calm_streams.add(len(self._fed))
        await super()._listen(listener, connection)

    async def _hand(self, listener: _Listener, arrival: _Arrival) -> bool:
        is_there = await super()._hand(listener, arrival)
        frame = _handed(self._number(listener), arrival.text)
        self.handed.append(frame)
        if frame.sent_at in self.awaited:
            self._unread.append(frame.sent_at)
        return is_there

    def _number(self, listener: _Listener) -> int:
        return next(number for number, fed in enumerate(self._fed, 1) if fed is listener)

    async def _rest(self) -> None:
        if self.most_unread is None:
            return
        most_unread = self.most_unread
        with suppress(TimeoutError):
            async with asyncio.timeout(_LONGEST_DECRYPTING_SECONDS), self._changed:
                await self._changed.wait_for(lambda: len(self._unread) < most_unread or not self._listeners)
                return
        self._unread.clear()

    async def note(self, shelf: list[Any], value: Any) -> None:
        if shelf is self.read and value[1] in self._unread:
            self._unread.remove(value[1])
        await super().note(shelf, value)

    # Out

    async def _send(self, sent: Parcel, seen: Seen, wire: asyncio.BaseTransport | None) -> Any:
        if await self.wire.passed("send begun"):
            return web.Response(status=503)
        self.plans.append(self._plan(sent))
        return await super()._send(sent, seen, wire)

    def _plan(self, sent: Parcel) -> Plan:
        if self.wire.is_at("send out"):
            return Plan(answer=self._held, goes_out=True)
        text = sent.text if isinstance(sent, Sent) else ""
        attempt = self._attempts[sent.chat, text]
        self._attempts[sent.chat, text] += 1
        if self.is_calm or attempt >= _ALWAYS_WELL_FROM:
            return Plan()
        draw = random.Random(f"{self.seed}|send|{sent.chat}|{text}|{attempt}").random()
        for share, plan in _TROUBLE:
            if draw < share:
                return plan
            draw -= share
        return Plan()

    async def _held(self, _: Seen) -> web.StreamResponse:
        await self.wire.passed("send out")
        return web.Response(status=503)

    async def go_out(self, sent: Parcel, plan: Plan) -> None:
        await super().go_out(sent, plan)
        if isinstance(sent, Sent) and any(out is sent for out in reversed(self.sent)):
            self.diary.note(WentOut(sent=sent))
            self._confirm(sent)

    def _confirm(self, sent: Sent) -> None:
        """Every phone that got it confirms it: most at once, some after the grace period, some never."""
        lots = random.Random(f"{self.seed}|receipt|{sent.chat}|{sent.text}|{sent.timestamp % 7}")
        delays = [self._delay_seconds(lots) for _ in self.recipients(sent)]
        for person, seconds in zip(self.recipients(sent), delays, strict=True):
            if seconds is not None:
                frame = receipt([sent.timestamp], author=person)
                task = asyncio.create_task(self._delivered_later(frame, seconds))
                self._late.add(task)
                task.add_done_callback(self._late.discard)

    def _delay_seconds(self, lots: random.Random) -> float | None:
        draw = 0.0 if self.is_calm else lots.random()
        if draw < 0.85:
            return lots.uniform(0, 0.08)
        return lots.uniform(GRACE_SECONDS + 1, GRACE_SECONDS + 3) if draw < 0.93 else None

    async def _delivered_later(self, frame: dict[str, Any], seconds: float) -> None:
        await asyncio.sleep(seconds)
        await self.deliver(frame)


def _handed(stream: int, text: str) -> Handed:
    at = time.time_ns() // 1_000_000
    try:
        envelope = json.loads(text)["envelope"]
        confirms = tuple(envelope.get("receiptMessage", {}).get("timestamps", ()))
        return Handed(stream=stream, at=at, sent_at=int(envelope["timestamp"]), confirms=confirms)
    except (ValueError, TypeError, KeyError):
        return Handed(stream=stream, at=at, sent_at=None, confirms=())
