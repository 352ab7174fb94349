"""A command as an MCP server: a process that reads and writes messages on its standard input and output, one per line.

The process sees only the environment it is given, and its standard error is discarded. A line that is longer than an
answer can be ends the connection. When the connection closes, so does the input; a process that does not end then is
killed. Everything it started ends with it, except what began a session of its own.

The SDK's own client for commands is not used, as it has no bound for a line and its time grows with the square of the
length: 4 MB took 0.1 s of the event loop, 12 MB 1.2 s, 60 MB more than a minute (measured 2026-11-27, mcp 2.3.0).

Source: Model Context Protocol 2025-11-25, "Transports" (stdio) and "Lifecycle" (shutdown); mcp 2.3.0 for what its
streams carry.
"""

import asyncio
import json
import os
import signal
from asyncio.subprocess import DEVNULL, PIPE, SubprocessStreamProtocol
from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from typing import cast

import anyio
import mcp_types as types
from anyio.streams.memory import MemoryObjectReceiveStream, MemoryObjectSendStream
from mcp.shared.message import SessionMessage

from tools.mcp.base import MAX_ANSWER_BYTES, ConnectionState

_Read = SessionMessage | Exception
_READ_BYTES = 65_536
_EACH_STEP_SECONDS = 0.6
"""The time limits for a process to end: after its input is closed, after a request to end, and after being killed.
Aldis has ten seconds for all of its own shutdown."""


class _Pipes(SubprocessStreamProtocol):
    """The input and output as streams, and an event for when the process and all it started have ended."""

    def __init__(self) -> None:
        super().__init__(limit=MAX_ANSWER_BYTES, loop=asyncio.get_running_loop())
        self.ended = asyncio.Event()
        self._group = 0

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        super().connection_made(transport)
        self._group = cast("asyncio.SubprocessTransport", transport).get_pid()

    def process_exited(self) -> None:
        super().process_exited()
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(self._group, signal.SIGKILL)
        self.ended.set()


@asynccontextmanager
async def open_command(
    command: Sequence[str], *, environment: Mapping[str, str], folder: str | None, state: ConnectionState
) -> AsyncGenerator[tuple[MemoryObjectReceiveStream[_Read], MemoryObjectSendStream[SessionMessage]]]:
    """Starts a process, gives its streams, and ends it afterwards.

    `folder` is where it runs; None: where Aldis does.

    Raises:
        OSError: there is no such command or folder.
        ValueError: one of the texts holds a NUL.
    """
    # Not `create_subprocess_exec`: it hides the transport, which has to be closed if another process keeps the pipes.
    process, pipes = await asyncio.get_running_loop().subprocess_exec(
        _Pipes,
        *command,
        stdin=PIPE,
        stdout=PIPE,
        stderr=DEVNULL,
        env=dict(environment),
        cwd=folder,
        start_new_session=True,  # so that all that it starts can be ended together
    )
    heard, read = anyio.create_memory_object_stream[_Read](0)
    write, said = anyio.create_memory_object_stream[SessionMessage](0)
    async with anyio.create_task_group() as group:
        group.start_soon(_hear, pipes, heard, state)
        group.start_soon(_say, pipes, said, heard)
        try:
            yield read, write
        finally:
            with anyio.CancelScope(shield=True):
                read.close()
                write.close()
                await _end(process, pipes)
            group.cancel_scope.cancel()


async def _hear(pipes: _Pipes, heard: MemoryObjectSendStream[_Read], state: ConnectionState) -> None:
    """Passes its lines on as messages until it ends or nobody listens; discards whatever follows."""
    stdout = pipes.stdout
    assert stdout is not None  # noqa: S101  (it was asked for above)
    with suppress(OSError, anyio.BrokenResourceError, anyio.ClosedResourceError):
        async with heard:
            while (line := await _line(stdout)) is not None:
                if not line:
                    state.end()
                    break
                await heard.send(_message(line))
    # A process that blocks on its output does not notice the request to end.
    with suppress(OSError):
        while await stdout.read(_READ_BYTES):
            pass


async def _say(
    pipes: _Pipes, said: MemoryObjectReceiveStream[SessionMessage], heard: MemoryObjectSendStream[_Read]
) -> None:
    """Writes messages to it while it reads them; after that no answers are to be expected."""
    stdin = pipes.stdin
    assert stdin is not None  # noqa: S101  (it was asked for above)
    try:
        async with said:
            async for message in said:
                line = message.message.model_dump_json(by_alias=True, exclude_unset=True)
                stdin.write(line.encode("utf-8", "replace") + b"\n")
                await stdin.drain()
    except OSError:
        heard.close()


async def _line(stdout: asyncio.StreamReader) -> bytes | None:
    """Returns the next line; empty: it is too long; None: the end."""
    try:
        return await stdout.readline() or None
    except ValueError:
        return b""


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


async def _end(process: asyncio.SubprocessTransport, pipes: _Pipes) -> None:
    """Lets it end by itself, or else kills it with everything it started."""
    try:
        if pipes.stdin is not None:
            pipes.stdin.close()
        if not await _ends(pipes):
            for sign in (signal.SIGTERM, signal.SIGKILL):
                with suppress(ProcessLookupError, PermissionError):
                    os.killpg(process.get_pid(), sign)
                await _ends(pipes)
    finally:
        process.close()  # and kill it, should this be interrupted


async def _ends(pipes: _Pipes) -> bool:
    """Whether it ended in time."""
    with anyio.move_on_after(_EACH_STEP_SECONDS):
        await pipes.ended.wait()
    return pipes.ended.is_set()
