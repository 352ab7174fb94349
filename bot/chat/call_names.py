"""Pure: maps the names that models and people give to tools and arguments to those the tools have.

    get_weather(location="52.52, 13.41")     -> get_weather(latitude=52.52, longitude=13.41)
    calculator(a=2, b=3, operation="add")    -> calculate(expression="(2) + (3)")
    web_search, with words and no object     -> web_search(query=those words)

This happens before anything is decided about a call, so that every decision is about what will really run. A name the
tool itself has is never mapped to another, and nothing that was given is overwritten.
"""

import re
from collections.abc import Mapping
from dataclasses import replace
from typing import cast

from bot.messages import ToolCall
from tools import ToolSpec

TOOL_NAMES: Mapping[str, str] = {
    "calculator": "calculate",
    "calc": "calculate",
    "weather": "get_weather",
    "get_current_weather": "get_weather",
    "search": "web_search",
    "search_web": "web_search",
    "get_time": "current_time",
    "get_current_time": "current_time",
}
"""Names of tools in the founding documents and in other assistants."""
ARGUMENT_NAMES: Mapping[str, str] = {
    "location": "place",
    "city": "place",
    "limit": "count",
    "max_results": "count",
    "num_results": "count",
    "market_id": "market",
    "lat": "latitude",
    "lon": "longitude",
    "lng": "longitude",
    "q": "query",
    "search_query": "query",
    "tz": "timezone",
}
_BEFORE = re.compile(r"\A(?:functions|default_api)[.:]")
_OPERATIONS: Mapping[str, str] = {
    "add": "+", "plus": "+", "sum": "+", "subtract": "-", "minus": "-", "multiply": "*", "times": "*", "divide": "/",
    "power": "^", "pow": "^", "modulo": "%", "mod": "%", "+": "+", "-": "-", "*": "*", "/": "/", "^": "^", "**": "^",
    "%": "%",
}  # fmt: skip
_COORDINATES = re.compile(r"\s*(-?\d{1,2}(?:\.\d+)?)\s*[,;]\s*(-?\d{1,3}(?:\.\d+)?)\s*")
_MAX_WORDS = 400


def meant_name(name: str, known: Mapping[str, object]) -> str:
    """The name of the tool that is meant, if there is one.

    gpt-oss may append its template's tokens to a name or prefix it with the tools' namespace; so does Gemini.
    """
    bare = _BEFORE.sub("", name.partition("<|")[0])
    meant = TOOL_NAMES.get(bare, bare)
    return name if name in known or meant not in known else meant


def understood(call: ToolCall, spec: ToolSpec) -> ToolCall:
    """The call with the tool's own argument names."""
    properties = cast("Mapping[str, Mapping[str, object]]", spec.parameters.get("properties") or {})
    if call.malformed is not None:
        return _of_words(call, spec, properties)
    arguments = _renamed(call.arguments, properties)
    arguments = _calculated(arguments, properties)
    arguments = _located(arguments, properties)
    return call if arguments == call.arguments else replace(call, arguments=arguments)


def _of_words(call: ToolCall, spec: ToolSpec, properties: Mapping[str, Mapping[str, object]]) -> ToolCall:
    """A call with plain words: they become the one text argument the tool needs."""
    words = (call.malformed or "").strip().strip("\"'").strip()
    required = cast("list[str]", spec.parameters.get("required") or [])
    named = required or [name for name in properties if name in {"place", "query", "timezone"}][:1]
    if len(named) != 1 or not words or len(words) > _MAX_WORDS or words[0] in "{[" or "\n" in words:
        return call
    if not _takes_text(properties.get(named[0], {})):
        return call
    return understood(replace(call, arguments={named[0]: words}, malformed=None), spec)


def _takes_text(schema: Mapping[str, object]) -> bool:
    kinds = [schema, *cast("list[Mapping[str, object]]", schema.get("anyOf") or [])]
    return any(kind.get("type") == "string" or "string" in str(kind.get("type", "")) for kind in kinds)


def _renamed(arguments: Mapping[str, object], properties: Mapping[str, object]) -> Mapping[str, object]:
    renamed: dict[str, object] = {}
    for name, value in arguments.items():
        meant = ARGUMENT_NAMES.get(name, name)
        if name in properties or meant not in properties or meant in arguments or meant in renamed:
            meant = name
        renamed[meant] = value
    if "timeout_ms" in renamed and "timeout_ms" not in properties:
        milliseconds = renamed.pop("timeout_ms")
        if "timeout_seconds" in properties and isinstance(milliseconds, int | float):
            renamed.setdefault("timeout_seconds", milliseconds / 1000)
    return renamed


def _calculated(arguments: Mapping[str, object], properties: Mapping[str, object]) -> Mapping[str, object]:
    if "expression" not in properties or set(arguments) != {"a", "b", "operation"} or "a" in properties:
        return arguments
    sign = _OPERATIONS.get(str(arguments["operation"]).lower())
    return arguments if sign is None else {"expression": f"({arguments['a']}) {sign} ({arguments['b']})"}


def _located(arguments: Mapping[str, object], properties: Mapping[str, object]) -> Mapping[str, object]:
    place = arguments.get("place")
    if (
        not isinstance(place, str)
        or "latitude" not in properties
        or not arguments.keys().isdisjoint({"latitude", "longitude"})
    ):
        return arguments
    found = _COORDINATES.fullmatch(place)
    if found is None:
        return arguments
    others = {name: value for name, value in arguments.items() if name != "place"}
    return {"latitude": float(found[1]), "longitude": float(found[2]), **others}
