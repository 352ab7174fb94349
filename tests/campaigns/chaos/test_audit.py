"""What the audit takes for a loss or a repetition, over rounds as they might have gone."""

from pathlib import Path

import pytest

from tests.campaigns.chaos.audit import gaps
from tests.campaigns.chaos.evidence import OutboxRow
from tests.campaigns.chaos.phones import GRACE_SECONDS
from tests.campaigns.chaos.sends import LATE, LOST, NEVER, Receipts, are_one_message
from tests.campaigns.chaos.world import Size, world
from tests.servers.envelopes import timestamp
from tests.servers.signal_server import Sent

_GRACE_MS = round(1000 * GRACE_SECONDS)
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
    """Only a kill may lose what was handed over, and only the end of it; the letters are 1, 2, 3."""
    assert list(gaps(streams, committed, once=once, calm=calm)) == lost


@pytest.mark.parametrize(
    ("begun", "taken", "again", "handed", "read", "reason"),
    [
        pytest.param(0, 5, _GRACE_MS, None, None, NEVER, id="nobody-confirmed-the-first"),
        pytest.param(0, 5, _GRACE_MS, _GRACE_MS + 1, None, LATE, id="it-was-confirmed-too-late"),
        pytest.param(0, 5, _GRACE_MS, 20, None, LOST, id="what-confirmed-it-was-lost"),
        pytest.param(0, 5, _GRACE_MS, 20, _GRACE_MS + 1, LOST, id="what-confirmed-it-was-read-too-late"),
        pytest.param(0, 5, _GRACE_MS, 20, 30, f"its receipt was read {_GRACE_MS - 30} ms before", id="it-was-known"),
        pytest.param(0, 5, _GRACE_MS - 9, None, None, f"sent again {_GRACE_MS - 9} ms after", id="it-did-not-wait"),
        pytest.param(0, 2 * _GRACE_MS, _GRACE_MS, None, None, NEVER, id="a-slow-bridge-took-it-after-the-second"),
        pytest.param(0, _GRACE_MS - 9, _GRACE_MS, None, None, NEVER, id="a-slow-bridge-took-it-just-before-the-second"),
    ],
)
def test_repetitions(begun: int, taken: int, again: int, handed: int | None, read: int | None, reason: str) -> None:
    """What was sent again waited for the grace period, counted from when the first send began, and knew no better."""
    receipts = Receipts(
        handed_at={} if handed is None else {taken: handed}, read_at={} if read is None else {taken: read}
    )
    second = max(again, taken) + 5
    for first, named in ((taken, second), (second, taken)):
        row = OutboxRow(1, "direct:a", 1, 0, "sent", again, named, removes=False)
        assert reason in receipts.reason(_sent(first), row, [begun, again])


def test_revisions() -> None:
    """An answer that takes the place of a status twice is seen once; beside the status it is seen twice."""
    for first, second, is_one in ((None, None, False), (1, 1, True), (None, 1, False), (1, None, False)):
        assert are_one_message(_sent(5, edits=first), _sent(9, edits=second)) is is_one


async def test_the_bridge_s_clock_is_right(tmp_path: Path) -> None:
    """Whatever was counted before in this process: receipts for names of another time prove the wrong send."""
    ahead = max(timestamp() for _ in range(100_000))
    async with world(Size(seed=1, kills=0), tmp_path):
        assert timestamp() < ahead


def _sent(timestamp: int, *, edits: int | None = None) -> Sent:
    quote = dict.fromkeys(("quote_timestamp", "quote_author", "quote_text"))
    return Sent(recipient="a", group=None, timestamp=timestamp, text="answer", styles=(), edits=edits, **quote)
