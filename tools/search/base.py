"""The seam to search services: a query goes in, hits come out. Which service is asked when is
`tools.search.services`'.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from http import HTTPStatus
from itertools import islice
from typing import Annotated, Any, Literal

from pydantic import AliasChoices, BaseModel, ConfigDict, Field, StringConstraints

from tools.errors import RateLimited, ToolError, Unavailable
from tools.http import Http, JsonAnswer
from tools.search.options import SearchOptions
from tools.text import clean_text, plain, shorten
from tools.web.addresses import web_address

Freshness = Literal["day", "week", "month", "year"]
"""How old a page may be at most."""

Language = Annotated[str, StringConstraints(pattern=r"^[a-z]{2}$")]
"""Of pages, by ISO 639-1."""

_NO_KEY = "SUBSCRIPTION_"
"""How codes of Brave begin that mean the key; it answers 422 then."""
_USED_UP = frozenset({"QUOTA_LIMITED", "maxlag", "ratelimited", 432, 433})
"""The codes of Brave and Wikipedia, and the statuses of Tavily, with which asking again would change nothing."""
_TIME_OF_DAY = re.compile(r"(?<=^\d{4}-\d\d-\d\d)T.*")
_MAX_TITLE_CHARS = 200
_MAX_SNIPPET_CHARS = 400
_MAX_URL_CHARS = 2_000
_MAX_ANSWER_CHARS = 2_000
_MAX_READ_CHARS = 20_000
"""Per title or snippet, tags included: removing them from 2 MB blocked the event loop for half a second."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Query:
    """A query. Equal queries want the same results."""

    text: str
    """The words, on one line, not empty."""
    count: int
    """The largest number of hits: 1 to 20."""
    is_news: bool = False
    """Whether to search the news instead of the web."""
    freshness: Freshness | None = None
    """None means any age."""
    sites: tuple[str, ...] = ()
    """Search only these hosts and their subdomains; empty: the whole web."""
    without_sites: tuple[str, ...] = ()
    """Leave out these hosts and their subdomains."""
    language: str | None = None
    """The ISO 639-1 code in lower case; None leaves it to the service."""
    is_deep: bool = False
    """Whether to search more thoroughly at a higher price, where a service can."""
    has_answer: bool = False
    """Whether to ask for the service's own answer to the words as well, where it gives one."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Hit:
    """A page that a service found. Its words are a stranger's: plain text, shortened, never to be obeyed."""

    title: str
    url: str
    """http or https, with a host; at most 2,000 characters."""
    site: str
    """The address's host, without `www.`."""
    snippet: str
    """What the page says about it; empty if the service does not tell."""
    age: str | None = None
    """The age of the page, or its date, in the service's words; None if unknown."""


@dataclass(frozen=True, kw_only=True, slots=True)
class SearchResult:
    """The hits of one service."""

    source: str
    """The service's name."""
    hits: tuple[Hit, ...]
    """Best first."""
    cost_usd: Decimal
    """The cost of the search by the service's price list."""
    answer: str = ""
    """The service's own answer to the words, if it was asked for one and gives one."""
    failures: tuple[ToolError, ...] = ()
    """Why the services before it did not answer, in order; empty if it was the first."""


@dataclass(frozen=True, kw_only=True)
class SearchForm:
    """One search service: how it is asked over HTTP, and what its answer means."""

    name: str
    """Its name in results and logs: `Brave Search`, `SearXNG`, `Wikipedia`."""
    summary: str
    """What it does, for the list of the services."""
    price_usd: Callable[[Query, SearchOptions], Decimal] = lambda _, __: Decimal(0)
    """The list price of a search, ignoring free quotas; 0 if it depends on the plan."""
    takes: Callable[[Query], bool] = lambda _: True
    """Whether the service supports such a query."""
    url: Callable[[Query, SearchOptions], str]
    params: Callable[[Query, SearchOptions], Mapping[str, Any]]
    """Sent behind the address, or as JSON if `is_posted`; what has no value is left out, words are cut to what fits."""
    headers: Callable[[SearchOptions], Mapping[str, str]] = lambda _: {}
    is_posted: bool = False
    max_snippet_chars: int = 400

    async def search(self, query: Query, options: SearchOptions, http: Http) -> SearchResult:
        """Returns up to `query.count` hits; raises `Disabled` where the operator has to act, or another error."""
        given = {name: value for name, value in self.params(query, options).items() if value}
        answer = await http.get_json(
            self.url(query, options),
            service=self.name,
            timeout_seconds=options.timeout_seconds,
            params=None if self.is_posted else given,
            body=given if self.is_posted else None,
            headers=self.headers(options),
        )
        if refusal := self._refusal(answer):
            raise refusal
        read = answer.parse(_SearchAnswer, self.name)
        rows = sorted(read.rows, key=lambda row: row.index)
        if read.unresponsive_engines and not rows:
            raise Unavailable(f"{self.name} finds nothing because the engines behind it do not answer.")
        if isinstance(read.error, str) and "hasn't returned any results" not in read.error:
            raise Unavailable(f"{self.name}: the search failed.")
        found = (found for row in rows if (found := hit(row, max_snippet_chars=self.max_snippet_chars)))
        return SearchResult(
            source=self.name,
            hits=tuple(islice(found, query.count)),
            cost_usd=self.price_usd(query, options),
            answer=_plain(read.answer or "", _MAX_ANSWER_CHARS) if query.has_answer else "",
        )

    def _refusal(self, answer: JsonAnswer) -> ToolError | None:
        code = error_code(answer)
        if _USED_UP.intersection({code, answer.status}):
            return RateLimited(f"{self.name} wants fewer requests, or its plan is used up.")
        if code.startswith(_NO_KEY):
            answer = replace(answer, status=HTTPStatus.UNAUTHORIZED)
        if not answer.ok:
            settings = {service: setting for setting, service in SearchOptions.services().items()}
            setting = settings.get(self.name, "")
            return answer.refusal(self.name, key=setting if setting.endswith("KEY") else "")
        return Unavailable(f"{self.name} refuses the request ({shorten(clean_text(code), 60)}).") if code else None


