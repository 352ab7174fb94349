"""The format of chat completions, as OpenAI and the many compatible servers accept and return it.

Compatible servers (Ollama, vLLM, llama-server, LM Studio, OpenRouter, NEAR AI) feed the history into chat templates, so
it is limited to what all of them accept: strings as content, never null; arguments that are JSON objects; the system
message first; user and assistant alternating; call ids of nine letters and digits, because Mistral accepts no others.
Whatever else a server returns and wants back within the turn (`_CARRIED`) is sent back unchanged.
Left to others: sending it (`bot.models.openai.provider`).

Source: platform.openai.com (chat completions), and issue threads of vLLM, SGLang, llama.cpp and Mistral (error 3280,
"Tool call id was ... but must be a-z, A-Z, 0-9, with a length of 9"), 2026-11-24.
"""

import hashlib
import re
import secrets
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Annotated, cast

from pydantic import AliasChoices, BeforeValidator, Field

from bot.messages import (
    AssistantMessage,
    AssistantPart,
    CallId,
    Medium,
    Message,
    Opaque,
    Picture,
    Text,
    ToolCall,
    ToolMessage,
    UserMessage,
)
from bot.models import media, wire
from bot.models.base import Request, Stop, ToolOffer, Usage
from bot.models.openai.quirks import Habits

PATH = "/chat/completions"

CACHE_KEY = "aldis"
"""One key for all conversations: it routes requests with the same beginning to where that is cached.

Source: developers.openai.com (prompt caching), 2026-11-22.
"""

VENDOR = "chat"

Json = dict[str, object]
Content = str | list[Json]

_CARRIED = ("reasoning_content", "reasoning_details", "extra_content")
"""What some servers returned with a call and refuse the call without: the thoughts before it (DeepSeek, Kimi), the same
in OpenRouter's format, the signature of a thought (Gemini).

Source: api-docs.deepseek.com (thinking mode), openrouter.ai/docs (preserving reasoning), ai.google.dev (thought
signatures) and issue threads about each, 2026-11-24.
"""
UNSIGNED = {"google": {"thought_signature": "skip_thought_signature_validator"}}
"""What Gemini accepts as the signature of a call that it did not make itself. Source: as above."""

_STOPS: Mapping[str | None, Stop] = {
    "length": Stop.LENGTH,
    "model_length": Stop.LENGTH,
    "content_filter": Stop.REFUSAL,
    "sensitive": Stop.REFUSAL,
}
_BROKEN = frozenset({"error", "network_error", "insufficient_system_resource"})
"""Stop reasons that mean a failure.

Source, for these and the stops that are not OpenAI's: openrouter.ai/docs (errors), docs.mistral.ai, docs.z.ai and
api-docs.deepseek.com (chat completions), 2026-11-24.
"""


def _written(content: object) -> object:
    """The text of a message, or its parts: one that stands alone is one of them, and some are bare texts."""
    if isinstance(content, dict):
        return [cast("object", content)]
    if not isinstance(content, list):
        return content
    return [{"text": part} if isinstance(part, str) else part for part in cast("list[object]", content)]


def _objects(value: object) -> object:
    parts = cast("list[object]", value) if isinstance(value, list) else []
    return [cast("object", part) for part in parts if isinstance(part, dict)] or None


WrittenContent = Annotated[str | list[Json] | None, BeforeValidator(_written)]
Details = Annotated[list[Json] | None, BeforeValidator(_objects)]
"""OpenRouter's thoughts."""


class _Function(wire.Wire):
    name: wire.Name = None
    arguments: object = None


class _Call(wire.Wire):
    function: wire.Aside[_Function] = None
    id: wire.Name = None
    extra_content: wire.Aside[Json] = None


class _Message(wire.Wire):
    content: WrittenContent = None
    refusal: wire.Name = None
    tool_calls: list[_Call] | None = None
    function_call: wire.Aside[_Function] = None
    """What some gateways still send instead of `tool_calls`. llama-cpp-python sends both, and in this one a wrong name.

    Source: github.com/QwenLM/qwen-code/pull/6240 and abetlen/llama-cpp-python (llama_chat_format.py), 2026-11-26.
    """
    reasoning_content: object = None
    reasoning_details: Details = None


class _Choice(wire.Wire):
    message: _Message
    finish_reason: wire.Name = None


