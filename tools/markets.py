"""The tools `market_search` and `market_get`: probabilities according to the traders of Polymarket and Manifold.

At Polymarket (real money) an event has one market (yes or no), or one for each candidate; either becomes one `Market`
here, with the candidates as outcomes. Manifold trades play money. Neither exchange needs a key.

Source: docs.polymarket.com, Gamma API, and its answers, 2026-11-21: lists are JSON within texts, numbers are texts or
numbers; a price is a probability, and a price of 1 in a closed market marks the winner. docs.manifold.markets/api,
2026-11-21: 500 requests a minute per address, any use allowed, "alpha"; times are milliseconds since 1970; lists leave
out the answers of questions with several.
"""

import asyncio
import re
from abc import ABC, abstractmethod
from collections.abc import Awaitable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import zip_longest
from typing import Annotated, Any, ClassVar

from pydantic import AfterValidator, BaseModel, BeforeValidator, Field, Json

from tools.base import Arguments, Intent, Result, ToolContext, ToolSpec, fit
from tools.errors import BadArguments, NotFound, TooLarge, ToolError
from tools.http import Http, JsonAnswer
from tools.text import clean_line, clean_text, shorten

_MAX_OUTCOMES = 12
_MISSING = frozenset({400, 404, 422})  # how exchanges answer if there is no such market
_MAX_LINE_CHARS = 200
_MAX_TEXT_CHARS = 1500
_WON = 0.999
_RESOLUTIONS = {"YES": "Yes", "NO": "No", "MKT": "in parts", "CANCEL": "called off"}


def _line(text: str) -> str:
    return shorten(clean_line(text), _MAX_LINE_CHARS)


def _in_utc(read: datetime | None) -> datetime | None:
    return read.replace(tzinfo=UTC) if read is not None and read.tzinfo is None else read


_BlankIsNone = BeforeValidator(lambda given: None if given == "" else given)
_Number = Annotated[float | None, _BlankIsNone]
_Texts = Annotated[tuple[str, ...] | Json[tuple[str, ...]] | None, _BlankIsNone]
_Instant = Annotated[datetime | None, AfterValidator(_in_utc), _BlankIsNone]


@dataclass(frozen=True, kw_only=True, slots=True)
class Market:
    """A question that people trade on."""

    id: str
    """The id for `market_get`: the name of the source and its own id, separated by a colon."""
    question: str
    url: str
    status: str
    """`open`, `closed` (people wait for the outcome) or `resolved`."""
    outcomes: Sequence[tuple[str, float | None]]
    """Each possible outcome with its probability by the traders, 0 to 1; None if there is no price. The most likely
    first if there are more than two."""
    resolution: str
    """The outcome; empty until it is known."""
    ends_at: datetime | None
    volume: float | None
    """The total volume in the money of the source, like the amounts below."""
    volume_24h: float | None
    liquidity: float | None
    rules: str
    """The rules of the decision; empty in lists."""


class Exchange(ABC):
    """An exchange where people trade on questions."""

    name: ClassVar[str]
    money: ClassVar[str]
    """Its currency: USD, or play money."""

    def __init__(self, *, http: Http, base_url: str, timeout_seconds: float) -> None:
        self._http = http
        self._base_url = base_url
        self._timeout_seconds = timeout_seconds

    @abstractmethod
    async def search(self, query: str, count: int, *, also_closed: bool) -> Sequence[Market]:
        """Returns at most `count` matching markets, best first; raises a `ToolError` if there is no readable answer."""

    @abstractmethod
    async def market(self, key: str) -> Market:
        """Returns the market with that id, the part after the colon, with its rules; raises `NotFound` if there is
        none, or as `search`.
        """

    async def _ask(self, path: str, params: Mapping[str, str]) -> JsonAnswer:
        answer = await self._http.get_json(
            f"{self._base_url}{path}", service=self.name, params=params, timeout_seconds=self._timeout_seconds
        )
        if not params and answer.status in _MISSING:
            raise NotFound(f"{self.name} has no such market; find it with market_search.")
        if not answer.ok:
            raise answer.refusal(self.name)
        return answer


class _Traded(BaseModel):
    """A market of an event."""

    question: str = ""
    groupItemTitle: str | None = None  # noqa: N815 - Polymarket's own name; so below
    outcomes: _Texts = None
    outcomePrices: _Texts = None  # noqa: N815
    closed: bool = False

    @property
    def priced(self) -> Sequence[tuple[str, float | None]]:
        """Each outcome with its price."""
        names, prices = self.outcomes or (), self.outcomePrices or ()
        return [
            (_line(name), float(price) if price else None) for name, price in zip_longest(names, prices[: len(names)])
        ]


