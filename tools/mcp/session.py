"""The home of the MCP SDK: a connection to a server, from opening it to closing it.

Imported only when the first server is started (`tools.mcp.servers`). A connection is opened and closed in the same
task; calls may come from any. An answer has at most `MAX_ANSWER_BYTES`.

A command sees PATH, HOME, LANG and TZ and what the operator gives it, none of our settings; its standard error is
discarded, and it is ended with everything it started. Requests to an address use no proxy of the environment and follow
no redirect to another host.

Source: mcp 2.3.0, 2026-11-21: a request that cannot be sent over HTTP ends the whole connection with an exception
group. `call_tool` checks answers against the server's own schema, which can take forever; the level below does not. Its
client for commands has no bound for a line, and its time grows with the square of the length: 12 MB took 1.2 s of the
event loop, 60 MB more than a minute (measured 2026-11-27), so commands are read here.
"""

import asyncio
import json
import logging
import os
import signal
from asyncio.subprocess import DEVNULL, PIPE, Process
from collections.abc import AsyncGenerator, AsyncIterator, Mapping
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from typing import Any, cast

import anyio
import httpx2
import mcp_types as types
from anyio.streams.memory import MemoryObjectReceiveStream, MemoryObjectSendStream
from mcp import Client, MCPError
from mcp.client.streamable_http import streamable_http_client
from mcp.shared.message import SessionMessage
from pydantic import TypeAdapter

from tools.base import Result
from tools.connections import trusted_certificates
from tools.errors import BadArguments, Unavailable
from tools.mcp.formats import UnfitSchema, arguments_of, quote_failure, result_of, short
from tools.mcp.options import ServerOptions
from tools.mcp.servers import (
    AnswerLost,
    ConnectionState,
    Greeting,
    ListedTool,
    Listing,
    McpSession,
    SessionFailed,
    spell_name,
)

MAX_ANSWER_BYTES = 12_000_000
"""Per answer: the largest picture, in base64."""
MAX_TOOLS = 32
"""The limit of tools per server; every question pays for each."""
MAX_LISTING_CHARS = 60_000
"""The limit for all schemas and descriptions of a server together."""
MAX_NAMED = 10
"""How many tools that cannot be offered are named."""
_MAX_PAGES = 20
_MAX_NAME_CHARS = 256
"""Twice what they should have at most.

Source: Model Context Protocol 2025-11-25, "Tools", names; read 2026-11-24.
"""
_MAX_DESCRIPTION_CHARS = 800
_MAX_QUOTED_CHARS = 300
_CONNECT_SECONDS = 10.0
_SILENT_SECONDS = 600.0  # no call may take longer
_EACH_STEP_SECONDS = 0.6
"""The time limits for a command to end: after its input is closed, after a request to end, after being killed. Aldis
has ten seconds for all of its own shutdown."""
_INHERITED = ("PATH", "HOME", "LANG", "TZ")
_TOO_LONG = "it says more than an answer may hold"
_SESSION_IS_OVER = frozenset({"Session terminated", "Session not found"})
"""The error of a restarted server, or of the SDK on its behalf, for a session from before."""
_SDK_SAYS_CLOSED = ("Connection closed", "SSE stream")
"""The beginning of the SDK's message when it gives up a call; many servers use the same code for any failure."""
_REFUSALS = frozenset({401, 403, 429})
"""HTTP statuses that mean that the call did not happen."""

_ANSWER: TypeAdapter[types.CallToolResult | types.InputRequiredResult] = TypeAdapter(
    types.CallToolResult | types.InputRequiredResult
)
"""Source: Model Context Protocol 2026-07-28, `tools/call`; read 2026-11-27."""

_Read = SessionMessage | Exception

# The SDK logs whatever it cannot read of what servers send: people's words, and more.
for _name in ("mcp", "client", "httpx2", "httpcore2"):
    logging.getLogger(_name).setLevel(logging.CRITICAL + 1)


@asynccontextmanager
async def open_session(server: ServerOptions, state: ConnectionState, greeting: Greeting) -> AsyncGenerator[McpSession]:
    """Opens a connection to the server, and closes it at the end; a command is ended with everything it started.

    Enter and leave it in the same task, inside a cancel scope that bounds the opening.

    Raises:
        SessionFailed: it could not be opened, or broke.
    """
    try:
        async with AsyncExitStack() as stack:
            if server.url is None:
                transport = _command(server, state)
            else:
                web = await stack.enter_async_context(_http_client(server, state))
                transport = streamable_http_client(
                    server.address, http_client=web, max_sse_event_size=MAX_ANSWER_BYTES, terminate_on_close=False
                )
            client = await stack.enter_async_context(Client(transport, cache=None, mode=greeting))
            yield _Session(client, state)
    except Exception as error:  # no list of what a server can cause in the SDK exists
        raise SessionFailed(", ".join(dict.fromkeys(_kinds(error)))) from error


