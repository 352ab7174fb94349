"""What MCP servers send, in the forms that models take: schemas of arguments, and results of calls.

A schema that a vendor's API refuses makes every question fail, so what one of them is known to refuse is left out, and
a tool whose schema cannot be mended is not offered.

Source: the rules for tools of the APIs of Anthropic and OpenAI; Model Context Protocol 2026-07-28, "Tools"; read
2026-11-21.
"""

import base64
import json
import re
from collections.abc import Mapping
from contextlib import suppress
from itertools import islice
from typing import Any, ClassVar, cast

import mcp_types as types
from jsonschema import Draft202012Validator, SchemaError
from jsonschema.protocols import Validator
from pydantic import model_validator
from pydantic_core import PydanticCustomError

from tools.base import Arguments, Result, ResultFile
from tools.text import clean_line, shorten

MAX_SCHEMA_BYTES = 8_000
MAX_TEXT_CHARS = 200_000
"""Far more than models are shown, and still quick to shorten."""
MAX_PICTURES = 4
_MAX_ARGUMENT_CHARS = 400
_MAX_QUOTED_CHARS = 500
_SHOWN_PROBLEMS = 3
_MAX_PROBLEM_CHARS = 150
_PICTURES = {"image/png": "png", "image/jpeg": "jpg", "image/gif": "gif", "image/webp": "webp"}

_PROPERTY = re.compile(r"[a-zA-Z0-9_.-]{1,64}")
"""The argument names that Anthropic's API accepts."""
_NAMED_SCHEMAS = frozenset({"properties", "$defs", "definitions"})
_VALUES = frozenset({"enum", "const", "default", "$ref"})
_DROPPED = frozenset({"title", "$schema", "$id", "$comment", "examples", "pattern"})
"""What costs tokens and says nothing, or is understood differently by each; the server checks patterns anyway."""
_NOT_AT_THE_TOP = frozenset({"anyOf", "oneOf", "allOf", "not", "enum", "const"})
"""Keywords that both vendors refuse at the top level of a tool's schema; calls are checked by them all the same."""


class UnfitSchema(ValueError):
    """The schema is invalid or too large; the tool cannot be offered."""


class GivenArguments(Arguments):
    """The arguments of a call as given, valid by a schema; each tool has a subclass of its own."""

    shown: ClassVar[Mapping[str, Any]] = {}
    validator: ClassVar[Validator | None] = None

    given: dict[str, Any]
    """A JSON object, checked by the schema."""

    @classmethod
    def json_schema(cls) -> Mapping[str, Any]:
        """Returns the schema that the model sees."""
        return cls.shown

    @model_validator(mode="before")
    @classmethod
    def _fitting(cls, given: Any) -> Any:
        if not isinstance(given, dict):
            raise PydanticCustomError("json_schema", "must be an object")
        problems: list[str] = []
        errors = cast("Validator", cls.validator).iter_errors(cast("dict[str, Any]", given))
        for error in islice(errors, _SHOWN_PROBLEMS):
            place = ".".join(map(str, error.absolute_path))
            problems.append(": ".join(filter(None, (place, shorten(error.message, _MAX_PROBLEM_CHARS)))))
        if problems:
            raise PydanticCustomError("json_schema", "{problems}", {"problems": "; ".join(problems)})
        return {"given": cast("dict[str, Any]", given)}


def arguments_of(schema: Mapping[str, Any]) -> type[GivenArguments]:
    """Returns a class of arguments for the schema; raises `UnfitSchema`."""
    try:
        fit: dict[str, Any] = {"properties": {}, **_fit_schema(schema), "type": "object"}
        # With infinities and halves of characters a request would be refused, whatever it asks.
        size = len(json.dumps(fit, allow_nan=False, ensure_ascii=False).encode())
        Draft202012Validator.check_schema(fit)
    except (SchemaError, ValueError, RecursionError) as error:
        raise UnfitSchema("no schema that models can be offered") from error
    if size > MAX_SCHEMA_BYTES:
        raise UnfitSchema("too large")
    shown = {key: value for key, value in fit.items() if key not in _NOT_AT_THE_TOP}
    return type(
        "Given", (GivenArguments,), {"__module__": __name__, "shown": shown, "validator": Draft202012Validator(fit)}
    )


def _fit_schema(schema: Any, *, is_named: bool = False) -> Any:
    """Returns the schema as vendors take it. `is_named`: the keys are names of arguments, or of definitions."""
    if isinstance(schema, list):
        return [_fit_schema(item) for item in cast("list[Any]", schema)]
    if not isinstance(schema, dict):
        return schema
    items = cast("dict[str, Any]", schema).items()
    if is_named:
        if not all(_PROPERTY.fullmatch(key) for key, _ in items):
            raise UnfitSchema("the name of an argument that no model may use")
        return {key: _fit_schema(value) for key, value in items}
    fit: dict[str, Any] = {
        key: value if key in _VALUES else _fit_schema(value, is_named=key in _NAMED_SCHEMAS)
        for key, value in items
        if key not in _DROPPED
    }
    if not str(fit.get("$ref", "#/")).startswith("#/"):
        raise UnfitSchema("a reference leads out of it")
    if "description" in fit:
        fit["description"] = shorten(str(fit["description"]), _MAX_ARGUMENT_CHARS)
    if fit.get("type") == "array":
        fit.setdefault("items", {})  # OpenAI's API refuses lists of nothing in particular
    return fit


def result_of(answer: types.CallToolResult, *, tool: str) -> Result:
    """Returns the result of a call: its data or else its words, and its pictures, named after the tool."""
    texts = [text for block in answer.content if (text := _words(block)) is not None]
    images = [one for one in answer.content if isinstance(one, types.ImageContent) and one.mime_type in _PICTURES]
    pictures: list[ResultFile] = []
    for number, image in enumerate(images[:MAX_PICTURES], start=1):
        with suppress(ValueError):
            name, data = f"{tool}-{number}.{_PICTURES[image.mime_type]}", base64.b64decode(image.data, validate=True)
            pictures.append(ResultFile(name=name, content_type=image.mime_type, data=data))
    structured = answer.structured_content
    if structured is not None and len(json.dumps(structured)) <= MAX_TEXT_CHARS:
        found: dict[str, Any] = {"structured": structured}  # the words beside it say the same
    else:
        text = "\n\n".join(texts)
        found = {"text": text if len(text) <= MAX_TEXT_CHARS else f"{text[:MAX_TEXT_CHARS]} [cut]"}
    if left_out := len(answer.content) - len(texts) - len(pictures):
        found["left_out"] = f"{left_out} parts that cannot be passed on"
    return Result(data=found, files=tuple(pictures))


def failure_of(answer: types.CallToolResult) -> str:
    """Returns what a call that failed says of it, to be quoted."""
    return quotable(" ".join(filter(None, map(_words, answer.content))))


def quotable(text: str) -> str:
    """Returns a server's words about a failure on one line, cleaned and shortened."""
    return shorten(clean_line(text), _MAX_QUOTED_CHARS)


def _words(block: types.ContentBlock) -> str | None:
    match block:
        case types.TextContent(text=text):
            return text
        case types.EmbeddedResource(resource=types.TextResourceContents(text=text)):
            return text
        case types.ResourceLink(name=name, uri=uri):
            return f"{name}: {uri}"
        case _:
            return None
