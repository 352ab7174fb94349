"""The figures: each by itself, at zero before the first event where something watches it, and of closed labels."""

import logging

import pytest

from bot.metrics import REASONS, WATCHED, Counts, sample_name


def test_each_figure_is_a_line() -> None:
    """Counts and sums by their labels; durations are counted as well; what is not known is left out."""
    counts = Counts()
    counts.add("streams", 2)
    counts.watch("unanswered_not_a_frame", lambda: 3)
    for seconds in (0.1, 7.0):
        counts.observe("tool_call", seconds, tool="any")
    for error, amount in (("BadKey", 1), ("BadKey", 2), ("Overloaded", 1)):
        counts.increase("model_failures_total", amount, provider="openai", error=error)
    lines = counts.exposition({"ready": True, "linked": None, sample_name("finding", kind="key"): False}).splitlines()
    assert {f"aldis_{name}_total 0.0" for name in WATCHED if name != "streams"} <= set(lines)
    assert {line.split()[3] for line in lines if line.startswith("# TYPE ")} == {"counter", "summary", "gauge"}
    assert "# TYPE aldis_tool_call_seconds summary" in lines
    assert [line for line in lines if not line.startswith("#") and not line.endswith("_total 0.0")] == [
        "aldis_streams_total 2.0",
        "aldis_unanswered_not_a_frame_total 3.0",
        'aldis_tool_call_seconds_count{tool="any"} 2.0',
        'aldis_tool_call_seconds_sum{tool="any"} 7.1',
        'aldis_model_failures_total{provider="openai",error="BadKey"} 3.0',
        'aldis_model_failures_total{provider="openai",error="Overloaded"} 1.0',
        "aldis_ready 1.0",
        'aldis_finding{kind="key"} 0.0',
    ]
    assert counts.all() == {"streams": 2, "unanswered_not_a_frame": 3}


def test_nothing_ends_a_label_but_its_quote() -> None:
    """What an operator named can hold anything."""
    assert sample_name("info", version='a"b\\c\nd') == 'info{version="a\\"b\\\\c\\nd"}'


def test_every_one_unanswered_is_counted_and_one_a_minute_is_told(caplog: pytest.LogCaptureFixture) -> None:
    """Whatever strangers send, the log grows by a line a minute for each reason; the line has the count."""
    caplog.set_level(logging.INFO)
    counts = Counts()
    for _ in range(1000):
        counts.note_unanswered("not_allowed")
    counts.note_unanswered("undecryptable")
    counts._lines["not_allowed"]._told_at -= 55
    counts.note_unanswered("not_allowed")
    assert [record.levelname for record in caplog.records] == ["INFO", "INFO"]
    counts._lines["not_allowed"]._told_at -= 5.01
    counts.note_unanswered("not_allowed")
    assert caplog.records[-1].getMessage() == f"not answered: {REASONS['not_allowed']} (1002 so far)"
    assert counts.all() == {"unanswered_not_allowed": 1002, "unanswered_undecryptable": 1}


def test_what_comes_all_day_is_for_the_debug_log(caplog: pytest.LogCaptureFixture) -> None:
    """Typing signs, emoji, what the account does on the phone; a reason that has no words here is one of those."""
    caplog.set_level(logging.DEBUG)
    counts = Counts()
    for reason in ("other_kind", "reacted", "own", "something new"):
        counts.note_unanswered(reason)
    assert [record.levelname for record in caplog.records] == ["DEBUG"] * 4
