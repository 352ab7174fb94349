"""The format of chat completions, as OpenAI and the many compatible servers accept and return it, whole or in pieces.

Compatible servers (Ollama, vLLM, llama-server, LM Studio, OpenRouter, NEAR AI) feed the history into chat templates, so
it is limited to what all of them accept: strings as content, never null; arguments that are JSON objects; the system
message first; user and assistant alternating; call ids of nine letters and digits, because Mistral accepts no others.
Whatever else a server returns and wants back within the turn (`_CARRIED`) is sent back unchanged. Servers differ in how
they split streamed calls, which OpenAI's own helper does not read: some send each in one piece, some number all of them
0, some repeat the id and the name in every piece, and some never report usage.

Source: platform.openai.com (chat completions, streaming), and issue threads of vLLM, SGLang, llama.cpp and Mistral
(error 3280, "Tool call id was ... but must be a-z, A-Z, 0-9, with a length of 9"), 2026-11-24.
"""

import hashlib
from collections.abc import Callable, Mapping
from typing import Annotated, cast

from pydantic import AliasChoices, BeforeValidator, Field

from bot.messages import (
    AssistantMessage,
    AssistantPart,
    CallId,
    Medium,
    Opaque,
    Picture,
    Text,
    ToolCall,
    ToolMessage,
    UserMessage,
)
from bot.models import media, wire
from bot.models.adapter import Quirks
from bot.models.base import Request, Stop, ToolOffer, Usage

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
_UNSIGNED = {"google": {"thought_signature": "skip_thought_signature_validator"}}
"""What Gemini accepts as the signature of a call that it did not make itself. Source: as above."""
_GROWING = ("text", "summary", "data")
"""Where a thought's details hold its words."""

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


class _Function(wire.Wire):
    name: wire.Name = None
    arguments: object = None

    @property
    def written(self) -> str:
        """The arguments, or this piece of them, as JSON text."""
        if self.arguments is None or isinstance(self.arguments, str):
            return self.arguments or ""
        return wire.encode_json(self.arguments).decode()


class _Call(wire.Wire):
    """A call; in a stream a piece of one."""

    index: wire.Name = None
    function: wire.Aside[_Function] = None
    id: wire.Name = None
    extra_content: wire.Aside[Json] = None


class _Message(wire.Wire):
    """A message; in a stream what a piece adds to it."""

    content: Annotated[str | list[Json] | None, BeforeValidator(_written)] = None
    refusal: wire.Name = None
    tool_calls: list[_Call] | None = None
    reasoning_content: object = None
    reasoning: object = None
    reasoning_details: Annotated[list[Json] | None, BeforeValidator(_objects)] = None

    @property
    def words(self) -> list[str]:
        """The texts of the message, those of a refusal if it is one."""
        if self.refusal:
            return [self.refusal]
        if isinstance(self.content, list):
            return [text for part in self.content if isinstance(text := part.get("text"), str)]
        return [self.content] if self.content is not None else []


class _Choice(wire.Wire):
    index: wire.Name = None
    message: wire.Aside[_Message] = Field(default=None, validation_alias=AliasChoices("message", "delta"))
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


class _Chunk(wire.Wire):
    choices: list[_Choice] | None = None
    usage: wire.Aside[Json] = None


def body(request: Request, *, model: str, effort: str | None, limit: str, official: bool, quirks: Quirks) -> Json:
    """The request as a server with these quirks accepts it; `limit` is its name for the output limit, `official`
    whether it is OpenAI's own.
    """
    ready: Json = {"model": model, limit: request.max_output_tokens, "messages": _messages(request, quirks)}
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


def _messages(request: Request, quirks: Quirks) -> list[Json]:
    system = request.whole_system
    ready: list[Json] = [{"role": "system", "content": system}] if system else []
    asked: list[Content] = []
    for message in request.messages:
        if isinstance(message, UserMessage):  # many templates require user and assistant to alternate
            asked.append(_content(message, media.ALL - quirks))
        elif items := _items(message, quirks):
            ready += [*_asked(asked), *items]
            asked = []
    return [*ready, *_asked(asked)]


def _asked(contents: list[Content]) -> list[Json]:
    """Consecutive questions as one message: a string, or a list of parts if one of them has media."""
    if not contents:
        return []
    texts = [content for content in contents if isinstance(content, str)]
    if len(texts) == len(contents):
        return [{"role": "user", "content": "\n\n".join(texts)}]
    parts = [part for content in contents for part in ([_text(content)] if isinstance(content, str) else content)]
    return [{"role": "user", "content": parts}]


def _content(message: UserMessage, takes: media.Kinds) -> Content:
    text, shown = media.text_of(message, takes), media.accepted_media(message, takes)
    return [_text(text), *map(_shown, shown)] if shown else text


def _text(text: str) -> Json:
    return {"type": "text", "text": text}


def _shown(medium: Medium) -> Json:
    if isinstance(medium, Picture):
        return {"type": "image_url", "image_url": {"url": media.data_uri(medium)}}
    return {"type": "file", "file": {"filename": media.file_name(medium), "file_data": media.data_uri(medium)}}


def _items(message: AssistantMessage | ToolMessage, quirks: Quirks) -> list[Json]:
    if isinstance(message, ToolMessage):
        answers = message.answers
        return [{"role": "tool", "tool_call_id": _wire_id(one.call_id), "content": one.content} for one in answers]
    spoken: Json = {"role": "assistant", "content": message.text}
    calls: list[Json] = []
    of_call: Json = {}
    for part in message.parts:
        if isinstance(part, ToolCall):
            calls.append(_call(part) | of_call)
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


def _call(call: ToolCall) -> Json:
    function = {"name": wire.tool_name(call.name), "arguments": arguments_json(call)}
    return {"id": _wire_id(call.id), "type": "function", "function": function}


