"""Searching: each service by itself, and one standing in for the other."""

import logging
from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack
from dataclasses import dataclass
from typing import Any

import pytest
from aiohttp import web
from pydantic import SecretStr, ValidationError

from tests.servers import brave as brave_server
from tests.servers import searxng as searxng_server
from tests.servers import wikipedia as wikipedia_server
from tests.servers.base import Seen, Server, answer_json, hang
from tools import (
    BadArguments,
    Disabled,
    Http,
    RateLimited,
    TimedOut,
    TooLarge,
    ToolContext,
    ToolError,
    Unavailable,
)
from tools.search.base import Hit, SearchBackend, hit, trimmed
from tools.search.brave import Brave
from tools.search.searxng import SearXNG
from tools.search.wikipedia import Wikipedia
from tools.web_search import WebSearch, WebSearchArguments, WebSearchOptions

KEY = brave_server.KEY
LIMITS = ("X-RateLimit-Limit", "X-RateLimit-Remaining", "X-RateLimit-Reset")


@dataclass
class Services:
    """The three services, running."""

    brave: brave_server.Brave
    searxng: searxng_server.SearXNG
    wikipedia: wikipedia_server.Wikipedia


@pytest.fixture
async def services() -> AsyncIterator[Services]:
    async with AsyncExitStack() as stack:
        yield Services(
            await stack.enter_async_context(brave_server.Brave()),
            await stack.enter_async_context(searxng_server.SearXNG()),
            await stack.enter_async_context(wikipedia_server.Wikipedia()),
        )


def brave(services: Services, http: Http, key: str = KEY, **more: Any) -> Brave:
    given: dict[str, Any] = {"timeout_seconds": 5.0, "interval_seconds": 0.0}
    return Brave(http=http, base_url=services.brave.url + "/res/v1", api_key=SecretStr(key), **(given | more))


def searxng(services: Services, http: Http, timeout_seconds: float = 5.0) -> SearXNG:
    return SearXNG(http=http, base_url=services.searxng.url, timeout_seconds=timeout_seconds)


def wikipedia(services: Services, http: Http, timeout_seconds: float = 5.0) -> Wikipedia:
    url = services.wikipedia.url + "/{language}"
    return Wikipedia(http=http, base_url=url, language="de", timeout_seconds=timeout_seconds)


def tool(services: Services, http: Http, **options: Any) -> WebSearch:
    urls: dict[str, Any] = {
        "base_url": services.brave.url + "/res/v1",
        "wikipedia_base_url": services.wikipedia.url,
        "timeout_seconds": 5.0,
    }
    return WebSearch(WebSearchOptions(**(urls | options)), http)


def limits(*figures: str) -> dict[str, str]:
    """Brave's rate headers: limit, remaining, reset."""
    return dict(zip(LIMITS, figures, strict=True))


@dataclass
class Backend:
    """One of the services: its client, made with a deadline, and its server."""

    within: Callable[[float], SearchBackend]
    server: Server

    async def search(self, query: str, count: int) -> tuple[Hit, ...]:
        return await self.within(5.0).search(query, count)


@pytest.fixture(params=["brave", "searxng", "wikipedia"])
def any_backend(request: pytest.FixtureRequest, services: Services, http: Http) -> Backend:
    backends = {
        "brave": Backend(lambda seconds: brave(services, http, timeout_seconds=seconds), services.brave),
        "searxng": Backend(lambda seconds: searxng(services, http, seconds), services.searxng),
        "wikipedia": Backend(lambda seconds: wikipedia(services, http, seconds), services.wikipedia),
    }
    return backends[request.param]


async def test_every_service_gives_plain_hits_of_web_addresses(any_backend: Backend) -> None:
    """No tags, no entities, no invisible characters, no address that is none of the web, never too many."""
    hits = await any_backend.search("lamps", 2)
    assert 1 <= len(hits) <= 2
    for found in hits:
        assert found.url.startswith(("http://", "https://"))
        assert not set("<>\u202e") & set(found.title + found.snippet)
        assert found.site in found.url
        assert found.title


async def test_every_service_takes_a_query_of_any_length(any_backend: Backend) -> None:
    """It is cut to what the service allows, behind a word."""
    assert await any_backend.search("lamp " * 100, 20)
    assert await any_backend.search("l" * 500, 1)


async def internal_error(_: Seen) -> web.StreamResponse:
    return web.Response(status=500, text="oops")


async def page(_: Seen) -> web.StreamResponse:
    return web.Response(text="<html>log in</html>", content_type="text/html")


