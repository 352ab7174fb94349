"""Tavily: web and news search made for models, with a key, or keyless within undocumented limits.

Source: docs.tavily.com and github.com/tavily-ai/tavily-python, 2026-11-21. 1,000 credits a month are free without a
card, a basic search is one credit.
"""

from collections.abc import Iterator
from decimal import Decimal
from typing import Any

from pydantic import BaseModel, Field

from tools.errors import RateLimited, ToolError
from tools.http import Http, JsonAnswer, bearer
from tools.search.base import Hit, Query, SearchBackend, SearchRow, hits, trim_query
from tools.search.options import SearchOptions
from tools.text import plain, shorten

MAX_QUERY_CHARS = 400

_USED_UP = frozenset({432, 433})  # Tavily's own statuses: plan limit, pay-as-you-go limit
_MAX_SNIPPET_CHARS = 600
_MAX_ANSWER_CHARS = 2_000


class _Result(SearchRow):
    snippet: str | None = Field(default=None, alias="content")
    age: str | None = Field(default=None, alias="published_date")


class _Answer(BaseModel):
    results: tuple[_Result, ...]
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
            body=_body(query),
            headers=bearer(key) if key else {"X-Tavily-Access-Mode": "keyless"},
            timeout_seconds=self._timeout_seconds,
        )

    def _hits(self, answer: JsonAnswer, query: Query) -> Iterator[Hit]:
        del query
        return hits(answer.parse(_Answer, self.name).results, max_snippet_chars=_MAX_SNIPPET_CHARS)

    def price_usd(self, query: Query) -> Decimal:
        """See `SearchBackend`: an advanced search is two credits."""
        return self.cost_usd * (2 if query.is_deep else 1)

    def _summary(self, answer: JsonAnswer) -> str:
        """See `SearchBackend`."""
        return shorten(plain(answer.parse(_Answer, self.name).answer or ""), _MAX_ANSWER_CHARS)

    def _refusal(self, answer: JsonAnswer) -> ToolError:
        if answer.status in _USED_UP:
            return RateLimited(f"{self.name}: the plan's credits are used up.")
        return super()._refusal(answer)


def _body(query: Query) -> dict[str, Any]:
    body: dict[str, Any] = {
        "query": trim_query(query.text, max_chars=MAX_QUERY_CHARS),
        "topic": "news" if query.is_news else "general",
        "search_depth": "advanced" if query.is_deep else "basic",
        "max_results": query.count,
    }
    more = {
        "time_range": query.freshness,
        "include_domains": list(query.sites),
        "exclude_domains": list(query.without_sites),
        "include_answer": query.has_answer,
    }
    return body | {name: value for name, value in more.items() if value}
