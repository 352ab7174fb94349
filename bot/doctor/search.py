"""The search services, whether each takes its key where that can be tried for nothing.

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
from bot.doctor.findings import Deps, Finding, ok, problem, warning
from bot.doctor.servers import REFUSED, TIMEOUT_SECONDS, advice_on_address, why_silent, with_other_name
from bot.settings import Settings
from tools import SearchOptions, ToolError, TwitterOptions, bearer

_GROUP = "TOOLS__WEB_SEARCH__"
_NO_QUERY = {HTTPStatus.BAD_REQUEST, HTTPStatus.UNPROCESSABLE_ENTITY}
"""What SearXNG and Brave answer to a search without a query."""


@dataclass(frozen=True, slots=True)
class _Trial:
    """A request that costs nothing and tells whether a service takes its key."""

    service: str
    key: str
    """The field of the key; empty where there is none."""
    address: str
    path: str
    base_url: str
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
    if key := options.api_key:
        token = {"X-Subscription-Token": key.get_secret_value()}
        yield _Trial("Brave Search", "API_KEY", "BASE_URL", "/web/search", options.base_url, headers=token)
    if key := options.tavily_api_key:
        base_url = options.tavily_base_url
        yield _Trial("Tavily", "TAVILY_API_KEY", "TAVILY_BASE_URL", "/usage", base_url, headers=bearer(key))
    if key := options.serpapi_api_key:
        base_url, given = options.serpapi_base_url, {"api_key": key.get_secret_value()}
        yield _Trial("SerpApi", "SERPAPI_API_KEY", "SERPAPI_BASE_URL", "/account.json", base_url, params=given)
    if (base_url := options.searxng_base_url) is not None:
        yield _Trial("SearXNG", "", "SEARXNG_BASE_URL", "/search", base_url, params={"format": "json"})


async def _try(trial: _Trial, deps: Deps) -> Finding:
    service, address, url = trial.service, _GROUP + trial.address, trial.base_url + trial.path
    try:
        answer = await deps.tool_deps.http.get_json(
            url, service=service, params=trial.params, headers=trial.headers, timeout_seconds=TIMEOUT_SECONDS
        )
    except ToolError as error:
        advice = advice_on_address(url, address, is_contained=deps.is_contained)
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
