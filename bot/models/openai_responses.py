"""The format of OpenAI's Responses API, as items.

Nothing is stored at OpenAI (`store` is false), so reasoning items travel with the conversation: encrypted, within the
running turn, each before the call it led to. Left to others: sending it (`bot.models.openai`).

Source: platform.openai.com (responses) and the package openai 3.54.0, 2026-11-21.
"""

from collections.abc import Mapping
from itertools import chain

from pydantic import AliasPath, Field

from bot.messages import AssistantPart, Medium, Message, Opaque, Picture, Text, ToolCall, ToolMessage, UserMessage
from bot.models import caching, media, wire
from bot.models.adapter import Quirks
from bot.models.base import Completion, Request, Stop, ToolOffer
from bot.models.openai_chat import CACHE_KEY, arguments_json, tools_of

VENDOR = "openai"

MIN_OUTPUT_TOKENS = 16
"""The API refuses anything lower."""

Json = dict[str, object]

_REASONS: Mapping[str | None, Stop] = {"max_output_tokens": Stop.LENGTH, "content_filter": Stop.REFUSAL}


class _Said(wire.Wire):
    text: str = ""
    refusal: str = ""


class _Message(wire.Wire):
    content: list[_Said]


class _Call(wire.Wire):
    name: str
    call_id: str | None = None
    arguments: str | None = None


class _Answer(wire.Wire):
    output: list[Json]
    status: str | None = None
    code: wire.Name = Field(default=None, validation_alias=AliasPath("error", "code"))
    reason: wire.Name = Field(default=None, validation_alias=AliasPath("incomplete_details", "reason"))
    usage: wire.Aside[wire.Counted] = None


def body(request: Request, *, model: str, effort: str | None, reasons: bool, marks: bool, quirks: Quirks) -> Json:
    """The request to a server with these quirks; `reasons`: it can return reasoning; `marks`: its cache needs them."""
    kept = caching.plan(request) if marks else None
    takes = media.ALL - quirks
    items = _MADE(takes).each(request.messages)
    for place in kept or ():
        items[place] = _items(request.messages[place], takes, marked=True)
    # `instructions` accept no mark, so the system prompt is an item then: what all conversations share comes first.
    system = [_marked(_text(request.system))] if request.system.strip() else []
    system += [_text(request.persona)] if request.persona.strip() else []
    before = [{"role": "developer", "content": system}] if system and kept is not None else []
    ready: Json = {
        "model": model,
        "input": [*before, *chain.from_iterable(items)],
        "max_output_tokens": max(MIN_OUTPUT_TOKENS, request.max_output_tokens),
        "store": False,
    }
    if request.whole_system and kept is None:
        ready["instructions"] = request.whole_system
    if marks:
        late = caching.outlives_half_an_hour(request.messages)
        ready["prompt_cache_options"] = {"mode": "explicit", "ttl": "12h" if late else "30m"}
    if reasons:
        ready["include"] = ["reasoning.encrypted_content"]
    if effort is not None:
        ready["reasoning"] = {"effort": effort}
    if not request.is_one_off:
        ready["prompt_cache_key"] = CACHE_KEY
    if request.temperature is not None:
        ready["temperature"] = request.temperature
    return ready | tools_of(request, _offer)


def _offer(offer: ToolOffer) -> Json:
    return {
        "type": "function",
        "name": offer.name,
        "description": offer.description,
        "parameters": wire.schema_of(offer),
        # The default is true, which requires every property to be required.
        "strict": False,
    }


def _text(text: str) -> Json:
    return {"type": "input_text", "text": text}


def _marked(part: Json) -> Json:
    return part | {"prompt_cache_breakpoint": {"mode": "explicit"}}


def _items(message: Message, takes: media.Kinds, *, marked: bool = False) -> list[Json]:
    """The items of a message; `marked` is whether the cache keeps everything up to it."""
    match message:
        case UserMessage():
            text, shown = media.text_of(message, takes), media.accepted_media(message, takes)
            if not (shown or marked):
                return [{"role": "user", "content": text}]
            parts = [_text(text), *map(_shown, shown)]
            return [{"role": "user", "content": [*parts[:-1], _marked(parts[-1])] if marked else parts}]
        case ToolMessage():
            last = message.answers[-1].call_id if marked else None
            return [_output(one.call_id, one.content, marked=one.call_id == last) for one in message.answers]
        case _:
            return [item for part in message.parts if (item := _item(part)) is not None]


_MADE = wire.made_once(_items)


def _output(call_id: str, content: str, *, marked: bool) -> Json:
    output = [_marked(_text(content))] if marked else content
    return {"type": "function_call_output", "call_id": call_id, "output": output}


def _shown(medium: Medium) -> Json:
    if isinstance(medium, Picture):
        return {"type": "input_image", "image_url": media.data_uri(medium), "detail": "auto"}
    return {"type": "input_file", "filename": media.file_name(medium), "file_data": media.data_uri(medium)}


def _item(part: AssistantPart) -> Json | None:
    match part:
        case Text():
            return {"role": "assistant", "content": part.text}
        case ToolCall():
            name = wire.tool_name(part.name)
            return {"type": "function_call", "call_id": part.id, "name": name, "arguments": arguments_json(part)}
        case Opaque():
            return dict(part.data) if part.vendor == VENDOR else None


def read(data: bytes, *, model: str) -> Completion:
    """Reads the answer; raises `ValueError` if it is no response, or the `ProviderError` that it reports."""
    answer = _Answer.model_validate_json(data)
    if answer.status == "failed":
        code = answer.code or ""
        raise wire.Refusal(status=wire.status_of(code), code=code, headers={}).error(provider=VENDOR, model=model)
    stop = _REASONS.get(answer.reason, Stop.END)
    parts: list[AssistantPart] = []
    for item in answer.output:
        match item.get("type"):
            case "message":
                said = _Message.model_validate(item).content
                parts += [Text(text=part.text or part.refusal) for part in said]
                stop = Stop.REFUSAL if any(part.refusal for part in said) else stop
            case "function_call":
                call = _Call.model_validate(item)
                parts.append(wire.tool_call(call.call_id, call.name, call.arguments))
            case _:
                whole = {key: value for key, value in item.items() if value is not None}
                parts.append(Opaque(vendor=VENDOR, data=whole))
    return wire.wire_answer(parts, stop, (answer.usage or wire.Counted()).usage)
