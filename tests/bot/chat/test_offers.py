"""What models are told of the tools: little, and enough."""

import json
from collections.abc import Iterator
from contextlib import aclosing
from dataclasses import replace
from decimal import Decimal
from typing import Any, Literal, cast

import pytest

from bot.app.tools import own_tools
from bot.chat.journal import Pause
from bot.chat.offers import UseTool, UseToolArguments, line_of, offer, offers_of
from bot.clock import SetClock
from bot.messages import UserMessage
from bot.models import tool_list, wire
from bot.models.base import Request, ToolOffer
from bot.settings import load_settings
from store import Store
from tests.bot.chat import turn_helpers
from tests.bot.chat.turn_helpers import Desk, Echo, toolbox
from tests.bot.models.vendors import NAMES, provider_of, server_of
from tests.campaigns.bench import bill
from tests.conftest import NOON
from tests.servers.anthropic import AnthropicServer
from tests.servers.openai import OpenAIServer
from tests.servers.script import Heard, Scripted, call, say
from tests.surroundings import standalone_deps
from tools import CATALOG, Arguments, ToolSpec, build

OPEN = {"type": "object", "properties": {}, "additionalProperties": True}
MAP = {"type": "object", "properties": {}, "additionalProperties": {"type": "number"}}

MAX_TOKENS = 600
"""Of the tools in every request; four bytes of JSON count as one.

With 660 ten turns of talk on Claude cost 1.3 times those without tools (`bill.MAX_TIMES`). A new line takes about ten.
"""

STORY: dict[str, dict[str, Any]] = {
    "predict": {"statement": "It rains in Oslo.", "probability": 0.7, "due": "2030-01-01"},
    "resolve_prediction": {"number": 1, "outcome": "came_true"},
    "list_predictions": {},
    "calibration_stats": {},
    "remind": {"action": "set", "text": "Look.", "delay_seconds": 600},
    "current_time": {"timezone": "Asia/Tokyo"},
    "convert": {"amount": 5, "unit": "miles", "to": "km"},
    "calculate": {"expression": "17 * 23"},
}
"""Tools that need no one outside, in an order in which no one has to be asked."""


class Wanted(Arguments):
    """What a tool of a server takes."""

    rare = frozenset({"depth"})
    kind: Literal["a", "b"]
    about: str
    depth: int = 1
    count: int = 1


async def _offers() -> tuple[ToolOffer, ...]:
    settings = load_settings({}, None)
    async with standalone_deps(None) as around:
        return await toolbox(SetClock(NOON), *own_tools(settings, around)).offers()


def _request(offers: tuple[ToolOffer, ...]) -> Request:
    request = Request(
        system="",
        messages=(UserMessage(text="Hello."),),
        tools=offers,
        may_call_tools=True,
        max_output_tokens=100,
        timeout_seconds=10,
        conversation="c1",
    )
    return tool_list.with_list(request)


async def test_the_tools_of_every_request_are_small() -> None:
    """All that is on by default, as it goes out: each has its line, so that none is lost."""
    offers = await _offers()
    [listed] = _request(offers).tools
    shown = {"name": listed.name, "description": listed.description, "input_schema": wire.schema_of(listed)}
    assert len(json.dumps(shown, ensure_ascii=False, separators=(",", ":")).encode()) / 4 <= MAX_TOKENS
    names = {offer.name for offer in offers} - {listed.name}
    assert names >= STORY.keys()
    assert all(f"\n{name}(" in listed.description for name in names)
    # What a grammar of llama-cpp-python 0.3.36 takes any values for (findings/an-open-object-holds-objects-...).
    assert json.loads(json.dumps(listed.parameters))["properties"]["arguments"] == {"type": "object"}


class Anywhere(Arguments):
    """Takes nothing that is needed."""

    book: str = ""
    page: int = 1


class Long(Wanted):
    """Takes what a line has no room for."""

    the_book_in_which_it_stands: str
    the_page_of_that_book: int


def test_a_line_says_what_a_call_needs() -> None:
    """Usual arguments, with the choices of one that is needed; of many, that one asks; what it is for, and its cost."""
    spec = ToolSpec(name="find", description="Finds a word. In all books.", arguments=Wanted)
    for changes, line in (
        ({}, "find(kind: a|b, about, count?, ...): Finds a word"),
        ({"seldom": "words"}, "find(kind: a|b, about, ...): words"),
        (
            {"cost_usd": Decimal("0.150")},
            "find(kind: a|b, about, count?, ...): Finds a word (0.15 US dollars)",
        ),
        ({"arguments": UseToolArguments}, "find(tool, arguments?): Finds a word"),
        ({"arguments": Anywhere, "seldom": "words"}, "find(book?, ...): words"),
        ({"arguments": Arguments}, "find(): Finds a word"),
        ({"arguments": Long}, "find(ask first): Finds a word"),
        (
            {"description": "So many\nwords " * 99},
            f"find(kind: a|b, about, count?, ...): {'So many words ' * 8}So many",
        ),
    ):
        assert line_of(replace(spec, **changes)).line.startswith(line)


