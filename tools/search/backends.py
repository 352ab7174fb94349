"""The search services that are set up, in the operator's order: those that have what they need, within their month."""

from collections.abc import Callable, Mapping
from typing import get_args

from tools.http import Http
from tools.ports import Quotas
from tools.search.base import SearchBackend
from tools.search.brave import Brave
from tools.search.options import Provider, SearchOptions
from tools.search.perplexity import Perplexity
from tools.search.quota import CountedBackend
from tools.search.searxng import SearXNG
from tools.search.serpapi import SerpApi
from tools.search.tavily import Tavily
from tools.search.wikipedia import WikipediaBackend


def backends(options: SearchOptions, http: Http, quotas: Quotas) -> tuple[SearchBackend, ...]:
    """Who is asked, in order; empty where no service that is named has its key or address."""
    most_by_name: Mapping[Provider, int | None] = {
        "brave": options.brave_per_month,
        "tavily": options.tavily_per_month,
        "serpapi": options.serpapi_per_month,
        "perplexity": options.perplexity_per_month,
    }
    chosen: list[SearchBackend] = []
    for name in options.providers or get_args(Provider):
        if (backend := _MAKERS[name](options, http)) is not None:
            most = most_by_name.get(name)
            chosen.append(backend if most is None else CountedBackend(backend, quotas, most=most))
    return tuple(chosen)


def _searxng(options: SearchOptions, http: Http) -> SearchBackend | None:
    url = options.searxng_base_url
    return SearXNG(http=http, base_url=url, timeout_seconds=options.timeout_seconds) if url else None


def _brave(options: SearchOptions, http: Http) -> SearchBackend | None:
    if options.api_key is None:
        return None
    return Brave(
        http=http,
        base_url=options.base_url,
        api_key=options.api_key,
        timeout_seconds=options.timeout_seconds,
        mode=options.brave_mode,
    )


def _tavily(options: SearchOptions, http: Http) -> SearchBackend | None:
    key, url = options.tavily_api_key, options.tavily_base_url
    if key is None and not options.tavily_keyless:
        return None
    return Tavily(http=http, base_url=url, api_key=key, timeout_seconds=options.timeout_seconds)


def _serpapi(options: SearchOptions, http: Http) -> SearchBackend | None:
    key, url = options.serpapi_api_key, options.serpapi_base_url
    return SerpApi(http=http, base_url=url, api_key=key, timeout_seconds=options.timeout_seconds) if key else None


def _perplexity(options: SearchOptions, http: Http) -> SearchBackend | None:
    key, url = options.perplexity_api_key, options.perplexity_base_url
    return Perplexity(http=http, base_url=url, api_key=key, timeout_seconds=options.timeout_seconds) if key else None


def _wikipedia(options: SearchOptions, http: Http) -> SearchBackend:
    return WikipediaBackend(
        http=http,
        base_url=options.wikipedia_base_url,
        language=options.language,
        timeout_seconds=options.timeout_seconds,
    )


_MAKERS: Mapping[Provider, Callable[[SearchOptions, Http], SearchBackend | None]] = {
    "searxng": _searxng,
    "brave": _brave,
    "tavily": _tavily,
    "serpapi": _serpapi,
    "perplexity": _perplexity,
    "wikipedia": _wikipedia,
}
