"""Prediction markets, from doubles of Polymarket and Manifold."""

from typing import Any

import pytest
from aiohttp import web

from tests.servers.base import answer_json, hang
from tests.servers.fixtures import fixture_of
from tests.servers.manifold import Manifold, question
from tests.servers.polymarket import Polymarket, event, traded
from tools import BadArguments, Http, NotFound, RateLimited, TimedOut, ToolContext, ToolError, Unavailable
from tools.markets import MarketGetArguments, MarketSearchArguments, market_tools

polymarket = fixture_of(Polymarket)
manifold = fixture_of(Manifold)


class Asked:
    """Both tools over the doubles."""

    def __init__(
        self, polymarket: Polymarket, manifold: Manifold, http: Http, context: ToolContext, **timeout: Any
    ) -> None:
        urls = {"polymarket_url": polymarket.url, "manifold_url": manifold.url}
        self._search, self._get = market_tools(http, **urls, **timeout)
        self._context = context

    async def search(self, query: str, **arguments: Any) -> Any:
        return (await self._search.run(MarketSearchArguments(query=query, **arguments), self._context)).data

    async def get(self, market: str) -> Any:
        return (await self._get.run(MarketGetArguments(market=market), self._context)).data


@pytest.fixture
def ask(polymarket: Polymarket, manifold: Manifold, http: Http, context: ToolContext) -> Asked:
    return Asked(polymarket, manifold, http, context)


async def test_more_than_there_can_be_is_fitted_and_said(ask: Asked, manifold: Manifold) -> None:
    """A number beyond the bounds is no reason for a second call."""
    data = await ask.search("lamp", count=50)
    assert data["note"] == "At most 20 markets per source can be asked for at a time, not 50."
    assert manifold.requests[-1].query["limit"] == "20"
    assert "note" not in await ask.search("lamp", count=20)


async def test_a_bare_number_is_a_market_of_polymarket(ask: Asked) -> None:
    """As other programs name markets; it is told like its event, with the event's address."""
    for number in ("512724", "polymarket:512724"):
        data = await ask.get(number)
        assert (data["question"], data["likelihood"]) == ("Will the lamp be lit?", {"Yes": "61.5%", "No": "38.5%"})
        assert data["url"] == "https://polymarket.com/event/lamp-2028"
    with pytest.raises(NotFound):
        await ask.get("999")


async def test_both_exchanges_are_told_in_one_form(ask: Asked) -> None:
    """Source, likelihood in percent, money of its kind, end; what is not known is left out."""
    data = await ask.search("lamp", count=1)
    assert data == {
        "query": "lamp",
        "markets": [
            {
                "id": "polymarket:lamp-2028",
                "source": "Polymarket (real money)",
                "question": "Will the lamp be lit in 2028?",
                "url": "https://polymarket.com/event/lamp-2028",
                "status": "open",
                "likelihood": {"Yes": "61.5%", "No": "38.5%"},
                "ends": "2028-11-07 00:00 UTC",
                "volume": "250,000 USD",
                "volume_last_24_hours": "1,234 USD",
                "liquidity": "15,000 USD",
            },
            {
                "id": "manifold:EvIhz",
                "source": "Manifold (play money)",
                "question": "Will the lamp be lit?",
                "url": "https://manifold.markets/keeper/evihz",
                "status": "open",
                "likelihood": {"Yes": "62.1%", "No": "37.9%"},
                "ends": "2028-12-04 00:00 UTC",
                "volume": "241 play money",
                "volume_last_24_hours": "0 play money",
                "liquidity": "103 play money",
                "caution": "There is little trading: the percentages say little.",
            },
        ],
    }


async def test_candidates_of_one_question_are_its_outcomes(ask: Asked) -> None:
    """The likeliest first; who is out of the race is left out, and a price that nobody has named is unknown."""
    market = await ask.get("polymarket:who-lights-it")
    assert list(market["likelihood"].items()) == [
        ("The captain", "70%"),
        ("The keeper", "20%"),
        ("Will nobody light it?", "unknown"),
    ]
    assert list((await ask.get("manifold:Wh0"))["likelihood"].items()) == [
        ("The captain", "75%"),
        ("The keeper", "25%"),
    ]


@pytest.mark.parametrize(
    ("given", "key"),
    [
        ("polymarket:lamp-2028", "polymarket:lamp-2028"),
        ("https://polymarket.com/event/lamp-2028", "polymarket:lamp-2028"),
        ("https://polymarket.com/de/event/lamp-2028/will-it?tid=1", "polymarket:lamp-2028"),
        ("manifold:EvIhz", "manifold:EvIhz"),
        ("https://manifold.markets/keeper/evihz?r=x", "manifold:EvIhz"),
    ],
)
async def test_a_market_is_read_by_id_or_address(ask: Asked, given: str, key: str) -> None:
    """With the rules by which it is decided."""
    market = await ask.get(given)
    assert market["id"] == key
    assert market["rules"] in {"Resolves YES if it happens.", "By noon."}


@pytest.mark.parametrize(
    "given",
    [
        "lamp-2028",
        "polymarket:../markets",
        "manifold:a/b",
        "polymarket:",
        "https://polymarket.com.evil.example/event/x",
        "http://127.0.0.1/event/x",
        "kalshi:X",
    ],
)
async def test_what_is_no_market_is_refused_before_anybody_is_asked(
    ask: Asked, polymarket: Polymarket, manifold: Manifold, given: str
) -> None:
    """Nothing that a model writes becomes a path of its choice."""
    with pytest.raises(BadArguments, match="market_search"):
        await ask.get(given)
    assert polymarket.requests == manifold.requests == []


