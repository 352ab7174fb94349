"""Making the tools of the catalogue: what they share, and which of them are on."""

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, fields

from tools.base import Options, Tool, ToolSource
from tools.catalog import CATALOG
from tools.http import Http
from tools.ports import Judge, Memory, News, Papers, Predictions, Quotas, Reminders
from tools.search.options import SearchOptions
from tools.search.service import SearchService
from tools.web.fetch import Fetcher


@dataclass(frozen=True, kw_only=True, slots=True)
class ToolDeps:
    """What tools share while Aldis runs."""

    http: Http
    fetcher: Fetcher
    reminders: Reminders
    memory: Memory
    predictions: Predictions
    news: News
    quotas: Quotas
    papers: Papers
    judge: Judge


def build(options_by_name: Mapping[str, Options], tool_deps: ToolDeps) -> tuple[Tool, ...]:
    """The enabled tools in the catalogue's order; one that `options_by_name` leaves out gets its default options."""
    on = [name for name in CATALOG if _options(name, options_by_name).enabled]
    return tuple(tool for tools in build_tools(on, options_by_name, tool_deps).values() for tool in tools)


def sources(options_by_name: Mapping[str, Options], *, taken: Collection[str]) -> tuple[ToolSource, ...]:
    """Where enabled tools come from that are not known yet; `taken` are the names of the others. Nothing is started."""
    chosen = [(entry.source, _options(name, options_by_name)) for name, entry in CATALOG.items()]
    return tuple(
        source(options, taken) for source, options in chosen if source and options.enabled and not options.missing()
    )


def build_tools(
    names: Iterable[str], options_by_name: Mapping[str, Options], tool_deps: ToolDeps
) -> Mapping[str, tuple[Tool, ...]]:
    """The tools of these lines, whether they are switched on or not; none where a line lacks what it needs."""
    workshop = _workshop(options_by_name, tool_deps)
    return {name: CATALOG[name].build(_options(name, options_by_name), workshop) for name in names}


def _options(name: str, options_by_name: Mapping[str, Options]) -> Options:
    return options_by_name.get(name) or CATALOG[name].options()


def _workshop(options_by_name: Mapping[str, Options], tool_deps: ToolDeps) -> Mapping[str, object]:
    """What tools are made with, by name: their surroundings, and `search`, where all of them search.

    So they share the services, the months, the minutes and the numbers. It is there whether or not the tool
    `web_search` is switched on, whose settings it goes by.
    """
    given = options_by_name.get("web_search")
    options = given if isinstance(given, SearchOptions) else SearchOptions()
    shared = {field.name: getattr(tool_deps, field.name) for field in fields(tool_deps)}
    return shared | {"search": SearchService(options, tool_deps.http, tool_deps.quotas)}