class _Event(BaseModel):
    """A question with its markets."""

    slug: str
    title: str
    description: str | None = None
    endDate: _Instant = None  # noqa: N815
    closed: bool = False
    volume: _Number = None
    volume24hr: _Number = None
    liquidity: _Number = None
    markets: tuple[_Traded, ...] = ()

    @property
    def likelihoods(self) -> Sequence[tuple[str, float | None]]:
        """Yes and no, or the candidates."""
        if len(self.markets) == 1:
            return self.markets[0].priced
        candidates = [
            (_line(each.groupItemTitle or each.question), each.priced[0][1] if each.priced else None)
            for each in self.markets
            if self.closed or not each.closed
        ]
        return sorted(candidates, key=lambda outcome: -(outcome[1] or 0))


class _Single(_Event, _Traded):
    """A market that was asked for by its number."""

    title: str = Field(validation_alias="question")
    question: str = ""
    events: tuple[dict[str, Any], ...] = ()


class _Found(BaseModel):
    """The answer to a search; without hits, the events may be null."""

    events: tuple[_Event, ...] | None = None


class Polymarket(Exchange):
    """Queries Polymarket's Gamma API."""

    name = "Polymarket"
    money = "USD"

    async def search(self, query: str, count: int, *, also_closed: bool) -> Sequence[Market]:
        """See `Exchange`. If events with many candidates make the answer too large, asks for a single one."""
        params = {"q": query, "search_tags": "false", "search_profiles": "false"}
        params |= (
            {"keep_closed_markets": "1"} if also_closed else {"events_status": "active", "keep_closed_markets": "0"}
        )
        try:
            answer = await self._ask("/public-search", params | {"limit_per_type": str(count)})
        except TooLarge:
            answer = await self._ask("/public-search", params | {"limit_per_type": "1"})
        return [_of_event(event) for event in (answer.parse(_Found, self.name).events or ())[:count]]

    async def market(self, key: str) -> Market:
        """See `Exchange`. The key is the slug of the event, as in its address, or the number of one of its markets."""
        if not key.isdigit():
            answer = await self._ask(f"/events/slug/{key}", {})
            event = answer.parse(_Event, self.name)
        else:  # a market, told like an event of its own
            single = (await self._ask(f"/markets/{key}", {})).parse(_Single, self.name)
            slug = next((str(parent.get("slug", "")) for parent in single.events), single.slug)
            event = single.model_copy(update={"slug": slug, "markets": (single,)})
        return _of_event(event, event.description or "")


def _of_event(event: _Event, rules: str = "") -> Market:
    winner = ", ".join(name for name, price in event.likelihoods if (price or 0) >= _WON) if event.closed else ""
    return Market(
        id=f"polymarket:{_line(event.slug)}",
        question=_line(event.title),
        url=f"https://polymarket.com/event/{_line(event.slug)}",
        status="open" if not event.closed else "resolved" if winner else "closed",
        outcomes=event.likelihoods[:_MAX_OUTCOMES],
        resolution=winner,
        ends_at=event.endDate,
        volume=event.volume,
        volume_24h=event.volume24hr,
        liquidity=event.liquidity,
        rules=rules,
    )


class _Answer(BaseModel):
    """One of several answers to a question."""

    id: str = ""
    text: str
    probability: _Number = None


class _Contract(BaseModel):
    """A question of any kind; fields that a kind does not have are missing."""

    id: str
    question: str
    url: str = ""
    probability: _Number = None
    closeTime: _Instant = None  # noqa: N815 - Manifold's own name; so below
    isResolved: bool = False  # noqa: N815
    resolution: str | None = None
    volume: _Number = None
    volume24Hours: _Number = None  # noqa: N815
    totalLiquidity: _Number = None  # noqa: N815
    textDescription: str | None = None  # noqa: N815
    answers: tuple[_Answer, ...] = ()


