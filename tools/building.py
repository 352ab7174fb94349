"""Builds the enabled tools of the catalogue from their shared dependencies."""

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, fields
from pkgutil import resolve_name
from typing import Any

from tools.base import Options, Quotas, Tool, ToolSource
from tools.catalog import CATALOG
from tools.code import ProgramCells
from tools.evidence.sources import Judge
from tools.http import Http
from tools.search.options import SearchOptions
from tools.search.services import SearchService
from tools.web.fetch import Fetcher
from tools.web.papers import Papers

_NOTHING: Any = None


@dataclass(frozen=True, kw_only=True, slots=True)
class ToolDeps:
    """The dependencies that tools share; those behind can be left out if tools are listed and not called."""

    http: Http
    fetcher: Fetcher
    features: Mapping[str, tuple[Tool, ...]]
    """The tools of the bot's features, by the name of their line in the catalogue."""
    quotas: Quotas = _NOTHING
    papers: Papers = _NOTHING
    judge: Judge = _NOTHING
    cells: ProgramCells = _NOTHING
    call_seconds: float = 20.0
    """The operator's limit for one call, `TOOLS__TIMEOUT_SECONDS`."""
    contact: str = ""
    """How services reach the operator, if they want that; may be empty."""


def build(options_by_name: Mapping[str, Options], tool_deps: ToolDeps) -> tuple[Tool, ...]:
    """Builds the enabled tools in the order of the catalogue. Missing options mean the defaults."""
    on = [name for name in CATALOG if _options(name, options_by_name).enabled]
    return tuple(tool for tools in build_tools(on, options_by_name, tool_deps).values() for tool in tools)


def sources(options_by_name: Mapping[str, Options], *, taken: Collection[str]) -> tuple[ToolSource, ...]:
    """Returns the sources of tools known only at run time, without starting them; `taken` are names of other tools."""
    return tuple(
        resolve_name(entry.source)(options, taken=taken)
        for name, entry in CATALOG.items()
        if entry.source and (options := _options(name, options_by_name)).enabled and not options.missing_settings()
    )


def build_tools(
    names: Iterable[str], options_by_name: Mapping[str, Options], tool_deps: ToolDeps
) -> Mapping[str, tuple[Tool, ...]]:
    """Builds the tools of these lines, enabled or not, with one `search`; none for a line that lacks what it needs."""
    given = options_by_name.get("web_search")
    search = SearchService(given if isinstance(given, SearchOptions) else SearchOptions(), tool_deps.http)
    around = {field.name: getattr(tool_deps, field.name) for field in fields(tool_deps)} | {"search": search}
    return {
        name: tool_deps.features.get(name) or CATALOG[name].build(_options(name, options_by_name), around)
        for name in names
    }


def _options(name: str, options_by_name: Mapping[str, Options]) -> Options:
    return options_by_name.get(name) or CATALOG[name].options()
