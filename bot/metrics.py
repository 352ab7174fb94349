"""What has happened since the start, in figures: for the health page, the log, and Prometheus (`GET /metrics`).

    a count       under a plain name: `aldis_<name>_total`, and on the health page unless zero
    a histogram   durations, by labels
    a sum         tokens, money, failures, by labels
    a gauge       the present moment; collected elsewhere for each page

Everything declared here starts at zero. A label takes one of the values declared for it; any other is
reported as `other`, so that nobody's words, name or number can become one.

Source: Prometheus, "Metric and label naming", "Exposition formats" 0.0.4; prometheus-client 0.26.0 (2026-11-22).
"""

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import product
from typing import TypeVar

import prometheus_client
from prometheus_client import CollectorRegistry, Histogram
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, Metric
from prometheus_client.exposition import CONTENT_TYPE_PLAIN_0_0_4 as CONTENT_TYPE
from prometheus_client.exposition import generate_latest
from prometheus_client.registry import Collector

__all__ = ["CONTENT_TYPE", "COUNTS", "Counts", "Gauge"]

_PREFIX = "aldis_"
_OTHER = "other"

M = TypeVar("M", Histogram, prometheus_client.Counter)

_NO_NAME = re.compile(r"[^a-z0-9_]")

_FAST = (0.01, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60)
_SLOW = (0.25, 0.5, 1, 2.5, 5, 10, 20, 40, 80, 160, 300)

