"""Which tools there are, how they are described to models, and which of them a model's call means.

A few tools are described in full. More are a line each in the list of `use_tool` (`bot.models.tool_list`): a name, the
arguments, a few words. A model that wants the details asks for them, and reads them where it has called wrongly.

    weather(location="Oslo")                 is  get_weather(place="Oslo")
    calculator(a=2, b=3, operation="add")    is  calculate(expression="(2) + (3)")
    web_search, with words and no object     is  web_search(query=those words)

What a call means is clear before anything is decided about it, so that every decision is about what will really run. A
name the tool itself has is never mapped to another, and nothing that was given is overwritten.
"""

import asyncio
import hashlib
import json
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from typing import Annotated, Any

from pydantic import Field, WithJsonSchema

from bot.messages import ToolCall
from bot.models.base import ToolOffer
from bot.models.tool_list import NAME
from tools import Arguments, NotFound, Result, Tool, ToolContext, ToolSource, ToolSpec

_FEW = 3
"""So many are described in full: a list of them would save little."""
_MAX_CHOICES = 6
_MAX_SIGNATURE_CHARACTERS = 60
_MAX_LINE_CHARACTERS = 120
"""The limit of a description in the list; servers of MCP write pages."""

_TOOL_NAMES: Mapping[str, str] = {
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
_ARGUMENT_NAMES: Mapping[str, str] = {
    "location": "place",
    "city": "place",
    "limit": "count",
    "max_results": "count",
    "num_results": "count",
    "market_id": "market",
    "q": "query",
    "search_query": "query",
    "tz": "timezone",
}
_BEFORE_NAME = re.compile(r"\A(?:functions|default_api)[.:]")
_OPERATIONS: Mapping[str, str] = {
    "add": "+",
    "subtract": "-",
    "multiply": "*",
    "divide": "/",
    "power": "^",
    "modulo": "%",
}
_MAX_WORD_CHARACTERS = 400


async def gather_tools(fixed: Iterable[Tool], sources: Iterable[ToolSource]) -> dict[str, Tool]:
    """The fixed tools and then those of the sources, by name; of several with the same name the first."""
    found = {tool.spec.name: tool for tool in fixed}
    for tools in await asyncio.gather(*(source.tools() for source in sources)):
        for tool in tools:
            found.setdefault(tool.spec.name, tool)
    return found


def offers_of(specs: Iterable[ToolSpec]) -> tuple[ToolOffer, ...]:
    """The tools as models see them: a few in full, more as a list, with the tool that calls them."""
    tools = [spec for spec in specs if spec.name != NAME]
    if len(tools) <= _FEW:
        return tuple(map(offer, tools))
    return (*map(line_of, tools), offer(UseTool.spec))


def offer(spec: ToolSpec) -> ToolOffer:
    """The tool in full."""
    cost = f" One call costs about {spec.cost_usd.normalize():f} US dollars." if spec.cost_usd else ""
    return ToolOffer(name=spec.name, description=f"{spec.description}{cost}", parameters=spec.parameters)


def details_of(spec: ToolSpec) -> dict[str, Any]:
    """All about a tool, for a model that asks or has called it with wrong arguments."""
    return {"tool": spec.name, "description": offer(spec).description, "parameters": dict(spec.parameters)}


def line_of(spec: ToolSpec) -> ToolOffer:
    """The tool as a line of the list: `name(needed, one_of: a|b, may_be_left_out?, ...): what for`.

    `...` stands for arguments that are rarely needed, and for the optional ones of a seldom tool.
    """
    properties: Mapping[str, Any] = spec.parameters.get("properties", {})
    needed = spec.parameters.get("required", ())
    names = [name for name in properties if name not in spec.arguments.rare]
    if spec.seldom:  # where none is needed, the first, so that a plain call needs no question
        names = [*needed] or names[:1]
    shown = [_argument(name, properties[name], is_needed=name in needed) for name in names]
    signature = ", ".join([*shown, "..."] if len(shown) < len(properties) else shown)
    if len(signature) > _MAX_SIGNATURE_CHARACTERS:
        signature = "ask first"
    begins = " ".join(spec.description[:_MAX_LINE_CHARACTERS].split())
    sentence = re.split(r"[.;:] ", begins, maxsplit=1)[0].removesuffix(".")
    cost = f" ({spec.cost_usd.normalize():f} US dollars)" if spec.cost_usd else ""
    line = f"{spec.name}({signature}): {spec.seldom or sentence}{cost}"
    return ToolOffer(name=spec.name, description="", parameters={}, line=line)


def _argument(name: str, schema: Mapping[str, Any], *, is_needed: bool) -> str:
    choices = schema.get("enum", ())
    listed = f": {'|'.join(map(str, choices))}" if is_needed and 0 < len(choices) <= _MAX_CHOICES else ""
    return f"{name}{listed}" if is_needed else f"{name}?"


def shape_of(spec: ToolSpec) -> str:
    """A digest of what a tool takes and does: a person has allowed the tool of this shape, and no other of its name."""
    said = [spec.name, spec.server, spec.effects, spec.is_disclosing, spec.parameters]
    said += [spec.description] if spec.server else []
    return hashlib.sha256(json.dumps(said, sort_keys=True).encode()).hexdigest()


class UseToolArguments(Arguments):
    """A call."""

    tool: str
    # Servers that hold calls to a grammar take `additionalProperties` for objects alone (llama-cpp-python 0.3.36).
    arguments: Annotated[dict[str, Any], WithJsonSchema({"type": "object"})] = Field(default_factory=dict)


class UseTool:
    """Describes a tool; a call with arguments becomes one of the tool itself (`bot.models.tool_list`)."""

    spec = ToolSpec(
        name=NAME,
        description=(
            "Calls a tool of this list by its name with its arguments: ? may be left out, ... stands for more of those."
            " The name alone asks when to use it and exactly what it takes: do so where it says so or you are unsure."
        ),
        arguments=UseToolArguments,
        label="computed",
    )

    def __init__(self, specs: Callable[[], Iterable[ToolSpec]]) -> None:
        """`specs` returns those of the tools available now."""
        self._specs = specs

    async def run(self, arguments: UseToolArguments, context: ToolContext) -> Result:  # noqa: ARG002  (the seam has it)
        """The tool's purpose and the schema of its arguments; raises NotFound if there is no such tool."""
        specs = {spec.name: spec for spec in self._specs()}
        spec = specs.get(meant_name(arguments.tool, specs))
        if spec is None:
            raise NotFound(f"there is no such tool; there are: {', '.join(specs)}")
        return Result(data=details_of(spec))


def meant_name(name: str, known: Mapping[str, object]) -> str:
    """The name of the tool that is meant, if any: gpt-oss and Gemini add tokens of a template or a namespace."""
    bare = _BEFORE_NAME.sub("", name.partition("<|")[0])
    meant = _TOOL_NAMES.get(bare, bare)
    return name if name in known or meant not in known else meant


def with_own_arguments(call: ToolCall, schema: Mapping[str, Any]) -> ToolCall:
    """The call with the tool's own argument names, or with the one text that the tool needs in place of an object."""
    properties: Mapping[str, Mapping[str, Any]] = schema.get("properties", {})
    if call.malformed is not None:
        words = call.malformed.strip().strip("\"'").strip()
        needed = schema.get("required") or [name for name in properties if name in {"place", "query", "timezone"}][:1]
        is_object = words.startswith(("{", "[")) or "\n" in words or not 0 < len(words) <= _MAX_WORD_CHARACTERS
        if is_object or len(needed) != 1 or '"string"' not in json.dumps(properties[needed[0]]):
            return call
        call = replace(call, arguments={needed[0]: words}, malformed=None)
    arguments = _renamed(call.arguments, properties)
    if "expression" in properties and set(arguments) == {"a", "b", "operation"}:
        operation = str(arguments["operation"]).lower()
        sign = _OPERATIONS.get(operation, operation if operation in _OPERATIONS.values() else None)
        arguments = {"expression": f"({arguments['a']}) {sign} ({arguments['b']})"} if sign else arguments
    return call if arguments == call.arguments else replace(call, arguments=arguments)


def _renamed(arguments: Mapping[str, object], properties: Mapping[str, object]) -> Mapping[str, object]:
    renamed: dict[str, object] = {}
    for name, value in arguments.items():
        meant = _ARGUMENT_NAMES.get(name, name)
        is_free = name not in properties and meant in properties and meant not in {*arguments, *renamed}
        renamed[meant if is_free else name] = value
    if "timeout_ms" not in properties:
        renamed.pop("timeout_ms", None)
    return renamed
