"""Brave Search: web and news, with a key.

Its `context` mode returns relevant passages of pages instead of snippets, for the same price.

Source: api-dashboard.search.brave.com documentation and github.com/brave/brave-search-skills, 2026-11-21. Brave's terms
only allow transient storage of results: they are kept in memory for minutes.
"""

import asyncio
import math
from collections.abc import Iterator, Mapping
from dataclasses import replace
from decimal import Decimal
from http import HTTPStatus
from itertools import zip_longest
from typing import Self

from pydantic import BaseModel, Field, model_validator

from tools.errors import RateLimited, TimedOut, ToolError, Unavailable
from tools.http import Http, JsonAnswer, no_pause
from tools.search.base import Hit, Query, SearchBackend, SearchRow, hits, with_operators
from tools.search.options import Mode, SearchOptions

MAX_QUERY_CHARS = 400
MAX_QUERY_WORDS = 50

# The slowest plan allows one request a second; the first answer tells what the key really allows.
SLOWEST_INTERVAL_SECONDS = 1.1

_CONTEXT_CHARS = 1_500
_CONTEXT_TOKENS = 4_096  # of all passages together
_FRESHNESS = {"day": "pd", "week": "pw", "month": "pm", "year": "py"}
# Brave's own codes: all supported ones, and those that differ from ISO 639-1.
_LANGUAGE_CODES = (
    "ar bg bn ca cs da de el en es et eu fi fr gl gu he hi hr hu is it kn ko lt lv ml mr ms nl pa pl ro ru sk sl sr sv"
    " ta te th tr uk vi"
)
_LANGUAGES = frozenset(_LANGUAGE_CODES.split())
_OTHER_LANGUAGES = {"ja": "jp", "no": "nb", "pt": "pt-pt", "zh": "zh-hans"}
_MAX_HOLD_SECONDS = 5.0  # windows that open later are monthly: ask, and let Brave refuse


class _Result(SearchRow):
    snippet: str | None = Field(default=None, alias="description")
    page_age: str | None = None

    @model_validator(mode="after")
    def _take_page_age(self) -> Self:
        self.age = self.age or self.page_age
        return self


class _Web(BaseModel):
    results: tuple[_Result, ...] = ()


class _Answer(BaseModel):
    web: _Web | None = None
    """Missing if nothing on the web matches."""
    results: tuple[_Result, ...] = ()
    """The results for news."""


class _Passages(BaseModel):
    url: str = ""
    title: str = ""
    snippets: tuple[str, ...] = ()


class _Source(BaseModel):
    age: tuple[str, ...] | None = None
    """The age in words, as a date, and in days."""


class _Grounding(BaseModel):
    generic: tuple[_Passages, ...] = ()


class _Context(BaseModel):
    grounding: _Grounding
    sources: Mapping[str, _Source] = {}


class Brave(SearchBackend):
    """Searches web and news, or passages of pages, at the pace that the key allows."""

    name = "Brave Search"
    cost_usd = Decimal("0.005")  # $5 for 1,000 requests, of which $5 a month are free (dashboard, 2026-09)
    key_variable = "API_KEY"

    def __init__(
        self, options: SearchOptions, http: Http, *, interval_seconds: float = SLOWEST_INTERVAL_SECONDS
    ) -> None:
        """`interval_seconds` is the pace until Brave tells its own."""
        super().__init__(options, http)
        self._pace = _Pace(interval_seconds)

    async def _ask(self, query: Query) -> JsonAnswer:
        """Queries at the right pace; retries once if it was too fast."""
        try:
            async with asyncio.timeout(self._timeout_seconds):
                answer = await self._ask_once(query)
                if answer.status == HTTPStatus.TOO_MANY_REQUESTS and _code(answer) != "QUOTA_LIMITED":
                    return await self._ask_once(query)
                return answer
        except TimeoutError as error:
            raise TimedOut(f"{self.name} did not answer within {self._timeout_seconds:g} seconds.") from error

    async def _ask_once(self, query: Query) -> JsonAnswer:
        await self._pace.turn()
        path, params = _question(query, self._options.brave_mode)
        key = self._options.api_key
        answer = await self._http.get_json(
            f"{self._options.base_url}/{path}",
            service=self.name,
            params=params,
            headers={"X-Subscription-Token": key.get_secret_value()} if key else None,
            timeout_seconds=self._timeout_seconds,
            pause=no_pause,
        )
        self._pace.learn(answer)
        return answer

    def _hits(self, answer: JsonAnswer, query: Query) -> Iterator[Hit]:
        if self._options.brave_mode == "context" and not query.is_news:
            return hits(_passages(answer.parse(_Context, self.name)), max_snippet_chars=_CONTEXT_CHARS)
        read = answer.parse(_Answer, self.name)
        return hits(read.web.results if read.web else read.results)

    def _refusal(self, answer: JsonAnswer) -> ToolError:
        """Prefers the code to the status, as a refused key is a 422."""
        match _code(answer):
            case "QUOTA_LIMITED":
                return RateLimited("Brave Search: the plan's quota is used up.")
            case "SUBSCRIPTION_TOKEN_INVALID" | "SUBSCRIPTION_NOT_FOUND":
                return super()._refusal(replace(answer, status=HTTPStatus.UNAUTHORIZED))
            case _ if answer.status == HTTPStatus.UNPROCESSABLE_ENTITY:
                return Unavailable("Brave Search refuses the request as invalid.")
            case _:
                return super()._refusal(answer)


