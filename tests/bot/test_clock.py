"""The clocks: both tell aware instants in UTC; the set one moves only when it is moved."""

from datetime import UTC, datetime, timedelta, timezone

from bot.clock import MachineClock, SetClock
from tests.conftest import NOON


def test_the_machines_clock_tells_the_present() -> None:
    """Aware, in UTC, between one look at the machine and the next."""
    before = datetime.now(UTC)
    now = MachineClock().now()
    assert before <= now <= datetime.now(UTC)
    assert now.tzinfo is UTC


def test_a_set_clock_stands_still() -> None:
    """However often it is asked."""
    clock = SetClock(NOON)
    assert [clock.now(), clock.now()] == [NOON, NOON]


def test_a_set_clock_moves_both_ways() -> None:
    """By seconds, fractions of them included."""
    clock = SetClock(NOON)
    clock.move(90.5)
    assert clock.now() == NOON + timedelta(seconds=90, milliseconds=500)
    clock.move(-100)
    assert clock.now() == NOON - timedelta(seconds=9, milliseconds=500)


def test_a_set_clock_tells_utc_whatever_it_was_set_by() -> None:
    """The same instant, in UTC."""
    clock = SetClock(NOON.astimezone(timezone(timedelta(hours=9))))
    assert clock.now() == NOON
    assert clock.now().tzinfo is UTC
