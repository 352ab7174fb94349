"""What a month may use of a service, over restarts and months."""

from contextlib import AsyncExitStack
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from bot.clock import SetClock
from bot.money.ledger import Quotas
from store import Store
from tests.servers.brave import KEY, Brave
from tests.servers.wikipedia import Wikipedia
from tests.tools.conftest import USER_AGENT
from tools import Http, ToolContext
from tools.search.options import SearchOptions
from tools.search.service import SearchService
from tools.search.tool import WebSearch, WebSearchArguments


async def test_a_month_s_amount_is_not_overrun(store: Store, clock: SetClock) -> None:
    """What is left counts for each service by itself; the next month begins from nothing, and nothing means never."""
    quotas = Quotas(store, clock)
    assert [await quotas.take("Brave Search", limit=2) for _ in range(3)] == [True, True, False]
    assert [await quotas.take("Tavily", limit=1), await quotas.take("SerpApi", limit=0)] == [True, False]
    assert [await Quotas(store, clock).take("Brave Search", limit=limit) for limit in (2, 3, 3, 0)] == [
        False,
        True,
        False,
        False,
    ]
    clock.move((datetime(2026, 12, 1, tzinfo=UTC) - clock.now()).total_seconds() - 1)
    assert not await quotas.take("Brave Search", limit=2)
    clock.move(1)
    assert [await quotas.take("Brave Search", limit=2) for _ in range(3)] == [True, True, False]


async def test_a_day_s_amount_is_counted_in_what_is_paid_for(store: Store, clock: SetClock) -> None:
    """Several at once, all or none; what was not given after all is free again, on the same day alone."""
    quotas = Quotas(store, clock)

    async def take(amount: int, limit: int = 25) -> bool:
        return await quotas.take("posts", limit=limit, amount=amount, per="day")

    assert [await take(30), await take(10), await take(10), await take(10), await take(5)] == [
        False,
        True,
        True,
        False,
        True,
    ]
    today = clock.now()
    await quotas.give_back("posts", amount=7, per="day", taken_at=today)
    assert [await take(8), await take(7)] == [False, True]
    assert await quotas.take("others", limit=1)
    clock.move(timedelta(days=1).total_seconds())
    await Quotas(store, clock).give_back("posts", amount=25, per="day", taken_at=today)
    assert [await take(25), await take(1)] == [True, False]
    await quotas.give_back("posts", amount=25, per="day", taken_at=today)  # an answer that came behind midnight
    assert not await take(1)
    await quotas.give_back("posts", amount=99, per="day", taken_at=clock.now())
    assert [await take(26), await take(25), await take(1)] == [False, True, False]


async def test_another_service_stands_in_for_one_that_is_used_up(store: Store, clock: SetClock) -> None:
    """The used-up one is not even asked, by no later process; what is known from a moment ago is still told."""
    async with AsyncExitStack() as stack:
        brave = await stack.enter_async_context(Brave())
        wikipedia = await stack.enter_async_context(Wikipedia())
        http = await stack.enter_async_context(Http(USER_AGENT))
        given: dict[str, Any] = {"api_key": KEY, "base_url": f"{brave.url}/res/v1", "brave_per_month": 1}
        options = SearchOptions(**given, wikipedia_base_url=wikipedia.url)
        context = ToolContext(now=clock.now(), timezone="UTC")

        def started() -> WebSearch:
            return WebSearch(options, SearchService(options, http, Quotas(store, clock)))

        async def source(tool: WebSearch, words: str) -> str:
            return (await tool.run(WebSearchArguments(query=words), replace(context, now=clock.now()))).data["source"]

        tool = started()
        assert [await source(tool, words) for words in ("a", "b", "a")] == ["Brave Search", "Wikipedia", "Brave Search"]
        assert await source(started(), "a") == "Wikipedia"
        assert len(brave.requests) == 1
        data = (await tool.run(WebSearchArguments(query="c"), context)).data
        assert data["failed_before"] == ["Brave Search: the monthly limit of 1 searches is used up."]


@pytest.mark.parametrize("limit", [-1, "many"])
def test_an_amount_is_a_number(limit: Any) -> None:
    """Refused at the start."""
    with pytest.raises(ValueError, match="brave_per_month"):
        SearchOptions(brave_per_month=limit)
