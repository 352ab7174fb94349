"""The catalogue of tools, one line each, in the order in which models see them.

The name of a line is the settings group of the tool: the fields of the options class of `weather` are set by
`TOOLS__WEATHER__<FIELD>`. To add a tool, write its module and add its line here. The settings of all tools are read at
every start, so the imports of this module are light; a tool is imported when it is built.
"""

import inspect
from collections.abc import Mapping
from dataclasses import dataclass, field
from pkgutil import resolve_name

from tools.base import Options, Tool, switch
from tools.code import CodeOptions
from tools.databases.options import DbQueryOptions
from tools.evidence.sources import VerifyNewsOptions
from tools.images import ImagesOptions
from tools.mcp.options import McpOptions
from tools.news import NewsOptions
from tools.open_data.options import OpenDataOptions
from tools.recall import RecallOptions
from tools.search.options import SearchOptions
from tools.weather import WeatherOptions
from tools.x import TwitterOptions


@dataclass(frozen=True, slots=True)
class CatalogEntry:
    """A line of the catalogue: the options class of a tool, or of several, and where to find the tool."""

    options: type[Options]
    maker: str = ""
    """`module:name` of a class, or of a function that returns a tool or a tuple of tools. It is given the parameters
    `options`, `search` and those with the name of a field of `tools.building.ToolDeps`. Empty: it has only a source, or
    its tools are those of a feature."""
    has_stand_in: bool = False
    """Whether it is built even if its options lack something, because another service can then do its work."""
    source: str = ""
    """`module:name` of a `ToolSource`, made with the options and `taken`, the names of other tools; empty: none."""
    example: Mapping[str, str] = field(default_factory=dict[str, str])
    """Options with which the tool is offered, for the table in docs/tools.md and the tests; empty: the defaults do."""

    @property
    def summary(self) -> str:
        """The first sentence of the docstring of the tool's class; empty if the line names no class."""
        tool = resolve_name(self.maker) if self.maker else None
        return (inspect.getdoc(tool) or "").partition("\n")[0] if inspect.isclass(tool) else ""

    def build(self, options: Options, around: Mapping[str, object]) -> tuple[Tool, ...]:
        """Builds the tools of the line from the dependencies in `around`; none if the options lack something."""
        if not self.maker or (options.missing_settings() is not None and not self.has_stand_in):
            return ()
        maker = resolve_name(self.maker)
        given = {**around, "options": options}
        wanted = inspect.signature(maker).parameters.keys() & given
        made: Tool | tuple[Tool, ...] = maker(**{name: given[name] for name in wanted})
        return made if isinstance(made, tuple) else (made,)


CATALOG: Mapping[str, CatalogEntry] = {
    "calculator": CatalogEntry(switch(), "tools.calculator:Calculator"),
    "weather": CatalogEntry(WeatherOptions, "tools.weather:Weather"),
    "clock": CatalogEntry(switch(), "tools.clock:CurrentTime"),
    "convert": CatalogEntry(switch("Frankfurter: that rates are asked for"), "tools.conversion:Convert"),
    "web_search": CatalogEntry(SearchOptions, "tools.search.tool:WebSearch"),
    "verify_news": CatalogEntry(VerifyNewsOptions, "tools.evidence.tool:evidence_tools"),
    "twitter": CatalogEntry(
        TwitterOptions, "tools.x:twitter_tools", has_stand_in=True, example={"bearer_token": "token"}
    ),
    "wikipedia": CatalogEntry(switch("Wikimedia"), "tools.wikipedia:Wikipedia"),
    "markets": CatalogEntry(switch("Polymarket"), "tools.markets:market_tools"),
    "open_data": CatalogEntry(OpenDataOptions, "tools.open_data.tool:OpenData", example={"kinds": "all"}),
    "news": CatalogEntry(NewsOptions),
    "web_fetch": CatalogEntry(switch("the page's site"), "tools.web.tool:WebFetch"),
    "images": CatalogEntry(ImagesOptions, "tools.images:ImageGenerate", example={"api_key": "key"}),
    "db_query": CatalogEntry(
        DbQueryOptions,
        "tools.databases.tool:database_tools",
        example={"databases": '{"shop": {"address": "sqlite:///shop.db", "tables": {"orders": ["day", "total"]}}}'},
    ),
    "code": CatalogEntry(CodeOptions, "tools.code:RunCode", example={"enabled": "true"}),
    "mcp": CatalogEntry(McpOptions, source="tools.mcp.servers:McpServers"),
    "remind": CatalogEntry(switch()),
    "remember": CatalogEntry(switch()),
    "recall": CatalogEntry(RecallOptions),
    "predictions": CatalogEntry(switch()),
    "watches": CatalogEntry(switch("the services of the tools that are watched")),
}
