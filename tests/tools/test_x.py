"""Posts on X, from a double of its recent search, with a double of Brave for when X cannot be asked."""

from dataclasses import replace
from datetime import timedelta
from decimal import Decimal
from typing import Any

import pytest
from pydantic import SecretStr

from bot.clock import SetClock
from bot.money.ledger import Quotas
from store import Store
from tests.servers.base import Answer, answer_json
from tests.servers.fixtures import fixture_of
from tests.servers.searches import Brave, page
from tests.servers.x import NOW, TOKEN, X, post, refused
from tests.tools.conftest import Asked, Plenty
from tools import BadArguments, Http, ToolContext
from tools.search.options import SearchOptions
from tools.search.services import SearchService
from tools.x import TwitterOptions, TwitterSearch

AT_X = page("A lamp on X", "https://x.com/keeper/status/7", "It is lit.")
ELSEWHERE = page("A lamp", "https://lamps.example/x.com", "Elsewhere.")

x = fixture_of(X)
brave = fixture_of(lambda: Brave(results=[AT_X, ELSEWHERE]))


def opened(x: X, brave: Brave, http: Http, quotas: Any = None, **options: Any) -> Asked:
    given = {"bearer_token": SecretStr(TOKEN), **options}
    service = SearchService(SearchOptions(api_key=SecretStr(Brave.KEY), base_url=f"{brave.url}/res/v1"), http)
    tool = TwitterSearch(TwitterOptions(**given), http, quotas or Plenty(), service, base_url=x.url)
    return Asked(tool, ToolContext(now=NOW, timezone="UTC"))


@pytest.fixture
def ask(x: X, brave: Brave, http: Http) -> Asked:
    return opened(x, brave, http)


async def test_posts_come_with_author_time_counts_and_address(ask: Asked, x: X, brave: Brave) -> None:
    """In the form of all results, so that an answer can cite them; they cost what was read, and nothing else."""
    data = await ask("lamp -fog", count=10)
    assert (data["query"], data["source"], "why_not_x" in data) == ("lamp -fog", "X", False)
    assert data["results"][0] == {
        "title": "The Keeper on X",
        "url": "https://x.com/keeper/status/1900000000000000003",
        "site": "x.com",
        "age": "2026-11-20 09:05 UTC",
        "snippet": "The lamp is lit & turns.",
        "author": "@keeper",
        "verified": True,
        "likes": 42,
        "reposts": 5,
        "replies": 2,
        "quotes": 1,
        "views": 900,
    }
    assert (len(data["results"]), len((await ask("lit"))["results"])) == (3, 2)
    assert not brave.requests
    assert (await ask.result("lamp")).cost_usd == Decimal("0.035")
    assert (await ask.result("xyzzy")).cost_usd == 0
    assert ask.tool.spec.cost_usd == Decimal("0.15")


async def test_x_is_asked_in_its_own_words(ask: Asked, x: X, brave: Brave) -> None:
    """With a token in a header, and 10 to 100 posts; what X refuses is quoted, before it is paid."""
    asked: tuple[tuple[dict[str, Any], dict[str, str], str], ...] = (
        ({}, {"max_results": "10", "sort_order": "relevancy"}, ""),
        ({"count": 30, "order": "newest"}, {"max_results": "30", "sort_order": "recency"}, ""),
        ({"hours": 24}, {"start_time": "2026-11-20T14:30:15Z"}, ""),
        ({"hours": 167}, {"start_time": "2026-11-14T15:30:15Z"}, ""),
        ({"count": 5}, {"max_results": "10"}, "At least 10"),
        ({"count": 250}, {"max_results": "100"}, "At most 100"),
    )
    for arguments, sent, note in asked:
        data = await ask("lamp lang:en", **arguments)
        seen = x.requests[-1]
        assert sent.items() <= seen.query.items()
        assert seen.query["query"] == "lamp lang:en"
        assert data.get("note", "").startswith(note)
        assert bool(note) == ("note" in data)
        assert seen.headers["authorization"] == f"Bearer {TOKEN}"
        assert TOKEN not in str(seen.query)
    x.credits = 1000
    with pytest.raises(BadArguments, match="empty"):
        await ask("\u200b")
    with pytest.raises(BadArguments, match="does not accept") as caught:
        await ask("lamp near:Oslo")
    assert caught.value.quoted == "Reference to invalid operator 'near'. Operator is not available in current product."
    assert (x.credits, brave.requests) == (1000, [])


