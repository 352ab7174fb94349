"""The feeds that the settings name: each is read once, as a running Aldis would, and nothing of it is kept."""

import asyncio
from datetime import UTC, datetime

from bot.doctor.deps import Deps
from bot.doctor.findings import Finding, ok, problem, warning
from bot.media.feeds import FeedReader, FeedValidators, Gone, Trouble
from bot.media.sandbox import Sandbox
from bot.settings import Settings
from tools import NewsOptions

_AT_ONCE = 4
_VARIABLE = "TOOLS__NEWS__FEEDS"
_WORDS = {
    "denied": "it is not on the public web, and Aldis reads nothing else",
    "no_host": "there is no such host",
    "slow": "it does not answer in time",
    "too_large": "it is too large",
    "no_feed": "what is there is not a feed",
    "unreadable": "what is there is not a readable feed",
    "unreachable": "it cannot be reached",
}


async def check_feeds(settings: Settings, deps: Deps, sandbox: Sandbox) -> list[Finding]:
    """Whether each feed can be read."""
    options = settings.tools.options_by_name.get("news")
    if not (settings.tools.enabled and isinstance(options, NewsOptions) and options.enabled):
        return []
    reader, places = FeedReader(deps.tool_deps.fetcher, sandbox), asyncio.Semaphore(_AT_ONCE)

    async def check(url: str) -> Finding:
        async with places:
            reading = await reader.read(url, FeedValidators(), now=datetime.now(UTC))
        match reading:
            case Trouble(word=word):
                why = _WORDS.get(word) or f"its server answers {word}"
                what = f"{url} cannot be read: {why}"
                return problem("feeds", what, f"correct it in {_VARIABLE}")
            case Gone():
                how = f"take it out of {_VARIABLE}"
                return warning("feeds", f"{url} is gone for good", how)
            case _:
                return ok("feeds", f"{url} can be read")

    return list(await asyncio.gather(*map(check, options.feeds)))
