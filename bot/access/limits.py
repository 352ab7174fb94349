"""Rates: bounded sliding windows in memory, and how much one person and one conversation may send."""

from collections import OrderedDict, deque
from datetime import UTC, datetime, timedelta
from typing import Literal

from bot.events import Envelope, Kind
from bot.settings import LimitsSettings

Refusal = Literal["too_many", "queue_full"]
"""Why a message is refused instead of answered: it came too fast, or its conversation's queue is full."""

_MINUTE = timedelta(minutes=1)
_MAX_KEYS = 10_000
_NOTES_FOR_EACH = 10
"""How many edits, deletions and reactions are admitted per message. Signal's own apps edit a message ten times at most.
Source: Signal-Android, MessageConstraintsUtil.MAX_EDIT_COUNT (2026)."""


class CallRate:
    """Limits the calls per minute for each key (a person and a tool); forgets the least recently used key first."""

    def __init__(self, calls_per_minute: int) -> None:
        self._most = calls_per_minute
        self._calls: OrderedDict[str, deque[datetime]] = OrderedDict()

    def admits(self, key: str, now: datetime) -> bool:
        """Whether one more call is within the limit; if so, it is counted."""
        has_room = self.has_room(key, now)
        if has_room:
            self.count(key, now)
        return has_room

    def has_room(self, key: str, now: datetime, *, beside: int = 0) -> bool:
        """Whether one more call, and `beside` others, would be within the limit."""
        calls = self._calls.setdefault(key, deque())
        self._calls.move_to_end(key)
        while len(self._calls) > _MAX_KEYS:
            self._calls.popitem(last=False)
        while calls and abs(now - calls[0]) >= _MINUTE:  # later than now: the clock was set back since
            calls.popleft()
        return len(calls) + beside < self._most

    def count(self, key: str, now: datetime) -> None:
        """Records one more call; no more are remembered than the limit."""
        calls = self._calls.setdefault(key, deque())
        calls.append(now)
        if len(calls) > self._most:
            calls.popleft()


class Quota:
    """Limits messages a minute from one person and in one conversation, commands included, and messages that wait.

    Edits, deletions and reactions have a limit ten times as high: what must disappear does. What was stored counts.
    """

    def __init__(self, limits: LimitsSettings) -> None:
        self._max_waiting = limits.max_waiting
        self._persons = CallRate(limits.messages_per_minute)
        self._conversations = CallRate(limits.conversation_messages_per_minute)
        self._notes = CallRate(_NOTES_FOR_EACH * limits.messages_per_minute)
        self._tellings = CallRate(1)

    def has_room(self, envelope: Envelope, now: datetime, *, beside: int = 0) -> bool:
        """Whether it is within the limits of its minute, even if `beside` others count before it."""
        at = taken_at(envelope, now)
        return all(rate.has_room(key, at, beside=beside) for rate, key in self._rates(envelope))

    def count(self, envelope: Envelope, now: datetime) -> None:
        """Counts it after it was stored."""
        for rate, key in self._rates(envelope):
            rate.count(key, taken_at(envelope, now))

    def _rates(self, envelope: Envelope) -> tuple[tuple[CallRate, str], ...]:
        author, chat = envelope.author or "", envelope.chat or ""
        is_message = envelope.kind is Kind.MESSAGE
        return ((self._persons, author), (self._conversations, chat)) if is_message else ((self._notes, author),)

    def max_waiting(self, envelope: Envelope) -> int:
        """Returns how many messages may wait in its conversation before it; urgent ones pass a full queue."""
        return self._max_waiting * (_NOTES_FOR_EACH if envelope.is_urgent else 1)

    def may_tell(self, envelope: Envelope, now: datetime) -> bool:
        """Whether its refusal will be sent: no other one was, to this conversation, within the last minute."""
        return envelope.kind is Kind.MESSAGE and self._tellings.admits(envelope.chat or "", taken_at(envelope, now))


def taken_at(envelope: Envelope, now: datetime) -> datetime:
    """Returns when Signal's server received it, as a backlog did not arrive all at once. Never later than now."""
    if envelope.server_at is None:
        return now
    return datetime.fromtimestamp(min(envelope.server_at / 1000, now.timestamp()), UTC)
