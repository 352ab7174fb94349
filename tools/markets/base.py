"""The interface of prediction markets: one type for all of them, and the parsing of numbers and dates."""

import json
import math
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Annotated, Any, ClassVar, Literal, cast

from pydantic import BeforeValidator

from tools.errors import NotFound
from tools.http import Http, JsonAnswer
from tools.text import clean_line, clean_text, shorten

Status = Literal["open", "closed", "resolved"]
"""Whether people can still trade, wait for the outcome, or know it."""

MAX_OUTCOMES = 12
"""The most outcomes shown of one market."""

_MISSING = frozenset({400, 404, 422})  # how exchanges answer if there is no such market
_MAX_LINE_CHARS = 200
_MAX_TEXT_CHARS = 1500
_MAX_MILLISECONDS = 32_503_680_000_000  # the year 3000; people enter closing times beyond any calendar


@dataclass(frozen=True, kw_only=True, slots=True)
class MarketOutcome:
    """A possible outcome, and its probability according to the traders."""

    name: str
    probability: float | None
    """From 0 to 1; None if there is no price."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Market:
    """A question that people trade on."""

    id: str
    """The id for `market_get`: the name of the source and its own id, separated by a colon."""
    question: str
    url: str
    status: Status
    outcomes: Sequence[MarketOutcome]
    """The most likely first if there are more than two."""
    resolution: str = ""
    """The outcome; empty until it is known."""
    ends_at: datetime | None = None
    volume: float | None = None
    """The total volume in the money of the source, like the amounts below."""
    volume_24h: float | None = None
    liquidity: float | None = None
    description: str = ""
    """The rules of the decision; empty in lists."""


class Exchange(ABC):
    """Base class of exchanges where people trade on questions, queried by HTTP."""

    name: ClassVar[str]
    """Its common name, such as Polymarket."""
    money: ClassVar[str]
    """Its currency: USD, or play money."""

    def __init__(self, *, http: Http, base_url: str, timeout_seconds: float) -> None:
        self._http = http
        self._base_url = base_url
        self._timeout_seconds = timeout_seconds

    @abstractmethod
    async def search(self, query: str, count: int, *, also_closed: bool) -> Sequence[Market]:
        """Returns at most `count` matching markets, best first.

        Raises:
            RateLimited, TimedOut, TooLarge, Disabled, Unavailable: there is no readable answer.
        """

    async def market(self, key: str) -> Market:
        """Returns the market with that id, the part after the colon.

        Raises:
            NotFound: there is none.
            ToolError: as `search`.
        """
        answer = await self._ask(self._path(key), {})
        if answer.status in _MISSING:
            raise NotFound(f"{self.name} has no market {key!r}; find it with market_search.")
        return self._market(self._success(answer))

    @abstractmethod
    def _path(self, key: str) -> str:
        """Returns the path of the market with that id."""

    @abstractmethod
    def _market(self, answer: JsonAnswer) -> Market:
        """Parses the requested market, with its rules."""

    async def _ask(self, path: str, params: Mapping[str, str]) -> JsonAnswer:
        return await self._http.get_json(
            f"{self._base_url}{path}", service=self.name, params=params, timeout_seconds=self._timeout_seconds
        )

    def _success(self, answer: JsonAnswer) -> JsonAnswer:
        if not answer.ok:
            raise answer.refusal(self.name)
        return answer


def line(text: str) -> str:
    """Cleans a stranger's short text, on one line."""
    return shorten(clean_line(text), _MAX_LINE_CHARS)


def paragraph(text: str) -> str:
    """Cleans a stranger's longer text."""
    return shorten(clean_text(text).strip(), _MAX_TEXT_CHARS)


def _number(given: Any) -> Any:
    """Parses a number, which may be given as text, empty or missing; anything else counts as unknown."""
    if not isinstance(given, int | float | str):
        return given
    try:
        number = float(given)
    except (ValueError, OverflowError):
        return None
    return number if math.isfinite(number) else None


def _texts(given: Any) -> Any:
    """Parses a list of texts, which may be given as JSON in a text, empty or missing."""
    if isinstance(given, str):
        try:
            given = json.loads(given or "[]")
        except (ValueError, RecursionError):
            return ()
    return tuple(str(item) for item in cast("list[Any]", given)) if isinstance(given, list) else ()


def _instant(given: Any) -> datetime | None:
    """Parses a time given as milliseconds since 1970 or in ISO 8601, also a date alone; None for anything else."""
    if isinstance(given, int | float) and 1 < given < _MAX_MILLISECONDS:
        return datetime.fromtimestamp(given / 1000, UTC)
    if not isinstance(given, str):
        return None
    try:
        read = datetime.fromisoformat(given)
    except ValueError:
        return None
    return read if read.tzinfo else read.replace(tzinfo=UTC)


Number = Annotated[float | None, BeforeValidator(_number)]
Texts = Annotated[tuple[str, ...], BeforeValidator(_texts)]
Instant = Annotated[datetime | None, BeforeValidator(_instant)]
