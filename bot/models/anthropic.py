"""Claude, through the Messages API and Anthropic's own SDK.

The SDK handles the key, the version header, connections and errors; the body is sent as ready bytes and received as
bytes (see `wire.encode_json`), so that blocks only Anthropic understands return exactly as they came.
Left to others: retries and other models (`bot.models.fallback`), what is asked (`bot.chat.prompt`).

Source: docs.claude.com (Messages API, version 2026-10-21) and the package anthropic 2.12.0, 2026-11-21.
"""

import logging
import re
import secrets
import warnings
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final, cast
from urllib.parse import urlsplit

import anthropic
from anthropic.lib.streaming import AsyncMessageStream, ParsedMessageStreamEvent
from anthropic.types import Message as SdkMessage
from httpx2 import TransportError

from bot.errors import BadKey, ContextTooLong, Overloaded, ProviderError, Rejected
from bot.messages import (
    AssistantMessage,
    AssistantPart,
    CallId,
    IdentityCache,
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
from bot.models import caching, media, streams, wire
from bot.models.base import Completion, Deadline, Request, Stop, ToolOffer, Usage
from bot.models.capabilities import ModelLessons, told_of
from bot.models.prices import Prices, published_prices
from tools import trusted_certificates

# Where a server sends another type than the SDK expects, this quotes it, which may be anyone's words.
warnings.filterwarnings("ignore", message="Pydantic serializer warnings", category=UserWarning)

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

_PHRASES: wire.Phrases = {
    "prompt is too long": ContextTooLong,
    "exceed context limit": ContextTooLong,
    "request_too_large": ContextTooLong,
    "credit balance is too low": BadKey,
    "api usage limits": BadKey,
    "spend_limit": BadKey,
    "spend limit": BadKey,
    "organization_on_hold": BadKey,
    "billing_unavailable": BadKey,
    "overloaded_error": Overloaded,
    # Refusals of the request itself that an operator or developer can act on.
    "without `tool_result` blocks immediately after": Rejected,
    "unexpected `tool_use_id`": Rejected,
    "must have non-empty content": Rejected,
    "must define tools": Rejected,
    "input_schema": Rejected,
    "maximum allowed number of output tokens": Rejected,
    "extra inputs are not permitted": Rejected,
    "is not supported": Rejected,
}

_THINKING = re.compile(r"`(?:redacted_)?thinking`|bound to a different conversation")
"""Refusals of thinking that is sent back, in whatever way it does not fit."""

_STATUSES: Mapping[str, int] = {
    "invalid_request_error": 400,
    "authentication_error": 401,
    "billing_error": 402,
    "permission_error": 403,
    "not_found_error": 404,
    "request_too_large": 413,
    "rate_limit_error": 429,
    "api_error": 500,
    "timeout_error": 504,
    "overloaded_error": 529,
}
"""The status of each error type, since an error within a stream has the stream's status, 200."""


class _Written(wire.Wire):
    ephemeral_1h_input_tokens: wire.Count = 0


class _Usage(wire.Wire):
    input_tokens: wire.Count = 0
    cache_creation_input_tokens: wire.Count = 0
    cache_creation: wire.Aside[_Written] = None
    cache_read_input_tokens: wire.Count = 0
    output_tokens: wire.Count = 0

    @property
    def hour_tokens(self) -> int:
        """The tokens written to a cache that lives an hour."""
        return self.cache_creation.ephemeral_1h_input_tokens if self.cache_creation else 0


class _Answer(wire.Wire):
    content: list[Block]
    stop_reason: wire.Name = None
    usage: wire.Aside[_Usage] = None


class _PartialMessage:
    """An incomplete answer, put together by the SDK."""

    def __init__(self, stream: AsyncMessageStream[None]) -> None:
        self._stream = stream
        self._has_begun = self._has_ended = False
        self.size = 0
        """How much has come so far, in characters."""

    @property
    def usage(self) -> _Usage | None:
        """What the service has counted: the prompt from the first event on, the answer at the end; None: nothing."""
        usage = self._so_far.get("usage")
        return _Usage.model_validate(usage) if isinstance(usage, dict) else None

    @property
    def _so_far(self) -> Block:
        return self._stream.current_message_snapshot.to_dict(warnings=False) if self._has_begun else {}

    def take(self, piece: object) -> None:
        """Notes an event that the SDK has added."""
        event = cast("ParsedMessageStreamEvent[None]", piece)
        match event.type:
            case "message_start":
                self._has_begun = True
            case "text":
                self.size += len(event.text)
            case "thinking":
                self.size += len(event.thinking)
            case "input_json":
                self.size += len(event.partial_json)
            case "message_stop":
                self._has_ended = True
            case _:
                pass

    def body(self, *, is_cut: bool = False) -> bytes:
        """The complete answer in JSON; `is_cut`: what there is of it, cut off by the limit if its end is missing.

        Raises:
            ValueError: its end is missing.
        """
        if not (self._has_ended or is_cut) or not self._has_begun:
            raise ValueError("the stream ended before the answer did")
        message = self._so_far
        reason = message.get("stop_reason") or ("max_tokens" if is_cut else None)
        return wire.encode_json({**message, "stop_reason": reason})


@dataclass(kw_only=True)
class _Asking:
    """One completion under way."""

    listener: streams.Listener
    reader: streams.Reader
    partial: _PartialMessage | None = None
    """Its stream, once that has begun."""


class _Client(wire.PrivateClient, anthropic.AsyncAnthropic):
    """The SDK's client."""


class Anthropic:
    """A provider: one model of Anthropic, or of a server that speaks its Messages API."""

    name = NAME

    def __init__(
        self,
        *,
        api_key: str,
        model: str,
        base_url: str | None = None,
        effort: str | None = None,
        prices: Prices | None = None,
        lessons: ModelLessons | None = None,
    ) -> None:
        """Opens nothing yet; connections are made with the first request.

        `base_url` has no `/v1`; None means Anthropic's own. `effort` (`low` to `max`) is how much the model thinks;
        None leaves it to the model. `lessons` is what was learnt about models earlier.
        """
        # At the level DEBUG the SDK logs whole requests, but people's words must not reach a log.
        logging.getLogger("anthropic").setLevel(logging.WARNING)
        self._model = model
        self._effort = effort
        self._prices = prices or published_prices()
        self._takes = media.ALL
        self._lessons = lessons or ModelLessons()
        self._base_url = (base_url or BASE_URL).rstrip("/")
        self._official = urlsplit(self._base_url).hostname == urlsplit(BASE_URL).hostname
        self._client = _Client(
            api_key=api_key,
            base_url=self._base_url,  # None would be looked up in the environment
            timeout=anthropic.Timeout(None, connect=wire.CONNECT_TIMEOUT_SECONDS),
            max_retries=0,
            open_telemetry=False,  # a tracer anywhere in the process would add to the headers
            http_client=anthropic.DefaultAioHttpClient(
                verify=trusted_certificates(),
                trust_env=False,
                follow_redirects=False,  # they would carry people's words to a server that nobody has chosen
                headers=streams.HEADERS,
                event_hooks={"response": [streams.limit_answer]},
            ),
        )
        self._client.drop_headers_of_environment()
        self.is_slow = False
        """Whether answers are streamed, because one of them took long (`streams.SLOW_SECONDS`)."""
        self._encoded = IdentityCache(_encoded)

    async def complete(self, request: Request) -> Completion:
        """The model's answer.

        Raises:
            ProviderError: one of its kinds, see `bot.errors`; `cost_usd` is what a failed stream had used.
        """
        deadline = Deadline(request)
        asking = _Asking(listener=streams.Listener(request, deadline), reader=streams.Reader(request))
        try:
            return await self._completed(request, deadline, asking)
        except ProviderError as error:
            if asking.partial is not None and (usage := asking.partial.usage) is not None:
                error.cost_usd = self._prices.cost(self._model, _usage(usage))
            raise

    async def _completed(self, request: Request, deadline: Deadline, asking: _Asking) -> Completion:
        try:
            async with deadline:
                answer = await self._ask(request, asking)
        except TimeoutError as error:
            self.is_slow = True
            raise asking.listener.too_slow(provider=NAME, model=self._model, prices=self._prices) from error
        except anthropic.APIStatusError as error:
            # Not chained: the SDK's error would carry the service's words, which may quote the prompt, into tracebacks.
            raise self._refused(error) from None
        except (anthropic.APIConnectionError, TransportError) as error:  # a stream's are not wrapped
            raise wire.no_connection(error, provider=NAME, model=self._model) from error
        except (anthropic.AnthropicError, *_ODD) as error:
            raise wire.unreadable(provider=NAME, model=self._model) from error
        latency_seconds = deadline.seconds
        self.is_slow = self.is_slow or latency_seconds > streams.SLOW_SECONDS
        return answer.completion(provider=NAME, model=self._model, latency_seconds=latency_seconds, prices=self._prices)

    async def aclose(self) -> None:
        """Closes the connections."""
        await self._client.close()

    async def _ask(self, request: Request, asking: _Asking) -> wire.WireAnswer:
        """The answer; if the model refuses a medium, the answer to text in its place."""
        takes = self._takes - self._unseen_kinds()
        while True:
            try:
                return await self._answered(request, takes, asking)
            except anthropic.APIStatusError as error:
                words = str(error.api_message or "")
                if (most := wire.max_output_tokens(words, request)) is not None:
                    request = replace(request, max_output_tokens=most)
                    continue
                if _THINKING.search(words) and _has_opaque(request.messages):
                    request = replace(request, messages=tuple(map(without_opaque, request.messages)))
                    continue
                refused = media.refused_kinds(words, media.kinds_in(request.messages) & takes)
                if not refused or not isinstance(self._refused(error), Rejected):
                    raise
                takes -= refused
                if not media.is_about_this_one(words):
                    self._takes -= refused

    def _unseen_kinds(self) -> media.Kinds:
        """The media the model cannot look at, according to its server."""
        told = told_of(self._lessons, self._base_url, self._model)
        kinds = {media.PICTURE: told.pictures, media.DOCUMENT: told.documents}
        return frozenset(kind for kind, can in kinds.items() if can is False)

    async def _answered(self, request: Request, takes: media.Kinds, asking: _Asking) -> wire.WireAnswer:
        plan = caching.plan(request)
        body = _body(request, model=self._model, effort=self._effort, shares=plan.shared)
        messages = self._conversation(request.messages, takes, plan.marks)
        # A complete address, because the SDK takes 0.1 ms per request to append a path to its base address.
        url, reader = f"{self._base_url}/v1/messages", asking.reader
        if not self.is_slow:
            data = wire.with_messages(body, messages)
            return reader.read(self._read(await self._client.post(url, content=data, cast_to=bytes)))
        data = wire.with_messages({**body, "stream": True}, messages)
        kind = anthropic.AsyncStream[anthropic.types.RawMessageStreamEvent]
        async with await self._client.post(url, content=data, cast_to=SdkMessage, stream=True, stream_cls=kind) as raw:
            if streams.is_whole(raw.response.headers):
                return reader.read(self._read(await raw.response.aread()))
            stream = AsyncMessageStream[None](raw, output_format=anthropic.not_given)
            asking.partial = partial = _PartialMessage(stream)
            return reader.read(self._read(await asking.listener.listen(stream, partial, reader, self._read)))

    def _conversation(
        self, messages: Sequence[Message], takes: media.Kinds, marks: Mapping[int, caching.Life]
    ) -> list[bytes]:
        """The messages as the API accepts them, each as JSON: neighbours with the same role become one message, with
        tool results first.

        `marks` says after which of them the cache should keep everything so far, and for how long.
        """
        turns: list[tuple[bytes, list[bytes]]] = []
        ids = _vendor_ids(messages)
        for place, (message, blocks) in enumerate(zip(messages, self._encoded.each(messages), strict=True)):
            if place in marks or not blocks or (ids and isinstance(message, ToolMessage)):
                found = _blocks(message, takes, ids)
                if found and place in marks:
                    found[-1] |= _kept(marks[place])
                blocks = wire.items(found)  # noqa: PLW2901
            role = b"assistant" if isinstance(message, AssistantMessage) else b"user"
            if turns and turns[-1][0] == role and blocks:
                turns[-1][1].append(blocks)
            elif blocks:
                turns.append((role, [blocks]))
        return [b'{"role":"%b","content":[%b]}' % (role, b",".join(blocks)) for role, blocks in turns]

    def _read(self, data: bytes) -> wire.WireAnswer:
        answer = wire.parse(_Answer, data)
        stop = _STOPS.get(answer.stop_reason, Stop.END)
        parts = _parts(answer.content)
        if was_cut_in_call := stop is Stop.LENGTH and bool(parts) and isinstance(parts[-1], ToolCall):
            parts.pop()  # a number that was cut is another number
        usage = _usage(answer.usage or _Usage())
        read = wire.wire_answer(parts, stop, usage, was_cut_in_call=was_cut_in_call)
        if answer.stop_reason == "model_context_window_exceeded" and read.message is None:
            raise ContextTooLong(f"{NAME} had no room left for an answer", provider=NAME, model=self._model)
        return read

    def _refused(self, error: anthropic.APIStatusError) -> ProviderError:
        status = error.status_code
        refused = wire.RefusedRequest(
            status=_STATUSES.get(error.type or "", status) if error.response.is_success else status,
            code=str(error.error_code or error.type or ""),
            words=str(error.api_message or ""),
            headers=error.response.headers,
        )
        return refused.error(_PHRASES, provider=NAME, model=self._model)


# --- what goes out


def _body(request: Request, *, model: str, effort: str | None, shares: bool) -> dict[str, object]:
    """The request without its messages: constant within a turn, so that caches and thinking blocks stay valid.

    `shares` is whether to cache the tools and the system prompt for all conversations.
    """
    body: dict[str, object] = {"model": model, "max_tokens": request.max_output_tokens}
    if system := _system(request, shares=shares):
        body["system"] = system
    if request.conversation:
        body["metadata"] = {"user_id": wire.opaque_name(request.conversation)}
    if effort is not None:
        body["output_config"] = {"effort": effort}
    return body | _tools(request)


def _system(request: Request, *, shares: bool) -> list[Block]:
    """Returns what all conversations share, then what this one adds; the cache mark between them covers tools, too."""
    blocks: list[Block] = [{"type": "text", "text": text} for text in (request.system, request.persona) if text.strip()]
    if shares and request.system.strip():
        blocks[0] |= _kept("1h")
    return blocks


def _kept(life: caching.Life) -> Block:
    return {"cache_control": {"type": "ephemeral", "ttl": life}}


def _tools(request: Request) -> dict[str, object]:
    offers = [_offer(offer) for offer in request.told_tools] or _stand_ins(request.messages)
    if not offers:
        return {}
    may_call = bool(request.tools) and request.may_call_tools
    return {"tools": offers} if may_call else {"tools": offers, "tool_choice": {"type": "none"}}


def _offer(offer: ToolOffer) -> Block:
    return {"name": offer.name, "description": offer.description, "input_schema": wire.schema_of(offer)}


def _stand_ins(messages: Sequence[Message]) -> list[Block]:
    """A description of every tool in the history: a request with calls in its history must describe some tool."""
    calls = [call for message in messages if isinstance(message, AssistantMessage) for call in message.calls]
    names = dict.fromkeys(wire.tool_name(call.name) for call in calls)
    return [_offer(ToolOffer(name=name, description="Switched off.", parameters={})) for name in names]


def _encoded(message: Message) -> bytes:
    """The blocks of a message as JSON; empty for one with media, whose blocks depend on what the model takes."""
    has_media = isinstance(message, UserMessage) and message.media
    return b"" if has_media else wire.items(_blocks(message, media.ALL, {}))


def _blocks(message: Message, takes: media.Kinds, ids: Mapping[CallId, str]) -> list[Block]:
    match message:
        case UserMessage():
            # Media come first, as the vendor recommends.
            shown = [_shown(medium) for medium in media.accepted_media(message, takes)]
            return [*shown, {"type": "text", "text": media.text_of(message, takes)}]
        case ToolMessage():
            return [_result(answer, ids.get(answer.call_id, answer.call_id)) for answer in message.answers]
        case AssistantMessage():
            return [block for came, part in _followed(message) if (block := _block(part, came)) is not None]


def _shown(medium: Medium) -> Block:
    if isinstance(medium, Picture):
        source: Block = {"type": "base64", "media_type": medium.content_type, "data": media.base64_of(medium)}
        return {"type": "image", "source": source}
    source = {"type": "base64", "media_type": "application/pdf", "data": media.base64_of(medium)}
    return {"type": "document", "source": source, "title": media.file_name(medium)}


def _result(answer: ToolAnswer, call_id: str) -> Block:
    result: Block = {"type": "tool_result", "tool_use_id": call_id, "content": answer.content}
    return result if answer.ok else result | {"is_error": True}


def _followed(message: AssistantMessage) -> Iterable[tuple[AssistantPart | None, AssistantPart]]:
    """Each part with the one before it."""
    return zip((None, *message.parts), message.parts, strict=False)


def _as_it_came(part: AssistantPart | None) -> Block | None:
    """The call that follows this part, as the vendor sent it; None if it may be written anew.

    Arguments that were no object are left out: the API takes nothing else.
    """
    if isinstance(part, Opaque) and part.vendor == NAME and part.data.get("type") == "tool_use":
        return dict(part.data) if isinstance(part.data.get("input"), dict) else {**part.data, "input": {}}
    return None


def _vendor_ids(messages: Sequence[Message]) -> Mapping[CallId, str]:
    """The vendor's own ids of calls that are sent back as they came."""
    said = (message for message in messages if isinstance(message, AssistantMessage))
    followed = (pair for message in said for pair in _followed(message))
    came = ((part.id, _as_it_came(before)) for before, part in followed if isinstance(part, ToolCall))
    return {call_id: str(block["id"]) for call_id, block in came if block is not None}


def _block(part: AssistantPart, before: AssistantPart | None) -> Block | None:
    match part:
        case Text():
            return {"type": "text", "text": part.text}
        case ToolCall():
            name = wire.tool_name(part.name)
            own: Block = {"type": "tool_use", "id": part.id, "name": name, "input": dict(part.arguments)}
            return _as_it_came(before) or own
        case Opaque():
            return None if part.vendor != NAME or _as_it_came(part) else dict(part.data)


def _has_opaque(messages: Iterable[Message]) -> bool:
    return any(
        isinstance(part, Opaque)
        for message in messages
        if isinstance(message, AssistantMessage)
        for part in message.parts
    )


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
            call_id = CallId(str(block.get("id") or f"call_{secrets.token_hex(12)}"))
            return wire.tool_call(call_id, name, block.get("input"))
        case _:
            return Opaque(vendor=NAME, data=block)


def _usage(usage: _Usage) -> Usage:
    read, written = usage.cache_read_input_tokens, usage.cache_creation_input_tokens
    return Usage(
        input_tokens=usage.input_tokens + read + written,  # the vendor's figure excludes cached tokens
        cached_input_tokens=read,
        cache_write_tokens=written,
        cache_write_hour_tokens=usage.hour_tokens,
        output_tokens=usage.output_tokens,
    )
