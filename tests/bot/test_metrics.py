"""The figures: each by itself, declared with what it means, at zero before the first event, and of closed labels."""

import re
from pathlib import Path

import pytest
from prometheus_client.parser import text_string_to_metric_families

from bot.metrics import COUNTS, Counts, Gauge
from bot.unanswered import REASONS, Unanswered

BOT = Path(__file__).parents[2] / "bot"


def samples(counts: Counts, *gauges: Gauge) -> dict[str, float]:
    """Every line of the page, as Prometheus reads it."""
    return {
        sample.name + "".join(f"{{{name}={value}}}" for name, value in sorted(sample.labels.items())): sample.value
        for family in text_string_to_metric_families(counts.exposition(gauges))
        for sample in family.samples
    }


def test_everything_is_there_before_the_first_event() -> None:
    """At zero, with its HELP; each combination of labels, too."""
    counts = Counts()
    Unanswered(counts)
    counts.allow("tool_call_seconds", "tool", ["calculator"])
    found = samples(counts)
    assert set(found.values()) == {0}
    names = {*COUNTS, *(f"unanswered_{reason}" for reason in REASONS)}
    assert {f"aldis_{name}_total" for name in names} <= found.keys()
    assert {
        "aldis_turn_seconds_count{outcome=answered}",
        "aldis_model_call_seconds_count{provider=anthropic}",
        "aldis_tool_call_seconds_bucket{le=0.1}{tool=calculator}",
        "aldis_send_seconds_sum{outcome=unknown}",
        "aldis_model_failures_total{error=BadKey}{provider=openai}",
        "aldis_model_calls_unpriced_total",
    } <= found.keys()
    families = list(text_string_to_metric_families(counts.exposition()))
    assert all(len(family.documentation) > 10 for family in families)
    assert not [name for name in found if name.endswith("_created")]


def test_a_label_that_nobody_declared_is_other() -> None:
    """A tool that a server of strangers named, or a word of a person that got there by mistake."""
    counts = Counts()
    counts.observe("tool_call_seconds", 0.2, tool="sesame")
    counts.increase("model_failures", provider="sesame", error="KeyError: sesame")
    found = samples(counts)
    assert found["aldis_tool_call_seconds_count{tool=other}"] == 1
    assert found["aldis_model_failures_total{error=other}{provider=other}"] == 1
    assert "sesame" not in counts.exposition()


@pytest.mark.parametrize(
    ("name", "line"), [("sends_proved", "aldis_sends_proved_total 1.0"), ("Odd: x", "aldis_odd__x_total 1.0")]
)
def test_a_count_has_a_name_that_prometheus_takes(name: str, line: str) -> None:
    """Whatever a count is called, its line can be read."""
    counts = Counts()
    counts.add(name)
    assert line in counts.exposition().splitlines()


def test_gauges_of_every_kind() -> None:
    """One figure, one for each value of a label, one that is only a sign of what stands behind it; unknown ones not."""
    found = samples(
        Counts(),
        Gauge(name="plain", help="One of them.", value=True),
        Gauge(name="unknown", help="Nobody knows.", value=None),
        Gauge(name="by", help="Several.", label="span", value={"day": 0.5}),
        Gauge(name="info", help="What it is.", value=1, fixed={"version": "1"}),
    )
    wanted = {"aldis_plain": 1, "aldis_by{span=day}": 0.5, "aldis_info{version=1}": 1}
    assert found | wanted == found
    assert "aldis_unknown" not in found


def test_every_count_in_the_code_is_declared() -> None:
    """So that it has its HELP and stands at zero before its first event; one with a part that varies by its stem."""
    calls = re.compile(r"counts\.add\(\s*f?\"([a-z_]+)(\{?)")
    found = {match.groups() for path in BOT.rglob("*.py") for match in calls.finditer(path.read_text(encoding="utf-8"))}
    assert len(found) > 20
    names = {*COUNTS, *(f"unanswered_{reason}" for reason in REASONS)}
    undeclared = [
        name
        for name, is_stem in found
        if not (any(one.startswith(name) for one in names) if is_stem else name in names)
    ]
    assert undeclared == [], "declare them in bot.metrics.COUNTS"
