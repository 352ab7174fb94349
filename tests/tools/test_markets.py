"""Prediction markets, from a double of Polymarket."""

from typing import Any

import pytest
from aiohttp import web

from tests.servers.base import answer_json
from tests.servers.fixtures import fixture_of
from tests.servers.polymarket import Polymarket, event, traded
from tests.tools.conftest import Asked
from tools import BadArguments, Http, NotFound, RateLimited, ToolContext, Unavailable
from tools.markets import market_tools

polymarket = fixture_of(Polymarket)


@pytest.fixture
def search(polymarket: Polymarket, http: Http, context: ToolContext) -> Asked:
    return Asked(market_tools(http, base_url=polymarket.url)[0], context)


@pytest.fixture
def get(polymarket: Polymarket, http: Http, context: ToolContext) -> Asked:
    return Asked(market_tools(http, base_url=polymarket.url)[1], context)


async def test_a_market_has_source_likelihood_and_end(search: Asked, get: Asked, polymarket: Polymarket) -> None:
    """In percent and dollars, without what is not known; little trading, and a count that was fitted, are said."""
    data = await search("lamp", count=50)
    assert data["note"] == "At most 20 markets can be asked for at a time, not 50."
    assert polymarket.requests[-1].query["limit_per_type"] == "20"
    assert "note" not in await search("lamp", count=20)
    data = await search("lamp", count=1)
    assert data == {
        "query": "lamp",
        "source": "Polymarket",
        "markets": [
            {
                "id": "polymarket:lamp-2028",
                "question": "Will the lamp be lit in 2028?",
                "category": "Politics",
                "url": "https://polymarket.com/event/lamp-2028",
                "status": "open",
                "likelihood": {"Yes": "61.5%", "No": "38.5%"},
                "ends": "2028-11-07 00:00 UTC",
                "volume": "250,000 USD",
                "volume_last_24_hours": "1,234 USD",
                "liquidity": "15,000 USD",
            }
        ],
    }
    polymarket.events.append(event("odd", "Odd?", endDate=None, volume=999, liquidity=""))
    market = await get("polymarket:odd")
    assert not market.keys() & {"ends", "liquidity"}
    assert market["caution"] == "There is little trading: the percentages say little."
    polymarket.events[-1] |= {"endDate": "2026-01-02", "volume": "5000000.4"}
    market = await get("polymarket:odd")
    assert (market["ends"], market["volume"], market["status"]) == ("2026-01-02 00:00 UTC", "5,000,000 USD", "closed")
    assert "message" in await search("zeppelin")


async def test_a_market_is_read_by_id_number_or_address(get: Asked, polymarket: Polymarket) -> None:
    """With its rules, by Polymarket's number as the one question; nothing becomes a path of the model's choice."""
    for given in (
        "polymarket:lamp-2028",
        "https://polymarket.com/event/lamp-2028",
        "https://polymarket.com/de/event/lamp-2028/will-it?tid=1",
    ):
        market = await get(given)
        assert (market["id"], market["rules"]) == ("polymarket:lamp-2028", "Resolves YES if it happens.")
    market = await get(512801)
    assert (market["id"], market["question"]) == ("polymarket:who-lights-it", "Will the keeper light it?")
    assert (market["likelihood"], market["volume"]) == ({"Yes": "20%", "No": "80%"}, "250,000 USD")
    for given in ("polymarket:none", "999"):
        with pytest.raises(NotFound):
            await get(given)
    polymarket.requests.clear()
    for given in (
        "lamp-2028",
        "polymarket:../markets",
        "polymarket:lamp-2028/../x",
        "polymarket:",
        "https://polymarket.com.evil.example/event/x",
        "http://127.0.0.1/event/x",
        "kalshi:X",
    ):
        with pytest.raises(BadArguments, match="market_search"):
            await get(given)
    assert polymarket.requests == []


async def test_decided_questions_say_how_they_came_out(search: Asked, get: Asked, polymarket: Polymarket) -> None:
    """They are found only when asked for; a winner is never guessed."""
    assert len((await search("lamp", count=9))["markets"]) == 2
    found = (await search("lamp lit", also_closed=True, count=9))["markets"]
    outcomes = {market["id"]: (market["status"], market.get("came_out")) for market in found}
    assert outcomes["polymarket:lamp-2020"] == ("resolved", "No")
    polymarket.events.append(event("split", "Split?", traded("Split?", ["0.5", "0.5"], closed=True), closed=True))
    assert (await get("polymarket:split"))["status"] == "closed"
    polymarket.events.append(event("sure", "Sure?", traded("Sure?", ["1", "0"])))
    assert "came_out" not in await get("polymarket:sure")


async def test_lists_inside_texts_are_read_in_every_form(get: Asked, polymarket: Polymarket) -> None:
    """As lists, JSON, empty; the likeliest is first, who is out is left out, and a price not named is unknown."""
    chances = (await get("polymarket:who-lights-it"))["likelihood"]
    assert list(chances.items()) == [
        ("The captain", "70%"),
        ("The keeper", "20%"),
        ("Will nobody light it?", "unknown"),
    ]
    table: tuple[tuple[dict[str, Any], dict[str, str] | None], ...] = (
        ({"outcomes": ["Yes", "No"], "outcomePrices": ["0.1", "0.9"]}, {"Yes": "10%", "No": "90%"}),
        ({"outcomePrices": ""}, {"Yes": "unknown", "No": "unknown"}),
        ({"outcomes": ""}, None),
    )
    for fields, likelihood in table:
        polymarket.events[:] = [event("odd", "Odd?", traded("Odd?", ["0.1", "0.9"], **fields))]
        assert (await get("polymarket:odd")).get("likelihood") == likelihood


async def test_a_failure_is_told(search: Asked, get: Asked, polymarket: Polymarket) -> None:
    """As one, and not taken for "nothing found"; an answer too long for several is asked for one."""
    polymarket.faults.append(answer_json({}, status=429, headers={"Retry-After": "60"}))
    with pytest.raises(RateLimited, match="Polymarket wants fewer requests"):
        await search("lamp")
    for body in ([], {"events": [{}]}, {"events": 5}, "x"):
        for answer in (get("polymarket:x"), search("lamp")):
            polymarket.faults.append(answer_json(body))
            with pytest.raises(Unavailable, match="cannot be read"):
                await answer
    polymarket.faults.append(lambda _: web.json_response({"events": ["x" * 2_100_000]}))
    assert [market["id"] for market in (await search("lamp"))["markets"]] == ["polymarket:lamp-2028"]
