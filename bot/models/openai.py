"""OpenAI, and every server that speaks its language, through OpenAI's own SDK.

OpenAI itself is asked through its Responses API, because its newest models refuse tools in chat completions; every
other server through chat completions, which all of them support. The body is sent as ready bytes and received as bytes:
see `wire.encode_json` for what that saves.

    refused --> what the server does not take, by its own words (`_QUIRKS`) --> asked again without it, and remembered

Left to others: the formats (`openai_chat`, `openai_responses`), retries and other models (`fallback`).

Source: platform.openai.com, issue threads of vLLM, Ollama, llama.cpp and OpenRouter, 2026-11-26, and the package openai
3.54.0, 2026-11-21.
"""

import logging
import re
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Final, Literal, cast
from urllib.parse import urlsplit

import openai
from aiohttp import ClientError
from httpx2 import TransportError

from bot.errors import (
    BadKey,
    ContextTooLong,
    NoSuchModel,
    Overloaded,
    ProviderError,
    Rejected,
    Unavailable,
    Unreadable,
)
from bot.models import media, openai_chat, openai_responses, prompted, streams, wire
from bot.models.base import Completion, Deadline, Request
from bot.models.capabilities import Capabilities, ModelLessons, chat_models, told_of
from bot.models.openai_chat import Quirks
from bot.models.prices import Prices, published_prices
from tools import trusted_certificates

_log = logging.getLogger(__name__)

NAME: Final = "openai"
BASE_URL = "https://api.openai.com/v1"

Api = Literal["auto", "chat", "responses"]
ToolMode = Literal["auto", "native", "prompt"]
"""How tools are offered: `native`; `prompt`: described and called in words; `auto`: natively until refused."""

_REASONING = re.compile(r"(o[0-9]|gpt-[5-9])")
"""Names of models that reason; they call the output limit `max_completion_tokens`."""

_CACHE_MARKS = re.compile(r"gpt-(5\.[6-9]|[6-9])")
"""Names of models whose cache is told what to keep, and charges for it.

Source: developers.openai.com (prompt caching), 2026-11-22.
"""

_PHRASES: wire.Phrases = {
    # Before all others: what the model wrote is quoted behind these, and may be anything. llama-server refuses answers
    # in a form that its parser does not know, Ollama some calls of gpt-oss (500; their issue threads, 2026-11-26).
    "failed to parse input at pos": Unreadable,
    "does not match the expected peg-": Unreadable,
    "error parsing tool call": Unreadable,
    **openai_responses.OF_THE_ACCOUNT,
    "model_not_found": NoSuchModel,
    "model not exist": NoSuchModel,  # DeepSeek, with status 400
    "context_length_exceeded": ContextTooLong,
    "maximum context length": ContextTooLong,
    "exceed_context_size": ContextTooLong,
    "exceeds the available context size": ContextTooLong,
    "prompt is too long": ContextTooLong,
    "request too large for": ContextTooLong,  # more than a minute's tokens: it will not fit later, either
    "tool_use_failed": Unavailable,  # Groq could not read its model's call; the next one may be readable
    # Refusals of the request itself that an operator or developer can act on.
    "use /v1/responses": Rejected,
    "did not have response messages": Rejected,
    "must be a response to a preceeding message": Rejected,
    "no tool output found": Rejected,
    "no tool call found": Rejected,
    "without its required": Rejected,
    "invalid_function_parameters": Rejected,
    "expected a string, got null": Rejected,
    "unsupported_parameter": Rejected,
    "does not support tools": Rejected,
    "tool choice requires": Rejected,
    "tools param requires": Rejected,
}

_STATUSES = {"rate_limit_exceeded": 429, "invalid_request_error": 400, "overloaded_error": 529}
"""The status of an error within a stream, since the stream has its own; 500 for all others."""

_NOT_THE_WAY = (BadKey, ContextTooLong, Overloaded, Unreadable)
"""Failures that another way of asking cannot fix, whatever their words."""

