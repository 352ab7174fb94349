"""The search services: for each, what is asked over HTTP and what its answer means.

A service says which queries it takes, sends one request, and reads rows of its own form. What all have in common stands
in `SearchForm` (`tools.search.base`); which one is asked when is `tools.search.service`'s.

Source (all 2026-11-21): api-dashboard.search.brave.com, whose terms only allow transient storage of results (they are
kept in memory for minutes); docs.tavily.com (1,000 credits a month are free without a card, a basic search is one);
serpapi.com (google-light, google, google-news-light; the cost depends on the plan; the key can only be sent in the
address, which `tools.http` never shows); docs.perplexity.ai (the search behind Sonar, whose chat completions ended on
2026-09-27); searxng `searx/webapp.py`, `searx/webutils.py` (most public instances forbid programs, so there is no
default address); mediawiki.org, API:Query, and the User-Agent policy of foundation.wikimedia.org: 200 requests a minute
with a contact (`TOOLS__CONTACT`), 10 without, at most three at once. Wikipedia's text is CC BY-SA 4.0, which requires
naming and linking the article, as every hit does. Few people search at the same time, so its bound on simultaneous
requests is left to it.
"""

from collections.abc import Mapping
from decimal import Decimal

from tools.http import bearer
from tools.search.base import SearchForm, trim_query, with_operators
from tools.search.options import Provider

WIKIPEDIA = "Wikipedia"
"""The name of the encyclopaedia among the services."""
_BRAVE_FRESHNESS = {"day": "pd", "week": "pw", "month": "pm", "year": "py"}
_BRAVE_LANGUAGES = {
    code: code
    for code in str.split(
        "ar bg bn ca cs da de el en es et eu fi fr gl gu he hi hr hu is it kn ko lt lv ml mr ms nl pa pl ro"
        " ru sk sl sr sv ta te th tr uk vi"
    )
} | {"ja": "jp", "no": "nb", "pt": "pt-pt", "zh": "zh-hans"}
"""Brave's own codes by ISO 639-1, of all languages that it supports."""
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
        key_variable="API_KEY",
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
        key_variable="TAVILY_API_KEY",
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
        key_variable="SERPAPI_API_KEY",
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
        key_variable="PERPLEXITY_API_KEY",
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
"""The known services."""
