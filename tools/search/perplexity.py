"""Perplexity's Search API: web search with passages of the pages, with a key.

This is the search behind Sonar, whose chat completions ended on 2026-09-27.

Source: docs.perplexity.ai (openapi) and github.com/perplexityai/perplexity-py, 2026-11-21.
"""

from collections.abc import Iterator
from decimal import Decimal
from typing import Any

from pydantic import BaseModel, Field

from tools.http import JsonAnswer, bearer
from tools.search.base import Hit, Query, SearchBackend, SearchRow, hits, trim_query

MAX_QUERY_CHARS = 400
MAX_SITES = 20

_TOKENS_PER_PAGE = 512
_MAX_SNIPPET_CHARS = 1_000


class _Result(SearchRow):
    age: str | None = Field(default=None, alias="date")


class _Answer(BaseModel):
    results: tuple[_Result, ...]


class Perplexity(SearchBackend):
    """Searches the web, with passages of the pages."""

    name = "Perplexity"
    cost_usd = Decimal("0.005")  # $5 for 1,000 searches (docs.perplexity.ai, 2026-10)
    key_variable = "PERPLEXITY_API_KEY"

    def takes(self, query: Query) -> bool:
        """See `SearchBackend`: no news, and sites can be either required or excluded."""
        return not (query.is_news or (query.sites and query.without_sites))

    async def _ask(self, query: Query) -> JsonAnswer:
        return await self._http.ask_json(
            f"{self._options.perplexity_base_url}/search",
            service=self.name,
            body=_body(query),
            headers=bearer(self._options.perplexity_api_key),
            timeout_seconds=self._timeout_seconds,
        )

    def _hits(self, answer: JsonAnswer, query: Query) -> Iterator[Hit]:
        del query
        return hits(answer.parse(_Answer, self.name).results, max_snippet_chars=_MAX_SNIPPET_CHARS)


def _body(query: Query) -> dict[str, Any]:
    body: dict[str, Any] = {
        "query": trim_query(query.text, max_chars=MAX_QUERY_CHARS),
        "max_results": query.count,
        "max_tokens_per_page": _TOKENS_PER_PAGE,
    }
    sites = [*query.sites, *(f"-{site}" for site in query.without_sites)][:MAX_SITES]
    more = {
        "search_domain_filter": sites,
        "search_recency_filter": query.freshness,
        "search_language_filter": [query.language] if query.language else None,
    }
    return body | {name: value for name, value in more.items() if value}
