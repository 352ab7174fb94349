"""What people write while somebody decides whether to let them in: in memory, a few messages, each for a while.

    written --nobody waits for its author--> not kept at all
       '--> held --its author is let in--> comes in, once (`bot.loops.intake`)
              '-- deleted, disappeared, one too many, or the wait is over: gone

Left to others: for whom there is a wait, and how long it lasts (`bot.policy.pairing`, `bot.policy.callers`).
"""

from abc import ABC, abstractmethod
from dataclasses import replace
from datetime import datetime, timedelta

from bot.events import Envelope, PersonId, SentId

_MAX_HELD = 5
_MAX_HELD_CHARS = 20_000
"""Of one message, as the bridge wrote it: enough for the longest that phones show."""


class HeldMessages:
    """The messages of one person, each with the time when it came."""

    def __init__(self) -> None:
        self._held: list[tuple[Envelope, datetime]] = []

    def hold(self, envelope: Envelope, now: datetime) -> None:
        """Keep a message; of many the newest, and none that is very long."""
        if len(envelope.raw) <= _MAX_HELD_CHARS:
            self._held = [*self._held, (envelope, now)][-_MAX_HELD:]

    @property
    def newest(self) -> Envelope | None:
        """The newest message; None: there is none."""
        return self._held[-1][0] if self._held else None

    def take_back(self, target: SentId) -> None:
        """Drop a message that its author has deleted."""
        self._held = [(one, at) for one, at in self._held if one.sent_at != target]

    def release(self, now: datetime) -> tuple[Envelope, ...]:
        """All of them, once, with the time that their timers still have; what has disappeared is gone."""
        held, self._held = self._held, []
        waited = ((envelope, now - at) for envelope, at in held)
        return tuple(_after(envelope, since) for envelope, since in waited if _is_left(envelope, since))


class WaitingRoom(ABC):
    """Where people wait to be let in."""

    @abstractmethod
    def people(self, now: datetime) -> tuple[PersonId, ...]:
        """Those who wait now; whoever has waited too long is gone."""

    @abstractmethod
    def _messages_of(self, person: PersonId) -> HeldMessages | None:
        """What is held of somebody; None: they do not wait."""

    def newest(self, person: PersonId) -> Envelope | None:
        """The newest message that is held of somebody; None: there is none."""
        messages = self._messages_of(person)
        return messages.newest if messages else None

    def hold(self, person: PersonId, envelope: Envelope, now: datetime) -> None:
        """Keep what somebody who waits has written; of anybody else nothing is kept."""
        self.people(now)
        if messages := self._messages_of(person):
            messages.hold(envelope, now)

    def take_back(self, person: PersonId, target: SentId) -> None:
        """Somebody has deleted a message."""
        if messages := self._messages_of(person):
            messages.take_back(target)

    def release(self, person: PersonId, now: datetime) -> tuple[Envelope, ...]:
        """What they wrote while they waited, in order, each message once."""
        messages = self._messages_of(person)
        return messages.release(now) if messages else ()


def _is_left(envelope: Envelope, waited: timedelta) -> bool:
    return not 0 < envelope.expires_in_seconds <= waited.total_seconds()


def _after(envelope: Envelope, waited: timedelta) -> Envelope:
    """The envelope as it is when it has waited so long."""
    left = envelope.expires_in_seconds and max(1, envelope.expires_in_seconds - int(waited.total_seconds()))
    waited_ms = (envelope.waited_ms or 0) + int(waited.total_seconds() * 1000)
    return replace(envelope, expires_in_seconds=left, waited_ms=waited_ms)
