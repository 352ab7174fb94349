"""A short round of the soak, and the audit over records that are wrong; `make soak` plays long ones."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from tests.campaigns.proc import PROC
from tests.campaigns.soak.__main__ import report
from tests.campaigns.soak.audit import audit
from tests.campaigns.soak.play import Record, Size, play
from tests.waiting import WAIT_SECONDS

SHORT = Size(
    seed=1,
    conversations=40,
    seconds=4,
    pause_seconds=6,
    model_seconds=(0.1, 0.5),
    turn_timeout_seconds=10,
    patience_seconds=WAIT_SECONDS,
)
"""How quick a machine is may not matter here: only the stubborn conversation comes to the end of a turn's time."""


def _held(record: Record, name: str) -> None:
    if record.after is not None:
        record.after = replace(record.after, **{name: getattr(record.after, name) + 9})


def _grown(record: Record) -> None:
    first = record.looks[0]
    sizes = range(60)
    record.looks = [replace(first, at_seconds=float(second), resident_bytes=10**8 + second * 10**6) for second in sizes]


def _late(record: Record) -> None:
    record.outs = [(at + 600, sent) for at, sent in record.outs]


def _swapped(record: Record) -> None:
    chat = next(sent.chat for _, sent in record.outs if len(record.visible(sent.chat)) > 1)
    first, second, *_ = [place for place, (_, sent) in enumerate(record.outs) if sent.chat == chat]
    record.outs[first], record.outs[second] = record.outs[second], record.outs[first]


WRONG: dict[str, tuple[Callable[[Record], object], str]] = {
    "two answers change places": (_swapped, "in their order"),
    "one is lost": (lambda record: record.outs.pop(), "in their order"),
    "one comes twice": (
        lambda record: record.outs.append((9e9, replace(record.outs[-1][1], timestamp=1))),
        "in their order",
    ),
    "a notice is missing": (lambda record: record.silenced.append([]), "in their order"),
    "messages wait for ever": (_late, "answered within"),
    "memory grows": (_grown, "stays flat"),
    "files stay open": (lambda record: _held(record, "descriptors"), "descriptors held"),
    "a thread stays": (lambda record: _held(record, "threads"), "threads held"),
    "a task stays": (lambda record: _held(record, "tasks"), "tasks held"),
    "it does not come to rest": (lambda record: setattr(record, "rested", False), "their end"),
    "it ends badly": (lambda record: setattr(record, "status", 1), "their end"),
    "a request is refused": (lambda record: record.refusals.append("no"), "their end"),
}


@pytest.mark.skipif(not PROC.exists(), reason="this system has no /proc")
async def test_a_short_round(tmp_path: Path) -> None:
    """Forty conversations, one of them stubborn: every property holds; and each kind of trouble breaks its own."""
    record = await play(SHORT, tmp_path)
    found = audit(record)
    assert not any(finding.violations for finding in found), report(record, found)
    assert {"messages answered once and in their order", "tasks held at the end"} <= {one.property for one in found}
    assert record.silenced, "the model was silent to the stubborn conversation"
    for name, (spoil, words) in WRONG.items():
        spoiled = replace(
            record,
            outs=[*record.outs],
            silenced=[*record.silenced],
            looks=[*record.looks],
            refusals=[*record.refusals],
        )
        spoil(spoiled)
        broken = [finding.property for finding in audit(spoiled) if finding.violations]
        assert any(words in one for one in broken), f"{name}: {broken}"