async def flood(_: Seen) -> web.StreamResponse:
    return web.Response(body=b" " * 3_000_000, content_type="application/json")


@pytest.mark.parametrize(
    ("fault", "kind"),
    [
        (internal_error, Unavailable),
        (page, Unavailable),
        (answer_json(["no", "object"]), Unavailable),
        (answer_json({"results": 5, "web": 5, "query": 5}), Unavailable),
        (flood, TooLarge),
        (answer_json({}, status=429, headers={"Retry-After": "99", **limits("0", "0", "0")}), RateLimited),
    ],
)
async def test_every_service_fails_in_its_kinds_only(any_backend: Backend, fault: Any, kind: type[ToolError]) -> None:
    """So that another can stand in."""
    any_backend.server.faults += [fault, fault]
    with pytest.raises(kind):
        await any_backend.search("lamps", 3)


async def test_every_service_has_a_deadline(any_backend: Backend) -> None:
    """One that hangs is told from one that fails."""
    any_backend.server.faults.append(hang)
    with pytest.raises(TimedOut):
        await any_backend.within(0.05).search("lamps", 3)


async def test_every_service_may_find_nothing(services: Services, http: Http) -> None:
    """Each says so in its own way; none of them is an error."""
    services.brave.pages, services.searxng.results, services.wikipedia.articles = [], [], []
    for backend in (brave(services, http), searxng(services, http), wikipedia(services, http)):
        assert await backend.search("lamps", 3) == ()


async def test_brave_is_asked_with_the_key_in_a_header(services: Services, http: Http) -> None:
    """And its hits keep the age where it is known."""
    hits = await brave(services, http).search("signal lamps", 4)
    (seen,) = services.brave.requests
    assert seen.headers["x-subscription-token"] == KEY
    assert seen.query["q"] == "signal lamps"
    assert [(found.title, found.site, found.age) for found in hits] == [
        ("Lamps & Signals", "lamps.example", "2 days ago"),
        ("No age", "plain.example", "2026-01-02T03:04:05"),
        ("Third", "third.example", None),
    ]
    assert hits[0].snippet == 'How a lamp talks "across" the sea.'


@pytest.mark.parametrize(
    ("fault", "kind", "words"),
    [
        (brave_server.refused(422, "SUBSCRIPTION_TOKEN_INVALID"), Disabled, "TOOLS__WEB_SEARCH__API_KEY"),
        (brave_server.refused_as_documented(404, "SUBSCRIPTION_NOT_FOUND"), Disabled, "TOOLS__WEB_SEARCH__API_KEY"),
        (brave_server.refused(403, "FORBIDDEN"), Disabled, "TOOLS__WEB_SEARCH__API_KEY"),
        (brave_server.refused(429, "QUOTA_LIMITED"), RateLimited, "quota"),
        (brave_server.refused_as_documented(429, "QUOTA_LIMITED"), RateLimited, "quota"),
        (brave_server.refused(422, "VALIDATION"), Unavailable, "invalid"),
        (brave_server.refused(500, "INTERNAL"), Unavailable, "status 500"),
    ],
)
async def test_brave_s_refusals_are_told_by_their_code(
    services: Services, http: Http, fault: web.StreamResponse, kind: type[ToolError], words: str
) -> None:
    """In both shapes; a spent quota is not asked again."""
    services.brave.faults.append(lambda _: fault)
    with pytest.raises(kind, match=words):
        await brave(services, http).search("lamps", 3)
    assert len(services.brave.requests) == 1


async def test_brave_refuses_a_wrong_key_with_its_own_words(services: Services, http: Http) -> None:
    """The key is not in the error."""
    with pytest.raises(Disabled) as caught:
        await brave(services, http, "wrong-key").search("lamps", 3)
    assert "wrong-key" not in repr(caught.value)


async def test_brave_is_asked_once_more_when_we_were_too_fast(services: Services, http: Http) -> None:
    """After the short window has opened again, whatever the month's window says."""
    headers = limits("1, 0", "0, 0", "0, 1419704")
    services.brave.faults.append(lambda _: brave_server.refused(429, "RATE_LIMITED", headers=headers))
    assert await brave(services, http).search("lamps", 3)
    assert len(services.brave.requests) == 2


async def test_brave_requests_of_one_key_keep_their_distance(services: Services, http: Http) -> None:
    """The second waits for its turn, longer than it has time for: it is told so, and Brave not asked."""
    backend = brave(services, http, interval_seconds=60.0)
    services.brave.limits = {}
    await backend.search("lamps", 3)
    backend._timeout_seconds = 0.05
    with pytest.raises(TimedOut):
        await backend.search("lamps", 3)
    assert len(services.brave.requests) == 1


