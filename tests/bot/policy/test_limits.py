"""How often: a sliding minute for each key, and a memory that stays small."""

from datetime import timedelta

import pytest

from bot.policy.limits import Rate
from tests.conftest import NOON

SECOND = timedelta(seconds=1)


def test_no_more_than_so_many_a_minute() -> None:
    """The call beyond the limit is refused, and each one that has become a minute old makes room for one."""
    rate = Rate(3)
    assert [rate.admits("anna", NOON + n * SECOND) for n in range(5)] == [True, True, True, False, False]
    assert not rate.admits("anna", NOON + 59 * SECOND)
    assert rate.admits("anna", NOON + 60 * SECOND)
    assert not rate.admits("anna", NOON + 60 * SECOND)
    assert rate.admits("anna", NOON + 61 * SECOND)


def test_the_minute_slides() -> None:
    """Calls at the end of one minute count at the beginning of the next: no double burst."""
    rate = Rate(2)
    assert [rate.admits("anna", NOON + n * SECOND) for n in (58, 59, 61, 62)] == [True, True, False, False]


def test_refused_calls_do_not_count() -> None:
    """Who goes on asking is not refused for longer."""
    rate = Rate(1)
    assert rate.admits("anna", NOON)
    assert not any(rate.admits("anna", NOON + n * SECOND) for n in range(60))
    assert rate.admits("anna", NOON + 60 * SECOND)


def test_each_key_has_its_own_limit() -> None:
    """One person's calls take nothing from another's."""
    rate = Rate(1)
    assert [rate.admits(key, NOON) for key in ("anna", "ben", "anna", "carl")] == [True, True, False, True]


@pytest.mark.parametrize("calls", [0, -1])
def test_a_limit_of_none_admits_none(calls: int) -> None:
    """Nobody gets through a closed gate."""
    assert not Rate(calls).admits("anna", NOON)


def test_a_clock_that_was_set_back_does_not_open_the_gate() -> None:
    """Calls from the future still count."""
    rate = Rate(1)
    assert rate.admits("anna", NOON)
    assert not rate.admits("anna", NOON - timedelta(hours=1))


def test_the_key_used_longest_ago_is_forgotten_first() -> None:
    """Ten thousand keys are remembered; whoever came lately is among them."""
    rate = Rate(1)
    assert rate.admits("anna", NOON)
    assert rate.admits("ben", NOON)
    for number in range(9_998):
        assert rate.admits(str(number), NOON)
    assert not rate.admits("anna", NOON)  # the last of the keys now
    assert rate.admits("one too many", NOON)
    assert not rate.admits("anna", NOON)
    assert rate.admits("ben", NOON)
    assert len(rate._calls) == 10_000
