"""The tools `market_search` and `market_get`: probabilities according to the traders of Polymarket and Manifold.

Both share a settings group. `tools.markets.exchanges` queries them.
"""

import asyncio
import re
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from pydantic import Field

from tools.base import Arguments, Intent, Result, ToolContext, ToolSpec, fit
from tools.errors import BadArguments, ToolError
from tools.http import Http
from tools.markets.exchanges import Exchange, Manifold, Market, Polymarket
from tools.text import clean_line

_TIMEOUT_SECONDS = 8.0
_MAX_RESULTS = 20
_USUAL_RESULTS = 5
_MAX_QUERY_CHARS = 200
_MAX_ADDRESS_CHARS = 300
_FEW_TRADES = 1000  # in the money of the source; below it, a single person moves the price

# How people and models refer to a market: by the id from an earlier answer, or by its address.
_IDS = (
    ("polymarket", re.compile(r"(?:polymarket:)?(?P<key>[0-9]{1,20})"), "{}"),
    ("polymarket", re.compile(r"polymarket:(?P<key>[A-Za-z0-9_-]{1,200})"), "{}"),
    (
        "polymarket",
        re.compile(r"https://polymarket\.com/(?:[a-z]{2}/)?event/(?P<key>[A-Za-z0-9_-]+)(?:[/?#].*)?"),
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
        failures: list[ToolError] = []

        async def search(exchange: Exchange) -> Sequence[Market]:
            try:
                return await exchange.search(query, count, also_closed=arguments.also_closed)
            except ToolError as error:
                failures.append(error)
                return ()

        exchanges = self._exchanges.values()
        answers = await asyncio.gather(*map(search, exchanges))
        if len(failures) == len(exchanges):
            raise type(failures[0])(" ".join(map(str, failures))) from failures[0]
        found = [
            _row(exchange, market, context.now)
            for exchange, markets in zip(exchanges, answers, strict=True)
            for market in markets
        ]
        data: dict[str, Any] = {"query": query, **note}
        if failures:
            data["failed"] = [str(failure) for failure in failures]
        if not found:
            data["message"] = "No market was found; try fewer or other words, in English."
        return Result(data={**data, "markets": found})


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
        source, key = _split(arguments.market)
        exchange = self._exchanges[source]
        market = await exchange.market(key)
        return Result(data={**_row(exchange, market, context.now), "rules": market.description or "(none)"})


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


def _split(given: str) -> tuple[str, str]:
    """Splits a reference into the source and its own id."""
    for source, form, key in _IDS:
        if match := form.fullmatch(given):
            return source, key.format(match["key"])
    raise BadArguments("Give the id from market_search, such as polymarket:some-words, or the market's address.")


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
