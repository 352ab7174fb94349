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
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from http import HTTPStatus
from typing import Literal

from pydantic import SecretStr

from bot.chat.notices import Notice
from bot.doctor.findings import Deps, Finding, hint, join_words, ok, problem, warning
from bot.doctor.servers import REFUSED, TIMEOUT_SECONDS, advice_on_address, why_silent, with_other_name
from bot.settings import Settings
from tools import (
    CATALOG,
    Options,
    SearchOptions,
    Tool,
    ToolDeps,
    ToolError,
    TwitterOptions,
    build_tools,
    sources,
)

State = Literal["on", "off", "missing"]
"""Offered to models; switched off; without something that it needs."""

_GROUP = "TOOLS__WEB_SEARCH__"
_FIELD = re.compile(r"\b[A-Z][A-Z0-9_]*\b")
_Along = tuple[Mapping[str, str], Mapping[str, str]]
"""Parameters and headers of a request."""
_TRIALS: Mapping[str, tuple[str, str, str, Callable[[str], _Along]]] = {
    "Brave Search": ("api_key", "base_url", "/web/search", lambda key: ({}, {"X-Subscription-Token": key})),
    "Tavily": ("tavily_api_key", "tavily_base_url", "/usage", lambda key: ({}, {"Authorization": f"Bearer {key}"})),
    "SerpApi": ("serpapi_api_key", "serpapi_base_url", "/account.json", lambda key: ({"api_key": key}, {})),
    "SearXNG": ("", "searxng_base_url", "/search", lambda _: ({"format": "json"}, {})),
}
"""What tells for nothing whether a service takes its key: the fields of key and address, the path, what goes along."""
_ANSWERS = {HTTPStatus.BAD_REQUEST, HTTPStatus.UNPROCESSABLE_ENTITY, HTTPStatus.TOO_MANY_REQUESTS}
"""What says that all is well, besides an answer: SearXNG and Brave miss the query."""


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


def _group(name: str, options: Options, tools: Sequence[Tool], *, all_on: bool) -> ToolGroup:
    switches = ["TOOLS__ENABLED=true"] if not all_on else []
    switches += [f"{_variable(name, 'ENABLED')}=true"] if not options.enabled else []
    fields, lacks, missing = type(options).model_fields, options.missing_settings(), ""
    if not tools and lacks is not None:
        missing = _FIELD.sub(lambda word: _variable(name, word[0]) if word[0].lower() in fields else word[0], lacks)
        missing = join_words(missing.split(" or "), last="or")
    elif not tools and not CATALOG[name].source:
        missing = "what other tools need, too"
    idle = [f"{service} with {_variable(name, variable)}" for service, variable in options.idle_services().items()]
    state: State = "off" if switches else "missing" if missing else "on"
    advice = f"it would also ask {join_words(idle)}" if idle else ""
    if state != "on":
        wanted = join_words([*switches, *([missing] if missing else [])])
        advice = f"{wanted} switches it on" if switches else f"it needs {wanted}"
    return ToolGroup(name=name, state=state, tools=tuple(tools), seen_by=options.seen_by(), advice=advice)


def _variable(group: str, field: str) -> str:
    return f"TOOLS__{group}__{field}".upper()


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
        finally:
            await source.aclose()
    return found


async def check_search(settings: Settings, deps: Deps) -> list[Finding]:
    """Returns which services take their keys; of those that nothing is free with, that they were not tried."""
    if not settings.tools.enabled:
        return []
    found: list[Finding] = []
    untried: list[tuple[str, str]] = []
    options, twitter = map(settings.tools.options_by_name.get, ("web_search", "twitter"))
    if isinstance(options, SearchOptions):
        wanted = [name for name, (key, address, *_) in _TRIALS.items() if getattr(options, key or address) is not None]
        found += await asyncio.gather(*(_try(service, options, deps) for service in wanted))
        for service, variable in options.idle_services().items() if options.providers else ():
            how = f"set {with_other_name(_GROUP + variable)}, or take it out"
            found.append(warning("search", f"{service} is named in {_GROUP}PROVIDERS, but skipped", how))
        untried += [("Perplexity", f"{_GROUP}PERPLEXITY_API_KEY")] if options.perplexity_api_key is not None else []
    if isinstance(twitter, TwitterOptions) and twitter.enabled and twitter.bearer_token is not None:
        untried.append(("X", "TOOLS__TWITTER__BEARER_TOKEN"))
    for service, variable in untried:
        what = f"{service} has a key ({with_other_name(variable)}), which was not tried: that would cost money"
        found.append(ok("search", what))
    return found


async def _try(service: str, options: SearchOptions, deps: Deps) -> Finding:
    key, field, path, along = _TRIALS[service]
    given: SecretStr | None = getattr(options, key) if key else None
    params, headers = along(given.get_secret_value() if given else "")
    address, url = _GROUP + field.upper(), f"{getattr(options, field)}{path}"
    try:
        answer = await deps.tool_deps.http.get_json(
            url, service=service, params=params, headers=headers, timeout_seconds=TIMEOUT_SECONDS
        )
    except ToolError as error:
        advice = advice_on_address(url, address, is_contained=deps.is_contained)
        return problem("search", f"{service} does not answer: {why_silent(error)}", advice)
    notice = Notice(kind="key", subject=service)
    is_refused = answer.status in REFUSED or "SUBSCRIPTION_" in str(answer.body)  # Brave refuses with 422
    if is_refused and key:
        advice = f"correct {with_other_name(_GROUP + key.upper())}"
        return problem("search", f"{service} refuses the key", advice, notice)
    if is_refused:
        what = f"{service} does not answer in JSON: add `json` to `search.formats` in its settings"
        return warning("search", what, f"is {address} its address?")
    if answer.ok or answer.status in _ANSWERS:
        return ok("search", f"{service} answers", notice=notice)
    return warning("search", f"{service} answers {answer.status}", f"is {address} its address?")
