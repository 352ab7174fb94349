"""The doctor: looks at everything that Aldis stands on, and says what is wrong and what to do about it.

    machine, store, bridge and account, access lists, models, speech, pictures, search, feeds, tools, a running Aldis
    --side by side, each in its time--> findings --> lines, the health page, the admins

It opens the store as a start would, asks the bridge for its lists and servers for what they tell for nothing, and sends
nothing to anyone; a model is asked only where that is wanted, for it costs money. Phone numbers and names are shown:
they are the operator's own, on their own terminal. Keys never are.
"""

import asyncio
from collections.abc import Awaitable, Iterable
from contextlib import AsyncExitStack, closing

from bot.clock import Clock
from bot.doctor import bridge, machine, models, pages, running, search, tools
from bot.doctor.findings import Deps, Finding, warning
from bot.logs import one_line
from bot.settings import Settings

CHECK_SECONDS = 60.0
"""For one check; they run side by side."""
_ASKING_SECONDS = 90.0


async def examine(
    settings: Settings,
    deps: Deps,
    clock: Clock,
    *,
    asks_models: bool = False,
    running: running.RunningState | None = None,
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
            _in_time("search", search.check_search(settings, deps)),
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
        _in_time("search", search.check_search(settings, deps)),
    )
    return tuple(finding for findings in found for finding in findings)


async def _check_kept(
    settings: Settings, deps: Deps, clock: Clock, state: running.RunningState | None
) -> list[Finding]:
    """The store, the bridge, and a running Aldis."""
    (is_held, stored), (signal, bridged) = await asyncio.gather(
        machine.check_store(settings), bridge.check_bridge(settings, deps, clock)
    )
    return [
        *stored,
        *await asyncio.to_thread(machine.check_store_folder, settings),
        *machine.check_rights(settings),
        machine.check_disk(machine.free_bytes_of(settings)),
        *pages.check_pages(settings, is_contained=deps.is_contained),
        *bridged,
        *machine.check_attachments(settings),
        *bridge.check_access(settings, signal),
        *await running.check_running(settings, is_expected=is_held, state=state),
    ]


async def _in_time(area: str, checking: Awaitable[Iterable[Finding]], seconds: float = CHECK_SECONDS) -> list[Finding]:
    """What a check found; that it took too long is a finding, too."""
    try:
        async with asyncio.timeout(seconds):
            return list(await checking)
    except TimeoutError:
        return [warning(area, f"not finished within {seconds:g} seconds", "try again later")]