def _wire_id(call_id: CallId) -> str:
    return hashlib.sha256(call_id.encode("utf-8", "replace")).hexdigest()[:9]


def arguments_json(call: ToolCall) -> str:
    """The arguments as valid JSON, even if the model wrote none: some servers parse the history every time."""
    return wire.encode_json(call.arguments).decode()


def read(data: bytes) -> wire.WireAnswer:
    """Reads the answer.

    Raises:
        ValueError: it does not have the shape of a chat completion, or broke off.
    """
    answer = wire.parse(_Answer, data)
    choice = answer.choices[0]
    if choice.finish_reason in _BROKEN or choice.message is None:
        raise ValueError("the answer broke off")
    stop = Stop.REFUSAL if choice.message.refusal else _STOPS.get(choice.finish_reason, Stop.END)
    return wire.wire_answer(_parts(choice.message), stop, (answer.usage or Counted()).usage)


def _parts(message: _Message) -> list[AssistantPart]:
    parts: list[AssistantPart] = [*(Text(text=text) for text in message.words), *_carried(message)]
    for call in message.tool_calls or ():
        if call.function is not None:
            parts += _carried(call)
            parts.append(wire.tool_call(call.id, call.function.name or "", call.function.arguments))
    return parts


def _carried(given: _Message | _Call) -> list[AssistantPart]:
    """Returns what came with the words or a call and must be sent back; placed before what it belongs to."""
    found = {name: value for name in _CARRIED if (value := getattr(given, name, None))}
    return [Opaque(vendor=VENDOR, data=found)] if found else []


class PartialChat:
    """An incomplete answer, put together from its chunks."""

    def __init__(self) -> None:
        self._content = self._refusal = self._thoughts = ""
        self._details: list[Json] = []
        self._calls: list[_PartialCall] = []
        self._reason: str | None = None
        self._place: str | None = None
        self._usage: Json | None = None
        self._size = 0

    def take(self, piece: object) -> bool:
        """Adds a chunk; returns whether it brings more of words, thoughts (also those that do not go back) or calls.

        Raises:
            ValueError: it is not what the service sends.
        """
        chunk, before = _Chunk.model_validate(piece), self._size
        self._usage = chunk.usage or self._usage
        for choice in chunk.choices or ():
            self._place = self._place or choice.index
            if choice.index in {None, self._place}:  # not another answer beside the first, which was not asked for
                self._reason = choice.finish_reason or self._reason
                self._grow(choice.message or _Message())
        return self._size > before

    def body(self) -> bytes:
        """The complete answer in JSON.

        Raises:
            ValueError: its end is missing.
        """
        if self._reason is None:
            raise ValueError("the stream ended before the answer did")
        message: Json = {
            "content": self._content,
            "refusal": self._refusal or None,
            "tool_calls": [call.body for call in self._calls],
            "reasoning_content": self._thoughts,
            "reasoning_details": self._details,
        }
        choice: Json = {"message": message, "finish_reason": self._reason}
        return wire.encode_json({"choices": [choice], "usage": self._usage})

    def _grow(self, delta: _Message) -> None:
        words = "".join(delta.words)
        if delta.refusal:
            self._refusal += words
        else:
            self._content += words
        thoughts = delta.reasoning_content if isinstance(delta.reasoning_content, str) else ""
        self._thoughts += thoughts
        self._size += len(words) + len(thoughts or (delta.reasoning if isinstance(delta.reasoning, str) else ""))
        for detail in delta.reasoning_details or ():
            self._detail(detail)
        for piece in delta.tool_calls or ():
            self._size += self._call_of(piece).extend(piece.function)

    def _detail(self, piece: Json) -> None:
        """Appends a piece of a thought to the one it continues, else adds it as the next."""
        self._size += sum(len(str(piece.get(name) or "")) for name in _GROWING)
        last = self._details[-1] if self._details else None
        if last is None or any(piece.get(name) != last.get(name) for name in ("type", "index")):
            self._details.append(dict(piece))
            return
        grown = {name: f"{last.get(name) or ''}{piece[name]}" for name in _GROWING if piece.get(name)}
        last |= {name: value for name, value in piece.items() if value is not None} | grown

    def _call_of(self, piece: _Call) -> "_PartialCall":
        """The call that a piece belongs to: the last with its number, unless this one has another id, or no id and a
        name after arguments that end.
        """
        call = next((call for call in reversed(self._calls) if call.index == piece.index), None)
        if call is None or call.is_over(piece):
            call = _PartialCall(piece)
            self._calls.append(call)
        call.extra = piece.extra_content or call.extra
        return call


class _PartialCall:
    """An incomplete call."""

    def __init__(self, first: _Call) -> None:
        self.index = first.index
        self.extra: Json | None = None
        self._id = first.id
        self._name = ""
        self._written: list[str] = []

    def is_over(self, piece: _Call) -> bool:
        """Whether this piece begins the next call."""
        if piece.id:
            return piece.id != self._id
        has_name = piece.function is not None and bool(piece.function.name)
        return has_name and bool(self._written) and self._written[-1].rstrip().endswith("}")

    def extend(self, piece: _Function | None) -> int:
        """Adds a piece; returns how many characters it brings. A name that comes again is the same."""
        if piece is None:
            return 0
        name = "" if self._name else piece.name or ""
        self._name += name
        self._written += [piece.written] if piece.written else []
        return len(name) + len(piece.written)

    @property
    def body(self) -> Json:
        """The call so far, as in an answer that comes whole."""
        function = {"name": self._name, "arguments": "".join(self._written)}
        return {"id": self._id, "function": function, "extra_content": self.extra}
