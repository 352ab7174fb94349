"""Streamed answers: gathers the pieces, and passes on the words as they arrive.

The pieces are assembled into the body that the same service returns without streaming, so that one reader reads both
and the completion is the same either way. A piece that brings nothing (a ping, an empty delta) does not count: a server
can send those for ever. Left to others: each vendor's pieces (`bot.models.anthropic.stream`,
`bot.models.openai.chat_stream`, `bot.models.openai.responses`), the connection (its SDK) and the deadline
(`bot.models.base`).
"""

import asyncio
from collections.abc import AsyncIterable, AsyncIterator, Callable, Iterable, Mapping
from dataclasses import replace
from typing import Final, Protocol

import httpx2

from bot.errors import ProviderError, TooSlow
from bot.models import wire
from bot.models.base import Deadline, OnText, Request, Stop
from bot.models.prices import Prices

SLOW_SECONDS = 30.0
"""A model that took longer for an answer may take too long for the next one to be awaited as a whole: from then on it
is streamed, so that each piece gives it time. Others are not: it costs more work, and some servers' calls are better
when whole (vLLM's, by its issue threads, 2026-11-26).
"""

MAX_STREAM_BYTES = 64 * 1024 * 1024
"""The longest answer that can be requested, in the smallest pieces, each wrapped in JSON."""
MAX_WHOLE_BYTES = 4 * 1024 * 1024
"""For an answer that comes whole, and for what a stream comes to."""
HEADERS: Final = {"Accept-Encoding": "identity"}
"""Answers come uncompressed, because a packed one could expand to anything."""

MAX_CHARACTERS = 2_000_000
"""The limit per answer: twice the largest output limit. A server that repeats itself may never end."""
MAX_PARTS = 1_000
"""The limit per answer, for calls and texts alike: all are examined with each piece."""


class PartialAnswer(Protocol):
    """An incomplete answer."""

    @property
    def text(self) -> str:
        """The words so far, as in `AssistantMessage.text`."""
        ...

    @property
    def size(self) -> int:
        """How much has come so far, of words, thoughts and calls: grows with every piece that brings any."""
        ...

    def take(self, piece: object) -> None:
        """Adds a piece: one event's JSON.

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
    """Hears one completion: passes on its words as they arrive and the final text at the end, and knows what there is
    of it if it does not come to its end.
    """

    def __init__(self, request: Request, deadline: Deadline, on_text: OnText | None) -> None:
        self._request = request
        self._deadline = deadline
        self._on_text = on_text
        self._said = self._before = ""
        self._so_far: Callable[[], wire.WireAnswer] | None = None
        self.is_wanted = on_text is not None
        """Whether somebody wants to hear it; otherwise it need not be streamed."""
        self.has_heard = False
        """Whether any piece has arrived: then the service has started to count."""

    def begin(self, so_far: Callable[[], wire.WireAnswer], *, before: str = "") -> None:
        """Notes that a stream begins, and how what there is of it is read; its words continue those of `before`."""
        self._so_far, self._before = so_far, before

    async def hear(self, pieces: AsyncIterable[object]) -> AsyncIterator[object]:
        """Passes the pieces through, noting that some arrived."""
        async for piece in pieces:
            self.has_heard = True
            yield piece

    def on_progress(self) -> None:
        """Notes that a piece has brought more of the answer."""
        self._deadline.extend()
        self._request.on_piece()

    def on_words(self, text: str) -> None:
        """Passes on the words of the stream so far."""
        self._tell(join_texts([self._before, text]))

    def end(self, text: str) -> None:
        """Passes on the final text: an ending that might have become a call, but did not, is shown only now."""
        if text != self._said and text.strip():
            self._tell(text)

    def _tell(self, text: str) -> None:
        self._said = text
        if self._on_text is not None:
            self._on_text(text)

    def too_slow(self, *, provider: str, model: str, prices: Prices) -> TooSlow:
        """The error for a missed deadline, with what was written by then."""
        error, answer = wire.no_answer(self._deadline, provider=provider, model=model), self._unfinished()
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
        if answer is None or answer.message is None or answer.stop is Stop.REFUSAL:
            return None
        if not answer.text.strip() or answer.stop is Stop.TOOLS:
            return None
        if answer.stop is Stop.END:
            return answer  # only the stream has not ended
        # What it has counted by now is not all that it was paid for.
        return replace(answer, stop=Stop.UNFINISHED, usage=replace(answer.usage, output_tokens=0))


async def read_stream(pieces: AsyncIterable[object], partial: PartialAnswer, listener: Listener) -> bytes:
    """The body of a streamed answer; the listener hears its words whenever there are more.

    Raises:
        ValueError: a piece is unreadable, the end is missing, or the answer is too long.
    """
    said = shown = ""
    size = 0
    async for piece in listener.hear(pieces):
        # Buffered pieces arrive without a pause: without this one a fast server would block everything else.
        await asyncio.sleep(0)
        partial.take(piece)
        if partial.size > size:
            size = partial.size
            listener.on_progress()
        if (written := partial.text) is shown:
            continue
        shown = written
        # Half a surrogate pair, whose other half may be in the next piece, cannot be shown.
        text = written.encode("utf-8", "replace").decode()
        if len(text) > MAX_CHARACTERS:
            raise ValueError("the answer does not end")
        if text != said and text.strip():
            said = text
            listener.on_words(text)
    body = partial.body()
    if len(body) > MAX_WHOLE_BYTES:
        raise ValueError("the answer is larger than one may be that comes whole")
    return body


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


def join_texts(texts: Iterable[str]) -> str:
    """The words of several parts, joined as in `AssistantMessage.text`."""
    return "\n\n".join(text for text in texts if text.strip())
