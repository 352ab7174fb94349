"""Pairing: a stranger is given a code, and an admin who hears it from them lets them in with it.

    nothing known --code--> pending for an hour --/allow CODE--> the admin's command lets the person in (store.people)
                               '-- an hour later, or a restart: nothing known

The codes live in memory, and so does what a stranger with a code writes while they wait: it is answered when they are
let in, and gone when the code is. Nothing about a stranger reaches the disk. One stranger gets one code an hour, and
all strangers together twenty, so that neither a stubborn one nor a crowd costs more than twenty short messages an hour.
A code opens nothing by itself; only an admin can use it, so that it need not withstand guessing, only mistakes.
Left to others: sending the code (`bot.loops.intake`), the command (`bot.commands`), keeping who was let in.
"""

import secrets
from collections import OrderedDict
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta

from bot.events import Envelope, PersonId, SentId
from bot.i18n import phrases

ALPHABET = "ACDEFGHJKMNPQRTUVWXY34679"
"""No two that look alike: neither B and 8, I, L and 1, O and 0, S and 5, nor Z and 2."""

_HALF_CHARS = 4
_GOOD_FOR = timedelta(hours=1)
_MOST = 20


_MAX_HELD = 5
_MAX_HELD_CHARS = 20_000
"""Of one message, as the bridge wrote it: enough for the longest that phones show."""


@dataclass(slots=True)
class _Pending:
    code: str
    since: datetime
    held: list[tuple[Envelope, datetime]] = field(default_factory=list[tuple[Envelope, datetime]])
    """What they have written since, and when it came."""


class Pairing:
    """The codes of one account's strangers."""

    def __init__(self) -> None:
        self._pending: OrderedDict[PersonId, _Pending] = OrderedDict()

    def has_room(self, person: PersonId, now: datetime) -> bool:
        """Whether this stranger would be given a code."""
        self._forget(now)
        return person not in self._pending and len(self._pending) < _MOST

    def code(self, person: PersonId, now: datetime) -> str | None:
        """A code for this stranger, `XXXX-XXXX`; None: nothing is to be said."""
        if not self.has_room(person, now):
            return None
        code = "".join(secrets.choice(ALPHABET) for _ in range(2 * _HALF_CHARS))
        self._pending[person] = _Pending(code, now)
        return f"{code[:_HALF_CHARS]}-{code[_HALF_CHARS:]}"

    def approve(self, code: str, now: datetime) -> PersonId | None:
        """Whom the code was given to; None when it is unknown or older than an hour. Case and dashes do not matter.

        It stays good for its hour: a command that is carried out again after a failure finds the same person.
        """
        self._forget(now)
        wanted = "".join(character for character in code.upper() if character.isalnum())
        return next((person for person, pending in self._pending.items() if pending.code == wanted), None)

    def hold(self, person: PersonId, envelope: Envelope, now: datetime) -> None:
        """Keep what a stranger with a code writes; of many the newest, and none that is very long."""
        self._forget(now)
        pending = self._pending.get(person)
        if pending is not None and len(envelope.raw) <= _MAX_HELD_CHARS:
            pending.held = [*pending.held, (envelope, now)][-_MAX_HELD:]

    def take_back(self, person: PersonId, target: SentId) -> None:
        """A stranger has deleted a message."""
        pending = self._pending.get(person)
        if pending is not None:
            pending.held = [(one, at) for one, at in pending.held if one.sent_at != target]

    def release(self, person: PersonId, now: datetime) -> tuple[Envelope, ...]:
        """What the stranger wrote while they waited, each once, with the time that its timer still has; what has
        disappeared is gone.
        """
        pending = self._pending.get(person)
        if pending is None:
            return ()
        held, pending.held = pending.held, []
        waited = ((envelope, now - at) for envelope, at in held)
        return tuple(_after(envelope, since) for envelope, since in waited if _is_left(envelope, since))

    def _forget(self, now: datetime) -> None:
        while self._pending and now - next(iter(self._pending.values())).since >= _GOOD_FOR:
            self._pending.popitem(last=False)


def _is_left(envelope: Envelope, waited: timedelta) -> bool:
    return not 0 < envelope.expires_in_seconds <= waited.total_seconds()


def _after(envelope: Envelope, waited: timedelta) -> Envelope:
    """The envelope as it is when it has waited so long."""
    left = envelope.expires_in_seconds and max(1, envelope.expires_in_seconds - int(waited.total_seconds()))
    waited_ms = (envelope.waited_ms or 0) + int(waited.total_seconds() * 1000)
    return replace(envelope, expires_in_seconds=left, waited_ms=waited_ms)


def invitation(code: str) -> str:
    """What a stranger is told, and nothing else."""
    return phrases.invitation(code)
