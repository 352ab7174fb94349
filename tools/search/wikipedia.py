"""Wikipedia: only articles, but free and without a key, so it is the search that is always available.

Source: mediawiki.org, API:Query, Extension:TextExtracts, and the User-Agent policy of foundation.wikimedia.org,
2026-11-22: a User-Agent is required (`tools.http.Http` sends it) and should say how to reach the operator
(`TOOLS__CONTACT`): 200 requests a minute with that, 10 without; at most three at once. The text is CC BY-SA 4.0, which
requires naming and linking the article, as every hit does.
"""

from collections.abc import Iterator
from typing import Annotated

from pydantic import AfterValidator, BaseModel, Field

from tools.errors import RateLimited, ToolError, Unavailable
from tools.http import Http, JsonAnswer
from tools.search.base import Hit, Query, SearchBackend, SearchRow, hits, trim_query
from tools.search.options import SearchOptions
from tools.text import clean_text, shorten

# The limit of MediaWiki's search (CirrusSearch, $wgCirrusSearchMaxFullTextQueryLength).
_MAX_QUERY_CHARS = 300
_EXTRACT_CHARS = 300

_Extract = Annotated[str, AfterValidator(lambda text: shorten(text, _EXTRACT_CHARS))]

AT_ONCE = 3
"""Simultaneous requests to Wikimedia."""

BUSY = frozenset({"maxlag", "ratelimited"})
"""Error codes of overload, which can come with status 200."""


class _Page(SearchRow):
    url: str = Field(default="", alias="fullurl")
    index: int = 0
    snippet: _Extract | None = Field(default=None, alias="extract")


class _Query(BaseModel):
    pages: tuple[_Page, ...] = ()


class _Answer(BaseModel):
    query: _Query | None = None
    """Missing if no article matches."""


class WikipediaBackend(SearchBackend):
    """Searches the Wikipedia of one language."""

    name = "Wikipedia"

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
                params=_params(trim_query(query.text, max_chars=_MAX_QUERY_CHARS), query.count),
                timeout_seconds=self._timeout_seconds,
            )

    def _hits(self, answer: JsonAnswer, query: Query) -> Iterator[Hit]:
        del query
        if code := error_code(answer):
            raise refusal(code)
        pages = (answer.parse(_Answer, self.name).query or _Query()).pages
        ranked = sorted(pages, key=lambda page: page.index)
        return hits(ranked)


def _params(query: str, count: int) -> dict[str, str]:
    """Returns the parameters for a search that includes each article's address and introduction in plain text."""
    return {
        "action": "query",
        "format": "json",
        "formatversion": "2",
        "generator": "search",
        "gsrsearch": query,
        "gsrlimit": str(count),
        "prop": "extracts|info",
        "exintro": "1",
        "explaintext": "1",
        "exlimit": "max",
        "inprop": "url",
        "redirects": "1",
    }


def error_code(answer: JsonAnswer) -> str:
    """Returns MediaWiki's code for an error, which comes with status 200; empty if there is none."""
    match answer.body:
        case {"error": {"code": str(code)}}:
            return code
        case _:
            return ""


def refusal(code: str) -> ToolError:
    """Returns the error for MediaWiki's code."""
    if code in BUSY:
        return RateLimited("Wikipedia wants fewer requests.")
    return Unavailable(f"Wikipedia refuses the request ({shorten(clean_text(code), 60)}).")
