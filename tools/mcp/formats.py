"""Pure: what MCP servers send, in the forms that models take: schemas of arguments, and answers to calls.

    schema --known keywords, cleaned texts--> a class of arguments: what models see, and what calls are checked by
    answer --> text, structured data, pictures

A schema that a vendor's API refuses makes every question fail. So only known keywords are kept (no patterns, which the
server checks anyway), and references stay inside the schema. A schema that cannot be adapted is refused as a whole.

Source: JSON Schema 2020-12; jsonschema 4.26.0; the rules for tools of the APIs of Anthropic and OpenAI, 2026-11-21;
Model Context Protocol 2026-07-28, "Tools", kinds of content; read 2026-11-21.
"""

import base64
import json
import re
from collections.abc import Iterable, Iterator, Mapping
from itertools import islice
from typing import Any, ClassVar, cast

from jsonschema import Draft202012Validator, SchemaError
from jsonschema.protocols import Validator
from mcp_types import CallToolResult, ContentBlock, EmbeddedResource, ImageContent, ResourceLink, TextContent
from mcp_types import TextResourceContents as Words
from pydantic import model_validator
from pydantic_core import PydanticCustomError
from referencing import Registry

from tools.base import Arguments, Result, ResultFile
from tools.text import clean_line, clean_text, shorten

MAX_SCHEMA_BYTES = 8_000
_MAX_LEVELS = 20
_MAX_DESCRIPTION_CHARS = 400
_SHOWN_PROBLEMS = 3
_MAX_PROBLEM_CHARS = 150

MAX_TEXT_CHARS = 200_000
"""Far more than models are shown, and still quick to shorten."""
MAX_PARTS = 100
"""The limit of parts read per answer."""
MAX_PICTURES = 4
MAX_PICTURE_BYTES = 8_000_000
_MAX_QUOTED_CHARS = 500
_KINDS = (
    (re.compile(rb"\x89PNG\r\n\x1a\n"), "png", "image/png"),
    (re.compile(rb"\xff\xd8\xff"), "jpg", "image/jpeg"),
    (re.compile(rb"GIF8"), "gif", "image/gif"),
    (re.compile(rb"RIFF....WEBP", re.DOTALL), "webp", "image/webp"),
)
"""Pictures by their first bytes, whatever the server says."""

_PROPERTY = re.compile(r"[a-zA-Z0-9_.-]{1,64}")
"""The argument names that Anthropic's API accepts."""
_REFERENCE = re.compile(r"#|#/(\$defs|definitions|properties)/([^/]+)")
"""The references that are followed: to the whole schema, a definition, an argument."""
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
    fit = {**_fit_schema(dict(schema), schema, _MAX_LEVELS), "type": "object"}
    fit.setdefault("properties", {})
    try:
        # JSON knows no NaN, and UTF-8 no half surrogate pairs: a request with them would be refused, whatever it asks.
        size = len(json.dumps(fit, allow_nan=False, ensure_ascii=False).encode())
        Draft202012Validator.check_schema(fit)
    except (SchemaError, ValueError, RecursionError) as error:
        raise UnfitSchema("no schema") from error
    if size > MAX_SCHEMA_BYTES:
        raise UnfitSchema("too large")
    shown = {key: value for key, value in fit.items() if key not in _NOT_AT_THE_TOP}
    validator = Draft202012Validator(fit, registry=Registry())
    return type("Given", (GivenArguments,), {"__module__": __name__, "shown": shown, "validator": validator})


def _problems(validator: Validator | None, given: Any) -> Iterator[str]:
    if validator is None or not isinstance(given, dict):
        yield "must be an object"
        return
    try:
        for error in islice(validator.iter_errors(cast("dict[str, Any]", given)), _SHOWN_PROBLEMS):
            place = ".".join(map(str, error.absolute_path))
            words = shorten(error.message, _MAX_PROBLEM_CHARS)
            yield f"{place}: {words}" if place else words
    except RecursionError:
        yield "nested too deeply to be checked"
    except ArithmeticError:  # a whole number of hundreds of digits
        yield "a number is too large to be checked"


def _fit_schema(schema: Any, whole: Mapping[str, Any], levels: int) -> Any:
    """Returns the schema with known keywords only, its texts cleaned and shortened."""
    if isinstance(schema, bool):
        return schema
    if not isinstance(schema, dict) or levels == 0:
        raise UnfitSchema("no schema, or too deep")
    fit: dict[str, Any] = {}
    for key, value in cast("dict[str, Any]", schema).items():
        if (kept := _keyword(key, value, whole, levels - 1)) is not None:
            fit[key] = kept
    if fit.get("type") == "array":
        fit.setdefault("items", {})  # OpenAI's API refuses lists of nothing in particular
    return fit