class _Details(wire.Wire):
    """The cached part of a prompt, and the part that was written to the cache."""

    cached_tokens: wire.Count = 0
    cache_write_tokens: wire.Count = 0


class Counted(wire.Wire):
    """The usage as both APIs report it, each under its own names."""

    asked: wire.Count = Field(default=0, validation_alias=AliasChoices("prompt_tokens", "input_tokens"))
    answered: wire.Count = Field(default=0, validation_alias=AliasChoices("completion_tokens", "output_tokens"))
    details: wire.Aside[_Details] = Field(
        default=None, validation_alias=AliasChoices("prompt_tokens_details", "input_tokens_details")
    )

    @property
    def usage(self) -> Usage:
        """The same as a completion's usage."""
        details = self.details or _Details()
        return Usage(
            input_tokens=self.asked,
            cached_input_tokens=details.cached_tokens,
            cache_write_tokens=details.cache_write_tokens,
            output_tokens=self.answered,
        )


class _Answer(wire.Wire):
    choices: list[_Choice] = Field(min_length=1)
    usage: wire.Aside[Counted] = None


def body(request: Request, *, model: str, effort: str | None, official: bool, habits: Habits) -> Json:
    """The request as a server with these habits accepts it; `official` is whether it is OpenAI's own."""
    messages = _messages(request, habits)
    ready: Json = {"model": model, habits.limit_name: request.max_output_tokens, "messages": messages}
    if effort is not None:
        ready["reasoning_effort"] = effort
    if official and not request.is_one_off:  # others refuse unknown fields
        ready["prompt_cache_key"] = CACHE_KEY
    return ready | tools_of(request, _offer)


def tools_of(request: Request, offered: Callable[[ToolOffer], Json]) -> Json:
    """The tools part of a request, with each offer in the API's format."""
    if not request.tools:
        return {}
    told: Json = {"tools": [offered(offer) for offer in request.told_tools]}
    return told if request.may_call_tools else told | {"tool_choice": "none"}


def _offer(offer: ToolOffer) -> Json:
    parameters = wire.schema_of(offer)
    return {
        "type": "function",
        "function": {"name": offer.name, "description": offer.description, "parameters": parameters},
    }


def _messages(request: Request, habits: Habits) -> list[Json]:
    system = request.whole_system
    ready: list[Json] = [{"role": "system", "content": system}] if system and habits.takes_system else []
    asked: list[Content] = [system] if system and not habits.takes_system else []
    messages = request.messages if habits.takes_parallel_calls else _one_by_one(request.messages)
    for message in messages:
        if isinstance(message, UserMessage):  # many templates require user and assistant to alternate
            asked.append(_content(message, habits.takes))
        elif items := _items(message, habits):
            ready += [*_asked(asked), *items]
            asked = []
    return [*ready, *_asked(asked)]


def _one_by_one(messages: Iterable[Message]) -> Iterator[Message]:
    """The messages with at most one call in each, every one followed by its answer."""
    calls: list[ToolCall] = []
    for message in messages:
        if isinstance(message, AssistantMessage) and len(message.calls) > 1:
            calls = list(message.calls[1:])
            yield replace(message, parts=tuple(part for part in message.parts if part not in calls))
        elif isinstance(message, ToolMessage) and calls:
            of_call = {call.id: call for call in calls}
            for answer in message.answers:
                if answer.call_id in of_call:
                    yield AssistantMessage(parts=(of_call[answer.call_id],))
                yield ToolMessage(answers=(answer,))
            calls = []
        else:
            yield message


def _asked(contents: list[Content]) -> list[Json]:
    """Consecutive questions as one message: a string, or a list of parts if one of them has media."""
    if not contents:
        return []
    texts = [content for content in contents if isinstance(content, str)]
    if len(texts) == len(contents):
        return [{"role": "user", "content": "\n\n".join(texts)}]
    parts = [part for content in contents for part in (_text(content) if isinstance(content, str) else content)]
    return [{"role": "user", "content": parts}]


def _content(message: UserMessage, takes: media.Kinds) -> Content:
    text, shown = media.text_of(message, takes), media.accepted_media(message, takes)
    return [*_text(text), *map(_shown, shown)] if shown else text


def _text(text: str) -> list[Json]:
    return [{"type": "text", "text": text}]


