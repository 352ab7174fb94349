"""Claude, through the Messages API and Anthropic's own SDK.

The SDK handles the key, the version header, connections and errors; the body is sent as ready bytes and received as
bytes (see `wire.encode_json`), so that blocks only Anthropic understands return exactly as they came.
Left to others: learning what a server does not take (`adapter`), what is asked (`bot.chat.prompt`).

Source: docs.claude.com (Messages API, version 2026-10-21) and the package anthropic 2.12.0, 2026-11-21.
"""

import logging
import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import pairwise
from typing import ClassVar, Final

import anthropic
from httpx2 import TransportError

from bot.errors import ContextTooLong, ProviderError
from bot.messages import (
    AssistantMessage,
    AssistantPart,
    CallId,
    Medium,
    Message,
    Opaque,
    Picture,
    Text,
    ToolAnswer,
    ToolCall,
    ToolMessage,
    UserMessage,
    without_opaque,
)
from bot.models import caching, media, wire
from bot.models.adapter import TEMPERATURE, Adapter, PrivateClient, Quirks, http_options
from bot.models.base import Completion, Request, Stop, ToolOffer
from bot.models.capabilities import ModelLessons
from bot.models.prices import Prices
from bot.models.tool_list import with_list
from bot.models.words import clean
from bot.settings.groups import AnthropicSettings

NAME: Final = "anthropic"
BASE_URL = "https://api.anthropic.com"

_ODD = (ValueError, TypeError, AttributeError, LookupError, RecursionError, AssertionError, RuntimeError)
"""What the SDK and the readers raise over an answer of another shape; JSON can be too deep."""
Block = dict[str, object]

_STOPS: Mapping[str | None, Stop] = {
    "max_tokens": Stop.LENGTH,
    "model_context_window_exceeded": Stop.LENGTH,
    "pause_turn": Stop.LENGTH,
    "refusal": Stop.REFUSAL,
}


class _Answer(wire.Wire):
    content: list[Block]
    stop_reason: wire.Name = None
    usage: wire.Aside[wire.Counted] = None


class _Client(PrivateClient, anthropic.AsyncAnthropic):
    """The SDK's client."""


class Anthropic(Adapter):
    """A provider: one model of Anthropic, or of a server that speaks its Messages API."""

    name = NAME
    lost = (anthropic.APIConnectionError, TransportError)
    failures = (ProviderError, anthropic.AnthropicError, *lost, *_ODD)
    # Thinking that is sent back, in whatever way it does not fit.
    quirks: ClassVar = {
        "thinking": re.compile(r"`(?:redacted_)?thinking`|bound to a different conversation"),
        "temperature": re.compile(TEMPERATURE, re.IGNORECASE),
    }
    forgotten = frozenset({"thinking"})

    def __init__(
        self,
        given: AnthropicSettings,
        *,
        model: str = "",
        prices: Prices | None = None,
        lessons: ModelLessons | None = None,
    ) -> None:
        """Opens nothing yet. `model` is another than that of the settings."""
        # At the level DEBUG the SDK logs whole requests, but people's words must not reach a log.
        logging.getLogger("anthropic").setLevel(logging.WARNING)
        super().__init__(given, model=model or given.model, official_url=BASE_URL, prices=prices, lessons=lessons)
        # The API refuses a temperature for each of its models since this version; other servers of it take one.
        self._set = frozenset({"temperature"} if self._base_url == BASE_URL else ())
        self._client = _Client(
            api_key=given.api_key.get_secret_value() if given.api_key else "",
            base_url=self._base_url,  # None would be looked up in the environment
            open_telemetry=False,  # a tracer anywhere in the process would add to the headers
            http_client=anthropic.DefaultAioHttpClient(**http_options()),
        )

    def _learnable(self, request: Request) -> Quirks:
        return frozenset(self.quirks if caching.has_thoughts(request.messages) else {"temperature"})

    async def _answered(self, request: Request, quirks: Quirks) -> Completion:
        if "thinking" in quirks:
            request = replace(request, messages=tuple(map(without_opaque, request.messages)))
        asked = with_list(request)
        marks = caching.plan(request)
        body = _body(asked, model=self._model, effort=self._effort, shares=marks is not None)
        body["messages"] = _conversation(asked.messages, media.ALL - quirks, marks or {})
        answer = _Answer.model_validate_json(await self._post("/v1/messages", body))
        stop = _STOPS.get(answer.stop_reason, Stop.END)
        parts = _parts(answer.content)
        if was_cut_in_call := stop is Stop.LENGTH and bool(parts) and isinstance(parts[-1], ToolCall):
            parts.pop()  # a number that was cut is another number
        usage = (answer.usage or wire.Counted()).usage
        of_cache = usage.cached_input_tokens + usage.cache_write_tokens  # which its figure of the prompt excludes
        usage = replace(usage, input_tokens=usage.input_tokens + of_cache)
        read = wire.wire_answer(parts, stop, usage, was_cut_in_call=was_cut_in_call)
        if answer.stop_reason == "model_context_window_exceeded" and read.message is None:
            raise ContextTooLong(f"{NAME} had no room left for an answer", provider=NAME, model=self._model)
        return clean(read, request)

    def _refusal(self, error: Exception) -> wire.Refusal | None:
        if not isinstance(error, anthropic.APIStatusError):
            return None
        code, words = str(error.error_code or error.type or ""), str(error.api_message or "")
        return wire.Refusal(status=error.status_code, code=code, words=words, headers=error.response.headers)


# --- what goes out


