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
from tools.http import Http
from tools.weather import Weather, WeatherOptions
from tools.web_search import WebSearch, WebSearchOptions


@dataclass(frozen=True, kw_only=True, slots=True)
class Surroundings:
    """What tools share while Aldis runs."""

    http: Http


@dataclass(frozen=True, slots=True)
class Entry:
    """A line of the catalogue: the tool's options class, and how the tool is made of such options."""

    options: type[Options]
    build: Callable[[Any, Surroundings], Tool]


CATALOG: Mapping[str, Entry] = {
    "calculator": Entry(CalculatorOptions, lambda _options, _around: Calculator()),
    "weather": Entry(WeatherOptions, lambda options, around: Weather(options, around.http)),
    "clock": Entry(ClockOptions, lambda _options, _around: CurrentTime()),
    "web_search": Entry(WebSearchOptions, lambda options, around: WebSearch(options, around.http)),
}


def build(options_by_name: Mapping[str, Options], surroundings: Surroundings) -> tuple[Tool, ...]:
    """The enabled tools in the catalogue's order; one that `options_by_name` leaves out gets its default options."""
    chosen = [(entry, options_by_name.get(name) or entry.options()) for name, entry in CATALOG.items()]
    return tuple(entry.build(options, surroundings) for entry, options in chosen if options.enabled)
