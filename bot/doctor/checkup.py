"""The doctor: looks at everything that Aldis stands on, and says what is wrong and what to do about it.

    machine, store, bridge and account, access lists, models, speech, pictures, search, feeds, tools, a running Aldis
    --side by side, each in its time--> findings --> lines, the health page, the admins

It opens the store as a start would, asks the bridge for its lists and servers for what they tell for nothing, and sends
nothing to anybody; a model is asked only where that is wanted, for it costs money. Phone numbers and names are shown:
they are the operator's own, on their own terminal. Keys never are.
"""

import asyncio
import os
from collections.abc import Awaitable
from contextlib import AsyncExitStack, closing

from bot.clock import Clock
from bot.doctor.access import check_access, check_pins
from bot.doctor.bridge import check_bridge
from bot.doctor.deps import Deps
from bot.doctor.feeds import check_feeds
from bot.doctor.findings import Finding, warning
from bot.doctor.machine import (
    check_attachments,
    check_cells,
    check_certificates,
    check_disk,
    check_machine,
    check_rights,
    check_store,
    check_store_folder,
    free_bytes_of,
)
from bot.doctor.models import ask_models, check_audio, check_budgets, check_images, check_models
from bot.doctor.pages import check_pages
from bot.doctor.running import RunningState, check_running, without_repeats
from bot.doctor.search import check_search
from bot.doctor.tools import check_approve, check_tool_sources, check_tools
from bot.media.sandbox import Sandbox
from bot.settings import Settings

CHECK_SECONDS = 60.0
"""For one check; they run side by side."""
_ASKING_SECONDS = 90.0


async def examine(
    settings: Settings, deps: Deps, clock: Clock, *, asks_models: bool = False, running: RunningState | None = None
) -> tuple[Finding, ...]:
    """Everything that was found, in the order of the list above; `asks_models` costs a little money.

    `running` is what the Aldis of this process says of itself; without it its health page is read. What a running Aldis
    has found as well is said once.
    """
    async with AsyncExitStack() as stack:
        await stack.enter_async_context(deps.tool_deps.http)
        await stack.enter_async_context(deps.tool_deps.fetcher)
        sandbox = stack.enter_context(closing(deps.sandbox()))
        parts = await asyncio.gather(
            _in_time("machine", _check_machine(settings, clock, sandbox)),
            _in_time("store", _check_kept(settings, deps, clock, running)),
            _in_time("models", check_models(settings, deps)),
            _in_time("models", ask_models(settings, deps) if asks_models else _nothing(), _ASKING_SECONDS),
            _in_time("audio", check_audio(settings, deps)),
            _in_time("images", check_images(settings, deps)),
            _in_time("search", check_search(settings, deps)),
            _in_time("feeds", check_feeds(settings, deps, sandbox)),
            _in_time("tools", check_tool_sources(settings)),
        )
    machine, kept, models, answers, *others, sources = parts
    found = (
        *machine,
        *kept,
        *models,
        *answers,
        *check_budgets(deps),
        *(finding for findings in others for finding in findings),
        *check_approve(deps),
        *check_tools(settings, deps.tool_deps),
        *sources,
    )
    return without_repeats(found)


async def recheck(settings: Settings, deps: Deps) -> tuple[Finding, ...]:
    """What is cheap, free and safe to look at again and again while Aldis runs; its connections are open already."""
    found = await asyncio.gather(
        _in_time("models", check_models(settings, deps)),
        _in_time("audio", check_audio(settings, deps)),
        _in_time("images", check_images(settings, deps)),
        _in_time("search", check_search(settings, deps)),
    )
    return tuple(finding for findings in found for finding in findings)


async def _check_machine(settings: Settings, clock: Clock, sandbox: Sandbox) -> list[Finding]:
    machine = check_machine(settings, clock)
    return [*machine, *check_certificates(os.environ), await check_cells(sandbox)]


async def _check_kept(settings: Settings, deps: Deps, clock: Clock, running: RunningState | None) -> list[Finding]:
    """The store, and beside it the bridge, for numbers are looked up in both."""
    async with AsyncExitStack() as stack:
        (store, is_held, stored), (signal, bridged) = await asyncio.gather(
            check_store(settings, stack), check_bridge(settings, deps, clock)
        )
        return [
            *stored,
            *await asyncio.to_thread(check_store_folder, settings),
            *check_rights(settings),
            check_disk(free_bytes_of(settings)),
            *check_pages(settings, is_contained=deps.is_contained),
            *bridged,
            *check_attachments(settings),
            *check_access(settings, signal),
            *await check_pins(settings, store, signal),
            *await check_running(settings, is_expected=is_held, state=running),
        ]


async def _nothing() -> list[Finding]:
    return []


async def _in_time(area: str, checking: Awaitable[list[Finding]], seconds: float = CHECK_SECONDS) -> list[Finding]:
    """What a check found; that it took too long is a finding, too."""
    try:
        async with asyncio.timeout(seconds):
            return await checking
    except TimeoutError:
        return [
            warning(area, "not finished within {seconds} seconds".format(seconds=f"{seconds:g}"), "try again later")
        ]
