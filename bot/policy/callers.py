"""Callers: people who may not write, and do while the page for the first admin waits for somebody to say "this is me".

    nobody listens: nothing is known of strangers
    listening --somebody writes--> listed with their number, what they ask held --let in--> it is answered
        '-- ten minutes later: nobody is listed, and nothing is held

Left to others: the page (`bot.web.admin.people`), handing in who has written (`bot.loops.intake`).
"""

import asyncio
import time
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime

from bot.events import Envelope, PersonId
from bot.policy.waiting import HeldMessages, WaitingRoom

LISTENING_SECONDS = 600.0
"""How long a page waits for somebody who writes."""
_MAX_CALLERS = 5


@dataclass(frozen=True, kw_only=True, slots=True)
class Caller:
    """Somebody who may not write, and did while a page waited for them."""

    person: PersonId
    number: str | None
    at: datetime
    messages: HeldMessages = field(default_factory=HeldMessages, repr=False)


class Callers(WaitingRoom):
    """Who has written in vain, while a page waits for it: in memory, and a few."""

    def __init__(
        self, *, seconds: Callable[[], float] = time.monotonic, listening_seconds: float = LISTENING_SECONDS
    ) -> None:
        self._seconds = seconds
        self._listening_seconds = listening_seconds
        self._until = 0.0
        self._end: asyncio.TimerHandle | None = None
        self._callers: OrderedDict[PersonId, Caller] = OrderedDict()

    def listen(self) -> None:
        """Wait for somebody, from now on for some minutes."""
        self._until = self._seconds() + self._listening_seconds
        # Nothing may ask again, so what is over has to go by itself.
        if self._end is not None:
            self._end.cancel()
        self._end = asyncio.get_running_loop().call_later(self._listening_seconds, self._forget)

    def note(self, envelope: Envelope) -> None:
        """Somebody has written; forgotten at once where no page waits for it."""
        self._forget()
        if envelope.author is None or not self._is_listening:
            return
        known = self._callers.pop(envelope.author, None)
        self._callers[envelope.author] = Caller(
            person=envelope.author,
            number=envelope.number,
            at=datetime.now(UTC),
            messages=known.messages if known else HeldMessages(),
        )
        while len(self._callers) > _MAX_CALLERS:
            self._callers.popitem(last=False)

    def all(self) -> tuple[Caller, ...]:
        """The newest first; nobody where no page waits any more."""
        self._forget()
        return tuple(reversed(self._callers.values()))

    def people(self, now: datetime) -> tuple[PersonId, ...]:  # noqa: ARG002 - they wait by another clock
        """Those who are listed."""
        self._forget()
        return tuple(self._callers)

    def _messages_of(self, person: PersonId) -> HeldMessages | None:
        self._forget()
        caller = self._callers.get(person)
        return caller.messages if caller else None

    @property
    def _is_listening(self) -> bool:
        return self._seconds() < self._until

    def _forget(self) -> None:
        if not self._is_listening:
            self._callers.clear()
