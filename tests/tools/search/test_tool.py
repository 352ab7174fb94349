"""Searching: each service by itself, and one standing in for the other."""

import logging
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, nullcontext
from dataclasses import dataclass, field, replace
from datetime import timedelta
from decimal import Decimal
from functools import partial
from typing import Any

import pytest

from tests.servers import brave as brave_server
from tests.servers import perplexity as perplexity_server
from tests.servers import serpapi as serpapi_server
from tests.servers import tavily as tavily_server
from tests.servers.base import answer_json, hang
from tests.servers.brave import Brave
from tests.servers.perplexity import Perplexity
from tests.servers.searxng import SearXNG
from tests.servers.serpapi import SerpApi
from tests.servers.tavily import Tavily
from tests.servers.wikipedia import Wikipedia
from tests.waiting import DEADLINE_SECONDS
from tools import Disabled, Http, RateLimited, TimedOut, ToolContext, ToolError, Unavailable
from tools.search.base import Hit, Pace, Query, SearchForm, SearchRow, hit, trim_query, with_operators
from tools.search.options import SearchOptions
from tools.search.service import KEPT_FOR, SearchService
from tools.search.services import SERVICES
from tools.search.tool import WebSearch, WebSearchArguments

KEY = brave_server.KEY


@dataclass
class Services:
    """All services, running."""

    brave: Brave
    searxng: SearXNG
    wikipedia: Wikipedia
    tavily: Tavily
    serpapi: SerpApi
    perplexity: Perplexity

    @property
    def asked(self) -> list[str]:
        """Who was asked, in no order."""
        return [name for name, server in vars(self).items() if server.requests]


@pytest.fixture
async def services() -> AsyncIterator[Services]:
    made = (Brave(), SearXNG(), Wikipedia(), Tavily(), SerpApi(), Perplexity())
    async with AsyncExitStack() as stack:
        for server in made:
            await stack.enter_async_context(server)
        yield Services(*made)


def asked(text: str = "lamps", count: int = 3, **more: Any) -> Query:
    return Query(text=text, count=count, **more)


SETTINGS: dict[str, dict[str, Any]] = {
    "brave": {"base_url": "URL/res/v1", "api_key": KEY},
    "searxng": {"searxng_base_url": "URL"},
    "wikipedia": {"wikipedia_base_url": "URL/{language}", "language": "de"},
    "tavily": {"tavily_base_url": "URL", "tavily_api_key": tavily_server.KEY},
    "serpapi": {"serpapi_base_url": "URL", "serpapi_api_key": serpapi_server.KEY},
    "perplexity": {"perplexity_base_url": "URL", "perplexity_api_key": perplexity_server.KEY},
}
"""Of each service."""


@dataclass
class Backend:
    """One of the services, of which only the hits are looked at."""

    form: SearchForm
    options: SearchOptions
    http: Http
    pace: Pace = field(default_factory=lambda: Pace(0.0))

    async def hits(self, query: Query) -> tuple[Hit, ...]:
        return (await self.form.search(query, self.options, self.http, self.pace)).hits

    def takes(self, query: Query) -> bool:
        return self.form.takes(query)


def backend(
    name: Any,
    services: Services,
    http: Http,
    timeout_seconds: float = DEADLINE_SECONDS,
    **more: Any,
) -> Backend:
    url = getattr(services, name).url
    options = {setting: value.replace("URL", url) for setting, value in SETTINGS[name].items()}
    given = SearchOptions.model_validate({**options, "timeout_seconds": timeout_seconds, **more})
    return Backend(SERVICES[name], given, http)


brave, searxng, wikipedia, tavily, serpapi, perplexity = (partial(backend, name) for name in SETTINGS)


def tool(services: Services, http: Http, **options: Any) -> WebSearch:
    urls: dict[str, Any] = {
        "base_url": services.brave.url + "/res/v1",
        "wikipedia_base_url": services.wikipedia.url,
        "tavily_base_url": services.tavily.url,
        "serpapi_base_url": services.serpapi.url,
        "perplexity_base_url": services.perplexity.url,
        "timeout_seconds": DEADLINE_SECONDS,
    }
    given = SearchOptions(**(urls | options))
    return WebSearch(given, SearchService(given, http))


@pytest.mark.parametrize("name", SETTINGS)
async def test_every_service_gives_plain_hits_of_web_addresses(name: str, services: Services, http: Http) -> None:
    """No tags, no entities, no invisible characters, no address that is none of the web, never too many."""
    hits = await backend(name, services, http).hits(asked("lamps", 2))
    assert await backend(name, services, http).hits(asked("lamp " * 100, 20))  # which is cut to what it allows
    assert await backend(name, services, http).hits(asked("l" * 500, 1))
    assert 1 <= len(hits) <= 2
    for found in hits:
        assert found.url.startswith(("http://", "https://"))
        assert not set("<>\u202e") & set(found.title + found.snippet)
        assert found.site in found.url
        assert found.title