class Manifold(Exchange):
    """Queries Manifold's API."""

    name = "Manifold"
    money = "play money"

    async def search(self, query: str, count: int, *, also_closed: bool) -> Sequence[Market]:
        """See `Exchange`."""
        params = {"term": query, "filter": "all" if also_closed else "open", "sort": "score", "limit": str(count)}
        answer = await self._ask("/v0/search-markets", params)
        return [_of_contract(contract) for contract in answer.parse(tuple[_Contract, ...], self.name)[:count]]

    async def market(self, key: str) -> Market:
        """See `Exchange`. The key is the id, or `slug/` and the last part of the address."""
        answer = await self._ask(f"/v0/{key}" if key.startswith("slug/") else f"/v0/market/{key}", {})
        contract = answer.parse(_Contract, self.name)
        return _of_contract(contract, contract.textDescription or "")


def _of_contract(contract: _Contract, rules: str = "") -> Market:
    # The outcome is a word of Manifold's own or the id of an answer.
    said = contract.resolution or "" if contract.isResolved else ""
    texts = {answer.id: answer.text for answer in contract.answers} | _RESOLUTIONS
    answers = sorted(contract.answers, key=lambda answer: -(answer.probability or 0))[:_MAX_OUTCOMES]
    chance = contract.probability
    return Market(
        id=f"manifold:{_line(contract.id)}",
        question=_line(contract.question),
        url=_line(contract.url),
        status="resolved" if contract.isResolved else "open",
        outcomes=[(_line(answer.text), answer.probability) for answer in answers]
        if chance is None
        else [("Yes", chance), ("No", 1 - chance)],
        resolution=_line(texts.get(said, said)),
        ends_at=contract.closeTime,
        volume=contract.volume,
        volume_24h=contract.volume24Hours,
        liquidity=contract.totalLiquidity,
        rules=rules,
    )


_TIMEOUT_SECONDS = 8.0
_MAX_RESULTS = 20
_USUAL_RESULTS = 5
_MAX_QUERY_CHARS = 200
_MAX_ADDRESS_CHARS = 300
_FEW_TRADES = 1000  # in the money of the source; below it, a single person moves the price

# How people and models refer to a market: by the id from an earlier answer, or by its address.
_IDS = (
    ("polymarket", re.compile(r"(?:polymarket:)?(?P<key>[0-9]{1,20})"), "{}"),
    ("polymarket", re.compile(r"polymarket:(?P<key>[\w-]{1,200})", re.ASCII), "{}"),
    (
        "polymarket",
        re.compile(r"(?a)https://polymarket\.com/(?:[a-z]{2}/)?event/(?P<key>[\w-]+)(?:[/?#].*)?"),
        "{}",
    ),
    ("manifold", re.compile(r"manifold:(?P<key>[A-Za-z0-9]{1,60})"), "{}"),
    ("manifold", re.compile(r"https://manifold\.markets/[^/?#]+/(?P<key>[A-Za-z0-9_-]+)(?:[?#].*)?"), "slug/{}"),
)


class MarketSearchArguments(Arguments):
    """The markets to search for."""

    query: str = Field(
        min_length=1, max_length=_MAX_QUERY_CHARS, description="A few words in English, such as: German election."
    )
    count: int = Field(default=_USUAL_RESULTS, description=f"The most results per source, up to {_MAX_RESULTS}.")
    also_closed: bool = Field(default=False, description="Include questions that are already decided.")


class MarketGetArguments(Arguments):
    """The market to read."""

    market: str = Field(
        min_length=1,
        max_length=_MAX_ADDRESS_CHARS,
        description="The `id` from market_search, a number of Polymarket's, or the address of a page of either.",
    )


class MarketSearch:
    """Searches prediction markets."""

    def __init__(self, exchanges: Mapping[str, Exchange]) -> None:
        self._exchanges = exchanges

    spec = ToolSpec(
        name="market_search",
        seldom="probabilities from prediction markets",
        description=(
            "Searches prediction markets on a question about the future and returns the probabilities given by their"
            " traders, in percent, with volume, end and address. Polymarket trades real money, Manifold play money;"
            " with little trading, the percentage says little. These are opinions with stakes, not facts or advice:"
            " name the source, the volume and that it is a market's estimate."
        ),
        arguments=MarketSearchArguments,
        intent=lambda given: Intent("search_markets", {"query": given.query}),
    )

    async def run(self, arguments: MarketSearchArguments, context: ToolContext) -> Result:
        """Returns what each exchange finds, best first; an empty list and a message if none finds anything.

        Raises:
            BadArguments: the query contains nothing readable.
            ToolError: no exchange answered; the error of the first one.
        """
        query = clean_line(arguments.query)
        if not query:
            raise BadArguments("The query is empty.")
        count, note = fit(arguments.count, 1, _MAX_RESULTS, "markets per source")
        exchanges = self._exchanges.values()
        searches = (exchange.search(query, count, also_closed=arguments.also_closed) for exchange in exchanges)
        answers = await asyncio.gather(*map(_or_error, searches))
        failures = [answer for answer in answers if isinstance(answer, ToolError)]
        if len(failures) == len(answers):
            raise type(failures[0])(" ".join(map(str, failures))) from failures[0]
        found = [
            _row(exchange, market, context.now)
            for exchange, answer in zip(exchanges, answers, strict=True)
            if not isinstance(answer, ToolError)
            for market in answer
        ]
        data: dict[str, Any] = {"query": query, **note}
        if failures:
            data["failed"] = [str(failure) for failure in failures]
        if not found:
            data["message"] = "No market was found; try fewer or other words, in English."
        return Result(data={**data, "markets": found})


