"""The search services: for each, what is asked over HTTP and what its answer means.

A service says which queries it takes, sends one request, and reads rows of its own form. What all have in common stands
in `SearchBackend` (`tools.search.base`); which one is asked when is `tools.search.service`'s.

Source (all 2026-11-21): api-dashboard.search.brave.com, whose terms only allow transient storage of results (they are
kept in memory for minutes); docs.tavily.com (1,000 credits a month are free without a card, a basic search is one);
serpapi.com (google-light, google, google-news-light; the cost depends on the plan; the key can only be sent in the
address, which `tools.http` never shows); docs.perplexity.ai (the search behind Sonar, whose chat completions ended on
2026-09-27); searxng `searx/webapp.py`, `searx/webutils.py` (most public instances forbid programs, so there is no
default address); mediawiki.org, API:Query, and the User-Agent policy of foundation.wikimedia.org: 200 requests a minute
with a contact (`TOOLS__CONTACT`), 10 without, at most three at once. Wikipedia's text is CC BY-SA 4.0, which requires
naming and linking the article, as every hit does.
"""

import asyncio
import math
from collections.abc import Iterator, Mapping
from dataclasses import replace
from decimal import Decimal
from http import HTTPStatus
from typing import Annotated, Any, Self

from pydantic import AfterValidator, BaseModel, Field, model_validator

from tools.errors import Disabled, RateLimited, TimedOut, ToolError, Unavailable
from tools.http import Http, JsonAnswer, bearer, no_pause
from tools.search.base import Hit, Query, SearchBackend, SearchRow, hits, trim_query, with_operators
from tools.search.options import Provider, SearchOptions
from tools.text import clean_text, plain, shorten

WIKIPEDIA = "Wikipedia"
"""The name of the encyclopaedia among the services."""
AT_ONCE = 3
"""Simultaneous requests to Wikimedia."""

SLOWEST_INTERVAL_SECONDS = 1.1
"""Between requests to Brave, whose slowest plan allows one a second; its answers tell what the key really allows."""

_BRAVE_FRESHNESS = {"day": "pd", "week": "pw", "month": "pm", "year": "py"}
# Brave's own codes: all supported ones, and those that differ from ISO 639-1.
_BRAVE_LANGUAGES = frozenset(
    str.split(
        "ar bg bn ca cs da de el en es et eu fi fr gl gu he hi hr hu is it kn ko lt lv ml mr ms nl pa pl ro"
        " ru sk sl sr sv ta te th tr uk vi"
    )
)
_OTHER_LANGUAGES = {"ja": "jp", "no": "nb", "pt": "pt-pt", "zh": "zh-hans"}
_TAVILY_USED_UP = frozenset({432, 433})  # Tavily's own statuses: plan limit, pay-as-you-go limit
_SERPAPI_FRESHNESS = {"day": "qdr:d", "week": "qdr:w", "month": "qdr:m", "year": "qdr:y"}


def _code(answer: JsonAnswer) -> str:
    """Returns the code of an error in an answer's JSON; empty if there is none."""
    match answer.body:
        case {"error": {"code": str(code)}} | {"errors": [{"code": str(code)}, *_]}:
            return code
        case _:
            return ""


def _present(**given: Any) -> dict[str, Any]:
    """Returns the arguments that have a value."""
    return {name: value for name, value in given.items() if value}


class _BraveRow(SearchRow):
    snippet: str | None = Field(default=None, alias="description")
    page_age: str | None = None

    @model_validator(mode="after")
    def _take_page_age(self) -> Self:
        self.age = self.age or self.page_age
        return self


class _BraveWeb(BaseModel):
    results: tuple[_BraveRow, ...] = ()


class _BraveAnswer(BaseModel):
    web: _BraveWeb | None = None
    """Missing if nothing on the web matches."""
    results: tuple[_BraveRow, ...] = ()
    """The results for news."""


