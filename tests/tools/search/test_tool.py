"""Searching: each service by itself, and one standing in for the other."""

import logging
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from dataclasses import dataclass, replace
from datetime import timedelta
from decimal import Decimal
from typing import Any
from urllib.parse import parse_qsl

import pytest

from tests.servers.base import answer_json, hang
from tests.servers.searches import Brave, DuckDuckGo, Perplexity, SearXNG, SerpApi, Tavily, brave_refusal, plan_used_up
from tests.servers.wikipedia import Wikipedia
from tests.tools.conftest import Asked
from tests.waiting import DEADLINE_SECONDS
from tools import Disabled, Http, RateLimited, TimedOut, ToolContext, ToolError, Unavailable
from tools.search.base import Hit, Query, SearchRow, hit, trim_query, with_operators
from tools.search.options import SearchOptions
from tools.search.services import KEPT_FOR, SERVICES, SearchService
from tools.search.tool import WebSearch

KEY = Brave.KEY
NAMES: tuple[Any, ...] = ("brave", "searxng", "wikipedia", "tavily", "serpapi", "perplexity")
KEYS: dict[str, Any] = {
    "api_key": KEY,
    "tavily_api_key": Tavily.KEY,
    "serpapi_api_key": SerpApi.KEY,
    "perplexity_api_key": Perplexity.KEY,
}


@dataclass
class Services:
    http: Http
    context: ToolContext
    brave: Brave
    searxng: SearXNG
    wikipedia: Wikipedia
    tavily: Tavily
    serpapi: SerpApi
    perplexity: Perplexity
    duckduckgo: DuckDuckGo

    def options(self, **more: Any) -> SearchOptions:
        """The settings with everyone's address but SearXNG's, without any key."""
        urls: dict[str, Any] = {
            "base_url": f"{self.brave.url}/res/v1",
            "wikipedia_base_url": f"{self.wikipedia.url}/{{language}}",
            "tavily_base_url": self.tavily.url,
            "serpapi_base_url": self.serpapi.url,
            "perplexity_base_url": self.perplexity.url,
            "duckduckgo_base_url": self.duckduckgo.url,
            "timeout_seconds": DEADLINE_SECONDS,
        }
        return SearchOptions(**(urls | more))

    async def hits(self, name: Any, query: Query, **more: Any) -> tuple[Hit, ...]:
        options = self.options(**(KEYS | {"searxng_base_url": self.searxng.url} | more))
        return (await SERVICES[name].search(query, options, self.http)).hits

    def tool(self, **options: Any) -> Asked:
        given = self.options(**options)
        return Asked(WebSearch(given, SearchService(given, self.http)), self.context)


@pytest.fixture
async def services(http: Http, context: ToolContext) -> AsyncIterator[Services]:
    made = (Brave(), SearXNG(), Wikipedia(), Tavily(), SerpApi(), Perplexity(), DuckDuckGo())
    async with AsyncExitStack() as stack:
        for server in made:
            await stack.enter_async_context(server)
        yield Services(http, context, *made)


def asked(text: str = "lamps", count: int = 3, **more: Any) -> Query:
    return Query(text=text, count=count, **more)


async def test_every_service_gives_plain_hits_of_web_addresses(services: Services) -> None:
    """No tags, no entities, no invisible characters, no address that is none of the web, never too many."""
    for name in (*NAMES, "duckduckgo"):
        hits = await services.hits(name, asked("lamps", 2))
        assert await services.hits(name, asked("lamp " * 100, 20))  # which is cut to what it allows
        assert await services.hits(name, asked("l" * 500, 1))
        assert 1 <= len(hits) <= 2
        for found in hits:
            assert found.url.startswith(("http://", "https://"))
            assert not set("<>\u202e") & set(found.title + found.snippet)
            assert found.site in found.url
            assert found.title


