"""Answers without an end: they are read so far and no further, whatever they are made of."""

import asyncio
import gzip
import json
from collections.abc import AsyncGenerator, AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace

import httpx2
import pytest

from bot.errors import Unavailable
from bot.models import streams
from bot.models.anthropic import Anthropic
from bot.models.base import Provider
from bot.models.openai import OpenAI
from bot.models.openai_chat import PartialChat
from bot.models.openai_responses import PartialResponse
from bot.models.streams import PartialAnswer
from tests.bot.models.vendors import QUESTION, listened
from tests.waiting import DEADLINE_SECONDS

STREAM, WHOLE = "text/event-stream", "application/json"


@dataclass
class Endless(httpx2.AsyncByteStream):
    """The same piece again and again."""

    piece: bytes
    given: int = 0

    async def __aiter__(self) -> AsyncIterator[bytes]:
        while True:
            self.given += len(self.piece)
            yield self.piece


@pytest.mark.parametrize(
    ("kind", "piece", "most"),
    [
        (WHOLE, b"x" * 65536, streams.MAX_WHOLE_BYTES),
        (STREAM, b"data: " + b"x" * 65536 + b"\n\n", streams.MAX_STREAM_BYTES),
    ],
)
async def test_what_has_no_end_is_given_up(kind: str, piece: bytes, most: int) -> None:
    """An answer that comes whole, and one in pieces."""
    endless = Endless(piece)
    answer = httpx2.Response(200, headers={"content-type": kind}, stream=endless)
    await streams.limit_answer(answer)
    with pytest.raises(streams.AnswerTooLarge):
        async for _ in answer.aiter_raw():
            pass
    assert most / 2 <= endless.given <= most + len(piece)


def _call(number: int) -> object:
    call = {"index": number, "id": f"call_{number}", "function": {"name": "a", "arguments": "{}"}}
    return {"choices": [{"delta": {"tool_calls": [call]}}]}


def _text(number: int) -> object:
    return {"type": "response.output_text.delta", "output_index": number, "delta": "a"}


@pytest.mark.parametrize(("partial", "piece"), [(PartialChat(), _call), (PartialResponse(), _text)])
def test_parts_without_end_are_no_answer(partial: PartialAnswer, piece: Callable[[int], object]) -> None:
    """With each piece all calls, blocks or texts are looked through, so there are only so many."""
    for number in range(1000):
        partial.take(piece(number))
    partial.take(piece(999))  # more of the last one
    with pytest.raises(ValueError, match="do not end"):
        partial.take(piece(1000))


async def test_what_a_stream_comes_to_is_no_larger_than_a_whole_answer() -> None:
    """Also where it is no words: a call whose arguments go on and on would keep everybody waiting in the end."""

    async def pieces(count: int) -> AsyncIterator[object]:
        for _ in range(count):
            piece = {"index": 0, "id": "call_0", "function": {"name": "a", "arguments": "x" * 100_000}}
            yield {"choices": [{"delta": {"tool_calls": [piece]}, "finish_reason": "tool_calls"}]}

    assert len(await listened(pieces(30))) > 3_000_000
    with pytest.raises(ValueError, match="larger than one may be"):
        await listened(pieces(50))


@asynccontextmanager
async def server(head: str, piece: bytes) -> AsyncGenerator[str]:
    """A service that answers with this head, and with this piece for ever; gives its address."""

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(f"HTTP/1.1 200 OK\r\n{head}\r\n\r\n".encode())
        try:
            while True:
                writer.write(piece)
                await writer.drain()
        except OSError:
            writer.close()

    async with await asyncio.start_server(answer, "127.0.0.1", 0) as listening:
        yield f"http://127.0.0.1:{listening.sockets[0].getsockname()[1]}"
        listening.close()


def providers(url: str) -> list[Provider]:
    return [Anthropic(api_key="k", model="m", base_url=url), OpenAI(api_key="k", model="m", base_url=url, api="chat")]


@pytest.mark.parametrize("listens", [True, False])
@pytest.mark.parametrize(
    ("head", "piece"),
    [
        (f"content-type: {WHOLE}", b"x" * 65536),
        (f"content-type: {WHOLE}\r\ncontent-encoding: gzip", gzip.compress(json.dumps("x" * 65536).encode())),
    ],
    ids=["without end", "packed"],
)
async def test_no_service_keeps_a_turn_with_what_never_ends(head: str, piece: bytes, *, listens: bool) -> None:
    """Nor the memory of everybody: the deadline would come much later."""
    async with server(head, piece) as url:
        for provider in providers(url):
            with pytest.raises(Unavailable, match=r"AnswerTooLarge|DecodingError"):
                await provider.complete(replace(QUESTION, timeout_seconds=DEADLINE_SECONDS), print if listens else None)
            await provider.aclose()
