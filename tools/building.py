"""Builds the tools of the catalogue: what they share, and which of them are on.

An operator who lists tools or calls one by hand has no conversation and no store (`alone`), so nothing stands behind
the ports: a tool that needs one says so when it is called, and quotas are not counted.
"""

from collections.abc import Awaitable, Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, fields
from datetime import datetime
from typing import Any, NoReturn

from tools.base import Options, Tool, ToolSource
from tools.catalog import CATALOG
from tools.errors import Disabled
from tools.http import Http
from tools.ports import Judge, Memory, News, Papers, Predictions, Quotas, Reminders, Span
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
    """The sources of enabled tools that are not known yet; `taken` are the names of the others. Nothing is started."""
    return tuple(
        entry.source(options, taken)
        for name, entry in CATALOG.items()
        if entry.source and (options := _options(name, options_by_name)).enabled and not options.missing()
    )


def build_tools(
    names: Iterable[str], options_by_name: Mapping[str, Options], tool_deps: ToolDeps
) -> Mapping[str, tuple[Tool, ...]]:
    """The tools of these lines, whether they are switched on or not; none where a line lacks what it needs.

    What they are made with: their surroundings, and `search`, where all of them search. So they share the services, the
    months, the minutes and the numbers. It is there whether or not the tool `web_search` is switched on, whose settings
    it goes by.
    """
    given = options_by_name.get("web_search")
    search = SearchService(
        given if isinstance(given, SearchOptions) else SearchOptions(), tool_deps.http, tool_deps.quotas
    )
    around = {field.name: getattr(tool_deps, field.name) for field in fields(tool_deps)} | {"search": search}
    return {name: CATALOG[name].build(_options(name, options_by_name), around) for name in names}


def _options(name: str, options_by_name: Mapping[str, Options]) -> Options:
    return options_by_name.get(name) or CATALOG[name].options()


class Nobody:
    """Every port at once, refusing whatever is asked of it."""

    def __getattr__(self, name: str) -> Callable[..., Awaitable[NoReturn]]:
        """A method of whichever port.

        Raises:
            AttributeError: the name is private, which no port's is.
        """
        if name.startswith("_"):
            raise AttributeError(name)

        async def refused(*_: object, **__: object) -> NoReturn:
            raise Disabled("This works only in a conversation with Aldis.")

        return refused


class NoQuotas:
    """`Quotas` without limits: what is asked by hand may be asked."""

    async def take(self, service: str, *, most: int, amount: int = 1, per: Span = "month") -> bool:
        """Always."""
        del service, most, amount, per
        return True

    async def give_back(self, service: str, *, amount: int, taken_at: datetime, per: Span = "month") -> None:
        """Nothing was counted."""


def alone(http: Http, fetcher: Fetcher) -> ToolDeps:
    """Surroundings with a way to the outside, and nobody behind the ports."""
    everything: dict[str, Any] = {field.name: Nobody() for field in fields(ToolDeps)}
    everything |= {"http": http, "fetcher": fetcher, "quotas": NoQuotas()}
    return ToolDeps(**everything)