_MISSES = r"missing [`'\"]?reasoning_content|reasoning_content[`'\"]? (?:is missing|in the thinking mode must)"
_QUIRKS: Mapping[str, re.Pattern[str]] = {
    name: re.compile(words, re.IGNORECASE | re.DOTALL)
    for name, words in {
        # gpt-5.6 with tools, o1-pro always
        "responses": r"\buse (?:the )?`?/?v1/responses\b|\bonly supported in v1/responses\b",
        # Thoughts that led to a call, if they are another model's or gone: DeepSeek, Kimi, and Gemini's signature
        "reasoning_content": _MISSES,
        "thought_signature": r"missing a [`'\"]?thought_signature",
        # The same, where a server does not take back what it returned
        "carried": rf"^(?!.*(?:{_MISSES})).*(?:reasoning_content|reasoning_details|extra_content)",
        # The other name for the output limit
        "limit": r"^unsupported_parameter .*'max_(?:completion_)?tokens'",
        "effort": r"^(?:unsupported|unknown)_parameter .*'reasoning_effort'|does not support thinking",
        # Templates without a system message: Gemma 2's, Mistral's first
        "system": r"system role (?:is )?not supported|unexpected role[^\w]+system",
        "stream_options": r"'stream_options'",
        # llama.cpp until May 2025 with tools; OpenAI's newest for organizations that have not shown who they are
        "stream": r"^\S* 'stream' |cannot use tools with stream|not support stream|must be verified to stream"
        r"|stream\w*[^.]{0,60}\bnot (?:yet )?(?:supported|available|implemented)",
        "prompt_cache": r"prompt_cache",
        # Ollama ("llama3:8b does not support tools"), vLLM (""auto" tool choice requires --enable-auto-tool-choice"),
        # llama.cpp (500 "tools param requires --jinja flag", 400 "Unable to generate parser for this template"), SGLang
        # ("Unsupported tool_call_parser: None"), OpenRouter (404), Groq ("`tool calling` is not supported with this
        # model"); templates without tool answers (Gemma 2's, Mistral's first) or with one call alone (Llama 3's)
        "tools": r"(?:not|n't) (?:yet )?support(?: native| any| the use of)? (?:tool(?!_choice)|function[ _-]?call)"
        r"|\b(?:tools?|(?:tool|function)[ _-]?(?:call(?:s|ing)?|use))[`'\"]{0,2} (?:is|are)"
        r" (?:currently )?(?:not |un)(?:supported|enabled|available)"
        r"|no endpoints found that support tool use|tool choice requires|tools param requires"
        r"|unsupported (?:param: tools|tool_call_parser)|unable to generate parser for this template"
        r"|^unsupported_parameter .*'tools'|conversation roles must alternate",
    }.items()
}
"""What servers do not take, or want otherwise, and how they say so: after a refusal's code and its parameter in quotes.

Beside these the kinds of media are quirks. Source: issue threads, 2026-11-22 to 2026-11-26; llama.cpp's build 0c1e570
and Ollama 0.17.4, observed, 2026-11-24.
"""


class _Model(wire.Wire):
    id: str


class _Listed(wire.Wire):
    data: list[_Model]


class _Client(wire.PrivateClient, openai.AsyncOpenAI):
    """The SDK's client."""


