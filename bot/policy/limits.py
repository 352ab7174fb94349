"""How often: sliding windows kept in memory and bounded, and how much one person and one conversation may send."""

from collections import OrderedDict, deque
from datetime import UTC, datetime, timedelta
from typing import Literal

from bot.events import Envelope, Kind
from bot.settings import LimitsSettings

Refusal = Literal["too_many", "queue_full"]
"""Why a message is refused instead of answered: it came too fast, or too much waits in its conversation already."""

_MINUTE = timedelta(minutes=1)
_MAX_KEYS = 10_000
_NOTES_FOR_EACH = 10
"""So many edits, deletions and reactions are admitted for each message. Signal's own applications edit a message ten
times at most. Source: Signal-Android, MessageConstraintsUtil.MAX_EDIT_COUNT (2026)."""


class CallRate:
    """At most so many calls a minute for each key, a person and a tool; the key used longest ago is forgotten first."""

    def __init__(self, calls_per_minute: int) -> None:
        self._most = calls_per_minute
        self._calls: OrderedDict[str, deque[datetime]] = OrderedDict()

    def admits(self, key: str, now: datetime) -> bool:
        """Whether one more call is within the limit; it is counted if so."""
        has_room = self.has_room(key, now)
        if has_room:
            self.count(key, now)
        return has_room

    def has_room(self, key: str, now: datetime, *, beside: int = 0) -> bool:
        """Whether one more call would be within the limit, and so many beside it."""
        calls = self._calls.setdefault(key, deque())
        self._calls.move_to_end(key)
        while len(self._calls) > _MAX_KEYS:
            self._calls.popitem(last=False)
        while calls and now - calls[0] >= _MINUTE:
            calls.popleft()
        return len(calls) + beside < self._most

    def count(self, key: str, now: datetime) -> None:
        """One more call was made; at most as many as the limit are remembered."""
        calls = self._calls.setdefault(key, deque())
        calls.append(now)
        if len(calls) > self._most:
            calls.popleft()


class Quota:
    """How much may come in: messages a minute from one person and in one conversation, and messages that wait.

    Commands count as messages. Edits, deletions, reactions and timers have ten times as much room in a measure of
    their own: what must be gone is not kept because its author wrote much.
    Looking and counting are separate, so that only what was written down counts.
    """

    def __init__(self, limits: LimitsSettings) -> None:
        self._max_waiting = limits.max_waiting
        self._persons = CallRate(limits.messages_per_minute)
        self._conversations = CallRate(limits.conversation_messages_per_minute)
        self._notes = CallRate(_NOTES_FOR_EACH * limits.messages_per_minute)
        self._tellings = CallRate(1)

    def has_room(self, envelope: Envelope, now: datetime, *, beside: int = 0) -> bool:
        """Whether it comes within the limits of its minute, also if so many others should be counted before it."""
        at = taken_at(envelope, now)
        if envelope.kind is not Kind.MESSAGE:
            return self._notes.has_room(_author(envelope), at, beside=beside)
        return self._persons.has_room(_author(envelope), at, beside=beside) and self._conversations.has_room(
            _chat(envelope), at, beside=beside
        )

    def count(self, envelope: Envelope, now: datetime) -> None:
        """It was written down."""
        at = taken_at(envelope, now)
        if envelope.kind is not Kind.MESSAGE:
            self._notes.count(_author(envelope), at)
            return
        self._persons.count(_author(envelope), at)
        self._conversations.count(_chat(envelope), at)

    def max_waiting(self, envelope: Envelope) -> int:
        """How many messages may wait in its conversation before it; what is urgent goes past a full queue."""
        return self._max_waiting * (_NOTES_FOR_EACH if envelope.is_urgent else 1)

    def may_tell(self, envelope: Envelope, now: datetime) -> bool:
        """Whether nobody in this conversation was told of a refusal within the minute."""
        return envelope.kind is Kind.MESSAGE and self._tellings.has_room(_chat(envelope), taken_at(envelope, now))

    def on_refusal(self, envelope: Envelope, now: datetime) -> None:
        """The refusal of this message is going to be told."""
        self._tellings.count(_chat(envelope), taken_at(envelope, now))


def taken_at(envelope: Envelope, now: datetime) -> datetime:
    """When Signal's server took it: what piled up while Aldis was down came slowly. Never later than now."""
    if envelope.server_at is None:
        return now
    return datetime.fromtimestamp(min(envelope.server_at / 1000, now.timestamp()), UTC)


def _author(envelope: Envelope) -> str:
    return envelope.author or ""


def _chat(envelope: Envelope) -> str:
    return envelope.chat or ""