async def test_a_window_that_is_used_up_holds_the_next_request(services: Services, http: Http) -> None:
    """Brave said how long; the next request would be refused before."""
    services.brave.limits = limits("1", "0", "4")
    backend = brave(services, http)
    await backend.search("lamps", 3)
    backend._timeout_seconds = 0.05
    with pytest.raises(TimedOut):
        await backend.search("lamps", 3)
    assert len(services.brave.requests) == 1


@pytest.mark.parametrize(
    "headers",
    [
        limits("50, 0", "49, 0", "1, 1419704"),
        limits("50, 15000", "49, 0", "1, 1419704"),
        {},
        limits("x", "", "nan,"),
        {LIMITS[0]: "5"},
    ],
)
async def test_a_window_of_a_month_or_of_nothing_holds_nobody(
    services: Services, http: Http, headers: dict[str, str]
) -> None:
    """A zero limit means none, a month's is for Brave to enforce, and nonsense is passed over."""
    services.brave.limits = headers
    backend = brave(services, http)
    for _ in range(3):
        assert await backend.search("lamps", 3)


async def test_brave_s_own_pace_is_learned(services: Services, http: Http) -> None:
    """It replaces the slow one that was assumed: the second request does not wait for a minute."""
    services.brave.limits = limits("50, 0", "49, 0", "1, 1419704")
    backend = brave(services, http, interval_seconds=60.0)
    await backend.search("lamps", 3)
    await backend.search("lamps", 3)
    assert len(services.brave.requests) == 2


async def test_searxng_without_json_is_the_operator_s_matter(services: Services, http: Http) -> None:
    """The default settings of SearXNG answer 403."""
    services.searxng.formats = ("html",)
    with pytest.raises(Disabled, match=r"search\.formats"):
        await searxng(services, http).search("lamps", 3)


async def test_searxng_whose_engines_are_silent_has_not_searched(services: Services, http: Http) -> None:
    """Nothing found by nobody is no result; found in spite of some it is."""
    services.searxng.silent = [["one", "CAPTCHA"]]
    assert [found.age for found in await searxng(services, http).search("lamps", 5)] == ["2026-10-09", None]
    services.searxng.results = []
    with pytest.raises(Unavailable, match="engines"):
        await searxng(services, http).search("lamps", 3)


async def test_wikipedia_gives_the_beginning_of_articles_in_order(services: Services, http: Http) -> None:
    """The language stands in the address, who asks in a header; an article without text is a hit too."""
    hits = await wikipedia(services, http).search("signal lamp", 3)
    (seen,) = services.wikipedia.requests
    assert seen.path == "/de/w/api.php"
    assert [found.title for found in hits] == ["Aldis lamp", "Heliograph", "Semaphore"]
    assert len(hits[0].snippet) <= 300
    assert hits[0].snippet.endswith("…")
    assert hits[2].snippet == ""


async def test_wikipedia_s_addresses_are_checked_too(services: Services, http: Http) -> None:
    """A mirror may be set in its place, and send anything."""
    page = {"title": "x", "fullurl": "javascript:alert(1)"}
    services.wikipedia.faults.append(answer_json({"query": {"pages": [page]}}))
    assert await wikipedia(services, http).search("lamps", 3) == ()


@pytest.mark.parametrize(
    ("code", "kind"), [("ratelimited", RateLimited), ("maxlag", RateLimited), ("badvalue", Unavailable)]
)
async def test_wikipedia_s_errors_come_with_a_success(
    services: Services, http: Http, code: str, kind: type[ToolError]
) -> None:
    """Status 200, error in the body."""
    services.wikipedia.faults.append(answer_json({"error": {"code": code, "info": "x"}}))
    with pytest.raises(kind):
        await wikipedia(services, http).search("lamps", 3)


async def test_a_client_without_a_name_is_turned_away_by_wikipedia(services: Services) -> None:
    """So the name that `Http` is given matters."""
    async with Http("python-httpx/0.28") as nameless:
        with pytest.raises(Disabled):
            await wikipedia(services, nameless).search("lamps", 3)


@pytest.mark.parametrize(
    "url",
    [
        "javascript:alert(1)",
        "data:text/html,x",
        "ftp://files.example/",
        "//nothing.example/",
        "https://",
        "https://user@bank.example/",
        "https://a b.example/",
        "https://a.example/\u202egpj.exe",
        "http://[half",
        "https://long.example/" + "x" * 2000,
        "",
    ],
)
def test_an_address_that_is_none_makes_no_hit(url: str) -> None:
    """Whatever a service sends, people are given web addresses only, and no disguised ones."""
    assert hit(title="t", url=url, snippet="s") is None


