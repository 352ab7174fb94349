"""The tools as an operator sees them: which are on, and what the others lack; whether search services take their keys.

Source: api-dashboard.search.brave.com, docs.tavily.com "Usage", serpapi.com/account-api, searx/webapp.py (2026-11-22).
With Perplexity and X nothing is free. Tools are made for it and never called.
"""

import asyncio
import re
from collections.abc import AsyncIterator, Iterator, Mapping
from dataclasses import dataclass, replace
from http import HTTPStatus
from typing import Literal
from urllib.parse import quote

from pydantic import SecretStr

from bot.doctor.findings import Deps, Finding, hint, ok, problem, warning
from bot.doctor.models import CheckedServer
from bot.i18n.locale import join_list
from bot.settings import Settings
from tools import (
    CATALOG,
    CodeSource,
    DbQueryOptions,
    Embedder,
    JsonAnswer,
    RecallOptions,
    SearchOptions,
    Tool,
    ToolDeps,
    ToolError,
    build_tools,
)

_GROUP = "TOOLS__WEB_SEARCH__"
_FIELD = re.compile(r"\b[A-Z][A-Z0-9_]*\b")
_TRIALS: Mapping[str, tuple[str, str, Mapping[str, str]]] = {
    "Brave Search": ("", "/web/search", {"X-Subscription-Token": "{}"}),
    "Tavily": ("TAVILY_", "/usage", {"Authorization": "Bearer {}"}),
    "SerpApi": ("SERPAPI_", "/account.json?api_key={}", {}),
    "SearXNG": ("SEARXNG_", "/search?format=json", {}),
}
"""What tells for nothing whether a service takes its key: how the names of its settings begin, path and headers.
Brave looks at the key before it misses the query, and SearXNG at the format.
"""
_ANSWERS = {HTTPStatus.OK, HTTPStatus.BAD_REQUEST, HTTPStatus.UNPROCESSABLE_ENTITY, HTTPStatus.TOO_MANY_REQUESTS}
"""What says that all is well: a question is missing, but the key is taken."""


@dataclass(frozen=True, kw_only=True, slots=True)
class ToolGroup:
    """Tools that are set together, by `TOOLS__<NAME>__<FIELD>`."""

    name: str
    state: Literal["on", "off", "not offered"]
    """Offered to models; switched off; without something that it needs."""
    tools: tuple[Tool, ...]
    """In the order in which models see them; empty where they cannot be made as things are set."""
    seen_by: tuple[str, ...] | None
    """Who outside this machine sees what is asked; None: they do not tell."""
    advice: str
    """What would switch them on, or what they need; may be empty."""


def inventory(settings: Settings, around: ToolDeps) -> Iterator[ToolGroup]:
    """Yields every group of tools in the catalogue's order.

    One that gets its tools only while Aldis runs is on, without any; see `tools.catalog.CatalogEntry`.
    """
    given = settings.tools.options_by_name
    for name, tools in build_tools(CATALOG, given, around).items():
        options, group = given.get(name) or CATALOG[name].options(), f"TOOLS__{name.upper()}__"
        lacks = "" if tools else options.missing_settings()
        if lacks is None:
            lacks = "" if CATALOG[name].source else "what other tools need, too"
        needs = _FIELD.sub(lambda field, group=group: group + field[0], lacks)
        idle = [f"{service} with {group}{field}" for service, field in options.idle_services().items()]
        state = "on"
        advice = f"it would also use {join_list(idle)}" if idle else ""
        if not (settings.tools.enabled and options.enabled):
            state, advice = "off", f"{group if settings.tools.enabled else 'TOOLS__'}ENABLED=true switches it on"
        elif needs:
            state, advice = "not offered", f"it needs {needs}"
        yield ToolGroup(name=name, state=state, tools=tuple(tools), seen_by=options.seen_by(), advice=advice)


