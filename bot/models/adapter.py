"""Shared by both vendors' adapters: asks a model in time, and reads what its refusals mean.

    refused --> what the server does not take, by its own words (`quirks`) --> asked again without it, and remembered

Left to others: each vendor's formats and SDK (`anthropic`, `openai`), retries and other models (`fallback`).
"""

import asyncio
import logging
import re
import time
from abc import ABC, abstractmethod
from collections.abc import AsyncIterator, Mapping
from dataclasses import replace
from typing import Any, ClassVar

import httpx2

from bot.errors import BadKey, ContextTooLong, Overloaded, ProviderError, TooSlow, Unavailable, Unreadable
from bot.models import media, wire
from bot.models.base import Completion, Request
from bot.models.capabilities import Lesson, ModelLessons
from bot.models.prices import Prices, published_prices
from bot.models.tool_list import own_calls
from bot.settings.groups import AnthropicSettings, OpenAISettings
from tools import trusted_certificates

_log = logging.getLogger(__name__)

CONNECT_TIMEOUT_SECONDS = 10.0
"""For the connection alone, so that an unreachable host is noticed long before the completion's deadline."""

MAX_ANSWER_BYTES = 64 * 1024 * 1024
"""The longest answer that is read."""

Quirks = frozenset[str]
"""Names of what a server does not take, or wants otherwise; the kinds of media are among them."""

TEMPERATURE = (
    r"'temperature'|\btemperature\b\W{1,4}(?:is|only|may only|extra inputs)\b|(?:invalid|support) \W?temperature\b"
)
"""How servers refuse a temperature. Source: issue threads on Anthropic's, OpenAI's and Moonshot's APIs, 2026-11-30."""

_NOT_THE_WAY = (BadKey, ContextTooLong, Overloaded, Unreadable)
"""Failures that another way of asking cannot fix, whatever their words."""


async def limit_answer(answer: httpx2.Response) -> None:
    """Limits how much of an answer is read, because the SDKs read whatever arrives: a response hook for a client."""
    if isinstance(answer.stream, httpx2.AsyncByteStream):
        answer.stream = _Bounded(answer.stream)


class _Bounded(httpx2.AsyncByteStream):
    def __init__(self, inner: httpx2.AsyncByteStream) -> None:
        self._inner = inner

    async def __aiter__(self) -> AsyncIterator[bytes]:
        size = 0
        async for chunk in self._inner:
            size += len(chunk)
            if size > MAX_ANSWER_BYTES:
                raise httpx2.ReadError("more than an answer may hold")
            yield chunk

    async def aclose(self) -> None:
        """Closes the stream."""
        await self._inner.aclose()


class PrivateClient:
    """What both SDKs' clients leave out of requests here, mixed into each."""

    def __init__(self, **options: Any) -> None:
        """Makes the client without the headers of `..._CUSTOM_HEADERS`, which replace the key and go to any server.
        Source: anthropic 2.12 to 2.14, openai 3.54 to 3.57 (2026-11-27).
        """
        options |= {"max_retries": 0, "timeout": httpx2.Timeout(None, connect=CONNECT_TIMEOUT_SECONDS)}
        super().__init__(**options)
        self._custom_headers: dict[str, str] = {}

    def platform_headers(self) -> dict[str, str]:
        """Returns none of what would describe this machine: system, processor, Python."""
        return {}


def http_options() -> dict[str, Any]:
    """The options of both SDKs' HTTP clients."""
    return {
        "verify": trusted_certificates(),
        "trust_env": False,
        "follow_redirects": False,  # they would carry people's words to a server that the operator has not chosen
        "headers": {"Accept-Encoding": "identity"},  # a packed answer could expand to anything
        "event_hooks": {"response": [limit_answer]},
    }


