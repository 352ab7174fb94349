"""OpenAI, and every server that speaks its language, by OpenAI's own SDK.

OpenAI itself is asked by its Responses API: its newest models refuse tools on chat completions. Every other server is
asked by chat completions, which all of them have. The body goes out as ready bytes and comes back as bytes: see
`wire.encoded` for what that saves. Left to others: the shapes (`openai_chat`, `openai_responses`), retries and other
models (`bot.providers.fallback`), what is asked (`bot.turn.prompt`).

Source: platform.openai.com and the package openai 3.54.0, 2026-11-21.
"""

import asyncio
import re
import time
from typing import Final, Literal
from urllib.parse import urlsplit

import openai
from aiohttp import ClientError

from bot.errors import BadKey, ContextTooLong, ProviderError, Rejected
from bot.providers import openai_chat, openai_responses, wire
from bot.providers.base import Completion, Request
from bot.providers.prices import PUBLISHED, Prices

NAME: Final = "openai"
BASE_URL = "https://api.openai.com/v1"

Api = Literal["auto", "chat", "responses"]

_REASONING = re.compile(r"(o[0-9]|gpt-[5-9])")
"""Names of models that reason; they call the output limit `max_completion_tokens`."""

_PHRASES: wire.Phrases = {
    "insufficient_quota": BadKey,
    "billing_hard_limit_reached": BadKey,
    "account_deactivated": BadKey,
    "invalid_api_key": BadKey,
    "context_length_exceeded": ContextTooLong,
    "maximum context length": ContextTooLong,
    "exceed_context_size": ContextTooLong,
    "exceeds the available context size": ContextTooLong,
    "prompt is too long": ContextTooLong,
    # Refusals of the request itself that an operator or a developer can act on.
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
}


_NO_CHAT = re.compile(r"embed|rerank|whisper|tts|transcri|moderation|dall-e|image", re.IGNORECASE)
"""Names of models that do something else than answer."""


class _Model(wire.Wire):
    id: str


class _Listed(wire.Wire):
    data: list[_Model]


class OpenAI:
    """A provider: one model of OpenAI, or of a server that is compatible with it."""

    def __init__(
        self,
        *,
        api_key: str | None,
        model: str | None,
        base_url: str | None = None,
        api: Api = "auto",
        effort: str | None = None,
        connect_timeout_seconds: float = wire.CONNECT_TIMEOUT_SECONDS,
        prices: Prices = PUBLISHED,
    ) -> None:
        """Open nothing yet; connections come with the first request.

        `model` None means the first that the server lists; it is asked for its list with the first request. `api_key`
        may be None for a local server that wants none. `base_url` is with `/v1`; None means OpenAI's own. `api` chooses
        between the two APIs; `auto` goes by the address. `effort` is how much a reasoning model thinks; None leaves it
        to the model, and it is not sent then, for many compatible servers refuse it.
        """
        self._model = model or ""
        self._effort = effort
        self._prices = prices
        self._base_url = (base_url or BASE_URL).rstrip("/")
        self._official = urlsplit(self._base_url).hostname == urlsplit(BASE_URL).hostname
        self._responses = api == "responses" or (api == "auto" and self._official)
        renamed = self._official or _REASONING.match(self._model)
        self._limit_name = "max_completion_tokens" if renamed else "max_tokens"
        self._client = openai.AsyncOpenAI(
            api_key=api_key or "none",  # the SDK insists on one
            # None and absent values would be looked up in the environment.
            base_url=self._base_url,
            admin_api_key="",
            webhook_secret="",
            timeout=openai.Timeout(None, connect=connect_timeout_seconds),
            max_retries=0,
            http_client=openai.DefaultAioHttpClient(),
        )
        self._client.organization = None
        self._client.project = None

    @property
    def name(self) -> str:
        """`openai`."""
        return NAME

    async def complete(self, request: Request) -> Completion:
        """The model's answer.

        Raises:
            ProviderError: one of its kinds, see `bot.errors`.
        """
        started = time.monotonic()
        try:
            async with asyncio.timeout(request.timeout_seconds):
                answer = await self._ask(request)
        except TimeoutError as error:
            raise wire.no_answer(request, provider=NAME, model=self._model) from error
        except openai.APIStatusError as error:
            # Not chained: the SDK's error carries the service's words, which may quote the prompt, into tracebacks.
            raise self._refused(error) from None
        except (openai.APIConnectionError, ClientError) as error:
            raise wire.no_connection(error, provider=NAME, model=self._model) from error
        except UnicodeEncodeError:
            # The body is bytes by then, so it is the key's header that cannot be written. Not chained: it has the key.
            raise BadKey("the key has letters that no header takes", provider=NAME, model=self._model) from None
        except (openai.OpenAIError, ValueError) as error:
            raise wire.unreadable(provider=NAME, model=self._model) from error
        latency_seconds = time.monotonic() - started
        return answer.completion(provider=NAME, model=self._model, latency_seconds=latency_seconds, prices=self._prices)

    async def aclose(self) -> None:
        """Close the connections."""
        await self._client.close()

    async def _ask(self, request: Request) -> wire.Answered:
        if not self._model:
            self._model = await self._first_listed()
        if self._responses:
            reasons = _REASONING.match(self._model) is not None
            body = openai_responses.body(request, model=self._model, effort=self._effort, reasons=reasons)
            data = await self._post(openai_responses.PATH, body)
            return openai_responses.read(data, request, model=self._model)
        limit_name = self._limit_name
        try:
            data = await self._chat(request)
        except openai.BadRequestError as error:
            if not _refuses(error, limit_name):
                raise
            # Remembered for good. A request that ran beside this one may have switched already: go by what it sent.
            self._limit_name = "max_tokens" if limit_name == "max_completion_tokens" else "max_completion_tokens"
            data = await self._chat(request)
        return openai_chat.read(data, request)

    async def _first_listed(self) -> str:
        """The first model of the server's list that can hold a conversation, as far as its name tells."""
        listed = _Listed.model_validate_json(await self._client.get("/models", cast_to=bytes))
        names = [model.id for model in listed.data if not _NO_CHAT.search(model.id)]
        if not names:
            raise Rejected("the server lists no model: set LLM__OPENAI__MODEL", provider=NAME)
        return names[0]

    async def _chat(self, request: Request) -> bytes:
        body = openai_chat.body(
            request, model=self._model, limit_name=self._limit_name, effort=self._effort, official=self._official
        )
        return await self._post(openai_chat.PATH, body)

    async def _post(self, path: str, body: dict[str, object]) -> bytes:
        # The whole address, because the SDK takes 0.1 ms to put a path behind its base address, with every request.
        return await self._client.post(f"{self._base_url}{path}", content=wire.encoded(body), cast_to=bytes)

    def _refused(self, error: openai.APIStatusError) -> ProviderError:
        refused = wire.Refused(
            status=error.status_code,
            code=str(error.code or error.type or ""),
            words=error.message,
            headers=error.response.headers,
        )
        return refused.error(_PHRASES, provider=NAME, model=self._model)


def _refuses(error: openai.BadRequestError, limit_name: str) -> bool:
    """Whether the server knows the output limit by its other name only."""
    return error.code == "unsupported_parameter" and (error.param == limit_name or f"'{limit_name}'" in error.message)
