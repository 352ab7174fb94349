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
import unicodedata
from collections import OrderedDict
from collections.abc import Callable, Collection, Coroutine
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


@dataclass(frozen=True, kw_only=True, slots=True)
class Stranger:
    """A person who would like to write."""

    person: PersonId
    name: str
    """As they call themselves, cleaned and cut; may be empty."""
    code: str


@dataclass(frozen=True, kw_only=True, slots=True)
class Caller:
    """A person who wrote without permission while a page waited for one."""

    person: PersonId
    number: str | None
    at: datetime


class Pairing:
    """The strangers of one account who wait to be let in, with what they write meanwhile; in memory only."""

    on_stranger: Callable[[Stranger], Coroutine[Any, Any, None]] | None = None
    """Puts a stranger to the admins, once."""

    def __init__(self, *, listening_seconds: float = LISTENING_SECONDS) -> None:
        self._pending: OrderedDict[PersonId, tuple[Stranger, datetime]] = OrderedDict()
        """Those with a code, and since when."""
        self.strangers: OrderedDict[PersonId, Stranger] = OrderedDict()
        self._refused: set[PersonId] = set()
        self._questions: OrderedDict[tuple[PersonId, SentId], PersonId] = OrderedDict()
        """Which stranger each message to an admin is about."""
        self._listening_seconds = listening_seconds
        self._end: asyncio.TimerHandle | None = None
        """What ends the waiting of a page; None: no page waits."""
        self._callers: OrderedDict[PersonId, Caller] = OrderedDict()
        self._held: dict[PersonId, list[tuple[Envelope, datetime]]] = {}
        """By the person who waits, with their times of arrival."""

    # Those with a code

    def has_room(self, person: PersonId, now: datetime) -> bool:
        """Whether this stranger would get a code."""
        self.forget(now)
        return person not in self._pending and person not in self._refused and len(self._pending) < _MAX_PENDING

    def invite(self, person: PersonId, name: str | None, now: datetime) -> tuple[Stranger, bool]:
        """Gives a stranger a code, `XXXX-XXXX`, if there is room; also returns whether no admin was asked before."""
        code = "".join(secrets.choice(ALPHABET) for _ in range(2 * _HALF_CHARS))
        stranger = Stranger(person=person, name=clean_name(name), code=f"{code[:_HALF_CHARS]}-{code[_HALF_CHARS:]}")
        is_new = person not in self.strangers
        if is_new and len(self.strangers) >= _MAX_REMEMBERED:
            self._refused.discard(self.strangers.popitem(last=False)[0])
        self.strangers[person] = stranger
        self._pending[person] = stranger, now
        return stranger, is_new

    def note_question(self, admin: PersonId, sent: SentId, stranger: Stranger) -> None:
        """Notes that this message asks the admin about a stranger."""
        self._questions[admin, sent] = stranger.person
        if len(self._questions) > _MAX_REMEMBERED:
            self._questions.popitem(last=False)

    def asked_about(self, admin: PersonId, sent: SentId) -> PersonId | None:
        """Returns the stranger whom a message to this admin is about; None if it is about none."""
        return self._questions.get((admin, sent))

    def find(self, word: str, now: datetime) -> tuple[Stranger, ...]:
        """Returns the strangers who are meant by a valid code, an id, or the name of one that admins were asked about.

        A code is good as often as it is given, in whatever spelling.
        """
        self.forget(now)
        code = "".join(sign for sign in word.upper() if sign.isalnum())
        named = fold_name(word)
        found = [one for one, _ in self._pending.values() if one.code.replace("-", "") == code]
        return tuple(found) or tuple(
            one for one in self.strangers.values() if word == one.person or (named and fold_name(one.name) == named)
        )

    def refuse(self, person: PersonId) -> None:
        """Gives a stranger no code any more, and forgets what they wrote."""
        self._pending.pop(person, None)
        self._refused.add(person)
        self._forget_words()

    def forget(self, now: datetime) -> None:
        """Drops codes older than an hour."""
        while self._pending and now - next(iter(self._pending.values()))[1] >= GOOD_FOR:
            self._pending.popitem(last=False)
        self._forget_words()

    # Those on a page

    def listen(self) -> None:
        """Waits for a new person, from now on for some minutes."""
        if self._end is not None:
            self._end.cancel()
        self._end = asyncio.get_running_loop().call_later(self._listening_seconds, self._stop_listening)

    def _stop_listening(self) -> None:
        self._end = None
        self._callers.clear()
        self._forget_words()

    def note(self, envelope: Envelope, now: datetime) -> None:
        """Notes a person who has written now; ignored if no page waits."""
        if envelope.author is None or self._end is None:
            return
        self._callers.pop(envelope.author, None)
        self._callers[envelope.author] = Caller(person=envelope.author, number=envelope.number, at=now)
        if len(self._callers) > _MAX_CALLERS:
            self._callers.popitem(last=False)
        self._forget_words()

    def callers(self) -> tuple[Caller, ...]:
        """Those who wrote while a page waits, the newest first."""
        return tuple(reversed(self._callers.values()))

    # What they write

    def people(self, now: datetime) -> Collection[PersonId]:
        """The strangers whose code is valid or whom a page lists."""
        self.forget(now)
        return (self._pending | self._callers).keys()

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

    def _forget_words(self) -> None:
        """Drops what those wrote who no longer wait."""
        self._held = {one: held for one, held in self._held.items() if one in self._pending or one in self._callers}
