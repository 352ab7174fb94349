"""Which tools there are: one line a tool, in the order in which models see them.

The name of a line is the tool's group of settings: `weather` is set by `TOOLS__WEATHER__<FIELD>`, and the fields are
those of its options class. To add a tool, write its module and add its line here. The settings of all tools are read at
every start, so what is imported here at the head is light; a tool itself is imported when it is made.
"""

import inspect
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from pkgutil import resolve_name
from typing import Any

from tools.base import LocalOptions, Options, Tool, ToolSource
from tools.conversion.options import ConvertOptions
from tools.databases.options import DbQueryOptions
from tools.evidence.options import VerifyNewsOptions
from tools.images.options import ImagesOptions
from tools.markets.options import MarketsOptions
from tools.mcp.options import McpOptions
from tools.news.options import NewsOptions
from tools.search.options import SearchOptions
from tools.twitter.options import TwitterOptions
from tools.weather.options import WeatherOptions
from tools.web.options import PageOptions
from tools.wikipedia.options import WikipediaOptions


@dataclass(frozen=True, slots=True)
class CatalogEntry:
    """A line of the catalogue: the tool's options class, and where the tool is.

    Several tools that share one group of settings are one line.
    """

    options: type[Options]
    maker: str = ""
    """`module:name` of a class, or of a function that gives a tool or a tuple of tools. It is handed what its
    parameters are called: `options`, `search`, a field of `tools.building.ToolDeps`. Empty: there is only a source."""
    has_stand_in: bool = False
    """Whether it is made even where its options lack something, for it can do its work by another service then."""
    source: Callable[[Any, Collection[str]], ToolSource] | None = None
    """What gives tools that are known only while Aldis runs, made with the names that are taken; None: nothing does."""

    def build(self, options: Options, around: Mapping[str, object]) -> tuple[Tool, ...]:
        """The tools of the line, made with what is `around` them by name; none where the options lack something."""
        if not self.maker or (options.missing() is not None and not self.has_stand_in):
            return ()
        make: Callable[..., Tool | tuple[Tool, ...]] = resolve_name(self.maker)
        wanted = inspect.signature(make).parameters
        made = make(**{name: options if name == "options" else around[name] for name in wanted})
        return made if isinstance(made, tuple) else (made,)


def _mcp(options: McpOptions, taken: Collection[str]) -> ToolSource:
    from tools.mcp.servers import McpServers

    return McpServers(options, taken=taken)


CATALOG: Mapping[str, CatalogEntry] = {
    "calculator": CatalogEntry(LocalOptions, "tools.calculator.tool:Calculator"),
    "weather": CatalogEntry(WeatherOptions, "tools.weather.tool:Weather"),
    "clock": CatalogEntry(LocalOptions, "tools.clock:CurrentTime"),
    "convert": CatalogEntry(ConvertOptions, "tools.conversion.tool:Convert"),
    "web_search": CatalogEntry(SearchOptions, "tools.search.tool:search_tools"),
    "verify_news": CatalogEntry(VerifyNewsOptions, "tools.evidence.tool:evidence_tools"),
    "twitter": CatalogEntry(TwitterOptions, "tools.twitter.tool:twitter_tools", has_stand_in=True),
    "wikipedia": CatalogEntry(WikipediaOptions, "tools.wikipedia.tool:Wikipedia"),
    "markets": CatalogEntry(MarketsOptions, "tools.markets.tool:market_tools"),
    "news": CatalogEntry(NewsOptions, "tools.news.tool:news_tools"),
    "web_fetch": CatalogEntry(PageOptions, "tools.web.tool:WebFetch"),
    "images": CatalogEntry(ImagesOptions, "tools.images.tool:ImageGenerate"),
    "db_query": CatalogEntry(DbQueryOptions, "tools.databases.tool:database_tools"),
    "mcp": CatalogEntry(McpOptions, source=_mcp),
    "remind": CatalogEntry(LocalOptions, "tools.reminders:Remind"),
    "remember": CatalogEntry(LocalOptions, "tools.memory:Remember"),
    "predictions": CatalogEntry(LocalOptions, "tools.predictions.tool:prediction_tools"),
}
