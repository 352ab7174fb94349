"""What a check is given, and what it found: a level, a sentence, and what the operator can do about it."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import partial
from typing import Literal, get_args

from bot.chat.notices import Notice
from bot.events import Account
from bot.media.sandbox import Sandbox
from bot.models.base import Provider
from bot.settings import ProviderName
from bot.signal.protocol import Bridge, Linking, SignalTransport
from tools import ToolDeps, clean_line

Level = Literal["ok", "hint", "warning", "problem"]


@dataclass(frozen=True, kw_only=True, slots=True)
class Deps:
    """How the parts are made that only `bot.app` names."""

    linking: Callable[[Bridge], Linking]
    transport: Callable[[Bridge, Account], SignalTransport]
    provider: Callable[[ProviderName], Provider]
    """With the model that answers unless another is chosen."""
    tool_deps: ToolDeps
    """Of tools that are only looked at."""
    is_contained: bool = False
    """Whether Aldis runs in a container, where loopback is Aldis's alone."""
    sandbox: Callable[[], Sandbox]


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that was looked at."""

    level: Level
    area: str
    """What was looked at: a word such as `clock` or `models`, the name of a setting, or empty."""
    words: str
    advice: str = ""
    """What the operator can do; may be empty."""
    notice: Notice | None = None
    """What the admins read in Signal, once, until a finding with the same notice is ok; None: nothing."""

    @property
    def what(self) -> str:
        """Area and words: `clock: it is wrong by months or years`."""
        return f"{self.area}: {self.words}" if self.area else self.words


ok, hint, warning, problem = (partial(Finding, level) for level in get_args(Level))
"""All is well there; something is not there and could be; the operator should read it; Aldis does not work as meant."""


def format_findings(findings: Iterable[Finding], *, is_verbose: bool = True) -> str:
    """Returns a line for each finding, and one below it for what to do; else no hints, no advice where all is well."""
    lines: list[str] = []
    for finding in findings:
        if finding.level == "hint" and not is_verbose:
            continue
        lines.append(f"{finding.level:<8} {clean_line(finding.what)}")
        if finding.advice and (is_verbose or finding.level != "ok"):
            lines.append(f"{'':<8} -> {clean_line(finding.advice)}")
    return "\n".join(lines)


def wanting(findings: Iterable[Finding]) -> tuple[Finding, ...]:
    """Returns what the operator should mend."""
    return tuple(finding for finding in findings if finding.level in {"warning", "problem"})
