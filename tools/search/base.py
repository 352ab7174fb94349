"""The seam to search services: a query goes in, hits come out. Which service is asked when is
`tools.search.service`'s.
"""

import re
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from decimal import Decimal
from http import HTTPStatus
from itertools import islice
from typing import ClassVar, Literal
from urllib.parse import urlsplit

from pydantic import BaseModel

from tools.errors import Disabled, ToolError
from tools.http import Http, JsonAnswer
from tools.search.options import SearchOptions
from tools.text import plain, shorten

Freshness = Literal["day", "week", "month", "year"]
"""How old a page may be at most."""

# Letters of any script, and no sign that ends the host for a browser: `evil.example\.gov.uk` is evil.example's.
_HOST = re.compile(r"[\w.-]+|[0-9a-f:.]+")
_MAX_TITLE_CHARS = 200
_MAX_SNIPPET_CHARS = 400
_MAX_URL_CHARS = 2_000
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
    score: float | None = None
    """The service's own score, higher is better; None if it has none."""


class SearchBackend(ABC):
    """The base of search services, which are queried over HTTP. Each service's own formats are in a module of their
    own.
    """

    name: ClassVar[str]
    """Its name in results and logs: `Brave Search`, `SearXNG`, `Wikipedia`."""
    cost_usd: Decimal = Decimal(0)
    """The list price of one search, ignoring free quotas; 0 if it depends on the plan."""
    key_variable: ClassVar[str] = ""
    """The variable of the settings group with its key; empty if it needs none."""

    def __init__(self, options: SearchOptions, http: Http) -> None:
        self._options = options
        self._http = http
        self._timeout_seconds = options.timeout_seconds

    def takes(self, query: Query) -> bool:
        """Whether the service supports such a query."""
        del query
        return True

    async def search(self, query: Query) -> tuple[Hit, ...]:
        """Returns up to `query.count` hits, best first; empty if there are none.

        The words are cut to what the service takes.

        Raises:
            Disabled: the key is refused, or what else the operator has to see to; the message names the setting.
            RateLimited: the pace, the plan or a free amount is used up.
            TimedOut, TooLarge, Unavailable: no answer, or none that can be read; ask another service.
        """
        return (await self.find(query))[0]

    async def find(self, query: Query) -> tuple[tuple[Hit, ...], str]:
        """Returns the hits as `search` does, and the service's own answer; empty if it gives none."""
        answer = await self._ask(query)
        if not answer.ok:
            raise self._refusal(answer)
        return tuple(islice(self._hits(answer, query), query.count)), self._summary(answer) if query.has_answer else ""

    def price_usd(self, query: Query) -> Decimal:
        """Returns what the search costs by the service's price list."""
        del query
        return self.cost_usd

    def _summary(self, answer: JsonAnswer) -> str:
        """Returns the service's own answer to the words, plain and shortened; empty if it gives none."""
        del answer
        return ""

    @abstractmethod
    async def _ask(self, query: Query) -> JsonAnswer:
        """Returns the service's answer, whatever its status."""

    @abstractmethod
    def _hits(self, answer: JsonAnswer, query: Query) -> Iterator[Hit]:
        """Yields the hits of a successful answer; raises a `ToolError` if it is an error all the same."""

    def _refusal(self, answer: JsonAnswer) -> ToolError:
        """Returns the error that an unsuccessful status means."""
        if self.key_variable and answer.status in {HTTPStatus.UNAUTHORIZED, HTTPStatus.FORBIDDEN}:
            variable = f"TOOLS__WEB_SEARCH__{self.key_variable}"
            return Disabled(f"{self.name} refuses the key: the operator must check {variable}.")
        return answer.refusal(self.name)


class SearchRow(BaseModel):
    """A page as a service describes it; other field names have an alias in the service's module."""

    title: str = ""
    url: str = ""
    snippet: str | None = None
    age: str | None = None
    score: float | None = None


def hits(rows: Iterable[SearchRow], *, max_snippet_chars: int = _MAX_SNIPPET_CHARS) -> Iterator[Hit]:
    """Returns the rows with a usable address as hits."""
    return (found for row in rows if (found := hit(row, max_snippet_chars=max_snippet_chars)) is not None)


def hit(row: SearchRow, *, max_snippet_chars: int = _MAX_SNIPPET_CHARS) -> Hit | None:
    """Returns a row as a hit, plain and shortened; None if its address is not usable."""
    site = _site(row.url)
    if site is None:
        return None
    return Hit(
        title=_plain(row.title, _MAX_TITLE_CHARS) or site,
        url=row.url,
        site=site,
        snippet=_plain(row.snippet or "", max_snippet_chars),
        age=_plain(row.age, _MAX_TITLE_CHARS) if row.age else None,
        score=row.score,
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
    """Returns the words followed by the sites as operators, for services that know `site:a OR site:b -site:c`.

    Operators that take more than half of the room are left out: what is found is looked through anyway.
    """
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


def _site(url: str) -> str | None:
    """Returns the host of a web address; None if it is invalid, too long, or hides control characters or a user."""
    if len(url) > _MAX_URL_CHARS or not url.isprintable() or " " in url:
        return None
    try:
        parts = urlsplit(url)
        host = parts.hostname
    except ValueError:
        return None
    if parts.scheme not in {"http", "https"} or "@" in parts.netloc or not host or not _HOST.fullmatch(host):
        return None
    return host.removeprefix("www.")
