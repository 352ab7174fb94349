"""The transports to MCP servers, within limits: a command's standard input and output, or HTTP requests.

A command sees PATH, HOME, LANG and TZ and what the operator gives it, none of our settings. Requests to an address use
no proxy of the environment and follow no redirect to another host. The size of an answer is limited, and a server that
sends or asks more than any server needs to is disconnected.

Source: mcp 2.3.0, `mcp.client.streamable_http`, 2026-11-21: redirects are followed only within the same origin.
"""

import json
import os
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from typing import Any, cast

import anyio
import httpx2
import mcp_types as types
from anyio.abc import ObjectReceiveStream
from mcp.client import Transport
from mcp.client.streamable_http import streamable_http_client
from mcp.shared.message import SessionMessage
from mcp_types.methods import parse_server_result

from tools.connections import trusted_certificates
from tools.mcp.base import ConnectionState
from tools.mcp.bounds import MAX_ANSWER_BYTES, MAX_ANSWER_VALUES, Count, Volume, cut_lists, values_in
from tools.mcp.options import ServerOptions
from tools.mcp.stdio import open_command

_CONNECT_SECONDS = 10.0
_SILENT_SECONDS = 600.0  # no call may take longer
_INHERITED = ("PATH", "HOME", "LANG", "TZ")
_MAX_MESSAGES = 2_000
"""The limit of messages per ten seconds: enough for the progress of several calls, reported without restraint."""
_MAX_REQUESTS = 120
"""The limit of the server's own requests per minute, each of which is answered: enough for pings."""
_MAX_ASKED = 600
"""The limit of HTTP requests per minute: the server says when to ask for its events again, which may be at once."""
_TAKEN_IN_SECONDS = 5.0
"""The time limit for confirming a notification: the SDK sends nothing else meanwhile."""


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


def _leave_out_malformed(result: dict[str, Any], state: ConnectionState) -> None:
    """Removes everything from a listing that is not a tool: the SDK would refuse the whole listing."""
    listed = result.get("tools")
    if not isinstance(listed, list) or state.version is None:
        return
    tools: list[Any] = []
    for tool in cast("list[Any]", listed):
        try:
            parse_server_result("tools/list", state.version, {**result, "tools": [tool]})
            tools.append(tool)
        except (ValueError, KeyError, RecursionError):
            name = cast("dict[str, Any]", tool).get("name") if isinstance(tool, dict) else None
            state.malformed.append(name if isinstance(name, str) else "")
    result["tools"] = tools


class _Watched(ObjectReceiveStream[SessionMessage | Exception]):
    """A stream that reports its end, and that too many messages end: answers to requests that a server never reads
    would fill the memory.
    """

    def __init__(self, stream: Any, state: ConnectionState) -> None:
        self._stream = stream
        self._state = state
        self._messages = Count(_MAX_MESSAGES, 10.0)
        self._requests = Count(_MAX_REQUESTS, 60.0)

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
        is_request = isinstance(said, types.JSONRPCRequest)
        if not self._messages.admits() or (is_request and not self._requests.admits()):
            self._state.end()
            raise anyio.EndOfStream
        if isinstance(said, types.JSONRPCResponse):
            cut_lists(said.result)
            _leave_out_malformed(said.result, self._state)
        elif isinstance(said, types.JSONRPCNotification) and said.method == "notifications/tools/list_changed":
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
        self._volume = Volume()
        self._asked = Count(_MAX_ASKED, 60.0)

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        """Sends a request and returns its answer."""
        if not self._asked.admits():
            self._state.end()
            raise httpx2.ReadError("asked more often than any server needs", request=request)
        try:
            answer = await self._answer(request)
        except (httpx2.ConnectError, httpx2.ConnectTimeout):
            self._state.is_unreachable = True
            raise
        if request.method == "POST":
            self._state.status = answer.status_code if answer.is_error else None
        if answer.headers.get("content-encoding", "identity") != "identity":
            await answer.aclose()
            raise httpx2.DecodingError("packed, although nobody asked for that", request=request)
        stream = answer.stream
        if not isinstance(stream, httpx2.AsyncByteStream):
            return answer
        bounded = _BoundedStream(stream, self._volume, self._state)
        return httpx2.Response(answer.status_code, headers=answer.headers, stream=bounded, extensions=answer.extensions)

    async def _answer(self, request: httpx2.Request) -> httpx2.Response:
        patience = None if await _asks(request) else _TAKEN_IN_SECONDS
        with anyio.move_on_after(patience):
            return await self._inner.handle_async_request(request)
        raise httpx2.ReadTimeout("it does not take what it is told", request=request)

    async def aclose(self) -> None:
        """Closes all connections."""
        await self._inner.aclose()


class _BoundedStream(httpx2.AsyncByteStream):
    def __init__(self, inner: httpx2.AsyncByteStream, volume: Volume, state: ConnectionState) -> None:
        self._inner = inner
        self._volume = volume
        self._state = state

    async def __aiter__(self) -> AsyncIterator[bytes]:
        size = values = 0
        async for lines in self._whole_lines():
            more = values_in(lines)
            size, values = size + len(lines), values + more
            is_one_answer = size <= MAX_ANSWER_BYTES and values <= MAX_ANSWER_VALUES
            if not (is_one_answer and self._volume.admits(len(lines), more)):
                raise self._excess()
            yield lines

    async def _whole_lines(self) -> AsyncIterator[bytes]:
        """Yields pieces of whole lines, so that no JSON text is split between two."""
        held: list[bytes] = []
        size = 0
        async for chunk in self._inner:
            end = max(chunk.rfind(b"\n"), chunk.rfind(b"\r")) + 1
            if end:
                yield b"".join((*held, chunk[:end]))
                held, size = [], 0
            held.append(chunk[end:])
            size += len(chunk) - end
            if size > MAX_ANSWER_BYTES:
                raise self._excess()
        yield b"".join(held)

    def _excess(self) -> httpx2.ReadError:
        self._state.end()
        return httpx2.ReadError("more than an answer may hold")

    async def aclose(self) -> None:
        """Closes it."""
        await self._inner.aclose()


async def _asks(request: httpx2.Request) -> bool:
    """Whether a request waits for events or for the answer to a call."""
    content = await request.aread()
    said: Any = json.loads(content) if content else {}
    return request.method == "GET" or {"id", "method"} <= said.keys()
