"""The search services: whether each takes its key, where that can be tried for nothing.

    Brave       a search without a query: the key is checked first, and only searches that succeed are counted
    Tavily      GET /usage                         SerpApi     GET /account.json, which is not counted
    SearXNG     a search without a query: 400 where JSON is switched on, 403 where not
    Perplexity, X                                  nothing is free

Source: api-dashboard.search.brave.com, docs.tavily.com "Usage", serpapi.com/account-api, searx/webapp.py (2026-11-22).
"""

import asyncio
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from http import HTTPStatus
from typing import Any

from pydantic import SecretStr

from bot.chat.notices import Notice
from bot.doctor.deps import Deps
from bot.doctor.findings import Finding, ok, problem, warning
from bot.doctor.servers import TIMEOUT_SECONDS, advice_on_address, why_silent, with_other_name
from bot.settings import Settings
from bot.signal.json import as_object, items_in, text_in
from tools import JsonAnswer, SearchOptions, ToolError, TwitterOptions, bearer

_GROUP = "TOOLS__WEB_SEARCH__"
_REFUSED = frozenset({HTTPStatus.UNAUTHORIZED, HTTPStatus.FORBIDDEN})

Verdict = Callable[[JsonAnswer], str | None]
"""What is wrong, by an answer; None: nothing."""


@dataclass(frozen=True, kw_only=True, slots=True)
class _Trial:
    """A request that costs nothing and tells whether a service takes its key."""

    service: str
    variable: str
    """Of the key, or of the address where there is no key."""
    url: str
    address_variable: str
    params: Mapping[str, str] = field(default_factory=dict[str, str])
    headers: Mapping[str, str] = field(default_factory=dict[str, str])
    verdict: Verdict


async def check_search(settings: Settings, deps: Deps) -> list[Finding]:
    """Which services take their keys; of those that nothing is free with, that they were not tried."""
    if not settings.tools.enabled:
        return []
    found: list[Finding] = []
    trials: list[_Trial] = []
    options = settings.tools.options_by_name.get("web_search")
    if isinstance(options, SearchOptions):
        trials += _trials(options)
        found += _passed_over(options) if options.providers else ()
        if options.perplexity_api_key is not None:
            found.append(_untried("Perplexity", f"{_GROUP}PERPLEXITY_API_KEY"))
    twitter = settings.tools.options_by_name.get("twitter")
    if isinstance(twitter, TwitterOptions) and twitter.enabled and twitter.bearer_token is not None:
        found.append(_untried("X", "TOOLS__TWITTER__BEARER_TOKEN"))
    return [*await asyncio.gather(*(_try(trial, deps) for trial in trials)), *found]


def _trials(options: SearchOptions) -> Iterator[_Trial]:
    if key := _shown(options.api_key):
        yield _Trial(
            service="Brave Search",
            variable=f"{_GROUP}API_KEY",
            url=f"{options.base_url}/web/search",
            address_variable=f"{_GROUP}BASE_URL",
            headers={"X-Subscription-Token": key},
            verdict=_of_brave,
        )
    if options.tavily_api_key:
        yield _Trial(
            service="Tavily",
            variable=f"{_GROUP}TAVILY_API_KEY",
            url=f"{options.tavily_base_url}/usage",
            address_variable=f"{_GROUP}TAVILY_BASE_URL",
            headers=bearer(options.tavily_api_key),
            verdict=_of_status,
        )
    if key := _shown(options.serpapi_api_key):
        yield _Trial(
            service="SerpApi",
            variable=f"{_GROUP}SERPAPI_API_KEY",
            url=f"{options.serpapi_base_url}/account.json",
            address_variable=f"{_GROUP}SERPAPI_BASE_URL",
            params={"api_key": key},
            verdict=_of_status,
        )
    if options.searxng_base_url is not None:
        yield _Trial(
            service="SearXNG",
            variable=f"{_GROUP}SEARXNG_BASE_URL",
            url=f"{options.searxng_base_url}/search",
            address_variable=f"{_GROUP}SEARXNG_BASE_URL",
            params={"format": "json"},
            verdict=_of_searxng,
        )


async def _try(trial: _Trial, deps: Deps) -> Finding:
    topic = f"key {trial.service}"
    try:
        answer = await deps.tool_deps.http.get_json(
            trial.url,
            service=trial.service,
            params=trial.params,
            headers=trial.headers,
            timeout_seconds=TIMEOUT_SECONDS,
        )
    except ToolError as error:
        advice = advice_on_address(trial.url, trial.address_variable, is_contained=deps.is_contained)
        what = f"{trial.service} does not answer: {why_silent(error)}"
        return problem("search", what, advice)
    wrong = trial.verdict(answer)
    if wrong is None:
        return ok("search", f"{trial.service} answers", topic=topic)
    what = (wrong).format(server=trial.service, status=answer.status)
    if wrong == "{server} refuses the key":
        notice = Notice(kind="key", subject=trial.service)
        advice = f"correct {with_other_name(trial.variable)}"
        return problem("search", what, advice, topic=topic, notice=notice)
    return warning("search", what, f"is {trial.address_variable} its address?")


def _passed_over(options: SearchOptions) -> Iterator[Finding]:
    """The services that the operator names, and that lack what they need."""
    for service, variable in options.idle_services().items():
        what = "{service} is named in {name}, but skipped".format(service=service, name=f"{_GROUP}PROVIDERS")
        yield warning("search", what, f"set {with_other_name(_GROUP + variable)}, or take it out")


def _untried(service: str, variable: str) -> Finding:
    return ok(
        "search", (f"{service} has a key ({with_other_name(variable)}), which was not tried: that would cost money")
    )


def _of_status(answer: JsonAnswer) -> str | None:
    if answer.status in _REFUSED:
        return "{server} refuses the key"
    return None if answer.ok or answer.status == HTTPStatus.TOO_MANY_REQUESTS else "{server} answers {status}"


def _of_brave(answer: JsonAnswer) -> str | None:
    code = _code(answer.body)
    if code in {"SUBSCRIPTION_TOKEN_INVALID", "SUBSCRIPTION_NOT_FOUND"} or answer.status in _REFUSED:
        return "{server} refuses the key"
    return None if code == "VALIDATION" else _of_status(answer)


def _of_searxng(answer: JsonAnswer) -> str | None:
    if answer.status == HTTPStatus.FORBIDDEN:
        return "{server} does not answer in JSON: add `json` to `search.formats` in its settings"
    return None if answer.status == HTTPStatus.BAD_REQUEST else _of_status(answer)


def _code(body: Any) -> str:
    """The code of an error of Brave's, in either of its shapes."""
    told = as_object(body)
    return text_in(as_object(next(iter(items_in(told, "errors")), told.get("error"))), "code")


def _shown(key: SecretStr | None) -> str:
    return key.get_secret_value() if key else ""
