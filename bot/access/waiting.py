"""Messages of people who are waiting to be let in: in memory, a few, each for a limited time.

    written --nobody waits for its author--> not kept at all
       '--> held --its author is let in--> admitted, once (`bot.loops.intake`)
              '-- deleted, disappeared, one too many, or the wait is over: gone

Left to others: who is waiting, and for how long (`bot.access.pairing`, `bot.access.callers`).
"""

from abc import ABC, abstractmethod
from dataclasses import replace
from datetime import datetime, timedelta

from bot.events import Envelope, PersonId, SentId

_MAX_HELD = 5
_MAX_HELD_CHARS = 20_000
"""The limit for one raw message: enough for the longest that phones show."""


class HeldMessages:
    """The messages of one person, each with its time of arrival."""

    def __init__(self) -> None:
        self._held: list[tuple[Envelope, datetime]] = []

    def hold(self, envelope: Envelope, now: datetime) -> None:
        """Keeps a message; only the newest few, and none that is very long."""
        if len(envelope.raw) <= _MAX_HELD_CHARS:
            self._held = [*self._held, (envelope, now)][-_MAX_HELD:]

    @property
    def newest(self) -> Envelope | None:
        """The newest message; None if there is none."""
        return self._held[-1][0] if self._held else None

    def take_back(self, target: SentId) -> None:
        """Drops a message that its author has deleted."""
        self._held = [(one, at) for one, at in self._held if one.sent_at != target]

    def release(self, now: datetime) -> tuple[Envelope, ...]:
        """Returns and forgets all of them, with the time left on their timers, without those that have expired."""
        held, self._held = self._held, []
        waited = ((envelope, now - at) for envelope, at in held)
        return tuple(_after(envelope, since) for envelope, since in waited if _is_left(envelope, since))


class WaitingRoom(ABC):
    """A place where people wait to be let in."""

    @abstractmethod
    def people(self, now: datetime) -> tuple[PersonId, ...]:
        """The people waiting now, without those who have waited too long."""

    @abstractmethod
    def _messages_of(self, person: PersonId) -> HeldMessages | None:
        """The messages held for somebody; None if they are not waiting."""

    def newest(self, person: PersonId) -> Envelope | None:
        """The newest message held for somebody; None if there is none."""
        messages = self._messages_of(person)
        return messages.newest if messages else None

    def hold(self, person: PersonId, envelope: Envelope, now: datetime) -> None:
        """Keeps a message of somebody who is waiting; ignores anybody else's."""
        self.people(now)
        if messages := self._messages_of(person):
            messages.hold(envelope, now)

    def take_back(self, person: PersonId, target: SentId) -> None:
        """Drops a message that its author has deleted."""
        if messages := self._messages_of(person):
            messages.take_back(target)

    def release(self, person: PersonId, now: datetime) -> tuple[Envelope, ...]:
        """Returns and forgets what they wrote while they waited, in order."""
        messages = self._messages_of(person)
        return messages.release(now) if messages else ()


def _is_left(envelope: Envelope, waited: timedelta) -> bool:
    return not 0 < envelope.expires_in_seconds <= waited.total_seconds()


def _after(envelope: Envelope, waited: timedelta) -> Envelope:
    """The envelope as it is after that wait."""
    left = envelope.expires_in_seconds and max(1, envelope.expires_in_seconds - int(waited.total_seconds()))
    waited_ms = (envelope.waited_ms or 0) + int(waited.total_seconds() * 1000)
    return replace(envelope, expires_in_seconds=left, waited_ms=waited_ms)
