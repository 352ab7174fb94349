"""The seam to prediction markets: one form for all of them, and how numbers and dates are read."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Annotated, Any, Literal, Protocol, cast

from pydantic import BeforeValidator

from tools.http import JsonAnswer
from tools.text import clean_text, shorten

Status = Literal["open", "closed", "resolved"]
"""Whether people can still trade, wait for the outcome, or know it."""

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


class Exchange(Protocol):
    """A place where people trade on questions."""

    @property
    def name(self) -> str:
        """As people know it, such as Polymarket."""
        ...

    @property
    def money(self) -> str:
        """What is traded with: USD, or play money."""
        ...

    async def search(self, query: str, count: int, *, also_closed: bool) -> Sequence[Market]:
        """At most `count` markets that match, best first.

        Raises:
            RateLimited, TimedOut, TooLarge, Disabled, Unavailable: no answer, or none that can be read.
        """
        ...

    async def market(self, key: str) -> Market:
        """The market of that id, which is the part behind the colon.

        Raises:
            NotFound: there is none.
            ToolError: as `search`.
        """
        ...


def line(text: str) -> str:
    """A short text of a stranger on one line."""
    return shorten(" ".join(clean_text(text).split()), _MAX_LINE_CHARS)


def paragraph(text: str) -> str:
    """A longer text of a stranger."""
    return shorten(clean_text(text).strip(), _MAX_TEXT_CHARS)


def is_missing(answer: JsonAnswer) -> bool:
    """Whether the exchange says that there is no such market."""
    return answer.status in {400, 404, 422}


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
