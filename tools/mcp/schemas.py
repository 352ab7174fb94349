"""Pure: turns the JSON schema of a stranger's tool into one that can be shown to models and check their calls.

    schema --known keywords, cleaned texts--> a class of arguments: what models see, and what calls are checked by

A schema can be made to hang its validator, and one that a vendor's API refuses makes every question fail. So only
known keywords are kept (no patterns: they could run forever, and the server checks them anyway), references stay inside
the schema, and the steps of a check are counted: a list of thousands of items with hundreds of alternatives each would
take a minute. A schema that cannot be adapted is refused as a whole.

Source: JSON Schema 2020-12; jsonschema 4.26.0; the rules for tools of the APIs of Anthropic and OpenAI, 2026-11-21.
"""

import json
import re
from collections.abc import Iterator, Mapping
from contextvars import ContextVar
from dataclasses import dataclass
from itertools import islice
from typing import Any, ClassVar, cast

from jsonschema import Draft202012Validator, SchemaError
from jsonschema import ValidationError as JsonSchemaError
from jsonschema.protocols import Validator
from jsonschema.validators import extend  # pyright: ignore[reportUnknownVariableType]  (it has no types of its own)
from pydantic import model_validator
from pydantic_core import PydanticCustomError
from referencing import Registry

from tools.base import Arguments
from tools.text import clean_text, shorten

MAX_SCHEMA_BYTES = 8_000
_MAX_LEVELS = 20
_MAX_STEPS = 30_000  # of one check, a second or so; two thousand records with five fields each take fewer
_STEP_CHARS = 200  # of what is checked: a step names all of it where it finds a mistake
_STEP_VALUES = 10  # of an enumeration
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


@dataclass(kw_only=True, slots=True)
class _Work:
    """The work of a check: done and still allowed."""

    sizes: Mapping[int, int]
    """The size of each list and object of the call, by identity."""
    steps_left: int = _MAX_STEPS

    def count(self, wanted: Any, instance: Any) -> None:
        """Counts one more step: a keyword with this value against this part of the call.

        Raises:
            _TooMuch: there were too many.
        """
        values = len(cast("list[Any]", wanted)) if isinstance(wanted, list) else 0
        size = len(instance) if isinstance(instance, str) else self.sizes.get(id(instance), 0)
        self.steps_left -= 1 + values // _STEP_VALUES + size // _STEP_CHARS
        if self.steps_left < 0:
            raise _TooMuch


class _TooMuch(Exception):
    """The check has taken too many steps."""


_work: ContextVar[_Work] = ContextVar("work")


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
    validator = _Checking(fit, registry=Registry())
    return type("Given", (GivenArguments,), {"__module__": __name__, "shown": shown, "validator": validator})


def _problems(validator: Validator | None, given: Any) -> Iterator[str]:
    if validator is None or not isinstance(given, dict):
        yield "must be an object"
        return
    arguments = cast("dict[str, Any]", given)
    sizes: dict[int, int] = {}
    token = _work.set(_Work(sizes=sizes))
    try:
        _measure(arguments, sizes)
        for error in islice(validator.iter_errors(arguments), _SHOWN_PROBLEMS):
            place = ".".join(map(str, error.absolute_path))
            words = shorten(error.message, _MAX_PROBLEM_CHARS)
            yield f"{place}: {words}" if place else words
    except _TooMuch:
        yield "too much to be checked; call it with less at a time"
    except RecursionError:
        yield "nested too deeply to be checked"
    except ArithmeticError:  # a whole number of hundreds of digits
        yield "a number is too large to be checked"
    finally:
        _work.reset(token)


def _measure(value: Any, sizes: dict[int, int]) -> int:
    """Estimates the length of a value as text; `sizes` gets that of each list and object in it."""
    if isinstance(value, dict):
        entries = cast("dict[str, Any]", value).items()
        size = sum(len(name) + _measure(item, sizes) for name, item in entries)
    elif isinstance(value, list):
        size = sum(_measure(item, sizes) for item in cast("list[Any]", value))
    else:
        return len(value) if isinstance(value, str) else 1
    sizes[id(cast("object", value))] = size + 1
    return size + 1


def _count_steps(check: Any) -> Any:
    """Wraps the check of a keyword so that it counts its steps."""

    def counted(validator: Any, wanted: Any, instance: Any, schema: Any) -> Iterator[Any]:
        work = _work.get(None)  # None: the schema itself is checked
        if work is not None:
            work.count(wanted, instance)
        yield from check(validator, wanted, instance, schema) or ()

    return counted


def _are_unique(validator: Any, wanted: Any, instance: Any, schema: Any) -> Iterator[Any]:
    """Checks that no item occurs twice, without comparing each with each as the library does."""
    del schema
    if wanted and validator.is_type(instance, "array"):
        items = cast("list[Any]", instance)
        if len({json.dumps(item, sort_keys=True) for item in items}) < len(items):
            yield JsonSchemaError("has non-unique elements")


_Checking = cast(
    "type[Validator]",
    extend(
        Draft202012Validator,
        {
            keyword: _count_steps(check)
            for keyword, check in (Draft202012Validator.VALIDATORS | {"uniqueItems": _are_unique}).items()
        },
    ),
)


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
