"""Tools in a turn, all of the real ones: chained, several at once, and with everything outside failing in every way.

The models are the doubles of both vendors behind the real providers; the tools are the catalogue's, made of settings
that lead to doubles on loopback.
"""

import json
import re
from collections.abc import AsyncGenerator, Iterator, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field, replace
from itertools import cycle
from typing import Any

import pytest
from aiohttp import web
from pydantic import SecretStr

from bot.app.wiring import idle_features
from bot.chat.agent import Agent
from bot.chat.journal import Outcome
from bot.clock import SetClock
from bot.media.library import Library
from bot.media.sandbox import Sandbox
from store import Store
from tests.bot.chat.turn_helpers import Desk, Scripted, agent_of, toolbox, turn_settings, unlimited
from tests.bot.models import vendors
from tests.bot.models.vendors import NAMES, Vendor
from tests.invariants import is_sendable
from tests.ledger_sums import paid_rows
from tests.servers.base import Answer, Seen, Server, hang
from tests.servers.script import Heard, call, say
from tests.servers.searxng import SearXNG
from tests.tools.conftest import USER_AGENT, Plenty
from tests.tools.sites import HERE, Names, only_here
from tests.tools.web.test_tool import Site
from tests.waiting import DEADLINE_SECONDS
from tools import CATALOG, Fetcher, Http, Tool, build
from tools.building import alone
from tools.conversion import Convert
from tools.images import ImageGenerate
from tools.markets import market_tools
from tools.search.service import SearchService
from tools.wikipedia import Wikipedia
from tools.x import TwitterSearch

SETTINGS = turn_settings(max_rounds=12, max_calls_per_round=64)
SECRET = "words of the service"


@dataclass
class Table:
    """One conversation with a model's double, and the catalogue's tools."""

    desk: Desk
    agent: Agent

    async def outcome(self, text: str) -> Outcome:
        """A whole turn, kept."""
        turn = await self.desk.loaded(text)
        outcome = await self.agent.answer(turn, self.desk.turns.journal(turn), self.desk.watch)
        assert isinstance(outcome, Outcome)
        await self.desk.turns.keep(turn, outcome)
        return outcome


def asking(http: Http, given: Mapping[str, Any], url: str, timeout_seconds: float = DEADLINE_SECONDS) -> Iterator[Tool]:
    """The tools whose services no setting names, with what stands in for those."""
    yield Convert(http, rates_url=url, timeout_seconds=timeout_seconds)
    yield Wikipedia(http, base_url=url, timeout_seconds=timeout_seconds)
    yield from market_tools(http, base_url=url, timeout_seconds=timeout_seconds)
    if "images" in given:
        yield ImageGenerate(given["images"], http, timeout_seconds=timeout_seconds)
    if "twitter" in given:
        search = SearchService(given["web_search"], http)
        yield TwitterSearch(given["twitter"], http, Plenty(), search, base_url=url, timeout_seconds=timeout_seconds)


@asynccontextmanager
async def table(
    store: Store, clock: SetClock, vendor: Vendor, site: Server, options: Mapping[str, Mapping[str, Any]], **box: Any
) -> AsyncGenerator[Table]:
    """`options` are the settings of groups of tools; `site.example` is what the web consists of."""
    given = {name: CATALOG[name].options.model_validate(values) for name, values in options.items()}
    async with AsyncExitStack() as stack:
        http = await stack.enter_async_context(Http(USER_AGENT))
        names = Names({"site.example": [[HERE]]})
        fetcher = Fetcher(USER_AGENT, reach=only_here(site.port), resolve=names)
        await stack.enter_async_context(fetcher)
        tools = build(given, replace(alone(http, fetcher, idle_features()), papers=Library(Sandbox())))
        here = {tool.spec.name: tool for tool in asking(http, given, site.url, **box)}
        tools = [here.get(tool.spec.name, tool) for tool in tools]
        agent = agent_of(vendor.provider, toolbox(clock, *tools, **box), unlimited(store, clock), settings=SETTINGS)
        yield Table(Desk(store, clock, Scripted([])), agent)


@pytest.fixture(params=NAMES)
async def vendor(request: pytest.FixtureRequest) -> AsyncGenerator[Vendor]:
    async with vendors.opened(request.param) as opened:
        yield opened


def data_of(answer: str) -> Any:
    return json.loads(answer)["untrusted_data"]


def thinking(heard: Heard) -> Any:
    """A model that goes from what it found to what it read to what it reckons, by what the tools told it."""
    match heard.answers:
        case ():
            return say("I look it up.") + call("web_search", {"query": "lamp flashes"})
        case (found,):
            return call("web_fetch", {"url": data_of(found)["results"][0]["url"]})
        case (_, page):
            flashes = re.findall(r"(\d+) flashes", data_of(page)["text"])
            return call("calculate", {"expression": f"{flashes[0]} * 60"})
        case (found, _, reckoned):
            number = data_of(found)["results"][0]["number"]
            return say(f"It flashes {data_of(reckoned)['result']} times [{number}].")
        case _:
            raise AssertionError(heard.answers)