class Brave(SearchBackend):
    """Searches web and news, at the pace that the key allows."""

    name = "Brave Search"
    cost_usd = Decimal("0.005")  # $5 for 1,000 requests, of which $5 a month are free (dashboard, 2026-09)
    key_variable = "API_KEY"

    def __init__(
        self, options: SearchOptions, http: Http, *, interval_seconds: float = SLOWEST_INTERVAL_SECONDS
    ) -> None:
        """`interval_seconds` is the pace until Brave tells its own."""
        super().__init__(options, http)
        self._interval_seconds = interval_seconds
        self._last_at = -math.inf  # on the event loop's clock
        self._line = asyncio.Lock()

    async def _ask(self, query: Query) -> JsonAnswer:
        """Queries at the right pace; retries once if it was too fast."""
        try:
            async with asyncio.timeout(self._timeout_seconds):
                answer = await self._ask_once(query)
                if answer.status == HTTPStatus.TOO_MANY_REQUESTS and _code(answer) != "QUOTA_LIMITED":
                    await asyncio.sleep(self._interval_seconds)
                    return await self._ask_once(query)
                return answer
        except TimeoutError as error:
            raise TimedOut(f"{self.name} did not answer within {self._timeout_seconds:g} seconds.") from error

    async def _ask_once(self, query: Query) -> JsonAnswer:
        async with self._line:
            now = asyncio.get_running_loop().time
            await asyncio.sleep(self._last_at + self._interval_seconds - now())
            self._last_at = now()
        key = self._options.api_key
        operators = with_operators(query, max_chars=400, max_words=50)
        language = query.language or ""
        answer = await self._http.get_json(
            f"{self._options.base_url}/{'news' if query.is_news else 'web'}/search",
            service=self.name,
            params={"q": operators, "count": str(query.count), "country": "ALL"}
            | _present(
                freshness=_BRAVE_FRESHNESS.get(query.freshness or ""),
                search_lang=language if language in _BRAVE_LANGUAGES else _OTHER_LANGUAGES.get(language),
            )
            | ({} if query.is_news else {"text_decorations": "false", "result_filter": "web"}),
            headers={"X-Subscription-Token": key.get_secret_value()} if key else None,
            timeout_seconds=self._timeout_seconds,
            pause=no_pause,
        )
        per_second = answer.headers.get("x-ratelimit-limit", "").partition(",")[0]
        if per_second.isdecimal() and int(per_second) > 0:
            self._interval_seconds = min(self._interval_seconds, SLOWEST_INTERVAL_SECONDS / int(per_second))
        return answer

    def _hits(self, answer: JsonAnswer, query: Query) -> Iterator[Hit]:
        del query
        read = answer.parse(_BraveAnswer, self.name)
        return hits(read.web.results if read.web else read.results)

    def _refusal(self, answer: JsonAnswer) -> ToolError:
        """Prefers the code to the status, as a refused key is a 422."""
        match _code(answer):
            case "QUOTA_LIMITED":
                return RateLimited("Brave Search: the plan's quota is used up.")
            case "SUBSCRIPTION_TOKEN_INVALID" | "SUBSCRIPTION_NOT_FOUND":
                return super()._refusal(replace(answer, status=HTTPStatus.UNAUTHORIZED))
            case _ if answer.status == HTTPStatus.UNPROCESSABLE_ENTITY:
                return Unavailable("Brave Search refuses the request as invalid.")
            case _:
                return super()._refusal(answer)


class _TavilyRow(SearchRow):
    snippet: str | None = Field(default=None, alias="content")
    age: str | None = Field(default=None, alias="published_date")


class _TavilyAnswer(BaseModel):
    results: tuple[_TavilyRow, ...]
    answer: str | None = None


