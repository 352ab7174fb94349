"""Searching for all tools alike: the services, the memory of the last minutes, the quotas of months.

    query --asked lately?--> what was found then, for nothing
      '--> each service of the order that can search so --> hits, each address once
                '- failed, out of quota: the next

The order is the operator's; a service without its key or address is passed over, and what people ask goes to no other
service. How each is asked is the part of the modules beside this one; what is looked for, and what is made of it, is
the part of the tools, which share one `SearchService` so that nothing is asked twice.
"""

import logging
from collections import OrderedDict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from decimal import Decimal
from typing import Any

from tools.errors import BadArguments, Disabled, RateLimited, ToolError
from tools.http import Http
from tools.ports import Quotas
from tools.search.base import Hit, Query, SearchBackend, lies_in
from tools.search.brave import Brave
from tools.search.options import Provider, SearchOptions
from tools.search.perplexity import Perplexity
from tools.search.searxng import SearXNG
from tools.search.serpapi import SerpApi
from tools.search.tavily import Tavily
from tools.search.wikipedia import WikipediaBackend
from tools.text import clean_line
from tools.web.addresses import canonical_url

_log = logging.getLogger(__name__)

_SERVICES: Mapping[Provider, type[SearchBackend]] = {
    "searxng": SearXNG,
    "brave": Brave,
    "tavily": Tavily,
    "serpapi": SerpApi,
    "perplexity": Perplexity,
    "wikipedia": WikipediaBackend,
}
"""The services that there are."""

KEPT_FOR = timedelta(minutes=10)
MAX_KEPT = 128
"""Answers that are kept; the oldest goes first."""


@dataclass(frozen=True, kw_only=True, slots=True)
class CachedHits:
    """What one service found."""

    source: str
    """The service's name."""
    hits: tuple[Hit, ...]
    failures: tuple[ToolError, ...] = ()
    """Why the services before it in the order did not answer, in that order; empty where it was the first."""
    cost_usd: Decimal = field(default=Decimal(0))
    """What the search cost by the service's price list."""


class Recent:
    """The answers of the last minutes, in memory only: the terms of several services forbid more.

    Shared by all conversations: what a service finds does not depend on who asks.
    """

    def __init__(self) -> None:
        self._answers: OrderedDict[Query, tuple[datetime, CachedHits]] = OrderedDict()

    def get(self, query: Query, now: datetime) -> CachedHits | None:
        """What was found for the very same query; None where nobody asked it lately."""
        self._forget(now)
        kept = self._answers.get(query)
        return None if kept is None else kept[1]

    def put(self, query: Query, found: CachedHits, now: datetime) -> None:
        """Keep an answer."""
        self._answers.pop(query, None)
        self._answers[query] = (now, found)
        self._forget(now)

    def _forget(self, now: datetime) -> None:
        # They stand in the order in which they came.
        for query, (at, _) in list(self._answers.items()):
            if len(self._answers) <= MAX_KEPT and at > now - KEPT_FOR:
                return
            del self._answers[query]


class SearchService:
    """Asks the search services one after the other until one answers."""

    def __init__(self, options: SearchOptions, http: Http, quotas: Quotas) -> None:
        by_provider = backends(options, http)
        self._backends = tuple(by_provider.values())
        self._most_by_name = {
            backend.name: most
            for provider, backend in by_provider.items()
            if (most := options.most_per_month(provider)) is not None
        }
        self._quotas = quotas
        self._recent = Recent()

    @property
    def is_open(self) -> bool:
        """Whether there is any service to ask."""
        return bool(self._backends)

    @property
    def usual_usd(self) -> Decimal:
        """What a search costs with the service that is asked first; 0 where there is none."""
        return self._backends[0].cost_usd if self._backends else Decimal(0)

    def takes(self, query: Query) -> bool:
        """Whether any service that is set up can search in this way at all."""
        return any(backend.takes(query) for backend in self._backends)

    def reaches(self, site: str) -> bool:
        """Whether any service that is set up can keep a search to one site."""
        return self.takes(Query(text=site, count=1, sites=(site,)))

    async def search(self, query: Query, now: datetime) -> CachedHits:
        """What the first service that answers finds: each address once, only of the wanted sites, perhaps nothing.

        The very same query within ten minutes is answered from memory and costs nothing.

        Raises:
            Disabled: no service that is set up can search in this way.
            ToolError: no service answered; of the kind of the last one's failure.
        """
        if (kept := self._recent.get(query, now)) is not None:
            return replace(kept, cost_usd=Decimal(0))
        if not self._backends:
            raise Disabled(
                "No search service is set up: the operator must look into TOOLS__WEB_SEARCH__PROVIDERS and the keys."
            )
        able = [backend for backend in self._backends if backend.takes(query)]
        if not able:
            names = ", ".join(backend.name for backend in self._backends)
            raise Disabled(
                f"{names} cannot search like that. Search without topic, freshness and sites, or answer without it."
            )
        found = await self._ask(query, able)
        if not found.failures:  # a stand-in's answer is not kept: the better service may be back in a moment
            self._recent.put(query, found, now)
        return found

    async def _ask(self, query: Query, able: Sequence[SearchBackend]) -> CachedHits:
        failures: list[ToolError] = []
        for backend in able:
            try:
                await self._count(backend)
                hits = await backend.search(query)
            except ToolError as error:
                _log.warning("%s failed, kind %s", backend.name, error.code)
                failures.append(error)
                continue
            wanted = _filter(hits, query)
            return CachedHits(source=backend.name, hits=wanted, failures=tuple(failures), cost_usd=backend.cost_usd)
        last = failures[-1]
        raise type(last)(" ".join(map(str, failures))) from last

    async def _count(self, backend: SearchBackend) -> None:
        """Take a request out of the month's amount before it is sent: one that fails costs a place too, and no crash
        gives one away.
        """
        most = self._most_by_name.get(backend.name)
        if most is not None and not await self._quotas.take(backend.name, most=most):
            raise RateLimited(f"{backend.name}: the {most} searches that it may be asked in a month are used up.")


def backends(options: SearchOptions, http: Http) -> Mapping[Provider, SearchBackend]:
    """Who is asked, in the operator's order; empty where no service that is named has its key or address."""
    return {name: _SERVICES[name](options, http) for name in options.ready}


def clean_query(given: str) -> str:
    """The words of a query, fit to be sent: on one line, without what nobody sees.

    Raises:
        BadArguments: nothing is left.
    """
    words = clean_line(given)
    if not words:
        raise BadArguments("The query is empty.")
    return words


def row(hit: Hit) -> Mapping[str, Any]:
    """A hit as one of the `results`: `title`, `url`, `site` and `snippet`; `age` and `score` where they are known."""
    found: dict[str, Any] = {"title": hit.title, "url": hit.url, "site": hit.site}
    more = {"age": hit.age, "score": hit.score}
    return found | {name: value for name, value in more.items() if value is not None} | {"snippet": hit.snippet}


def _filter(hits: Sequence[Hit], query: Query) -> tuple[Hit, ...]:
    """Each address once, and only of sites that are wanted, whatever the service made of that."""
    found: dict[str, Hit] = {}
    for hit in hits:
        is_wanted = not query.sites or lies_in(hit.site, query.sites)
        if is_wanted and not lies_in(hit.site, query.without_sites):
            found.setdefault(canonical_url(hit.url) or hit.url, hit)
    return tuple(found.values())