async def test_a_search_a_page_and_a_sum_are_chained(store: Store, clock: SetClock, vendor: Vendor) -> None:
    """Each step is made of what the one before it brought, over every vendor's wire; the answer names its source."""
    async with Site() as site, SearXNG() as searxng:
        found = site.url_of("/lamp")
        site.pages["/lamp"] = ("text/html", "<title>Lamp</title><p>The lamp makes 17 flashes a minute.")
        searxng.results = [{"url": found, "title": "Lamp", "content": "How it flashes."}]
        vendor.server.reply = thinking
        options = {"web_search": {"searxng_base_url": searxng.url}}
        async with table(store, clock, vendor, site, options) as there:
            outcome = await there.outcome("How often does the lamp flash in an hour?")
    assert outcome.text == f"It flashes 1020 times [1].\n\n[1] {found}"
    tools = ("web_search", "web_fetch", "calculate")
    assert [row[:2] for row in await paid_rows(store) if row[0] in tools] == [
        ("web_search", "ok"),
        ("web_fetch", "ok"),
        ("calculate", "ok"),
    ]
    assert is_sendable(outcome.messages)
    assert len(vendor.server.requests) == 4


@dataclass
class Outside(Server):
    """Everything that tools ask, on one address, failing in one way."""

    failure: Answer = field(default=hang)

    def respond(self, seen: Seen, request: web.Request) -> Any:
        return self.failure(seen)


def raw(body: bytes, status: int = 200, content_type: str = "application/json") -> Answer:
    return lambda _: web.Response(body=body, status=status, content_type=content_type)


FAILURES: Mapping[str, tuple[Answer, set[str]]] = {
    "silence": (hang, {"timeout", "unknown_outcome"}),
    "an error": (raw(json.dumps({"error": SECRET}).encode(), 500), {"unavailable"}),
    "a refusal": (raw(json.dumps({"error": {"message": SECRET}}).encode(), 403), {"disabled", "denied", "unavailable"}),
    "too many": (raw(SECRET.encode(), 429, "text/plain"), {"rate_limited", "unavailable"}),
    "garbage": (
        raw(b"\x00\xff" + SECRET.encode(), 200, "application/octet-stream"),
        {"unavailable", "invalid_arguments"},
    ),
    "too large": (raw(b'"' + b"x" * 16_000_000 + b'"'), {"too_large"}),
    "nobody": (raw(b""), {"unavailable"}),
}
"""What everything outside does, and the errors that may come of it."""


def settings(outside: Server) -> Mapping[str, Mapping[str, Any]]:
    """Settings by which all that is asked outside is asked there, as far as a setting says it."""
    here = outside.url
    return {
        "weather": {"base_url": here, "geocoding_base_url": here},
        "web_search": {"searxng_base_url": here, "providers": "searxng"},
        "images": {"base_url": here},
        "twitter": {"bearer_token": SecretStr("token")},
    }


def every_tool(outside: Server) -> Mapping[str, Mapping[str, Any]]:
    """A call of each tool that asks somebody outside, and has nothing to say when nobody answers."""
    return {
        "get_weather": {"place": "Utopia"},
        "convert": {"amount": 5, "unit": "EUR", "to": "USD"},
        "web_search": {"query": "lamps"},
        "twitter_search": {"query": "lamp"},
        "wikipedia": {"article": "Aldis lamp"},
        "market_search": {"query": "lamp"},
        "market_get": {"market": "polymarket:lamp-2028"},
        "web_fetch": {"url": f"http://site.example:{outside.port}/"},
        "image_generate": {"prompt": "a lamp"},
    }


@pytest.mark.parametrize(("way", "kind"), [*zip(FAILURES, cycle(("anthropic", "responses")))])
async def test_whatever_fails_the_turn_is_answered(store: Store, clock: SetClock, way: str, kind: str) -> None:
    """All tools at once, each failing in that way: the model is told of each in the order asked, by a kind of error and
    in no word of the service, and what it then says is the answer.
    """
    failure, errors = FAILURES[way]
    heard: list[Heard] = []
    async with vendors.opened(kind) as vendor, Outside(failure=failure) as outside:
        if way == "nobody":
            await outside.stop()
        asked = [call(name, arguments) for name, arguments in every_tool(outside).items()]
        vendor.server.scripted(sum(asked[1:], asked[0]))
        vendor.server.reply = lambda told: heard.append(told) or say("I could not find out.")
        seconds = 0.3 if failure is hang else DEADLINE_SECONDS
        options = settings(outside)
        async with table(store, clock, vendor, outside, options, timeout_seconds=seconds) as there:
            outcome = await there.outcome(f"Tell me of http://site.example:{outside.port}/")
        assert (outcome.text, outcome.ok) == ("I could not find out.", True)
        rows = [row[0] for row in await paid_rows(store)]
        assert set(every_tool(outside)) <= set(rows)
    answers = [json.loads(answer) for answer in heard[0].answers]
    told = dict(zip(every_tool(outside), answers, strict=True))
    wrong = {name: answer for name, answer in told.items() if answer["ok"] or answer["error"] not in errors}
    assert not wrong
    assert SECRET not in str(answers)
    assert is_sendable(outcome.messages)