class _Session:
    """An open connection; see `McpSession`."""

    def __init__(self, client: Client, state: ConnectionState) -> None:
        self._client = client
        self._state = state

    async def listing(self, wanted: tuple[str, ...] | None) -> Listing:
        """See `McpSession`; exceptions of the SDK become `SessionFailed` where the session is left."""
        fit: list[ListedTool] = []
        unfit: list[str] = []
        found = [tool async for tool in self._listed() if wanted is None or tool.name in wanted]
        chars = 0
        for tool in found[:MAX_TOOLS]:
            if (listed := _fit(tool)) is None:
                unfit.append(tool.name)
                continue
            chars += len(listed.description) + len(str(listed.arguments.json_schema()))
            if chars <= MAX_LISTING_CHARS:
                fit.append(listed)
        surplus = len(found) - len(fit) - len(unfit)
        return Listing(tools=tuple(fit), unfit=tuple(map(spell_name, unfit[:MAX_NAMED])), surplus=surplus)

    async def _listed(self) -> AsyncGenerator[types.Tool]:
        cursor: str | None = None
        for _ in range(_MAX_PAGES):
            page = await self._client.list_tools(cursor=cursor)
            for tool in page.tools:
                yield tool
            cursor = page.next_cursor
            if cursor is None:
                break

    async def call(self, tool: str, arguments: Mapping[str, Any], *, shown_as: str) -> Result:
        """See `McpSession`; a cancelled call is cancelled at the server, too."""
        params = types.CallToolRequestParams(name=tool, arguments=dict(arguments))
        try:
            answer = await self._client.session.send_request(types.CallToolRequest(params=params), _ANSWER)
        except MCPError as error:
            raise self._translate(error) from error
        except (ValueError, RuntimeError, anyio.ClosedResourceError, anyio.BrokenResourceError) as error:
            raise AnswerLost("the server's answer cannot be read") from error
        if isinstance(answer, types.InputRequiredResult):
            raise Unavailable("it wants to ask something, which is not possible here; nothing happened")
        if answer.is_error:
            raise Unavailable("the tool says that it failed; what it says is quoted", quoted=quote_failure(answer))
        return result_of(answer, tool=shown_as)

    def _translate(self, error: MCPError) -> Exception:
        """Translates an error of the SDK, depending on whether the call may have happened."""
        code, message = error.error.code, error.error.message
        is_closed = code == types.CONNECTION_CLOSED and message.startswith(_SDK_SAYS_CLOSED)
        if is_closed or message in _SESSION_IS_OVER:
            self._state.ended.set()
            return AnswerLost("the server went away meanwhile")
        if code == types.INTERNAL_ERROR and self._state.status in _REFUSALS:
            return Unavailable(f"the server refuses the call (HTTP {self._state.status})")
        if code in {types.INTERNAL_ERROR, types.PARSE_ERROR, types.CONNECTION_CLOSED}:
            return AnswerLost("the server failed meanwhile")
        if code == types.INVALID_PARAMS:
            return BadArguments("the server refuses these arguments", quoted=short(message, _MAX_QUOTED_CHARS))
        return Unavailable("the server refuses the call", quoted=short(message, _MAX_QUOTED_CHARS))


def _kinds(error: BaseException) -> list[str]:
    if isinstance(error, BaseExceptionGroup):
        group = cast("BaseExceptionGroup[BaseException]", error)
        return [kind for part in group.exceptions for kind in _kinds(part)]
    is_closed = isinstance(error, MCPError) and error.error.code == types.CONNECTION_CLOSED
    return ["it ended" if is_closed else type(error).__name__]


def _fit(tool: types.Tool) -> ListedTool | None:
    """Returns the tool as it is offered; None if its name or schema makes that impossible."""
    if len(tool.name) > _MAX_NAME_CHARS:
        return None
    try:
        arguments = arguments_of(tool.input_schema)
    except UnfitSchema:
        return None
    hints = tool.annotations or types.ToolAnnotations()
    return ListedTool(
        name=tool.name,
        description=short(tool.description or "", _MAX_DESCRIPTION_CHARS) or "Says nothing of itself.",
        arguments=arguments,
        # If the server says nothing, assume the worst.
        effects="none" if hints.read_only_hint else "repeatable" if hints.idempotent_hint else "once",
        # Its default is that every tool does, which would say nothing.
        reaches_out=hints.open_world_hint is True,
        deletes=hints.destructive_hint is True,
    )


