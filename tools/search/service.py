"""Search for all tools: the services, and a cache of the last minutes.

    query --asked recently?--> the cached hits, for free
      '--> each suitable service in order --> hits, each address once
                '- failed: the next

The operator sets the order. Services without their key or address are skipped, and queries go to no other service. The
neighbouring modules query the services; the tools, of which `web_search` stands here, decide what to search for, and
share one `SearchService` so that nothing is asked twice.
"""

import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from decimal import Decimal
from typing import Annotated, Any, Literal, cast

from pydantic import Field, StringConstraints, model_validator

from tools.base import Arguments, Intent, Result, ToolContext, ToolSpec, fit
from tools.errors import BadArguments, Disabled, ToolError
from tools.http import Http
from tools.search.base import Freshness, Hit, Query, SearchBackend, lies_in, trim_query
from tools.search.options import MAX_RESULTS, Provider, SearchOptions, Site
from tools.search.services import SERVICES
from tools.text import clean_line
from tools.web.addresses import canonical_url

_log = logging.getLogger(__name__)

MAX_QUERY_CHARS = 500

_MAX_SITES = 5
_TAVILY_NAMES = {"include_domains": "sites", "exclude_domains": "without_sites"}

Sites = Annotated[tuple[Site, ...], Field(max_length=_MAX_SITES)]
Language = Annotated[str, StringConstraints(pattern=r"^[a-z]{2}$")]
KEPT_FOR = timedelta(minutes=10)
MAX_KEPT = 128
"""The most cached answers; the oldest goes first."""


@dataclass(frozen=True, kw_only=True, slots=True)
class CachedHits:
    """The hits of one service."""

    source: str
    """The service's name."""
    hits: tuple[Hit, ...]
    failures: tuple[ToolError, ...] = ()
    """Why the services before it did not answer, in order; empty if it was the first."""
    cost_usd: Decimal = field(default=Decimal(0))
    """The cost of the search by the service's price list."""
    answer: str = ""
    """The service's own answer to the words, if it was asked for one and gives one."""


class SearchService:
    """Queries the search services one after the other until one answers."""

    def __init__(self, options: SearchOptions, http: Http) -> None:
        self._backends = tuple(backends(options, http).values())
        # In memory only, as the terms of several services forbid more; shared by all conversations, since results do
        # not depend on who asks.
        self._recent: dict[Query, tuple[datetime, CachedHits]] = {}

    @property
    def is_open(self) -> bool:
        """Whether any service is available."""
        return bool(self._backends)

    @property
    def usual_usd(self) -> Decimal:
        """The cost of a search with the first service; 0 if there is none."""
        return self._backends[0].cost_usd if self._backends else Decimal(0)

    def takes(self, query: Query) -> bool:
        """Whether any available service supports this kind of search."""
        return any(backend.takes(query) for backend in self._backends)

    def reaches(self, site: str) -> bool:
        """Whether any available service can limit a search to a site."""
        return self.takes(Query(text=site, count=1, sites=(site,)))

    async def search(self, query: Query, now: datetime) -> CachedHits:
        """Returns the hits of the first service that answers: each address once, only wanted sites, perhaps none.

        Repeating a query within ten minutes is answered from the cache and costs nothing.

        Raises:
            Disabled: no available service supports this kind of search.
            ToolError: no service answered; the error of the last one.
        """
        recent = [(asked, kept) for asked, kept in self._recent.items() if kept[0] > now - KEPT_FOR]
        self._recent = dict(recent[-MAX_KEPT:])
        if query in self._recent:
            return replace(self._recent[query][1], cost_usd=Decimal(0))
        if not self._backends:
            raise Disabled(
                "No search service is set up: the operator must look into TOOLS__WEB_SEARCH__PROVIDERS and the keys."
            )
        able = [backend for backend in self._backends if backend.takes(query)]
        if not able:
            names = ", ".join(backend.name for backend in self._backends)
            raise Disabled(
                f"{names} cannot search like that. Omit topic, freshness and sites, or answer without a search."
            )
        found = await self._ask(query, able)
        if not found.failures:  # not cached otherwise, as a better service may be back in a moment
            self._recent[query] = (now, found)
        return found

    async def _ask(self, query: Query, able: Sequence[SearchBackend]) -> CachedHits:
        failures: list[ToolError] = []
        for backend in able:
            try:
                hits, answer = await backend.find(query)
            except ToolError as error:
                _log.warning("%s failed, kind %s", backend.name, error.code)
                failures.append(error)
                continue
            wanted = _filter(hits, query)
            return CachedHits(
                source=backend.name,
                hits=wanted,
                failures=tuple(failures),
                cost_usd=backend.price_usd(query),
                answer=answer,
            )
        last = failures[-1]
        raise type(last)(" ".join(map(str, failures))) from last


