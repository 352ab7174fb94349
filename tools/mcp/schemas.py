"""Pure: turns the JSON schema of a server's tool into one that can be shown to models and check their calls.

    schema --known keywords, cleaned texts--> a class of arguments: what models see, and what calls are checked by

A schema that a vendor's API refuses makes every question fail. So only known keywords are kept (no patterns, which the
server checks anyway), and references stay inside the schema. A schema that cannot be adapted is refused as a whole.

Source: JSON Schema 2020-12; jsonschema 4.26.0; the rules for tools of the APIs of Anthropic and OpenAI, 2026-11-21.
"""

import json
import re
from collections.abc import Iterator, Mapping
from itertools import islice
from typing import Any, ClassVar, cast

from jsonschema import Draft202012Validator, SchemaError
from jsonschema.protocols import Validator
from pydantic import model_validator
from pydantic_core import PydanticCustomError
from referencing import Registry

from tools.base import Arguments
from tools.text import clean_text, shorten

MAX_SCHEMA_BYTES = 8_000
_MAX_LEVELS = 20
_MAX_DESCRIPTION_CHARS = 400
_SHOWN_PROBLEMS = 3
_MAX_PROBLEM_CHARS = 150

_PROPERTY = re.compile(r"[a-zA-Z0-9_.-]{1,64}")
"""The argument names that Anthropic's API accepts."""

_ONE_SCHEMA = frozenset({"items", "additionalProperties", "not"})
_SCHEMAS = frozenset({"anyOf", "oneOf", "allOf", "prefixItems"})
_NAMED_SCHEMAS = frozenset({"properties", "$defs", "definitions"})
_VALUES = frozenset(
    {
        *("type", "required", "enum", "const", "default", "format", "uniqueItems"),
        *("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"),
        *("minLength", "maxLength", "minItems", "maxItems", "minProperties", "maxProperties"),
    }
)
_NOT_AT_THE_TOP = frozenset({"anyOf", "oneOf", "allOf", "not", "enum", "const"})
"""Keywords that both vendors refuse at the top level of a tool's schema; calls are checked by them all the same."""


class UnfitSchema(ValueError):
    """The schema is invalid, too large, too deep or too odd to be shown; the tool cannot be offered."""


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
        if problems := "; ".join(_problems(cls.validator, given)):
            raise PydanticCustomError("json_schema", "{problems}", {"problems": problems})
        return {"given": given}


def arguments_of(schema: Mapping[str, Any]) -> type[GivenArguments]:
    """Returns the class of arguments that the schema describes.

    Raises:
        UnfitSchema: it cannot be shown to a model; leave the tool out.
    """
    fit = {**_fit_schema(dict(schema), _MAX_LEVELS), "type": "object"}
    fit.setdefault("properties", {})
    try:
        # JSON knows no NaN, and UTF-8 no half surrogate pairs: a request with them would be refused, whatever it asks.
        size = len(json.dumps(fit, allow_nan=False, ensure_ascii=False).encode())
        if size > MAX_SCHEMA_BYTES:
            raise UnfitSchema("too large")
        Draft202012Validator.check_schema(fit)
    except (SchemaError, ValueError, RecursionError) as error:
        raise UnfitSchema("no schema, or too large") from error
    if not all(_leads_to_a_schema(reference, fit) for reference in _references(fit)):
        raise UnfitSchema("a reference leads to no schema")
    shown = {key: value for key, value in fit.items() if key not in _NOT_AT_THE_TOP}
    validator = Draft202012Validator(fit, registry=Registry())
    return type("Given", (GivenArguments,), {"__module__": __name__, "shown": shown, "validator": validator})


def _problems(validator: Validator | None, given: Any) -> Iterator[str]:
    if validator is None or not isinstance(given, dict):
        yield "must be an object"
        return
    arguments = cast("dict[str, Any]", given)
    try:
        for error in islice(validator.iter_errors(arguments), _SHOWN_PROBLEMS):
            place = ".".join(map(str, error.absolute_path))
            words = shorten(error.message, _MAX_PROBLEM_CHARS)
            yield f"{place}: {words}" if place else words
    except RecursionError:
        yield "nested too deeply to be checked"
    except ArithmeticError:  # a whole number of hundreds of digits
        yield "a number is too large to be checked"


def _fit_schema(schema: Any, levels: int) -> Any:
    """Returns the schema with known keywords only, its texts cleaned and shortened."""
    if isinstance(schema, bool):
        return schema
    if not isinstance(schema, dict) or levels == 0:
        raise UnfitSchema("no schema, or too deep")
    fit: dict[str, Any] = {}
    for key, value in cast("dict[str, Any]", schema).items():
        if (kept := _keyword(key, value, levels - 1)) is not None:
            fit[key] = kept
    if fit.get("type") == "array":
        fit.setdefault("items", {})  # OpenAI's API refuses lists of nothing in particular
    return fit


def _keyword(key: str, value: Any, levels: int) -> Any:
    """Returns what is kept of a keyword; None: nothing."""
    if key in _ONE_SCHEMA:
        return _fit_schema(value, levels)
    if key in _SCHEMAS and isinstance(value, list):
        return [_fit_schema(item, levels) for item in cast("list[Any]", value)]
    if key in _NAMED_SCHEMAS and isinstance(value, dict):
        named = cast("dict[str, Any]", value)
        if not all(map(_PROPERTY.fullmatch, named)):
            raise UnfitSchema("the name of an argument that no model may use")
        return {name: _fit_schema(item, levels) for name, item in named.items()}
    if isinstance(value, str):
        return _text(key, value[:MAX_SCHEMA_BYTES])
    return value if key in _VALUES else None


def _text(key: str, value: str) -> str | None:
    if key == "description":
        return shorten(clean_text(value), _MAX_DESCRIPTION_CHARS)
    if key == "$ref":
        return value if value.startswith("#") else None
    return clean_text(value) if key in _VALUES else None


def _references(schema: Any) -> Iterator[str]:
    if isinstance(schema, dict):
        for key, value in cast("dict[str, Any]", schema).items():
            if key == "$ref" and isinstance(value, str):
                yield value
            else:
                yield from _references(value)
    elif isinstance(schema, list):
        for item in cast("list[Any]", schema):
            yield from _references(item)


def _leads_to_a_schema(reference: str, schema: Mapping[str, Any]) -> bool:
    """Whether a reference points to a schema within this one, not to something else such as a default."""
    place: Any = schema
    start, *path = reference.split("/")
    steps = iter(path)
    for step in steps:
        if step in _NAMED_SCHEMAS:
            place = place.get(step, {}).get(next(steps, ""))
        else:
            place = place.get(step) if step in _ONE_SCHEMA else None
        if not isinstance(place, dict):
            return False
        place = cast("dict[str, Any]", place)
    return start == "#"
