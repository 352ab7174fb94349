"""Which tools there are: one line a tool, in the order in which models see them.

The name of a line is the tool's group of settings: `weather` is set by `TOOLS__WEATHER__<FIELD>`, and the fields are
those of its options class. To add a tool, write its module and add its line here.
"""

from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, fields
from typing import Any

from tools.base import Options, Tool, ToolSource
from tools.calculator.tool import Calculator, CalculatorOptions
from tools.clock import ClockOptions, CurrentTime
from tools.conversion.tool import Convert, ConvertOptions
from tools.databases.tool import DbQueryOptions, database_tools
from tools.evidence.tool import VerifyNews, VerifyNewsOptions
from tools.http import Http
from tools.images import ImageGenerate, ImagesOptions
from tools.markets.tool import MarketGet, MarketSearch, MarketsOptions
from tools.mcp.options import McpOptions
from tools.mcp.servers import McpServers
from tools.memory import Remember, RememberOptions
from tools.news import IntelRecent, IntelSearch, NewsOptions
from tools.ports import Judge, Memory, News, Papers, Predictions, Quotas, Reminders
from tools.predictions.tool import (
    CalibrationStats,
    ListPredictions,
    Predict,
    PredictionsOptions,
    ResolvePrediction,
)
from tools.reminders import Remind, RemindOptions
from tools.search.options import SearchOptions
from tools.search.service import SearchService
from tools.search.tool import WebSearch, WebSearchOptions
from tools.twitter.tool import SITE, TwitterOptions, TwitterSearch
from tools.weather.tool import Weather, WeatherOptions
from tools.web.fetch import Fetcher
from tools.web.tool import PageOptions, WebFetch
from tools.wikipedia import Wikipedia, WikipediaOptions


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


@dataclass(frozen=True, kw_only=True, slots=True)
class BuildContext(ToolDeps):
    """What tools are made with: their surroundings, and what several of them share among themselves."""

    search: SearchService
    """Where every tool searches, so that they share the services, the months, the minutes and the numbers. It is there
    whether or not the tool `web_search` is switched on, whose settings it goes by."""


@dataclass(frozen=True, slots=True)
class CatalogEntry:
    """A line of the catalogue: the tool's options class, and how the tool is made of such options.

    Several tools that share one group of settings are one line.
    """

    options: type[Options]
    build: Callable[[Any, BuildContext], Tool | tuple[Tool, ...]]
    source: Callable[[Any, Collection[str]], ToolSource] | None = None
    """What gives tools that are known only while Aldis runs, made with the names that are taken; None: nothing does."""


CATALOG: Mapping[str, CatalogEntry] = {
    "calculator": CatalogEntry(CalculatorOptions, lambda _options, _around: Calculator()),
    "weather": CatalogEntry(WeatherOptions, lambda options, around: Weather(options, around.http)),
    "clock": CatalogEntry(ClockOptions, lambda _options, _around: CurrentTime()),
    "convert": CatalogEntry(ConvertOptions, lambda options, around: Convert(options, around.http)),
    "web_search": CatalogEntry(
        WebSearchOptions, lambda options, around: WebSearch(options, around.search) if around.search.is_open else ()
    ),
    "verify_news": CatalogEntry(
        VerifyNewsOptions,
        lambda options, around: VerifyNews(options, around.search, around.judge) if around.search.is_open else (),
    ),
    "twitter": CatalogEntry(
        TwitterOptions,
        lambda options, around: (
            ()
            if options.missing() and not around.search.reaches(SITE)
            else TwitterSearch(options, around.http, around.quotas, around.search)
        ),
    ),
    "wikipedia": CatalogEntry(WikipediaOptions, lambda options, around: Wikipedia(options, around.http)),
    "markets": CatalogEntry(
        MarketsOptions, lambda options, around: (MarketSearch(options, around.http), MarketGet(options, around.http))
    ),
    "news": CatalogEntry(
        NewsOptions,
        lambda _options, around: (IntelSearch(around.news), IntelRecent(around.news)),
    ),
    "web_fetch": CatalogEntry(PageOptions, lambda options, around: WebFetch(options, around.fetcher, around.papers)),
    "images": CatalogEntry(
        ImagesOptions,
        lambda options, around: () if options.missing() else ImageGenerate(options, around.http, around.fetcher),
    ),
    "db_query": CatalogEntry(DbQueryOptions, lambda options, _around: database_tools(options)),
    "mcp": CatalogEntry(
        McpOptions, lambda _options, _around: (), lambda options, taken: McpServers(options, taken=taken)
    ),
    "remind": CatalogEntry(RemindOptions, lambda _options, around: Remind(around.reminders)),
    "remember": CatalogEntry(RememberOptions, lambda _options, around: Remember(around.memory)),
    "predictions": CatalogEntry(
        PredictionsOptions,
        lambda _options, around: (
            Predict(around.predictions),
            ResolvePrediction(around.predictions),
            ListPredictions(around.predictions),
            CalibrationStats(around.predictions),
        ),
    ),
}


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
    built = {name: CATALOG[name].build(_options(name, options_by_name), workshop) for name in names}
    return {name: tools if isinstance(tools, tuple) else (tools,) for name, tools in built.items()}


def _options(name: str, options_by_name: Mapping[str, Options]) -> Options:
    return options_by_name.get(name) or CATALOG[name].options()


def _workshop(options_by_name: Mapping[str, Options], tool_deps: ToolDeps) -> BuildContext:
    given = options_by_name.get("web_search")
    options = given if isinstance(given, SearchOptions) else SearchOptions()
    shared: dict[str, Any] = {field.name: getattr(tool_deps, field.name) for field in fields(tool_deps)}
    return BuildContext(**shared, search=SearchService(options, tool_deps.http, tool_deps.quotas))
