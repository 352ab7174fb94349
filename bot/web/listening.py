"""Listens on the network or a socket, with a limit on connections, and cuts off those that idle."""

import asyncio
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager

from aiohttp import web

from bot.errors import cannot_listen

MAX_CONNECTIONS = 64
"""Open at a time, signed in or not: a browser opens six, and each page with live parts holds one or two."""
KEEPALIVE_SECONDS = 15.0
"""How many seconds a connection can be open without a whole request, even one that sends headers byte by byte."""
UNREAD_SECONDS = 15.0
"""How many seconds an answer can stay unread: a client that keeps asking and reads nothing would hold its place."""
_MIN_READ_BYTES = 16_384
"""How much of a long answer has to be read in that time."""


@asynccontextmanager
async def serving_on(
    app: web.Application,
    host: str,
    port: int,
    variable: str,
    *,
    max_connections: int = MAX_CONNECTIONS,
    keepalive_seconds: float = KEEPALIVE_SECONDS,
) -> AsyncGenerator[None]:
    """Serves an application on an address, whose port this variable sets, while the block runs.

    Raises:
        ConfigError: the address cannot be listened on.
    """
    runner = web.AppRunner(
        app, access_log=None, handle_signals=False, shutdown_timeout=0.5, keepalive_timeout=keepalive_seconds
    )
    await runner.setup()
    try:
        try:
            listener = await listen(runner, host, port, max_connections=max_connections)
        except OSError as error:
            raise cannot_listen(variable, host, port, error, "set another, or 0 for none") from error
        try:
            yield
        finally:
            listener.close()
    finally:
        await runner.cleanup()


async def listen(
    runner: web.AppRunner,
    host: str,
    port: int,
    *,
    max_connections: int = MAX_CONNECTIONS,
    unread_seconds: float = UNREAD_SECONDS,
) -> asyncio.Server:
    """Answers on the address, up to the maximum of connections; the runner is set up, with `KEEPALIVE_SECONDS`.

    Raises:
        OSError: it cannot be listened on.
    """
    accept = connections(runner, max_connections=max_connections, unread_seconds=unread_seconds)
    return await asyncio.get_running_loop().create_server(accept, host, port, reuse_address=True)


def connections(
    runner: web.AppRunner, *, max_connections: int = MAX_CONNECTIONS, unread_seconds: float = UNREAD_SECONDS
) -> Callable[[], asyncio.Protocol]:
    """Returns the factory of protocols for new connections, with limits as in `listen`."""
    server = runner.server
    assert server is not None  # noqa: S101  (it is set up)

    def connection() -> asyncio.Protocol:
        is_full = len(server.connections) >= max_connections
        return _Refusal() if is_full else _Connection(server(), unread_seconds)

    return connection


class _Connection(asyncio.Protocol):
    """A connection of aiohttp's that is cut if answers are not read."""

    def __init__(self, inner: asyncio.Protocol, unread_seconds: float) -> None:
        self._inner = inner
        self._unread_seconds = unread_seconds
        self._transport: asyncio.Transport | None = None
        self._look: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        if isinstance(transport, asyncio.Transport):
            self._transport = transport
        self._inner.connection_made(transport)

    def connection_lost(self, exc: Exception | None) -> None:
        self._stop_looking()
        self._inner.connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        self._inner.data_received(data)

    def eof_received(self) -> bool | None:
        return self._inner.eof_received()

    def pause_writing(self) -> None:
        self._inner.pause_writing()
        self._look_later()

    def resume_writing(self) -> None:
        self._stop_looking()
        self._inner.resume_writing()

    def _look_later(self) -> None:
        if self._transport is not None:
            unread_bytes = self._transport.get_write_buffer_size()
            later = asyncio.get_running_loop().call_later
            self._look = later(self._unread_seconds, self._cut_unless_read, self._transport, unread_bytes)

    def _cut_unless_read(self, transport: asyncio.Transport, unread_bytes: int) -> None:
        if transport.get_write_buffer_size() > unread_bytes - _MIN_READ_BYTES:
            transport.abort()
        else:
            self._look_later()

    def _stop_looking(self) -> None:
        if self._look is not None:
            self._look.cancel()


class _Refusal(asyncio.Protocol):
    """A connection too many."""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        transport.close()
