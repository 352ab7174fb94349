"""Answers that come in pieces: gathered until they are whole, and told as far as there are words.

What was gathered is put into the body that the same service gives without streaming, so that one reader reads both and
a completion is the same either way. Left to others: each vendor's pieces (`bot.providers.anthropic.stream`,
`bot.providers.openai.chat_stream`, `bot.providers.openai.responses_stream`), the connection (its SDK) and the deadline
(the adapter).
"""

import asyncio
from collections.abc import AsyncIterable, AsyncIterator, Iterable, Mapping
from typing import Protocol

from bot.providers import bounds
from bot.providers.base import OnText

MAX_CHARACTERS = 2_000_000
"""Of one answer: twice what the largest output limit gives. A server that repeats itself may never end."""
MAX_PARTS = 1_000
"""Of one answer, be they calls or texts: with each piece all are looked through."""


class Gathering(Protocol):
    """An answer of which some pieces are there."""

    @property
    def text(self) -> str:
        """The words so far, as `AssistantMessage.text` will have them."""
        ...

    def take(self, piece: object) -> None:
        """Add a piece: one event's JSON.

        Raises:
            ValueError: it is not what the service sends.
        """
        ...

    def body(self) -> bytes:
        """The whole answer as the service gives it without streaming, in JSON.

        Raises:
            ValueError: its end is missing.
        """
        ...


class Listener:
    """Passes the words of one completion on as they come, and in the end what it says."""

    def __init__(self, on_text: OnText) -> None:
        self._on_text = on_text
        self._said = ""
        self.has_heard = False
        """Whether any piece has come: then the service has begun to count."""

    async def hear(self, pieces: AsyncIterable[object]) -> AsyncIterator[object]:
        """The pieces, noticed as they come."""
        async for piece in pieces:
            self.has_heard = True
            yield piece

    def __call__(self, text: str) -> None:
        """There are more words."""
        self._said = text
        self._on_text(text)

    def end(self, text: str) -> None:
        """That was the answer: an end that might have become a call, and did not, is told now."""
        if text != self._said and text.strip():
            self(text)


async def read_stream(pieces: AsyncIterable[object], gathering: Gathering, on_text: OnText) -> bytes:
    """The body of an answer that comes in these pieces; `on_text` is called with its words whenever there are more.

    Raises:
        ValueError: a piece cannot be read, the end is missing, or there is none.
    """
    said = ""
    async for piece in pieces:
        # What has arrived comes without a pause: without this one a fast server would stop everybody else.
        await asyncio.sleep(0)
        gathering.take(piece)
        # Half a surrogate pair, whose other half may be in the next piece, is nothing that anybody can show.
        text = gathering.text.encode("utf-8", "replace").decode()
        if len(text) > MAX_CHARACTERS:
            raise ValueError("the answer does not end")
        if text != said and text.strip():
            said = text
            on_text(text)
    body = gathering.body()
    if len(body) > bounds.MAX_EVENT_BYTES:
        raise ValueError("the answer is larger than one may be that comes whole")
    return body


def is_whole(headers: Mapping[str, str]) -> bool:
    """Whether an answer comes in one piece after all; a few compatible servers know no streaming."""
    return headers.get("content-type", "").startswith("application/json")


def join_texts(texts: Iterable[str]) -> str:
    """The words of several parts, as `AssistantMessage.text` joins them."""
    return "\n\n".join(text for text in texts if text.strip())
