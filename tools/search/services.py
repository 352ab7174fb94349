"""The search services: what each is asked over HTTP (what all have in common is in `base`), and which is asked when.

    query --asked recently?--> the cached hits, for free
      '--> each suitable service in the operator's order --> hits, each address once
                '- failed: the next

Services without their key or address are skipped. All tools share one `SearchService`, so that nothing is asked twice.

Source (all 2026-11-21): api-dashboard.search.brave.com, whose terms only allow transient storage of results (they are
kept in memory for minutes); docs.tavily.com (1,000 credits a month are free without a card, a basic search is one);
serpapi.com (google-light, google, google-news-light; the cost depends on the plan; the key can only be sent in the
address, which `tools.http` never shows); docs.perplexity.ai (the search behind Sonar, whose chat completions ended on
2026-09-27); searxng `searx/webapp.py`, `searx/webutils.py` (most public instances forbid programs, so there is no
default address); mediawiki.org, API:Query, and the User-Agent policy of foundation.wikimedia.org: 200 requests a minute
with a contact (`TOOLS__CONTACT`), 10 without, at most three at once, which few people reach. Wikipedia's text is CC
BY-SA 4.0, which requires naming and linking the article, as every hit does.
"""

import logging
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from decimal import Decimal
from typing import Any

from tools.errors import BadArguments, Disabled, ToolError
from tools.http import Http, bearer
from tools.search.base import Hit, Query, SearchForm, SearchResult, lies_in, trim_query, with_operators
from tools.search.duckduckgo import ReadPages
from tools.search.options import Provider, SearchOptions
from tools.text import clean_line
from tools.web.addresses import canonical_url

_log = logging.getLogger(__name__)

KEPT_FOR = timedelta(minutes=10)
MAX_KEPT = 128
"""The most cached answers; the oldest goes first."""

WIKIPEDIA = "Wikipedia"
_BRAVE_FRESHNESS = {"day": "pd", "week": "pw", "month": "pm", "year": "py"}
_BRAVE_LANGUAGES = {
    code: code
    for code in str.split(
        "ar bg bn ca cs da de el en es et eu fi fr gl gu he hi hr hu is it kn ko lt lv ml mr ms nl pa pl ro"
        " ru sk sl sr sv ta te th tr uk vi"
    )
} | {"ja": "jp", "no": "nb", "pt": "pt-pt", "zh": "zh-hans"}
"""Brave's own codes by ISO 639-1, of all languages that it supports."""
_DUCKDUCKGO_REGIONS = {"en": "us-en", "de": "de-de", "fr": "fr-fr", "es": "es-es", "it": "it-it", "nl": "nl-nl"}
_SERPAPI_FRESHNESS = {"day": "qdr:d", "week": "qdr:w", "month": "qdr:m", "year": "qdr:y"}

