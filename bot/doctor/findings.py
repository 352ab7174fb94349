"""What was found where something was looked at: a value, said in the language of whoever reads it."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Literal

from bot.doctor.phrases import FOUND_FINDING
from bot.i18n.catalogues import Sentence
from bot.i18n.language import use_language
from bot.i18n.statements import Words, fill, text_of
from bot.logs import one_line
from bot.turn.notices import Notice

Level = Literal["ok", "hint", "warning", "problem"]

Area = Sentence | str
"""Where something was found: one of `bot.doctor.phrases`, the name of a setting, or empty."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Finding:
    """One thing that was looked at."""

    level: Level
    area: Area
    words: Words
    """What was found there; empty: the area says it all."""
    remedy: Words = ""
    """What the operator can do; empty where there is nothing to do."""
    topic: str = ""
    """What was looked at to the end: what was found of it before counts no more; empty: nothing of that kind."""
    notice: Notice | None = None
    """What the admins hear of it in Signal; None: it is for the operator's eyes alone."""

    @property
    def line(self) -> Words:
        """Area and words."""
        return (
            fill(FOUND_FINDING, area=self.area, words=self.words)
            if self.area and self.words
            else self.area or self.words
        )

    @property
    def what(self) -> str:
        """Area and words, in the language that is spoken now: `clock: it is wrong by months or years`."""
        return text_of(self.line)

    @property
    def advice(self) -> str:
        """The remedy, in the language that is spoken now."""
        return text_of(self.remedy)


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
    """What is wrong, as the health page shows it: `level`, `what` and `advice` of each; programs read it in English."""
    with use_language("en"):
        return [
            {"level": one.level, "what": one_line(one.what), "advice": one_line(one.advice)}
            for one in wanting(findings)
        ]


def wanting(findings: Iterable[Finding]) -> tuple[Finding, ...]:
    """What the operator should mend."""
    return tuple(finding for finding in findings if finding.level in {"warning", "problem"})


def exit_status(findings: Iterable[Finding]) -> int:
    """1 when there is a problem, else 0; warnings are for reading."""
    return int(any(finding.level == "problem" for finding in findings))


def ok(area: Area, words: Words, remedy: Words = "", *, topic: str = "") -> Finding:
    """All is well there; `remedy` is what could be done besides."""
    return Finding(level="ok", area=area, words=words, remedy=remedy, topic=topic)


def hint(area: Area, words: Words, remedy: Words = "") -> Finding:
    """What is not there and could be."""
    return Finding(level="hint", area=area, words=words, remedy=remedy)


def warning(area: Area, words: Words, remedy: Words = "", *, topic: str = "", notice: Notice | None = None) -> Finding:
    """Something for the operator to read."""
    return Finding(level="warning", area=area, words=words, remedy=remedy, topic=topic, notice=notice)


def problem(area: Area, words: Words, remedy: Words = "", *, topic: str = "", notice: Notice | None = None) -> Finding:
    """Something without which Aldis does not work as it is meant to."""
    return Finding(level="problem", area=area, words=words, remedy=remedy, topic=topic, notice=notice)