async def test_every_service_fails_in_its_kinds_only(services: Services) -> None:
    """So that another can stand in: one that hangs is told from one that fails, and nothing found is no error."""
    services.brave.results, services.searxng.results, services.wikipedia.articles = [], [], []
    services.tavily.results, services.serpapi.results, services.perplexity.results = [], [], []
    odd = {"results": 5, "web": 5, "query": 5, "organic_results": 5, "grounding": 5}
    for name in NAMES:
        assert await services.hits(name, asked()) == ()
        for fault, kind, seconds in (
            (answer_json({}, status=500), Unavailable, DEADLINE_SECONDS),
            (answer_json(odd), Unavailable, DEADLINE_SECONDS),
            (answer_json({}, 429, {"Retry-After": "99"}), RateLimited, DEADLINE_SECONDS),
            (hang, TimedOut, 0.05),
        ):
            getattr(services, name).faults[:] = [fault, fault]
            with pytest.raises(kind):
                await services.hits(name, asked(), timeout_seconds=seconds)


async def test_duckduckgo_is_read_and_gives_way(services: Services) -> None:
    """By the real ddgs, only where it is named: its own order, without advertisements; a refusal is no empty
    page, and each trouble has the next service answer.
    """
    assert "duckduckgo" not in SearchOptions().ready
    ask = services.tool(providers="duckduckgo, wikipedia")
    assert ask.tool.spec.cost_usd == 0
    data = await ask("signal lamps", sites=["lamps.example"], freshness="week", language="de")
    assert (data["source"], [row["url"] for row in data["results"]]) == (
        "DuckDuckGo",
        ["https://www.lamps.example/duck"],
    )
    assert (data["results"][0]["title"], data["results"][0]["snippet"]) == ("Lamps & signals", "A lamp that talks.")
    form = {"q": "signal lamps site:lamps.example", "b": "", "l": "de-de", "df": "w"}
    assert dict(parse_qsl(services.duckduckgo.requests[0].body.decode(), keep_blank_values=True)) == form
    refused = "DuckDuckGo shows no results, or turns programs away for the moment."
    for fault, page, why in (
        (answer_json({}, status=202), "", refused),
        (answer_json({}, status=403), "", refused),
        (None, '<?xml version="1.0" encoding="utf-8"?><p>', "DuckDuckGo answers something that cannot be read."),
        (None, "<!-- -->", "DuckDuckGo answers something that cannot be read."),
        (None, "<html><body><ol><li>In another form.</li></ol></body></html>", refused),
    ):
        services.duckduckgo.faults[:] = [fault] if fault else []
        services.duckduckgo.page = page
        data = await ask(f"lamps {why} {page}"[:60])
        assert (data["source"], data["failed_before"]) == ("Wikipedia", [why])
    services.duckduckgo.faults[:] = [hang]
    with pytest.raises(TimedOut):
        await services.hits("duckduckgo", asked(), timeout_seconds=0.05)
    await services.duckduckgo.stop()
    with pytest.raises(Unavailable, match="cannot be reached"):
        await services.hits("duckduckgo", asked())


async def test_searxng_that_has_not_searched_is_told(services: Services) -> None:
    """Nothing found by nobody is no result; found in spite of silent engines it is. By default it answers 403."""
    services.searxng.silent = [["one", "CAPTCHA"]]
    assert [found.age for found in await services.hits("searxng", asked("lamps", 5))] == ["2026-10-09", None]
    services.searxng.results = []
    with pytest.raises(Unavailable, match="engines"):
        await services.hits("searxng", asked())
    services.searxng.formats = ("html",)
    with pytest.raises(Disabled, match="status 403"):
        await services.hits("searxng", asked())


def test_an_address_that_is_none_makes_no_hit() -> None:
    """Whatever a service sends, people are given web addresses only, and no disguised ones."""
    for url in (
        "javascript:alert(1)",
        "https://user@bank.example/",
        "https://evil.example\\.gov.uk/",
        "https://evil.example;.gov.uk/",
        "https://a.example/\u202egpj.exe",
        "https://long.example/" + "x" * 2000,
    ):
        assert hit(SearchRow(title="t", url=url, snippet="s")) is None, url


