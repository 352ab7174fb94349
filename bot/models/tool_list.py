"""The list of tools: a model sees one line about each, and calls them through a single tool, `use_tool`.

    calls of the turn, past and new --wrapped--> use_tool(tool, arguments) --unwrapped--> the tool's own call

So the beginning of every request stays small and always the same, and a cache keeps it whichever tools are used;
vendors' own tool search leaves blocks in the conversation that no history keeps. Everything else deals with calls of
the tools themselves.
"""

from collections.abc import Mapping
from dataclasses import replace
from typing import Final, cast

from bot.messages import AssistantMessage, IdentityCache, Message, ToolCall, ToolMessage
from bot.models.base import Completion, Request
from bot.models.wire import tool_call

NAME: Final = "use_tool"


def with_list(request: Request) -> Request:
    """The request with `use_tool` alone in place of the listed tools, and with their calls as calls of it."""
    lines = "".join(f"\n{offer.line}" for offer in request.tools if offer.line)
    if not lines:
        return request
    tools = (offer for offer in request.tools if not offer.line)
    listing = (replace(one, description=one.description + lines) if one.name == NAME else one for one in tools)
    return replace(request, tools=tuple(listing), messages=tuple(map(_as_written, request.messages)))


def own_calls(completion: Completion, request: Request) -> Completion:
    """The completion of a request that offers `use_tool`, its calls of that as calls of the tools themselves."""
    message = completion.message
    if message is None or not message.calls or all(offer.name != NAME for offer in request.tools):
        return completion
    parts = tuple(_unwrapped(part) if isinstance(part, ToolCall) else part for part in message.parts)
    return replace(completion, message=replace(message, parts=parts))


def _as_written(message: Message) -> Message:
    if isinstance(message, ToolMessage) or (isinstance(message, AssistantMessage) and message.calls):
        return _WRAPPED.of(message)
    return message


def _wrapped(message: AssistantMessage | ToolMessage) -> Message:
    if isinstance(message, ToolMessage):
        return replace(message, answers=tuple(replace(answer, name=NAME) for answer in message.answers))
    parts = tuple(
        replace(part, name=NAME, arguments={"tool": part.name, "arguments": dict(part.arguments)})
        if isinstance(part, ToolCall) and part.name != NAME
        else part
        for part in message.parts
    )
    return replace(message, parts=parts)


_WRAPPED: IdentityCache[AssistantMessage | ToolMessage, Message] = IdentityCache(_wrapped)
"""The same object each time, as what is made of it is cached, too."""


def _unwrapped(call: ToolCall) -> ToolCall:
    """The tool's own call, even if the model wrote the arguments next to its name; a question about it stays one."""
    tool = call.arguments.get("tool")
    given = call.arguments.get("arguments")
    if call.name == tool == NAME and isinstance(given, Mapping):  # one within another
        return _unwrapped(replace(call, arguments=cast("Mapping[str, object]", given)))
    if call.name != NAME or not isinstance(tool, str) or tool == NAME:
        return call
    beside = {key: value for key, value in call.arguments.items() if key not in {"tool", "arguments"}}
    if given is None and not beside:
        return call
    if isinstance(given, Mapping):
        return replace(call, name=tool, arguments={**beside, **cast("Mapping[str, object]", given)})
    return tool_call(call.id, tool, beside if given is None else given)
