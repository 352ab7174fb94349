"""The one desk at which all tools search: its services, its memory of the last minutes, its months.

    query --asked lately?--> what was found then, for nothing
      '--> each service of the order that can search so --> hits, each address once
                '- failed, out of quota: the next

The order is the operator's; a service without its key or address is passed over, and what people ask goes to no other
service. How each is asked is the part of the modules beside this one; what is looked for, and what is made of it, is
the part of the tools, which share one desk so that nothing is asked twice. Left to others: the numbers by which answers
cite what was found (`bot.turn.citations`).
"""

import logging
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from decimal import Decimal
from typing import Any

from tools.errors import BadArguments, Disabled, ToolError
from tools.http import Http
from tools.ports import Quotas
from tools.search.backends import backends
from tools.search.base import Hit, Query, SearchBackend, lies_in
from tools.search.cache import CachedHits, Recent
from tools.search.options import SearchOptions
from tools.text import clean_text
from tools.web.addresses import canonical_url

_log = logging.getLogger(__name__)


class SearchService:
    """Asks the search services one after the other until one answers."""

    def __init__(self, options: SearchOptions, http: Http, quotas: Quotas) -> None:
        self._backends = backends(options, http, quotas)
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
        able = [backend for backend in self._backends if backend.takes(query)]
        if not able:
            raise Disabled(_unable(self._backends))
        found = await _asked(query, able)
        if not found.failures:  # a stand-in's answer is not kept: the better service may be back in a moment
            self._recent.put(query, found, now)
        return found


def clean_query(given: str) -> str:
    """The words of a query, fit to be sent: on one line, without what nobody sees.

    Raises:
        BadArguments: nothing is left.
    """
    words = " ".join(clean_text(given).split())
    if not words:
        raise BadArguments("The query is empty.")
    return words


def row(hit: Hit) -> Mapping[str, Any]:
    """A hit as one of the `results`: `title`, `url`, `site` and `snippet`; `age` and `score` where they are known."""
    found: dict[str, Any] = {"title": hit.title, "url": hit.url, "site": hit.site}
    more = {"age": hit.age, "score": hit.score}
    return found | {name: value for name, value in more.items() if value is not None} | {"snippet": hit.snippet}


async def _asked(query: Query, able: Sequence[SearchBackend]) -> CachedHits:
    failures: list[ToolError] = []
    for backend in able:
        try:
            hits = await backend.search(query)
        except ToolError as error:
            _log.warning("%s failed, kind %s", backend.name, error.code)
            failures.append(error)
            continue
        wanted = _wanted(hits, query)
        return CachedHits(source=backend.name, hits=wanted, failures=tuple(failures), cost_usd=backend.cost_usd)
    last = failures[-1]
    raise type(last)(" ".join(map(str, failures))) from last


def _unable(chosen: Sequence[SearchBackend]) -> str:
    names = ", ".join(backend.name for backend in chosen)
    if not names:
        return "No search service is set up: the operator must look into TOOLS__WEB_SEARCH__PROVIDERS and the keys."
    return f"{names} cannot search like that. Search without topic, freshness and sites, or answer without it."


def _wanted(hits: Sequence[Hit], query: Query) -> tuple[Hit, ...]:
    """Each address once, and only of sites that are wanted, whatever the service made of that."""
    found: dict[str, Hit] = {}
    for hit in hits:
        is_wanted = not query.sites or lies_in(hit.site, query.sites)
        if is_wanted and not lies_in(hit.site, query.without_sites):
            found.setdefault(canonical_url(hit.url) or hit.url, hit)
    return tuple(found.values())