def test_a_query_is_cut_behind_a_word() -> None:
    """Unless the first word alone is too long; operators never take more than half of the room."""
    for query, max_chars, max_words, left in (
        ("a  b\nc", 10, None, "a b c"),
        ("one two three", 9, None, "one two"),
        ("a b c d", 99, 2, "a b"),
    ):
        assert trim_query(query, max_chars=max_chars, max_words=max_words) == left, query
    for query, words in (
        (asked("one two three four", sites=("a.example",)), "one two site:a.example"),
        (asked("one", sites=("a.example", "b.example" * 9)), "one site:a.example"),
        (asked("one two three four five six"), "one two three four"),
    ):
        assert with_operators(query, max_chars=35, max_words=3 if query.sites else 4) == words


async def test_results_name_their_source(services: Services) -> None:
    """Title, address, site, age where known, snippet; the key is in a header."""
    data = await services.tool(api_key=KEY)("signal lamps")
    assert (data["query"], data["source"]) == ("signal lamps", "Brave Search")
    assert "failed_before" not in data
    assert data["results"][0] == {
        "title": "Lamps & Signals",
        "url": "https://www.lamps.example/signals?a=1",
        "site": "lamps.example",
        "age": "2 days ago",
        "snippet": 'How a lamp talks "across" the sea.',
    }
    assert [row.get("age") for row in data["results"]] == ["2 days ago", "2026-01-02", None]
    (seen,) = services.brave.requests
    assert (seen.headers["x-subscription-token"], seen.query["q"]) == (KEY, "signal lamps")


async def test_the_next_service_stands_in(services: Services, caplog: pytest.LogCaptureFixture) -> None:
    """The answer says who failed and why, the log of what kind; Tavily without a key is asked only if wanted."""
    caplog.set_level(logging.DEBUG)
    services.searxng.formats = ("html",)
    data = await services.tool(api_key="wrong-key", searxng_base_url=services.searxng.url)("private matters")
    assert data["source"] == "Wikipedia"
    assert [reason.partition(" ")[0] for reason in data["failed_before"]] == ["SearXNG", "Brave"]
    assert "Brave Search failed, kind disabled" in caplog.text
    assert "private" not in caplog.text
    assert "wrong-key" not in caplog.text + str(data)
    services.wikipedia.faults += [answer_json({"error": {"code": "ratelimited"}})]
    with pytest.raises(RateLimited, match=r"Brave Search refuses the key.*Wikipedia wants fewer"):
        await services.tool(api_key="wrong")("lamps")
    assert services.tavily.requests == []
    keyless = services.tool(tavily_keyless=True)
    assert (await keyless("lamps"))["source"] == "Tavily"
    services.tavily.keyless = False
    data = await keyless("other words")
    assert (data["source"], data["failed_before"]) == ("Wikipedia", ["Tavily wants fewer requests."])


async def test_the_count_is_the_model_s_up_to_the_operator_s(services: Services) -> None:
    """More than the setting is never fetched. Wikipedia's articles come in their order, in its language, cut short."""
    for count, given in ((None, 2), (1, 1), (9, 2)):
        data = await services.tool(max_results=2, language="de")("signal lamps", count)
        assert [row["title"] for row in data["results"]] == ["Aldis lamp", "Heliograph"][:given]
        assert data.get("note") == ("At most 2 results can be asked for at a time, not 9." if count == 9 else None)
        seen = services.wikipedia.requests[-1]
        assert (seen.query["gsrlimit"], seen.path[:4]) == (str(given), "/de/")
    assert len(data["results"][0]["snippet"]) <= 300


