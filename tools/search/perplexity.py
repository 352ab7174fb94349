"""Perplexity's Search API: the web, with passages of the pages, for operators with a key.

Sonar, its answers in the shape of chat completions, ended on 2026-09-27; this is the search behind it.

Source: docs.perplexity.ai (openapi) and github.com/perplexityai/perplexity-py, 2026-11-21.
"""

from collections.abc import Iterator
from decimal import Decimal
from http import HTTPStatus
from typing import Any

from pydantic import BaseModel, SecretStr, ValidationError

from tools.errors import Disabled, ToolError, Unavailable
from tools.http import Http, JsonAnswer
from tools.search.base import Hit, Query, hit, trim_query

MAX_QUERY_CHARS = 400
MAX_SITES = 20

_TOKENS_PER_PAGE = 512
_MAX_SNIPPET_CHARS = 1_000
_NAME = "Perplexity"


class _Result(BaseModel):
    title: str = ""
    url: str = ""
    snippet: str | None = None
    date: str | None = None


class _Answer(BaseModel):
    results: tuple[_Result, ...]


class Perplexity:
    """Searches the web, with passages of the pages."""

    name = _NAME
    cost_usd = Decimal("0.005")  # $5 for 1,000 searches (docs.perplexity.ai, 2026-10)

    def __init__(self, *, http: Http, base_url: str, api_key: SecretStr, timeout_seconds: float) -> None:
        self._http = http
        self._url = f"{base_url}/search"
        self._api_key = api_key
        self._timeout_seconds = timeout_seconds

    def takes(self, query: Query) -> bool:
        """See `SearchBackend`: no news, and sites either only or left out."""
        return not (query.is_news or (query.sites and query.without_sites))

    async def search(self, query: Query) -> tuple[Hit, ...]:
        """See `SearchBackend`.

        Raises:
            Disabled: the key is refused; the message names the setting.
            RateLimited, TimedOut, TooLarge, Unavailable: no answer, or none that can be read.
        """
        answer = await self._http.ask_json(
            self._url,
            service=_NAME,
            body=_body(query),
            headers={"Authorization": f"Bearer {self._api_key.get_secret_value()}"},
            timeout_seconds=self._timeout_seconds,
        )
        if not answer.ok:
            raise _refusal(answer)
        return tuple(_hits(answer))[: query.count]


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


def _hits(answer: JsonAnswer) -> Iterator[Hit]:
    try:
        rows = _Answer.model_validate(answer.body).results
    except ValidationError as error:
        raise Unavailable(f"{_NAME} answers something that cannot be read.") from error
    for row in rows:
        found = hit(
            title=row.title,
            url=row.url,
            snippet=row.snippet or "",
            age=row.date,
            max_snippet_chars=_MAX_SNIPPET_CHARS,
        )
        if found:
            yield found


def _refusal(answer: JsonAnswer) -> ToolError:
    """What an error means; a 401 may come as a page of its proxy."""
    if answer.status in {HTTPStatus.UNAUTHORIZED, HTTPStatus.FORBIDDEN}:
        return Disabled(f"{_NAME} refuses the key: the operator must check TOOLS__WEB_SEARCH__PERPLEXITY_API_KEY.")
    return answer.refusal(_NAME)
