"""Answers without an end: they are read so far and no further, whatever they are made of."""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import replace

import pytest

from bot.errors import Unavailable
from bot.models.anthropic import Anthropic
from bot.models.openai import OpenAI
from tests.bot.models.vendors import QUESTION
from tests.waiting import DEADLINE_SECONDS

WHOLE = "application/json"


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
            pass  # whoever asked has had enough
        finally:
            writer.transport.abort()

    async with await asyncio.start_server(answer, "127.0.0.1", 0) as listening:
        yield f"http://127.0.0.1:{listening.sockets[0].getsockname()[1]}"
        listening.close()


def providers(url: str) -> list[Anthropic | OpenAI]:
    return [Anthropic(api_key="k", model="m", base_url=url), OpenAI(api_key="k", model="m", base_url=url, api="chat")]


async def test_no_service_keeps_a_turn_with_what_never_ends() -> None:
    """Nor the memory of everybody: the deadline would come much later."""
    async with server(f"content-type: {WHOLE}", b"x" * 65536) as url:
        for provider in providers(url):
            with pytest.raises(Unavailable, match="ReadError"):
                await provider.complete(replace(QUESTION, timeout_seconds=DEADLINE_SECONDS))
            await provider.aclose()