SERVICES: Mapping[Provider, SearchForm] = {
    "searxng": SearchForm(
        name="SearXNG",
        summary="Searches through your own SearXNG.",
        url=lambda _, options: f"{options.searxng_base_url}/search",
        params=lambda query, _: {
            "q": with_operators(query, max_chars=500),
            "format": "json",
            "safesearch": "1",
            "categories": "news" if query.is_news else None,
            "time_range": query.freshness,
            "language": query.language,
        },
    ),
    "brave": SearchForm(
        name="Brave Search",
        summary="Searches web and news.",
        price_usd=lambda _, __: Decimal("0.005"),  # $5 for 1,000, of which $5 a month are free (dashboard, 2026-09)
        url=lambda query, options: f"{options.base_url}/{'news' if query.is_news else 'web'}/search",
        params=lambda query, _: {
            "q": with_operators(query, max_chars=400, max_words=50),
            "count": str(query.count),
            "country": "ALL",
            "freshness": _BRAVE_FRESHNESS.get(query.freshness or ""),
            "search_lang": _BRAVE_LANGUAGES.get(query.language or ""),
            **({} if query.is_news else {"text_decorations": "false", "result_filter": "web"}),
        },
        headers=lambda options: {"X-Subscription-Token": options.api_key.get_secret_value()} if options.api_key else {},
    ),
    "tavily": SearchForm(
        name="Tavily",
        summary="Searches web and news; also without a key, if enabled. It ignores languages.",
        # An advanced search is two credits.
        price_usd=lambda query, options: (1 + query.is_deep) * Decimal("0.008" if options.tavily_api_key else 0),
        url=lambda _, options: f"{options.tavily_base_url}/search",
        params=lambda query, _: {
            "query": trim_query(query.text, max_chars=400),
            "topic": "news" if query.is_news else "general",
            "search_depth": "advanced" if query.is_deep else "basic",
            "max_results": query.count,
            "time_range": query.freshness,
            "include_domains": list(query.sites),
            "exclude_domains": list(query.without_sites),
            "include_answer": query.has_answer,
        },
        headers=lambda options: bearer(options.tavily_api_key) or {"X-Tavily-Access-Mode": "keyless"},
        is_posted=True,
        max_snippet_chars=600,
    ),
    "serpapi": SearchForm(
        name="SerpApi",
        summary="Searches Google.",
        takes=lambda query: not (query.is_news and query.freshness),
        url=lambda _, options: f"{options.serpapi_base_url}/search.json",
        params=lambda query, options: {
            # The light engines are faster; only the full one searches by age.
            "engine": "google_news_light" if query.is_news else "google" if query.freshness else "google_light",
            "q": with_operators(query, max_chars=1_000),
            "tbs": _SERPAPI_FRESHNESS.get(query.freshness or ""),
            "hl": query.language,
            "api_key": options.serpapi_api_key and options.serpapi_api_key.get_secret_value(),
        },
    ),
    "perplexity": SearchForm(
        name="Perplexity",
        summary="Searches the web, with passages of the pages.",
        price_usd=lambda _, __: Decimal("0.005"),  # $5 for 1,000 searches (docs.perplexity.ai, 2026-10)
        # Sites can be either required or excluded.
        takes=lambda query: not (query.is_news or (query.sites and query.without_sites)),
        url=lambda _, options: f"{options.perplexity_base_url}/search",
        params=lambda query, _: {
            "query": trim_query(query.text, max_chars=400),
            "max_results": query.count,
            "max_tokens_per_page": 512,
            "search_domain_filter": [*query.sites, *(f"-{site}" for site in query.without_sites)][:20],
            "search_recency_filter": query.freshness,
            "search_language_filter": [query.language] if query.language else None,
        },
        headers=lambda options: bearer(options.perplexity_api_key),
        is_posted=True,
        max_snippet_chars=1_000,
    ),
    "duckduckgo": ReadPages(
        name="DuckDuckGo",
        summary="Reads its result pages, best effort; only if it is named, with the package ddgs.",
        takes=lambda query: not query.is_news,
        url=lambda _, options: f"{options.duckduckgo_base_url}/html/",
        params=lambda query, _: {
            "query": with_operators(query, max_chars=400),
            "region": _DUCKDUCKGO_REGIONS.get(query.language or "", "wt-wt"),
            "timelimit": query.freshness and query.freshness[0],
        },
    ),
    "wikipedia": SearchForm(
        name=WIKIPEDIA,
        summary="Searches the Wikipedia of one language.",
        takes=lambda query: not (query.is_news or query.freshness or query.sites),
        url=lambda query, options: (
            f"{options.wikipedia_base_url.replace('{language}', query.language or options.language)}/w/api.php"
        ),
        params=lambda query, _: {
            "action": "query",
            "format": "json",
            "formatversion": "2",
            "generator": "search",
            # The limit of MediaWiki's search (CirrusSearch, $wgCirrusSearchMaxFullTextQueryLength).
            "gsrsearch": trim_query(query.text, max_chars=300),
            "gsrlimit": str(query.count),
            "prop": "extracts|info",
            "exintro": "1",
            "explaintext": "1",
            "exlimit": "max",
            "inprop": "url",
            "redirects": "1",
        },
        max_snippet_chars=300,
    ),
}


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
        """Returns the hits of the first service that answers, or kept ones for free. Raises as the last that failed."""
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
