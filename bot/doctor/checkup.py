"""The doctor: looks at everything that Aldis stands on, and says what is wrong and what to do about it.

    machine, store, bridge and account, access lists, models, speech, pictures, search, feeds, tools, a running Aldis
    --side by side, each in its time--> findings --> lines, the health page, the admins

It opens the store as a start would, asks the bridge for its lists and servers for what they tell for nothing, and sends
nothing to anyone; a model is asked only where that is wanted, for it costs money. Phone numbers and names are shown:
they are the operator's own, on their own terminal. Keys never are.
"""

import asyncio
import logging
from collections.abc import Awaitable, Iterable, Iterator, Mapping
from contextlib import AsyncExitStack, closing
from dataclasses import replace

from bot.clock import Clock
from bot.doctor import bridge, machine, models, tools
from bot.doctor.findings import Deps, Finding, RunningState, hint, ok, problem, wanting, warning
from bot.doctor.servers import fetch_json
from bot.errors import Disconnected
from bot.invocation import command_line
from bot.logs import one_line
from bot.settings import Settings
from bot.signal.json import Json, as_object, items_in, object_in, text_in
from bot.unanswered import REASONS

CHECK_SECONDS = 60.0
"""For one check; they run side by side."""
_ASKING_SECONDS = 90.0
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


async def examine(
    settings: Settings,
    deps: Deps,
    clock: Clock,
    *,
    asks_models: bool = False,
    running: RunningState | None = None,
) -> tuple[Finding, ...]:
    """Returns everything that was found, in the order of the list above; `asks_models` costs a little money.

    `running` is what the Aldis of this process says of itself; without it its health page is read. What a running Aldis
    has found as well is listed once.
    """
    async with AsyncExitStack() as stack:
        await stack.enter_async_context(deps.tool_deps.http)
        await stack.enter_async_context(deps.tool_deps.fetcher)
        sandbox = stack.enter_context(closing(deps.sandbox()))
        asked = [_in_time("models", models.ask_models(settings, deps), _ASKING_SECONDS)] if asks_models else []
        parts = await asyncio.gather(
            _in_time("machine", machine.check_machine(settings, clock, sandbox)),
            _in_time("store", _check_kept(settings, deps, clock, running)),
            _in_time("models", models.check_models(settings, deps)),
            *asked,
            _in_time("audio", models.check_audio(settings, deps)),
            _in_time("images", models.check_images(settings, deps)),
            _in_time("search", tools.check_search(settings, deps)),
            _in_time("tools", tools.check_tool_sources(settings)),
        )
    found = [finding for part in parts for finding in part]
    found += [*models.check_budgets(deps), *tools.check_approve(deps), *tools.check_tools(settings, deps.tool_deps)]
    seen = {one_line(one.what) for one in found if one.area != "running"}
    return tuple(one for one in found if one.area != "running" or one_line(one.words) not in seen)


async def recheck(settings: Settings, deps: Deps) -> tuple[Finding, ...]:
    """Returns what is cheap, free and safe to look at again and again while Aldis runs; its connections are open."""
    found = await asyncio.gather(
        _in_time("models", models.check_models(settings, deps)),
        _in_time("audio", models.check_audio(settings, deps)),
        _in_time("images", models.check_images(settings, deps)),
        _in_time("search", tools.check_search(settings, deps)),
    )
    return tuple(finding for findings in found for finding in findings)


async def _check_kept(settings: Settings, deps: Deps, clock: Clock, state: RunningState | None) -> list[Finding]:
    """The store, the bridge, and a running Aldis."""
    (is_held, stored), (signal, bridged) = await asyncio.gather(
        machine.check_store(settings), bridge.check_bridge(settings, deps, clock)
    )
    return [
        *stored,
        *await asyncio.to_thread(machine.check_store_folder, settings),
        *machine.check_rights(settings),
        machine.check_disk(machine.free_bytes_of(settings)),
        *machine.check_pages(settings, is_contained=deps.is_contained),
        *bridged,
        *machine.check_attachments(settings),
        *bridge.check_access(settings, signal),
        *await check_running(settings, is_expected=is_held, state=state),
    ]


async def _in_time(area: str, checking: Awaitable[Iterable[Finding]], seconds: float = CHECK_SECONDS) -> list[Finding]:
    """What a check found; that it took too long is a finding, too."""
    try:
        async with asyncio.timeout(seconds):
            return list(await checking)
    except TimeoutError:
        return [warning(area, f"not finished within {seconds:g} seconds", "try again later")]


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
