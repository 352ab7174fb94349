"""Deferred tools: a model sees one line about each, and calls them through a single tool, `use_tool`.

    calls of the turn, past and new --wrapped--> use_tool(tool, arguments) --unwrapped--> the tool's own call

So the beginning of every request stays small and always the same, and a cache keeps it whichever tools are used;
vendors' own tool search leaves blocks in the conversation that no history keeps. Everything else deals with calls of
the tools themselves.
"""

from collections.abc import Collection, Mapping
from dataclasses import replace
from typing import Final, cast

from bot.messages import AssistantMessage, Message, ToolCall, ToolMessage
from bot.models.base import Completion, Request
from bot.models.wire import tool_call

NAME: Final = "use_tool"


def defer_tools(request: Request) -> Request:
    """The request with the list of its deferred tools, and with their calls as calls of `use_tool`."""
    deferred = frozenset(offer.name for offer in request.tools if offer.is_deferred)
    if not deferred:
        return request
    offers = request.tools
    lines = "".join(f"\n- {one.line}" for one in offers if one.is_deferred)
    tools = tuple(replace(one, description=one.description + lines) if one.name == NAME else one for one in offers)
    return replace(request, tools=tools, messages=tuple(_wrapped(message, deferred) for message in request.messages))


def own_calls(completion: Completion, request: Request) -> Completion:
    """The completion of such a request, its calls of `use_tool` as calls of the tools themselves."""
    message = completion.message
    if message is None or not message.calls:
        return completion
    names = {offer.name for offer in request.tools} - {NAME}
    parts = tuple(_unwrapped(part, names) if isinstance(part, ToolCall) else part for part in message.parts)
    return replace(completion, message=replace(message, parts=parts))


def _wrapped(message: Message, deferred: Collection[str]) -> Message:
    if isinstance(message, AssistantMessage) and any(call.name in deferred for call in message.calls):
        parts = tuple(
            replace(part, name=NAME, arguments={"tool": part.name, "arguments": dict(part.arguments)})
            if isinstance(part, ToolCall) and part.name in deferred
            else part
            for part in message.parts
        )
        return replace(message, parts=parts)
    if isinstance(message, ToolMessage) and any(answer.name in deferred for answer in message.answers):
        answers = (replace(answer, name=NAME) if answer.name in deferred else answer for answer in message.answers)
        return replace(message, answers=tuple(answers))
    return message


def _unwrapped(call: ToolCall, names: Collection[str]) -> ToolCall:
    """The tool's own call, even if the model wrote the arguments next to its name; a question about it stays one."""
    tool = call.arguments.get("tool")
    if call.name != NAME or not isinstance(tool, str) or tool not in names:
        return call
    beside = {key: value for key, value in call.arguments.items() if key not in {"tool", "arguments"}}
    given = call.arguments.get("arguments")
    if given is None and not beside:
        return call
    if isinstance(given, Mapping):
        return replace(call, name=tool, arguments={**beside, **cast("Mapping[str, object]", given)})
    return tool_call(call.id, tool, beside if given is None else given)
