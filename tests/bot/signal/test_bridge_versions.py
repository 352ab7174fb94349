"""How old a bridge is and what is known of its version: the operator is warned before it costs the account."""

from datetime import date, timedelta

import pytest

from bot.signal.bridges import MAX_DAYS, WARN_DAYS, age_days, warnings
from bot.signal.protocol import Bridge, Release

OUT = date(2026, 9, 16)
"""By when signal-cli 0.14.8 was out."""


def cli(version: str) -> Release:
    return Release(bridge="signal_cli", version=version)


def told(version: str, today: date, **more: bool) -> list[tuple[bool, str]]:
    return [(concern.is_urgent, concern.words) for concern in warnings(cli(version, **more), today)]


def test_the_age_is_told_a_month_before_signal_may_drop_it() -> None:
    """Nothing while it is young, a warning from sixty days on, something urgent from ninety on."""
    assert told("0.14.8", OUT + timedelta(days=WARN_DAYS - 1)) == []
    [(is_urgent, words)] = told("0.14.8", OUT + timedelta(days=WARN_DAYS))
    assert (is_urgent, "0.14.8 is 60 days old or more; from 90 on" in words) == (False, True)
    [(is_urgent, words)] = told("0.14.8", OUT + timedelta(days=MAX_DAYS))
    assert (is_urgent, "any day" in words) == (True, True)


@pytest.mark.parametrize(
    ("version", "days"),
    [
        ("0.14.8", 67),
        ("v0.14.8", 67),
        ("0.14.8-SNAPSHOT", 67),
        ("0.14.7.1", 67),  # as old as the next one that is known
        ("0.14.9", 5),
        ("0.14.10", 5),
        ("0.13.24", 133),
        ("0.14.11", None),
        ("unset", None),
        ("latest", None),
        ("9" * 5000, None),
    ],
)
def test_how_old_a_release_is_at_least(version: str, days: int | None) -> None:
    """By the day on which it, or the next one, was out; what nobody can know is not guessed."""
    assert age_days(cli(version), date(2026, 11, 22)) == days


def test_a_clock_before_the_release_makes_nothing_old() -> None:
    """Machines without a battery begin in 1970."""
    assert age_days(cli("0.14.8"), date(1970, 1, 1)) == 0
    assert told("0.14.8", date(1970, 1, 1)) == []


@pytest.mark.parametrize("bridge", ["signal_cli", "rest_api"])
@pytest.mark.parametrize("version", ["", "unset", "dev"])
def test_a_bridge_that_does_not_know_its_version(bridge: Bridge, version: str) -> None:
    """It is told as unknown, and no more."""
    [concern] = warnings(Release(bridge=bridge, version=version), date(2026, 11, 22))
    assert (concern.is_urgent, "no telling how old" in concern.words) == (False, True)
