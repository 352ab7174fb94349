"""The tools as an operator sees them: which are on, what the others lack, what those of other people are worth; and
whether the search services take their keys, where that can be tried for nothing.

    Brave       a search without a query: the key is checked first, and only searches that succeed are counted
    Tavily      GET /usage                         SerpApi     GET /account.json, which is not counted
    SearXNG     a search without a query: 400 where JSON is switched on, 403 where not
    Perplexity, X                                  nothing is free

Source: api-dashboard.search.brave.com, docs.tavily.com "Usage", serpapi.com/account-api, searx/webapp.py (2026-11-22).

Tools are made for it and never called; servers that give some while Aldis runs are asked which, and ended.
"""

import asyncio
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from http import HTTPStatus
from typing import Literal

from bot.chat.notices import Notice
from bot.doctor.findings import Deps, Finding, hint, join_words, ok, problem, warning
from bot.doctor.servers import REFUSED, TIMEOUT_SECONDS, advice_on_address, why_silent, with_other_name
from bot.errors import ConfigError
from bot.settings import Settings
from tools import (
    CATALOG,
    Options,
    SearchOptions,
    Tool,
    ToolDeps,
    ToolError,
    TwitterOptions,
    bearer,
    build_tools,
    sources,
)

State = Literal["on", "off", "missing"]
"""Offered to models; switched off; without something that it needs."""

_GROUP = "TOOLS__WEB_SEARCH__"
_NO_QUERY = {HTTPStatus.BAD_REQUEST, HTTPStatus.UNPROCESSABLE_ENTITY}
"""What SearXNG and Brave answer to a search without a query."""
_FIELD = re.compile(r"\b[A-Z][A-Z0-9_]*\b")


@dataclass(frozen=True, kw_only=True, slots=True)
class ToolGroup:
    """Tools that are set together."""

    name: str
    """The group of their settings, `TOOLS__<NAME>__<FIELD>`, in small letters."""
    state: State
    tools: tuple[Tool, ...] = ()
    """In the order in which models see them; empty where they cannot be made as things are set."""
    seen_by: tuple[str, ...] | None = None
    """Who outside this machine sees what is asked; None: they do not tell."""
    advice: str = ""
    """What would switch them on, what they need, or what they would ask besides; empty where nothing is to be set."""


def inventory(settings: Settings, around: ToolDeps) -> tuple[ToolGroup, ...]:
    """Every tool in the catalogue's order.

    A group that gets its tools only while Aldis runs is on, without any; see `tools.catalog.CatalogEntry`.
    """
    tools, options = settings.tools, settings.tools.options_by_name
    return tuple(
        _group(name, options.get(name) or CATALOG[name].options(), made, all_on=tools.enabled)
        for name, made in build_tools(CATALOG, options, around).items()
    )


def check_approve(deps: Deps) -> list[Finding]:
    """Whether what has to ask first is a tool; Aldis does not start otherwise."""
    try:
        deps.check_approve()
    except ConfigError as error:
        return [problem("tools", str(error))]
    return []


def check_tools(settings: Settings, around: ToolDeps) -> Iterator[Finding]:
    """Yields which tools are on, and what would switch the others on."""
    if not settings.tools.enabled:
        yield hint("tools", "all are switched off", "TOOLS__ENABLED=true switches it on")
        return
    groups = inventory(settings, around)
    for group in groups:
        match group.state:
            case "on":
                yield ok("tools", f"{group.name} is on", group.advice)
            case "off":
                yield hint("tools", f"{group.name} is off", group.advice)
            case "missing":
                is_wanted = settings.tools.options_by_name[group.name].model_fields_set
                yield (warning if is_wanted else hint)("tools", f"{group.name} is not offered", group.advice)
    asks_wikimedia = any("Wikimedia" in (group.seen_by or ()) for group in groups if group.state == "on")
    if settings.tools.contact is None and asks_wikimedia:
        what = "Wikipedia does not know how to reach you, and allows 10 requests a minute"
        yield hint("tools", what, "it allows 200 if TOOLS__CONTACT is an e-mail address or a page of yours")


async def check_tool_sources(settings: Settings) -> list[Finding]:
    """Returns how many tools the servers of `TOOLS__MCP__SERVERS` give, and which of them do not answer."""
    found: list[Finding] = []
    for source in sources(settings.tools.options_by_name, taken=()) if settings.tools.enabled else ():
        try:
            found.append(ok("tools", f"the MCP servers offer {len(await source.tools())} tools"))
            for name, why in source.absent.items():
                what = f"the MCP server {name} does not answer ({why})"
                found.append(problem("tools", what, "check it in TOOLS__MCP__SERVERS"))
            for name, unfit in source.unfit.items():
                what = f"tools of the MCP server {name} that cannot be offered: {', '.join(unfit)}"
                found.append(warning("tools", what, "the server has to describe them differently"))
        finally:
            await source.aclose()
    return found


def _group(name: str, options: Options, tools: Sequence[Tool], *, all_on: bool) -> ToolGroup:
    missing = None if tools else _missing(name, options)
    switches = ["TOOLS__ENABLED=true"] if not all_on else []
    switches += [f"{_variable(name, 'ENABLED')}=true"] if not options.enabled else []
    wanted = join_words([*switches, *([missing] if missing else [])])
    idle = [f"{service} with {_variable(name, variable)}" for service, variable in options.idle_services().items()]
    state: State = "off" if switches else "missing" if missing else "on"
    besides = f"it would also ask {join_words(idle)}" if idle else ""
    advice = {"off": f"{wanted} switches it on", "missing": f"it needs {wanted}"}.get(state, besides)
    return ToolGroup(name=name, state=state, tools=tuple(tools), seen_by=options.seen_by(), advice=advice)


def _missing(name: str, options: Options) -> str | None:
    """What a group without tools lacks; None where it gets them later."""
    missing = options.missing_settings()
    if missing is None:
        return None if CATALOG[name].source else "what other tools need, too"
    fields = type(options).model_fields
    wanted = [
        _FIELD.sub(lambda word: _variable(name, word[0]) if word[0].lower() in fields else word[0], one)
        for one in missing.split(" or ")
    ]
    return join_words(wanted, last="or")


def _variable(group: str, field: str) -> str:
    return f"TOOLS__{group}__{field}".upper()


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
