"""The search services that there are, and those of them that are set up."""

from collections.abc import Mapping

from tools.http import Http
from tools.search.base import SearchBackend
from tools.search.brave import Brave
from tools.search.options import Provider, SearchOptions
from tools.search.perplexity import Perplexity
from tools.search.searxng import SearXNG
from tools.search.serpapi import SerpApi
from tools.search.tavily import Tavily
from tools.search.wikipedia import WikipediaBackend

_SERVICES: Mapping[Provider, type[SearchBackend]] = {
    "searxng": SearXNG,
    "brave": Brave,
    "tavily": Tavily,
    "serpapi": SerpApi,
    "perplexity": Perplexity,
    "wikipedia": WikipediaBackend,
}


def backends(options: SearchOptions, http: Http) -> Mapping[Provider, SearchBackend]:
    """Who is asked, in the operator's order; empty where no service that is named has its key or address."""
    return {name: _SERVICES[name](options, http) for name in options.ready}
