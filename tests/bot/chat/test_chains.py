"""Tools in a turn, real ones, chained: the models are the doubles of the vendors behind the real providers."""

import json
import re
from collections.abc import AsyncGenerator
from contextlib import AsyncExitStack
from dataclasses import replace
from typing import Any

import pytest

from bot.app.wiring import idle_features
from bot.chat.journal import Outcome
from bot.clock import SetClock
from bot.media.library import Library
from bot.media.sandbox import Sandbox
from store import Store
from tests.bot.chat.turn_helpers import Desk, Scripted, agent_of, toolbox, unlimited
from tests.bot.models import vendors
from tests.bot.models.vendors import NAMES, Vendor
from tests.invariants import is_sendable
from tests.ledger_sums import paid_rows
from tests.servers.script import Heard, call, say
from tests.servers.searxng import SearXNG
from tests.tools.conftest import USER_AGENT
from tests.tools.sites import HERE, Names, Site, answer_bytes, only_here
from tools import CATALOG, Fetcher, Http, build
from tools.building import alone


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
    vendor.server.reply = thinking
    async with AsyncExitStack() as stack:
        site, searxng = await stack.enter_async_context(Site()), await stack.enter_async_context(SearXNG())
        found = site.url_of("/lamp")
        site.answers["/lamp"] = answer_bytes("<title>Lamp</title><p>The lamp makes 17 flashes a minute.")
        searxng.results = [{"url": found, "title": "Lamp", "content": "How it flashes."}]
        http = await stack.enter_async_context(Http(USER_AGENT))
        fetcher = Fetcher(USER_AGENT, reach=only_here(site.port), resolve=Names({"site.example": [[HERE]]}))
        around = alone(http, await stack.enter_async_context(fetcher), idle_features())
        options = {"web_search": CATALOG["web_search"].options.model_validate({"searxng_base_url": searxng.url})}
        tools = build(options, replace(around, papers=Library(Sandbox())))
        desk = Desk(store, clock, Scripted([]))
        agent = agent_of(vendor.provider, toolbox(clock, *tools), unlimited(store, clock))
        turn = await desk.loaded("How often does the lamp flash in an hour?")
        outcome = await agent.answer(turn, desk.turns.journal(turn), desk.watch)
        assert isinstance(outcome, Outcome)
        await desk.turns.keep(turn, outcome)
    assert outcome.text == f"It flashes 1020 times [1].\n\n[1] {found}"
    used = ("web_search", "web_fetch", "calculate")
    assert [row[:2] for row in await paid_rows(store) if row[0] in used] == [(name, "ok") for name in used]
    assert is_sendable(outcome.messages)
    assert len(vendor.server.requests) == 4