class Adapter(ABC):
    """A provider: one model behind a vendor's SDK."""

    name: str
    failures: ClassVar[tuple[type[Exception], ...]]
    """What the SDK and the readers of its answers raise."""
    lost: ClassVar[tuple[type[Exception], ...]]
    """Those of them that mean a failed connection."""
    quirks: ClassVar[Mapping[str, re.Pattern[str]]]
    """What servers do not take, and how they say so: after a refusal's code and its parameter in quotes."""
    forgotten: ClassVar[Quirks] = frozenset()
    """Quirks of one request alone."""
    _client: Any
    """The SDK's."""

    def __init__(
        self,
        given: AnthropicSettings | OpenAISettings,
        *,
        model: str,
        official_url: str,
        prices: Prices | None,
        lessons: ModelLessons | None,
    ) -> None:
        self._model = model
        self._effort = given.effort
        self._prices = prices or published_prices()
        self._base_url = (given.base_url or official_url).rstrip("/")
        self._lessons = lessons or ModelLessons()
        self._set: Quirks = frozenset()
        """Quirks that settings demand."""
        self._never: Quirks = frozenset()
        """Quirks that settings rule out, whatever the server says."""

    async def complete(self, request: Request) -> Completion:
        """The model's answer; raises a `ProviderError`, see `bot.errors`."""
        is_at_home = self._lesson.capabilities.is_at_home
        seconds = (request.total_seconds if is_at_home else None) or request.timeout_seconds
        began_at = time.monotonic()
        try:
            async with asyncio.timeout(seconds):
                answer = own_calls(await self._ask(request), request)
        except TimeoutError:
            late = TooSlow(f"{self.name} gave no answer in {seconds:g} s", provider=self.name, model=self._model)
            late.cost_usd = None  # the service counts what it accepted, and does not say how much
            raise late from None
        except self.failures as error:
            # Not chained: the SDK's error would carry the service's words, which may quote the prompt, into tracebacks.
            raise self._failed(error) from None
        price = self._prices.of(self._model) or self._lesson.capabilities.price
        return replace(
            answer,
            provider=self.name,
            model=self._model,
            latency_seconds=time.monotonic() - began_at,
            cost_usd=None if price is None else price.cost(answer.usage),
        )

    async def aclose(self) -> None:
        """Closes the connections."""
        await self._client.close()

    @abstractmethod
    async def _answered(self, request: Request, quirks: Quirks) -> Completion:
        """The answer of a server with these quirks."""

    @abstractmethod
    def _refusal(self, error: Exception) -> wire.Refusal | None:
        """The refusal that an error of the SDK stands for; None if it is none."""

    @abstractmethod
    def _learnable(self, request: Request) -> Quirks:
        """Those of `quirks` that would change this request."""

    async def _ask(self, request: Request) -> Completion:
        """The answer; if the server wants to be asked differently, the answer to that."""
        own = self._lesson.capabilities
        can = {media.PICTURE: own.pictures, media.DOCUMENT: own.documents, "tools": own.tools, "effort": own.thinking}
        lacks = frozenset(name for name, is_so in can.items() if is_so is False)  # as the server says
        quirks = self._set | (lacks | self._lesson.quirks) - self._never
        while True:
            try:
                taken = replace(request, temperature=None) if "temperature" in quirks else request
                return await self._answered(taken, quirks)
            except self.failures as error:
                refusal = None if isinstance(error, self.lost) else self._refusal(error)
                learnt = None if refusal is None else self._learn(refusal, request, quirks)
                if learnt is None:
                    raise
                quirks |= learnt

    def _learn(self, refusal: wire.Refusal, request: Request, quirks: Quirks) -> Quirks | None:
        """What the server does not take, remembered unless it is about one picture or against a setting, or None."""
        if isinstance(refusal.error(provider=self.name, model=self._model), _NOT_THE_WAY):
            return None
        said = f"{refusal.code} '{refusal.param}' {refusal.words}"
        rest = self._learnable(request) - quirks - ({"temperature"} if request.temperature is None else set())
        name = next((one for one, words in self.quirks.items() if one in rest and words.search(said)), None)
        if name is None:
            refused = media.refused_kinds(refusal.words, media.kinds_in(request.messages) - quirks)
            lasting = frozenset[str]() if media.is_about_this_one(refusal.words) else refused - self._never
        else:
            refused, lasting = frozenset({name}), frozenset({name}) - self._never - self.forgotten
        if lasting:
            _log.info("the server of the model %s wants to be asked otherwise: %s", self._model, ", ".join(refused))
            self._lesson.quirks |= lasting
        return refused or None

    async def _post(self, path: str, body: Mapping[str, object]) -> bytes:
        return await self._client.post(f"{self._base_url}{path}", content=wire.encode_json(body), cast_to=bytes)

    @property
    def _lesson(self) -> Lesson:
        return self._lessons.of(self._base_url, self._model)

    def _failed(self, error: Exception) -> ProviderError:
        if isinstance(error, ProviderError):
            return error
        if isinstance(error, self.lost):
            cause: BaseException = error  # the first one tells DNS from TLS
            while cause.__cause__ is not None:
                cause = cause.__cause__
            what = f"no connection to {self.name} ({type(cause).__name__})"
            return Unavailable(what, provider=self.name, model=self._model)
        if isinstance(error, UnicodeEncodeError):  # the body is bytes already
            return BadKey("the key has letters that no header takes", provider=self.name, model=self._model)
        if (refusal := self._refusal(error)) is not None:
            return refusal.error(provider=self.name, model=self._model)
        odd = Unavailable(f"{self.name} answered what cannot be read", provider=self.name, model=self._model)
        odd.cost_usd = None
        return odd
