"""Pairing: a stranger gets a code and is put to the admins by their name; an admin lets them in or keeps them out.

    nothing known --code--> pending for an hour --👍, /allow CODE--> the admin's command lets them in (store.people)
                               |-- 👎: they get no code any more
                               '-- an hour later: they may get another code, but no admin is asked again

All of it is in memory alone, and so is what a stranger with a code writes: it is answered when they are let in, and
gone when the code expires. Strangers together get twenty codes an hour. Only an admin can use a code, so it need not
withstand guessing, only mistakes.

    no page waits for the first admin: nothing is known about callers
    listening --a person writes--> listed with their number, their question held --let in--> it is answered
        '-- ten minutes later: no one is listed, and nothing is held
"""

import asyncio
import secrets
import time
import unicodedata
from abc import ABC, abstractmethod
from collections import OrderedDict
from collections.abc import Callable, Coroutine
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Any

from bot.events import Envelope, PersonId, SentId
from tools import clean_line

ALPHABET = "ACDEFGHJKMNPQRTUVWXY34679"
"""No two that look alike: neither B and 8, I, L and 1, O and 0, S and 5, nor Z and 2."""

_HALF_CHARS = 4
GOOD_FOR = timedelta(hours=1)
_MAX_PENDING = 20
_MAX_REMEMBERED = 1000
_MAX_NAME_CHARS = 40
_LOOK_ALIKES = str.maketrans("аеорсухіјѕԁһԛԝмтвнкαοεριβημχζκντ0135l", "aeopcyxijsdhqwmtbhkaoepibhmxzkntoiesi")
"""Letters of other scripts, and digits, that pass for Latin letters."""
_MAX_HELD = 5
_MAX_HELD_CHARS = 20_000
"""The limit for one raw message: enough for the longest that phones show."""
LISTENING_SECONDS = 600.0
"""How long a page waits for the first message of a new person."""
_MAX_CALLERS = 5


def clean_name(name: str | None) -> str:
    """Returns what a person calls themselves: on one line, without unseen signs, quotes and marks of code, and cut."""
    line = "".join(sign for sign in clean_line(name or "") if sign.isprintable() and sign not in '`“”„«»"')
    return f"{line[: _MAX_NAME_CHARS - 1]}…" if len(line) > _MAX_NAME_CHARS else line


def fold_name(name: str) -> str:
    """Returns a name as it is compared: two that look alike are one; empty if it has neither letters nor digits."""
    plain = unicodedata.normalize("NFKD", name.casefold()).translate(_LOOK_ALIKES)
    return "".join(sign for sign in plain if sign.isalnum())


class WaitingRoom(ABC):
    """A place where people wait to be let in, with what they write meanwhile; in memory only."""

    def __init__(self) -> None:
        self._held: dict[PersonId, list[tuple[Envelope, datetime]]] = {}
        """By the person who waits, with their times of arrival."""

    @abstractmethod
    def people(self, now: datetime) -> tuple[PersonId, ...]:
        """The people waiting now, without those who have waited too long."""

    def newest(self, person: PersonId) -> Envelope | None:
        """The newest message held for this stranger; None if there is none."""
        held = self._held.get(person)
        return held[-1][0] if held else None

    def hold(self, person: PersonId, envelope: Envelope, now: datetime) -> None:
        """Keeps a message of a stranger who is waiting: the newest few, and none that is very long."""
        if person in self.people(now) and len(envelope.raw) <= _MAX_HELD_CHARS:
            self._held[person] = [*self._held.get(person, ()), (envelope, now)][-_MAX_HELD:]

    def take_back(self, person: PersonId, target: SentId) -> None:
        """Drops a message that its author has deleted."""
        if held := self._held.get(person):
            self._held[person] = [(one, at) for one, at in held if one.sent_at != target]

    def release(self, person: PersonId, now: datetime) -> tuple[Envelope, ...]:
        """Returns and forgets what they wrote while they waited, in order, with the time left on their timers."""
        released: list[Envelope] = []
        for envelope, at in self._held.pop(person, ()):
            waited_ms = int((now - at).total_seconds() * 1000)
            left = envelope.expires_in_seconds - waited_ms // 1000
            if left > 0 or not envelope.expires_in_seconds:
                waited_ms += envelope.waited_ms or 0
                released.append(replace(envelope, expires_in_seconds=max(0, left), waited_ms=waited_ms))
        return tuple(released)


@dataclass(frozen=True, kw_only=True, slots=True)
class Stranger:
    """A person who would like to write."""

    person: PersonId
    name: str
    """As they call themselves, cleaned and cut; may be empty."""
    code: str


