"""The tool `web_search`: asks search services one after the other until one answers.

    query --asked lately?--> kept answer
      '--> each service of the order that has what it needs and can search so --> hits, each address once, numbered
                '- failed, out of quota: the next

The order is the operator's (`TOOLS__WEB_SEARCH__PROVIDERS`); a service without its key or address is passed over, and
what people ask goes to no other service. How each is asked is `tools.search`'s part.
"""

import logging
import re
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from decimal import Decimal
from typing import Annotated, Any, Literal, get_args

from pydantic import AfterValidator, BeforeValidator, Field, StringConstraints

from tools.addresses import canonical_url
from tools.base import Arguments, BaseUrl, Key, Options, Result, ToolContext, ToolSpec
from tools.errors import BadArguments, Disabled, ToolError
from tools.http import Http
from tools.ports import Quotas
from tools.search.base import Freshness, Hit, Query, SearchBackend, lies_in
from tools.search.brave import Brave, Mode
from tools.search.counted import Counted
from tools.search.perplexity import Perplexity
from tools.search.recent import Found, Recent
from tools.search.searxng import SearXNG
from tools.search.serpapi import SerpApi
from tools.search.tavily import Tavily
from tools.search.wikipedia import Wikipedia
from tools.text import cleaned

MAX_QUERY_CHARS = 500
HIGHEST_NUMBER = 900
"""Results are numbered on from search to search, and from 1 again behind the search that passes this. So no two of a
turn, nor of neighbouring turns, bear the same number, and a citation in an answer means one page."""

_MOST_RESULTS = 20
_MOST_SITES = 5
_SITE = re.compile(r"(?=.{3,80}\Z)[a-z0-9-]{1,63}(?:\.[a-z0-9-]{1,63})+")

_log = logging.getLogger(__name__)

Provider = Literal["searxng", "brave", "tavily", "serpapi", "perplexity", "wikipedia"]


def _listed(given: object) -> object:
    """A comma list as its items."""
    if not isinstance(given, str):
        return given
    return tuple(filter(None, (item.strip().lower() for item in given.split(","))))


def _each_once(names: tuple[Provider, ...]) -> tuple[Provider, ...]:
    if len(set(names)) != len(names):
        raise ValueError("must name each service once")
    return names


def _as_site(given: str) -> str:
    """A host, out of whatever a model takes for one: with a scheme, `www.` or a path."""
    host = given.lower().rpartition("://")[2].partition("/")[0].removeprefix("www.").removeprefix("*.")
    if not _SITE.fullmatch(host):
        raise ValueError("must be the host of a site, such as example.org")
    return host


Site = Annotated[str, AfterValidator(_as_site)]
Sites = Annotated[tuple[Site, ...], Field(max_length=_MOST_SITES)]
PerMonth = Annotated[int, Field(ge=0, le=10_000_000)] | None
Language = Annotated[str, StringConstraints(pattern=r"^[a-z]{2}$")]


