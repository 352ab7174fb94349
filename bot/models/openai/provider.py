"""OpenAI, and every server that speaks its language, through OpenAI's own SDK.

OpenAI itself is asked through its Responses API, because its newest models refuse tools in chat completions; every
other server through chat completions, which all of them support. The body is sent as ready bytes and received as bytes:
see `wire.encode_json` for what that saves. Left to others: the formats (`chat`, `responses`), retries and other models
(`bot.models.fallback`), what is asked (`bot.chat.prompt`).

Source: platform.openai.com and the package openai 3.54.0, 2026-11-21.
"""

import logging
import re
from collections.abc import Callable
from dataclasses import replace
from typing import Any, Final, Literal, cast
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
from bot.models import capabilities, media, prompted, streams, texts, wire
from bot.models.base import Attempt, Completion, Deadline, OnText, Request
from bot.models.capabilities import ModelLessons
from bot.models.openai import chat, chat_stream
from bot.models.openai import responses as openai_responses
from bot.models.openai.quirks import Habits, Refusal, ToolMode, lessons_of, with_lessons
from bot.models.prices import Prices, published_prices
from tools import trusted_certificates

_log = logging.getLogger(__name__)

NAME: Final = "openai"
BASE_URL = "https://api.openai.com/v1"

Api = Literal["auto", "chat", "responses"]

_REASONING = re.compile(r"(o[0-9]|gpt-[5-9])")
"""Names of models that reason; they call the output limit `max_completion_tokens`."""

_CACHE_MARKS = re.compile(r"gpt-(5\.[6-9]|[6-9])")
"""Names of models whose cache is told what to keep, and charges for it.

Source: developers.openai.com (prompt caching), 2026-11-22.
"""

