"""The tools as an operator sees them: which are on, what the others lack, what those of other people are worth; and
whether the search services take their keys, where that can be tried for nothing.

Source: api-dashboard.search.brave.com, docs.tavily.com "Usage", serpapi.com/account-api, searx/webapp.py (2026-11-22).
With Perplexity and X nothing is free.

Tools are made for it and never called; servers that give some while Aldis runs are asked which, and ended.
"""

import asyncio
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from http import HTTPStatus
from typing import Literal

from pydantic import SecretStr

from bot.chat.notices import Notice
from bot.doctor.findings import Deps, Finding, hint, join_words, ok, problem, warning
from bot.doctor.servers import REFUSED, TIMEOUT_SECONDS, advice_on_address, why_silent, with_other_name
from bot.settings import Settings
from tools import CATALOG, Options, SearchOptions, Tool, ToolDeps, ToolError, build_tools, sources

State = Literal["on", "off", "missing"]
"""Offered to models; switched off; without something that it needs."""

_GROUP = "TOOLS__WEB_SEARCH__"
_FIELD = re.compile(r"\b[A-Z][A-Z0-9_]*\b")
_TRIALS: Mapping[str, tuple[str, str, str, Mapping[str, str], Mapping[str, str]]] = {
    "Brave Search": ("API_KEY", "BASE_URL", "/web/search", {"X-Subscription-Token": "{}"}, {}),
    "Tavily": ("TAVILY_API_KEY", "TAVILY_BASE_URL", "/usage", {"Authorization": "Bearer {}"}, {}),
    "SerpApi": ("SERPAPI_API_KEY", "SERPAPI_BASE_URL", "/account.json", {}, {"api_key": "{}"}),
    "SearXNG": ("SEARXNG_BASE_URL", "SEARXNG_BASE_URL", "/search", {}, {"format": "json"}),
}
"""What tells for nothing whether a service takes its key: the settings of key and address, the path, headers and
parameters. Brave looks at the key before it misses the query, and SearXNG at the format.
"""
_ANSWERS = {HTTPStatus.BAD_REQUEST, HTTPStatus.UNPROCESSABLE_ENTITY, HTTPStatus.TOO_MANY_REQUESTS}
"""What says that all is well, besides an answer."""


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
    for group in inventory(settings, around):
        match group.state:
            case "on":
                yield ok("tools", f"{group.name} is on", group.advice)
            case "off":
                yield hint("tools", f"{group.name} is off", group.advice)
            case "missing":
                is_wanted = settings.tools.options_by_name[group.name].model_fields_set
                yield (warning if is_wanted else hint)("tools", f"{group.name} is not offered", group.advice)


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
    """Returns which services answer and take their keys, and which are named and lack theirs."""
    options = settings.tools.options_by_name.get("web_search")
    if not settings.tools.enabled or not isinstance(options, SearchOptions):
        return []
    tried = [service for service, (key, *_) in _TRIALS.items() if getattr(options, key.lower()) is not None]
    found = list(await asyncio.gather(*(_try(service, options, deps) for service in tried)))
    for service, variable in options.idle_services().items() if options.providers else ():
        how = f"set {with_other_name(_GROUP + variable)}, or take it out"
        found.append(warning("search", f"{service} is named in {_GROUP}PROVIDERS, but skipped", how))
    return found


async def _try(service: str, options: SearchOptions, deps: Deps) -> Finding:
    key_field, address, path, headers, params = _TRIALS[service]
    given, url = getattr(options, key_field.lower()), f"{getattr(options, address.lower())}{path}"
    key = given.get_secret_value() if isinstance(given, SecretStr) else ""
    headers, params = ({name: words.format(key) for name, words in one.items()} for one in (headers, params))
    try:
        answer = await deps.tool_deps.http.get_json(
            url, service=service, params=params, headers=headers, timeout_seconds=TIMEOUT_SECONDS
        )
    except ToolError as error:
        advice = advice_on_address(url, _GROUP + address, is_contained=deps.is_contained)
        return problem("search", f"{service} does not answer: {why_silent(error)}", advice)
    notice = Notice(kind="key", subject=service)
    is_refused = answer.status in REFUSED or "SUBSCRIPTION_" in str(answer.body)  # Brave refuses with 422
    if is_refused and key:
        return problem("search", f"{service} refuses the key", f"correct {with_other_name(_GROUP + key_field)}", notice)
    if is_refused:
        return problem("search", f"{service} does not answer in JSON", "add `json` to `search.formats` in its settings")
    if answer.ok or answer.status in _ANSWERS:
        return ok("search", f"{service} answers", notice=notice)
    return problem("search", f"{service} answers with status {answer.status}", f"is {_GROUP}{address} its address?")
