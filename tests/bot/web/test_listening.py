"""Listening on the network: whoever keeps a connection for nothing loses it."""

import asyncio
import socket
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

import pytest
from aiohttp import web

from bot.web.listening import listen
from tests.bot.web.test_health import LOOPBACK
from tests.ports import free_port
from tests.waiting import WAIT_SECONDS, eventually

ANSWER_BYTES = 20_000_000
"""More than the buffers of the system take for somebody who reads nothing."""


@asynccontextmanager
async def answering(unread_seconds: float) -> AsyncGenerator[tuple[web.AppRunner, int, asyncio.Event]]:
    asked = asyncio.Event()

    async def answer(_: web.Request) -> web.Response:
        asked.set()
        return web.Response(body=b"x" * ANSWER_BYTES)

    app, port = web.Application(), free_port()
    app.router.add_get("/", answer)
    runner = web.AppRunner(app, handle_signals=False, shutdown_timeout=0.5)
    await runner.setup()
    try:
        listener = await listen(runner, LOOPBACK, port, unread_seconds=unread_seconds)
        yield runner, port, asked
        listener.close()
    finally:
        await runner.cleanup()


@pytest.fixture
def asker() -> socket.socket:
    """Takes little at a time."""
    asking = socket.socket()
    asking.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4_096)
    asking.setblocking(False)
    return asking


async def test_who_reads_no_answer_keeps_no_place(asker: socket.socket) -> None:
    """Sixty-four who only ask would otherwise keep the pages, and what watches over Aldis by them, out for good."""
    loop = asyncio.get_running_loop()
    async with answering(unread_seconds=0.05) as (runner, port, asked):
        with asker:
            await loop.sock_connect(asker, (LOOPBACK, port))
            await loop.sock_sendall(asker, b"GET / HTTP/1.1\r\nHost: x\r\n\r\n" * 2)
            server = runner.server
            assert server is not None
            await asked.wait()
            await eventually(lambda: not server.connections)


async def test_who_reads_slowly_gets_all_of_it(asker: socket.socket) -> None:
    """As long as it goes on."""
    loop, size = asyncio.get_running_loop(), 0
    async with answering(unread_seconds=WAIT_SECONDS) as (_, port, _):
        with asker:
            await loop.sock_connect(asker, (LOOPBACK, port))
            await loop.sock_sendall(asker, b"GET / HTTP/1.0\r\n\r\n")
            while piece := await loop.sock_recv(asker, 262_144):
                size += len(piece)
    assert size > ANSWER_BYTES
