"""Which tools there are: one line a tool, in the order in which models see them.

The name of a line is the tool's group of settings: `weather` is set by `TOOLS__WEATHER__<FIELD>`, and the fields are
those of its options class. To add a tool, write its module and add its line here.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from tools.base import Options, Tool
from tools.calculator import Calculator, CalculatorOptions
from tools.clock import ClockOptions, CurrentTime
from tools.convert import Convert, ConvertOptions
from tools.fetch import Fetcher
from tools.http import Http
from tools.markets import MarketGet, MarketSearch, MarketsOptions
from tools.memory import Remember, RememberOptions
from tools.page import PageOptions, WebFetch
from tools.ports import Memory, Quotas, Reminders
from tools.reminders import Remind, RemindOptions
from tools.weather import Weather, WeatherOptions
from tools.web_search import WebSearch, WebSearchOptions
from tools.wikipedia import Wikipedia, WikipediaOptions


@dataclass(frozen=True, kw_only=True, slots=True)
class Surroundings:
    """What tools share while Aldis runs."""

    http: Http
    fetcher: Fetcher
    reminders: Reminders
    memory: Memory
    quotas: Quotas


@dataclass(frozen=True, slots=True)
class Entry:
    """A line of the catalogue: the tool's options class, and how the tool is made of such options.

    Several tools that share one group of settings are one line.
    """

    options: type[Options]
    build: Callable[[Any, Surroundings], Tool | tuple[Tool, ...]]


CATALOG: Mapping[str, Entry] = {
    "calculator": Entry(CalculatorOptions, lambda _options, _around: Calculator()),
    "weather": Entry(WeatherOptions, lambda options, around: Weather(options, around.http)),
    "clock": Entry(ClockOptions, lambda _options, _around: CurrentTime()),
    "convert": Entry(ConvertOptions, lambda options, around: Convert(options, around.http)),
    "web_search": Entry(WebSearchOptions, lambda options, around: WebSearch(options, around.http, around.quotas)),
    "wikipedia": Entry(WikipediaOptions, lambda options, around: Wikipedia(options, around.http)),
    "markets": Entry(
        MarketsOptions, lambda options, around: (MarketSearch(options, around.http), MarketGet(options, around.http))
    ),
    "web_fetch": Entry(PageOptions, lambda options, around: WebFetch(options, around.fetcher)),
    "remind": Entry(RemindOptions, lambda _options, around: Remind(around.reminders)),
    "remember": Entry(RememberOptions, lambda _options, around: Remember(around.memory)),
}


def build(options_by_name: Mapping[str, Options], surroundings: Surroundings) -> tuple[Tool, ...]:
    """The enabled tools in the catalogue's order; one that `options_by_name` leaves out gets its default options."""
    chosen = [(entry, options_by_name.get(name) or entry.options()) for name, entry in CATALOG.items()]
    built = [entry.build(options, surroundings) for entry, options in chosen if options.enabled]
    return tuple(tool for made in built for tool in (made if isinstance(made, tuple) else (made,)))
