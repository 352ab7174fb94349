"""SearXNG: the web through an instance that the operator runs, which may stand on a private address.

Source: searxng/searxng `searx/webapp.py`, `searx/webutils.py` and docs.searxng.org, 2026-11-21. Public instances
mostly forbid programs, so there is no default address.
"""

from collections.abc import Iterator
from decimal import Decimal
from http import HTTPStatus
from typing import Any

from pydantic import BaseModel, ValidationError

from tools.errors import Disabled, ToolError, Unavailable
from tools.http import Http, JsonAnswer
from tools.search.base import Hit, Query, hit, with_operators

_MAX_QUERY_CHARS = 500


class _Result(BaseModel):
    title: str = ""
    url: str = ""
    content: str | None = None
    score: float | None = None
    publishedDate: str | None = None  # noqa: N815 - SearXNG's own name


class _Answer(BaseModel):
    results: tuple[_Result, ...]
    unresponsive_engines: tuple[Any, ...] = ()


class SearXNG:
    """Searches what the engines behind a SearXNG of your own find."""

    name = "SearXNG"
    cost_usd = Decimal(0)

    def __init__(self, *, http: Http, base_url: str, timeout_seconds: float) -> None:
        self._http = http
        self._url = f"{base_url}/search"
        self._timeout_seconds = timeout_seconds

    def takes(self, query: Query) -> bool:
        """See `SearchBackend`: everything; the engines behind it follow as far as they can."""
        del query
        return True

    async def search(self, query: Query) -> tuple[Hit, ...]:
        """See `SearchBackend`.

        Raises:
            Disabled: the instance does not give JSON.
            RateLimited, TimedOut, TooLarge, Unavailable: no answer; or no hit, because the engines behind it block it.
        """
        answer = await self._http.get_json(
            self._url,
            service=self.name,
            params=_params(query),
            timeout_seconds=self._timeout_seconds,
        )
        if not answer.ok:
            raise _refusal(answer)
        return tuple(_hits(answer))[: query.count]


def _params(query: Query) -> dict[str, str]:
    params = {"q": with_operators(query, max_chars=_MAX_QUERY_CHARS), "format": "json", "safesearch": "1"}
    if query.is_news:
        params["categories"] = "news"
    if query.freshness is not None:
        params["time_range"] = query.freshness
    return params if query.language is None else params | {"language": query.language}


def _hits(answer: JsonAnswer) -> Iterator[Hit]:
    try:
        read = _Answer.model_validate(answer.body)
    except ValidationError as error:
        raise Unavailable("SearXNG answers something that cannot be read.") from error
    if not read.results and read.unresponsive_engines:
        raise Unavailable("SearXNG finds nothing because the engines behind it do not answer.")
    for row in read.results:
        words, age = row.content or "", (row.publishedDate or "")[:10]
        if found := hit(title=row.title, url=row.url, snippet=words, age=age, score=row.score):
            yield found


def _refusal(answer: JsonAnswer) -> ToolError:
    if answer.status == HTTPStatus.FORBIDDEN:
        return Disabled("SearXNG gives no JSON: the operator must add json to search.formats in its settings.yml.")
    return answer.refusal("SearXNG")