async def test_what_founding_documents_name_is_taken(services: Services) -> None:
    """Sites by Tavily's names, a thorough search and its own answer; a long query is cut to 500 characters."""
    ask = services.tool(providers="tavily,wikipedia", tavily_api_key=Tavily.KEY)
    result = await ask.result(
        "lamp " * 200, include_domains=["lamps.example"], search_depth="advanced", include_answer=True
    )
    body = services.tavily.requests[0].json()
    assert (body["include_domains"], body["search_depth"]) == (["lamps.example"], "advanced")
    assert (result.data["answer"], result.cost_usd) == ("Lamps signal.", Decimal("0.016"))
    assert len(result.data["query"]) <= 500
    result = await ask.result("lamp")
    assert ("answer" in result.data, result.cost_usd) == (False, Decimal("0.008"))


async def test_a_wish_is_told_to_each_service_in_its_own_words(services: Services) -> None:
    """News, age, sites and language; each double refuses what the real one would not understand."""
    wish = asked(freshness="week", without_sites=("bad.example",), language="de")
    for name in NAMES:
        await services.hits(name, wish)
    query = services.brave.requests[0].query
    assert (query["q"], query["freshness"], query["search_lang"]) == ("lamps -site:bad.example", "pw", "de")
    query = services.searxng.requests[0].query
    assert (query["q"], query["time_range"], query["language"]) == ("lamps -site:bad.example", "week", "de")
    body = services.tavily.requests[0].json()
    assert (body["query"], body["time_range"], body["exclude_domains"]) == ("lamps", "week", ["bad.example"])
    google = services.serpapi.requests[0].query
    assert (google["engine"], google["tbs"], google["hl"]) == ("google", "qdr:w", "de")
    filters = {"domain": ["-bad.example"], "recency": "week", "language": ["de"]}
    body = services.perplexity.requests[0].json()
    assert {name: body[f"search_{name}_filter"] for name in filters} == filters


async def test_the_news_are_searched_where_there_are_any(services: Services) -> None:
    """Each service that has them, where it has them; the others say that they cannot."""
    news = asked(is_news=True, sites=("lamps.example", "flags.example"))
    for name in ("brave", "searxng", "tavily", "serpapi"):
        assert SERVICES[name].takes(news)
        assert await services.hits(name, news)
    assert services.brave.requests[0].path == "/res/v1/news/search"
    assert services.brave.requests[0].query["q"] == "lamps site:lamps.example OR site:flags.example"
    assert services.searxng.requests[0].query["categories"] == "news"
    assert services.tavily.requests[0].json()["topic"] == "news"
    assert services.serpapi.requests[0].query["engine"] == "google_news_light"
    untaken: tuple[tuple[Any, Query], ...] = (
        ("wikipedia", news),
        ("wikipedia", asked(freshness="day")),
        ("wikipedia", asked(sites=("lamps.example",))),
        ("perplexity", news),
        ("perplexity", asked(sites=("a.example",), without_sites=("b.example",))),
        ("serpapi", asked(is_news=True, freshness="day")),
    )
    for name, query in untaken:
        assert not SERVICES[name].takes(query)


async def test_each_service_refuses_in_its_own_way(services: Services) -> None:
    """A refused key is named by its setting, a plan that is used up is not asked again, a success may be an error."""
    for key in KEYS:
        name, wrong = key.removesuffix("api_key").strip("_") or "brave", dict[str, Any]({key: "wrong-key"})
        with pytest.raises(Disabled, match=f"TOOLS__WEB_SEARCH__{key.upper()}") as caught:
            await services.hits(name, asked(), **wrong)
        assert "wrong-key" not in repr(caught.value) + repr(caught.value.__cause__)
    failed = {"search_metadata": {"status": "Error"}, "error": "No valid results."}
    answers: tuple[tuple[str, Any, type[ToolError]], ...] = (
        ("brave", lambda _: brave_refusal(404, "SUBSCRIPTION_NOT_FOUND", is_documented=True), Disabled),
        ("brave", lambda _: brave_refusal(403, "FORBIDDEN"), Disabled),
        ("brave", lambda _: brave_refusal(422, "VALIDATION"), Unavailable),
        ("brave", lambda _: brave_refusal(402, "QUOTA_LIMITED"), RateLimited),
        ("tavily", plan_used_up(432), RateLimited),
        ("tavily", plan_used_up(433), RateLimited),
        ("serpapi", answer_json(failed), Unavailable),
        ("wikipedia", answer_json({"error": {"code": "maxlag", "info": "x"}}), RateLimited),
        ("wikipedia", answer_json({"error": {"code": "badvalue", "info": "x"}}), Unavailable),
    )
    for name, answer, kind in answers:
        server: Any = getattr(services, name)
        server.faults[:] = [answer]
        server.requests.clear()
        with pytest.raises(kind):
            await services.hits(name, asked())
        assert len(server.requests) == 1


