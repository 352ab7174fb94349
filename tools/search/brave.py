"""Brave Search: the web, for operators with a key.

Source: api-dashboard.search.brave.com documentation and github.com/brave/brave-search-skills, 2026-11-21. Brave's terms
forbid storing results beyond the moment, so there is no cache here.
"""

import asyncio
import math
from collections.abc import Iterator, Mapping
from http import HTTPStatus
from itertools import zip_longest

from pydantic import BaseModel, SecretStr, ValidationError

from tools.errors import Disabled, RateLimited, TimedOut, ToolError, Unavailable
from tools.http import Http, JsonAnswer, no_pause
from tools.search.base import Hit, hit, trimmed

MAX_QUERY_CHARS = 400
MAX_QUERY_WORDS = 50

# The slowest plan takes one request a second; what the key really allows is learned from the first answer.
SLOWEST_INTERVAL_SECONDS = 1.1

_LONGEST_HOLD_SECONDS = 5.0  # a window that opens later is a month's: ask and let Brave refuse


class _Result(BaseModel):
    title: str = ""
    url: str = ""
    description: str | None = None
    age: str | None = None
    page_age: str | None = None


class _Web(BaseModel):
    results: tuple[_Result, ...] = ()


class _Answer(BaseModel):
    web: _Web | None = None
    """Missing when nothing on the web matches."""


class Brave:
    """Asks Brave Search, at the pace that the key allows."""

    name = "Brave Search"

    def __init__(
        self,
        *,
        http: Http,
        base_url: str,
        api_key: SecretStr,
        timeout_seconds: float,
        interval_seconds: float = SLOWEST_INTERVAL_SECONDS,
    ) -> None:
        """`interval_seconds` is the pace until Brave has told its own."""
        self._http = http
        self._url = f"{base_url}/web/search"
        self._api_key = api_key
        self._timeout_seconds = timeout_seconds
        self._pace = _Pace(interval_seconds)

    async def search(self, query: str, count: int) -> tuple[Hit, ...]:
        """See `SearchBackend`.

        Raises:
            Disabled: the key or the plan is refused; the message names the setting.
            RateLimited: the pace or the month's quota is used up.
            TimedOut, TooLarge, Unavailable: no answer, or none that can be read.
        """
        params = {
            "q": trimmed(query, max_chars=MAX_QUERY_CHARS, max_words=MAX_QUERY_WORDS),
            "count": str(count),
            "country": "ALL",
            "text_decorations": "false",
            "result_filter": "web",
        }
        try:
            async with asyncio.timeout(self._timeout_seconds):
                answer = await self._ask(params)
        except TimeoutError as error:
            raise TimedOut(f"{self.name} did not answer within {self._timeout_seconds:g} seconds.") from error
        if not answer.ok:
            raise _refusal(answer)
        return tuple(_hits(answer))[:count]

    async def _ask(self, params: Mapping[str, str]) -> JsonAnswer:
        """Ask in turn; once more where we were only too fast."""
        answer = await self._ask_once(params)
        if answer.status == HTTPStatus.TOO_MANY_REQUESTS and _code(answer) != "QUOTA_LIMITED":
            return await self._ask_once(params)
        return answer

    async def _ask_once(self, params: Mapping[str, str]) -> JsonAnswer:
        await self._pace.turn()
        answer = await self._http.get_json(
            self._url,
            service=self.name,
            params=params,
            headers={"X-Subscription-Token": self._api_key.get_secret_value()},
            timeout_seconds=self._timeout_seconds,
            pause=no_pause,
        )
        self._pace.learn(answer)
        return answer


class _Pace:
    """When the next request may start."""

    def __init__(self, interval_seconds: float) -> None:
        self._interval_seconds = interval_seconds
        self._last_at = -math.inf  # on the event loop's clock, as is
        self._held_until = 0.0
        self._line = asyncio.Lock()

    async def turn(self) -> None:
        """Wait for one's turn."""
        now = asyncio.get_running_loop().time
        async with self._line:
            await asyncio.sleep(max(self._last_at + self._interval_seconds, self._held_until) - now())
            self._last_at = now()

    def learn(self, answer: JsonAnswer) -> None:
        """Take the pace from the answer's headers, and hold while a short window is used up."""
        for limit, remaining, reset_seconds in _windows(answer.headers):
            if reset_seconds > _LONGEST_HOLD_SECONDS:
                continue
            self._interval_seconds = min(self._interval_seconds, SLOWEST_INTERVAL_SECONDS / limit)
            if remaining == 0 or answer.status == HTTPStatus.TOO_MANY_REQUESTS:
                self._held_until = max(self._held_until, asyncio.get_running_loop().time() + reset_seconds)


def _windows(headers: Mapping[str, str]) -> Iterator[tuple[float, float, float]]:
    """Limit, requests that remain and seconds until it opens again, of each window that limits anything.

    The headers list one figure a window. A limit of 0 is no limit: with pay-as-you-go the month's is 0, remaining 0,
    and would otherwise look like a wait of weeks after every request.
    """
    names = ("x-ratelimit-limit", "x-ratelimit-remaining", "x-ratelimit-reset")
    for window in zip_longest(*(headers.get(name, "").split(",") for name in names), fillvalue=""):
        try:
            limit, remaining, reset_seconds = map(float, window)
        except ValueError:
            continue
        if limit > 0:
            yield limit, remaining, reset_seconds


def _hits(answer: JsonAnswer) -> Iterator[Hit]:
    try:
        web = _Answer.model_validate(answer.body).web or _Web()
    except ValidationError as error:
        raise Unavailable("Brave Search answers something that cannot be read.") from error
    for row in web.results:
        snippet, age = row.description or "", row.age or row.page_age
        if found := hit(title=row.title, url=row.url, snippet=snippet, age=age):
            yield found


def _refusal(answer: JsonAnswer) -> ToolError:
    """What an error means; the code says more than the status: a refused key is a 422."""
    code = _code(answer)
    if code == "QUOTA_LIMITED":
        return RateLimited("Brave Search: the plan's quota is used up.")
    if code in {"SUBSCRIPTION_TOKEN_INVALID", "SUBSCRIPTION_NOT_FOUND"} or answer.status in {
        HTTPStatus.UNAUTHORIZED,
        HTTPStatus.FORBIDDEN,
    }:
        return Disabled("Brave Search refuses the key: the operator must check TOOLS__WEB_SEARCH__API_KEY.")
    if answer.status == HTTPStatus.UNPROCESSABLE_ENTITY:
        return Unavailable("Brave Search refuses the request as invalid.")
    return answer.refusal("Brave Search")


def _code(answer: JsonAnswer) -> str:
    """Brave's word for the error, in either of the two shapes that it uses; empty where there is none."""
    match answer.body:
        case {"error": {"code": str(code)}}:
            return code
        case {"errors": [{"code": str(code)}, *_]}:
            return code
        case _:
            return ""