async def test_every_service_fails_in_its_kinds_only(services: Services, http: Http) -> None:
    """So that another can stand in: one that hangs is told from one that fails, and nothing found is no error."""
    services.brave.pages, services.searxng.results, services.wikipedia.articles = [], [], []
    services.tavily.results, services.serpapi.results, services.perplexity.results = [], [], []
    odd = {"results": 5, "web": 5, "query": 5, "organic_results": 5, "grounding": 5}
    for name in SETTINGS:
        assert await backend(name, services, http).hits(asked("lamps", 3)) == ()
        for fault, kind, seconds in (
            (answer_json({}, status=500), Unavailable, DEADLINE_SECONDS),
            (answer_json(odd), Unavailable, DEADLINE_SECONDS),
            (answer_json({}, 429, {"Retry-After": "99"}), RateLimited, DEADLINE_SECONDS),
            (hang, TimedOut, 0.05),
        ):
            getattr(services, name).faults[:] = [fault, fault]
            with pytest.raises(kind):
                await backend(name, services, http, seconds).hits(asked("lamps", 3))


async def test_brave_requests_of_one_key_keep_their_distance(services: Services, http: Http) -> None:
    """The second waits for its turn, longer than it has time for, and Brave is not asked; what Brave says of the pace
    replaces the slow one that was assumed.
    """
    assert SERVICES["brave"].interval_seconds == 1.1
    for limits, timeout_seconds, asked_for in (({}, 0.5, 1), ({"X-RateLimit-Limit": "50, 0"}, DEADLINE_SECONDS, 2)):
        services.brave.requests.clear()
        services.brave.limits = limits
        backend = replace(brave(services, http, timeout_seconds), pace=Pace(60.0))
        await backend.hits(asked("lamps", 3))
        with nullcontext() if limits else pytest.raises(TimedOut):
            await backend.hits(asked("lamps", 3))
        assert len(services.brave.requests) == asked_for


async def test_searxng_that_has_not_searched_is_told(services: Services, http: Http) -> None:
    """Nothing found by nobody is no result; found in spite of silent engines it is. By default it answers 403."""
    services.searxng.silent = [["one", "CAPTCHA"]]
    assert [found.age for found in await searxng(services, http).hits(asked("lamps", 5))] == ["2026-10-09", None]
    services.searxng.results = []
    with pytest.raises(Unavailable, match="engines"):
        await searxng(services, http).hits(asked("lamps", 3))
    services.searxng.formats = ("html",)
    with pytest.raises(Disabled, match="status 403"):
        await searxng(services, http).hits(asked("lamps", 3))


