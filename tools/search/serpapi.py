"""SerpApi: Google's results for web and news, with a key.

The key can only be sent in the address; `tools.http` never shows addresses.

Source: serpapi.com documentation (google-light, google, google-news-light) and github.com/serpapi/serpapi-python,
2026-11-21. The cost of a search depends on the plan.
"""

from collections.abc import Iterator
from http import HTTPStatus

from pydantic import BaseModel, Field

from tools.errors import RateLimited, ToolError, Unavailable
from tools.http import JsonAnswer
from tools.search.base import Hit, Query, SearchBackend, SearchRow, hits, with_operators

MAX_QUERY_CHARS = 1_000

_FRESHNESS = {"day": "qdr:d", "week": "qdr:w", "month": "qdr:m", "year": "qdr:y"}
_NOTHING_FOUND = "hasn't returned any results"


class _Result(SearchRow):
    url: str = Field(default="", alias="link")
    age: str | None = Field(default=None, alias="date")


class _Answer(BaseModel):
    organic_results: tuple[_Result, ...] = ()
    news_results: tuple[_Result, ...] = ()
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
        return await self._http.get_json(
            f"{self._options.serpapi_base_url}/search.json",
            service=self.name,
            params=_params(query) | ({"api_key": key.get_secret_value()} if key else {}),
            timeout_seconds=self._timeout_seconds,
        )

    def _hits(self, answer: JsonAnswer, query: Query) -> Iterator[Hit]:
        del query
        read = answer.parse(_Answer, self.name)
        if read.error and _NOTHING_FOUND not in read.error:
            raise Unavailable(f"{self.name}: the search failed.")
        return hits(read.organic_results or read.news_results)

    def _refusal(self, answer: JsonAnswer) -> ToolError:
        if answer.status == HTTPStatus.TOO_MANY_REQUESTS:
            return RateLimited(f"{self.name}: the plan's searches of this hour or month are used up.")
        return super()._refusal(answer)


def _params(query: Query) -> dict[str, str]:
    # The light engines are faster; only the full one searches by age.
    engine = "google_news_light" if query.is_news else "google" if query.freshness else "google_light"
    params = {"engine": engine, "q": with_operators(query, max_chars=MAX_QUERY_CHARS)}
    if query.freshness is not None:
        params["tbs"] = _FRESHNESS[query.freshness]
    return params if query.language is None else params | {"hl": query.language}
