"""What was found where something was looked at, and how an operator reads it.

Left to others: looking (the other checks), the order of it (`checkup`).
"""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

Level = Literal["ok", "warning", "problem"]


@dataclass(frozen=True, kw_only=True, slots=True)
class Finding:
    """One thing that was looked at."""

    level: Level
    what: str
    advice: str = ""
    """What the operator can do; empty where there is nothing to do."""


def format_findings(findings: Iterable[Finding]) -> str:
    """A line for each finding, and one below it for what to do."""
    lines: list[str] = []
    for finding in findings:
        lines.append(f"{finding.level:<8} {_plain(finding.what)}")
        lines += [f"{'':<8} -> {finding.advice}"] if finding.advice else []
    return "\n".join(lines)


def exit_status(findings: Iterable[Finding]) -> int:
    """1 when there is a problem, else 0; warnings are for reading."""
    return int(any(finding.level == "problem" for finding in findings))


def ok(what: str, advice: str = "") -> Finding:
    """All is well there; `advice` is what could be done besides."""
    return Finding(level="ok", what=what, advice=advice)


def warning(what: str, advice: str = "") -> Finding:
    """Something for the operator to read."""
    return Finding(level="warning", what=what, advice=advice)


def problem(what: str, advice: str = "") -> Finding:
    """Something without which Aldis does not work as it is meant to."""
    return Finding(level="problem", what=what, advice=advice)


def _plain(text: str) -> str:
    """On one line, and without what a terminal would obey: names are chosen by strangers."""
    return "".join(character if character.isprintable() else " " for character in text)
