"""The transports to MCP servers: a command's standard input and output, or HTTP requests.

A command sees PATH, HOME, LANG and TZ and what the operator gives it, none of our settings. Requests to an address use
no proxy of the environment and follow no redirect to another host. The size of an answer is bounded.

Source: mcp 2.3.0, `mcp.client.streamable_http`, 2026-11-21: redirects are followed only within the same origin.
"""

import os
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from typing import Any

import anyio
import httpx2
import mcp_types as types
from anyio.abc import ObjectReceiveStream
from mcp.client import Transport
from mcp.client.streamable_http import streamable_http_client
from mcp.shared.message import SessionMessage

from tools.connections import trusted_certificates
from tools.mcp.base import MAX_ANSWER_BYTES, ConnectionState
from tools.mcp.options import ServerOptions
from tools.mcp.stdio import open_command

_CONNECT_SECONDS = 10.0
_SILENT_SECONDS = 600.0  # no call may take longer
_LEAVE_SECONDS = 2.0
_INHERITED = ("PATH", "HOME", "LANG", "TZ")


@asynccontextmanager
async def open_streams(server: ServerOptions, state: ConnectionState) -> AsyncGenerator[tuple[Any, Any]]:
    """Opens the streams to and from the server; `state` tells when nothing more will be read.

    Raises:
        OSError: there is no such command.
    """
    async with AsyncExitStack() as stack:
        read, write = await stack.enter_async_context(await _transport(server, state, stack))
        yield _Watched(read, state), write


async def _transport(server: ServerOptions, state: ConnectionState, stack: AsyncExitStack) -> Transport:
    if server.url is not None:
        client = await stack.enter_async_context(_http_client(server, state))
        return streamable_http_client(server.address, http_client=client, max_sse_event_size=MAX_ANSWER_BYTES)
    inherited = {name: value for name in _INHERITED if (value := os.environ.get(name)) is not None}
    own = {name: value.get_secret_value() for name, value in server.env.items()}
    command = (server.command or "", *server.args)
    return open_command(command, environment=inherited | own, folder=server.cwd, state=state)


def _http_client(server: ServerOptions, state: ConnectionState) -> httpx2.AsyncClient:
    return httpx2.AsyncClient(
        headers={name: value.get_secret_value() for name, value in server.headers.items()}
        | {"Accept-Encoding": "identity"},
        transport=_Bounded(httpx2.AsyncHTTPTransport(verify=trusted_certificates(), trust_env=False), state),
        timeout=httpx2.Timeout(_CONNECT_SECONDS, read=_SILENT_SECONDS),
        trust_env=False,
    )


class _Watched(ObjectReceiveStream[SessionMessage | Exception]):
    """A stream that reports its end, and that the server's tools have changed."""

    def __init__(self, stream: Any, state: ConnectionState) -> None:
        self._stream = stream
        self._state = state

    @property
    def last_context(self) -> object:
        """What the SDK keeps besides the last message."""
        return getattr(self._stream, "last_context", None)

    async def receive(self) -> SessionMessage | Exception:
        """Returns the next message."""
        try:
            message = await self._stream.receive()
        except (anyio.EndOfStream, anyio.ClosedResourceError, anyio.BrokenResourceError):
            self._state.ended.set()
            raise
        said = message.message if isinstance(message, SessionMessage) else None
        if isinstance(said, types.JSONRPCNotification) and said.method == "notifications/tools/list_changed":
            self._state.changed.set()
        return message

    async def aclose(self) -> None:
        """Closes it."""
        await self._stream.aclose()


class _Bounded(httpx2.AsyncBaseTransport):
    """An HTTP transport that bounds answers and takes them unpacked only: packed ones could unpack to anything."""

    def __init__(self, inner: httpx2.AsyncBaseTransport, state: ConnectionState) -> None:
        self._inner = inner
        self._state = state

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        """Sends a request and returns its answer."""
        # What ends a session needs no answer.
        patience = _LEAVE_SECONDS if request.method == "DELETE" else None
        answer = None
        try:
            with anyio.move_on_after(patience):
                answer = await self._inner.handle_async_request(request)
        except (httpx2.ConnectError, httpx2.ConnectTimeout):
            self._state.is_unreachable = True
            raise
        if answer is None:
            raise httpx2.ReadTimeout("it does not let a session end", request=request)
        if request.method == "POST":
            self._state.status = answer.status_code if answer.is_error else None
        if answer.headers.get("content-encoding", "identity") != "identity":
            await answer.aclose()
            raise httpx2.DecodingError("packed without a request for it", request=request)
        stream = answer.stream
        if not isinstance(stream, httpx2.AsyncByteStream):
            return answer
        bounded = _BoundedStream(stream, self._state)
        return httpx2.Response(answer.status_code, headers=answer.headers, stream=bounded, extensions=answer.extensions)

    async def aclose(self) -> None:
        """Closes all connections."""
        await self._inner.aclose()


class _BoundedStream(httpx2.AsyncByteStream):
    def __init__(self, inner: httpx2.AsyncByteStream, state: ConnectionState) -> None:
        self._inner = inner
        self._state = state

    async def __aiter__(self) -> AsyncIterator[bytes]:
        size = 0
        async for chunk in self._inner:
            size += len(chunk)
            if size > MAX_ANSWER_BYTES:
                self._state.end()
                raise httpx2.ReadError("more than an answer may hold")
            yield chunk

    async def aclose(self) -> None:
        """Closes it."""
        await self._inner.aclose()
