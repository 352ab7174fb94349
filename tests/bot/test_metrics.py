"""The figures: each by itself, declared with what it means, at zero before the first event, and of closed labels."""

import re
from pathlib import Path

from bot.metrics import COUNTS, Counts, Gauge
from bot.unanswered import REASONS, Unanswered

SAMPLE = re.compile(r'(aldis_[a-z0-9_]+)(?:\{((?:[a-z]+="[^"]*",?)+)\})? (\S+)')
BOT = Path(__file__).parents[2] / "bot"


def samples(counts: Counts, *gauges: Gauge) -> dict[str, float]:
    """Every line of the page, as Prometheus reads it."""
    found: dict[str, float] = {}
    for line in counts.exposition(gauges).splitlines():
        if not line.startswith("#"):
            read = SAMPLE.fullmatch(line)
            assert read is not None, line
            labels = sorted(re.findall(r'([a-z]+)="([^"]*)"', read[2] or ""))
            found[read[1] + "".join(f"{{{name}={value}}}" for name, value in labels)] = float(read[3])
    return found


def test_everything_is_there_before_the_first_event() -> None:
    """At zero, with its HELP."""
    counts = Counts()
    Unanswered(counts)
    found = samples(counts)
    assert set(found.values()) == {0}
    names = {*COUNTS, *(f"unanswered_{reason}" for reason in REASONS)}
    assert {f"aldis_{name}_total" for name in names} <= found.keys()
    assert not re.findall(r"^# HELP \w+ .{0,9}$", counts.exposition(), re.MULTILINE)


def test_sums_are_by_their_labels() -> None:
    """Each combination by itself; durations are counted as well; what could end a label is escaped."""
    counts = Counts()
    for seconds in (0.1, 7.0, 500.0):
        counts.observe("send_seconds", seconds, outcome="sent")
    for error, amount in (("BadKey", 1), ("BadKey", 2), ("Overloaded", 1)):
        counts.increase("model_failures", amount, provider="openai", error=error)
    found = samples(counts)
    assert found["aldis_send_seconds_count{outcome=sent}"] == 3
    assert found["aldis_send_seconds_sum{outcome=sent}"] == 507.1
    assert found["aldis_model_failures_total{error=BadKey}{provider=openai}"] == 3
    assert found["aldis_model_failures_total{error=Overloaded}{provider=openai}"] == 1
    info = Gauge(name="info", help="What it is.", value=1, fixed={"version": 'a"b\\c\nd'})
    assert 'aldis_info{version="a\\"b\\\\c\\nd"} 1.0' in counts.exposition([info]).splitlines()


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
