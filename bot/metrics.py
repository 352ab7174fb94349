"""What has happened since the start, in figures: for the health page, the log, and Prometheus (`GET /metrics`).

Labels and names are words of Aldis, or names that the operator chose, such as those of tools: never people's words,
names or numbers.

Source: Prometheus, "Metric and label naming", "Exposition formats" 0.0.4 (2026-11-22).
"""

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Mapping

CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"

WATCHED = (
    *("sends_proved", "sends_unknown", "streams", "turns_answered", "turns_answered_with_failure", "turns_failed"),
    *("turns_given_up", "unanswered_not_allowed", "unanswered_queue_full", "unanswered_too_many"),
    *("unanswered_too_old", "unanswered_undecryptable"),
)
"""What the shipped rules and the dashboard look at: there from the start, because a rise from nothing is not seen."""


class Counts:
    """The figures of one run."""

    def __init__(self) -> None:
        self._counts: Counter[str] = Counter()
        self._elsewhere: dict[str, Callable[[], int]] = {}
        self._sums: defaultdict[str, float] = defaultdict(float)

    def add(self, name: str, more: int = 1) -> int:
        """Adds to a count; returns the new count."""
        self._counts[name] += more
        return self._counts[name]

    def watch(self, name: str, count: Callable[[], int]) -> None:
        """Includes a count that is kept elsewhere."""
        self._elsewhere[name] = count

    def increase(self, name: str, amount: float = 1, **labels: str) -> None:
        """Adds to a sum, which Prometheus alone reads."""
        self._sums[sample_name(name, **labels)] += amount

    def observe(self, name: str, seconds: float, **labels: str) -> None:
        """Adds a duration: to how many there were, and to how long together."""
        self.increase(f"{name}_seconds_count", 1, **labels)
        self.increase(f"{name}_seconds_sum", seconds, **labels)

    def all(self) -> dict[str, int]:
        """All nonzero counts, in alphabetical order."""
        elsewhere = {name: number for name, count in self._elsewhere.items() if (number := count())}
        return dict(sorted({**self._counts, **elsewhere}.items()))

    def exposition(self, gauges: Mapping[str, float | None]) -> str:
        """Everything as a page for Prometheus, with these figures of the moment; None is unknown and left out."""
        counts = {f"{name}_total": number for name, number in {**dict.fromkeys(WATCHED, 0), **self.all()}.items()}
        families: dict[str, list[str]] = {}
        for name, figure in {**counts, **self._sums, **gauges}.items():
            sample = name.partition("{")[0]
            family = re.sub(r"_seconds_(count|sum)$", "_seconds", sample)
            kind = "counter" if sample.endswith("_total") else "gauge" if family == sample else "summary"
            words = family.replace("_", " ").capitalize()
            head = f"# HELP aldis_{family} {words}.\n# TYPE aldis_{family} {kind}\n"
            if figure is not None:
                families.setdefault(head, []).append(f"aldis_{name} {float(figure)}\n")
        return "".join(head + "".join(samples) for head, samples in families.items())


def sample_name(name: str, **labels: str) -> str:
    """A figure's name with its labels, as Prometheus reads them."""
    escaped = {label: value.translate({92: r"\\", 34: r"\"", 10: r"\n"}) for label, value in labels.items()}
    return name + "{" + ",".join(f'{label}="{value}"' for label, value in escaped.items()) + "}"
