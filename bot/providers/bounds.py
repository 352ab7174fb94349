"""Limits on the size of a model service's answer, because the SDKs read whatever arrives, even an endless line or
event.

Answers come uncompressed, because a packed one could expand to anything. Left to others: how many words an answer may
have (`bot.providers.streams`), and how long it may take (the adapters).

Source: `_SSELineDecoder` of the package openai 3.54.0 buffers a line until it ends; `SSEDecoder` of anthropic 2.12.0
copies all lines of an event with each one that is added (read 2026-11-23).
"""

from collections.abc import AsyncIterator
from typing import Final

import httpx2

MAX_ANSWER_BYTES = 64 * 1024 * 1024
"""For a stream: the longest answer that can be requested, in the smallest pieces, each wrapped in JSON."""
MAX_EVENT_BYTES = 4 * 1024 * 1024
"""For one event of a stream, the last of which may contain the whole answer, and for an answer that is not streamed."""
MAX_EVENT_LINES = 100
"""Events have two or three."""

HEADERS: Final = {"Accept-Encoding": "identity"}
_BLANK_LINES = (b"\n\n", b"\r\r", b"\r\n\r\n")
_MAX_CUT_BYTES = 3
"""How much of a blank line may be at the end of a chunk."""


class AnswerTooLarge(httpx2.ReadError):
    """The answer has no end, or none that anybody waits for."""


async def limit_answer(answer: httpx2.Response) -> None:
    """Limits how much of an answer can be read: a response hook for a client.

    Raises:
        httpx2.DecodingError: the answer is compressed although that was not requested.
    """
    if answer.headers.get("content-encoding", "identity") != "identity":
        raise httpx2.DecodingError("packed, although nobody asked for that")
    if isinstance(answer.stream, httpx2.AsyncByteStream):
        in_events = answer.headers.get("content-type", "").startswith("text/event-stream")
        answer.stream = _Bounded(answer.stream, in_events=in_events)


class _Bounded(httpx2.AsyncByteStream):
    def __init__(self, inner: httpx2.AsyncByteStream, *, in_events: bool) -> None:
        self._inner = inner
        self._in_events = in_events

    async def __aiter__(self) -> AsyncIterator[bytes]:
        size, event = 0, _Event()
        async for chunk in self._inner:
            size += len(chunk)
            if self._in_events:
                event.take(chunk)
            most = MAX_ANSWER_BYTES if self._in_events else MAX_EVENT_BYTES
            if size > most or event.size > MAX_EVENT_BYTES or event.lines > MAX_EVENT_LINES:
                raise AnswerTooLarge("more than an answer may hold")
            yield chunk

    async def aclose(self) -> None:
        """Closes the stream."""
        await self._inner.aclose()


class _Event:
    """The size of the current event of a stream; the chunk in which it began counts as a whole."""

    def __init__(self) -> None:
        self.size = self.lines = 0
        self._end = b""

    def take(self, chunk: bytes) -> None:
        """Adds a chunk."""
        seen = self._end + chunk
        begins = max(map(seen.rfind, _BLANK_LINES))
        if begins >= 0:
            self.size = self.lines = 0
        self.size += len(chunk)
        self.lines += sum(chunk.count(sign, max(begins - len(self._end), 0)) for sign in (b"\n", b"\r"))
        self._end = seen[-_MAX_CUT_BYTES:]