async def test_any_form_of_a_post_is_read(ask: Asked, x: X) -> None:
    """Also one that X names anew, or long; names and words are cleaned, and a post without an id is left out."""
    long = {"note_post": {"text": "lamp " * 300}, "public_metrics": {"repost_count": 3, "like_count": "many"}}
    x.posts = [post("19", "lamp ...", **long), post("18", "lamp", note_tweet={"text": "The whole lamp."})]
    first, second = (await ask("lamp"))["results"]
    assert (first["reposts"], "likes" in first, len(first["snippet"]) <= 600) == (3, False, True)
    assert first["snippet"].startswith("lamp lamp lamp")
    assert second["snippet"] == "The whole lamp."
    x.users = [{"id": "42", "username": "../evil?x=", "name": "E\u202evil\n\u200b", "verified": None}]
    odd = {"created_at": "tomorrow", "lang": "klingon", "public_metrics": {}}
    x.posts = [post("19", "lamp\u202e\n\n<b>x</b>", **odd), post("../1", "lamp"), post("18", "lamp", "77")]
    first, second = (await ask("lamp"))["results"]
    assert first == {"title": "Evil on X", "url": "https://x.com/i/status/19", "site": "x.com", "snippet": "lamp x"}
    assert (second["title"], "author" in second) == ("A post on X", False)


def fault(status: int, **headers: str) -> Answer:
    return lambda _: refused(status, "SECRET", **headers)


async def test_the_web_stands_in_for_x(x: X, brave: Brave, http: Http) -> None:
    """Only what lies at x.com, with why not X, which is not asked twice, and without a token not at all."""
    for answer, why in (
        (fault(401), "TOOLS__TWITTER__BEARER_TOKEN"),
        (fault(503), "status 503"),
        (fault(429), "fewer requests"),
        (fault(402), "wants to be paid"),
        (answer_json({"errors": [{"title": "SECRET"}]}), "cannot be read"),
        (answer_json({"data": [{"id": 5}], "meta": {"result_count": 1}}), "cannot be read"),
    ):
        x.faults.append(answer)
        x.requests.clear()
        brave.requests.clear()
        data = await opened(x, brave, http)(
            '("the lamp" OR #fog) (from:keeper) 12:30 -fog -to:him is:verified', hours=24
        )
        assert (data["query"], data["source"]) == ('"the lamp" fog keeper 12:30', "Brave Search, limited to x.com")
        assert why in data["why_not_x"]
        assert [row["url"] for row in data["results"]] == ["https://x.com/keeper/status/7"]
        assert "SECRET" not in str(data)
        assert TOKEN not in str(data)
        [seen] = brave.requests
        assert (seen.query["q"], seen.query["freshness"]) == ('"the lamp" fog keeper 12:30 site:x.com', "pd")
        assert len(x.requests) == 1
    x.requests.clear()
    brave.requests.clear()
    ask = opened(x, brave, http, bearer_token=None)
    result = await ask.result("lamp lang:en", hours=100)
    assert "has set no TOOLS__TWITTER__BEARER_TOKEN" in str(result.data["why_not_x"])
    assert (result.cost_usd, ask.tool.spec.cost_usd) == (Decimal("0.005"), 0)
    assert brave.requests[0].query["freshness"] == "pw"
    assert not x.requests
    brave.results = [ELSEWHERE]
    data = await ask("another lamp")
    assert (data["results"], "web_search" in data["message"]) == ([], True)


async def test_a_day_s_posts_are_not_overrun(x: X, brave: Brave, http: Http, store: Store, clock: SetClock) -> None:
    """Posts that were asked for count, over restarts as well; the next day begins from nothing."""

    async def source(**arguments: Any) -> str:
        ask = opened(x, brave, http, Quotas(store, clock), posts_per_day=14)
        ask.context = replace(ask.context, now=clock.now())
        return (await ask("lamp", **arguments))["source"].partition(",")[0]

    assert [await source(), await source()] == ["X", "Brave Search"]
    x.credits, x.posts = 1000, [post(f"{19 + number}", "lamp") for number in range(40)]
    clock.move(timedelta(days=1).total_seconds())
    assert [await source(count=count) for count in (15, 14, 10)] == ["Brave Search", "X", "Brave Search"]
    assert len(x.requests) == 2