class Pairing(WaitingRoom):
    """The codes given to one account's strangers."""

    on_stranger: Callable[[Stranger], Coroutine[Any, Any, None]] | None = None
    """Puts a stranger to the admins, once."""

    def __init__(self) -> None:
        super().__init__()
        self._pending: OrderedDict[PersonId, tuple[str, datetime]] = OrderedDict()
        self.strangers: OrderedDict[PersonId, Stranger] = OrderedDict()
        self._refused: set[PersonId] = set()
        self._questions: OrderedDict[tuple[PersonId, SentId], PersonId] = OrderedDict()
        """Which stranger each message to an admin is about."""

    def has_room(self, person: PersonId, now: datetime) -> bool:
        """Whether this stranger would get a code."""
        self.forget(now)
        return person not in self._pending and person not in self._refused and len(self._pending) < _MAX_PENDING

    def code(self, person: PersonId, now: datetime) -> str | None:
        """A code for this stranger, `XXXX-XXXX`; None: they get no reply."""
        if not self.has_room(person, now):
            return None
        code = "".join(secrets.choice(ALPHABET) for _ in range(2 * _HALF_CHARS))
        self._pending[person] = code, now
        return f"{code[:_HALF_CHARS]}-{code[_HALF_CHARS:]}"

    def approve(self, code: str, now: datetime) -> PersonId | None:
        """The person who got this code, as often as it is asked for; None: it is unknown, or older than an hour."""
        self.forget(now)
        wanted = "".join(character for character in code.upper() if character.isalnum())
        return next((person for person, (known, _) in self._pending.items() if known == wanted), None)

    def put(self, person: PersonId, name: str | None, code: str) -> Stranger | None:
        """Returns the stranger for the admins to judge; None if they were asked about this person before."""
        if person in self.strangers:
            return None
        if len(self.strangers) >= _MAX_REMEMBERED:
            self._refused.discard(self.strangers.popitem(last=False)[0])
        self.strangers[person] = Stranger(person=person, name=clean_name(name), code=code)
        return self.strangers[person]

    def note_question(self, admin: PersonId, sent: SentId, stranger: Stranger) -> None:
        """Notes that this message asks the admin about a stranger."""
        self._questions[admin, sent] = stranger.person
        if len(self._questions) > _MAX_REMEMBERED:
            self._questions.popitem(last=False)

    def asked_about(self, admin: PersonId, sent: SentId) -> PersonId | None:
        """Returns the stranger whom a message to this admin is about; None if it is about none."""
        return self._questions.get((admin, sent))

    def find(self, word: str, now: datetime) -> tuple[Stranger, ...]:
        """Returns the strangers who are meant by a code, an id, or the name of one that admins were asked about."""
        person = self.approve(word, now)
        if person is not None:
            return (self.strangers.get(person) or Stranger(person=person, name="", code=word),)
        named = fold_name(word)
        return tuple(
            one for one in self.strangers.values() if word == one.person or (named and fold_name(one.name) == named)
        )

    def refuse(self, person: PersonId) -> None:
        """Gives a stranger no code any more, and forgets what they wrote."""
        self._pending.pop(person, None)
        self._held.pop(person, None)
        self._refused.add(person)

    def people(self, now: datetime) -> tuple[PersonId, ...]:
        """The strangers whose code is valid."""
        self.forget(now)
        return tuple(self._pending)

    def forget(self, now: datetime) -> None:
        """Drops codes older than an hour."""
        while self._pending and now - next(iter(self._pending.values()))[1] >= GOOD_FOR:
            person, _ = self._pending.popitem(last=False)
            self._held.pop(person, None)


@dataclass(frozen=True, kw_only=True, slots=True)
class Caller:
    """A person who wrote without permission while a page waited for one."""

    person: PersonId
    number: str | None
    at: datetime


class Callers(WaitingRoom):
    """A few people who wrote without permission while a page waits for them; in memory only."""

    def __init__(
        self, *, seconds: Callable[[], float] = time.monotonic, listening_seconds: float = LISTENING_SECONDS
    ) -> None:
        super().__init__()
        self._seconds = seconds
        self._listening_seconds = listening_seconds
        self._until = 0.0
        self._end: asyncio.TimerHandle | None = None
        self._callers: OrderedDict[PersonId, Caller] = OrderedDict()

    def listen(self) -> None:
        """Waits for a new person, from now on for some minutes."""
        self._until = self._seconds() + self._listening_seconds
        # Perhaps nothing asks again, so the end must come by itself.
        if self._end is not None:
            self._end.cancel()
        self._end = asyncio.get_running_loop().call_later(self._listening_seconds, self._forget)

    def note(self, envelope: Envelope, now: datetime) -> None:
        """Notes a person who has written now; ignored if no page waits."""
        self._forget()
        if envelope.author is None or not self._is_listening:
            return
        self._callers.pop(envelope.author, None)
        self._callers[envelope.author] = Caller(person=envelope.author, number=envelope.number, at=now)
        while len(self._callers) > _MAX_CALLERS:
            person, _ = self._callers.popitem(last=False)
            self._held.pop(person, None)

    def all(self) -> tuple[Caller, ...]:
        """The callers, newest first; none if no page waits any longer."""
        self._forget()
        return tuple(reversed(self._callers.values()))

    def people(self, now: datetime) -> tuple[PersonId, ...]:  # noqa: ARG002 - they wait by another clock
        """The people who are listed."""
        self._forget()
        return tuple(self._callers)

    @property
    def _is_listening(self) -> bool:
        return self._seconds() < self._until

    def _forget(self) -> None:
        if not self._is_listening:
            self._callers.clear()
            self._held.clear()
