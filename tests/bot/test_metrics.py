"""The figures: each by itself, at zero before the first event where something watches it, and of closed labels."""

from bot.metrics import WATCHED, Counts, sample_name


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
