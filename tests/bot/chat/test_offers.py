"""What models are told of the tools: little, and enough."""

import json
from collections.abc import Iterator
from typing import Any, cast

import pytest

from bot.app.tools import own_tools
from bot.chat.offers import brief, offer
from bot.clock import SetClock
from bot.messages import UserMessage
from bot.models import tool_list, wire
from bot.models.base import Request, ToolOffer
from bot.settings import load_settings
from tests.bot.chat.turn_helpers import toolbox
from tests.campaigns.bench import bill
from tests.conftest import NOON
from tests.servers.anthropic import AnthropicServer
from tests.servers.openai import OpenAIServer
from tests.servers.script import Heard, Scripted, call, say
from tests.surroundings import standalone_deps
from tools import CATALOG, build

OPEN = {"type": "object", "properties": {}, "additionalProperties": True}
MAP = {"type": "object", "properties": {}, "additionalProperties": {"type": "number"}}

MAX_TOKENS = 1800
"""Of the tools in every request; four bytes of JSON count as one, which is more than any vendor counts."""

SELDOM: dict[str, dict[str, Any]] = {
    "predict": {"statement": "It rains in Oslo.", "probability": 0.7, "due": "2030-01-01"},
    "resolve_prediction": {"number": 1, "outcome": "came_true"},
    "list_predictions": {},
    "calibration_stats": {},
    "current_time": {"timezone": "Asia/Tokyo"},
    "convert": {"amount": 5, "unit": "miles", "to": "km"},
}
"""Those that need nobody outside, in an order in which nobody has to be asked."""


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
    return tool_list.defer_tools(request)


async def test_the_tools_of_every_request_are_small() -> None:
    """All that is on by default, as it goes out: each is described or listed, so that none is lost."""
    offers = await _offers()
    told = _request(offers).told_tools
    shown = [{"name": tool.name, "description": tool.description, "input_schema": tool.parameters} for tool in told]
    assert len(json.dumps(shown, ensure_ascii=False, separators=(",", ":")).encode()) / 4 <= MAX_TOKENS
    [more] = [tool for tool in told if tool.name == tool_list.NAME]
    names = {tool.name for tool in told}
    assert all(offer.name in names or f"- {offer.name}(" in more.description for offer in offers)
    assert {offer.name for offer in offers if offer.is_deferred} >= SELDOM.keys()


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


def test_a_schema_says_no_more_than_it_must() -> None:
    """That something may be null says its absence; bounds are checked and told when they are broken."""
    schema = {
        "type": "object",
        "description": "Where.",
        "additionalProperties": False,
        "properties": {
            "place": {
                "anyOf": [{"type": "string", "maxLength": 9}, {"type": "null"}],
                "default": None,
                "description": "P",
            },
            "either": {"anyOf": [{"type": "string"}, {"type": "integer"}]},
            "days": {"type": "integer", "default": 3, "minimum": 1},
            "chart": {"type": "boolean", "default": False},
            "default": {"type": "string", "format": "date"},
            "sites": {"type": "array", "default": [], "items": {"type": "string", "maxLength": 5}},
            "rare": {"type": "string"},
        },
        "required": ["days"],
    }
    assert brief(schema, without=["rare"]) == {
        "type": "object",
        "properties": {
            "place": {"type": "string", "description": "P"},
            "either": {"anyOf": [{"type": "string"}, {"type": "integer"}]},
            "days": {"type": "integer", "default": 3},
            "chart": {"type": "boolean"},
            "default": {"type": "string"},
            "sites": {"type": "array", "items": {"type": "string"}},
        },
        "required": ["days"],
    }


@pytest.mark.parametrize("wire", bill.WIRES)
async def test_seldom_tools_are_looked_up_and_called_on_every_wire(wire: bill.Wire) -> None:
    """A story with all of them: the model asks what each takes, calls it, and is told what came of it."""
    server = AnthropicServer() if wire == "anthropic" else OpenAIServer()
    heard_answers: dict[str, list[dict[str, Any]]] = {}

    def reply(heard: Heard) -> Scripted:
        tool = heard.text.split()[-1]
        assert tool not in heard.tools
        if not heard.answers:
            return call(tool_list.NAME, {"tool": tool})
        if len(heard.answers) == 1:
            return call(tool_list.NAME, {"tool": tool, "arguments": SELDOM[tool]})
        heard_answers[tool] = [json.loads(answer) for answer in heard.answers]
        return say(f"That was {tool}.")

    server.reply = reply
    async with server, bill.at_work(wire, server) as pier:
        for tool in SELDOM:
            assert await pier.ask("ann", f"Please predict, or whatever it is: use {tool}") == f"That was {tool}."
    assert server.refused == []
    for tool, (described, done) in heard_answers.items():
        assert described["untrusted_data"]["tool"] == tool
        assert done["ok"] is True, (tool, done)
    assert heard_answers.keys() == SELDOM.keys()
