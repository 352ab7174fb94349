"""Listens on the network or a socket, with a limit on connections, and cuts off those that send no whole request."""

import asyncio
import os
import socket
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager, closing

from aiohttp import web

from bot.errors import ConfigError

MAX_CONNECTIONS = 64
"""Open at a time, signed in or not: a browser opens six."""
_KEEPALIVE_SECONDS = 15.0
"""How many seconds a connection can be open without a whole request, even one that sends headers byte by byte."""

Listen = Callable[[Callable[[], asyncio.Protocol]], Awaitable[asyncio.Server]]
"""Opens a listener, whose connections are handled by what the given factory makes."""


@asynccontextmanager
async def serving(
    app: web.Application, listen: Listen, *, max_connections: int = MAX_CONNECTIONS
) -> AsyncGenerator[None]:
    """Serves an application while the block runs; connections beyond the limit are closed at once."""
    runner = web.AppRunner(
        app, access_log=None, handle_signals=False, shutdown_timeout=0.5, keepalive_timeout=_KEEPALIVE_SECONDS
    )
    await runner.setup()
    server = runner.server
    assert server is not None  # noqa: S101  (it is set up)
    try:
        with closing(await listen(lambda: server() if len(server.connections) < max_connections else _Refusal())):
            yield
    finally:
        await runner.cleanup()


def on_address(host: str, port: int, variable: str) -> Listen:
    """Returns how to listen on an address, whose port this variable sets; raises ConfigError where that fails."""

    async def listen(factory: Callable[[], asyncio.Protocol]) -> asyncio.Server:
        try:
            return await asyncio.get_running_loop().create_server(factory, host, port, reuse_address=True)
        except OSError as error:
            # The system's own words: asyncio's repeat the address.
            number = None if isinstance(error, socket.gaierror) else error.errno
            why = "no address of this machine" if number is None else os.strerror(number)
            words = f"{variable}: {host}:{port} cannot be listened on ({why}); set another, or 0 for none"
            raise ConfigError(words) from error

    return listen


class _Refusal(asyncio.Protocol):
    """A connection too many."""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        transport.close()
