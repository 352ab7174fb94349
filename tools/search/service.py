"""Search for all tools: the services, a cache of the last minutes, and monthly quotas.

    query --asked recently?--> the cached hits, for free
      '--> each suitable service in order --> hits, each address once
                '- failed, out of quota: the next

The operator sets the order. Services without their key or address are skipped, and queries go to no other service. The
neighbouring modules query the services; the tools decide what to search for, and share one `SearchService` so that
nothing is asked twice.
"""

import logging
from collections import OrderedDict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from decimal import Decimal
from typing import Any

from tools.base import Quotas
from tools.errors import BadArguments, Disabled, RateLimited, ToolError
from tools.http import Http
from tools.search.base import Hit, Query, SearchBackend, lies_in
from tools.search.options import Provider, SearchOptions
from tools.search.services import SERVICES
from tools.text import clean_line
from tools.web.addresses import canonical_url

_log = logging.getLogger(__name__)

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


class Recent:
    """A cache of the last minutes, in memory only, as the terms of several services forbid more.

    All conversations share it, since results do not depend on who asks.
    """

    def __init__(self) -> None:
        self._answers: OrderedDict[Query, tuple[datetime, CachedHits]] = OrderedDict()

    def get(self, query: Query, now: datetime) -> CachedHits | None:
        """Returns the hits of the same query; None if nobody asked it recently."""
        self._forget(now)
        kept = self._answers.get(query)
        return None if kept is None else kept[1]

    def put(self, query: Query, found: CachedHits, now: datetime) -> None:
        """Keeps an answer."""
        self._answers.pop(query, None)
        self._answers[query] = (now, found)
        self._forget(now)

    def _forget(self, now: datetime) -> None:
        # They are in the order in which they came.
        for query, (at, _) in list(self._answers.items()):
            if len(self._answers) <= MAX_KEPT and at > now - KEPT_FOR:
                return
            del self._answers[query]


class SearchService:
    """Queries the search services one after the other until one answers."""

    def __init__(self, options: SearchOptions, http: Http, quotas: Quotas) -> None:
        by_provider = backends(options, http)
        self._backends = tuple(by_provider.values())
        self._limit_by_name = {
            backend.name: limit
            for provider, backend in by_provider.items()
            if (limit := options.limit_per_month(provider)) is not None
        }
        self._quotas = quotas
        self._recent = Recent()

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
                f"{names} cannot search like that. Omit topic, freshness and sites, or answer without a search."
            )
        found = await self._ask(query, able)
        if not found.failures:  # not cached otherwise, as a better service may be back in a moment
            self._recent.put(query, found, now)
        return found

    async def _ask(self, query: Query, able: Sequence[SearchBackend]) -> CachedHits:
        failures: list[ToolError] = []
        for backend in able:
            try:
                await self._count(backend)
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

    async def _count(self, backend: SearchBackend) -> None:
        """Takes a request from the monthly quota before it is sent, so failures count, too, and crashes lose none."""
        limit = self._limit_by_name.get(backend.name)
        if limit is not None and not await self._quotas.take(backend.name, limit=limit):
            raise RateLimited(f"{backend.name}: the monthly limit of {limit} searches is used up.")


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
