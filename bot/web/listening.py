"""Listening on the network: no more connections than there is room for, and none that keeps its place for nothing."""

import asyncio

from aiohttp import web

MAX_CONNECTIONS = 64
"""Open at a time, signed in or not: a browser has six of them, and each page with live parts holds one or two."""
KEEPALIVE_SECONDS = 15.0
"""How long a connection may be open without a whole request: also one that sends its headers a byte at a time."""


async def listen(
    runner: web.AppRunner, host: str, port: int, *, max_connections: int = MAX_CONNECTIONS
) -> asyncio.Server:
    """Answers on the address, but for connections beyond so many; the runner is set up, with `KEEPALIVE_SECONDS`.

    Raises:
        OSError: it cannot be listened on.
    """
    server = runner.server
    assert server is not None  # noqa: S101  (it is set up)

    def connection() -> asyncio.Protocol:
        return server() if len(server.connections) < max_connections else _Refusal()

    return await asyncio.get_running_loop().create_server(connection, host, port, reuse_address=True)


class _Refusal(asyncio.Protocol):
    """A connection that is one too many."""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        transport.close()
