"""Pure: how much money may be spent, for whom and in which time, and how near that is.

A limit is for one person, for one group, or for everybody together; for a day or for a month of the people's own
calendar. One that is not set limits nothing; one of 0 is used up before anything was spent.
"""

from calendar import monthrange
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from typing import Literal, NamedTuple
from zoneinfo import ZoneInfo

Scope = Literal["person", "group", "all"]
"""Whose spending a limit is for; `all` is everybody's together."""

Span = Literal["day", "month"]

_WIDTHS: tuple[Scope, ...] = ("all", "group", "person")
"""From the widest to the narrowest."""


class Periods(NamedTuple):
    """The day and the month that an instant is in, under which spending is summed up."""

    day: str
    """`2026-11-22`."""
    month: str
    """`2026-11`."""


def periods(now: datetime, timezone: str) -> Periods:
    """The day and the month that it is for people in the time zone."""
    day = now.astimezone(ZoneInfo(timezone)).date().isoformat()
    return Periods(day=day, month=day[:7])


def days(month: str) -> tuple[str, ...]:
    """All days of a month, both as in `Periods`."""
    year, number = map(int, month.split("-"))
    return tuple(f"{month}-{day:02}" for day in range(1, monthrange(year, number)[1] + 1))


@dataclass(frozen=True, kw_only=True, slots=True)
class Budgets:
    """The limits in US dollars; None means no limit, 0 means that nothing may be spent."""

    person_day_usd: Decimal | None = None
    person_month_usd: Decimal | None = None
    group_day_usd: Decimal | None = None
    group_month_usd: Decimal | None = None
    all_day_usd: Decimal | None = None
    all_month_usd: Decimal | None = None
    warn_at: Decimal = Decimal("0.8")
    """The part of a limit from which on people are told that it is nearly used up."""

    def limit_usd(self, scope: Scope, span: Span) -> Decimal | None:
        """The limit for this; None where there is none."""
        match scope, span:
            case "person", "day":
                return self.person_day_usd
            case "person", "month":
                return self.person_month_usd
            case "group", "day":
                return self.group_day_usd
            case "group", "month":
                return self.group_month_usd
            case "all", "day":
                return self.all_day_usd
            case _:
                return self.all_month_usd

    def limit_anything(self, *, in_group: bool) -> bool:
        """Whether there is a limit that counts in such a conversation."""
        scopes: tuple[Scope, ...] = ("person", "group", "all") if in_group else ("person", "all")
        spans: tuple[Span, ...] = ("day", "month")
        return any(self.limit_usd(scope, span) is not None for scope in scopes for span in spans)


@dataclass(frozen=True, kw_only=True, slots=True)
class ScopeSpending:
    """What was spent within one scope in the day or month that it is now."""

    scope: Scope
    span: Span
    period: str
    """The day or month, as in `Periods`."""
    usd: Decimal
    warned: bool = False
    """Whether people were told already that this limit is nearly used up."""


@dataclass(frozen=True, kw_only=True, slots=True)
class UsedUp:
    """Nothing more may be spent: the limit of this scope and span is reached."""

    scope: Scope
    span: Span
    renews: bool
    """Whether there is more when the span is over: at midnight, or on the first of the month. False: it is 0."""


@dataclass(frozen=True, kw_only=True, slots=True)
class NearlyUsedUp:
    """So much of the limit of this scope and span is used that people should know; they were not told before."""

    scope: Scope
    span: Span
    period: str
    """The day or month, as in `Periods`."""
    percent: int
    """Rounded down; 100 or more when it has just been reached."""


def used_up(budgets: Budgets, spent: Iterable[ScopeSpending]) -> UsedUp | None:
    """The limit that is reached; None while there is money left under all of them.

    Of several the one that keeps people waiting longest, and of those the narrowest.
    """
    reached = [(amount, limit_usd) for amount, limit_usd in _limited(budgets, spent) if amount.usd >= limit_usd]
    if not reached:
        return None
    amount, limit_usd = max(
        reached, key=lambda pair: (pair[1] == 0, pair[0].span == "month", _WIDTHS.index(pair[0].scope))
    )
    return UsedUp(scope=amount.scope, span=amount.span, renews=limit_usd > 0)


def nearly_used_up(budgets: Budgets, spent: Iterable[ScopeSpending]) -> NearlyUsedUp | None:
    """The limit of which people should know that it is nearly used up; None while there is none, or they know.

    Of several the one of which most is used. One of 0 is never nearly used up.
    """
    near = [
        (amount.usd / limit_usd, amount)
        for amount, limit_usd in _limited(budgets, spent)
        if limit_usd > 0 and not amount.warned and amount.usd >= budgets.warn_at * limit_usd
    ]
    if not near:
        return None
    part, amount = max(near, key=lambda pair: pair[0])
    return NearlyUsedUp(scope=amount.scope, span=amount.span, period=amount.period, percent=int(part * 100))


def _limited(budgets: Budgets, spent: Iterable[ScopeSpending]) -> Iterator[tuple[ScopeSpending, Decimal]]:
    """The amounts for which there is a limit, each with its limit in US dollars."""
    for amount in spent:
        limit_usd = budgets.limit_usd(amount.scope, amount.span)
        if limit_usd is not None:
            yield amount, limit_usd