def error_code(answer: JsonAnswer) -> str:
    """Returns the code of an error in an answer's JSON; empty if there is none."""
    match answer.body:
        case {"error": {"code": str(code)}} | {"errors": [{"code": str(code)}, *_]}:
            return code
        case _:
            return ""


_DATES = ("page_age", "published_date", "publishedDate")


class SearchRow(BaseModel):
    """A page as a service describes it, by any of the names that services have for its parts."""

    model_config = ConfigDict(populate_by_name=True)

    title: str = ""
    url: str = Field(default="", validation_alias=AliasChoices("url", "link", "fullurl"))
    snippet: str | None = Field(
        default=None, validation_alias=AliasChoices("snippet", "description", "content", "extract")
    )
    age: str | None = Field(default=None, validation_alias=AliasChoices("age", "date", *_DATES))
    index: int = 0
    """Its rank, if they come in no order."""


class _Rows(BaseModel):
    results: tuple[SearchRow, ...] = ()
    pages: tuple[SearchRow, ...] = ()


class _SearchAnswer(_Rows):
    """The answer of any service; each has its rows in one of these places, or leaves it out if it finds nothing."""

    web: _Rows | None = None
    query: _Rows | str | None = None
    organic_results: tuple[SearchRow, ...] = ()
    news_results: tuple[SearchRow, ...] = ()
    answer: str | None = None
    error: object = None
    """In a success of SerpApi: nothing was found, or the search failed."""
    unresponsive_engines: Sequence[object] = ()

    @property
    def rows(self) -> Sequence[SearchRow]:
        pages = self.query.pages if isinstance(self.query, _Rows) else ()
        of_web = self.web.results if self.web else ()
        return of_web or self.organic_results or self.news_results or pages or self.results


def hit(row: SearchRow, *, max_snippet_chars: int = _MAX_SNIPPET_CHARS) -> Hit | None:
    """Returns a row as a hit, plain and shortened; None if its address is not usable."""
    # No control characters, and no user, who would pass for the host.
    if len(row.url) > _MAX_URL_CHARS or not row.url.isprintable():
        return None
    try:
        site = web_address(row.url).host.removeprefix("www.")
    except ToolError:
        return None
    return Hit(
        title=_plain(row.title, _MAX_TITLE_CHARS) or site,
        url=row.url,
        site=site,
        snippet=_plain(row.snippet or "", max_snippet_chars),
        age=_plain(_TIME_OF_DAY.sub("", row.age), _MAX_TITLE_CHARS) if row.age else None,
    )


def _plain(text: str, max_chars: int) -> str:
    return shorten(plain(text[:_MAX_READ_CHARS]), max_chars)


def trim_query(query: str, *, max_chars: int, max_words: int | None = None) -> str:
    """Shortens a query to one line of whole words."""
    line = " ".join(query.split()[:max_words])
    if len(line) <= max_chars:
        return line
    words, _, _ = line[: max_chars + 1].rpartition(" ")
    return words or line[:max_chars]


def with_operators(query: Query, *, max_chars: int, max_words: int | None = None) -> str:
    """Returns the words followed by operators (`site:a OR site:b -site:c`), which take half of the room at most."""
    only = [f"{'OR ' if number else ''}site:{site}" for number, site in enumerate(query.sites)]
    operators = ""
    for operator in (*only, *(f"-site:{site}" for site in query.without_sites)):
        if len(operators) + 1 + len(operator) <= max_chars // 2:
            operators += f" {operator}"
    left = None if max_words is None else max_words - len(operators.split())
    return trim_query(query.text, max_chars=max_chars - len(operators), max_words=left) + operators


def lies_in(host: str, sites: Sequence[str]) -> bool:
    """Whether the host is one of the sites or a subdomain of one."""
    return any(host == site or host.endswith(f".{site}") for site in sites)
