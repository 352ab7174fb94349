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
    """What is looked for. Two that are equal want the same."""

    text: str
    """The words, on one line, not empty."""
    count: int
    """How many hits at most: 1 to 20."""
    is_news: bool = False
    """Whether the news are searched instead of the web."""
    freshness: Freshness | None = None
    """None: of any age."""
    sites: tuple[str, ...] = ()
    """Hosts to which, with what lies below them, the search keeps; empty: the whole web."""
    without_sites: tuple[str, ...] = ()
    """Hosts that are left out, with what lies below them."""
    language: str | None = None
    """Two letters as in ISO 639-1, lower case; None: whatever the service takes for right."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Hit:
    """One page that a service found. The words are a stranger's: plain text, cut, not to be obeyed."""

    title: str
    url: str
    """http or https, with a host; at most 2,000 characters."""
    site: str
    """The address's host, without `www.`."""
    snippet: str
    """What the page says on the matter; empty where the service does not tell."""
    age: str | None = None
    """How old the page is, or its date, in the service's words; None where it does not tell."""
    score: float | None = None
    """How well it fits, by the service's own measure: more is better; None where it does not tell."""


class SearchBackend(ABC):
    """A service that searches, asked by HTTP: what all of them share. What each has to itself, its words for a question
    and for what it found, stands in a module of its own.
    """

    name: ClassVar[str]
    """How results and logs call it: `Brave Search`, `SearXNG`, `Wikipedia`."""
    cost_usd: Decimal = Decimal(0)
    """What one search costs by the price list, free amounts left aside; 0 where the plan decides."""
    key_variable: ClassVar[str] = ""
    """The variable of the group that holds its key; "" where it has none."""

    def __init__(self, options: SearchOptions, http: Http) -> None:
        self._options = options
        self._http = http
        self._timeout_seconds = options.timeout_seconds

    def takes(self, query: Query) -> bool:
        """Whether it can search in this way at all."""
        del query
        return True

    async def search(self, query: Query) -> tuple[Hit, ...]:
        """The best hits, best first, at most as many as wanted; empty when there are none.

        The words are cut to what the service takes.

        Raises:
            Disabled: the key is refused, or what else the operator has to see to; the message names the setting.
            RateLimited: the pace, the plan or a free amount is used up.
            TimedOut, TooLarge, Unavailable: no answer, or none that can be read; ask another service.
        """
        answer = await self._ask(query)
        if not answer.ok:
            raise self._refusal(answer)
        return tuple(islice(self._hits(answer, query), query.count))

    @abstractmethod
    async def _ask(self, query: Query) -> JsonAnswer:
        """The service's answer, whatever its status."""

    @abstractmethod
    def _hits(self, answer: JsonAnswer, query: Query) -> Iterator[Hit]:
        """What a success holds; raises a `ToolError` where that is an error all the same."""

    def _refusal(self, answer: JsonAnswer) -> ToolError:
        """What a status that is no success means."""
        if self.key_variable and answer.status in {HTTPStatus.UNAUTHORIZED, HTTPStatus.FORBIDDEN}:
            variable = f"TOOLS__WEB_SEARCH__{self.key_variable}"
            return Disabled(f"{self.name} refuses the key: the operator must check {variable}.")
        return answer.refusal(self.name)


class SearchRow(BaseModel):
    """One page as a service tells of it; what a service calls otherwise has an alias in its module."""

    title: str = ""
    url: str = ""
    snippet: str | None = None
    age: str | None = None
    score: float | None = None


def hits(rows: Iterable[SearchRow], *, max_snippet_chars: int = _MAX_SNIPPET_CHARS) -> Iterator[Hit]:
    """The rows that have an address which people can open, as hits."""
    return (found for row in rows if (found := hit(row, max_snippet_chars=max_snippet_chars)) is not None)


def hit(row: SearchRow, *, max_snippet_chars: int = _MAX_SNIPPET_CHARS) -> Hit | None:
    """A hit of what a service sent, made plain and cut; None where the address is none that people can open."""
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
    """The query's beginning, cut behind a word, on one line."""
    line = " ".join(query.split()[:max_words])
    if len(line) <= max_chars:
        return line
    words, _, _ = line[: max_chars + 1].rpartition(" ")
    return words or line[:max_chars]


def with_operators(query: Query, *, max_chars: int, max_words: int | None = None) -> str:
    """The words with the sites as operators behind, for services that know `site:a OR site:b -site:c`.

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
    """Whether the host is one of the sites or lies below one."""
    return any(host == site or host.endswith(f".{site}") for site in sites)


def _site(url: str) -> str | None:
    """The host of a web address; None where it is not one, hides control characters or a user name, or is too long."""
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
