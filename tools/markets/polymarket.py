"""Polymarket, an exchange with real money; needs no key.

People search for and see events. An event has one market (yes or no), or one for each candidate. Either becomes one
`Market` here, with the candidates as outcomes.

Source: docs.polymarket.com, Gamma API, and its answers, 2026-11-21: lists are JSON within texts, numbers are texts or
numbers; a price is a probability, and a price of 1 in a closed market marks the winner.
"""

from collections.abc import Sequence

from pydantic import BaseModel

from tools.errors import TooLarge
from tools.http import JsonAnswer
from tools.markets.base import MAX_OUTCOMES, Exchange, Instant, Market, MarketOutcome, Number, Texts, line, paragraph

_WON = 0.999


class _Traded(BaseModel):
    """A market of an event."""

    question: str = ""
    groupItemTitle: str | None = None  # noqa: N815 - Polymarket's own name; so below
    outcomes: Texts = ()
    outcomePrices: Texts = ()  # noqa: N815
    lastTradePrice: Number = None  # noqa: N815
    bestBid: Number = None  # noqa: N815
    bestAsk: Number = None  # noqa: N815
    closed: bool = False

    @property
    def prices(self) -> Sequence[float | None]:
        """A price for each outcome. If a market lists none, the first outcome's comes from the last trade or offers."""
        read = [_probability(price) for price in self.outcomePrices[: len(self.outcomes)]]
        known = [*read, *[None] * (len(self.outcomes) - len(read))]
        if known and known[0] is None:
            known[0] = self._last_price
        return known

    @property
    def _last_price(self) -> float | None:
        if self.lastTradePrice is not None:
            return _probability(str(self.lastTradePrice))
        if self.bestBid is None or self.bestAsk is None:
            return None
        return _probability(str((self.bestBid + self.bestAsk) / 2))


class _Event(BaseModel):
    """A question with its markets."""

    slug: str
    title: str
    description: str | None = None
    endDate: Instant = None  # noqa: N815
    closed: bool = False
    volume: Number = None
    volume24hr: Number = None
    liquidity: Number = None
    markets: tuple[_Traded, ...] = ()

    @property
    def outcomes(self) -> Sequence[MarketOutcome]:
        if len(self.markets) == 1:
            only = self.markets[0]
            return [
                MarketOutcome(name=line(name), probability=p)
                for name, p in zip(only.outcomes, only.prices, strict=True)
            ]
        candidates = [
            MarketOutcome(name=line(each.groupItemTitle or each.question), probability=next(iter(each.prices), None))
            for each in self.markets
            if self.closed or not each.closed
        ]
        return sorted(candidates, key=lambda outcome: -(outcome.probability or 0))

    @property
    def winner(self) -> str:
        """The outcome that won; empty until one has."""
        if not self.closed:
            return ""
        return ", ".join(outcome.name for outcome in self.outcomes if (outcome.probability or 0) >= _WON)


class _Parent(BaseModel):
    """The event of a market."""

    slug: str


class _Single(_Traded):
    """A market that was asked for by its number."""

    slug: str
    description: str | None = None
    endDate: Instant = None  # noqa: N815
    volume: Number = None
    volume24hr: Number = None
    liquidity: Number = None
    events: tuple[_Parent, ...] = ()

    @property
    def event(self) -> _Event:
        """The same as an event with this market alone."""
        return _Event(
            slug=next((parent.slug for parent in self.events), self.slug),
            title=self.question,
            description=self.description,
            endDate=self.endDate,
            closed=self.closed,
            volume=self.volume,
            volume24hr=self.volume24hr,
            liquidity=self.liquidity,
            markets=(self,),
        )


class _Found(BaseModel):
    """The answer to a search; without hits, the events may be null."""

    events: tuple[_Event, ...] | None = None


class Polymarket(Exchange):
    """Queries Polymarket's Gamma API."""

    name = "Polymarket"
    money = "USD"

    async def search(self, query: str, count: int, *, also_closed: bool) -> Sequence[Market]:
        """See `Exchange`. If events with many candidates make the answer too large, asks for a single one."""
        try:
            answer = await self._ask_search(query, count, also_closed=also_closed)
        except TooLarge:
            answer = await self._ask_search(query, 1, also_closed=also_closed)
        events = self._success(answer).parse(_Found, self.name).events or ()
        return [_market(event) for event in events[:count]]

    async def _ask_search(self, query: str, count: int, *, also_closed: bool) -> JsonAnswer:
        params = {"q": query, "limit_per_type": str(count), "search_tags": "false", "search_profiles": "false"}
        which = {"keep_closed_markets": "1"} if also_closed else {"events_status": "active", "keep_closed_markets": "0"}
        return await self._ask("/public-search", params | which)

    def _path(self, key: str) -> str:
        """See `Exchange`. The key is the slug of the event, as in its address, or the number of one of its markets."""
        return f"/markets/{key}" if key.isdigit() else f"/events/slug/{key}"

    def _market(self, answer: JsonAnswer) -> Market:
        match answer.body:
            case {"question": str(), "outcomes": _}:
                event = answer.parse(_Single, self.name).event
            case _:
                event = answer.parse(_Event, self.name)
        return _market(event, description=paragraph(event.description or ""))


def _market(event: _Event, description: str = "") -> Market:
    return Market(
        id=f"polymarket:{line(event.slug)}",
        question=line(event.title),
        url=f"https://polymarket.com/event/{line(event.slug)}",
        status="open" if not event.closed else "resolved" if event.winner else "closed",
        outcomes=event.outcomes[:MAX_OUTCOMES],
        resolution=event.winner,
        ends_at=event.endDate,
        volume=event.volume,
        volume_24h=event.volume24hr,
        liquidity=event.liquidity,
        description=description,
    )


def _probability(price: str) -> float | None:
    """Parses a price between 0 and 1; None for anything else."""
    try:
        value = float(price)
    except ValueError:
        return None
    return value if 0 <= value <= 1 else None