class OpenAI:
    """A provider: one model of OpenAI, or of a compatible server."""

    name = NAME

    def __init__(
        self,
        *,
        api_key: str | None,
        model: str | None,
        base_url: str | None = None,
        api: Api = "auto",
        effort: str | None = None,
        sees: bool | None = None,
        tool_mode: ToolMode = "auto",
        prices: Prices | None = None,
        lessons: ModelLessons | None = None,
    ) -> None:
        """Opens nothing yet; connections are made with the first request.

        `model` None means the first that the server lists, which is looked up with the first request. `api_key` may be
        None for a local server that wants none. `base_url` includes `/v1`; None means OpenAI's own. `api` selects one
        of the two APIs; `auto` decides by the address. `effort` is how much a reasoning model thinks; None leaves it to
        the model and sends nothing, because many compatible servers refuse it. `sees` is whether the model can look at
        pictures; None tries it once. PDFs go only to OpenAI's own server. `tool_mode` is how tools are offered in chat
        completions; responses always offer them natively. `lessons` is what was learnt about models earlier.
        """
        self._model = model or ""
        self._effort = effort
        self._prices = prices or published_prices()
        self._base_url = (base_url or BASE_URL).rstrip("/")
        self._official = urlsplit(self._base_url).hostname == urlsplit(BASE_URL).hostname
        set_so = {
            "responses": api == "responses" or (api == "auto" and self._official),
            "tools": tool_mode == "prompt",
            media.PICTURE: sees is False,
            media.DOCUMENT: not self._official,
        }
        self._quirks: Quirks = frozenset(name for name, is_set in set_so.items() if is_set)
        never = {media.PICTURE: sees is True, "tools": tool_mode != "auto"}
        self._never: Quirks = frozenset(name for name, is_set in never.items() if is_set)
        """What settings rule out, whatever the server says."""
        self._lessons = lessons or ModelLessons()
        self.is_slow = False
        """Whether answers are streamed, because one of them took long (`streams.SLOW_SECONDS`)."""
        self._client = _Client(
            api_key=api_key or "none",  # the SDK requires one
            # None and missing values would be looked up in the environment.
            base_url=self._base_url,
            admin_api_key="",
            webhook_secret="",
            timeout=openai.Timeout(None, connect=wire.CONNECT_TIMEOUT_SECONDS),
            max_retries=0,
            http_client=openai.DefaultAioHttpClient(
                verify=trusted_certificates(),
                trust_env=False,
                follow_redirects=False,  # they would carry people's words to a server that nobody has chosen
                headers=streams.HEADERS,
                event_hooks={"response": [streams.limit_answer]},
            ),
        )
        self._client.drop_headers_of_environment()
        self._client.organization = None
        self._client.project = None

    async def complete(self, request: Request) -> Completion:
        """The model's answer.

        Raises:
            ProviderError: one of its kinds, see `bot.errors`; `cost_usd` is None if a stream had begun, because usage
                comes only at its end.
        """
        deadline = Deadline(request)
        listener = streams.Listener(request, deadline)
        try:
            answer = await self._in_time(request, deadline, listener)
        except ProviderError as error:
            if listener.has_heard:
                error.cost_usd = None
            raise
        latency_seconds = deadline.seconds
        self.is_slow = self.is_slow or latency_seconds > streams.SLOW_SECONDS
        return answer.completion(provider=NAME, model=self._model, latency_seconds=latency_seconds, prices=self._prices)

    async def aclose(self) -> None:
        """Closes the connections."""
        await self._client.close()

    async def _in_time(self, request: Request, deadline: Deadline, listener: streams.Listener) -> wire.WireAnswer:
        """The answer, with the SDK's failures as our own."""
        try:
            async with deadline:
                return await self._ask(request, listener)
        except TimeoutError as error:
            self.is_slow = True
            raise listener.too_slow(provider=NAME, model=self._model, prices=self._prices) from error
        except openai.APIStatusError as error:
            # Not chained: the SDK's error would carry the service's words, which may quote the prompt, into tracebacks.
            raise self._refused(error) from None
        except (openai.APIConnectionError, TransportError, ClientError) as error:  # a stream's are not all wrapped
            raise wire.no_connection(error, provider=NAME, model=self._model) from error
        except UnicodeEncodeError:
            # The body is already bytes, so it is the key that no header can hold. Not chained: it has the key.
            raise BadKey("the key has letters that no header takes", provider=NAME, model=self._model) from None
        except openai.APIError as error:
            raise self._broken_off(error) from None
        except (openai.OpenAIError, ValueError, RecursionError) as error:  # JSON can be too deep
            raise wire.unreadable(provider=NAME, model=self._model) from error

    async def _ask(self, request: Request, listener: streams.Listener) -> wire.WireAnswer:
        """The answer; if the server wants to be asked differently, the answer to that."""
        if not self._model:
            self._model = await self._first_listed()
        told = told_of(self._lessons, self._base_url, self._model)
        quirks = self._quirks | (_told(told) | self._learnt()) - self._never
        is_streamed = self.is_slow or told.is_at_home is True
        while True:
            request = replace(request, max_output_tokens=min(request.max_output_tokens, self._max_output_tokens()))
            heard_by = listener if is_streamed and "stream" not in quirks else None
            try:
                return await self._answered(request, quirks, heard_by)
            except openai.APIStatusError as error:
                learnt = None if isinstance(self._refused(error), _NOT_THE_WAY) else self._learn(error, request, quirks)
                if learnt is None:
                    raise
                quirks |= learnt

    def _learn(self, error: openai.APIStatusError, request: Request, quirks: Quirks) -> Quirks | None:
        """What the server does not take, by its refusal of a request; None if it can only be passed on.

        It is remembered, unless it is about a single picture or contradicts a setting.
        """
        if (most := wire.max_output_tokens(error.message, request)) is not None:
            self._lessons.learn(self._base_url, self._model, max_output_tokens=most)
            return frozenset()
        said = f"{error.code or ''} '{error.param or ''}' {error.message}"
        rest = (one for one in _QUIRKS if one not in quirks and (one != "tools" or self._may_describe(request, quirks)))
        name = next((one for one in rest if _QUIRKS[one].search(said)), None)
        if name is None:
            refused = media.refused_kinds(error.message, media.kinds_in(request.messages) - quirks)
            is_of_one = media.is_about_this_one(error.message)
        else:
            refused, is_of_one = frozenset({name}), False
        if refused - self._never and not is_of_one:
            _log.info("the server of the model %s wants to be asked otherwise: %s", self._model, ", ".join(refused))
            self._lessons.learn(self._base_url, self._model, quirks=sorted(self._learnt() | refused - self._never))
        return refused or None

    def _may_describe(self, request: Request, quirks: Quirks) -> bool:
        """Whether tools may be offered in words, and there are any."""
        has_tools = bool(request.tools) or any(message.role == "tool" for message in request.messages)
        return has_tools and "tools" not in self._never and "responses" not in quirks

    def _learnt(self) -> Quirks:
        return self._lessons.read(self._base_url, self._model, "quirks", _known_quirks)

    def _max_output_tokens(self) -> int:
        return self._lessons.read(self._base_url, self._model, "max_output_tokens", _known_most)

    async def _answered(self, request: Request, quirks: Quirks, listener: streams.Listener | None) -> wire.WireAnswer:
        effort = None if "effort" in quirks else self._effort
        model, in_words = self._model, "tools" in quirks and "responses" not in quirks
        reader = streams.Reader(request, in_words=in_words)
        reasons = _REASONING.match(model) is not None
        if "responses" in quirks:
            marks = _CACHE_MARKS.match(model) is not None and "prompt_cache" not in quirks
            body = openai_responses.body(
                request, model=model, effort=effort, reasons=reasons, marks=marks, quirks=quirks
            )
            return await self._read(
                openai_responses.PATH,
                body,
                openai_responses.PartialResponse(),
                reader,
                lambda data: openai_responses.read(data, request, model=model),
                listener,
            )
        asked = prompted.in_words(request) if in_words else request
        limits = ("max_tokens", "max_completion_tokens")
        limit = limits[(self._official or reasons) != ("limit" in quirks)]
        body = openai_chat.body(asked, model=model, effort=effort, limit=limit, official=self._official, quirks=quirks)
        if listener is not None and "stream_options" not in quirks:  # so that usage is reported at the end
            body["stream_options"] = {"include_usage": True}
        partial = openai_chat.PartialChat()
        return await self._read(
            openai_chat.PATH, body, partial, reader, lambda data: openai_chat.read(data, asked), listener
        )

    async def _read(
        self,
        path: str,
        body: dict[str, object],
        partial: streams.PartialAnswer,
        reader: streams.Reader,
        read: Callable[[bytes], wire.WireAnswer],
        listener: streams.Listener | None,
    ) -> wire.WireAnswer:
        """The answer, whose body `read` parses; with `listener` it is streamed."""
        # A complete address, because the SDK takes 0.1 ms per request to append a path to its base address.
        url = f"{self._base_url}{path}"
        if listener is None:
            return reader.read(read(await self._client.post(url, content=wire.encode_json(body), cast_to=bytes)))
        data, kind = wire.encode_json(body | {"stream": True}), openai.AsyncStream[object]
        async with await self._client.post(url, content=data, cast_to=object, stream=True, stream_cls=kind) as stream:
            if streams.is_whole(stream.response.headers):
                return reader.read(read(await stream.response.aread()))
            return reader.read(read(await listener.listen(stream, partial, reader, read)))

    async def _first_listed(self) -> str:
        """The first model in the server's list that can hold a conversation, judging by its name."""
        listed = _Listed.model_validate_json(await self._client.get("/models", cast_to=bytes))
        names = chat_models(model.id for model in listed.data)
        if not names:
            raise Rejected("the server lists no model: set LLM__OPENAI__MODEL", provider=NAME)
        return names[0]

    def _refused(self, error: openai.APIStatusError) -> ProviderError:
        refused = wire.RefusedRequest(
            status=error.status_code,
            code=str(error.code or error.type or ""),
            words=error.message,
            headers=error.response.headers,
        )
        return self._error(refused)

    def _broken_off(self, error: openai.APIError) -> ProviderError:
        """An error reported within a stream; some servers use a status as its code."""
        code = str(error.code or error.type or "")
        status = int(code) if re.fullmatch(r"[45][0-9]{2}", code) else _STATUSES.get(code, 500)
        return self._error(wire.RefusedRequest(status=status, code=code, words=error.message, headers={}))

    def _error(self, refused: wire.RefusedRequest) -> ProviderError:
        error = refused.error(_PHRASES, provider=NAME, model=self._model)
        if isinstance(error, Unreadable):
            error.cost_usd = None  # the model has written it
        return error


def _told(told: Capabilities) -> Quirks:
    """What a model does not take, as its server says."""
    can = {
        media.PICTURE: told.pictures,
        "tools": told.tools,
        "effort": told.thinking,
        "system": told.system,
    }
    return frozenset(name for name, is_so in can.items() if is_so is False)


def _known_quirks(lesson: object) -> Quirks:
    names = cast("list[object]", lesson) if isinstance(lesson, list) else []
    return frozenset(name for name in names if isinstance(name, str)) & (_QUIRKS.keys() | media.ALL)


def _known_most(lesson: object) -> int:
    return lesson if type(lesson) is int and lesson > 0 else 10**9
