"""The doctor: looks at everything that Aldis stands on, and says what is wrong and what to do about it.

    machine, store, bridge and account, access lists, models, tools, a running Aldis --> findings --> lines

It opens the store as a start would, asks the bridge for its lists, and sends nothing to anybody; a model is asked only
where that is wanted, for it costs money. Phone numbers and names are shown: they are the operator's own, on their own
terminal. Keys never are.
Left to others: each single look (`bot.examinations`), making transports and providers (`bot.app` hands over how), the
verb (`bot.cli`).
"""

import os
from contextlib import AsyncExitStack, closing

from bot.clock import Clock
from bot.examinations.answers import of_audio, of_models
from bot.examinations.bridge import of_bridge
from bot.examinations.cells import of_cells
from bot.examinations.findings import Finding, ok
from bot.examinations.lists import of_lists, of_pins
from bot.examinations.machine import free_bytes_of, of_attachments, of_machine, of_proxies, of_room, of_store
from bot.examinations.means import Means
from bot.examinations.running import of_running
from bot.examinations.sources import of_sources
from bot.examinations.tools import of_tools
from bot.settings import Settings, unread_names


def _of_names() -> Finding:
    """Which variables are passed over; a misspelt one would not have let the settings be read."""
    unread = unread_names()
    if not unread:
        return ok("settings: every variable is understood")
    return ok(f"settings: not read by Aldis: {', '.join(unread)}", "if one was meant for it, `python -m bot settings`")


async def examined(settings: Settings, means: Means, clock: Clock, *, asks_models: bool = False) -> tuple[Finding, ...]:
    """Everything that was found, in the order in which it is looked at; `asks_models` costs a little money."""
    found = [_of_names(), *of_machine(settings, clock), *of_proxies(os.environ)]
    with closing(means.sandbox()) as sandbox:
        found.append(await of_cells(sandbox))
    async with AsyncExitStack() as stack:
        store, is_held, stored = await of_store(settings, stack)
        signal, bridged = await of_bridge(settings, means, clock)
        found += [
            *stored,
            of_room(free_bytes_of(settings)),
            *bridged,
            *of_attachments(settings),
            *of_lists(settings, signal),
            *await of_pins(settings, store, signal),
        ]
    found += await of_models(settings, means, asks_models=asks_models)
    found += [of_audio(settings), *of_tools(settings, means.surroundings), *await of_sources(settings)]
    return (*found, *await of_running(settings, is_expected=is_held))