def test_a_few_tools_are_described_in_full() -> None:
    """A list of three would cost as much, and small models call what is described more surely."""
    specs = [ToolSpec(name=name, description="Finds.", arguments=Wanted) for name in "abcd"]
    assert offers_of([*specs[:3], UseTool.spec]) == tuple(map(offer, specs[:3]))
    assert [bool(one.line) for one in offers_of([*specs, UseTool.spec])] == [True, True, True, True, False]


async def test_every_schema_is_one_that_all_servers_take() -> None:
    """Each object names its properties, `use_tool` included; an open one says that any may be given."""

    def objects(schema: Any) -> Iterator[dict[str, Any]]:
        if isinstance(schema, dict):
            yield from [schema] if schema.get("type") == "object" else []
            schema = [*schema.values()]
        for within in schema if isinstance(schema, list) else ():
            yield from objects(within)

    async with standalone_deps(None) as around:
        options = {name: entry.options.model_validate(entry.example) for name, entry in CATALOG.items()}
        offers = [*await _offers(), *(offer(tool.spec) for tool in build(options, around))]
    found = [one for each in offers for one in objects(wire.schema_of(each))]
    assert len(found) > len(offers)
    assert all(isinstance(one.get("properties"), dict) for one in found)
    [more] = [each for each in offers if each.name == tool_list.NAME]
    arguments = cast("dict[str, Any]", wire.schema_of(more)["properties"])["arguments"]
    assert (arguments["properties"], arguments["additionalProperties"]) == ({}, True)


def test_an_open_object_says_so() -> None:
    """At any depth; what is said already stays."""
    for given, sent in (
        ({}, {"type": "object", "properties": {}}),
        ({"properties": {"a": {"type": "object"}}}, {"properties": {"a": OPEN}}),  # pydantic/pydantic-ai#3654
        ({"properties": {"a": {"type": "object", "properties": {}}}}, {"properties": {"a": OPEN}}),
        ({"properties": {"a": {"items": {"type": "object"}}}}, {"properties": {"a": {"items": OPEN}}}),
        ({"properties": {"a": {"anyOf": [{"type": "object"}, {}]}}}, {"properties": {"a": {"anyOf": [OPEN, {}]}}}),
        ({"$defs": {"D": {"type": ["object", "null"]}}}, {"$defs": {"D": {**OPEN, "type": ["object", "null"]}}}),
        # A map of numbers, and a property that is called as a keyword.
        ({"properties": {"a": MAP}}, {"properties": {"a": MAP}}),
        (
            {"properties": {"items": {"default": {"type": "object"}}}},
            {"properties": {"items": {"default": {"type": "object"}}}},
        ),
    ):
        offer = ToolOffer(name="f", description="", parameters=given)
        assert wire.schema_of(offer) == {"type": "object", "properties": {}, **sent}


@pytest.mark.parametrize("wire", bill.WIRES)
async def test_tools_of_the_list_are_asked_about_and_called_on_every_wire(wire: bill.Wire) -> None:
    """A story with many: the model asks what each takes, calls it wrongly, reads once how, and calls it as it is."""
    server = AnthropicServer() if wire == "anthropic" else OpenAIServer()
    heard_answers: dict[str, list[dict[str, Any]]] = {}

    def reply(heard: Heard) -> Scripted:
        tool = heard.text.split()[-1]
        assert heard.tools == (tool_list.NAME,)
        given = ({}, {"arguments": {"nonsense": 1}}, {"arguments": {"nonsense": 2}}, {"arguments": STORY[tool]})
        if len(heard.answers) < len(given):
            return call(tool_list.NAME, {"tool": tool, **given[len(heard.answers)]})
        heard_answers[tool] = [json.loads(answer) for answer in heard.answers]
        return say(f"That was {tool}.")

    server.reply = reply
    async with server, bill.at_work(wire, server) as pier:
        for tool in STORY:
            assert await pier.ask("ann", f"Please predict, or whatever it is: use {tool}") == f"That was {tool}."
    assert server.refused == []
    for tool, (described, refused, again, done) in heard_answers.items():
        assert described["untrusted_data"]["tool"] == tool
        assert refused["error"] == "invalid_arguments"
        assert refused["tool"] == described["untrusted_data"]
        assert again == {key: said for key, said in refused.items() if key != "tool"}
        assert done["ok"] is True, (tool, done)
    assert heard_answers.keys() == STORY.keys()


@pytest.mark.parametrize("vendor", NAMES)
async def test_the_list_is_no_way_around_a_question(store: Store, clock: SetClock, vendor: str) -> None:
    """What strangers' words lead to waits for a yes, however it is called: the question is about the tool itself."""
    look, post = Echo(name="look"), Echo(name="post", effects="once")
    async with server_of(vendor) as server, aclosing(provider_of(vendor, server)) as provider:
        desk = Desk(store, clock, cast("turn_helpers.Scripted", provider), (look, post, Echo(name="a"), Echo(name="b")))
        server.scripted(call("look", {"word": "page"}), call("post", {"word": "the secret"}))
        pause = await desk.agent.answer(desk.turns.journal(await desk.loaded(), desk.watch))
        assert b"post(word, ...): Gives back a word" in server.requests[0].body
        assert server.refused == []
    assert isinstance(pause, Pause)
    assert [(one.name, one.arguments) for one in pause.calls] == [("post", {"word": "the secret"})]
    assert (look.ran, post.ran) == (["page"], [])