def _question(query: Query, mode: Mode) -> tuple[str, dict[str, str]]:
    """Returns the path of the endpoint and its parameters."""
    params = {
        "q": with_operators(query, max_chars=MAX_QUERY_CHARS, max_words=MAX_QUERY_WORDS),
        "count": str(query.count),
        "country": "ALL",
    }
    if query.freshness is not None:
        params["freshness"] = _FRESHNESS[query.freshness]
    code = query.language if query.language in _LANGUAGES else _OTHER_LANGUAGES.get(query.language or "")
    if code is not None:
        params["search_lang"] = code
    if query.is_news:
        return "news/search", params
    if mode == "context":
        bounds = {"maximum_number_of_urls": str(query.count), "maximum_number_of_tokens": str(_CONTEXT_TOKENS)}
        # Unlike the others, this endpoint filters nothing by default.
        return "llm/context", params | bounds | {"safesearch": "moderate"}
    return "web/search", params | {"text_decorations": "false", "result_filter": "web"}


class _Pace:
    """Spaces out requests."""

    def __init__(self, interval_seconds: float) -> None:
        self._interval_seconds = interval_seconds
        self._last_at = -math.inf  # on the event loop's clock, as is
        self._held_until = 0.0
        self._line = asyncio.Lock()

    async def turn(self) -> None:
        """Waits until the next request is allowed."""
        now = asyncio.get_running_loop().time
        async with self._line:
            await asyncio.sleep(max(self._last_at + self._interval_seconds, self._held_until) - now())
            self._last_at = now()

    def learn(self, answer: JsonAnswer) -> None:
        """Takes the pace from the answer's headers, and waits while a short window is used up."""
        for limit, remaining, reset_seconds in _windows(answer.headers):
            if reset_seconds > _MAX_HOLD_SECONDS:
                continue
            self._interval_seconds = min(self._interval_seconds, SLOWEST_INTERVAL_SECONDS / limit)
            if remaining == 0 or answer.status == HTTPStatus.TOO_MANY_REQUESTS:
                self._held_until = max(self._held_until, asyncio.get_running_loop().time() + reset_seconds)


def _windows(headers: Mapping[str, str]) -> Iterator[tuple[float, float, float]]:
    """Yields limit, remaining requests and seconds until reset of each window that limits anything.

    The headers list one figure per window. A limit of 0 is no limit: with pay-as-you-go, the monthly limit and the
    remaining requests are 0, which would otherwise look like a wait of weeks after every request.
    """
    names = ("x-ratelimit-limit", "x-ratelimit-remaining", "x-ratelimit-reset")
    for window in zip_longest(*(headers.get(name, "").split(",") for name in names), fillvalue=""):
        try:
            limit, remaining, reset_seconds = map(float, window)
        except ValueError:
            continue
        if limit > 0:
            yield limit, remaining, reset_seconds


def _passages(read: _Context) -> Iterator[SearchRow]:
    for row in read.grounding.generic:
        told = read.sources.get(row.url, _Source()).age or ()
        age = told[1] if len(told) > 1 else None
        yield SearchRow(title=row.title, url=row.url, snippet=" … ".join(row.snippets), age=age)


def _code(answer: JsonAnswer) -> str:
    """Returns Brave's error code, in either of its two formats; empty if there is none."""
    match answer.body:
        case {"error": {"code": str(code)}}:
            return code
        case {"errors": [{"code": str(code)}, *_]}:
            return code
        case _:
            return ""
