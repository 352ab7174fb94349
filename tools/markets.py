"""The tools `market_search` and `market_get`: probabilities according to the traders of Polymarket, who bet money.

An event has one market (yes or no), or one for each candidate, which become its outcomes here. No key is needed.

Source: docs.polymarket.com, Gamma API, and its answers, 2026-11-21: lists are JSON within texts, numbers are texts or
numbers; a price is a probability, and a price of 1 in a closed market marks the winner. Events have tags; a market that
is asked for by its number names its event.
"""

import re
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from itertools import zip_longest
from typing import Annotated, Any

from pydantic import AfterValidator, BaseModel, BeforeValidator, Field, Json, model_validator

from tools.base import Arguments, Intent, Result, ToolContext, ToolSpec, fit
from tools.errors import BadArguments, NotFound, TooLarge
from tools.http import Http, JsonAnswer
from tools.text import clean_line, clean_text, shorten

_SERVICE = "Polymarket"
_BASE_URL = "https://gamma-api.polymarket.com"
_TIMEOUT_SECONDS = 8.0
_MAX_RESULTS = 20
_USUAL_RESULTS = 5
_MAX_OUTCOMES = 12
_MISSING = frozenset({400, 404, 422})  # how it answers if there is no such market
_OPEN = {"keep_closed_markets": "0", "events_status": "active"}
_MAX_LINE_CHARS = 200
_MAX_TAGS = 3
_MAX_TEXT_CHARS = 1500
_FEW_DOLLARS = 1000  # below it, a single person moves the price
_WON = 0.999
_MARKET = re.compile(
    r"(?a)polymarket:(?P<id>[\w-]{1,200})|(?P<number>\d{1,12})"
    r"|https://polymarket\.com/(?:[a-z]{2}/)?event/(?P<slug>[\w-]+)(?:[/?#].*)?"
)
"""How people and models refer to a market: by the id from an earlier answer, Polymarket's number, or its address."""


def _line(text: str) -> str:
    return shorten(clean_line(text), _MAX_LINE_CHARS)


_BlankIsNone = BeforeValidator(lambda given: None if given == "" else given)
_Number = Annotated[float | None, _BlankIsNone]
_InUtc = AfterValidator(lambda read: read.replace(tzinfo=UTC) if read is not None and read.tzinfo is None else read)
_Texts = Annotated[tuple[str, ...] | Json[tuple[str, ...]] | None, _BlankIsNone]


class _Traded(BaseModel):
    question: str = ""
    groupItemTitle: str | None = None  # noqa: N815 - Polymarket's own name; so below
    outcomes: _Texts = None
    outcomePrices: _Texts = None  # noqa: N815
    closed: bool = False

    @property
    def priced(self) -> Sequence[tuple[str, float | None]]:
        names, prices = self.outcomes or (), self.outcomePrices or ()
        return [
            (_line(name), float(price) if price else None) for name, price in zip_longest(names, prices[: len(names)])
        ]


class _Tag(BaseModel):
    label: str = ""
    forceHide: bool | None = None  # noqa: N815


class _Event(BaseModel):
    slug: str
    title: str
    description: str | None = None
    endDate: Annotated[datetime | None, _InUtc, _BlankIsNone] = None  # noqa: N815
    closed: bool = False
    volume: _Number = None
    volume24hr: _Number = None
    liquidity: _Number = None
    markets: tuple[_Traded, ...] = ()
    tags: tuple[_Tag, ...] | None = None

    @model_validator(mode="before")
    @classmethod
    def _of_one(cls, given: Any) -> Any:
        """Reads a single market as an event that has only this one, under the address of its event."""
        match given:
            case {"question": str(question), "events": [{"slug": str(slug)}, *_]}:
                return {**given, "slug": slug, "title": question, "markets": [given]}
            case _:
                return given

    @property
    def likelihoods(self) -> Sequence[tuple[str, float | None]]:
        """Yes and no, or the candidates, the most likely first."""
        if len(self.markets) == 1:
            return self.markets[0].priced
        candidates = [
            (_line(each.groupItemTitle or each.question), each.priced[0][1] if each.priced else None)
            for each in self.markets
            if self.closed or not each.closed
        ]
        return sorted(candidates, key=lambda outcome: -(outcome[1] or 0))


class _Found(BaseModel):
    """The answer to a search; without hits, the events may be null."""

    events: tuple[_Event, ...] | None = None


async def _ask(http: Http, url: str, params: Mapping[str, str] | None = None) -> JsonAnswer:
    """Returns a success; raises a `ToolError` without one, `NotFound` if there is no such market."""
    answer = await http.get_json(url, service=_SERVICE, params=params or {}, timeout_seconds=_TIMEOUT_SECONDS)
    if params is None and answer.status in _MISSING:
        raise NotFound(f"{_SERVICE} has no such market; find it with market_search.")
    if not answer.ok:
        raise answer.refusal(_SERVICE)
    return answer


