"""Search for all tools: the services, and a cache of the last minutes.

    query --asked recently?--> the cached hits, for free
      '--> each suitable service in order --> hits, each address once
                '- failed: the next

The operator sets the order. Services without their key or address are skipped, and queries go to no other service. All
tools share one `SearchService`, so that nothing is asked twice.
"""

import logging
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from decimal import Decimal
from typing import Any

from tools.errors import BadArguments, Disabled, ToolError
from tools.http import Http
from tools.search.base import Hit, Query, SearchResult, lies_in
from tools.search.options import SearchOptions
from tools.search.services import SERVICES
from tools.text import clean_line
from tools.web.addresses import canonical_url

_log = logging.getLogger(__name__)

KEPT_FOR = timedelta(minutes=10)
MAX_KEPT = 128
"""The most cached answers; the oldest goes first."""


class SearchService:
    """Queries the search services one after the other until one answers."""

    def __init__(self, options: SearchOptions, http: Http) -> None:
        self._options, self._http = options, http
        self._services = tuple(SERVICES[name] for name in options.ready)
        # In memory only, as the terms of several services forbid more; shared by all conversations, since results do
        # not depend on who asks.
        self._recent: dict[Query, tuple[datetime, SearchResult]] = {}

    @property
    def is_open(self) -> bool:
        """Whether any service is available."""
        return bool(self._services)

    @property
    def usual_usd(self) -> Decimal:
        """The cost of a search with the first service; 0 if there is none."""
        usual = Query(text="", count=1)
        return self._services[0].price_usd(usual, self._options) if self._services else Decimal(0)

    def takes(self, query: Query) -> bool:
        """Whether any available service supports this kind of search."""
        return any(service.takes(query) for service in self._services)

    async def search(self, query: Query, now: datetime) -> SearchResult:
        """Returns the hits of the first service that answers: each address once, only wanted sites, perhaps none.

        A query of the last ten minutes costs nothing. Raises the kind of the last failure, with the words of all.
        """
        recent = [(asked, kept) for asked, kept in self._recent.items() if kept[0] > now - KEPT_FOR]
        self._recent = dict(recent[-MAX_KEPT:])
        if query in self._recent:
            return replace(self._recent[query][1], cost_usd=Decimal(0))
        if not self._services:
            raise Disabled(
                "No search service is set up: the operator must look into TOOLS__WEB_SEARCH__PROVIDERS and the keys."
            )
        able = [service for service in self._services if service.takes(query)]
        if not able:
            names = ", ".join(service.name for service in self._services)
            raise Disabled(
                f"{names} cannot search like that. Omit topic, freshness and sites, or answer without a search."
            )
        failures: list[ToolError] = []
        for service in able:
            try:
                found = await service.search(query, self._options, self._http)
            except ToolError as error:
                _log.warning("%s failed, kind %s", service.name, error.code)
                failures.append(error)
                continue
            found = replace(found, hits=_filter(found.hits, query), failures=tuple(failures))
            if not failures:  # not cached otherwise, as a better service may be back in a moment
                self._recent[query] = (now, found)
            return found
        last = failures[-1]
        raise type(last)(" ".join(map(str, failures))) from last


def clean_query(given: str) -> str:
    """Returns the words of a query on one line, without invisible characters; raises `BadArguments` if none is left."""
    words = clean_line(given)
    if not words:
        raise BadArguments("The query is empty.")
    return words


def row(hit: Hit) -> Mapping[str, Any]:
    """Describes a hit as a result: `title`, `url`, `site` and `snippet`; `age` if known."""
    found: dict[str, Any] = {"title": hit.title, "url": hit.url, "site": hit.site}
    return found | ({"age": hit.age} if hit.age is not None else {}) | {"snippet": hit.snippet}


def _filter(hits: Sequence[Hit], query: Query) -> tuple[Hit, ...]:
    """Keeps each address once, and only wanted sites, as services may ignore that."""
    found: dict[str, Hit] = {}
    for hit in hits:
        is_wanted = not query.sites or lies_in(hit.site, query.sites)
        if is_wanted and not lies_in(hit.site, query.without_sites):
            found.setdefault(canonical_url(hit.url) or hit.url, hit)
    return tuple(found.values())