def test_an_address_that_is_none_makes_no_hit() -> None:
    """Whatever a service sends, people are given web addresses only, and no disguised ones."""
    for url in (
        "javascript:alert(1)",
        "ftp://files.example/",
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


async def search(
    search_tool: WebSearch, context: ToolContext, query: str = "signal lamps", count: int | None = None
) -> Any:
    return (await search_tool.run(WebSearchArguments(query=query, count=count), context)).data


async def test_results_name_their_source(services: Services, http: Http, context: ToolContext) -> None:
    """Title, address, site, age where known, snippet; the key is in a header."""
    data = await search(tool(services, http, api_key=KEY), context)
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


async def test_the_next_service_stands_in_for_one_that_fails(
    services: Services, http: Http, context: ToolContext, caplog: pytest.LogCaptureFixture
) -> None:
    """The answer says who failed and why, the log who and of what kind; neither has the key, the log no query."""
    caplog.set_level(logging.DEBUG)
    services.searxng.formats = ("html",)
    search_tool = tool(services, http, api_key="wrong-key", searxng_base_url=services.searxng.url)
    data = await search(search_tool, context, "private matters")
    assert data["source"] == "Wikipedia"
    assert [reason.partition(" ")[0] for reason in data["failed_before"]] == ["SearXNG", "Brave"]
    assert "Brave Search failed, kind disabled" in caplog.text
    assert "private" not in caplog.text
    assert "wrong-key" not in caplog.text + str(data)
    services.wikipedia.faults += [answer_json({"error": {"code": "ratelimited"}})]
    with pytest.raises(RateLimited, match=r"Brave Search refuses the key.*Wikipedia wants fewer"):
        await search(tool(services, http, api_key="wrong"), context)


async def test_the_count_is_the_model_s_up_to_the_operator_s(
    services: Services, http: Http, context: ToolContext
) -> None:
    """More than the setting is never fetched. Wikipedia's articles come in their order, in its language, cut short."""
    for count, given in ((None, 2), (1, 1), (9, 2)):
        data = await search(tool(services, http, max_results=2, language="de"), context, count=count)
        assert [row["title"] for row in data["results"]] == ["Aldis lamp", "Heliograph"][:given]
        assert data.get("note") == ("At most 2 results can be asked for at a time, not 9." if count == 9 else None)
        assert services.wikipedia.requests[-1].query["gsrlimit"] == str(given)
    assert len(data["results"][0]["snippet"]) <= 300


async def test_what_founding_documents_name_is_taken(services: Services, http: Http, context: ToolContext) -> None:
    """Sites by Tavily's names, a thorough search and its own answer; a long query is cut to 500 characters."""
    searching = tool(services, http, providers="tavily,wikipedia", tavily_api_key=tavily_server.KEY)
    arguments = {"include_domains": ["lamps.example"], "search_depth": "advanced", "include_answer": True}
    result = await searching.run(WebSearchArguments(query="lamp " * 200, **arguments), context)
    body = services.tavily.requests[0].json()
    assert (body["include_domains"], body["search_depth"]) == (["lamps.example"], "advanced")
    assert (result.data["answer"], result.cost_usd) == ("Lamps signal.", Decimal("0.016"))
    assert len(result.data["query"]) <= 500
    result = await searching.run(WebSearchArguments(query="lamp"), context)
    assert ("answer" in result.data, result.cost_usd) == (False, Decimal("0.008"))


async def test_a_wish_is_told_to_each_service_in_its_own_words(services: Services, http: Http) -> None:
    """News, age, sites and language; each double refuses what the real one would not understand."""
    wish = asked(freshness="week", without_sites=("bad.example",), language="de")
    for make in (brave, searxng, tavily, serpapi, perplexity):
        await make(services, http).hits(wish)
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


async def test_the_news_are_searched_where_there_are_any(services: Services, http: Http) -> None:
    """Each service that has them, where it has them; the others say that they cannot."""
    news = asked(is_news=True, sites=("lamps.example", "flags.example"))
    for make in (brave, searxng, tavily, serpapi):
        assert make(services, http).takes(news)
        assert await make(services, http).hits(news)
    assert services.brave.requests[0].path == "/res/v1/news/search"
    assert services.brave.requests[0].query["q"] == "lamps site:lamps.example OR site:flags.example"
    assert services.searxng.requests[0].query["categories"] == "news"
    assert services.tavily.requests[0].json()["topic"] == "news"
    assert services.serpapi.requests[0].query["engine"] == "google_news_light"
    assert not wikipedia(services, http).takes(news)
    assert not perplexity(services, http).takes(news)
    assert not serpapi(services, http).takes(asked(is_news=True, freshness="day"))
    assert not wikipedia(services, http).takes(asked(freshness="day"))
    assert not wikipedia(services, http).takes(asked(sites=("lamps.example",)))
    assert not perplexity(services, http).takes(asked(sites=("a.example",), without_sites=("b.example",)))


async def test_each_service_refuses_in_its_own_way(services: Services, http: Http) -> None:
    """A key is the operator's matter, and named by its setting; a plan that is used up is not asked again for; some
    errors come with a success.
    """
    for name in ("brave", "tavily", "serpapi", "perplexity"):
        key = "api_key" if name == "brave" else f"{name}_api_key"
        wrong: dict[str, Any] = {key: "wrong-key"}
        with pytest.raises(Disabled, match=f"TOOLS__WEB_SEARCH__{key.upper()}") as caught:
            await backend(name, services, http, **wrong).hits(asked())
        assert "wrong-key" not in repr(caught.value) + repr(caught.value.__cause__)
    failed = {"search_metadata": {"status": "Error"}, "error": "No valid results."}
    answers: tuple[tuple[str, Any, type[ToolError]], ...] = (
        ("brave", lambda _: brave_server.refused_as_documented(404, "SUBSCRIPTION_NOT_FOUND"), Disabled),
        ("brave", lambda _: brave_server.refused(403, "FORBIDDEN"), Disabled),
        ("brave", lambda _: brave_server.refused(422, "VALIDATION"), Unavailable),
        ("brave", lambda _: brave_server.refused(402, "QUOTA_LIMITED"), RateLimited),
        ("tavily", tavily_server.refused(432, tavily_server.PLAN_USED_UP), RateLimited),
        ("tavily", tavily_server.refused(433, tavily_server.PLAN_USED_UP), RateLimited),
        ("serpapi", answer_json(failed), Unavailable),
        ("wikipedia", answer_json({"error": {"code": "maxlag", "info": "x"}}), RateLimited),
        ("wikipedia", answer_json({"error": {"code": "badvalue", "info": "x"}}), Unavailable),
    )
    for name, answer, kind in answers:
        getattr(services, name).faults[:] = [answer]
        getattr(services, name).requests.clear()
        with pytest.raises(kind):
            await backend(name, services, http).hits(asked())
        assert len(getattr(services, name).requests) == 1


async def test_tavily_without_a_key_is_asked_only_if_the_operator_wants(
    services: Services, http: Http, context: ToolContext
) -> None:
    """Then within its limits; when these are reached Wikipedia stands in."""
    keyless = tool(services, http, tavily_keyless=True)
    data = await search(keyless, context)
    assert (data["source"], services.asked) == ("Tavily", ["tavily"])
    services.tavily.keyless = False
    data = await search(keyless, context, "other words")
    assert (data["source"], data["failed_before"]) == ("Wikipedia", ["Tavily wants fewer requests."])


async def test_the_same_search_is_asked_once_in_ten_minutes(
    services: Services, http: Http, context: ToolContext
) -> None:
    """For all conversations; another wish is another search, and later it is asked anew. It costs what the service that
    answered takes, and nothing if it was found a moment ago.
    """
    search_tool = tool(services, http, api_key=KEY)

    async def asks(after: timedelta, **more: Any) -> tuple[int, Decimal | None]:
        later = replace(context, now=context.now + after, chat=f"direct:{after}")
        cost = (await search_tool.run(WebSearchArguments(query="lamps", **more), later)).cost_usd
        return len(services.brave.requests), cost

    paid = Decimal("0.005")
    assert [await asks(timedelta(0)), await asks(timedelta(minutes=9))] == [(1, paid), (1, Decimal(0))]
    assert await asks(timedelta(minutes=9), count=1) == (2, paid)
    assert await asks(timedelta(minutes=9), language="de") == (3, paid)
    assert await asks(KEPT_FOR) == (4, paid)


async def test_sites_are_kept_to_and_no_address_comes_twice(
    services: Services, http: Http, context: ToolContext
) -> None:
    """A service may pass over what it does not know; however an address is spelled, the better place counts."""
    search_tool = tool(services, http, tavily_api_key=tavily_server.KEY)
    only = WebSearchArguments(query="x", sites=("https://www.Lamps.example/page",))
    without = WebSearchArguments(query="x", without_sites=("lamps.example",))
    for wish, site in ((only, "lamps.example"), (without, "flags.example")):
        assert [row["site"] for row in (await search_tool.run(wish, context)).data["results"]] == [site]
    row = {"title": "Lamps", "content": "x", "score": 0.5}
    urls = ("https://A.example/x#1", "https://a.example:443/x", "https://b.example")
    services.tavily.results = [row | {"url": url} for url in urls]
    assert [found["url"] for found in (await search(search_tool, context))["results"]] == [urls[0], urls[2]]


async def test_what_no_service_can_do_is_said(services: Services, http: Http, context: ToolContext) -> None:
    """Wikipedia has no news; and with nobody to ask nothing is found."""
    with pytest.raises(Disabled, match="Wikipedia cannot search like that"):
        await tool(services, http).run(WebSearchArguments(query="x", topic="news"), context)
    with pytest.raises(Disabled, match="No search service"):
        await search(tool(services, http, providers="brave"), context)
    assert not services.asked


def test_the_options_say_what_is_passed_over() -> None:
    """Of the services of the order, each with its variable; something is missing only if none of them can be asked."""
    cases: tuple[tuple[dict[str, Any], str | None, set[str]], ...] = (
        ({}, None, {"Brave Search", "Perplexity", "SearXNG", "SerpApi", "Tavily"}),
        ({"api_key": KEY, "tavily_keyless": True}, None, {"Perplexity", "SearXNG", "SerpApi"}),
        ({"providers": "brave,tavily"}, "API_KEY or TAVILY_API_KEY", {"Brave Search", "Tavily"}),
        ({"providers": "wikipedia"}, None, set()),
    )
    for given, missing, unasked in cases:
        options = SearchOptions(**given)
        assert (options.missing_settings(), set(options.idle_services())) == (missing, unasked)
        assert not set(options.seen_by()) & unasked
        assert all(hasattr(options, variable.lower()) for variable in options.idle_services().values())