async def _or_error(search: Awaitable[Sequence[Market]]) -> Sequence[Market] | ToolError:
    try:
        return await search
    except ToolError as error:
        return error


class MarketGet:
    """Reads one prediction market."""

    def __init__(self, exchanges: Mapping[str, Exchange]) -> None:
        self._exchanges = exchanges

    spec = ToolSpec(
        name="market_get",
        seldom="one prediction market",
        description=(
            "Reads one prediction market by its `id` from market_search or its address at Polymarket or Manifold:"
            " present probabilities, volume, liquidity, end, the rules for its decision, and the outcome if it is"
            " decided."
        ),
        arguments=MarketGetArguments,
        intent=lambda given: Intent("market", {"market": given.market}),
    )

    async def run(self, arguments: MarketGetArguments, context: ToolContext) -> Result:
        """Returns the market.

        Raises:
            BadArguments: it is neither the id nor the address of a market.
            NotFound: there is no such market.
            RateLimited, TimedOut, TooLarge, Disabled, Unavailable: there is no readable answer.
        """
        for source, form, key in _IDS:
            if match := form.fullmatch(arguments.market):
                exchange = self._exchanges[source]
                market = await exchange.market(key.format(match["key"]))
                rules = shorten(clean_text(market.rules).strip(), _MAX_TEXT_CHARS)
                return Result(data={**_row(exchange, market, context.now), "rules": rules or "(none)"})
        raise BadArguments("Give the id from market_search, such as polymarket:some-words, or the market's address.")


def market_tools(
    http: Http,
    *,
    polymarket_url: str = "https://gamma-api.polymarket.com",
    manifold_url: str = "https://api.manifold.markets",
    timeout_seconds: float = _TIMEOUT_SECONDS,
) -> tuple[MarketSearch, MarketGet]:
    """Returns both tools."""
    exchanges: dict[str, Exchange] = {
        "polymarket": Polymarket(http=http, base_url=polymarket_url, timeout_seconds=timeout_seconds),
        "manifold": Manifold(http=http, base_url=manifold_url, timeout_seconds=timeout_seconds),
    }
    return MarketSearch(exchanges), MarketGet(exchanges)


def _row(exchange: Exchange, market: Market, now: datetime) -> dict[str, Any]:
    """Describes a market in the common form, leaving out what is unknown."""
    is_waiting = market.status == "open" and market.ends_at is not None and market.ends_at <= now
    is_thin = market.volume is not None and market.volume < _FEW_TRADES
    said: dict[str, Any] = {
        "id": market.id,
        "source": f"{exchange.name} ({'real money' if exchange.money == 'USD' else exchange.money})",
        "question": market.question,
        "url": market.url,
        "status": "closed" if is_waiting else market.status,
        "came_out": market.resolution,
        "likelihood": {
            name: "unknown" if probability is None else f"{round(100 * probability, 1):g}%"
            for name, probability in market.outcomes
        },
        "ends": f"{market.ends_at:%Y-%m-%d %H:%M} UTC" if market.ends_at else "",
        "volume": _money(market.volume, exchange),
        "volume_last_24_hours": _money(market.volume_24h, exchange),
        "liquidity": _money(market.liquidity, exchange),
        "caution": "There is little trading: the percentages say little." if is_thin else "",
    }
    return {name: item for name, item in said.items() if item}


def _money(amount: float | None, exchange: Exchange) -> str:
    return "" if amount is None else f"{amount:,.0f} {exchange.money}"
