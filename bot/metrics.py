"""What has happened since the start, in figures: for the health page, the log, and Prometheus (`GET /metrics`).

Labels and names are words of Aldis, or names that the operator chose, such as those of tools: never people's words,
names or numbers. The doctor and the health page show why messages are not answered: `unanswered_<reason>`.

Source: Prometheus, "Metric and label naming", "Exposition formats" 0.0.4 (2026-11-22).
"""

import logging
import re
from collections import Counter, defaultdict
from collections.abc import Callable, Mapping

from bot.logs import RepeatedWarning

_log = logging.getLogger(__name__)

CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"

WATCHED = (
    *("sends_proved", "sends_unknown", "streams", "turns_answered", "turns_answered_with_failure", "turns_failed"),
    *("turns_given_up", "unanswered_not_allowed", "unanswered_queue_full", "unanswered_too_many"),
    *("unanswered_too_old", "unanswered_undecryptable"),
)
"""What the shipped rules and the dashboard look at: there from the start, because a rise from nothing is not seen."""

REASONS: Mapping[str, str] = {
    "not_allowed": "its author is not on the list (ACCESS__ALLOWED, ACCESS__GROUPS, an admin's `/allow`)",
    "not_addressed": "it was written in a group and not addressed to Aldis (no mention; or `/always on` there)",
    "not_asker": "its author may not ask in that group (`/who`)",
    "paused": "Aldis is paused in its conversation (`/resume`)",
    "too_many": "too many messages came from its author or there within a minute (LIMITS__...)",
    "queue_full": "too many messages were already waiting there (LIMITS__MAX_WAITING)",
    "too_old": "it had waited longer than INTAKE__MAX_AGE, and its author read so",
    "expired": "its timer had made it disappear before its turn came, and its author read so",
    "undecryptable": "it could not be decrypted; its author has to send it again, or look in the bridge's log",
    "not_a_note": "another person wrote it, and SIGNAL__NOTE_TO_SELF answers only the account's own notes",
    "not_a_frame": "what the bridge sent was not an envelope for this account, or was too long",
    "unreadable": "nothing in it could be read",
}
"""By the suffix of the count's name; what completes `not answered: ...`."""

ALL_DAY: Mapping[str, str] = {
    "duplicate": "it came a second time",
    "echo": "Aldis had written it itself",
    "own": "the account itself did it, on another device",
    "other_kind": "it was a timer, a call, a story, a typing indicator ...",
    "empty": "it had neither words nor files",
    "reacted": "it was an emoji on a message, and asked for nothing",
    "other_bot": "it was a command of another bot in a group",
}
"""What happens all day in every conversation, and is only in the debug log."""


class Counts:
    """The figures of one run."""

    def __init__(self) -> None:
        self._counts: Counter[str] = Counter()
        self._elsewhere: dict[str, Callable[[], int]] = {}
        self._sums: defaultdict[str, float] = defaultdict(float)
        self._lines: defaultdict[str, RepeatedWarning] = defaultdict(lambda: RepeatedWarning(_log))

    def add(self, name: str, more: int = 1) -> int:
        """Adds to a count; returns the new count."""
        self._counts[name] += more
        return self._counts[name]

    def note_unanswered(self, reason: str) -> None:
        """Counts a message that is not answered, by its reason, and logs it.

        Strangers can cause such a line in the log, so each reason gets at most one a minute.
        """
        count = self.add(f"unanswered_{reason}")
        level = logging.INFO if reason in REASONS else logging.DEBUG
        words = REASONS.get(reason) or ALL_DAY.get(reason, "there is nothing to answer in it")
        self._lines[reason].tell(f"not answered: {words} (%d so far)", level, count)

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
