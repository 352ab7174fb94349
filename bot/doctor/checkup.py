"""The doctor: looks at everything that Aldis stands on, and says what is wrong and what to do about it.

    machine, store, bridge and account, access lists, models, tools, a running Aldis --> findings --> lines

It opens the store as a start would, asks the bridge for its lists, and sends nothing to anybody; a model is asked only
where that is wanted, for it costs money. Phone numbers and names are shown: they are the operator's own, on their own
terminal. Keys never are.
Left to others: each single check (the modules beside this one), making transports and providers (`bot.app` hands over
how), the verb (`bot.cli`).
"""

import os
from contextlib import AsyncExitStack, closing

from bot.clock import Clock
from bot.doctor.access import check_access, check_pins
from bot.doctor.bridge import check_bridge
from bot.doctor.cells import check_cells
from bot.doctor.deps import Deps
from bot.doctor.findings import Finding, ok
from bot.doctor.machine import check_attachments, check_disk, check_machine, check_proxies, check_store, free_bytes_of
from bot.doctor.models import check_audio, check_models
from bot.doctor.running import check_running
from bot.doctor.tool_sources import check_tool_sources
from bot.doctor.tools import check_tools
from bot.settings import Settings, unread_names


def _check_names() -> Finding:
    """Which variables are passed over; a misspelt one would not have let the settings be read."""
    unread = unread_names()
    if not unread:
        return ok("settings: every variable is understood")
    return ok(f"settings: not read by Aldis: {', '.join(unread)}", "if one was meant for it, `python -m bot settings`")


async def examine(settings: Settings, deps: Deps, clock: Clock, *, asks_models: bool = False) -> tuple[Finding, ...]:
    """Everything that was found, in the order in which it is looked at; `asks_models` costs a little money."""
    found = [_check_names(), *check_machine(settings, clock), *check_proxies(os.environ)]
    with closing(deps.sandbox()) as sandbox:
        found.append(await check_cells(sandbox))
    async with AsyncExitStack() as stack:
        store, is_held, stored = await check_store(settings, stack)
        signal, bridged = await check_bridge(settings, deps, clock)
        found += [
            *stored,
            check_disk(free_bytes_of(settings)),
            *bridged,
            *check_attachments(settings),
            *check_access(settings, signal),
            *await check_pins(settings, store, signal),
        ]
    found += await check_models(settings, deps, asks_models=asks_models)
    found += [check_audio(settings), *check_tools(settings, deps.surroundings), *await check_tool_sources(settings)]
    return (*found, *await check_running(settings, is_expected=is_held))
