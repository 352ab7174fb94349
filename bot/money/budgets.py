"""Pure: how much money may be spent, by whom and in which period, and how much of that is left.

A limit applies to one person, one group, or everybody together, for a day or a month of people's own calendar. A limit
that is not set does not apply; one of 0 is used up before anything is spent.
"""

from calendar import monthrange
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from itertools import product
from typing import Literal, NamedTuple, get_args
from zoneinfo import ZoneInfo

from bot.settings import BudgetSettings

Scope = Literal["person", "group", "all"]
"""Whose spending a limit applies to; `all` means everybody together."""

Span = Literal["day", "month"]

_ALL: tuple[tuple[Scope, Span], ...] = tuple(product(get_args(Scope), get_args(Span)))
_WIDTHS: tuple[Scope, ...] = ("all", "group", "person")
"""From the widest to the narrowest."""


class Periods(NamedTuple):
    """The day and the month of an instant, by which spending is summed up."""

    day: str
    """`2026-11-22`."""
    month: str
    """`2026-11`."""


def periods(now: datetime, timezone: str) -> Periods:
    """The current day and month for people in the time zone."""
    day = now.astimezone(ZoneInfo(timezone)).date().isoformat()
    return Periods(day=day, month=day[:7])


def days(month: str) -> tuple[str, ...]:
    """All days of a month, both written as in `Periods`."""
    year, number = map(int, month.split("-"))
    return tuple(f"{month}-{day:02}" for day in range(1, monthrange(year, number)[1] + 1))


def limit_usd(limits: BudgetSettings, scope: Scope, span: Span) -> Decimal | None:
    """The limit for this scope and span; None if there is none."""
    return getattr(limits, f"{scope}_{span}_usd")


def limits_anything(limits: BudgetSettings, *, in_group: bool) -> bool:
    """Whether any limit applies in such a conversation."""
    return any(limit_usd(limits, scope, span) is not None for scope, span in _ALL if in_group or scope != "group")


@dataclass(frozen=True, kw_only=True, slots=True)
class ScopeSpending:
    """The spending of one scope in the current day or month."""

    scope: Scope
    span: Span
    period: str
    """The day or month, as in `Periods`."""
    usd: Decimal
    warned: bool = False
    """Whether people were already told that this limit is nearly used up."""


@dataclass(frozen=True, kw_only=True, slots=True)
class UsedUp:
    """The limit of this scope and span is reached: nothing more may be spent."""

    scope: Scope
    span: Span
    renews: bool
    """Whether it renews at the end of the span: at midnight, or on the first of the month. False: the limit is 0."""


@dataclass(frozen=True, kw_only=True, slots=True)
class NearlyUsedUp:
    """A limit that is nearly used up, which people should be told and were not told before."""

    scope: Scope
    span: Span
    period: str
    """The day or month, as in `Periods`."""
    percent: int
    """Rounded down; 100 or more if the limit was just reached."""


def used_up(limits: BudgetSettings, spent: Iterable[ScopeSpending]) -> UsedUp | None:
    """The limit that is reached; None if there is money left under all of them.

    Of several, the one that makes people wait longest, and of those the narrowest.
    """
    reached = [(amount, limit) for amount, limit in _limited(limits, spent) if amount.usd >= limit]
    if not reached:
        return None
    amount, limit = max(reached, key=lambda pair: (pair[1] == 0, pair[0].span == "month", _WIDTHS.index(pair[0].scope)))
    return UsedUp(scope=amount.scope, span=amount.span, renews=limit > 0)


def nearly_used_up(limits: BudgetSettings, spent: Iterable[ScopeSpending]) -> NearlyUsedUp | None:
    """The limit that people should be told is nearly used up; None if there is none, or they were told.

    Of several, the one of which the largest share is used. A limit of 0 is never nearly used up.
    """
    near = [
        (amount.usd / limit, amount)
        for amount, limit in _limited(limits, spent)
        if limit > 0 and not amount.warned and amount.usd >= limits.warn_at * limit
    ]
    if not near:
        return None
    part, amount = max(near, key=lambda pair: pair[0])
    return NearlyUsedUp(scope=amount.scope, span=amount.span, period=amount.period, percent=int(part * 100))


def _limited(limits: BudgetSettings, spent: Iterable[ScopeSpending]) -> Iterator[tuple[ScopeSpending, Decimal]]:
    """The amounts that have a limit, each with its limit in US dollars."""
    for amount in spent:
        limit = limit_usd(limits, amount.scope, amount.span)
        if limit is not None:
            yield amount, limit