class WebSearchOptions(Options):
    """The settings `TOOLS__WEB_SEARCH__<FIELD>`."""

    providers: Annotated[tuple[Provider, ...], BeforeValidator(_listed), AfterValidator(_each_once)] = ()
    """Who is asked, in this order, until one answers: a comma list. Without one: searxng, brave, tavily, serpapi,
    perplexity, wikipedia. A service without its key or address is passed over."""
    api_key: Key | None = None
    """Brave Search's key; without one Brave is not asked."""
    tavily_api_key: Key | None = None
    """Tavily's key; without one Tavily is not asked, unless it may be keyless."""
    serpapi_api_key: Key | None = None
    """SerpApi's key, for what Google finds; without one it is not asked."""
    perplexity_api_key: Key | None = None
    """The key of Perplexity's Search API; without one it is not asked."""
    tavily_keyless: bool = False
    """Whether Tavily is asked without a key where there is none: free, limited, and what people ask goes to Tavily."""
    brave_per_month: PerMonth = None
    """How often Brave is asked in a calendar month, UTC, so that no plan is overrun; none: without limit."""
    tavily_per_month: PerMonth = None
    """The same for Tavily."""
    serpapi_per_month: PerMonth = None
    """The same for SerpApi."""
    perplexity_per_month: PerMonth = None
    """The same for Perplexity."""
    brave_mode: Mode = "snippets"
    """What Brave is asked for: `snippets`, or `context`, longer passages of the pages at the same price."""
    max_results: int = Field(default=5, ge=1, le=_MOST_RESULTS)
    """The most results of one search."""
    base_url: BaseUrl = "https://api.search.brave.com/res/v1"
    """Where Brave Search answers."""
    tavily_base_url: BaseUrl = "https://api.tavily.com"
    """Where Tavily answers."""
    serpapi_base_url: BaseUrl = "https://serpapi.com"
    """Where SerpApi answers."""
    perplexity_base_url: BaseUrl = "https://api.perplexity.ai"
    """Where Perplexity answers."""
    searxng_base_url: BaseUrl | None = None
    """Your own SearXNG with the format `json` switched on."""
    wikipedia_base_url: BaseUrl = "https://{language}.wikipedia.org"
    """Where Wikipedia answers; `{language}` stands for the language below."""
    language: Annotated[str, StringConstraints(pattern=r"^[a-z]{2,12}(-[a-z]+)*$")] = "en"
    """Which Wikipedia is asked: en, de, fr, ..."""
    timeout_seconds: float = Field(default=6, gt=0, le=120)
    """For each service that is asked; TOOLS__TIMEOUT_SECONDS holds for all of them together."""


class WebSearchArguments(Arguments):
    """What is looked for."""

    query: str = Field(
        min_length=1,
        max_length=MAX_QUERY_CHARS,
        description="A few words as one would type them into a search engine. No private details of people.",
    )
    count: int | None = Field(
        default=None, ge=1, le=_MOST_RESULTS, description="How many results; left out: the usual number."
    )
    topic: Literal["web", "news"] = Field(default="web", description="`news` for what happened lately.")
    freshness: Freshness | None = Field(default=None, description="How old the pages may be; left out: any age.")
    sites: Sites = Field(default=(), description="Search these sites only, such as example.org.")
    without_sites: Sites = Field(default=(), description="Leave these sites out.")
    language: Language | None = Field(default=None, description="Of the pages, two letters: en, de, fr, ...")


class WebSearch:
    """Searches the web, or Wikipedia where nothing else is set up."""

    def __init__(self, options: WebSearchOptions, http: Http, quotas: Quotas) -> None:
        self._max_results = options.max_results
        self._backends = _backends(options, http, quotas)
        self._recent = Recent()
        self._next_number = 1

    spec = ToolSpec(
        name="web_search",
        description=(
            "Searches the web and gives numbered results: title, address, site, a snippet and where known the age."
            " `source` names the service that answered; Wikipedia alone knows encyclopaedic matters only, no news and"
            " no prices. Use it for what is recent, local or uncertain. Cite what you relied on by its number in"
            " square brackets, such as [3]: Aldis adds the addresses."
        ),
        arguments=WebSearchArguments,
        finds_pages=True,
    )

    async def run(self, arguments: WebSearchArguments, context: ToolContext) -> Result:
        """The results of the first service that answers; an empty list, and a message, when it found nothing.

        Raises:
            BadArguments: the query holds nothing that can be read.
            Disabled: no service that is set up can search in this way.
            ToolError: no service answered; of the kind of the last one's failure.
        """
        query = self._query(arguments)
        if (kept := self._recent.get(query, context.now)) is not None:
            return Result(data=self._data(query, kept, ()), cost_usd=Decimal(0))
        able = [backend for backend in self._backends if backend.takes(query)]
        if not able:
            raise Disabled(_unable(self._backends))
        return await self._asked(query, able, context.now)

    async def _asked(self, query: Query, backends: Sequence[SearchBackend], now: datetime) -> Result:
        failures: list[ToolError] = []
        for backend in backends:
            try:
                hits = await backend.search(query)
            except ToolError as error:
                _log.warning("%s failed, kind %s", backend.name, error.code)
                failures.append(error)
                continue
            found = Found(source=backend.name, hits=_wanted(hits, query))
            if not failures:  # a stand-in's answer is not kept: the better service may be back in a moment
                self._recent.put(query, found, now)
            return Result(data=self._data(query, found, failures), cost_usd=backend.cost_usd)
        last = failures[-1]
        raise type(last)(" ".join(map(str, failures))) from last

    def _query(self, arguments: WebSearchArguments) -> Query:
        words = " ".join(cleaned(arguments.query).split())
        if not words:
            raise BadArguments("The query is empty.")
        return Query(
            text=words,
            count=min(arguments.count or self._max_results, self._max_results),
            is_news=arguments.topic == "news",
            freshness=arguments.freshness,
            sites=arguments.sites,
            without_sites=arguments.without_sites,
            language=arguments.language,
        )

    def _data(self, query: Query, found: Found, failures: Sequence[ToolError]) -> Mapping[str, Any]:
        data: dict[str, Any] = {"query": query.text, "source": found.source}
        if failures:
            data["failed_before"] = [str(failure) for failure in failures]
        if not found.hits:
            data["message"] = "Nothing was found; try other words."
        first = self._next_number
        data["results"] = [_row(number, hit) for number, hit in enumerate(found.hits, start=first)]
        self._next_number = first + len(found.hits) if first + len(found.hits) <= HIGHEST_NUMBER else 1
        return data