async def test_the_same_search_is_asked_once_in_ten_minutes(services: Services) -> None:
    """For all conversations, and at no cost; another wish is another search, and later it is asked anew."""
    ask = services.tool(api_key=KEY)

    async def asks(after: timedelta, **more: Any) -> tuple[int, Decimal | None]:
        ask.context = replace(services.context, now=services.context.now + after, chat=f"direct:{after}")
        cost = (await ask.result("lamps", **more)).cost_usd
        return len(services.brave.requests), cost

    paid = Decimal("0.005")
    assert [await asks(timedelta(0)), await asks(timedelta(minutes=9))] == [(1, paid), (1, Decimal(0))]
    assert await asks(timedelta(minutes=9), count=1) == (2, paid)
    assert await asks(timedelta(minutes=9), language="de") == (3, paid)
    assert await asks(KEPT_FOR) == (4, paid)


async def test_sites_are_kept_to_and_no_address_comes_twice(services: Services) -> None:
    """A service may pass over what it does not know; however an address is spelled, the better place counts."""
    ask = services.tool(tavily_api_key=Tavily.KEY)
    only = await ask("x", sites=["https://www.Lamps.example/page"])
    without = await ask("x", without_sites=["lamps.example"])
    assert [[row["site"] for row in data["results"]] for data in (only, without)] == [
        ["lamps.example"],
        ["flags.example"],
    ]
    row = {"title": "Lamps", "content": "x", "score": 0.5}
    urls = ("https://A.example/x#1", "https://a.example:443/x", "https://b.example")
    services.tavily.results = [row | {"url": url} for url in urls]
    assert [found["url"] for found in (await ask("lamps"))["results"]] == [urls[0], urls[2]]


async def test_what_no_service_can_do_is_said(services: Services) -> None:
    """Wikipedia has no news; and with nobody to ask nothing is found."""
    with pytest.raises(Disabled, match="Wikipedia cannot search like that"):
        await services.tool()("x", topic="news")
    with pytest.raises(Disabled, match="No search service"):
        await services.tool(providers="brave")("lamps")
    assert services.brave.requests == services.wikipedia.requests == []


def test_the_options_say_what_is_passed_over() -> None:
    """Of the services of the order, each with its variable; something is missing only if none of them can be asked."""
    cases: tuple[tuple[dict[str, Any], str | None, set[str]], ...] = (
        ({}, None, {"Brave Search", "Perplexity", "SearXNG", "SerpApi", "Tavily"}),
        ({"api_key": KEY, "tavily_keyless": True}, None, {"Perplexity", "SearXNG", "SerpApi"}),
        ({"providers": "brave,tavily"}, "API_KEY or TAVILY_API_KEY", {"Brave Search", "Tavily"}),
        ({"providers": "wikipedia"}, None, set()),
        ({"providers": "duckduckgo"}, None, set()),
    )
    for given, missing, unasked in cases:
        options = SearchOptions(**given)
        assert (options.missing_settings(), set(options.idle_services())) == (missing, unasked)
        assert not set(options.seen_by()) & unasked
        assert all(hasattr(options, variable.lower()) for variable in options.idle_services().values())
