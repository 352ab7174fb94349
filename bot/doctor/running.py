"""A running Aldis, by its health page."""

import logging
from collections.abc import Iterator

from bot.doctor.findings import Finding, hint, ok, problem, warning
from bot.doctor.http import fetch_json
from bot.errors import Disconnected
from bot.invocation import command_line
from bot.logs import one_line
from bot.settings import Settings
from bot.transports.envelope.json import Json, as_object, items_in, object_in, text_in
from bot.unanswered import REASONS

_TELLING_COUNTS = (
    (
        "numbers_changed",
        "listed numbers with another account than before",
        "stop Aldis and run the doctor: it says which",
    ),
    ("undeliverable_unregistered", "answers to people who have left Signal", ""),
    ("undeliverable_not_in_group", "answers to groups that Aldis is not in, or may not write to", "add it again"),
    (
        "undeliverable_no_keys",
        "answers to people one of whose devices was not online for too long",
        "they unlink it, or switch it on",
    ),
    ("undeliverable_refused", "answers that the bridge refused for their form", "look into the log of Aldis"),
    ("undeliverable_too_large", "answers that the bridge refused for their size", "look into the log of Aldis"),
    (
        "files_refused",
        "files that Signal did not take, so that only the words went out",
        "look into the log of Aldis, and for a limit on the size of requests in a proxy before the bridge",
    ),
    (
        "missed_untrusted",
        "members of groups whom a message did not reach, for their safety number has changed",
        f"see who it is: {command_line('trust')}",
    ),
    ("missed_unregistered", "members of groups who have left Signal", ""),
    ("turns_buried", "answers that were given up", "look into the log of Aldis"),
)
"""The counts of the health page that the operator should know of, in words, and what to do."""


async def check_running(settings: Settings, *, is_expected: bool) -> list[Finding]:
    """What the health page says; `is_expected` tells whether somebody holds the store."""
    web = settings.web
    if web.port == 0:
        return [hint("running: the health page is switched off, so nothing is known of a running Aldis")]
    try:
        state, _ = await fetch_json(f"http://{web.address}/healthz")
    except Disconnected:
        if is_expected:
            return [warning(f"running: no health page answers at {web.address}", "look into the log of Aldis")]
        return [ok("running: Aldis is not running, or not here")]
    told = [words for words in items_in(state, "problems") if isinstance(words, str)]
    well = [] if told else [ok("running: Aldis is well")]
    return [
        *well,
        *(problem(f"running: {words}") for words in told),
        *_found(state),
        *_counted(object_in(state, "counts")),
    ]


def _found(state: Json) -> Iterator[Finding]:
    """What it has found itself, such as a key that a model refused."""
    for found in map(as_object, items_in(state, "findings")):
        if what := text_in(found, "what"):
            tell = problem if text_in(found, "level") == "problem" else warning
            yield tell(as_running(what), text_in(found, "advice"))


def as_running(what: str) -> str:
    """How a finding is told that the running Aldis has made."""
    return f"running: {one_line(what)}"


def _counted(counts: Json) -> Iterator[Finding]:
    """What has been counted since the start and is worth a look."""
    for name, words, advice in _TELLING_COUNTS:
        count = counts.get(name)
        if isinstance(count, int) and count > 0:
            yield warning(f"running: {words}: {count} since its start", advice)
    for name, reason in REASONS.items():
        count = counts.get(f"unanswered_{name}")
        if isinstance(count, int) and count > 0:
            tell = warning if reason.level >= logging.WARNING else ok
            yield tell(f"running: {count} not answered since its start: {reason.words}", reason.advice)