_IN_WORDS_NEXT = ("failed to parse input at pos", "does not match the expected peg-")
_PHRASES: wire.Phrases = {
    # Before all others: what the model wrote is quoted behind these, and may be anything. llama-server refuses answers
    # in a form that its parser does not know, Ollama some calls of gpt-oss (500; their issue threads, 2026-11-26).
    **dict.fromkeys((*_IN_WORDS_NEXT, "error parsing tool call"), Unreadable),
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


class _Model(wire.Wire):
    id: str


class _Listed(wire.Wire):
    data: list[_Model]


class _Client(openai.AsyncOpenAI):
    """The SDK's client, which would tell of this machine (system, processor, Python) in the headers of each request."""

    def platform_headers(self) -> dict[str, str]:
        """Nothing."""
        return {}

    def drop_headers_of_environment(self) -> None:
        """Removes those of OPENAI_CUSTOM_HEADERS, which replace the key and go to whatever server is set."""
        self._custom_headers = {}


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
        responses = api == "responses" or (api == "auto" and self._official)
        renamed = self._official or _REASONING.match(self._model)
        self._habits = Habits(
            limit_name="max_completion_tokens" if renamed else "max_tokens",
            takes=_takes(sees=sees, official=self._official),
            tool_mode="native" if responses else tool_mode,
            speaks_responses=responses,
            marks_cache=_CACHE_MARKS.match(self._model) is not None,
        )
        self._first_habits = self._habits
        self._lessons = lessons or ModelLessons()
        self._is_slow = False
        self._surely_takes = frozenset({media.PICTURE}) if sees else frozenset[str]()
        self._recall()
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

    async def complete(self, request: Request, on_text: OnText | None = None) -> Completion:
        """The model's answer. If the server cannot read what its model wrote, that is asked for once more; with tools
        offered in words if the server's parser of calls does not know the form in which the model writes them.

        Raises:
            ProviderError: one of its kinds, see `bot.errors`; `cost_usd` is None if a stream had begun, because usage
                comes only at its end.
        """
        deadline = Deadline(request)
        try:
            return await self._answer(request, deadline, on_text)
        except Unreadable as error:
            seconds = deadline.seconds
            if deadline.left_seconds <= 0:
                raise
            in_words = any(phrase in str(error) for phrase in _IN_WORDS_NEXT)
        _log.info("the server could not read what the model %s wrote; asking once more", self._model)
        completion = await self._answer(request, deadline, on_text, in_words=in_words)
        kind = Unreadable.__name__
        lost = Attempt(provider=NAME, model=self._model, error=kind, latency_seconds=seconds, cost_usd=None)
        return replace(completion, attempts=(lost, *completion.attempts))

    async def _answer(
        self, request: Request, deadline: Deadline, on_text: OnText | None, *, in_words: bool = False
    ) -> Completion:
        """The answer to one request; `in_words`: tools are offered in words if that may be chosen."""
        listener = streams.Listener(request, deadline, on_text)
        try:
            return await self._completed(request, deadline, listener, in_words=in_words)
        except ProviderError as error:
            if listener.has_heard:
                error.cost_usd = None
            raise

    async def _completed(
        self, request: Request, deadline: Deadline, listener: streams.Listener, *, in_words: bool
    ) -> Completion:
        began_seconds = deadline.seconds
        try:
            async with deadline:
                answer = await self._ask(request, listener, in_words=in_words)
        except TimeoutError as error:
            self._is_slow = True
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
        listener.end(answer.text)
        latency_seconds = deadline.seconds - began_seconds
        self._is_slow = self._is_slow or latency_seconds > streams.SLOW_SECONDS
        return answer.completion(provider=NAME, model=self._model, latency_seconds=latency_seconds, prices=self._prices)

    async def aclose(self) -> None:
        """Closes the connections."""
        await self._client.close()

    async def _ask(self, request: Request, listener: streams.Listener, *, in_words: bool) -> wire.WireAnswer:
        """The answer; if the server wants to be asked differently, the answer to that."""
        if not self._model:
            self._model = await self._first_listed()
            self._recall()
        told_of = capabilities.told_of(self._lessons, self._base_url, self._model)
        habits, tried = self._habits.as_told(told_of, surely_takes=self._surely_takes), set[Habits]()
        if in_words and habits.tool_mode == "auto" and request.tools:
            habits = replace(habits, tool_mode="prompt")
        is_streamed = listener.is_wanted or self._is_slow or told_of.is_at_home is True
        while True:
            tried.add(habits)
            try:
                return await self._answered(request, habits, listener if is_streamed and habits.takes_streams else None)
            except openai.APIStatusError as error:
                learned = habits.after(_refusal(error), request)
                if learned is None or learned in tried or isinstance(self._refused(error), _NOT_THE_WAY):
                    raise
                # The server's statements about itself are heard again at every start, and are not lessons.
                self._keep(learned.since(habits, self._habits), _refusal(error))
                habits = learned

    def _keep(self, learned: Habits, refusal: Refusal) -> None:
        """Asks this way from now on, except if it concerns a single picture or contradicts a setting."""
        if learned.speaks_responses and not self._habits.speaks_responses:
            _log.info("using the Responses API for the model %s from now on: its server requires it", self._model)
        elif learned.tool_mode != self._habits.tool_mode:
            _log.info("the model %s does not accept tools; describing them in its prompt from now on", self._model)
        is_of_one = learned.takes != self._habits.takes and media.is_about_this_one(refusal.words)
        takes = self._habits.takes if is_of_one else learned.takes
        self._habits = replace(learned, takes=takes | self._surely_takes)
        self._lessons.learn(self._base_url, self._model, habits=lessons_of(self._first_habits, self._habits))

    def _recall(self) -> None:
        """Starts with what was learnt about the model at this address."""
        habits = self._lessons.of(self._base_url, self._model).get("habits") if self._model else None
        if isinstance(habits, dict):
            known = with_lessons(self._first_habits, cast("dict[str, Any]", habits))
            self._habits = replace(known, takes=known.takes | self._surely_takes)

    async def _answered(self, request: Request, habits: Habits, listener: streams.Listener | None) -> wire.WireAnswer:
        most = min(request.max_output_tokens, habits.max_output_tokens or request.max_output_tokens)
        request = replace(request, max_output_tokens=most)
        effort = self._effort if habits.takes_effort else None
        model, in_words = self._model, habits.tool_mode == "prompt" and not habits.speaks_responses
        reader = texts.Reader(request, in_words=in_words)
        if habits.speaks_responses:
            reasons = _REASONING.match(model) is not None
            body = openai_responses.body(request, model=model, effort=effort, reasons=reasons, habits=habits)
            partial = texts.PartialText(openai_responses.PartialResponse(), reader)

            def read_response(data: bytes) -> wire.WireAnswer:
                return openai_responses.read(data, request, model=model)

            return await self._read(openai_responses.PATH, body, partial, reader, read_response, listener)
        asked = prompted.in_words(request) if in_words else request
        body = chat.body(asked, model=model, effort=effort, official=self._official, habits=habits)
        if listener is not None and habits.counts_streams:  # so that usage is reported at the end
            body["stream_options"] = {"include_usage": True}
        partial = texts.PartialText(chat_stream.PartialChat(), reader)

        def read(data: bytes) -> wire.WireAnswer:
            return chat.read(data, asked)

        return await self._read(chat.PATH, body, partial, reader, read, listener)

    async def _read(
        self,
        path: str,
        body: dict[str, object],
        partial: streams.PartialAnswer,
        reader: texts.Reader,
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
            listener.begin(lambda: reader.read_unfinished(read(partial.body(is_cut=True))))
            return reader.read(read(await streams.read_stream(stream, partial, listener)))

    async def _first_listed(self) -> str:
        """The first model in the server's list that can hold a conversation, judging by its name."""
        listed = _Listed.model_validate_json(await self._client.get("/models", cast_to=bytes))
        names = capabilities.chat_models(model.id for model in listed.data)
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


def _takes(*, sees: bool | None, official: bool) -> media.Kinds:
    pictures = frozenset[str]() if sees is False else frozenset({media.PICTURE})
    return pictures | {media.DOCUMENT} if official else pictures


def _refusal(error: openai.APIStatusError) -> Refusal:
    return Refusal(code=str(error.code or ""), param=str(error.param or ""), words=error.message)
