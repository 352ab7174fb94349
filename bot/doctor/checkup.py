"""The doctor: looks at everything that Aldis stands on, and says what is wrong and what to do about it.

    machine, store, bridge and account, access lists, models, speech, pictures, search, feeds, tools, a running Aldis
    --side by side, each in its time--> findings --> lines, the health page, the admins

It opens the store as a start would, asks the bridge for its lists and servers for what they tell for nothing, and sends
nothing to anyone; a model is asked only where that is wanted, for it costs money. Phone numbers and names are shown:
they are the operator's own, on their own terminal. Keys never are.
"""

import asyncio
import logging
from collections.abc import Awaitable, Iterable
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
from bot.signal.json import as_object, items_in, object_in, text_in
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
    "undeliverable": ("answers that could not be delivered", _LOG),
    "files_refused": ("files that Signal did not accept, so only the words went out", _LOG),
    "missed_untrusted": (
        "group members whom a message did not reach, because their safety number has changed",
        f"see who it is: {command_line('trust')}",
    ),
    "turns_given_up": ("answers that were given up", _LOG),
}
"""The counts of the health page that the operator should know of, by how they begin: in words, and what to do."""


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
    found += tools.check_tools(settings, deps.tool_deps)
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
        state = RunningState(
            problems=[words for words in items_in(page, "problems") if isinstance(words, str)],
            findings=[
                Finding(
                    "problem" if text_in(one, "level") == "problem" else "warning", "", what, text_in(one, "advice")
                )
                for one in map(as_object, items_in(page, "findings"))
                if (what := text_in(one, "what"))
            ],
            counts=object_in(page, "counts"),
        )
    found = [problem("running", words) for words in state.problems] or [ok("running", "Aldis is well")]
    found += [replace(one, area="running", words=one.what, notice=None) for one in wanting(state.findings)]
    counts = {name: count for name, count in state.counts.items() if isinstance(count, int) and count > 0}
    for begin, (words, advice) in _COUNTS.items():
        if count := sum(count for name, count in counts.items() if name.startswith(begin)):
            found.append(warning("running", f"{words}: {count} since its start", advice))
    for name, reason in REASONS.items():
        if count := counts.get(f"unanswered_{name}"):
            level = warning if reason.level >= logging.WARNING else ok
            found.append(level("running", f"{count} not answered since its start: {reason.words}", reason.advice))
    return found