def _backends(options: WebSearchOptions, http: Http, quotas: Quotas) -> tuple[SearchBackend, ...]:
    """Who is asked, in order: those that have what they need, each within its monthly amount."""
    makers: Mapping[Provider, tuple[Callable[[WebSearchOptions, Http], SearchBackend | None], int | None]] = {
        "searxng": (_searxng, None),
        "brave": (_brave, options.brave_per_month),
        "tavily": (_tavily, options.tavily_per_month),
        "serpapi": (_serpapi, options.serpapi_per_month),
        "perplexity": (_perplexity, options.perplexity_per_month),
        "wikipedia": (_wikipedia, None),
    }
    backends: list[SearchBackend] = []
    for name in options.providers or get_args(Provider):
        make, most = makers[name]
        if (backend := make(options, http)) is not None:
            backends.append(backend if most is None else Counted(backend, quotas, most=most))
    return tuple(backends)


def _searxng(options: WebSearchOptions, http: Http) -> SearchBackend | None:
    url = options.searxng_base_url
    return SearXNG(http=http, base_url=url, timeout_seconds=options.timeout_seconds) if url else None


def _brave(options: WebSearchOptions, http: Http) -> SearchBackend | None:
    if options.api_key is None:
        return None
    return Brave(
        http=http,
        base_url=options.base_url,
        api_key=options.api_key,
        timeout_seconds=options.timeout_seconds,
        mode=options.brave_mode,
    )


def _tavily(options: WebSearchOptions, http: Http) -> SearchBackend | None:
    key, url = options.tavily_api_key, options.tavily_base_url
    if key is None and not options.tavily_keyless:
        return None
    return Tavily(http=http, base_url=url, api_key=key, timeout_seconds=options.timeout_seconds)


def _serpapi(options: WebSearchOptions, http: Http) -> SearchBackend | None:
    key, url = options.serpapi_api_key, options.serpapi_base_url
    return SerpApi(http=http, base_url=url, api_key=key, timeout_seconds=options.timeout_seconds) if key else None


def _perplexity(options: WebSearchOptions, http: Http) -> SearchBackend | None:
    key, url = options.perplexity_api_key, options.perplexity_base_url
    return Perplexity(http=http, base_url=url, api_key=key, timeout_seconds=options.timeout_seconds) if key else None


def _wikipedia(options: WebSearchOptions, http: Http) -> SearchBackend:
    return Wikipedia(
        http=http,
        base_url=options.wikipedia_base_url,
        language=options.language,
        timeout_seconds=options.timeout_seconds,
    )


def _unable(backends: Sequence[SearchBackend]) -> str:
    names = ", ".join(backend.name for backend in backends)
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


def _row(number: int, hit: Hit) -> Mapping[str, Any]:
    row: dict[str, Any] = {"number": number, "title": hit.title, "url": hit.url, "site": hit.site}
    more = {"age": hit.age, "score": hit.score}
    return row | {name: value for name, value in more.items() if value is not None} | {"snippet": hit.snippet}
