"""Shared by both vendors' adapters: asks a model in time, whole or in pieces, and reads what its refusals mean.

    refused --> what the server does not take, by its own words (`quirks`) --> asked again without it, and remembered
    slow    --> the next answers are streamed, so that each piece gives the model time

The pieces of a stream are assembled into the body that the same service returns without streaming, so that one reader
reads both. A piece that brings nothing (a ping, an empty delta) does not count: a server can send them for ever.
Left to others: each vendor's formats and SDK (`anthropic`, `openai`), retries and other models (`fallback`).
"""

import asyncio
import logging
import re
from abc import ABC, abstractmethod
from collections.abc import AsyncIterable, AsyncIterator, Callable, Mapping
from dataclasses import replace
from typing import Any, ClassVar, Protocol, cast
from urllib.parse import urlsplit

import httpx2

from bot.errors import (
    BadKey,
    ContextTooLong,
    Overloaded,
    ProviderError,
    TooSlow,
    Unavailable,
    Unreadable,
)
from bot.models import media, wire
from bot.models.base import Completion, Deadline, Request, Stop, Usage
from bot.models.capabilities import Capabilities, ModelLessons, told_of
from bot.models.prices import Prices, published_prices
from bot.models.words import Reader
from tools import trusted_certificates

_log = logging.getLogger(__name__)

CONNECT_TIMEOUT_SECONDS = 10.0
"""For the connection alone, so that an unreachable host is noticed long before the completion's deadline."""

SLOW_SECONDS = 30.0
"""A model that took longer for an answer may take too long for the next one to be awaited as a whole: from then on it
is streamed, so that each piece gives it time. Others are not: it costs more work, and some servers' calls are better
when whole (vLLM's, by its issue threads, 2026-11-26).
"""

MAX_STREAM_BYTES = 64 * 1024 * 1024
"""The longest answer that can be requested, in the smallest pieces, each wrapped in JSON."""
MAX_WHOLE_BYTES = 4 * 1024 * 1024
"""The longest answer that comes whole."""
MAX_CHARACTERS = 2_000_000
"""The limit for words, thoughts and calls of an answer: twice the largest output limit. Some never end."""

Quirks = frozenset[str]
"""Names of what a server does not take, or wants otherwise; the kinds of media are among them."""

_NOT_THE_WAY = (BadKey, ContextTooLong, Overloaded, Unreadable)
"""Failures that another way of asking cannot fix, whatever their words."""


class PartialAnswer(Protocol):
    """An incomplete answer."""

    @property
    def usage(self) -> Usage | None:
        """What the service has counted so far; None where it counts at the end."""
        ...

    @property
    def size(self) -> int:
        """How much has come so far, of words, thoughts and calls: grows with every piece that brings any."""
        ...

    def take(self, piece: object) -> None:
        """Adds a piece: one event.

        Raises:
            ValueError: it is not what the service sends.
        """
        ...

    def body(self, *, is_cut: bool = False) -> bytes:
        """The complete answer in JSON, as the service returns it without streaming; `is_cut`: what there is of it, as
        if cut off by the output limit if its end is missing.

        Raises:
            ValueError: its end is missing.
        """
        ...


class Listener:
    """Hears one completion, and knows what there is of it if it does not come to its end."""

    def __init__(self, request: Request, deadline: Deadline) -> None:
        self._request = request
        self._deadline = deadline
        self._so_far: Callable[[], wire.WireAnswer] | None = None
        self.partial: PartialAnswer | None = None
        """What has arrived; None if not a piece has: then the service counts nothing."""

    async def listen(
        self,
        pieces: AsyncIterable[object],
        partial: PartialAnswer,
        reader: Reader,
        read: Callable[[bytes], wire.WireAnswer],
    ) -> bytes:
        """The body of a streamed answer, which `read` can read.

        Raises:
            ValueError: a piece is unreadable, the end is missing, or the answer is too long.
        """
        self._so_far = lambda: reader.read_unfinished(read(partial.body(is_cut=True)))
        size = 0
        async for piece in pieces:
            self.partial = partial
            # Buffered pieces arrive without a pause: without this one a fast server would block everything else.
            await asyncio.sleep(0)
            partial.take(piece)
            if partial.size == size:
                continue
            size = partial.size
            self._deadline.extend()
            self._request.on_piece()
            if size > MAX_CHARACTERS:
                raise ValueError("the answer does not end")
        return partial.body()

    def too_slow(self, *, provider: str, model: str, prices: Prices) -> TooSlow:
        """The error for a missed deadline, with what was written by then."""
        error, answer = self._deadline.too_slow(provider=provider, model=model), self._unfinished()
        if answer is not None:
            seconds = self._deadline.seconds
            error.begun = answer.completion(provider=provider, model=model, latency_seconds=seconds, prices=prices)
        return error

    def _unfinished(self) -> wire.WireAnswer | None:
        """What was written of an answer whose stream does not end; None if that is not a word."""
        try:
            answer = None if self._so_far is None else self._so_far()
        except (ProviderError, ValueError, RecursionError):
            return None
        if answer is None or answer.stop in {Stop.REFUSAL, Stop.TOOLS} or not answer.text.strip():
            return None
        if answer.stop is Stop.END:
            return answer  # only the stream has not ended
        # What it has counted by now is not all that it was paid for.
        return replace(answer, stop=Stop.UNFINISHED, usage=replace(answer.usage, output_tokens=0))