async def check_tools(settings: Settings, deps: Deps) -> AsyncIterator[Finding]:
    """Yields which tools are on, and what would switch the others on."""
    if not settings.tools.enabled:
        yield hint("tools", "all are switched off", "TOOLS__ENABLED=true switches them on")
        return
    for group in inventory(settings, replace(deps.tool_deps, cells=deps.sandbox())):
        if group.name == "code" and group.state == "on" and not await CodeSource(group.tools).tools():
            how = "it takes Linux with Landlock and seccomp: see what is said of cells"
            yield warning("tools", "code is not offered: no program can be contained here", how)
            continue
        is_wanted = group.state == "not offered" and settings.tools.options_by_name[group.name].model_fields_set
        level = ok if group.state == "on" and group.tools else warning if is_wanted else hint
        how = group.advice or ("" if group.tools else "/tools in Signal names the servers that are down")
        yield level("tools", f"{group.name} is {group.state}", how)
        options = settings.tools.options_by_name.get(group.name)
        contact = settings.tools.contact or ""
        if group.state == "on" and "@" not in contact and any("the SEC" in who for who in group.seen_by or ()):
            how = "set TOOLS__CONTACT to your e-mail address, or take filings out of TOOLS__OPEN_DATA__KINDS"
            yield warning("tools", "the SEC wants to know whom to write to: it answers nothing about filings", how)
        for file in options.absent_files() if isinstance(options, DbQueryOptions) and group.state == "on" else ():
            how = "correct its address in TOOLS__DB_QUERY__DATABASES, or put it there"
            yield problem("tools", f"{group.name}: there is no file {file}", how)


async def check_search(settings: Settings, deps: Deps) -> list[Finding]:
    """Returns which services answer and take their keys, and which are named and lack theirs."""
    options = settings.tools.options_by_name.get("web_search")
    if not settings.tools.enabled or not isinstance(options, SearchOptions):
        return []
    found = [one for one in await asyncio.gather(*(_try(name, options, deps) for name in _TRIALS)) if one]
    for service, variable in options.idle_services().items() if options.providers else ():
        how = f"set {_GROUP}{variable}, or take it out"
        found.append(warning("search", f"{service} is named in {_GROUP}PROVIDERS, but skipped", how))
    return found


async def check_recall(settings: Settings, deps: Deps) -> list[Finding]:
    """Returns whether the embedding model answers, if one is set; to ask it costs next to nothing."""
    options = settings.tools.options_by_name.get("recall")
    if not (isinstance(options, RecallOptions) and options.model and options.enabled and settings.tools.enabled):
        return []
    what = f"the embedding model {options.model}"
    try:
        await Embedder(options, deps.tool_deps.http).embed(["Are you there?"])
    except ToolError as error:
        return [problem("recall", f"{what} does not answer: {error}", "look at TOOLS__RECALL__BASE_URL and MODEL")]
    return [ok("recall", f"{what} answers")]


async def _try(service: str, options: SearchOptions, deps: Deps) -> Finding | None:
    """Whether a service answers and takes its key; None where it is not set up."""
    prefix, path, headers = _TRIALS[service]
    url: str | None = getattr(options, f"{prefix}base_url".lower())
    key: SecretStr | None = getattr(options, f"{prefix}api_key".lower(), None)
    is_searxng = service == "SearXNG"
    if not (url and (key or is_searxng)):
        return None
    server, text = CheckedServer("search", service, _GROUP + prefix, url, key), key.get_secret_value() if key else ""
    url, filled = url + path.format(quote(text)), {name: words.format(text) for name, words in headers.items()}
    answer = await server.ask(deps.tool_deps.http, url, headers=filled)
    status = answer.status if isinstance(answer, JsonAnswer) else None
    if isinstance(answer, JsonAnswer) and "SUBSCRIPTION_" in str(answer.body):  # Brave's word for a wrong key
        answer = replace(answer, status=HTTPStatus.FORBIDDEN)
    elif status == HTTPStatus.FORBIDDEN and is_searxng:
        return problem("search", f"{service} does not answer in JSON", "add `json` to `search.formats` in its settings")
    elif status in _ANSWERS:
        return ok("search", f"{service} answers", notice=server.of_key)
    is_without_key = is_searxng and status == HTTPStatus.UNAUTHORIZED  # it has none that could be set
    if not is_without_key and (refusal := server.refusal(answer, is_contained=deps.is_contained)):
        return refusal
    what = f"{service} answers with something else" + (f" (status {status})" if status else "")
    return problem("search", what, f"is {server.prefix}BASE_URL its address?")
