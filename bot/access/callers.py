"""Callers: people who write without permission while the page for the first admin waits for "this is me".

    nobody listens: nothing is known about strangers
    listening --somebody writes--> listed with their number, their question held --let in--> it is answered
        '-- ten minutes later: nobody is listed, and nothing is held

Left to others: the page (`bot.web.admin.people`), reporting who has written (`bot.loops.intake`).
"""

import asyncio
import time
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime

from bot.access.waiting import HeldMessages, WaitingRoom
from bot.clock import Clock, MachineClock
from bot.events import Envelope, PersonId

LISTENING_SECONDS = 600.0
"""How long a page waits for somebody to write."""
_MAX_CALLERS = 5


@dataclass(frozen=True, kw_only=True, slots=True)
class Caller:
    """Somebody who wrote without permission while a page waited for them."""

    person: PersonId
    number: str | None
    at: datetime
    messages: HeldMessages = field(default_factory=HeldMessages, repr=False)


class Callers(WaitingRoom):
    """A few people who wrote without permission while a page waits for them; in memory only."""

    def __init__(
        self,
        *,
        clock: Clock | None = None,
        seconds: Callable[[], float] = time.monotonic,
        listening_seconds: float = LISTENING_SECONDS,
    ) -> None:
        """`clock` None: the machine's."""
        self._clock = clock or MachineClock()
        self._seconds = seconds
        self._listening_seconds = listening_seconds
        self._until = 0.0
        self._end: asyncio.TimerHandle | None = None
        self._callers: OrderedDict[PersonId, Caller] = OrderedDict()

    def listen(self) -> None:
        """Waits for somebody, from now on for some minutes."""
        self._until = self._seconds() + self._listening_seconds
        # Perhaps nothing asks again, so the end must come by itself.
        if self._end is not None:
            self._end.cancel()
        self._end = asyncio.get_running_loop().call_later(self._listening_seconds, self._forget)

    def note(self, envelope: Envelope) -> None:
        """Notes somebody who has written; ignored if no page waits."""
        self._forget()
        if envelope.author is None or not self._is_listening:
            return
        known = self._callers.pop(envelope.author, None)
        self._callers[envelope.author] = Caller(
            person=envelope.author,
            number=envelope.number,
            at=self._clock.wall(),
            messages=known.messages if known else HeldMessages(),
        )
        while len(self._callers) > _MAX_CALLERS:
            self._callers.popitem(last=False)

    def all(self) -> tuple[Caller, ...]:
        """The callers, newest first; none if no page waits any longer."""
        self._forget()
        return tuple(reversed(self._callers.values()))

    def people(self, now: datetime) -> tuple[PersonId, ...]:  # noqa: ARG002 - they wait by another clock
        """The people who are listed."""
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
