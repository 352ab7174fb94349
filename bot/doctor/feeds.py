"""The feeds that the settings name: each is read once, as a running Aldis would, and nothing of it is kept."""

import asyncio
from datetime import UTC, datetime

from bot.doctor import phrases
from bot.doctor.deps import Deps
from bot.doctor.findings import Finding, ok, problem, warning
from bot.doctor.phrases import AREA_FEEDS
from bot.i18n.statements import fill
from bot.media.feeds import FeedReader, FeedValidators, Gone, Trouble
from bot.media.sandbox import Sandbox
from bot.settings import Settings
from tools import NewsOptions

_AT_ONCE = 4
_VARIABLE = "TOOLS__NEWS__FEEDS"
_WORDS = {
    "denied": phrases.FOUND_FEED_DENIED,
    "no_host": phrases.FOUND_FEED_NO_HOST,
    "slow": phrases.FOUND_FEED_SLOW,
    "too_large": phrases.FOUND_FEED_TOO_LARGE,
    "no_feed": phrases.FOUND_FEED_OTHER,
    "unreadable": phrases.FOUND_FEED_BROKEN,
    "unreachable": phrases.FOUND_FEED_UNREACHABLE,
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
                why = _WORDS.get(word) or fill(phrases.FOUND_FEED_STATUS, status=word)
                what = fill(phrases.FOUND_FEED_UNREADABLE, url=url, why=why)
                return problem(AREA_FEEDS, what, fill(phrases.FOUND_FEED_CORRECT, name=_VARIABLE))
            case Gone():
                how = fill(phrases.FOUND_FEED_TAKE_OUT, name=_VARIABLE)
                return warning(AREA_FEEDS, fill(phrases.FOUND_FEED_ENDED, url=url), how)
            case _:
                return ok(AREA_FEEDS, fill(phrases.FOUND_FEED_WELL, url=url))

    return list(await asyncio.gather(*map(check, options.feeds)))
