"""Calls under the names that models and people have for tools and arguments: what is meant is what runs."""

from typing import Any

import pytest

from bot.app.wiring import idle_features
from bot.clock import SetClock
from bot.messages import CallId, ToolCall
from store import Store
from tests.bot.chat.turn_helpers import Desk, Echo, Scripted, calls, says, toolbox
from tests.conftest import NOON
from tools import CATALOG, build
from tools.building import alone
from tools.http import Http
from tools.web.fetch import Fetcher


@pytest.fixture
async def tools() -> Any:
    options = {name: entry.options() for name, entry in CATALOG.items()}
    async with Http("test") as http, Fetcher("test") as fetcher:
        yield {tool.spec.name: tool for tool in build(options, alone(http, fetcher, idle_features()))}


@pytest.mark.parametrize(
    ("name", "given", "meant", "arguments"),
    [
        ("get_weather", {"location": "Oslo"}, "get_weather", {"place": "Oslo"}),
        ("weather", {"city": "Oslo", "days": 2}, "get_weather", {"place": "Oslo", "days": 2}),
        ("get_weather", {"place": "Oslo", "location": "Rome"}, "get_weather", {"place": "Oslo", "location": "Rome"}),
        ("web_search", {"query": "lamps", "limit": 3}, "web_search", {"query": "lamps", "count": 3}),
        ("web_search", {"query": "lamps", "timeout_ms": 500}, "web_search", {"query": "lamps"}),
        ("market_get", {"market_id": "m:1"}, "market_get", {"market": "m:1"}),
        ("calculator", {"a": 2, "b": 3, "operation": "add"}, "calculate", {"expression": "(2) + (3)"}),
        ("calculator", {"a": "1+1", "b": -3, "operation": "*"}, "calculate", {"expression": "(1+1) * (-3)"}),
        ("calculate", {"a": 2, "b": 3, "operation": "exec"}, "calculate", {"a": 2, "b": 3, "operation": "exec"}),
        ("functions.get_weather", {"place": "Oslo"}, "get_weather", {"place": "Oslo"}),
        ("default_api:weather", {"place": "Oslo"}, "get_weather", {"place": "Oslo"}),
        ("calculate<|channel|>commentary", {"expression": "1+1"}, "calculate", {"expression": "1+1"}),
        ("nothing_like_it", {"location": "Oslo"}, "nothing_like_it", {"location": "Oslo"}),
    ],
)
async def test_what_is_meant(
    tools: dict[str, Any], name: str, given: dict[str, object], meant: str, arguments: dict[str, object]
) -> None:
    """Under the tool's own names; what is unclear stays as it was written, and nothing given is overwritten."""
    understood = toolbox(SetClock(NOON), *tools.values()).understood(
        ToolCall(id=CallId("c"), name=name, arguments=given)
    )
    assert (understood.name, dict(understood.arguments)) == (meant, arguments)


@pytest.mark.parametrize(
    ("name", "words", "arguments"),
    [
        ("get_weather", "Oslo", {"place": "Oslo"}),
        ("web_search", '"lamps of ships"', {"query": "lamps of ships"}),
        ("calculate", "17*23", {"expression": "17*23"}),
        ("get_weather", '{"place": ', None),
        ("reminders", "buy a lamp", None),
    ],
)
async def test_plain_words_in_the_place_of_an_object(
    tools: dict[str, Any], name: str, words: str, arguments: dict[str, object] | None
) -> None:
    """`<<tool: words>>`: they are the one text that the tool needs; of a tool that needs more they are no call."""
    call = ToolCall(id=CallId("c"), name=name, arguments={}, malformed=words)
    understood = toolbox(SetClock(NOON), *tools.values()).understood(call)
    if arguments is None:
        assert understood == call
    else:
        assert (understood.malformed, dict(understood.arguments)) == (None, arguments)


async def test_what_is_decided_is_decided_by_what_runs(store: Store, clock: SetClock) -> None:
    """The journal, the history and the tool have the same call: one under another name is the same as the first."""
    tool = Echo(name="web_search")
    script = (calls(("search", {"word": "a"})), calls(("web_search", {"word": "a"})), says("A."))
    there = Desk(store, clock, Scripted([*script]), (tool,))
    outcome = await there.kept()
    assert tool.ran == ["a"]
    called = [call.name for message in outcome.messages if message.role == "assistant" for call in message.calls]
    assert called == ["web_search", "web_search"]
