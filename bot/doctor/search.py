"""The search services, whether each takes its key where that can be tried for nothing; and the feeds.

    Brave       a search without a query: the key is checked first, and only searches that succeed are counted
    Tavily      GET /usage                         SerpApi     GET /account.json, which is not counted
    SearXNG     a search without a query: 400 where JSON is switched on, 403 where not
    Perplexity, X                                  nothing is free

Source: api-dashboard.search.brave.com, docs.tavily.com "Usage", serpapi.com/account-api, searx/webapp.py (2026-11-22).
"""

import asyncio
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from http import HTTPStatus

from bot.chat.notices import Notice
from bot.doctor.deps import Deps
from bot.doctor.findings import Finding, ok, problem, warning
from bot.doctor.servers import REFUSED, TIMEOUT_SECONDS, advice_on_address, why_silent, with_other_name
from bot.media.feeds import FeedReader, FeedValidators, Gone, Trouble
from bot.media.sandbox import Sandbox
from bot.settings import Settings
from tools import NewsOptions, SearchOptions, ToolError, TwitterOptions, bearer

_GROUP = "TOOLS__WEB_SEARCH__"
_FEEDS_AT_ONCE = 4
_NO_QUERY = {HTTPStatus.BAD_REQUEST, HTTPStatus.UNPROCESSABLE_ENTITY}
"""What SearXNG and Brave answer to a search without a query."""
_FEED_TROUBLES = {
    "denied": "it is not on the public web, and Aldis reads nothing else",
    "no_host": "there is no such host",
    "slow": "it does not answer in time",
    "too_large": "it is too large",
    "no_feed": "what is there is not a feed",
    "unreadable": "what is there is not a readable feed",
    "unreachable": "it cannot be reached",
}


@dataclass(frozen=True, slots=True)
class _Trial:
    """A request that costs nothing and tells whether a service takes its key."""

    service: str
    key: str
    """The field of the key; empty where there is none."""
    address: str
    url: str
    params: Mapping[str, str] = field(default_factory=dict[str, str])
    headers: Mapping[str, str] = field(default_factory=dict[str, str])


async def check_search(settings: Settings, deps: Deps) -> list[Finding]:
    """Returns which services take their keys; of those that nothing is free with, that they were not tried."""
    if not settings.tools.enabled:
        return []
    found: list[Finding] = []
    options = settings.tools.options_by_name.get("web_search")
    if isinstance(options, SearchOptions):
        found += await asyncio.gather(*(_try(trial, deps) for trial in _trials(options)))
        for service, variable in options.idle_services().items() if options.providers else ():
            how = f"set {with_other_name(_GROUP + variable)}, or take it out"
            found.append(warning("search", f"{service} is named in {_GROUP}PROVIDERS, but skipped", how))
        if options.perplexity_api_key is not None:
            found.append(_untried("Perplexity", f"{_GROUP}PERPLEXITY_API_KEY"))
    twitter = settings.tools.options_by_name.get("twitter")
    if isinstance(twitter, TwitterOptions) and twitter.enabled and twitter.bearer_token is not None:
        found.append(_untried("X", "TOOLS__TWITTER__BEARER_TOKEN"))
    return found


def _untried(service: str, variable: str) -> Finding:
    what = f"{service} has a key ({with_other_name(variable)}), which was not tried: that would cost money"
    return ok("search", what)


def _trials(options: SearchOptions) -> Iterator[_Trial]:
    if options.api_key:
        headers = {"X-Subscription-Token": options.api_key.get_secret_value()}
        yield _Trial("Brave Search", "API_KEY", "BASE_URL", f"{options.base_url}/web/search", headers=headers)
    if options.tavily_api_key:
        headers = bearer(options.tavily_api_key)
        yield _Trial("Tavily", "TAVILY_API_KEY", "TAVILY_BASE_URL", f"{options.tavily_base_url}/usage", headers=headers)
    if options.serpapi_api_key:
        url = f"{options.serpapi_base_url}/account.json"
        params = {"api_key": options.serpapi_api_key.get_secret_value()}
        yield _Trial("SerpApi", "SERPAPI_API_KEY", "SERPAPI_BASE_URL", url, params=params)
    if options.searxng_base_url is not None:
        url = f"{options.searxng_base_url}/search"
        yield _Trial("SearXNG", "", "SEARXNG_BASE_URL", url, params={"format": "json"})


async def _try(trial: _Trial, deps: Deps) -> Finding:
    service, address = trial.service, _GROUP + trial.address
    try:
        answer = await deps.tool_deps.http.get_json(
            trial.url, service=service, params=trial.params, headers=trial.headers, timeout_seconds=TIMEOUT_SECONDS
        )
    except ToolError as error:
        advice = advice_on_address(trial.url, address, is_contained=deps.is_contained)
        return problem("search", f"{service} does not answer: {why_silent(error)}", advice)
    notice = Notice(kind="key", subject=service)
    is_refused = answer.status in REFUSED or "SUBSCRIPTION_" in str(answer.body)  # Brave refuses with 422
    if is_refused and trial.key:
        return problem("search", f"{service} refuses the key", f"correct {with_other_name(_GROUP + trial.key)}", notice)
    if is_refused:
        what = f"{service} does not answer in JSON: add `json` to `search.formats` in its settings"
        return warning("search", what, f"is {address} its address?")
    if answer.ok or answer.status in _NO_QUERY | {HTTPStatus.TOO_MANY_REQUESTS}:
        return ok("search", f"{service} answers", notice=notice)
    return warning("search", f"{service} answers {answer.status}", f"is {address} its address?")


async def check_feeds(settings: Settings, deps: Deps, sandbox: Sandbox) -> list[Finding]:
    """Returns whether each feed can be read, as a running Aldis would; nothing of it is kept."""
    options = settings.tools.options_by_name.get("news")
    if not (settings.tools.enabled and isinstance(options, NewsOptions) and options.enabled):
        return []
    reader, places = FeedReader(deps.tool_deps.fetcher, sandbox), asyncio.Semaphore(_FEEDS_AT_ONCE)

    async def check(url: str) -> Finding:
        async with places:
            reading = await reader.read(url, FeedValidators())
        how = "correct it in TOOLS__NEWS__FEEDS"
        if isinstance(reading, Gone):
            return warning("feeds", f"{url} is gone for good", how)
        if isinstance(reading, Trouble):
            why = _FEED_TROUBLES.get(reading.word) or f"its server answers {reading.word}"
            return problem("feeds", f"{url} cannot be read: {why}", how)
        return ok("feeds", f"{url} can be read")

    return list(await asyncio.gather(*map(check, options.feeds)))
