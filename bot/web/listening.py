"""Listens on the network or a socket, with a limit on connections, and cuts off those that send no whole request."""

import asyncio
import os
import socket
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager, closing

from aiohttp import web

from bot.errors import ConfigError

MAX_CONNECTIONS = 64
"""Open at a time, signed in or not: a browser opens six."""
KEEPALIVE_SECONDS = 15.0
"""How many seconds a connection can be open without a whole request, even one that sends headers byte by byte."""


@asynccontextmanager
async def runner_of(
    app: web.Application, keepalive_seconds: float = KEEPALIVE_SECONDS
) -> AsyncGenerator[web.AppRunner]:
    """Yields what answers for an application, and ends its connections at the end of the block."""
    runner = web.AppRunner(
        app, access_log=None, handle_signals=False, shutdown_timeout=0.5, keepalive_timeout=keepalive_seconds
    )
    await runner.setup()
    try:
        yield runner
    finally:
        await runner.cleanup()


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
    async with runner_of(app, keepalive_seconds) as runner:
        accept = connections(runner, max_connections=max_connections)
        try:
            listener = await asyncio.get_running_loop().create_server(accept, host, port, reuse_address=True)
        except OSError as error:
            # The system's own words: asyncio's repeat the address.
            number = None if isinstance(error, socket.gaierror) else error.errno
            why = "no address of this machine" if number is None else os.strerror(number)
            words = f"{variable}: {host}:{port} cannot be listened on ({why}); set another, or 0 for none"
            raise ConfigError(words) from error
        with closing(listener):
            yield


def connections(runner: web.AppRunner, *, max_connections: int = MAX_CONNECTIONS) -> Callable[[], asyncio.Protocol]:
    """Returns the factory of protocols for new connections; those beyond the limit are closed at once."""
    server = runner.server
    assert server is not None  # noqa: S101  (it is set up)
    return lambda: _Refusal() if len(server.connections) >= max_connections else server()


class _Refusal(asyncio.Protocol):
    """A connection too many."""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        transport.close()
