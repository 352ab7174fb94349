"""What is not answered: counted each time, told once a minute by its reason, without anybody's words."""

import logging
from dataclasses import dataclass

import pytest

from bot.metrics import Counts
from bot.unanswered import REASONS, Unanswered


@dataclass
class Watch:
    now: float = 0.0

    def __call__(self) -> float:
        return self.now


def test_every_one_is_counted_and_one_a_minute_is_told(caplog: pytest.LogCaptureFixture) -> None:
    """Whatever strangers send, the log grows by a line a minute for each reason; the line has the count."""
    caplog.set_level(logging.INFO)
    counts, watch = Counts(), Watch()
    unanswered = Unanswered(counts, watch)
    for _ in range(1000):
        unanswered.note("not_allowed")
    unanswered.note("undecryptable")
    watch.now = 59.9
    unanswered.note("not_allowed")
    assert [record.levelname for record in caplog.records] == ["INFO", "INFO"]
    watch.now = 60
    unanswered.note("not_allowed")
    assert caplog.records[-1].getMessage() == f"not answered: {REASONS['not_allowed']} (1002 so far)"
    assert counts.all() == {"unanswered_not_allowed": 1002, "unanswered_undecryptable": 1}


def test_what_comes_all_day_is_for_the_debug_log(caplog: pytest.LogCaptureFixture) -> None:
    """Typing signs, emoji, what the account does on the phone; a reason that has no words here is one of those."""
    caplog.set_level(logging.DEBUG)
    for reason in ("other_kind", "reacted", "own", "something new"):
        Unanswered(Counts()).note(reason)
    assert [record.levelname for record in caplog.records] == ["DEBUG"] * 4
