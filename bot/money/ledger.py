"""The ledger's rows: what is asked for money is written down before it is asked, and with its real cost afterwards.

    reserve --> the row says `reserved`, with an estimate of the cost --settle--> what was called, and what it cost
                                                                     '--killed, stopped, failed to write--> it stays

A reserved row counts like any other, so a call that is not settled has cost its estimate at the next start.
"""

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import NewType
from zoneinfo import ZoneInfo

from bot.clock import Clock
from bot.events import ChatId, PersonId
from bot.models.base import Completion
from store import ConversationId, LedgerEntry, Span, Store, TurnId

RESERVED = "reserved"
"""The outcome of a paid call that is under way, or whose end could not be written down."""
ESTIMATED = "estimated"
"""The outcome of a model call that was answered by a server that did not report its usage."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Payer:
    """The turn for which something is paid, and whose budgets count it."""

    conversation: ConversationId | None
    turn: TurnId
    person: PersonId | None
    """None: it is for everybody."""
    group: ChatId | None
    """The group it was asked in; None in a direct chat."""


def periods(now: datetime, timezone: str) -> dict[Span, tuple[datetime, datetime]]:
    """The current day and month for people in the time zone: when each began, and when the day ends."""
    day = now.astimezone(ZoneInfo(timezone)).replace(hour=0, minute=0, second=0, microsecond=0)
    end = day + timedelta(days=1)
    return {"day": (day, end), "month": (day.replace(day=1), end)}


Reservation = NewType("Reservation", int)
"""A row of the ledger that waits for the real cost."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Bill:
    """What was paid, in the place of its reservation (None: nothing was reserved)."""

    reservation: Reservation | None
    entries: tuple[LedgerEntry, ...]


def completion_entries(completion: Completion) -> tuple[LedgerEntry, ...]:
    """The rows of an answer: the failed attempts before it, then itself."""
    usage = completion.usage
    answered = LedgerEntry(
        kind="model",
        name=completion.model,
        outcome=ESTIMATED if completion.is_estimated else "ok" if completion.message is not None else "empty",
        provider=completion.provider,
        input_tokens=usage.input_tokens,
        output_tokens=usage.output_tokens,
        cost_usd=completion.cost_usd,
    )
    return (*completion.attempts, answered)


class Quotas:
    """Counts the use of services, by calendar days in UTC."""

    def __init__(self, store: Store, clock: Clock) -> None:
        self._store = store
        self._clock = clock

    async def take(self, service: str, *, limit: int, amount: int) -> bool:
        """See `tools.base.Quotas`; raises StoreError if it could not be stored."""
        day = f"{self._clock.now():%Y-%m-%d}"
        return await self._store.transaction(lambda repos: repos.ledger.take(service, day, amount=amount, limit=limit))
