"""Schemas of strangers: shown as vendors take them, and calls are checked by them."""

from typing import Any

import pytest
from pydantic import ValidationError

from tools.mcp.contents import MAX_SCHEMA_BYTES, UnfitSchema, arguments_of

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
    """What is wrong is said in short, with its place; what fits is kept as it came. A schema that cannot be made fit is
    refused: a vendor that refuses one tool refuses the whole question.
    """
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
