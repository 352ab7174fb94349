"""The arguments of a tool call: validation, the model's error messages, and a safe outline for the log."""

from collections.abc import Collection, Mapping
from typing import Any, cast

from pydantic import ValidationError
from pydantic_core import ErrorDetails

from bot.messages import ToolCall
from tools import Approval, Arguments, BadArguments, ToolSpec

_SHOWN_PROBLEMS = 5


def approval_of(spec: ToolSpec, call: ToolCall) -> Approval | None:
    """Returns when a call wants a person's approval; None: its arguments are invalid, so it will not run."""
    try:
        given = parse_arguments(spec.arguments, call)
        return spec.approval(given) if callable(spec.approval) else spec.approval
    except Exception:  # noqa: BLE001  (even a bug of a tool's own validator, which is reported when the call runs)
        return None


def parse_arguments(model: type[Arguments], call: ToolCall) -> Arguments:
    """The validated arguments of a call.

    Raises:
        BadArguments: they are invalid; the message tells the model where.
    """
    if call.malformed is not None:
        raise BadArguments("the arguments are no JSON object; call again with one that fits the tool's parameters")
    try:
        return model.model_validate(call.arguments)
    except ValidationError as error:
        problems = [_problem(problem) for problem in error.errors(include_url=False, include_input=False)]
        raise BadArguments("; ".join(problems[:_SHOWN_PROBLEMS])) from error


def _problem(problem: ErrorDetails) -> str:
    place = ".".join(map(str, problem["loc"]))
    return f"{place}: {problem['msg']}" if place else problem["msg"]


def outline_arguments(arguments: Mapping[str, object], known: Collection[str]) -> str:
    """The arguments for the log: their names and sizes, never their values. Arguments that are not `known` are only
    counted, because a model made up their names.
    """
    told = [f"{name}: {_kind_of(value)}" for name, value in arguments.items() if name in known]
    unknown = len(arguments) - len(told)
    return ", ".join([*told, *([f"{unknown} unknown"] if unknown else [])]) or "no arguments"


def _kind_of(value: object) -> str:
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
