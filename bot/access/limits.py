"""Rates: bounded sliding windows in memory, and how much one person and one conversation may send."""

from collections import OrderedDict
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
        self._calls: OrderedDict[str, dict[object, datetime]] = OrderedDict()

    def admits(self, key: str, now: datetime, call: object = None) -> bool:
        """Whether one more call is within the limit; if so, it is counted, a named one only once."""
        has_room = self.has_room(key, now, call)
        if has_room:
            self.count(key, now, call)
        return has_room

    def has_room(self, key: str, now: datetime, call: object = None) -> bool:
        """Whether one more call would be within the limit, as is one of this name that was counted."""
        calls = self._calls.setdefault(key, {})
        self._calls.move_to_end(key)
        while len(self._calls) > _MAX_KEYS:
            self._calls.popitem(last=False)
        while (
            calls and abs(now - next(iter(calls.values()))) >= _MINUTE
        ):  # later than now: the clock was set back since
            del calls[next(iter(calls))]
        return call in calls or len(calls) < self._most

    def count(self, key: str, now: datetime, call: object = None) -> None:
        """Records one more call, for which there is room."""
        self._calls.setdefault(key, {}).setdefault(call or object(), now)


class Quota:
    """Limits messages a minute from one person and in one conversation, commands included, and messages that wait.

    Edits, deletions and reactions have a limit ten times as high: what must disappear does.
    """

    def __init__(self, limits: LimitsSettings) -> None:
        self._max_waiting = limits.max_waiting
        self._persons = CallRate(limits.messages_per_minute)
        self._conversations = CallRate(limits.conversation_messages_per_minute)
        self._notes = CallRate(_NOTES_FOR_EACH * limits.messages_per_minute)
        self._tellings = CallRate(1)

    def admits(self, envelope: Envelope, now: datetime) -> bool:
        """Whether it is within the limits of its minute; if so, it is counted, once if it has to be taken again."""
        at = taken_at(envelope, now)
        name = _name(envelope)
        rates = [(self._persons, envelope.author or ""), (self._conversations, envelope.chat or "")]
        if envelope.kind is not Kind.MESSAGE:
            rates = [(self._notes, envelope.author or "")]
        has_room = all(rate.has_room(key, at, name) for rate, key in rates)
        for rate, key in rates if has_room else ():
            rate.count(key, at, name)
        return has_room

    def max_waiting(self, envelope: Envelope) -> int:
        """Returns how many messages may wait in its conversation before it; urgent ones pass a full queue."""
        return self._max_waiting * (_NOTES_FOR_EACH if envelope.is_urgent else 1)

    def tells(self, envelope: Envelope, now: datetime) -> bool:
        """Whether the refusal of a message is sent: one a minute in each conversation."""
        at = taken_at(envelope, now)
        chat = envelope.chat or ""
        return envelope.kind is Kind.MESSAGE and self._tellings.admits(chat, at, _name(envelope))


def _name(envelope: Envelope) -> object:
    return envelope.author, envelope.device, envelope.sent_at, envelope.kind


def taken_at(envelope: Envelope, now: datetime) -> datetime:
    """Returns when Signal's server received it, as a backlog did not arrive all at once. Never later than now."""
    if envelope.server_at is None:
        return now
    return datetime.fromtimestamp(min(envelope.server_at / 1000, now.timestamp()), UTC)
