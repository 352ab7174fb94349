"""What has happened since the start, in figures: for the health page, the log, and Prometheus (`GET /metrics`).

    a count       under a plain name: `aldis_<name>_total`, and on the health page unless zero
    a duration    how many there were and how long together, by labels
    a sum         tokens, money, failures, by labels
    a gauge       the present moment; collected elsewhere for each page

Counts start at zero; what has labels appears when it first happens. Labels are words of Aldis or names that the
operator chose, such as those of tools: never people's words, names or numbers.

Source: Prometheus, "Metric and label naming", "Exposition formats" 0.0.4 (2026-11-22).
"""

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass

CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"

_NO_NAME = re.compile(r"[^a-z0-9_]")

COUNTS = (
    *("captchas_solved", "codes_given", "envelopes_delete", "envelopes_edit"),
    *("envelopes_message", "envelopes_other", "envelopes_reaction", "envelopes_receipt", "envelopes_reminder"),
    *("envelopes_timer", "envelopes_undecryptable", "feed_articles", "feeds_failed", "feeds_read"),
    *("feeds_unchanged", "files_refused", "numbers_changed"),
    *("reminders_came", "reminders_dropped", "replies_sent", "safety_numbers_accepted"),
    *("safety_numbers_trusted", "sends_held", "sends_proved", "sends_unknown", "streams", "summaries"),
    *("turns_answered", "turns_answered_with_failure", "turns_failed", "turns_given_up"),
    *("turns_paused", "turns_refused", "undeliverable_no_keys", "undeliverable_not_in_group"),
    *("undeliverable_refused", "undeliverable_too_large"),
    *("undeliverable_unreadable", "undeliverable_unregistered"),
)
"""The counts of Aldis itself; `bot.unanswered` declares its own."""


_Labels = tuple[tuple[str, str], ...]


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
            return {_text([(self.label, value)]): figure for value, figure in self.value.items()}
        return {_text((self.fixed or {}).items()): self.value}


_DURATIONS = {
    "turn_seconds": "From the arrival of a question until its answer was kept, or until it waits for a person.",
    "model_call_seconds": "Calls of models that were answered, by provider.",
    "tool_call_seconds": "Calls of tools, however they ended, by tool.",
    "send_seconds": "Sends to Signal, however they ended, by outcome.",
}
_SUMS = {
    "model_failures": "Calls of models that failed, by provider and error.",
    "model_tokens": "Tokens that models read (input, of which cached_input came from a cache) and wrote (output).",
    "model_calls_unpriced": "Answers of models whose price is unknown.",
    "tool_failures": "Calls of tools that failed, by error.",
    "cost_usd": "What models and tools have cost, as far as known, by kind.",
}


class Counts:
    """The figures of one run."""

    def __init__(self) -> None:
        self._counts: Counter[str] = Counter()
        self._elsewhere: dict[str, Callable[[], int]] = {}
        self._declared = dict.fromkeys(COUNTS, "")
        self._sums: dict[str, dict[_Labels, float]] = {name: {} for name in (*_SUMS, *_DURATIONS)}
        self._times: Counter[tuple[str, _Labels]] = Counter()

    def declare(self, helps: Mapping[str, str]) -> None:
        """Adds counts, by name with their HELP, that start at zero."""
        self._declared |= helps

    def add(self, name: str, more: int = 1) -> int:
        """Adds to a count; returns the new count."""
        self._counts[name] += more
        return self._counts[name]

    def watch(self, name: str, count: Callable[[], int]) -> None:
        """Includes a count that is kept elsewhere."""
        self._elsewhere[name] = count

    def observe(self, name: str, seconds: float, **labels: str) -> None:
        """Records one of the durations."""
        self._times[name, tuple(labels.items())] += 1
        self.increase(name, seconds, **labels)

    def increase(self, name: str, amount: float = 1, **labels: str) -> None:
        """Adds to one of the sums."""
        sums, place = self._sums[name], tuple(labels.items())
        sums[place] = sums.get(place, 0.0) + max(0.0, amount)

    def all(self) -> dict[str, int]:
        """All nonzero counts, in alphabetical order."""
        elsewhere = {name: number for name, count in self._elsewhere.items() if (number := count())}
        return dict(sorted({**self._counts, **elsewhere}.items()))

    def exposition(self, gauges: Iterable[Gauge] = ()) -> str:
        """Everything as a page for Prometheus, with these gauges."""
        lines: list[str] = []
        counted = self.all()
        for name in sorted({*self._declared, *counted}):
            help_ = self._declared.get(name) or f"{name.replace('_', ' ').capitalize()}, since the start."
            lines += _family(f"{_NO_NAME.sub('_', name.lower())}_total", help_, "counter", {"": counted.get(name, 0)})
        for name, help_ in _SUMS.items():
            figures = {_text(labels): total for labels, total in self._sums[name].items()}
            lines += _family(f"{name}_total", help_, "counter", figures)
        for name, help_ in _DURATIONS.items():
            sums = {f"_sum{_text(labels)}": total for labels, total in self._sums[name].items()}
            counts = {f"_count{_text(labels)}": self._times[name, labels] for labels in self._sums[name]}
            lines += _family(name, help_, "summary", sums | counts)
        for gauge in gauges:
            lines += _family(gauge.name, gauge.help, "gauge", gauge.samples)
        return "\n".join((*lines, ""))


def _text(labels: Iterable[tuple[str, str]]) -> str:
    """Labels as they follow a name; empty without any."""
    escaped = [(name, value.translate({92: r"\\", 34: r"\"", 10: r"\n"})) for name, value in labels]
    return "{" + ",".join(f'{name}="{value}"' for name, value in escaped) + "}" if escaped else ""


def _family(name: str, help_: str, kind: str, samples: Mapping[str, float]) -> Iterator[str]:
    """The lines of a metric; none without samples."""
    if samples:
        yield f"# HELP aldis_{name} {help_}"
        yield f"# TYPE aldis_{name} {kind}"
        for suffix, value in samples.items():
            yield f"aldis_{name}{suffix} {float(value)}"
