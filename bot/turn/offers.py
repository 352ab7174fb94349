"""Pure: what models are told of the tools: a name, what it is for, and a schema without what says nothing.

A tool that is seldom asked for stands in one line of the list of `more_tools`, with its arguments; what it takes
exactly is told when a model wants to know.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, cast

from pydantic import Field

from bot.providers.base import ToolOffer
from bot.providers.more_tools import NAME
from tools import Arguments, NotFound, Result, ToolContext, ToolSpec

_SAYS_NOTHING = frozenset(
    {"maxLength", "minLength", "maxItems", "format", "minimum", "maximum", "pattern", "additionalProperties"}
)
"""What is checked all the same, and told when it does not hold."""
_MAX_CHOICES = 6


def offer(spec: ToolSpec, *, in_brief: bool = False) -> ToolOffer:
    """The tool as models are offered it; `in_brief` leaves out what they can ask `more_tools` about."""
    cost = f" One call costs about {spec.cost_usd.normalize():f} US dollars." if spec.cost_usd else ""
    rare = [name for name in spec.parameters.get("properties", ()) if in_brief and name in spec.rare_arguments]
    more = f" Takes besides (see {NAME}): {', '.join(rare)}." if rare else ""
    parameters = spec.parameters if spec.server else brief(spec.parameters, without=rare)
    line = f"{_signature(spec.name, parameters)}: {spec.seldom}{cost}" if in_brief and spec.seldom else ""
    return ToolOffer(name=spec.name, description=f"{spec.description}{cost}{more}", parameters=parameters, seldom=line)


def brief(schema: Mapping[str, Any], *, without: Sequence[str] = ()) -> Mapping[str, Any]:
    """The schema of a tool's arguments in few words: what may be left out need not be said to be null.

    `without` names arguments that are not shown.
    """
    shown = _brief(schema)
    shown.pop("description", None)
    for name in without:
        del shown["properties"][name]
    return shown


def _brief(schema: Mapping[str, Any]) -> dict[str, Any]:
    found = {**schema}
    choices = [choice for choice in found.get("anyOf", ()) if choice != {"type": "null"}]
    if len(choices) == 1:
        del found["anyOf"]
        found = {**choices[0], **found}
    if not found.get("default", True):  # null, false, nothing of a list: as if it were left out
        del found["default"]
    for name in _SAYS_NOTHING & found.keys():
        del found[name]
    if isinstance(found.get("items"), dict):
        found["items"] = _brief(found["items"])
    if isinstance(found.get("properties"), dict):
        properties = cast("dict[str, dict[str, Any]]", found["properties"])
        found["properties"] = {name: _brief(value) for name, value in properties.items()}
    return found


def _signature(name: str, parameters: Mapping[str, Any]) -> str:
    """`name(needed, choice: a|b, may_be_left_out?)`."""
    properties: Mapping[str, Any] = parameters.get("properties", {})
    needed = parameters.get("required", ())
    return f"{name}({', '.join(_argument(key, value, is_needed=key in needed) for key, value in properties.items())})"


def _argument(name: str, schema: Mapping[str, Any], *, is_needed: bool) -> str:
    choices = schema.get("enum", ())
    told = f": {'|'.join(map(str, choices))}" if is_needed and 0 < len(choices) <= _MAX_CHOICES else ""
    return f"{name}{told}" if is_needed else f"{name}?"


class MoreToolsArguments(Arguments):
    """Which tool, and what it is called with."""

    tool: str = Field(max_length=100, description="Its name.")
    arguments: dict[str, Any] | None = Field(default=None, description="Left out: you are told what it takes.")


class MoreToolsTool:
    """Tells what a tool takes and gives, above all those that are seldom asked for.

    A call with arguments does not come here: it is one of the tool itself (`bot.providers.more_tools`).
    """

    spec = ToolSpec(
        name=NAME,
        description=(
            "Calls a tool of the list below by its name with its arguments (? may be left out). With the name alone,"
            " of any tool, it tells exactly what that takes and gives: do so first where you are not sure."
        ),
        arguments=MoreToolsArguments,
        computes_only=True,
    )

    def __init__(self, specs: Callable[[], Iterable[ToolSpec]]) -> None:
        """`specs` gives those of the tools that there are now."""
        self._specs = specs

    async def run(self, arguments: MoreToolsArguments, context: ToolContext) -> Result:  # noqa: ARG002  (the seam has it)
        """What the tool is for, and the schema of its arguments.

        Raises:
            NotFound: there is none of that name in the list.
        """
        specs = {spec.name: spec for spec in self._specs()}
        spec = specs.get(arguments.tool)
        if spec is None:
            raise NotFound(f"there is no such tool; there are: {', '.join(specs)}")
        offered = offer(spec)
        return Result(data={"tool": spec.name, "description": offered.description, "parameters": dict(spec.parameters)})
