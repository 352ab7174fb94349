"""Builds the enabled tools of the catalogue from their shared dependencies.

An operator who lists tools or calls one by hand has no conversation and no store (`alone`). The ports then lead
nowhere: a tool that needs one says so when called, and quotas are not counted.
"""

from collections.abc import Awaitable, Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, fields
from datetime import datetime
from typing import Any, NoReturn

from tools.base import Options, Quotas, Tool, ToolSource
from tools.catalog import CATALOG
from tools.errors import Disabled
from tools.evidence.sources import Judge
from tools.http import Http
from tools.memory import Memory
from tools.news.tool import News
from tools.predictions import Predictions
from tools.reminders import Reminders
from tools.search.options import SearchOptions
from tools.search.service import SearchService
from tools.web.fetch import Fetcher
from tools.web.papers import Papers


@dataclass(frozen=True, kw_only=True, slots=True)
class ToolDeps:
    """The dependencies that tools share."""

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
    """Builds the enabled tools in the order of the catalogue. Missing options mean the defaults."""
    on = [name for name in CATALOG if _options(name, options_by_name).enabled]
    return tuple(tool for tools in build_tools(on, options_by_name, tool_deps).values() for tool in tools)


def sources(options_by_name: Mapping[str, Options], *, taken: Collection[str]) -> tuple[ToolSource, ...]:
    """Returns the sources of tools known only at run time, without starting them; `taken` are names of other tools."""
    return tuple(
        entry.source(options, taken)
        for name, entry in CATALOG.items()
        if entry.source and (options := _options(name, options_by_name)).enabled and not options.missing_settings()
    )


def build_tools(
    names: Iterable[str], options_by_name: Mapping[str, Options], tool_deps: ToolDeps
) -> Mapping[str, tuple[Tool, ...]]:
    """Builds the tools of these lines, enabled or not; none for a line that lacks what it needs.

    They get the shared dependencies and one `search`, so they also share its services and its cache. It follows the
    settings of the tool `web_search`, whether or not that is enabled.
    """
    given = options_by_name.get("web_search")
    search = SearchService(given if isinstance(given, SearchOptions) else SearchOptions(), tool_deps.http)
    around = {field.name: getattr(tool_deps, field.name) for field in fields(tool_deps)} | {"search": search}
    return {name: CATALOG[name].build(_options(name, options_by_name), around) for name in names}


def _options(name: str, options_by_name: Mapping[str, Options]) -> Options:
    return options_by_name.get(name) or CATALOG[name].options()


class Nobody:
    """Stands in for every port and refuses every call."""

    def __getattr__(self, name: str) -> Callable[..., Awaitable[NoReturn]]:
        """Returns a method that refuses.

        Raises:
            AttributeError: the name is private, so it belongs to no port.
        """
        if name.startswith("_"):
            raise AttributeError(name)

        async def refused(*_: object, **__: object) -> NoReturn:
            raise Disabled("This works only in a conversation with Aldis.")

        return refused


class NoQuotas:
    """`Quotas` without limits, for calls by hand."""

    async def take(self, service: str, *, limit: int, amount: int) -> bool:
        """Always allows it."""
        del service, limit, amount
        return True

    async def give_back(self, service: str, *, amount: int, taken_at: datetime) -> None:
        """Does nothing, as nothing was counted."""


def alone(http: Http, fetcher: Fetcher) -> ToolDeps:
    """Returns dependencies with network access but without anything behind the ports."""
    everything: dict[str, Any] = {field.name: Nobody() for field in fields(ToolDeps)}
    everything |= {"http": http, "fetcher": fetcher, "quotas": NoQuotas()}
    return ToolDeps(**everything)
