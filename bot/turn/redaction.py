"""Pure: the arguments of a tool's call as the log may show them: which they are and how large, never what they hold.

    {"query": "who is ...", "count": 3, "x": 1} --> query: text of 10, count: number, 1 unknown

Left to others: the line in the log (`bot.turn.toolbox`).
"""

from collections.abc import Collection, Mapping
from typing import Any, cast


def outline(arguments: Mapping[str, object], known: Collection[str]) -> str:
    """The arguments on one line; of those that are not `known` only how many, for a model made up their names."""
    told = [f"{name}: {_kind(value)}" for name, value in arguments.items() if name in known]
    unknown = len(arguments) - len(told)
    return ", ".join([*told, *([f"{unknown} unknown"] if unknown else [])]) or "no arguments"


def _kind(value: object) -> str:
    match value:
        case None:
            return "nothing"
        case bool():
            return "yes or no"
        case int() | float():
            return "number"
        case str():
            return f"text of {len(value)}"
        case list():
            return f"list of {len(cast('list[Any]', value))}"
        case _:
            return "object"
