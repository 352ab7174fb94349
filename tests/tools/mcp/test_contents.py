"""What servers send, made fit for models: schemas, names of tools, and the words, data and pictures of answers."""

import base64
from typing import Any

import pytest
from mcp_types import CallToolResult
from pydantic import ValidationError

from tests.servers.mcp_server import PNG
from tools.mcp.contents import MAX_PICTURES, MAX_SCHEMA_BYTES, MAX_TEXT_CHARS, UnfitSchema, arguments_of, result_of

PLACE = {
    "title": "placeArguments",
    "type": "object",
    "$schema": "http://json-schema.org/draft-07/schema#",
    "properties": {
        "title": {"title": "Title", "type": "string", "description": "Its name", "minLength": 2},
        "kind": {"enum": ["lamp", "tower"]},
        "near": {"type": "array"},
        "inner": {"$ref": "#/$defs/title"},
    },
    "$defs": {"title": {"type": "object", "properties": {"n": {"type": "integer", "maximum": 9}}}},
    "required": ["title"],
    "additionalProperties": False,
    "oneOf": [{"required": ["kind"]}, {"required": ["near"]}],
}


def test_a_schema_is_shown_without_what_says_nothing_or_is_refused() -> None:
    """Titles go, arguments of that name stay; what vendors refuse at the top is left out; lists have items."""
    shown = arguments_of(PLACE).json_schema()
    kept = {name: PLACE[name] for name in ("type", "$defs", "required", "additionalProperties")}
    properties = {
        "title": {"type": "string", "description": "Its name", "minLength": 2},
        "kind": {"enum": ["lamp", "tower"]},
        "near": {"type": "array", "items": {}},
        "inner": {"$ref": "#/$defs/title"},
    }
    assert shown == kept | {"properties": properties}
    assert arguments_of({}).json_schema() == {"type": "object", "properties": {}}


def test_a_call_is_checked_by_all_of_the_schema() -> None:
    """What is wrong is said in short, with its place; a schema that vendors would refuse is refused."""
    given: dict[str, Any]
    for given, problem in (
        ({"kind": "lamp"}, "'title' is a required property"),
        ({"title": "x", "kind": "lamp"}, "title: 'x' is too short"),
        ({"title": "xy", "near": [], "inner": {"n": 10}}, "inner.n: 10 is greater"),
        ({"title": "xy"}, "is not valid under any"),
        ({"title": "y" * 9000 + "\n", "kind": 3}, "kind: 3"),
    ):
        with pytest.raises(ValidationError) as caught:
            arguments_of(PLACE).model_validate(given)
        [error] = caught.value.errors()
        assert problem in error["msg"]
        assert len(error["msg"]) < 600
    given = {"title": " a b ", "near": [{"model_config": 1, "_x": None}]}
    assert arguments_of(PLACE).model_validate(given).given == given
    with pytest.raises(ValidationError, match="must be an object"):
        arguments_of({}).model_validate([])
    for properties in (
        {"x" * 65: {}},
        {"a b": {}},
        {"x": {"type": "lamp"}},
        {"x": {"$ref": "#anchor"}},
        {"x": {"default": float("nan")}},
        {"x": {"enum": ["\ud800"]}},
        {"x": {"description": "d" * 100, "enum": ["y" * MAX_SCHEMA_BYTES]}},
    ):
        with pytest.raises(UnfitSchema):
            arguments_of({"type": "object", "description": "x", "properties": properties})


def answer(*content: dict[str, Any], **more: Any) -> CallToolResult:
    return CallToolResult.model_validate({"content": content, **more})


def text(words: str) -> dict[str, Any]:
    return {"type": "text", "text": words}


def image(data: bytes, kind: str = "image/png") -> dict[str, Any]:
    return {"type": "image", "data": base64.b64encode(data).decode(), "mimeType": kind}


def test_answers_become_data() -> None:
    """Data without the words that say the same, else the words; and a few pictures, named after the tool."""
    resource = {"type": "resource", "resource": {"uri": "file:///a", "text": "in a file"}}
    link = {"type": "resource_link", "name": "a", "uri": "file:///a"}
    audio = {"type": "audio", "data": "", "mimeType": "audio/wav"}
    table: list[tuple[CallToolResult, dict[str, Any]]] = [
        (answer(), {"text": ""}),
        (answer(text("one"), resource, link), {"text": "one\n\nin a file\n\na: file:///a"}),
        (answer(text("5"), structuredContent={"result": 5}), {"structured": {"result": 5}}),
        (answer(text("short"), structuredContent={"a": "x" * MAX_TEXT_CHARS}), {"text": "short"}),
        (answer(audio, text("heard")), {"text": "heard", "left_out": "1 parts that cannot be passed on"}),
        (answer(image(b"<svg>", "image/svg+xml")), {"text": "", "left_out": "1 parts that cannot be passed on"}),
    ]
    for given, data in table:
        assert result_of(given, tool="t").data == data
    result = result_of(answer(image(PNG), image(b"GIF89a", "image/gif")), tool="lamps_draw")
    assert [(file.name, file.content_type) for file in result.files] == [
        ("lamps_draw-1.png", "image/png"),
        ("lamps_draw-2.gif", "image/gif"),
    ]
    many = result_of(answer(*[image(PNG)] * 9), tool="t")
    assert len(many.files) == MAX_PICTURES
    assert many.data["left_out"].startswith("5 ")