class Tavily(SearchBackend):
    """Searches web and news; also without a key, if enabled. It ignores languages."""

    name = "Tavily"
    key_variable = "TAVILY_API_KEY"

    def __init__(self, options: SearchOptions, http: Http) -> None:
        super().__init__(options, http)
        self.cost_usd = Decimal("0.008") if options.tavily_api_key else Decimal(0)

    async def _ask(self, query: Query) -> JsonAnswer:
        key = self._options.tavily_api_key
        return await self._http.ask_json(
            f"{self._options.tavily_base_url}/search",
            service=self.name,
            body={
                "query": trim_query(query.text, max_chars=400),
                "topic": "news" if query.is_news else "general",
                "search_depth": "advanced" if query.is_deep else "basic",
                "max_results": query.count,
            }
            | _present(
                time_range=query.freshness,
                include_domains=list(query.sites),
                exclude_domains=list(query.without_sites),
                include_answer=query.has_answer,
            ),
            headers=bearer(key) if key else {"X-Tavily-Access-Mode": "keyless"},
            timeout_seconds=self._timeout_seconds,
        )

    def _hits(self, answer: JsonAnswer, query: Query) -> Iterator[Hit]:
        del query
        return hits(answer.parse(_TavilyAnswer, self.name).results, max_snippet_chars=600)

    def price_usd(self, query: Query) -> Decimal:
        """See `SearchBackend`: an advanced search is two credits."""
        return self.cost_usd * (2 if query.is_deep else 1)

    def _summary(self, answer: JsonAnswer) -> str:
        return shorten(plain(answer.parse(_TavilyAnswer, self.name).answer or ""), 2_000)

    def _refusal(self, answer: JsonAnswer) -> ToolError:
        if answer.status in _TAVILY_USED_UP:
            return RateLimited(f"{self.name}: the plan's credits are used up.")
        return super()._refusal(answer)


class _SerpApiRow(SearchRow):
    url: str = Field(default="", alias="link")
    age: str | None = Field(default=None, alias="date")


class _SerpApiAnswer(BaseModel):
    organic_results: tuple[_SerpApiRow, ...] = ()
    news_results: tuple[_SerpApiRow, ...] = ()
    error: str | None = None
    """In a success: nothing was found, or the search failed."""


class SerpApi(SearchBackend):
    """Searches Google."""

    name = "SerpApi"
    key_variable = "SERPAPI_API_KEY"

    def takes(self, query: Query) -> bool:
        """See `SearchBackend`: everything except news of a certain age."""
        return not (query.is_news and query.freshness)

    async def _ask(self, query: Query) -> JsonAnswer:
        key = self._options.serpapi_api_key
        # The light engines are faster; only the full one searches by age.
        engine = "google_news_light" if query.is_news else "google" if query.freshness else "google_light"
        return await self._http.get_json(
            f"{self._options.serpapi_base_url}/search.json",
            service=self.name,
            params={"engine": engine, "q": with_operators(query, max_chars=1_000)}
            | _present(
                tbs=_SERPAPI_FRESHNESS.get(query.freshness or ""),
                hl=query.language,
                api_key=key and key.get_secret_value(),
            ),
            timeout_seconds=self._timeout_seconds,
        )

    def _hits(self, answer: JsonAnswer, query: Query) -> Iterator[Hit]:
        del query
        read = answer.parse(_SerpApiAnswer, self.name)
        if read.error and "hasn't returned any results" not in read.error:
            raise Unavailable(f"{self.name}: the search failed.")
        return hits(read.organic_results or read.news_results)

    def _refusal(self, answer: JsonAnswer) -> ToolError:
        if answer.status == HTTPStatus.TOO_MANY_REQUESTS:
            return RateLimited(f"{self.name}: the plan's searches of this hour or month are used up.")
        return super()._refusal(answer)


class _PerplexityRow(SearchRow):
    age: str | None = Field(default=None, alias="date")


class _PerplexityAnswer(BaseModel):
    results: tuple[_PerplexityRow, ...]


class Perplexity(SearchBackend):
    """Searches the web, with passages of the pages."""

    name = "Perplexity"
    cost_usd = Decimal("0.005")  # $5 for 1,000 searches (docs.perplexity.ai, 2026-10)
    key_variable = "PERPLEXITY_API_KEY"

    def takes(self, query: Query) -> bool:
        """See `SearchBackend`: no news, and sites can be either required or excluded."""
        return not (query.is_news or (query.sites and query.without_sites))

    async def _ask(self, query: Query) -> JsonAnswer:
        return await self._http.ask_json(
            f"{self._options.perplexity_base_url}/search",
            service=self.name,
            body={
                "query": trim_query(query.text, max_chars=400),
                "max_results": query.count,
                "max_tokens_per_page": 512,
            }
            | _present(
                search_domain_filter=[*query.sites, *(f"-{site}" for site in query.without_sites)][:20],
                search_recency_filter=query.freshness,
                search_language_filter=[query.language] if query.language else None,
            ),
            headers=bearer(self._options.perplexity_api_key),
            timeout_seconds=self._timeout_seconds,
        )

    def _hits(self, answer: JsonAnswer, query: Query) -> Iterator[Hit]:
        del query
        return hits(answer.parse(_PerplexityAnswer, self.name).results, max_snippet_chars=1_000)


