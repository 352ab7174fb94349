"""How much may be spent: none is no limit, 0 is 0, and of several limits the one speaks that people have to know of."""

from datetime import UTC, datetime, timedelta
from decimal import Decimal

from bot.clock import SetClock
from bot.money.budgets import UsedUp, limits_anything, used_up
from bot.money.ledger import Quotas, periods
from bot.settings import BudgetSettings
from store import Scope, Span, Store


def spent(usd: str, scope: Scope = "person", span: Span = "day") -> dict[tuple[Scope, Span], Decimal]:
    return {(scope, span): Decimal(usd)}


def limits(**limit_usd: str) -> BudgetSettings:
    """The limits by the first part of their names: `person_day="1.50"`."""
    return BudgetSettings.model_validate({f"{name}_usd": usd for name, usd in limit_usd.items()})


def everything(usd: str) -> dict[tuple[Scope, Span], Decimal]:
    return {(scope, span): Decimal(usd) for scope in ("person", "group", "all") for span in ("day", "month")}


def test_each_limit_counts_what_it_is_for() -> None:
    """One limit of the six: only its own amount reaches it."""
    for scope, span in everything("9"):
        one = limits(**{f"{scope}_{span}": "1"})
        assert used_up(one, everything("9") | spent("0.99", scope, span)) is None
        assert used_up(one, everything("9") | spent("1", scope, span)) == UsedUp(scope=scope, span=span, renews=True)


def test_a_limit_is_reached_exactly() -> None:
    """Not a fraction earlier, and at the limit itself."""
    for usd, over in (
        ("0", False),
        ("1.999999999999", False),
        ("2", True),
        ("2.00", True),
        ("2.000000000001", True),
        ("500", True),
    ):
        assert (used_up(limits(person_day="2"), spent(usd)) is not None) == over


def test_of_several_the_longest_wait_is_told() -> None:
    """Nobody hears "tomorrow" who has to wait for the first of the month, or for ever."""
    for given, expected in (
        ({"person_day": "1", "person_month": "1"}, UsedUp(scope="person", span="month", renews=True)),
        ({"person_day": "1", "group_day": "1", "all_day": "1"}, UsedUp(scope="person", span="day", renews=True)),
        ({"group_month": "1", "all_month": "1"}, UsedUp(scope="group", span="month", renews=True)),
        ({"person_day": "1", "all_month": "1"}, UsedUp(scope="all", span="month", renews=True)),
        ({"person_month": "1", "all_day": "0"}, UsedUp(scope="all", span="day", renews=False)),
        ({"person_day": "0", "all_month": "0"}, UsedUp(scope="all", span="month", renews=False)),
    ):
        assert used_up(limits(**given), everything("3")) == expected


def test_where_a_limit_counts_at_all() -> None:
    """A limit of 0 is a limit; those of groups count in groups only."""
    for given, direct, group in (
        ({}, False, False),
        ({"group_day": "1"}, False, True),
        ({"group_month": "0"}, False, True),
        ({"person_month": "0"}, True, True),
        ({"all_day": "5"}, True, True),
    ):
        assert limits_anything(limits(**given), in_group=False) == direct
        assert limits_anything(limits(**given), in_group=True) == group


def test_days_and_months_are_those_of_the_people() -> None:
    """A budget renews at midnight where they live, also on the day that has 25 hours."""
    for now, timezone, day, month in (
        (datetime(2026, 11, 21, 23, 30, tzinfo=UTC), "UTC", "2026-11-21", "2026-11"),
        (datetime(2026, 11, 21, 23, 30, tzinfo=UTC), "Europe/Berlin", "2026-11-22", "2026-11"),
        (datetime(2026, 11, 30, 23, 30, tzinfo=UTC), "Europe/Berlin", "2026-12-01", "2026-12"),
        (datetime(2027, 1, 1, 4, 59, tzinfo=UTC), "America/New_York", "2026-12-31", "2026-12"),
        (datetime(2026, 10, 25, 22, 59, tzinfo=UTC), "Europe/Berlin", "2026-10-25", "2026-10"),
        (datetime(2026, 10, 25, 23, 0, tzinfo=UTC), "Europe/Berlin", "2026-10-26", "2026-10"),
    ):
        found = periods(now, timezone)
        assert [found["day"][0].isoformat()[:16], found["month"][0].isoformat()[:16]] == [
            f"{day}T00:00",
            f"{month}-01T00:00",
        ]
        assert all(begin <= now < end for begin, end in found.values())


async def test_a_day_s_amount_is_counted_in_what_is_paid_for(store: Store, clock: SetClock) -> None:
    """Several at once, all or none; the next day all is free again."""
    quotas = Quotas(store, clock)

    async def take(amount: int, limit: int = 25) -> bool:
        return await quotas.take("posts", limit=limit, amount=amount)

    assert [await take(30), await take(10), await take(10), await take(10), await take(5)] == [
        False,
        True,
        True,
        False,
        True,
    ]
    assert await quotas.take("others", limit=1, amount=1)
    clock.move(timedelta(days=1).total_seconds())
    assert [await take(26), await take(25), await take(1)] == [False, True, False]
