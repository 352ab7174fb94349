"""Wikipedia: articles only, but for everybody and without a key, so it is the search that is always there.

Source: mediawiki.org, API:Query, Extension:TextExtracts, and the User-Agent policy of foundation.wikimedia.org,
2026-11-22: a User-Agent is required (`tools.http.Http` has it), and has to say how whoever runs the client can be
reached: 200 requests a minute with it (`TOOLS__CONTACT`), 10 without; at most three at once.
The text is CC BY-SA 4.0: naming and linking the article, which every hit does, is its condition.
"""

from collections.abc import Iterator
from decimal import Decimal

from pydantic import BaseModel, ValidationError

from tools.errors import RateLimited, ToolError, Unavailable
from tools.http import Http, JsonAnswer
from tools.search.base import Hit, Query, hit, trim_query
from tools.text import shorten

# What the search behind MediaWiki takes (CirrusSearch, $wgCirrusSearchMaxFullTextQueryLength).
_MAX_QUERY_CHARS = 300
_EXTRACT_CHARS = 300
_AT_ONCE = 3


class _Page(BaseModel):
    title: str
    fullurl: str
    index: int = 0
    extract: str | None = None


class _Query(BaseModel):
    pages: tuple[_Page, ...] = ()


class _Answer(BaseModel):
    query: _Query | None = None
    """Missing when no article matches."""


class WikipediaBackend:
    """Searches encyclopaedic matters, in the Wikipedia of one language."""

    name = "Wikipedia"
    cost_usd = Decimal(0)

    def __init__(self, *, http: Http, base_url: str, language: str, timeout_seconds: float) -> None:
        """`base_url` may hold `{language}`, which is replaced by the query's language, else by this one."""
        self._http = http
        self._base_url = base_url
        self._language = language
        self._timeout_seconds = timeout_seconds
        self._places = http.places(self.name, _AT_ONCE)

    def takes(self, query: Query) -> bool:
        """See `SearchBackend`: no news, no dates, no sites but its own."""
        return not (query.is_news or query.freshness or query.sites)

    async def search(self, query: Query) -> tuple[Hit, ...]:
        """See `SearchBackend`.

        Raises:
            RateLimited, TimedOut, TooLarge, Unavailable: no answer, or none that can be read.
        """
        language = query.language or self._language
        async with self._places:
            answer = await self._http.get_json(
                f"{self._base_url.replace('{language}', language)}/w/api.php",
                service=self.name,
                params=_params(trim_query(query.text, max_chars=_MAX_QUERY_CHARS), query.count),
                timeout_seconds=self._timeout_seconds,
            )
        if not answer.ok:
            raise answer.refusal(self.name)
        if code := _error_code(answer):
            raise _refusal(code)
        return tuple(_hits(answer))[: query.count]


def _params(query: str, count: int) -> dict[str, str]:
    """One call for everything: the search, and of each article its introduction in plain text and its address."""
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


def _hits(answer: JsonAnswer) -> Iterator[Hit]:
    try:
        query = _Answer.model_validate(answer.body).query or _Query()
    except ValidationError as error:
        raise Unavailable("Wikipedia answers something that cannot be read.") from error
    for page in sorted(query.pages, key=lambda page: page.index):
        extract = shorten(page.extract or "", _EXTRACT_CHARS)
        if found := hit(title=page.title, url=page.fullurl, snippet=extract):
            yield found


def _error_code(answer: JsonAnswer) -> str:
    """MediaWiki's word for an error, which comes with status 200; empty where there is none."""
    match answer.body:
        case {"error": {"code": str(code)}}:
            return code
        case _:
            return ""


def _refusal(code: str) -> ToolError:
    if code in {"ratelimited", "maxlag"}:
        return RateLimited("Wikipedia wants fewer requests.")
    return Unavailable(f"Wikipedia refuses the request ({shorten(code, 60)}).")
