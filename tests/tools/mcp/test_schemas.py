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
    assert shown == {
        "type": "object",
        "properties": {
            "title": {"type": "string", "description": "Its name", "minLength": 2},
            "kind": {"enum": ["lamp", "tower"]},
            "near": {"type": "array", "items": {}},
            "inner": {"$ref": "#/$defs/title"},
        },
        "$defs": {"title": {"type": "object", "properties": {"n": {"type": "integer", "maximum": 9}}}},
        "required": ["title"],
        "additionalProperties": False,
    }
    assert arguments_of({}).json_schema() == {"type": "object", "properties": {}}


@pytest.mark.parametrize(
    ("given", "problem"),
    [
        ({"kind": "lamp"}, "'title' is a required property"),
        ({"title": "x", "kind": "lamp"}, "title: 'x' is too short"),
        ({"title": "xy", "near": [], "inner": {"n": 10}}, "inner.n: 10 is greater"),
        ({"title": "xy"}, "is not valid under any"),
        ({"title": "y" * 9000 + "\n", "kind": 3}, "kind: 3"),
    ],
)
def test_a_call_is_checked_by_all_of_the_schema(given: dict[str, Any], problem: str) -> None:
    """What is wrong is said in short, with its place."""
    with pytest.raises(ValidationError) as caught:
        arguments_of(PLACE).model_validate(given)
    [error] = caught.value.errors()
    assert problem in error["msg"]
    assert len(error["msg"]) < 600


def test_arguments_that_fit_are_kept_as_they_came() -> None:
    """Names and spaces are the server's business."""
    given = {"title": " a b ", "kind": "lamp", "near": [{"model_config": 1, "_x": None}]}
    with pytest.raises(ValidationError, match=r"more than one|valid under each"):
        arguments_of(PLACE).model_validate(given)
    del given["kind"]
    assert arguments_of(PLACE).model_validate(given).given == given
    with pytest.raises(ValidationError, match="must be an object"):
        arguments_of({}).model_validate([])


@pytest.mark.parametrize(
    "properties",
    [
        {"x" * 65: {}},
        {"a b": {}},
        {"x": {"type": "lamp"}},
        {"x": {"$ref": "#anchor"}},
        {"x": {"default": float("nan")}},
        {"x": {"enum": ["\ud800"]}},
        {"x": {"description": "d" * 100, "enum": ["y" * MAX_SCHEMA_BYTES]}},
    ],
)
def test_what_cannot_be_made_fit_is_refused(properties: dict[str, Any]) -> None:
    """A vendor that refuses one tool refuses the whole question."""
    with pytest.raises(UnfitSchema):
        arguments_of({"type": "object", "description": "x", "properties": properties})