@pytest.mark.parametrize("given", ["polymarket:none", "manifold:None", "https://manifold.markets/a/none"])
async def test_a_market_that_is_not_there_is_said(ask: Asked, given: str) -> None:
    """And how to find one."""
    with pytest.raises(NotFound, match="market_search"):
        await ask.get(given)


async def test_decided_questions_say_how_they_came_out(ask: Asked, manifold: Manifold, polymarket: Polymarket) -> None:
    """They are found only when asked for; a winner is never guessed."""
    assert len((await ask.search("lamp", count=9))["markets"]) == 4
    found = (await ask.search("lamp lit", also_closed=True, count=9))["markets"]
    outcomes = {market["id"]: (market["status"], market.get("came_out")) for market in found}
    assert outcomes["polymarket:lamp-2020"] == ("resolved", "No")
    assert outcomes["manifold:Old"] == ("resolved", "Yes")
    polymarket.events.append(event("split", "Split?", traded("Split?", ["0.5", "0.5"], closed=True), closed=True))
    assert (await ask.get("polymarket:split"))["status"] == "closed"
    polymarket.events.append(event("sure", "Sure?", traded("Sure?", ["1", "0"])))
    assert "came_out" not in await ask.get("polymarket:sure")
    answers = [{"id": "a1", "text": "The keeper", "probability": 1}]
    for said, meant in (("a1", "The keeper"), ("CANCEL", "called off"), ("MKT", "in parts"), ("x", "x")):
        manifold.questions = [question("Q", "?", isResolved=True, resolution=said, answers=answers)]
        assert (await ask.get("manifold:Q"))["came_out"] == meant


@pytest.mark.parametrize(
    ("fields", "likelihood"),
    [
        ({"outcomes": ["Yes", "No"], "outcomePrices": ["0.1", "0.9"]}, {"Yes": "10%", "No": "90%"}),
        ({"outcomePrices": ""}, {"Yes": "unknown", "No": "unknown"}),
        ({"outcomes": ""}, None),
    ],
)
async def test_lists_inside_texts_are_read_in_every_form(
    ask: Asked, polymarket: Polymarket, fields: dict[str, Any], likelihood: dict[str, str] | None
) -> None:
    """As lists, as JSON, empty."""
    polymarket.events.append(event("odd", "Odd?", traded("Odd?", ["0.1", "0.9"], **fields)))
    assert (await ask.get("polymarket:odd")).get("likelihood") == likelihood


@pytest.mark.parametrize(
    ("fields", "missing"),
    [
        ({"endDate": None}, "ends"),
        ({"volume": None}, "volume"),
        ({"liquidity": ""}, "liquidity"),
    ],
)
async def test_what_cannot_be_read_is_left_out(
    ask: Asked, polymarket: Polymarket, fields: dict[str, Any], missing: str
) -> None:
    """One odd field does not hide the market."""
    polymarket.events.append(event("odd", "Odd?", **fields))
    assert missing not in await ask.get("polymarket:odd")
    polymarket.events[-1] |= {"endDate": "2027-01-02", "volume": "5000000.4"}
    market = await ask.get("polymarket:odd")
    assert (market["ends"], market["volume"]) == ("2027-01-02 00:00 UTC", "5,000,000 USD")


async def test_one_exchange_is_enough(ask: Asked, polymarket: Polymarket) -> None:
    """The other's failure is told beside the results."""
    polymarket.faults.append(answer_json({"error": "x"}, status=500))
    data = await ask.search("lamp")
    assert data["failed"] == ["Polymarket fails (status 500)."]
    assert {market["source"] for market in data["markets"]} == {"Manifold (play money)"}


async def test_without_any_exchange_there_is_no_answer(ask: Asked, polymarket: Polymarket, manifold: Manifold) -> None:
    """Both failures are told."""
    polymarket.faults += [answer_json({}, status=429, headers={"Retry-After": "60"})]
    manifold.faults.append(answer_json({"message": "x"}, status=500))
    with pytest.raises(RateLimited, match=r"Polymarket wants fewer requests.*Manifold fails"):
        await ask.search("lamp")


async def test_an_answer_too_long_for_several_is_asked_for_one(ask: Asked, polymarket: Polymarket) -> None:
    """An election has a hundred candidates."""
    polymarket.faults.append(lambda _: web.json_response({"events": ["x" * 2_100_000]}))
    data = await ask.search("lamp")
    assert [market["id"] for market in data["markets"] if "polymarket" in market["id"]] == ["polymarket:lamp-2028"]


@pytest.mark.parametrize("body", [[], {"events": [{}]}, {"events": 5}, {"slug": 1}, "x"])
async def test_an_answer_of_another_shape_is_a_failure(
    ask: Asked, polymarket: Polymarket, manifold: Manifold, body: Any
) -> None:
    """It is not taken for "nothing found"."""
    for exchange, market in ((polymarket, "polymarket:x"), (manifold, "manifold:x")):
        exchange.faults.append(answer_json(body))
        with pytest.raises(Unavailable, match="cannot be read"):
            await ask.get(market)
    polymarket.faults.append(answer_json(body))
    manifold.faults.append(answer_json({"id": "x"}))
    if body != {"slug": 1}:
        with pytest.raises(Unavailable, match="cannot be read"):
            await ask.search("lamp")


async def test_silence_has_an_end(polymarket: Polymarket, manifold: Manifold, http: Http, context: ToolContext) -> None:
    """The deadline is the setting's."""
    polymarket.faults.append(hang)
    manifold.faults.append(hang)
    with pytest.raises(TimedOut) as caught:
        await Asked(polymarket, manifold, http, context, timeout_seconds=0.1).search("lamp")
    assert isinstance(caught.value, ToolError)
