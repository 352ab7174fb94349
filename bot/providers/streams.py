"""Streamed answers: gathers the pieces, and passes on the words as they arrive.

The pieces are assembled into the body that the same service returns without streaming, so that one reader reads both
and the completion is the same either way. Left to others: each vendor's pieces (`bot.providers.anthropic.stream`,
`bot.providers.openai.chat_stream`, `bot.providers.openai.responses_stream`), the connection (its SDK) and the deadline
(the adapter).
"""

import asyncio
from collections.abc import AsyncIterable, AsyncIterator, Iterable, Mapping
from typing import Protocol

from bot.providers import bounds
from bot.providers.base import OnText

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

    def take(self, piece: object) -> None:
        """Adds a piece: one event's JSON.

        Raises:
            ValueError: it is not what the service sends.
        """
        ...

    def body(self) -> bytes:
        """The complete answer in JSON, as the service returns it without streaming.

        Raises:
            ValueError: its end is missing.
        """
        ...


class Listener:
    """Passes on the words of one completion as they arrive, and the final text at the end."""

    def __init__(self, on_text: OnText) -> None:
        self._on_text = on_text
        self._said = ""
        self.has_heard = False
        """Whether any piece has arrived: then the service has started to count."""

    async def hear(self, pieces: AsyncIterable[object]) -> AsyncIterator[object]:
        """Passes the pieces through, noting that some arrived."""
        async for piece in pieces:
            self.has_heard = True
            yield piece

    def __call__(self, text: str) -> None:
        """Passes on the words so far."""
        self._said = text
        self._on_text(text)

    def end(self, text: str) -> None:
        """Passes on the final text: an ending that might have become a call, but did not, is shown only now."""
        if text != self._said and text.strip():
            self(text)


async def read_stream(pieces: AsyncIterable[object], partial: PartialAnswer, on_text: OnText) -> bytes:
    """The body of a streamed answer; `on_text` is called with its words whenever there are more.

    Raises:
        ValueError: a piece is unreadable, the end is missing, or the answer is too long.
    """
    said = ""
    async for piece in pieces:
        # Buffered pieces arrive without a pause: without this one a fast server would block everything else.
        await asyncio.sleep(0)
        partial.take(piece)
        # Half a surrogate pair, whose other half may be in the next piece, cannot be shown.
        text = partial.text.encode("utf-8", "replace").decode()
        if len(text) > MAX_CHARACTERS:
            raise ValueError("the answer does not end")
        if text != said and text.strip():
            said = text
            on_text(text)
    body = partial.body()
    if len(body) > bounds.MAX_EVENT_BYTES:
        raise ValueError("the answer is larger than one may be that comes whole")
    return body


def is_whole(headers: Mapping[str, str]) -> bool:
    """Whether an answer arrives in one piece after all; a few compatible servers do not stream."""
    return headers.get("content-type", "").startswith("application/json")


def join_texts(texts: Iterable[str]) -> str:
    """The words of several parts, joined as in `AssistantMessage.text`."""
    return "\n\n".join(text for text in texts if text.strip())