def _shown(medium: Medium) -> Json:
    if isinstance(medium, Picture):
        return {"type": "image_url", "image_url": {"url": media.data_uri(medium)}}
    return {"type": "file", "file": {"filename": media.file_name(medium), "file_data": media.data_uri(medium)}}


def _items(message: AssistantMessage | ToolMessage, habits: Habits) -> list[Json]:
    if isinstance(message, AssistantMessage):
        return _spoken(message, habits)
    return [
        {"role": "tool", "tool_call_id": _wire_id(answer.call_id), "content": answer.content}
        for answer in message.answers
    ]


def _spoken(message: AssistantMessage, habits: Habits) -> list[Json]:
    spoken: Json = {"role": "assistant", "content": message.text}
    calls: list[Json] = []
    of_call: Json = {}
    for part in message.parts:
        if isinstance(part, ToolCall):
            calls.append(_call(part) | of_call)
            of_call = {}
        elif isinstance(part, Opaque) and part.vendor == VENDOR and habits.carries:
            of_call = {name: value for name, value in part.data.items() if name == "extra_content"}
            spoken |= {name: value for name, value in part.data.items() if name != "extra_content"}
    if not calls and not message.text:
        return []
    if habits.fills == "reasoning_content":
        spoken = {"reasoning_content": " ", **spoken}  # Kimi treats an empty one as missing
    if calls and habits.fills == "thought_signature":
        calls[0] = {"extra_content": UNSIGNED, **calls[0]}
    return [spoken | {"tool_calls": calls} if calls else spoken]


def _call(call: ToolCall) -> Json:
    function = {"name": wire.tool_name(call.name), "arguments": arguments_json(call)}
    return {"id": _wire_id(call.id), "type": "function", "function": function}


def _wire_id(call_id: CallId) -> str:
    return hashlib.sha256(call_id.encode("utf-8", "replace")).hexdigest()[:9]


def arguments_json(call: ToolCall) -> str:
    """The arguments as valid JSON, even if the model wrote none: some servers parse the history every time."""
    return wire.encode_json(call.arguments).decode()


def read(data: bytes, request: Request) -> wire.WireAnswer:
    """Reads the answer.

    Raises:
        ValueError: it does not have the shape of a chat completion, or broke off.
    """
    answer = wire.parse(_Answer, data)
    choice = answer.choices[0]
    if choice.finish_reason in _BROKEN:
        raise ValueError("the answer broke off")
    stop = Stop.REFUSAL if choice.message.refusal else _STOPS.get(choice.finish_reason, Stop.END)
    return wire.wire_answer(_parts(choice.message, request), stop, (answer.usage or Counted()).usage)


def _parts(message: _Message, request: Request) -> list[AssistantPart]:
    words = [message.refusal] if message.refusal else _words(message.content)
    parts: list[AssistantPart] = [*(Text(text=text) for text in words), *_carried(message)]
    ids = CallIds(request)
    legacy = message.function_call
    for call in message.tool_calls or ([_Call(function=legacy)] if legacy and legacy.name else ()):
        if call.function is not None:
            parts += _carried(call)
            parts.append(wire.tool_call(ids.free(call.id), call.function.name or "", call.function.arguments))
    return parts


def _carried(given: _Message | _Call) -> list[AssistantPart]:
    """Returns what came with the words or a call and must be sent back; placed before what it belongs to."""
    found = {name: value for name in _CARRIED if (value := getattr(given, name, None))}
    return [Opaque(vendor=VENDOR, data=found)] if found else []


def _words(content: str | list[Json] | None) -> list[str]:
    if isinstance(content, list):
        return [text for part in content if isinstance(text := part.get("text"), str)]
    return [content] if content is not None else []


class CallIds:
    """The ids of a conversation's calls, each used once."""

    def __init__(self, request: Request) -> None:
        told = (message for message in request.messages if isinstance(message, AssistantMessage))
        self._taken = {call.id for message in told for call in message.calls}

    def free(self, given: str | None) -> CallId:
        """The server's id, or one of our own if it gave none, repeated one, or gave one that others refuse.

        Some models number their calls from 0 in every answer (`functions.get_weather:0`); servers do not keep ids, so
        ours are as good.
        """
        fits = given and CallId(given) not in self._taken and re.fullmatch(r"[a-zA-Z0-9_-]{1,64}", given)
        call_id = CallId(given if given and fits else f"call_{secrets.token_hex(12)}")
        self._taken.add(call_id)
        return call_id
