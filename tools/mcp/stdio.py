"""A command as an MCP server: a process that is spoken to over its standard input and output, one message a line.

What holds: it sees the environment that it is given and nothing else; what it writes to its standard error is thrown
away; a line that is longer than an answer may be, or holds more, ends the connection, and so does a server that never
stops saying long ones; its input is closed with the connection, and if it does not end then, it is ended with all that
it started.

The SDK's own client of commands is not used: it reads lines of any length, in time that grows with the square of it.
One of 60 MB blocked the event loop for more than a minute (measured 2026-11-22).

Source: Model Context Protocol 2025-11-25, "Transports" (stdio) and "Lifecycle" (shutdown); mcp 2.3.0 for what its
streams carry.
"""

import asyncio
import os
import signal
from asyncio.subprocess import DEVNULL, PIPE, SubprocessStreamProtocol
from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import asynccontextmanager, suppress

import anyio
import mcp_types as types
from anyio.streams.memory import MemoryObjectReceiveStream, MemoryObjectSendStream
from mcp.shared.message import SessionMessage

from tools.mcp.bounds import MAX_ANSWER_BYTES, Volume, values_in

_Read = SessionMessage | Exception
_READ_BYTES = 65_536
_EACH_STEP_SECONDS = 0.6
"""How long a process may take to end after its input, after a request to end, and after its death: Aldis, which may
have to end meanwhile, has ten seconds for all of it."""


class _Pipes(SubprocessStreamProtocol):
    """Its input and output as streams, and when it has ended: its own children may hold on to them after that."""

    def __init__(self) -> None:
        super().__init__(limit=MAX_ANSWER_BYTES, loop=asyncio.get_running_loop())
        self.ended = asyncio.Event()

    def process_exited(self) -> None:
        super().process_exited()
        self.ended.set()


@asynccontextmanager
async def open_command(
    command: Sequence[str], *, environment: Mapping[str, str], folder: str | None
) -> AsyncGenerator[tuple[MemoryObjectReceiveStream[_Read], MemoryObjectSendStream[SessionMessage]]]:
    """The streams from and to a process that is started for them, and has ended afterwards.

    `folder` is where it runs; None: where Aldis does.

    Raises:
        OSError: there is no such command or folder.
        ValueError: one of the texts holds a NUL.
    """
    # Not `create_subprocess_exec`: it keeps the transport to itself, which has to be closed where somebody else holds
    # on to the pipes.
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
        group.start_soon(_hear, pipes, heard)
        group.start_soon(_say, pipes, said, heard)
        try:
            yield read, write
        finally:
            with anyio.CancelScope(shield=True):
                read.close()
                write.close()
                await _end(process, pipes)
            group.cancel_scope.cancel()


async def _hear(pipes: _Pipes, heard: MemoryObjectSendStream[_Read]) -> None:
    """Hand on its lines as messages until it ends, or nobody listens; what comes after that is thrown away."""
    stdout, volume = pipes.stdout, Volume()
    assert stdout is not None  # noqa: S101  (it was asked for above)
    # A line that is too long is a `ValueError` of the reader.
    with suppress(ValueError, OSError, anyio.BrokenResourceError, anyio.ClosedResourceError):
        async with heard:
            while (line := await stdout.readline()) and volume.admits(len(line), values_in(line)):
                await heard.send(_message(line))
    # Who cannot get rid of what it says does not read that it is to end.
    with suppress(OSError):
        while await stdout.read(_READ_BYTES):
            pass


async def _say(
    pipes: _Pipes, said: MemoryObjectReceiveStream[SessionMessage], heard: MemoryObjectSendStream[_Read]
) -> None:
    """Write messages to it as long as it takes them; when it does not any more, nobody need wait for answers."""
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


def _message(line: bytes) -> _Read:
    """The message, or the error where it cannot be read, as the SDK's streams carry it."""
    try:
        text = line.decode("utf-8", "replace")
        return SessionMessage(types.jsonrpc_message_adapter.validate_json(text, by_name=False))
    except ValueError as error:
        return error


async def _end(process: asyncio.SubprocessTransport, pipes: _Pipes) -> None:
    """Have it end by itself, else end it and all that it started."""
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
    """Whether it ends in time."""
    with anyio.move_on_after(_EACH_STEP_SECONDS):
        await pipes.ended.wait()
    return pipes.ended.is_set()
