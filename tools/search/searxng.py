"""SearXNG: web search through the operator's own instance, which can have a private address.

Source: searxng/searxng `searx/webapp.py`, `searx/webutils.py` and docs.searxng.org, 2026-11-21. Most public instances
forbid programs, so there is no default address.
"""

from collections.abc import Iterator
from http import HTTPStatus
from typing import Annotated, Any

from pydantic import AfterValidator, BaseModel, Field

from tools.errors import Disabled, ToolError, Unavailable
from tools.http import JsonAnswer
from tools.search.base import Hit, Query, SearchBackend, SearchRow, hits, with_operators

_MAX_QUERY_CHARS = 500
_DATE_CHARS = 10

_Day = Annotated[str, AfterValidator(lambda instant: instant[:_DATE_CHARS])]


class _Result(SearchRow):
    snippet: str | None = Field(default=None, alias="content")
    age: _Day | None = Field(default=None, alias="publishedDate")


class _Answer(BaseModel):
    results: tuple[_Result, ...]
    unresponsive_engines: tuple[Any, ...] = ()


class SearXNG(SearchBackend):
    """Searches through your own SearXNG."""

    name = "SearXNG"

    async def _ask(self, query: Query) -> JsonAnswer:
        return await self._http.get_json(
            f"{self._options.searxng_base_url}/search",
            service=self.name,
            params=_params(query),
            timeout_seconds=self._timeout_seconds,
        )

    def _hits(self, answer: JsonAnswer, query: Query) -> Iterator[Hit]:
        del query
        read = answer.parse(_Answer, self.name)
        if not read.results and read.unresponsive_engines:
            raise Unavailable("SearXNG finds nothing because the engines behind it do not answer.")
        return hits(read.results)

    def _refusal(self, answer: JsonAnswer) -> ToolError:
        if answer.status == HTTPStatus.FORBIDDEN:
            return Disabled("SearXNG gives no JSON: the operator must add json to search.formats in its settings.yml.")
        return super()._refusal(answer)


def _params(query: Query) -> dict[str, str]:
    params = {"q": with_operators(query, max_chars=_MAX_QUERY_CHARS), "format": "json", "safesearch": "1"}
    if query.is_news:
        params["categories"] = "news"
    if query.freshness is not None:
        params["time_range"] = query.freshness
    return params if query.language is None else params | {"language": query.language}