class AnswerTooLarge(httpx2.ReadError):
    """The answer has no end, or none that anyone waits for."""


async def limit_answer(answer: httpx2.Response) -> None:
    """Limits how much of an answer can be read, because the SDKs read whatever arrives: a response hook for a client.

    Raises:
        httpx2.DecodingError: the answer is compressed although that was not requested.
    """
    if answer.headers.get("content-encoding", "identity") != "identity":
        raise httpx2.DecodingError("packed, although that was not asked for")
    if isinstance(answer.stream, httpx2.AsyncByteStream):
        in_events = answer.headers.get("content-type", "").startswith("text/event-stream")
        answer.stream = _Bounded(answer.stream, MAX_STREAM_BYTES if in_events else MAX_WHOLE_BYTES)


class _Bounded(httpx2.AsyncByteStream):
    def __init__(self, inner: httpx2.AsyncByteStream, most: int) -> None:
        self._inner = inner
        self._most = most

    async def __aiter__(self) -> AsyncIterator[bytes]:
        size = 0
        async for chunk in self._inner:
            size += len(chunk)
            if size > self._most:
                raise AnswerTooLarge("more than an answer may hold")
            yield chunk

    async def aclose(self) -> None:
        """Closes the stream."""
        await self._inner.aclose()


def is_whole(headers: Mapping[str, str]) -> bool:
    """Whether an answer arrives in one piece after all; a few compatible servers do not stream."""
    return headers.get("content-type", "").lower().startswith("application/json")