class _SearXNGRow(SearchRow):
    snippet: str | None = Field(default=None, alias="content")
    age: Annotated[str, AfterValidator(lambda instant: instant[:10])] | None = Field(
        default=None, alias="publishedDate"
    )


class _SearXNGAnswer(BaseModel):
    results: tuple[_SearXNGRow, ...]
    unresponsive_engines: tuple[Any, ...] = ()


class SearXNG(SearchBackend):
    """Searches through your own SearXNG."""

    name = "SearXNG"

    async def _ask(self, query: Query) -> JsonAnswer:
        return await self._http.get_json(
            f"{self._options.searxng_base_url}/search",
            service=self.name,
            params={"q": with_operators(query, max_chars=500), "format": "json", "safesearch": "1"}
            | _present(
                categories="news" if query.is_news else None, time_range=query.freshness, language=query.language
            ),
            timeout_seconds=self._timeout_seconds,
        )

    def _hits(self, answer: JsonAnswer, query: Query) -> Iterator[Hit]:
        del query
        read = answer.parse(_SearXNGAnswer, self.name)
        if not read.results and read.unresponsive_engines:
            raise Unavailable("SearXNG finds nothing because the engines behind it do not answer.")
        return hits(read.results)

    def _refusal(self, answer: JsonAnswer) -> ToolError:
        if answer.status == HTTPStatus.FORBIDDEN:
            return Disabled("SearXNG gives no JSON: the operator must add json to search.formats in its settings.yml.")
        return super()._refusal(answer)


class _Article(SearchRow):
    url: str = Field(default="", alias="fullurl")
    index: int = 0
    snippet: Annotated[str, AfterValidator(lambda text: shorten(text, 300))] | None = Field(
        default=None, alias="extract"
    )


class _Articles(BaseModel):
    pages: tuple[_Article, ...] = ()


class _WikipediaAnswer(BaseModel):
    query: _Articles | None = None
    """Missing if no article matches."""


class WikipediaBackend(SearchBackend):
    """Searches the Wikipedia of one language."""

    name = WIKIPEDIA

    def __init__(self, options: SearchOptions, http: Http) -> None:
        super().__init__(options, http)
        self._places = http.places(self.name, AT_ONCE)

    def takes(self, query: Query) -> bool:
        """See `SearchBackend`: no news, no dates, no other sites."""
        return not (query.is_news or query.freshness or query.sites)

    async def _ask(self, query: Query) -> JsonAnswer:
        language = query.language or self._options.language
        async with self._places:
            return await self._http.get_json(
                f"{self._options.wikipedia_base_url.replace('{language}', language)}/w/api.php",
                service=self.name,
                params={
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
                timeout_seconds=self._timeout_seconds,
            )

    def _hits(self, answer: JsonAnswer, query: Query) -> Iterator[Hit]:
        del query
        if (refused := refusal_of(answer)) is not None:
            raise refused
        pages = (answer.parse(_WikipediaAnswer, self.name).query or _Articles()).pages
        ranked = sorted(pages, key=lambda page: page.index)
        return hits(ranked)


def refusal_of(answer: JsonAnswer) -> ToolError | None:
    """Returns the error that MediaWiki gives with status 200; None if there is none."""
    code = _code(answer)
    if code in {"maxlag", "ratelimited"}:
        return RateLimited("Wikipedia wants fewer requests.")
    return Unavailable(f"Wikipedia refuses the request ({shorten(clean_text(code), 60)}).") if code else None


SERVICES: Mapping[Provider, type[SearchBackend]] = {
    "searxng": SearXNG,
    "brave": Brave,
    "tavily": Tavily,
    "serpapi": SerpApi,
    "perplexity": Perplexity,
    "wikipedia": WikipediaBackend,
}
"""The known services."""
