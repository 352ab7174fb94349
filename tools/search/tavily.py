"""Tavily: the web and the news, made for models; with a key, or keyless within limits that it does not tell.

Source: docs.tavily.com and github.com/tavily-ai/tavily-python, 2026-11-21. 1,000 credits a month are free without a
card, a basic search is one credit.
"""

from collections.abc import Iterator
from decimal import Decimal
from http import HTTPStatus
from typing import Any

from pydantic import BaseModel, SecretStr, ValidationError

from tools.errors import Disabled, RateLimited, ToolError, Unavailable
from tools.http import Http, JsonAnswer
from tools.search.base import Hit, Query, hit, trim_query

MAX_QUERY_CHARS = 400

_PLAN_USED_UP = 432  # Tavily's own statuses
_PAY_AS_YOU_GO_USED_UP = 433
_MAX_SNIPPET_CHARS = 600
_NAME = "Tavily"


class _Result(BaseModel):
    title: str = ""
    url: str = ""
    content: str | None = None
    score: float | None = None
    published_date: str | None = None


class _Answer(BaseModel):
    results: tuple[_Result, ...]


class Tavily:
    """Searches the web and the news; also without a key, where that is switched on."""

    name = _NAME

    def __init__(self, *, http: Http, base_url: str, api_key: SecretStr | None, timeout_seconds: float) -> None:
        """`api_key` None asks in the keyless mode."""
        self._http = http
        self._url = f"{base_url}/search"
        self._api_key = api_key
        self._timeout_seconds = timeout_seconds
        self.cost_usd = Decimal("0.008") if api_key else Decimal(0)

    def takes(self, query: Query) -> bool:
        """See `SearchBackend`: everything; of the language it knows nothing."""
        del query
        return True

    async def search(self, query: Query) -> tuple[Hit, ...]:
        """See `SearchBackend`.

        Raises:
            Disabled: the key is refused; the message names the setting.
            RateLimited: the pace, the plan or the keyless amount is used up.
            TimedOut, TooLarge, Unavailable: no answer, or none that can be read.
        """
        answer = await self._http.ask_json(
            self._url,
            service=_NAME,
            body=_body(query),
            headers=self._headers(),
            timeout_seconds=self._timeout_seconds,
        )
        if not answer.ok:
            raise _refusal(answer)
        return tuple(_hits(answer))[: query.count]

    def _headers(self) -> dict[str, str]:
        if self._api_key is None:
            return {"X-Tavily-Access-Mode": "keyless"}
        return {"Authorization": f"Bearer {self._api_key.get_secret_value()}"}


def _body(query: Query) -> dict[str, Any]:
    body: dict[str, Any] = {
        "query": trim_query(query.text, max_chars=MAX_QUERY_CHARS),
        "topic": "news" if query.is_news else "general",
        "search_depth": "basic",
        "max_results": query.count,
    }
    more = {
        "time_range": query.freshness,
        "include_domains": list(query.sites),
        "exclude_domains": list(query.without_sites),
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
            snippet=row.content or "",
            age=row.published_date,
            score=row.score,
            max_snippet_chars=_MAX_SNIPPET_CHARS,
        )
        if found:
            yield found


def _refusal(answer: JsonAnswer) -> ToolError:
    if answer.status in {_PLAN_USED_UP, _PAY_AS_YOU_GO_USED_UP}:
        return RateLimited(f"{_NAME}: the plan's credits are used up.")
    if answer.status in {HTTPStatus.UNAUTHORIZED, HTTPStatus.FORBIDDEN}:
        return Disabled(f"{_NAME} refuses the key: the operator must check TOOLS__WEB_SEARCH__TAVILY_API_KEY.")
    return answer.refusal(_NAME)
