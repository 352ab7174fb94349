"""Pairing: a stranger gets a code, and an admin who hears it from them lets them in with it.

    nothing known --code--> pending for an hour --/allow CODE--> the admin's command lets the person in (store.people)
                               '-- an hour later, or with the process: nothing known

The codes are kept in memory, and so is what a stranger with a code writes while they wait: it is answered when they are
let in, and gone when the code expires. Both survive a restart of Aldis within its process. Nothing about a stranger
reaches the disk. A stranger gets one code an hour, and all strangers together twenty, so that neither a persistent one
nor a crowd costs more than twenty short messages an hour. A code does nothing by itself; only an admin can use it, so
it need not withstand guessing, only mistakes.
"""

import secrets
from collections import OrderedDict
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from bot.access.waiting import HeldMessages, WaitingRoom
from bot.events import PersonId

ALPHABET = "ACDEFGHJKMNPQRTUVWXY34679"
"""No two that look alike: neither B and 8, I, L and 1, O and 0, S and 5, nor Z and 2."""

_HALF_CHARS = 4
GOOD_FOR = timedelta(hours=1)
_MAX_PENDING = 20


@dataclass(slots=True)
class _Pending:
    code: str
    since: datetime
    messages: HeldMessages = field(default_factory=HeldMessages)
    """What they have written since."""


class Pairing(WaitingRoom):
    """The codes given to one account's strangers."""

    def __init__(self) -> None:
        self._pending: OrderedDict[PersonId, _Pending] = OrderedDict()

    def has_room(self, person: PersonId, now: datetime) -> bool:
        """Whether this stranger would get a code."""
        self.forget(now)
        return person not in self._pending and len(self._pending) < _MAX_PENDING

    def code(self, person: PersonId, now: datetime) -> str | None:
        """A code for this stranger, `XXXX-XXXX`; None: they are told nothing."""
        if not self.has_room(person, now):
            return None
        code = "".join(secrets.choice(ALPHABET) for _ in range(2 * _HALF_CHARS))
        self._pending[person] = _Pending(code, now)
        return f"{code[:_HALF_CHARS]}-{code[_HALF_CHARS:]}"

    def approve(self, code: str, now: datetime) -> PersonId | None:
        """The person who got this code; None if it is unknown or older than an hour. Ignores case and dashes.

        It stays valid for its hour, so that a command repeated after a failure finds the same person.
        """
        self.forget(now)
        wanted = "".join(character for character in code.upper() if character.isalnum())
        return next((person for person, pending in self._pending.items() if pending.code == wanted), None)

    def people(self, now: datetime) -> tuple[PersonId, ...]:
        """The strangers whose code is valid."""
        self.forget(now)
        return tuple(self._pending)

    def _messages_of(self, person: PersonId) -> HeldMessages | None:
        pending = self._pending.get(person)
        return pending.messages if pending else None

    def forget(self, now: datetime) -> None:
        """Drops codes older than an hour."""
        while self._pending and now - next(iter(self._pending.values())).since >= GOOD_FOR:
            self._pending.popitem(last=False)
