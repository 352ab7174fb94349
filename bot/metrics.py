"""What has happened since the start, in figures: for the health page, the log, and Prometheus (`GET /metrics`).

    a count       under a plain name: `aldis_<name>_total`, and on the health page unless zero
    a histogram   durations, by labels
    a sum         tokens, money, failures, by labels
    a gauge       the present moment; collected elsewhere for each page

Everything declared here starts at zero. A label takes one of the values declared for it; any other is
reported as `other`, so that nobody's words, name or number can become one.

Source: Prometheus, "Metric and label naming", "Exposition formats" 0.0.4 (2026-11-22).
"""

import re
from bisect import bisect_left
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import accumulate, product

CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"

_OTHER = "other"
_NO_NAME = re.compile(r"[^a-z0-9_]")

COUNTS = (
    *("captchas_solved", "codes_given", "envelopes_delete", "envelopes_edit"),
    *("envelopes_message", "envelopes_other", "envelopes_reaction", "envelopes_receipt", "envelopes_reminder"),
    *("envelopes_timer", "envelopes_undecryptable", "feed_articles", "feeds_failed", "feeds_read"),
    *("feeds_unchanged", "files_refused", "missed_network", "missed_no_keys"),
    *("missed_rate_limit", "missed_unregistered", "missed_untrusted", "numbers_changed"),
    *("reminders_came", "reminders_dropped", "replies_sent", "safety_numbers_accepted"),
    *("safety_numbers_trusted", "sends_held", "sends_proved", "sends_unknown", "streams", "summaries"),
    *("turns_answered", "turns_answered_with_failure", "turns_failed", "turns_given_up"),
    *("turns_paused", "turns_refused", "undeliverable_no_keys", "undeliverable_not_in_group"),
    *("undeliverable_refused", "undeliverable_too_large"),
    *("undeliverable_unreadable", "undeliverable_unregistered"),
)
"""The counts of Aldis itself; `bot.unanswered` declares its own."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Gauge:
    """A figure of the present moment; a `value` of None is unknown and left out."""

    name: str
    """With its unit, without `aldis_`."""
    help: str
    value: float | Mapping[str, float] | None
    """One figure, or one per value of the label."""
    label: str = ""
    fixed: Mapping[str, str] | None = None
    """Labels that describe the thing measured, such as a version."""

    @property
    def samples(self) -> Mapping[str, float]:
        """The figures, by their labels as the page has them; empty if unknown."""
        if self.value is None:
            return {}
        if isinstance(self.value, Mapping):
            return {_labels({self.label: value}): figure for value, figure in self.value.items()}
        return {_labels(self.fixed or {}): self.value}


@dataclass(frozen=True, slots=True)
class _Metric:
    """A metric with labels."""

    help: str
    labels: Mapping[str, tuple[str, ...]] = field(default_factory=dict[str, tuple[str, ...]])
    """The values each label may have besides `other`."""
    buckets: tuple[float, ...] = ()
    """The buckets of a histogram, in seconds; empty for a sum."""


_FAST = (0.01, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0)
_SLOW = (0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 20.0, 40.0, 80.0, 160.0, 300.0)
_PROVIDERS = ("anthropic", "openai", "offline")
_MODEL_ERRORS = (
    *("Overloaded", "Unavailable", "TooSlow", "Unreadable", "ContextTooLong", "BadKey", "Rejected", "NoSuchModel"),
)
_TOOL_ERRORS = (
    *("timeout", "invalid_arguments", "rate_limited", "not_found", "disabled", "denied", "unavailable", "too_large"),
    "unknown_outcome",
)
_METRICS = {
    "turn_seconds": _Metric(
        "From the arrival of a question until its answer was kept, or until it waits for a person.",
        {"outcome": ("answered", "failed", "paused")},
        _SLOW,
    ),
    "model_call_seconds": _Metric("Calls of models that were answered.", {"provider": _PROVIDERS}, _SLOW),
    "tool_call_seconds": _Metric("Calls of tools, however they ended.", {"tool": ()}, _FAST),
    "send_seconds": _Metric(
        "Sends to Signal, however they ended.",
        {"outcome": ("sent", "again_later", "unknown", "held", "undeliverable")},
        _FAST,
    ),
    "model_failures": _Metric("Calls of models that failed.", {"provider": _PROVIDERS, "error": _MODEL_ERRORS}),
    "model_tokens": _Metric(
        "Tokens that models read (input, of which cached_input came from a cache) and wrote (output).",
        {"provider": _PROVIDERS, "kind": ("input", "cached_input", "output")},
    ),
    "model_calls_unpriced": _Metric("Answers of models whose price is unknown."),
    "tool_failures": _Metric("Calls of tools that failed.", {"error": _TOOL_ERRORS}),
    "cost_usd": _Metric("What models and tools have cost, as far as known.", {"kind": ("model", "tool")}),
}


class Counts:
    """The figures of one run."""

    def __init__(self) -> None:
        self._counts: Counter[str] = Counter()
        self._elsewhere: dict[str, Callable[[], int]] = {}
        self._declared = dict.fromkeys(COUNTS, "")
        self._values = {(name, label): values for name, one in _METRICS.items() for label, values in one.labels.items()}
        self._figures: dict[str, dict[tuple[str, ...], list[float]]] = {name: {} for name in _METRICS}
        """The figures of each metric by the values of its labels: a sum; for a histogram the sum, and how many fell
        between each bucket and the one before."""
        for name in _METRICS:
            self._start(name)

    def declare(self, helps: Mapping[str, str]) -> None:
        """Adds counts, by name with their HELP, that start at zero."""
        self._declared |= helps

    def allow(self, name: str, label: str, values: Iterable[str]) -> None:
        """Allows more values for a label; they come from the settings or from Aldis, never from people."""
        self._values[name, label] = (*self._values[name, label], *values)
        self._start(name)

    def add(self, name: str, more: int = 1) -> int:
        """Adds to a count; returns the new count."""
        self._counts[name] += more
        return self._counts[name]

    def watch(self, name: str, count: Callable[[], int]) -> None:
        """Includes a count that is kept elsewhere."""
        self._elsewhere[name] = count

    def observe(self, name: str, seconds: float, **labels: str) -> None:
        """Records a duration in one of the histograms."""
        figures = self._of(name, labels)
        figures[0] += max(0.0, seconds)
        figures[1 + bisect_left(_METRICS[name].buckets, seconds)] += 1

    def increase(self, name: str, amount: float = 1, **labels: str) -> None:
        """Adds to one of the sums."""
        self._of(name, labels)[0] += max(0.0, amount)

    def all(self) -> dict[str, int]:
        """All nonzero counts, in alphabetical order."""
        elsewhere = {name: number for name, count in self._elsewhere.items() if (number := count())}
        return dict(sorted({**self._counts, **elsewhere}.items()))

    def exposition(self, gauges: Iterable[Gauge] = ()) -> str:
        """Everything as a page for Prometheus, with these gauges; what has not happened yet is at zero."""
        lines: list[str] = []
        counted = self.all()
        for name in sorted({*self._declared, *counted}):
            full_name = f"{_NO_NAME.sub('_', name.lower())}_total"
            help_ = self._declared.get(name) or f"{name.replace('_', ' ').capitalize()}, since the start."
            lines += _family(full_name, help_, "counter", {"": counted.get(name, 0)})
        for name, one in _METRICS.items():
            full_name, kind = (name, "histogram") if one.buckets else (f"{name}_total", "counter")
            lines += _family(full_name, one.help, kind, dict(_samples(one, self._figures[name])))
        for gauge in gauges:
            lines += _family(gauge.name, gauge.help, "gauge", gauge.samples)
        return "\n".join((*lines, ""))

    def _start(self, name: str) -> None:
        """Starts every combination of labels at zero."""
        metric = _METRICS[name]
        for combination in product(*((*self._values[name, label], _OTHER) for label in metric.labels)):
            self._figures[name].setdefault(combination, [0.0] * (len(metric.buckets) + 2 if metric.buckets else 1))

    def _of(self, name: str, labels: Mapping[str, str]) -> list[float]:
        """The figures with these labels; `other` stands for values that are not declared."""
        values = self._values
        known = [labels[one] if labels[one] in values[name, one] else _OTHER for one in _METRICS[name].labels]
        return self._figures[name][tuple(known)]


def _samples(metric: _Metric, figures: Mapping[tuple[str, ...], Sequence[float]]) -> Iterator[tuple[str, float]]:
    """What follows a metric's name on the page, with each figure."""
    for values, (total, *fell) in figures.items():
        labels = dict(zip(metric.labels, values, strict=True))
        for limit, figure in zip((*map(str, metric.buckets), "+Inf"), accumulate(fell), strict=False):
            yield f"_bucket{_labels({**labels, 'le': limit})}", figure
        if fell:
            yield f"_count{_labels(labels)}", sum(fell)
        yield f"{'_sum' if fell else ''}{_labels(labels)}", total


def _labels(labels: Mapping[str, str]) -> str:
    """Labels as they follow a name; empty without any."""
    escaped = {name: value.translate({92: r"\\", 34: r"\"", 10: r"\n"}) for name, value in labels.items()}
    return "{" + ",".join(f'{name}="{value}"' for name, value in escaped.items()) + "}" if labels else ""


def _family(name: str, help_: str, kind: str, samples: Mapping[str, float]) -> Iterator[str]:
    """The lines of a metric; none without samples."""
    if samples:
        yield f"# HELP aldis_{name} {help_}"
        yield f"# TYPE aldis_{name} {kind}"
        for suffix, value in samples.items():
            yield f"aldis_{name}{suffix} {float(value)}"
