"""The seam to search services: a query goes in, hits come out. Which service is asked when is `tools.web_search`'s."""

from dataclasses import dataclass
from typing import Protocol
from urllib.parse import urlsplit

from tools.text import plain, shortened

_MAX_TITLE_CHARS = 200
_MAX_SNIPPET_CHARS = 400
_MAX_URL_CHARS = 2_000


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


class SearchBackend(Protocol):
    """A service that searches."""

    @property
    def name(self) -> str:
        """How results and logs call it: `Brave Search`, `SearXNG`, `Wikipedia`."""
        ...

    async def search(self, query: str, count: int) -> tuple[Hit, ...]:
        """The best hits, best first, at most `count` (1 to 20); empty when there are none.

        The query is cut to what the service takes.

        Raises:
            ToolError: the service does not answer, refuses, or answers what cannot be read; ask another.
        """
        ...


def hit(*, title: str, url: str, snippet: str, age: str | None = None) -> Hit | None:
    """A hit of what a service sent, made plain and cut; None where the address is none that people can open."""
    site = _site(url)
    if site is None:
        return None
    return Hit(
        title=shortened(plain(title), _MAX_TITLE_CHARS) or site,
        url=url,
        site=site,
        snippet=shortened(plain(snippet), _MAX_SNIPPET_CHARS),
        age=shortened(plain(age), _MAX_TITLE_CHARS) if age else None,
    )


def trimmed(query: str, *, max_chars: int, max_words: int | None = None) -> str:
    """The query's beginning, cut behind a word, on one line."""
    line = " ".join(query.split()[:max_words])
    if len(line) <= max_chars:
        return line
    words, _, _ = line[: max_chars + 1].rpartition(" ")
    return words or line[:max_chars]


def _site(url: str) -> str | None:
    """The host of a web address; None where it is none, hides control characters or a user name, or is too long."""
    if len(url) > _MAX_URL_CHARS or not url.isprintable() or " " in url:
        return None
    try:
        parts = urlsplit(url)
        host = parts.hostname
    except ValueError:
        return None
    if parts.scheme not in {"http", "https"} or not host or "@" in parts.netloc:
        return None
    return host.removeprefix("www.")