class PrivateClient:
    """What both SDKs' clients leave out of requests here, mixed into each."""

    def platform_headers(self) -> dict[str, str]:
        """Returns none of what would describe this machine: system, processor, Python."""
        return {}

    def drop_headers_of_environment(self) -> None:
        """Removes those of `..._CUSTOM_HEADERS`, which replace the key and go to whatever server is set.

        Source: anthropic 2.12 to 2.14, openai 3.54 to 3.57 (2026-11-27).
        """
        self._custom_headers: dict[str, str] = {}


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
    """What servers do not take, or want otherwise, and how they say so: after a refusal's code and its parameter in
    quotes."""
    forgotten: ClassVar[Quirks] = frozenset()
    """Quirks of one request alone."""
    _client: Any
    """The SDK's."""

    def __init__(
        self,
        *,
        model: str,
        base_url: str | None,
        official_url: str,
        effort: str | None,
        prices: Prices | None,
        lessons: ModelLessons | None,
    ) -> None:
        self._model = model
        self._effort = effort
        self._prices = prices or published_prices()
        self._base_url = (base_url or official_url).rstrip("/")
        self._official = urlsplit(self._base_url).hostname == urlsplit(official_url).hostname
        self._lessons = lessons or ModelLessons()
        self._set: Quirks = frozenset()
        """Quirks that settings demand."""
        self._never: Quirks = frozenset()
        """Quirks that settings rule out, whatever the server says."""
        self.is_slow = False
        """Whether answers are streamed, because one of them took long (`SLOW_SECONDS`)."""

    async def complete(self, request: Request) -> Completion:
        """The model's answer.

        Raises:
            ProviderError: one of its kinds, see `bot.errors`; `cost_usd` is what a failed stream had used, None if that
                is unknown.
        """
        deadline = Deadline(request)
        listener = Listener(request, deadline)
        try:
            async with deadline:
                answer = await self._ask(request, listener)
        except TimeoutError:
            self.is_slow = True
            error = listener.too_slow(provider=self.name, model=self._model, prices=self._prices)
            raise self._counted(error, listener) from None
        except self.failures as error:
            # Not chained: the SDK's error would carry the service's words, which may quote the prompt, into tracebacks.
            raise self._counted(self._failed(error), listener) from None
        latency_seconds = deadline.seconds
        self.is_slow = self.is_slow or latency_seconds > SLOW_SECONDS
        return answer.completion(
            provider=self.name, model=self._model, latency_seconds=latency_seconds, prices=self._prices
        )

    async def aclose(self) -> None:
        """Closes the connections."""
        await self._client.close()

    @abstractmethod
    async def _answered(self, request: Request, quirks: Quirks, listener: Listener | None) -> wire.WireAnswer:
        """The answer of a server with these quirks; with `listener` it is streamed."""

    @abstractmethod
    def _refusal(self, error: Exception) -> wire.Refusal | None:
        """The refusal that an error of the SDK stands for; None if it is none."""

    @abstractmethod
    def _learnable(self, request: Request) -> Quirks:
        """Those of `quirks` that would change this request."""

    async def _ask(self, request: Request, listener: Listener) -> wire.WireAnswer:
        """The answer; if the server wants to be asked differently, the answer to that."""
        known = told_of(self._lessons, self._base_url, self._model)
        quirks = self._set | (_quirks_of(known) | self._learnt()) - self._never
        is_streamed = self.is_slow or known.is_at_home is True
        while True:
            request = replace(request, max_output_tokens=min(request.max_output_tokens, self._most_output_tokens()))
            try:
                heard_by = listener if is_streamed and "stream" not in quirks else None
                return await self._answered(request, quirks, heard_by)
            except self.failures as error:
                is_final = isinstance(error, self.lost) or listener.partial is not None
                refusal = None if is_final else self._refusal(error)
                learnt = None if refusal is None else self._learn(refusal, request, quirks)
                if learnt is None:
                    raise
                quirks |= learnt

    def _learn(self, refusal: wire.Refusal, request: Request, quirks: Quirks) -> Quirks | None:
        """What the server does not take, by its refusal of a request; None if it can only be passed on.

        It is remembered, unless it is about a single picture or contradicts a setting.
        """
        if isinstance(refusal.error(provider=self.name, model=self._model), _NOT_THE_WAY):
            return None
        if (most := wire.max_output_tokens(refusal.words, request)) is not None:
            self._lessons.learn(self._base_url, self._model, max_output_tokens=most)
            return frozenset()
        said = f"{refusal.code} '{refusal.param}' {refusal.words}"
        rest = self._learnable(request) - quirks
        name = next((one for one, words in self.quirks.items() if one in rest and words.search(said)), None)
        if name is None:
            refused = media.refused_kinds(refusal.words, media.kinds_in(request.messages) - quirks)
            lasting = frozenset[str]() if media.is_about_this_one(refusal.words) else refused - self._never
        else:
            refused, lasting = frozenset({name}), frozenset({name}) - self._never - self.forgotten
        if lasting:
            _log.info("the server of the model %s wants to be asked otherwise: %s", self._model, ", ".join(refused))
            self._lessons.learn(self._base_url, self._model, quirks=sorted(self._learnt() | lasting))
        return refused or None

    def _learnt(self) -> Quirks:
        names = self._lessons.read(self._base_url, self._model, "quirks", _known_names)
        return names & (self.quirks.keys() | media.ALL)

    def _most_output_tokens(self) -> int:
        return self._lessons.read(self._base_url, self._model, "max_output_tokens", _known_most)

    def _failed(self, error: Exception) -> ProviderError:
        """The error of ours that a failure is."""
        if isinstance(error, ProviderError):
            return error
        if isinstance(error, self.lost):
            cause: BaseException = error  # the first one tells DNS from TLS
            while cause.__cause__ is not None:
                cause = cause.__cause__
            story = f"no connection to {self.name} ({type(cause).__name__})"
            return Unavailable(story, provider=self.name, model=self._model)
        if isinstance(error, UnicodeEncodeError):  # the body is bytes already
            return BadKey("the key has letters that no header takes", provider=self.name, model=self._model)
        if (refusal := self._refusal(error)) is not None:
            return refusal.error(provider=self.name, model=self._model)
        unreadable = Unavailable(f"{self.name} answered what cannot be read", provider=self.name, model=self._model)
        unreadable.cost_usd = None
        return unreadable

    def _counted(self, error: ProviderError, listener: Listener) -> ProviderError:
        """The error with the cost of what a stream had counted by then."""
        if listener.partial is not None:
            usage = listener.partial.usage
            error.cost_usd = None if usage is None else self._prices.cost(self._model, usage)
        return error


def _quirks_of(known: Capabilities) -> Quirks:
    """What a model does not take, as its server says."""
    can = {
        media.PICTURE: known.pictures,
        media.DOCUMENT: known.documents,
        "tools": known.tools,
        "effort": known.thinking,
        "system": known.system,
    }
    return frozenset(name for name, is_so in can.items() if is_so is False)


def _known_names(lesson: object) -> Quirks:
    names = cast("list[object]", lesson) if isinstance(lesson, list) else []
    return frozenset(name for name in names if isinstance(name, str))


def _known_most(lesson: object) -> int:
    return lesson if type(lesson) is int and lesson > 0 else 10**9
