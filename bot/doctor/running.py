"""A running Aldis, by its health page."""

import logging
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from bot.doctor import phrases
from bot.doctor.findings import Finding, hint, ok, problem, wanting, warning
from bot.doctor.http import fetch_json
from bot.doctor.phrases import AREA_RUNNING
from bot.errors import Disconnected
from bot.i18n.language import use_language
from bot.i18n.statements import Words, fill
from bot.invocation import command_line
from bot.logs import one_line
from bot.settings import Settings
from bot.transports.envelope.json import Json, as_object, items_in, object_in, text_in
from bot.unanswered import REASONS

_TELLING_COUNTS = (
    ("numbers_changed", phrases.FOUND_COUNT_NUMBERS_CHANGED, phrases.FOUND_COUNT_NUMBERS_CHANGED_DO),
    ("undeliverable_unregistered", phrases.FOUND_COUNT_UNREGISTERED, ""),
    ("undeliverable_not_in_group", phrases.FOUND_COUNT_NOT_IN_GROUP, phrases.FOUND_COUNT_NOT_IN_GROUP_DO),
    ("undeliverable_no_keys", phrases.FOUND_COUNT_NO_KEYS, phrases.FOUND_COUNT_NO_KEYS_DO),
    ("undeliverable_refused", phrases.FOUND_COUNT_REFUSED, phrases.FOUND_LOOK_LOG),
    ("undeliverable_too_large", phrases.FOUND_COUNT_TOO_LARGE, phrases.FOUND_LOOK_LOG),
    ("files_refused", phrases.FOUND_COUNT_FILES_REFUSED, phrases.FOUND_COUNT_FILES_REFUSED_DO),
    (
        "missed_untrusted",
        phrases.FOUND_COUNT_UNTRUSTED,
        fill(phrases.FOUND_COUNT_UNTRUSTED_DO, command=command_line("trust")),
    ),
    ("missed_unregistered", phrases.FOUND_COUNT_MISSED_UNREGISTERED, ""),
    ("turns_given_up", phrases.FOUND_COUNT_GIVEN_UP, phrases.FOUND_LOOK_LOG),
)
"""The counts of the health page that the operator should know of, in words, and what to do."""


@dataclass(frozen=True, kw_only=True, slots=True)
class RunningState:
    """What a running Aldis knows of itself."""

    problems: Sequence[Words]
    """What keeps it from working."""
    findings: Sequence[Finding]
    """What it has looked at."""
    counts: Mapping[str, object]
    """What it has counted since it started."""


async def check_running(settings: Settings, *, is_expected: bool, state: RunningState | None = None) -> list[Finding]:
    """What a running Aldis says of itself: here by its `state`, else by its health page, which speaks English.

    `is_expected` tells whether somebody holds the store.
    """
    web = settings.web
    if state is None:
        if web.port == 0:
            return [hint(AREA_RUNNING, phrases.FOUND_RUNNING_SWITCHED_OFF)]
        try:
            page, _ = await fetch_json(f"http://{web.address}/healthz")
        except Disconnected:
            if is_expected:
                return [
                    warning(
                        AREA_RUNNING, fill(phrases.FOUND_RUNNING_SILENT, address=web.address), phrases.FOUND_LOOK_LOG
                    )
                ]
            return [ok(AREA_RUNNING, phrases.FOUND_RUNNING_NOT)]
        state = _read(page)
    well = [] if state.problems else [ok(AREA_RUNNING, phrases.FOUND_RUNNING_WELL)]
    return [
        *well,
        *(problem(AREA_RUNNING, words) for words in state.problems),
        *map(_as_running, wanting(state.findings)),
        *_counted(state.counts),
    ]


def without_repeats(findings: Iterable[Finding]) -> tuple[Finding, ...]:
    """The findings without those that a running Aldis has made as well."""
    found = tuple(findings)
    with use_language("en"):  # as its page does
        known = {one_line(_as_running(finding).what) for finding in found}
        return tuple(finding for finding in found if one_line(finding.what) not in known)


def _read(page: Json) -> RunningState:
    """The state as the health page shows it."""
    found = [
        Finding(
            level="problem" if text_in(one, "level") == "problem" else "warning",
            area="",
            words=what,
            remedy=text_in(one, "advice"),
        )
        for one in map(as_object, items_in(page, "findings"))
        if (what := text_in(one, "what"))
    ]
    problems = [words for words in items_in(page, "problems") if isinstance(words, str)]
    return RunningState(problems=problems, findings=found, counts=object_in(page, "counts"))


def _as_running(finding: Finding) -> Finding:
    """How a finding is told that the running Aldis has made."""
    return replace(finding, area=AREA_RUNNING, words=finding.line, topic="", notice=None)


def _counted(counts: Mapping[str, object]) -> Iterator[Finding]:
    """What has been counted since the start and is worth a look."""
    for name, words, advice in _TELLING_COUNTS:
        count = counts.get(name)
        if isinstance(count, int) and count > 0:
            yield warning(AREA_RUNNING, fill(phrases.FOUND_RUNNING_COUNT, words=words, count=count), advice)
    for name, reason in REASONS.items():
        count = counts.get(f"unanswered_{name}")
        if isinstance(count, int) and count > 0:
            tell = warning if reason.level >= logging.WARNING else ok
            words = fill(phrases.FOUND_RUNNING_UNANSWERED, count=count, reason=reason.words)
            yield tell(AREA_RUNNING, words, reason.advice)