def _http_client(server: ServerOptions, state: ConnectionState) -> httpx2.AsyncClient:
    async def bound(answer: httpx2.Response) -> None:
        if answer.request.method == "POST":
            state.status = answer.status_code if answer.is_error else None
        if answer.headers.get("content-encoding", "identity") != "identity":  # it could unpack to anything
            raise httpx2.DecodingError("packed without a request for it", request=answer.request)
        answer.stream = _Bounded(cast("httpx2.AsyncByteStream", answer.stream), state)

    return httpx2.AsyncClient(
        headers={name: value.get_secret_value() for name, value in server.headers.items()}
        | {"Accept-Encoding": "identity"},
        event_hooks={"response": [bound]},
        verify=trusted_certificates(),
        timeout=httpx2.Timeout(_CONNECT_SECONDS, read=_SILENT_SECONDS),
        trust_env=False,
    )


class _Bounded(httpx2.AsyncByteStream):
    def __init__(self, inner: httpx2.AsyncByteStream, state: ConnectionState) -> None:
        self._inner = inner
        self._state = state

    async def __aiter__(self) -> AsyncIterator[bytes]:
        size = 0
        async for chunk in self._inner:
            size += len(chunk)
            if size > MAX_ANSWER_BYTES:
                self._state.end(_TOO_LONG)
                raise httpx2.ReadError("more than an answer may hold")
            yield chunk

    async def aclose(self) -> None:
        """Closes it."""
        await self._inner.aclose()


@asynccontextmanager
async def _command(
    server: ServerOptions, state: ConnectionState
) -> AsyncGenerator[tuple[MemoryObjectReceiveStream[_Read], MemoryObjectSendStream[SessionMessage]]]:
    """Starts the command, gives its streams of messages, one per line, and ends it afterwards."""
    inherited = {name: value for name in _INHERITED if (value := os.environ.get(name)) is not None}
    process = await asyncio.create_subprocess_exec(
        server.command or "",
        *server.args,
        stdin=PIPE,
        stdout=PIPE,
        stderr=DEVNULL,
        limit=MAX_ANSWER_BYTES,
        env=inherited | {name: value.get_secret_value() for name, value in server.env.items()},
        cwd=server.cwd,
        start_new_session=True,  # so that all that it starts can be ended together
    )
    heard, read = anyio.create_memory_object_stream[_Read](0)
    write, said = anyio.create_memory_object_stream[SessionMessage](0)
    async with anyio.create_task_group() as group:
        group.start_soon(_hear, process, heard, state)
        group.start_soon(_say, process, said)
        try:
            yield read, write
        finally:
            with anyio.CancelScope(shield=True):
                read.close()
                write.close()
                await _end(process)
            group.cancel_scope.cancel()


async def _hear(process: Process, heard: MemoryObjectSendStream[_Read], state: ConnectionState) -> None:
    stdout = cast("asyncio.StreamReader", process.stdout)
    with suppress(OSError, anyio.BrokenResourceError, anyio.ClosedResourceError):
        async with heard:
            try:
                while line := await stdout.readline():
                    await heard.send(_message(line))
            except ValueError:  # longer than the limit
                state.why = _TOO_LONG
    state.ended.set()


async def _say(process: Process, said: MemoryObjectReceiveStream[SessionMessage]) -> None:
    stdin = cast("asyncio.StreamWriter", process.stdin)
    with suppress(OSError):  # once it has gone
        async with said:
            async for message in said:
                line = message.message.model_dump_json(by_alias=True, exclude_unset=True)
                stdin.write(line.encode("utf-8", "replace") + b"\n")
                await stdin.drain()


def _message(line: bytes) -> _Read:
    """Returns the message, or the error if it cannot be read, as the SDK's streams carry it."""
    text = line.decode("utf-8", "replace")
    try:
        if r"\ud" in text.lower():
            # Half of a surrogate pair, as of an emoji that a server has cut; pydantic would refuse the whole message.
            text = json.dumps(json.loads(text), ensure_ascii=False).encode("utf-8", "replace").decode()
        return SessionMessage(types.jsonrpc_message_adapter.validate_json(text, by_name=False))
    except (ValueError, RecursionError) as error:
        return ValueError(type(error).__name__)


async def _end(process: Process) -> None:
    """Lets it end by itself, or else kills it; in any case with everything it started."""
    cast("asyncio.StreamWriter", process.stdin).close()
    for sign in (signal.SIGTERM, signal.SIGKILL):
        with anyio.move_on_after(_EACH_STEP_SECONDS):
            await process.wait()
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(process.pid, sign)
    with anyio.move_on_after(_EACH_STEP_SECONDS):
        await process.wait()