def backends(options: SearchOptions, http: Http) -> Mapping[Provider, SearchBackend]:
    """Returns the services in the operator's order; empty if none of those named has its key or address."""
    return {name: SERVICES[name](options, http) for name in options.ready}


def clean_query(given: str) -> str:
    """Returns the words of a query on one line, without invisible characters.

    Raises:
        BadArguments: nothing is left.
    """
    words = clean_line(given)
    if not words:
        raise BadArguments("The query is empty.")
    return words


def row(hit: Hit) -> Mapping[str, Any]:
    """Describes a hit as a result: `title`, `url`, `site` and `snippet`; `age` and `score` if known."""
    found: dict[str, Any] = {"title": hit.title, "url": hit.url, "site": hit.site}
    more = {"age": hit.age, "score": hit.score}
    return found | {name: value for name, value in more.items() if value is not None} | {"snippet": hit.snippet}


def _filter(hits: Sequence[Hit], query: Query) -> tuple[Hit, ...]:
    """Keeps each address once, and only wanted sites, as services may ignore that."""
    found: dict[str, Hit] = {}
    for hit in hits:
        is_wanted = not query.sites or lies_in(hit.site, query.sites)
        if is_wanted and not lies_in(hit.site, query.without_sites):
            found.setdefault(canonical_url(hit.url) or hit.url, hit)
    return tuple(found.values())


class WebSearchArguments(Arguments):
    """The pages to search for."""

    rare = frozenset({"count", "without_sites", "language", "search_depth", "include_answer"})

    query: str = Field(min_length=1, description="A few words, no private details about people.")
    count: int | None = Field(
        default=None, description=f"The number of results, up to {MAX_RESULTS}; default: as usual."
    )
    topic: Literal["web", "news"] = Field(default="web", description="`news` for recent events.")
    freshness: Freshness | None = Field(default=None, description="The maximum age.")
    sites: Sites = Field(default=(), description="Only these sites, such as example.org.")
    without_sites: Sites = Field(default=(), description="Exclude these sites.")
    language: Language | None = Field(default=None, description="Of the pages, two letters: en, de, fr, ...")
    search_depth: Literal["basic", "advanced"] = Field(default="basic", description="Advanced costs more; Tavily only.")
    include_answer: bool = Field(default=False, description="The service's own short answer, too; Tavily only.")

    @model_validator(mode="before")
    @classmethod
    def _by_names_of_tavily(cls, given: Any) -> Any:
        """Accepts Tavily's names for the sites."""
        if not isinstance(given, dict):
            return given
        return {_TAVILY_NAMES.get(name, name): item for name, item in cast("dict[str, Any]", given).items()}


class WebSearch:
    """Searches the web, or Wikipedia if nothing else is set up."""

    def __init__(self, options: SearchOptions, search: SearchService) -> None:
        self._max_results = options.max_results
        self._search = search
        self.spec = ToolSpec(
            name="web_search",
            description=(
                "Searches the web and returns numbered results."
                " `source` names the service that answered; Wikipedia has only encyclopaedic subjects, no news or"
                " prices. Use it for anything recent, local or uncertain."
            ),
            arguments=WebSearchArguments,
            intent=lambda given: Intent("search_web", {"query": given.query}),
            label="pages",
            cost_usd=search.usual_usd,
        )

    async def run(self, arguments: WebSearchArguments, context: ToolContext) -> Result:
        """Returns the results of the first service that answers; an empty list and a message if there are none.

        Raises:
            BadArguments: the query contains nothing readable.
            Disabled: no available service supports this kind of search.
            ToolError: no service answered; the error of the last one.
        """
        count, note = fit(arguments.count or self._max_results, 1, self._max_results, "results")
        query = self._query(arguments, count)
        found = await self._search.search(query, context.now)
        return Result(data={**note, **self._data(query, found)}, cost_usd=found.cost_usd)

    def _query(self, arguments: WebSearchArguments, count: int) -> Query:
        return Query(
            text=trim_query(clean_query(arguments.query), max_chars=MAX_QUERY_CHARS),
            count=count,
            is_news=arguments.topic == "news",
            freshness=arguments.freshness,
            sites=arguments.sites,
            without_sites=arguments.without_sites,
            language=arguments.language,
            is_deep=arguments.search_depth == "advanced",
            has_answer=arguments.include_answer,
        )

    def _data(self, query: Query, found: CachedHits) -> dict[str, Any]:
        data: dict[str, Any] = {"query": query.text, "source": found.source}
        if found.answer:
            data["answer"] = found.answer
        if found.failures:
            data["failed_before"] = [str(failure) for failure in found.failures]
        if not found.hits:
            data["message"] = "Nothing was found; try other words."
        return data | {"results": list(map(row, found.hits))}


def search_tools(options: SearchOptions, search: SearchService) -> tuple[WebSearch, ...]:
    """Returns the tool; none if no service is available."""
    return (WebSearch(options, search),) if search.is_open else ()