def _keyword(key: str, value: Any, whole: Mapping[str, Any], levels: int) -> Any:
    """Returns what is kept of a keyword; None: nothing."""
    if key in _ONE_SCHEMA:
        return _fit_schema(value, whole, levels)
    if key in _SCHEMAS and isinstance(value, list):
        return [_fit_schema(item, whole, levels) for item in cast("list[Any]", value)]
    if key in _NAMED_SCHEMAS and isinstance(value, dict):
        named = cast("dict[str, Any]", value)
        if not all(map(_PROPERTY.fullmatch, named)):
            raise UnfitSchema("the name of an argument that no model may use")
        return {name: _fit_schema(item, whole, levels) for name, item in named.items()}
    if key == "description" and isinstance(value, str):
        return shorten(clean_text(value[:MAX_SCHEMA_BYTES]), _MAX_DESCRIPTION_CHARS)
    if key == "$ref" and isinstance(value, str) and value.startswith("#"):
        return _reference(value, whole)
    value = clean_text(value) if isinstance(value, str) else value
    return value if key in _VALUES else None


def _reference(reference: str, whole: Mapping[str, Any]) -> str:
    match = _REFERENCE.fullmatch(reference)
    if match is None or (match[1] and match[2] not in whole.get(match[1], {})):
        raise UnfitSchema("a reference leads to no schema")
    return reference


def result_of(answer: CallToolResult, *, tool: str) -> Result:
    """Returns the result of a call; `tool` is used in the names of its pictures."""
    blocks = answer.content[:MAX_PARTS]
    texts = [text for block in blocks if (text := _words(block)) is not None]
    pictures = tuple(_pictures(blocks, tool))
    structured = _unless_too_large(answer.structured_content)
    data: dict[str, Any] = {} if structured is None else {"structured": structured}
    if text := "\n\n".join(text for text in texts if not _says(text, structured))[: MAX_TEXT_CHARS + 1]:
        data["text"] = text if len(text) <= MAX_TEXT_CHARS else f"{text[:MAX_TEXT_CHARS]} [cut: more than can be read]"
    if left_out := min(len(answer.content), MAX_PARTS + 1) - len(texts) - len(pictures):
        at_least = "at least " if len(answer.content) > MAX_PARTS else ""
        data["left_out"] = f"{at_least}{left_out} parts that cannot be passed on"
    return Result(data=data or {"text": ""}, files=pictures)


def quote_failure(answer: CallToolResult) -> str:
    """Returns a server's message about a failure, cleaned and shortened."""
    words = (text for block in answer.content[:3] if (text := _words(block)) is not None)
    return short(" ".join(words), _MAX_QUOTED_CHARS)


def short(text: str, max_chars: int) -> str:
    """Returns a server's text on one line, cleaned and shortened."""
    return shorten(clean_line(text[: 20 * max_chars]), max_chars)


def _words(block: ContentBlock) -> str | None:
    match block:
        case TextContent(text=text):
            return text
        case EmbeddedResource(resource=Words(text=text)):
            return text
        case ResourceLink(name=name, uri=uri):
            return f"{name}: {uri}"
        case _:
            return None


def _pictures(blocks: Iterable[ContentBlock], tool: str) -> Iterator[ResultFile]:
    images = [block for block in blocks if isinstance(block, ImageContent)]
    for number, image in enumerate(images[:MAX_PICTURES], start=1):
        try:
            data = base64.b64decode(image.data, validate=True)
        except ValueError:
            continue
        kind = next((kind for kind in _KINDS if kind[0].match(data)), None)
        if kind is not None and len(data) <= MAX_PICTURE_BYTES:
            yield ResultFile(name=f"{tool}-{number}.{kind[1]}", content_type=kind[2], data=data)


def _unless_too_large(structured: Any) -> Any:
    """Returns the structured data, unless it is too large to be shortened quickly: the text says the same."""
    try:
        return structured if len(json.dumps(structured)) <= MAX_TEXT_CHARS else None
    except (ValueError, RecursionError):
        return None


def _says(text: str, structured: Any) -> bool:
    """Whether the text only repeats the structured data, as servers do for clients that read only text."""
    if structured is None or len(text) > MAX_TEXT_CHARS:
        return False
    match structured:
        case {"result": result, **others} if not others:
            same = (structured, result)
        case _:
            same = (structured,)
    try:
        return text in same or json.loads(text) in same
    except (ValueError, RecursionError):
        return False
