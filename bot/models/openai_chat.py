"""The format of chat completions, as OpenAI and the many compatible servers accept and return it.

Compatible servers (Ollama, vLLM, llama-server, LM Studio, OpenRouter, NEAR AI) feed the history into chat templates, so
it is limited to what all of them accept: strings as content, never null; arguments that are JSON objects; the system
message first; user and assistant alternating; call ids of nine letters and digits, because Mistral accepts no others.
Whatever else a server returns and wants back within the turn (`_CARRIED`) is sent back unchanged.

Source: platform.openai.com (chat completions), and issue threads of vLLM, SGLang, llama.cpp and Mistral
(error 3280, "Tool call id was ... but must be a-z, A-Z, 0-9, with a length of 9"), 2026-11-24.
"""

from collections.abc import Callable, Mapping
from itertools import chain
from typing import cast

from pydantic import Field

from bot.messages import AssistantPart, Medium, Message, Opaque, Picture, Text, ToolCall, ToolMessage, UserMessage
from bot.models import media, wire
from bot.models.adapter import Quirks
from bot.models.base import Completion, Request, Stop, ToolOffer

CACHE_KEY = "aldis"
"""One key for all conversations: it routes requests with the same beginning to where that is cached."""

VENDOR = "chat"

Json = dict[str, object]

_CARRIED = ("reasoning_content", "reasoning_details", "extra_content")
"""What some servers returned with a call and refuse the call without: the thoughts before it (DeepSeek, Kimi), the same
in OpenRouter's format, the signature of a thought (Gemini). Source: the documentation of each, 2026-11-24.
"""
_UNSIGNED = {"google": {"thought_signature": "skip_thought_signature_validator"}}
"""What Gemini accepts as the signature of a call that it did not make itself. Source: as above."""

_STOPS: Mapping[str | None, Stop] = {
    "length": Stop.LENGTH,
    "model_length": Stop.LENGTH,
    "content_filter": Stop.REFUSAL,
    "sensitive": Stop.REFUSAL,
}
_BROKEN = frozenset({"error", "network_error", "insufficient_system_resource"})
"""Stop reasons that mean a failure. Source: the documentation of OpenRouter, Mistral, Z.ai and DeepSeek, 2026-11-24."""


class _Function(wire.Wire):
    name: wire.Name = None
    arguments: object = None


class _Call(wire.Wire):
    function: wire.Aside[_Function] = None
    id: wire.Name = None
    extra_content: wire.Aside[Json] = None


class _Message(wire.Wire):
    content: object = None
    refusal: wire.Name = None
    tool_calls: list[_Call] | None = None
    reasoning_content: object = None
    reasoning_details: object = None

    @property
    def words(self) -> list[str]:
        """The texts of the message, or of its refusal; some servers write a list of parts, or of texts."""
        content = self.refusal or self.content
        parts = cast("list[object]", content) if isinstance(content, list) else [content]
        texts = (cast("Json", part).get("text") if isinstance(part, dict) else part for part in parts)
        return [text for text in texts if isinstance(text, str)]


class _Choice(wire.Wire):
    message: wire.Aside[_Message] = None
    finish_reason: wire.Name = None


class _Answer(wire.Wire):
    choices: list[_Choice] = Field(min_length=1)
    usage: wire.Aside[wire.Counted] = None


def body(request: Request, *, model: str, effort: str | None, limit: str, official: bool, quirks: Quirks) -> Json:
    """The request for a server with these quirks; `limit` names the output limit, `official`: it is OpenAI's own."""
    ready: Json = {"model": model, limit: request.max_output_tokens, "messages": _messages(request, quirks)}
    if effort is not None:
        ready["reasoning_effort"] = effort
    if official and not request.is_one_off:  # others refuse unknown fields
        ready["prompt_cache_key"] = CACHE_KEY
    if request.temperature is not None:
        ready["temperature"] = request.temperature
    return ready | tools_of(request, _offer)


def tools_of(request: Request, offered: Callable[[ToolOffer], Json]) -> Json:
    """The tools part of a request, with each offer in the API's format."""
    if not request.tools:
        return {}
    described: Json = {"tools": [offered(offer) for offer in request.tools]}
    return described if request.may_call_tools else described | {"tool_choice": "none"}