COUNTS = (
    *("captchas_solved", "codes_given", "copies_removed", "envelopes_delete", "envelopes_edit"),
    *("envelopes_message", "envelopes_other", "envelopes_reaction", "envelopes_receipt", "envelopes_reminder"),
    *("envelopes_timer", "envelopes_undecryptable", "feed_articles", "feeds_failed", "feeds_read"),
    *("feeds_unchanged", "files_refused", "members_unknown", "missed_network", "missed_no_keys"),
    *("missed_rate_limit", "missed_unregistered", "missed_untrusted", "numbers_changed", "receipts_too_many"),
    *("reminders_came", "reminders_dropped", "replies_sent", "safety_numbers_accepted"),
    *("safety_numbers_trusted", "sends_held", "sends_proved", "sends_unknown", "streams", "summaries"),
    *("texts_split", "turns_answered", "turns_answered_with_failure", "turns_failed", "turns_given_up"),
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


@dataclass(frozen=True, kw_only=True, slots=True)
class _Labelled:
    """A metric with labels."""

    help: str
    labels: Mapping[str, tuple[str, ...]]
    """The values each label may have besides `other`."""
    buckets: tuple[float, ...] = ()
    """The buckets of a histogram, in seconds; empty for a sum."""


_PROVIDERS = ("anthropic", "openai", "offline")
_LABELLED: Mapping[str, _Labelled] = {
    "turn_seconds": _Labelled(
        help="From the arrival of a question until its answer was kept, or until it waits for a person.",
        labels={"outcome": ("answered", "failed", "paused")},
        buckets=_SLOW,
    ),
    "model_call_seconds": _Labelled(
        help="Calls of models that were answered.", labels={"provider": _PROVIDERS}, buckets=_SLOW
    ),
    "tool_call_seconds": _Labelled(help="Calls of tools, however they ended.", labels={"tool": ()}, buckets=_FAST),
    "send_seconds": _Labelled(
        help="Sends to Signal, however they ended.",
        labels={"outcome": ("sent", "again_later", "unknown", "held", "undeliverable")},
        buckets=_FAST,
    ),
    "model_failures": _Labelled(
        help="Calls of models that failed.",
        labels={
            "provider": _PROVIDERS,
            "error": (
                *("Overloaded", "Unavailable", "TooSlow", "Unreadable", "ContextTooLong", "BadKey", "Rejected"),
                "NoSuchModel",
            ),
        },
    ),
    "model_tokens": _Labelled(
        help="Tokens that models read (input, of which cached_input came from a cache) and wrote (output).",
        labels={"provider": _PROVIDERS, "kind": ("input", "cached_input", "output")},
    ),
    "model_calls_unpriced": _Labelled(help="Answers of models whose price is unknown.", labels={}),
    "tool_failures": _Labelled(
        help="Calls of tools that failed.",
        labels={
            "error": (
                *("timeout", "invalid_arguments", "rate_limited", "not_found", "disabled", "denied", "unavailable"),
                *("too_large", "unknown_outcome"),
            )
        },
    ),
    "cost_usd": _Labelled(help="What models and tools have cost, as far as known.", labels={"kind": ("model", "tool")}),
}

prometheus_client.disable_created_metrics()


class Counts:
    """The figures of one run, in a registry of its own, without those of the process."""

    def __init__(self) -> None:
        self._counts: Counter[str] = Counter()
        self._elsewhere: dict[str, Callable[[], int]] = {}
        self._declared = dict.fromkeys(COUNTS, "")
        self._registry = CollectorRegistry()
        self._values: dict[tuple[str, str], tuple[str, ...]] = {}
        self._histograms: dict[str, Histogram] = {}
        self._sums: dict[str, prometheus_client.Counter] = {}
        self._not_at_zero = set(_LABELLED)  # their label combinations start at zero with the next page
        for name, one in _LABELLED.items():
            given = (_PREFIX + name, one.help, tuple(one.labels))
            if one.buckets:
                self._histograms[name] = Histogram(*given, registry=self._registry, buckets=one.buckets)
            else:
                self._sums[name] = prometheus_client.Counter(*given, registry=self._registry)
            self._values |= {(name, label): values for label, values in one.labels.items()}

    def declare(self, helps: Mapping[str, str]) -> None:
        """Adds counts, by name with their HELP, that start at zero."""
        self._declared |= helps

    def allow(self, name: str, label: str, values: Iterable[str]) -> None:
        """Allows more values for a label; they come from the settings or from Aldis, never from people."""
        self._values[name, label] = (*self._values[name, label], *values)
        self._not_at_zero.add(name)

    def add(self, name: str, more: int = 1) -> int:
        """Adds to a count; returns the new count."""
        self._counts[name] += more
        return self._counts[name]

    def watch(self, name: str, count: Callable[[], int]) -> None:
        """Includes a count that is kept elsewhere."""
        self._elsewhere[name] = count

    def observe(self, name: str, seconds: float, **labels: str) -> None:
        """Records a duration in one of the histograms."""
        self._child(self._histograms, name, labels).observe(max(0.0, seconds))

    def increase(self, name: str, amount: float = 1, **labels: str) -> None:
        """Adds to one of the sums."""
        self._child(self._sums, name, labels).inc(max(0.0, amount))

    def all(self) -> dict[str, int]:
        """All nonzero counts, in alphabetical order."""
        elsewhere = {name: number for name, count in self._elsewhere.items() if (number := count())}
        return dict(sorted({**self._counts, **elsewhere}.items()))

    def exposition(self, gauges: Iterable[Gauge] = ()) -> str:
        """Everything as a page for Prometheus, with these gauges; what has not happened yet is at zero."""
        while self._not_at_zero:
            self._begin(self._not_at_zero.pop())
        return generate_latest(_Page([*self._families(), *self._registry.collect(), *map(_family, gauges)])).decode()

    def _families(self) -> Iterator[Metric]:
        """The declared counts and any others that were counted."""
        counted = self.all()
        for name in sorted({*self._declared, *counted}):
            full_name = _PREFIX + _NO_NAME.sub("_", name.lower())
            help_ = self._declared.get(name) or f"{name.replace('_', ' ').capitalize()}, since the start."
            yield CounterMetricFamily(full_name, help_, value=counted.get(name, 0))

    def _child(self, metrics: Mapping[str, M], name: str, labels: Mapping[str, str]) -> M:
        """The child of a metric with these labels, as far as they are declared."""
        known = {label: value if value in self._values[name, label] else _OTHER for label, value in labels.items()}
        return metrics[name].labels(**known) if known else metrics[name]

    def _begin(self, name: str) -> None:
        """Starts every combination of labels at zero."""
        metric, labels = self._histograms.get(name) or self._sums[name], _LABELLED[name].labels
        for values in product(*((*self._values[name, label], _OTHER) for label in labels)) if labels else ():
            metric.labels(*values)


class _Page(Collector):
    """Collected families in the shape the library expects."""

    def __init__(self, families: list[Metric]) -> None:
        self._families = families

    def collect(self) -> Iterable[Metric]:
        """The families with a known figure."""
        return [family for family in self._families if family.samples]


def _family(gauge: Gauge) -> Metric:
    labels = [gauge.label] if gauge.label else list(gauge.fixed or ())
    family = GaugeMetricFamily(_PREFIX + gauge.name, gauge.help, labels=labels)
    match gauge.value:
        case None:
            pass
        case Mapping():
            for value, figure in gauge.value.items():
                family.add_metric([value], figure)
        case _:
            family.add_metric(list((gauge.fixed or {}).values()), gauge.value)
    return family
