"""When a feed is asked again."""

import pytest

from bot.features.feeds.poller import MAX_PAUSE_SECONDS, pause_seconds

HOUR = 3600.0


@pytest.mark.parametrize(
    ("every", "wanted", "failures", "pause"),
    [
        (HOUR, 0, 0, HOUR),
        (HOUR, 60, 0, HOUR),
        (HOUR, 3 * HOUR, 0, 3 * HOUR),
        (HOUR, 0, 1, HOUR),
        (HOUR, 0, 2, 2 * HOUR),
        (HOUR, 0, 4, 8 * HOUR),
        (HOUR, 10 * HOUR, 2, 10 * HOUR),
        (HOUR, 0, 10_000, MAX_PAUSE_SECONDS),
        (HOUR, 1e9, 0, MAX_PAUSE_SECONDS),
        (MAX_PAUSE_SECONDS, 1e9, 7, MAX_PAUSE_SECONDS),
    ],
)
def test_the_longest_wish_counts_up_to_a_day(every: float, wanted: float, failures: int, pause: float) -> None:
    """The operator's, the feed's, and what failures double; a little chance only makes it later."""
    assert pause_seconds(every_seconds=every, wanted_seconds=wanted, failures=failures, chance=0) == pause
    later = pause_seconds(every_seconds=every, wanted_seconds=wanted, failures=failures, chance=1)
    assert later == pytest.approx(1.1 * pause)
