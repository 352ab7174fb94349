"""What the audit takes for a loss, over streams as they might have gone; the letters are 1, 2, 3."""

import pytest

from tests.campaigns.chaos.audit import gaps

_Streams = dict[int, tuple[int, ...]]


@pytest.mark.parametrize(
    ("streams", "committed", "once", "calm", "lost"),
    [
        pytest.param({1: (1, 2)}, {1}, {1, 2}, set(), [], id="the-tail-of-a-killed-life"),
        pytest.param({1: (1, 2)}, {2}, {1, 2}, set(), [(1, 1)], id="one-before-a-committed-one"),
        pytest.param({1: (1, 2)}, {2}, {1}, set(), [], id="the-committed-one-may-have-come-again"),
        pytest.param({1: (1, 2), 2: (2, 3)}, {2, 3}, {1, 2, 3}, set(), [], id="a-dead-stream-is-still-written-to"),
        pytest.param({1: (1, 2, 3), 2: (2,)}, {2, 3}, {1, 2, 3}, set(), [(1, 1)], id="it-was-alive-after-all"),
        pytest.param({1: (1, 2)}, {1}, {1, 2}, {1}, [(1, 2)], id="the-tail-of-a-life-that-ended-in-order"),
    ],
)
def test_losses(
    streams: _Streams, committed: set[int], once: set[int], calm: set[int], lost: list[tuple[int, int]]
) -> None:
    """Only a kill may lose what was handed over, and only the end of it."""
    assert list(gaps(streams, committed, once=once, calm=calm)) == lost
