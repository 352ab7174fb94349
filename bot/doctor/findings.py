"""What a check found: a level, a sentence, and what the operator can do about it."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Literal

from bot.chat.notices import Notice
from bot.logs import one_line

Level = Literal["ok", "hint", "warning", "problem"]


@dataclass(frozen=True, kw_only=True, slots=True)
class Finding:
    """One thing that was looked at."""

    level: Level
    area: str
    """Where it was found: a word such as `clock`, the name of a setting, or empty."""
    words: str
    """What was found there; empty: the area says it all."""
    advice: str = ""
    """What the operator can do; empty where there is nothing to do."""
    topic: str = ""
    """What was looked at to the end: what was found of it before counts no more; empty: nothing of that kind."""
    notice: Notice | None = None
    """What the admins hear of it in Signal; None: it is for the operator's eyes alone."""

    @property
    def what(self) -> str:
        """Area and words: `clock: it is wrong by months or years`."""
        return f"{self.area}: {self.words}" if self.area and self.words else self.area or self.words


def join_words(words: Iterable[str], *, last: str = "and") -> str:
    """Returns several words as one reads them out: `A, B and C`; empty if there are none."""
    *others, final = [*words] or [""]
    return f"{', '.join(others)} {last} {final}" if others else final


def number_of(count: int, noun: str) -> str:
    """Returns `1 tool` or `2 tools`."""
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"


def format_findings(findings: Iterable[Finding], *, is_verbose: bool = True) -> str:
    """A line for each finding, and one below it for what to do.

    Without `is_verbose` nothing is advertised: no hints, and no advice where all is well.
    """
    lines: list[str] = []
    for finding in findings:
        if finding.level == "hint" and not is_verbose:
            continue
        lines.append(f"{finding.level:<8} {one_line(finding.what)}")
        if finding.advice and (is_verbose or finding.level != "ok"):
            lines.append(f"{'':<8} -> {one_line(finding.advice)}")
    return "\n".join(lines)


def as_json(findings: Iterable[Finding]) -> list[dict[str, Any]]:
    """What is wrong, as the health page shows it: `level`, `what` and `advice` of each."""
    return [
        {"level": one.level, "what": one_line(one.what), "advice": one_line(one.advice)} for one in wanting(findings)
    ]


def wanting(findings: Iterable[Finding]) -> tuple[Finding, ...]:
    """What the operator should mend."""
    return tuple(finding for finding in findings if finding.level in {"warning", "problem"})


def exit_status(findings: Iterable[Finding]) -> int:
    """1 when there is a problem, else 0; warnings are for reading."""
    return int(any(finding.level == "problem" for finding in findings))


def ok(area: str, words: str, advice: str = "", *, topic: str = "") -> Finding:
    """All is well there; `advice` is what could be done besides."""
    return Finding(level="ok", area=area, words=words, advice=advice, topic=topic)


def hint(area: str, words: str, advice: str = "") -> Finding:
    """What is not there and could be."""
    return Finding(level="hint", area=area, words=words, advice=advice)


def warning(area: str, words: str, advice: str = "", *, topic: str = "", notice: Notice | None = None) -> Finding:
    """Something for the operator to read."""
    return Finding(level="warning", area=area, words=words, advice=advice, topic=topic, notice=notice)


def problem(area: str, words: str, advice: str = "", *, topic: str = "", notice: Notice | None = None) -> Finding:
    """Something without which Aldis does not work as it is meant to."""
    return Finding(level="problem", area=area, words=words, advice=advice, topic=topic, notice=notice)
