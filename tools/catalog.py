"""Which tools there are: one line a tool, in the order in which models see them.

The name of a line is the tool's group of settings: `weather` is set by `TOOLS__WEATHER__<FIELD>`, and the fields are
those of its options class. To add a tool, write its module and add its line here.
The settings of all tools are read at every start, so what is imported here at the head is light; a tool itself is
imported when it is made. Left to others: making them (`tools.building`).
"""

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from typing import Any

from tools.base import LocalOptions, Options, Tool, ToolSource
from tools.conversion.options import ConvertOptions
from tools.databases.options import DbQueryOptions
from tools.evidence.options import VerifyNewsOptions
from tools.images.options import ImagesOptions
from tools.markets.options import MarketsOptions
from tools.mcp.options import McpOptions
from tools.news.options import NewsOptions
from tools.search.options import WebSearchOptions
from tools.twitter.options import SITE, TwitterOptions
from tools.weather.options import WeatherOptions
from tools.web.options import PageOptions
from tools.wikipedia.options import WikipediaOptions

Built = Tool | tuple[Tool, ...]


@dataclass(frozen=True, slots=True)
class CatalogEntry:
    """A line of the catalogue: the tool's options class, and how the tool is made of such options.

    Several tools that share one group of settings are one line.
    """

    options: type[Options]
    build: Callable[[Any, Any], Built]
    """Makes it, with a `tools.building.BuildContext` around it."""
    source: Callable[[Any, Collection[str]], ToolSource] | None = None
    """What gives tools that are known only while Aldis runs, made with the names that are taken; None: nothing does."""


def _calculator(_options: LocalOptions, _around: Any) -> Tool:
    from tools.calculator.tool import Calculator

    return Calculator()


def _weather(options: WeatherOptions, around: Any) -> Tool:
    from tools.weather.tool import Weather

    return Weather(options, around.http)


def _clock(_options: LocalOptions, _around: Any) -> Tool:
    from tools.clock import CurrentTime

    return CurrentTime()


def _convert(options: ConvertOptions, around: Any) -> Tool:
    from tools.conversion.tool import Convert

    return Convert(options, around.http)


def _web_search(options: WebSearchOptions, around: Any) -> Built:
    from tools.search.tool import WebSearch

    return WebSearch(options, around.search) if around.search.is_open else ()


def _verify_news(options: VerifyNewsOptions, around: Any) -> Built:
    from tools.evidence.tool import VerifyNews

    return VerifyNews(options, around.search, around.judge) if around.search.is_open else ()


def _twitter(options: TwitterOptions, around: Any) -> Built:
    from tools.twitter.tool import TwitterSearch

    if options.missing() and not around.search.reaches(SITE):
        return ()
    return TwitterSearch(options, around.http, around.quotas, around.search)


def _wikipedia(options: WikipediaOptions, around: Any) -> Tool:
    from tools.wikipedia.tool import Wikipedia

    return Wikipedia(options, around.http)


def _markets(options: MarketsOptions, around: Any) -> Built:
    from tools.markets.tool import MarketGet, MarketSearch

    return MarketSearch(options, around.http), MarketGet(options, around.http)


def _news(_options: NewsOptions, around: Any) -> Built:
    from tools.news.tool import IntelRecent, IntelSearch

    return IntelSearch(around.news), IntelRecent(around.news)


def _web_fetch(options: PageOptions, around: Any) -> Tool:
    from tools.web.tool import WebFetch

    return WebFetch(options, around.fetcher, around.papers)


def _images(options: ImagesOptions, around: Any) -> Built:
    from tools.images.tool import ImageGenerate

    return () if options.missing() else ImageGenerate(options, around.http, around.fetcher)


def _db_query(options: DbQueryOptions, _around: Any) -> Built:
    from tools.databases.tool import database_tools

    return database_tools(options)


def _mcp(options: McpOptions, taken: Collection[str]) -> ToolSource:
    from tools.mcp.servers import McpServers

    return McpServers(options, taken=taken)


def _remind(_options: LocalOptions, around: Any) -> Tool:
    from tools.reminders import Remind

    return Remind(around.reminders)


def _remember(_options: LocalOptions, around: Any) -> Tool:
    from tools.memory import Remember

    return Remember(around.memory)


def _predictions(_options: LocalOptions, around: Any) -> Built:
    from tools.predictions.tool import CalibrationStats, ListPredictions, Predict, ResolvePrediction

    kept = around.predictions
    return Predict(kept), ResolvePrediction(kept), ListPredictions(kept), CalibrationStats(kept)


CATALOG: Mapping[str, CatalogEntry] = {
    "calculator": CatalogEntry(LocalOptions, _calculator),
    "weather": CatalogEntry(WeatherOptions, _weather),
    "clock": CatalogEntry(LocalOptions, _clock),
    "convert": CatalogEntry(ConvertOptions, _convert),
    "web_search": CatalogEntry(WebSearchOptions, _web_search),
    "verify_news": CatalogEntry(VerifyNewsOptions, _verify_news),
    "twitter": CatalogEntry(TwitterOptions, _twitter),
    "wikipedia": CatalogEntry(WikipediaOptions, _wikipedia),
    "markets": CatalogEntry(MarketsOptions, _markets),
    "news": CatalogEntry(NewsOptions, _news),
    "web_fetch": CatalogEntry(PageOptions, _web_fetch),
    "images": CatalogEntry(ImagesOptions, _images),
    "db_query": CatalogEntry(DbQueryOptions, _db_query),
    "mcp": CatalogEntry(McpOptions, lambda _options, _around: (), _mcp),
    "remind": CatalogEntry(LocalOptions, _remind),
    "remember": CatalogEntry(LocalOptions, _remember),
    "predictions": CatalogEntry(LocalOptions, _predictions),
}