def _body(request: Request, *, model: str, effort: str | None, shares: bool) -> dict[str, object]:
    """The request without its messages, constant within a turn; `shares`: its beginning is cached for all."""
    body: dict[str, object] = {"model": model, "max_tokens": request.max_output_tokens}
    # What all conversations share, then what this one adds; the cache mark between them covers tools, too.
    blocks: list[Block] = [{"type": "text", "text": text} for text in (request.system, request.persona) if text.strip()]
    if shares and request.system.strip():
        blocks[0] |= _kept("1h")
    if blocks:
        body["system"] = blocks
    if request.conversation:
        body["metadata"] = {"user_id": wire.opaque_name(request.conversation)}
    if effort is not None:
        body["output_config"] = {"effort": effort}
    if request.temperature is not None:
        body["temperature"] = request.temperature
    return body | _tools(request)


def _kept(life: caching.Life) -> Block:
    return {"cache_control": {"type": "ephemeral", "ttl": life}}


def _tools(request: Request) -> dict[str, object]:
    offers = [_offer(offer) for offer in request.tools]
    if not offers:  # a request with calls in its history must describe some tool
        past = [message for message in request.messages if isinstance(message, AssistantMessage)]
        names = dict.fromkeys(wire.tool_name(call.name) for message in past for call in message.calls)
        offers = [_offer(ToolOffer(name=name, description="Switched off.", parameters={})) for name in names]
    if not offers:
        return {}
    may_call = bool(request.tools) and request.may_call_tools
    return {"tools": offers} if may_call else {"tools": offers, "tool_choice": {"type": "none"}}


def _offer(offer: ToolOffer) -> Block:
    return {"name": offer.name, "description": offer.description, "input_schema": wire.schema_of(offer)}


def _conversation(messages: Sequence[Message], takes: media.Kinds, marks: caching.Marks) -> list[Block]:
    """The messages as the API accepts them, neighbours of one role joined; `marks`: the cache keeps all up to there."""
    came: dict[CallId, Block] = {}
    turns: list[tuple[str, list[Block]]] = []
    for place, (message, made) in enumerate(zip(messages, _MADE(takes).each(messages), strict=True)):
        came |= _came(message)
        blocks = made
        if came and isinstance(message, ToolMessage):
            blocks = [_result(one, came.get(one.call_id, {}).get("id", one.call_id)) for one in message.answers]
        if blocks and place in marks:
            blocks = [*blocks[:-1], blocks[-1] | _kept(marks[place])]
        role = "assistant" if isinstance(message, AssistantMessage) else "user"
        if turns and turns[-1][0] == role:
            turns[-1][1].extend(blocks)
        elif blocks:
            turns.append((role, [*blocks]))
    return [{"role": role, "content": blocks} for role, blocks in turns]


def _came(message: Message) -> dict[CallId, Block]:
    """The calls of a message that are sent back as the vendor sent them, each in a block before its own."""
    parts = message.parts if isinstance(message, AssistantMessage) else ()
    return {
        part.id: {**before.data, **({} if isinstance(before.data.get("input"), dict) else {"input": {}})}
        for before, part in pairwise(parts)
        if isinstance(part, ToolCall) and isinstance(before, Opaque) and _is_call(before)
    }


def _is_call(part: Opaque) -> bool:
    return part.vendor == NAME and part.data.get("type") == "tool_use"


def _blocks(message: Message, takes: media.Kinds) -> list[Block]:
    match message:
        case UserMessage():
            # Media come first, as the vendor recommends.
            shown = [_shown(medium) for medium in media.accepted_media(message, takes)]
            return [*shown, {"type": "text", "text": media.text_of(message, takes)}]
        case ToolMessage():
            return [_result(one, one.call_id) for one in message.answers]
        case AssistantMessage():
            came = _came(message)
            return [block for part in message.parts if (block := _block(part, came)) is not None]


_MADE = wire.made_once(_blocks)


def _shown(medium: Medium) -> Block:
    source = {"type": "base64", "media_type": media.content_type(medium), "data": media.base64_of(medium)}
    if isinstance(medium, Picture):
        return {"type": "image", "source": source}
    return {"type": "document", "source": source, "title": media.file_name(medium)}


def _result(answer: ToolAnswer, call_id: object) -> Block:
    result: Block = {"type": "tool_result", "tool_use_id": call_id, "content": answer.content}
    return result if answer.ok else result | {"is_error": True}


def _block(part: AssistantPart, came: Mapping[CallId, Block]) -> Block | None:
    match part:
        case Text():
            return {"type": "text", "text": part.text}
        case ToolCall():
            name = wire.tool_name(part.name)
            own: Block = {"type": "tool_use", "id": part.id, "name": name, "input": dict(part.arguments)}
            return dict(came.get(part.id, own))
        case Opaque():
            return None if part.vendor != NAME or _is_call(part) else dict(part.data)


# --- what comes back


def _parts(content: Sequence[Block]) -> list[AssistantPart]:
    """The parts of an answer. Thoughts are bound to what precedes them, so a call among them follows its own block."""
    parts = [_part(block) for block in content]
    if not any(isinstance(part, Opaque) for part in parts):
        return parts
    whole: list[AssistantPart] = []
    for block, part in zip(content, parts, strict=True):
        whole += [Opaque(vendor=NAME, data=block)] if isinstance(part, ToolCall) and block.get("id") else []
        whole.append(part)
    return whole


def _part(block: Block) -> AssistantPart:
    match block:
        case {"type": "text", "text": str(text)}:
            return Text(text=text)
        case {"type": "tool_use", "name": str(name)}:
            # A server that only speaks this API may leave out the id, or the arguments of a call that has none.
            return wire.tool_call(str(block.get("id") or "") or None, name, block.get("input"))
        case _:
            return Opaque(vendor=NAME, data=block)
