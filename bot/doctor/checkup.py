"""The doctor: looks at everything that Aldis stands on, and says what is wrong and what to do about it.

    machine, store, a running Aldis, bridge and account, access lists, models, speech, pictures, search, tools
    --side by side, each in its time--> findings --> lines, the pages, the health page, the admins

It opens the store as a start would, asks the bridge for its lists and servers for what they tell for nothing, and sends
nothing to anyone. Phone numbers and names are shown on the operator's own terminal; keys never are.
"""

import asyncio
from collections.abc import Awaitable, Iterable
from contextlib import AsyncExitStack

from bot.clock import Clock
from bot.doctor import bridge, machine, models, tools
from bot.doctor.findings import Deps, Finding, ok, problem, warning
from bot.doctor.models import fetch_json
from bot.errors import Disconnected
from bot.metrics import REASONS
from bot.settings import Settings
from bot.signal.json import as_object, items_in, object_in, text_in
from tools import clean_line

CHECK_SECONDS = 60.0
"""For one check; they run side by side."""
_ASKING_SECONDS = 90.0


async def examine(settings: Settings, deps: Deps, clock: Clock, *, asks_models: bool = False) -> tuple[Finding, ...]:
    """Returns everything that was found, in the order of the list above; `asks_models` costs a little money.

    What a running Aldis has found as well is listed once.
    """
    async with AsyncExitStack() as stack:
        await stack.enter_async_context(deps.tool_deps.http)
        await stack.enter_async_context(deps.tool_deps.fetcher)
        asked = [_in_time("models", models.ask_models(settings, deps), _ASKING_SECONDS)] if asks_models else []
        parts = await asyncio.gather(
            _in_time("machine", machine.check_machine(settings, deps, clock)),
            _in_time("store", _check_store(settings)),
            _in_time("bridge", bridge.check_bridge(settings, deps, clock)),
            _in_time("recall", tools.check_recall(settings, deps)),
            *asked,
            recheck(settings, deps),
        )
    found = [finding for part in parts for finding in part]
    found += [finding async for finding in tools.check_tools(settings, deps)]
    # A running Aldis's own come before those of the servers, and know less of what to do.
    last = {clean_line(finding.what): finding for finding in found}
    return tuple(finding for finding in found if last[clean_line(finding.what)] is finding)


async def recheck(settings: Settings, deps: Deps) -> tuple[Finding, ...]:
    """Returns what is cheap, free and safe to look at again and again while Aldis runs; its connections are open."""
    found = await asyncio.gather(
        _in_time("models", models.check_models(settings, deps)),
        _in_time("audio", models.check_audio(settings, deps)),
        _in_time("images", models.check_images(settings, deps)),
        _in_time("search", tools.check_search(settings, deps)),
    )
    return tuple(finding for findings in found for finding in findings)


async def _in_time(area: str, checking: Awaitable[Iterable[Finding]], seconds: float = CHECK_SECONDS) -> list[Finding]:
    """What a check found; that it took too long is a finding, too."""
    try:
        async with asyncio.timeout(seconds):
            return list(await checking)
    except TimeoutError:
        return [warning(area, f"not finished within {seconds:g} seconds", "try again later")]


async def _check_store(settings: Settings) -> list[Finding]:
    """Whether the store opens; what a running Aldis says of itself on its health page."""
    found, web = await machine.check_store(settings), settings.web
    if web.port == 0:
        return found
    try:
        page = await fetch_json(f"http://{web.address}/healthz")
    except Disconnected:
        return [*found, ok("running", "no health page answers: Aldis is not running, or not here")]
    problems = [problem("running", str(words)) for words in items_in(page, "problems")]
    found += problems or [ok("running", "Aldis is well")]
    for one in map(as_object, items_in(page, "findings")):
        level = problem if text_in(one, "level") == "problem" else warning
        found.append(level("", text_in(one, "what"), text_in(one, "advice")))
    counts = object_in(page, "counts")
    for name, words in REASONS.items():
        if isinstance(count := counts.get(f"unanswered_{name}"), int) and count > 0:
            found.append(ok("running", f"{count} not answered since its start: {words}"))
    return found