def _offer(offer: ToolOffer) -> Json:
    function = {"name": offer.name, "description": offer.description, "parameters": wire.schema_of(offer)}
    return {"type": "function", "function": function}


def _messages(request: Request, quirks: Quirks) -> list[Json]:
    system = request.whole_system
    ready: list[Json] = [{"role": "system", "content": system}] if system else []
    for item in chain.from_iterable(_MADE(quirks).each(request.messages)):
        # Many templates require user and assistant to alternate.
        if item["role"] == "user" and ready and ready[-1]["role"] == "user":
            ready[-1] = _joined(ready[-1]["content"], item["content"])
        else:
            ready.append(item)
    return ready


def _joined(before: object, after: object) -> Json:
    """Consecutive questions as one message: a string unless one of them has media."""
    if isinstance(before, str) and isinstance(after, str):
        return {"role": "user", "content": f"{before}\n\n{after}"}
    parts = [[_text(one)] if isinstance(one, str) else cast("list[Json]", one) for one in (before, after)]
    return {"role": "user", "content": [*chain(*parts)]}


def _text(text: str) -> Json:
    return {"type": "text", "text": text}


def _shown(medium: Medium) -> Json:
    if isinstance(medium, Picture):
        return {"type": "image_url", "image_url": {"url": media.data_uri(medium)}}
    return {"type": "file", "file": {"filename": media.file_name(medium), "file_data": media.data_uri(medium)}}


def _items(message: Message, quirks: Quirks) -> list[Json]:
    if isinstance(message, UserMessage):
        text, shown = media.text_of(message, media.ALL - quirks), media.accepted_media(message, media.ALL - quirks)
        return [{"role": "user", "content": [_text(text), *map(_shown, shown)] if shown else text}]
    if isinstance(message, ToolMessage):
        return [
            {"role": "tool", "tool_call_id": wire.opaque_name(one.call_id)[:9], "content": one.content}
            for one in message.answers
        ]
    spoken: Json = {"role": "assistant", "content": message.text}
    calls: list[Json] = []
    of_call: Json = {}
    for part in message.parts:
        if isinstance(part, ToolCall):
            function = {"name": wire.tool_name(part.name), "arguments": arguments_json(part)}
            calls.append({"id": wire.opaque_name(part.id)[:9], "type": "function", "function": function} | of_call)
            of_call = {}
        elif isinstance(part, Opaque) and part.vendor == VENDOR and "carried" not in quirks:
            of_call = {name: value for name, value in part.data.items() if name == "extra_content"}
            spoken |= {name: value for name, value in part.data.items() if name != "extra_content"}
    if not calls and not message.text:
        return []
    if "reasoning_content" in quirks:
        spoken = {"reasoning_content": " ", **spoken}  # Kimi treats an empty one as missing
    if calls and "thought_signature" in quirks:
        calls[0] = {"extra_content": _UNSIGNED, **calls[0]}
    return [spoken | {"tool_calls": calls} if calls else spoken]


_MADE = wire.made_once(_items)


def arguments_json(call: ToolCall) -> str:
    """The arguments as valid JSON, even if the model wrote none: some servers parse the history every time."""
    return wire.encode_json(call.arguments).decode()


def read(data: bytes) -> Completion:
    """Reads the answer; raises `ValueError` if it does not have the shape of a chat completion, or broke off."""
    answer = _Answer.model_validate_json(data)
    choice = answer.choices[0]
    if choice.finish_reason in _BROKEN or choice.message is None:
        raise ValueError("the answer broke off")
    stop = Stop.REFUSAL if choice.message.refusal else _STOPS.get(choice.finish_reason, Stop.END)
    parts: list[AssistantPart] = [*(Text(text=text) for text in choice.message.words), *_carried(choice.message)]
    for call in choice.message.tool_calls or ():
        if call.function is not None:
            parts += _carried(call)
            parts.append(wire.tool_call(call.id, call.function.name or "", call.function.arguments))
    return wire.wire_answer(parts, stop, (answer.usage or wire.Counted()).usage)


def _carried(given: _Message | _Call) -> list[AssistantPart]:
    """Returns what came with the words or a call and must be sent back; placed before what it belongs to."""
    found = {name: value for name in _CARRIED if (value := getattr(given, name, None))}
    return [Opaque(vendor=VENDOR, data=found)] if found else []
