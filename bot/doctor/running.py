"""A running Aldis, by its health page."""

import logging
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from bot.doctor.findings import Finding, hint, ok, problem, wanting, warning
from bot.doctor.servers import fetch_json
from bot.errors import Disconnected
from bot.invocation import command_line
from bot.settings import Settings
from bot.signal.json import Json, as_object, items_in, object_in, text_in
from bot.unanswered import REASONS

_LOG = "look in Aldis's log"
_COUNTS = {
    "numbers_changed": (
        "messages of listed numbers with another account than before, which were refused",
        "list the uuid of the person you mean instead",
    ),
    "undeliverable_unregistered": ("answers to people who have left Signal", ""),
    "undeliverable_not_in_group": ("answers to groups that Aldis is not in, or may not write to", "add it again"),
    "undeliverable_no_keys": (
        "answers to people with a device that has been offline for too long",
        "they have to unlink it, or switch it on",
    ),
    "undeliverable_refused": ("answers that the bridge refused as malformed", _LOG),
    "undeliverable_too_large": ("answers that the bridge refused as too large", _LOG),
    "files_refused": ("files that Signal did not accept, so only the words went out", _LOG),
    "missed_untrusted": (
        "group members whom a message did not reach, because their safety number has changed",
        f"see who it is: {command_line('trust')}",
    ),
    "missed_unregistered": ("group members who have left Signal", ""),
    "turns_given_up": ("answers that were given up", _LOG),
}
"""The counts of the health page that the operator should know of, in words, and what to do."""


@dataclass(frozen=True, kw_only=True, slots=True)
class RunningState:
    """What a running Aldis knows of itself."""

    problems: Sequence[str]
    """What keeps it from working."""
    findings: Sequence[Finding]
    """What it has looked at."""
    counts: Mapping[str, object]
    """What it has counted since it started."""


async def check_running(settings: Settings, *, is_expected: bool, state: RunningState | None = None) -> list[Finding]:
    """Returns what a running Aldis says of itself: here by its `state`, else by its health page.

    `is_expected` tells whether another process holds the store.
    """
    web = settings.web
    if state is None:
        if web.port == 0:
            return [hint("running", "the health page is switched off, so nothing is known of a running Aldis")]
        try:
            page = await fetch_json(f"http://{web.address}/healthz")
        except Disconnected:
            if is_expected:
                return [warning("running", f"no health page answers at {web.address}", _LOG)]
            return [ok("running", "Aldis is not running, or not here")]
        state = _read(page)
    return [
        *([] if state.problems else [ok("running", "Aldis is well")]),
        *(problem("running", words) for words in state.problems),
        *(replace(one, area="running", words=one.what, notice=None) for one in wanting(state.findings)),
        *_counted(state.counts),
    ]


def _read(page: Json) -> RunningState:
    """The state as the health page shows it."""
    found = [
        (problem if text_in(one, "level") == "problem" else warning)("", text_in(one, "what"), text_in(one, "advice"))
        for one in map(as_object, items_in(page, "findings"))
    ]
    problems = [words for words in items_in(page, "problems") if isinstance(words, str)]
    return RunningState(problems=problems, findings=found, counts=object_in(page, "counts"))


def _counted(counts: Mapping[str, object]) -> Iterator[Finding]:
    """What has been counted since the start and is worth a look."""
    for name, (words, advice) in _COUNTS.items():
        if isinstance(count := counts.get(name), int) and count > 0:
            yield warning("running", f"{words}: {count} since its start", advice)
    for name, reason in REASONS.items():
        if isinstance(count := counts.get(f"unanswered_{name}"), int) and count > 0:
            level = warning if reason.level >= logging.WARNING else ok
            yield level("running", f"{count} not answered since its start: {reason.words}", reason.advice)
