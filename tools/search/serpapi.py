"""SerpApi: what Google finds, on the web and in the news, for operators with a key.

The key travels in the address, since there is no other way; `tools.http` tells nobody an address.

Source: serpapi.com documentation (google-light, google, google-news-light) and github.com/serpapi/serpapi-python,
2026-11-21. What a search costs is the plan's matter.
"""

from collections.abc import Iterator
from decimal import Decimal
from http import HTTPStatus

from pydantic import BaseModel, SecretStr, ValidationError

from tools.errors import Disabled, RateLimited, ToolError, Unavailable
from tools.http import Http, JsonAnswer
from tools.search.base import Hit, Query, hit, with_operators

MAX_QUERY_CHARS = 1_000

_FRESHNESS = {"day": "qdr:d", "week": "qdr:w", "month": "qdr:m", "year": "qdr:y"}
_NAME = "SerpApi"
_NOTHING_FOUND = "hasn't returned any results"


class _Result(BaseModel):
    title: str = ""
    link: str = ""
    snippet: str | None = None
    date: str | None = None


class _Answer(BaseModel):
    organic_results: tuple[_Result, ...] = ()
    news_results: tuple[_Result, ...] = ()
    error: str | None = None
    """With a success: that nothing was found, or that the search failed."""


class SerpApi:
    """Searches what Google finds."""

    name = _NAME
    cost_usd = Decimal(0)

    def __init__(self, *, http: Http, base_url: str, api_key: SecretStr, timeout_seconds: float) -> None:
        self._http = http
        self._url = f"{base_url}/search.json"
        self._api_key = api_key
        self._timeout_seconds = timeout_seconds

    def takes(self, query: Query) -> bool:
        """See `SearchBackend`: everything but news of a certain age."""
        return not (query.is_news and query.freshness)

    async def search(self, query: Query) -> tuple[Hit, ...]:
        """See `SearchBackend`.

        Raises:
            Disabled: the key is refused; the message names the setting.
            RateLimited: the pace or the month's searches are used up.
            TimedOut, TooLarge, Unavailable: no answer, or none that can be read.
        """
        answer = await self._http.get_json(
            self._url,
            service=_NAME,
            params=_params(query) | {"api_key": self._api_key.get_secret_value()},
            timeout_seconds=self._timeout_seconds,
        )
        if not answer.ok:
            raise _refusal(answer)
        return tuple(_hits(answer))[: query.count]


def _params(query: Query) -> dict[str, str]:
    params = {"engine": _engine(query), "q": with_operators(query, max_chars=MAX_QUERY_CHARS)}
    if query.freshness is not None:
        params["tbs"] = _FRESHNESS[query.freshness]
    return params if query.language is None else params | {"hl": query.language}


def _engine(query: Query) -> str:
    """The light ones answer faster; the search by age is the full one's."""
    if query.is_news:
        return "google_news_light"
    return "google" if query.freshness else "google_light"


def _hits(answer: JsonAnswer) -> Iterator[Hit]:
    try:
        read = _Answer.model_validate(answer.body)
    except ValidationError as error:
        raise Unavailable(f"{_NAME} answers something that cannot be read.") from error
    if read.error and _NOTHING_FOUND not in read.error:
        raise Unavailable(f"{_NAME}: the search failed.")
    for row in read.organic_results or read.news_results:
        if found := hit(title=row.title, url=row.link, snippet=row.snippet or "", age=row.date):
            yield found


def _refusal(answer: JsonAnswer) -> ToolError:
    if answer.status in {HTTPStatus.UNAUTHORIZED, HTTPStatus.FORBIDDEN}:
        return Disabled(f"{_NAME} refuses the key: the operator must check TOOLS__WEB_SEARCH__SERPAPI_API_KEY.")
    if answer.status == HTTPStatus.TOO_MANY_REQUESTS:
        return RateLimited(f"{_NAME}: the plan's searches of this hour or month are used up.")
    return answer.refusal(_NAME)
