"""The arithmetic of calibration: what holds whatever was predicted."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tools.predictions import Score, SettledPrediction, bins, by_domain, score

SETTLED = st.lists(
    st.builds(
        SettledPrediction,
        probability=st.floats(0, 1),
        came_true=st.booleans(),
        domain=st.sampled_from([None, "a", "b"]),
    ),
    min_size=1,
    max_size=12,
)


@settings(max_examples=25)
@given(SETTLED)
def test_parts_make_the_whole(settled: list[SettledPrediction]) -> None:
    """Each prediction is in one bin and in one domain, and the means of these, weighed, are those of all."""
    whole = score(settled)
    parts: list[list[Score]] = [[one for _, one in bins(settled)], [found for _, found in by_domain(settled)]]
    for scores in parts:
        assert sum(one.count for one in scores) == whole.count == len(settled)
        for name in ("accuracy", "brier", "said", "came_true"):
            weighed = sum(getattr(one, name) * one.count for one in scores) / whole.count
            assert weighed == pytest.approx(getattr(whole, name), abs=1e-9)


@settings(max_examples=25)
@given(SETTLED)
def test_every_figure_is_a_share_and_no_order_matters(settled: list[SettledPrediction]) -> None:
    """From 0 to 1; a bin's mean lies within the bin."""
    whole = score(settled)
    assert whole == score(settled[::-1])
    assert all(0 <= share <= 1 for share in (whole.accuracy, whole.brier, whole.said, whole.came_true))
    for low, one in bins(settled):
        assert low - 1e-9 <= 100 * one.said <= low + 10 + 1e-9