@pytest.mark.parametrize(
    ("query", "max_chars", "max_words", "left"),
    [
        ("a  b\nc", 10, None, "a b c"),
        ("one two three", 9, None, "one two"),
        ("one two three", 7, None, "one two"),
        ("abcdef", 3, None, "abc"),
        ("a b c d", 99, 2, "a b"),
    ],
)
def test_a_query_is_cut_behind_a_word(query: str, max_chars: int, max_words: int | None, left: str) -> None:
    """Unless the first word alone is too long."""
    assert trimmed(query, max_chars=max_chars, max_words=max_words) == left


async def search(
    search_tool: WebSearch, context: ToolContext, query: str = "signal lamps", count: int | None = None
) -> Any:
    return (await search_tool.run(WebSearchArguments(query=query, count=count), context)).data


async def test_results_are_numbered_and_name_their_source(services: Services, http: Http, context: ToolContext) -> None:
    """Title, address, site, age where known, snippet."""
    data = await search(tool(services, http, api_key=KEY), context)
    assert (data["query"], data["source"]) == ("signal lamps", "Brave Search")
    assert "failed_before" not in data
    assert data["results"][0] == {
        "number": 1,
        "title": "Lamps & Signals",
        "url": "https://www.lamps.example/signals?a=1",
        "site": "lamps.example",
        "age": "2 days ago",
        "snippet": 'How a lamp talks "across" the sea.',
    }
    assert [row["number"] for row in data["results"]] == [1, 2, 3]
    assert "age" not in data["results"][2]


async def test_without_any_setting_wikipedia_answers(services: Services, http: Http, context: ToolContext) -> None:
    """And no query goes anywhere else."""
    assert (await search(tool(services, http), context))["source"] == "Wikipedia"
    assert not services.brave.requests + services.searxng.requests


async def test_one_s_own_searxng_is_asked_first(services: Services, http: Http, context: ToolContext) -> None:
    """Then nobody else is."""
    data = await search(tool(services, http, api_key=KEY, searxng_base_url=services.searxng.url), context)
    assert data["source"] == "SearXNG"
    assert not services.brave.requests + services.wikipedia.requests


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


async def test_when_none_answers_every_reason_is_told(services: Services, http: Http, context: ToolContext) -> None:
    """As an error of the kind of the last one."""
    services.wikipedia.faults += [answer_json({"error": {"code": "ratelimited"}})]
    with pytest.raises(RateLimited, match=r"Brave Search refuses the key.*Wikipedia wants fewer"):
        await search(tool(services, http, api_key="wrong"), context)


async def test_no_results_are_said(services: Services, http: Http, context: ToolContext) -> None:
    """It is an answer, not an error, and nobody else is asked."""
    services.brave.pages = []
    data = await search(tool(services, http, api_key=KEY), context)
    assert (data["results"], data["source"]) == ([], "Brave Search")
    assert "Nothing was found" in data["message"]
    assert not services.wikipedia.requests


@pytest.mark.parametrize(("count", "given"), [(None, 2), (1, 1), (9, 2)])
async def test_the_count_is_the_model_s_up_to_the_operator_s(
    services: Services, http: Http, context: ToolContext, count: int | None, given: int
) -> None:
    """More than the setting is never fetched."""
    data = await search(tool(services, http, max_results=2), context, count=count)
    assert len(data["results"]) == given
    assert services.wikipedia.requests[0].query["gsrlimit"] == str(given)


async def test_the_query_is_cleaned(services: Services, http: Http, context: ToolContext) -> None:
    """What nobody sees is not sent; what is nothing then is refused."""
    await search(tool(services, http), context, "  lamps\u202e\U000e0041\n\x00 and flags ")
    assert services.wikipedia.requests[0].query["gsrsearch"] == "lamps and flags"
    with pytest.raises(BadArguments, match="empty"):
        await search(tool(services, http), context, "\u200b")


@pytest.mark.parametrize(
    "arguments", [{"query": ""}, {"query": "x" * 501}, {"query": "x", "count": 0}, {"query": "x", "count": 21}, {}]
)
def test_arguments_out_of_bounds_are_refused(arguments: dict[str, Any]) -> None:
    """At most 500 characters, 1 to 20 results."""
    with pytest.raises(ValidationError):
        WebSearchArguments(**arguments)