class MarketSearchArguments(Arguments):
    """The markets to search for."""

    query: str = Field(min_length=1, max_length=200, description="A few words in English, such as: German election.")
    count: int = Field(default=_USUAL_RESULTS, description=f"The most results, up to {_MAX_RESULTS}.")
    also_closed: bool = Field(default=False, description="Include questions that are already decided.")


class MarketGetArguments(Arguments):
    """The market to read."""

    market: str = Field(
        coerce_numbers_to_str=True,
        min_length=1,
        max_length=300,
        description="The `id` from market_search, its number, or its page's address.",
    )


class MarketSearch:
    """Searches prediction markets."""

    def __init__(self, http: Http, base_url: str) -> None:
        self._http, self._base_url = http, base_url

    spec = ToolSpec(
        name="market_search",
        seldom="probabilities from prediction markets",
        description=(
            "Searches Polymarket, a prediction market, on a question about the future and returns the probabilities"
            " given by its traders, in percent, with volume, end and address. With little trading, the percentage says"
            " little. These are opinions with stakes, not facts or advice: name the source, the volume and that it is a"
            " market's estimate."
        ),
        arguments=MarketSearchArguments,
        intent=lambda given: Intent("search_markets", {"query": given.query}),
    )

    async def run(self, arguments: MarketSearchArguments, context: ToolContext) -> Result:
        """Returns what is found, best first; an empty list and a message if there is nothing."""
        query = clean_line(arguments.query)
        if not query:
            raise BadArguments("The query is empty.")
        count, note = fit(arguments.count, 1, _MAX_RESULTS, "markets")
        params = {"q": query, "search_tags": "false", "search_profiles": "false", "limit_per_type": str(count)}
        params |= {"keep_closed_markets": "1"} if arguments.also_closed else _OPEN
        try:
            answer = await _ask(self._http, f"{self._base_url}/public-search", params)
        except TooLarge:  # events with many candidates
            answer = await _ask(self._http, f"{self._base_url}/public-search", params | {"limit_per_type": "1"})
        found = (answer.parse(_Found, _SERVICE).events or ())[:count]
        message = {} if found else {"message": "No market was found; try fewer or other words, in English."}
        rows = [_row(event, context.now) for event in found]
        return Result(data={"query": query, **note, **message, "source": _SERVICE, "markets": rows})


class MarketGet:
    """Reads one prediction market."""

    def __init__(self, http: Http, base_url: str) -> None:
        self._http, self._base_url = http, base_url

    spec = ToolSpec(
        name="market_get",
        seldom="one prediction market",
        description=(
            "Reads one prediction market by its `id` from market_search or its address at Polymarket: present"
            " probabilities, volume, liquidity, end, the rules for its decision, and the outcome if it is decided."
        ),
        arguments=MarketGetArguments,
        intent=lambda given: Intent("market", {"market": given.market}),
    )

    async def run(self, arguments: MarketGetArguments, context: ToolContext) -> Result:
        """Returns the market; raises `BadArguments` for what is neither the id nor the address of one."""
        if (named := _MARKET.fullmatch(arguments.market)) is None:
            raise BadArguments("Give the id from market_search, such as polymarket:some-words, or its address.")
        path = f"markets/{named['number']}" if named["number"] else f"events/slug/{named['id'] or named['slug']}"
        event = (await _ask(self._http, f"{self._base_url}/{path}")).parse(_Event, _SERVICE)
        rules = shorten(clean_text(event.description or "").strip(), _MAX_TEXT_CHARS)
        return Result(data={**_row(event, context.now), "source": _SERVICE, "rules": rules or "(none)"})


def market_tools(http: Http, *, base_url: str = _BASE_URL) -> tuple[MarketSearch, MarketGet]:
    """Returns both tools."""
    return MarketSearch(http, base_url), MarketGet(http, base_url)


def _row(event: _Event, now: datetime) -> dict[str, Any]:
    winner = ", ".join(name for name, price in event.likelihoods if (price or 0) >= _WON) if event.closed else ""
    is_over = event.closed or (event.endDate is not None and event.endDate <= now)
    is_thin = event.volume is not None and event.volume < _FEW_DOLLARS
    said: dict[str, Any] = {
        "id": f"polymarket:{_line(event.slug)}",
        "question": _line(event.title),
        "category": ", ".join([_line(tag.label) for tag in event.tags or () if not tag.forceHide][:_MAX_TAGS]),
        "url": f"https://polymarket.com/event/{_line(event.slug)}",
        "status": "resolved" if winner else "closed" if is_over else "open",
        "came_out": winner,
        "likelihood": {
            name: "unknown" if probability is None else f"{round(100 * probability, 1):g}%"
            for name, probability in event.likelihoods[:_MAX_OUTCOMES]
        },
        "ends": f"{event.endDate:%Y-%m-%d %H:%M} UTC" if event.endDate else "",
        "volume": _dollars(event.volume),
        "volume_last_24_hours": _dollars(event.volume24hr),
        "liquidity": _dollars(event.liquidity),
        "caution": "There is little trading: the percentages say little." if is_thin else "",
    }
    return {name: item for name, item in said.items() if item}


def _dollars(amount: float | None) -> str:
    return "" if amount is None else f"{amount:,.0f} USD"
