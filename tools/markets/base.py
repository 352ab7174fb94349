"""The seam to prediction markets: one form for all of them, and how numbers and dates are read."""

import json
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
"""Of one market."""

_MISSING = frozenset({400, 404, 422})  # what exchanges answer where there is no such market
_MAX_LINE_CHARS = 200
_MAX_TEXT_CHARS = 1500
_LATEST_MILLISECONDS = 32_503_680_000_000  # the year 3000; people enter closing times far beyond all calendars


@dataclass(frozen=True, kw_only=True, slots=True)
class MarketOutcome:
    """What may happen, and how likely the traders hold it."""

    name: str
    probability: float | None
    """From 0 to 1; None where nobody has named a price."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Market:
    """A question that people trade on."""

    id: str
    """What `market_get` takes: the source's name and its own id, with a colon between."""
    question: str
    url: str
    status: Status
    outcomes: Sequence[MarketOutcome]
    """The likeliest first where there are more than two."""
    resolution: str = ""
    """How it came out; empty until that is known."""
    ends_at: datetime | None = None
    volume: float | None = None
    """What has been traded in all, in the source's money; likewise below."""
    volume_24h: float | None = None
    liquidity: float | None = None
    description: str = ""
    """The rules by which it is decided; empty in lists."""


class Exchange(ABC):
    """A place where people trade on questions, asked by HTTP: what all of them share."""

    name: ClassVar[str]
    """As people know it, such as Polymarket."""
    money: ClassVar[str]
    """What is traded with: USD, or play money."""

    def __init__(self, *, http: Http, base_url: str, timeout_seconds: float) -> None:
        self._http = http
        self._base_url = base_url
        self._timeout_seconds = timeout_seconds

    @abstractmethod
    async def search(self, query: str, count: int, *, also_closed: bool) -> Sequence[Market]:
        """At most `count` markets that match, best first.

        Raises:
            RateLimited, TimedOut, TooLarge, Disabled, Unavailable: no answer, or none that can be read.
        """

    async def market(self, key: str) -> Market:
        """The market of that id, which is the part behind the colon.

        Raises:
            NotFound: there is none.
            ToolError: as `search`.
        """
        answer = await self._ask(self._path(key), {})
        if answer.status in _MISSING:
            raise NotFound(f"{self.name} has no market {key!r}; look for it with market_search.")
        return self._market(self._success(answer))

    @abstractmethod
    def _path(self, key: str) -> str:
        """Where the market of that id is read."""

    @abstractmethod
    def _market(self, answer: JsonAnswer) -> Market:
        """The one market that was asked for, with its rules."""

    async def _ask(self, path: str, params: Mapping[str, str]) -> JsonAnswer:
        return await self._http.get_json(
            f"{self._base_url}{path}", service=self.name, params=params, timeout_seconds=self._timeout_seconds
        )

    def _success(self, answer: JsonAnswer) -> JsonAnswer:
        if not answer.ok:
            raise answer.refusal(self.name)
        return answer


def line(text: str) -> str:
    """A short text of a stranger on one line."""
    return shorten(clean_line(text), _MAX_LINE_CHARS)


def paragraph(text: str) -> str:
    """A longer text of a stranger."""
    return shorten(clean_text(text).strip(), _MAX_TEXT_CHARS)


def _number(given: Any) -> Any:
    """Numbers come as such, as texts, empty or not at all; what is none counts as unknown."""
    if not isinstance(given, str):
        return given
    try:
        return float(given)
    except ValueError:
        return None


def _texts(given: Any) -> Any:
    """A list of texts, which may come as JSON inside a text, empty or not at all."""
    if isinstance(given, str):
        try:
            given = json.loads(given or "[]")
        except (ValueError, RecursionError):
            return ()
    return tuple(str(item) for item in cast("list[Any]", given)) if isinstance(given, list) else ()


def _instant(given: Any) -> datetime | None:
    """An instant from milliseconds since 1970 or from ISO 8601, a mere date included; None for anything else."""
    if isinstance(given, int | float) and 1 < given < _LATEST_MILLISECONDS:
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
