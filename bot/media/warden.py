"""Cells from outside: started for one file each, a few at a time, and ended when their time is up.

Left to others: what happens in a cell (`bot.media.cell`).
"""

import asyncio
import json
import logging
import sys
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, cast

from bot.media.cell import Refused

_log = logging.getLogger(__name__)

_ROOT = Path(__file__).resolve().parent.parent.parent
_AT_ONCE = 2
_MAX_ANSWER_BYTES = 16_000_000
"""More than any picture or text that a cell makes; one that a file has taken over could write without end."""
_PIECE_BYTES = 65_536
_MOST_REASON_CHARS = 200
_DAMAGED = "it is damaged, or not what it seems"


class Warden:
    """Opens files in cells."""

    def __init__(self, *, timeout_seconds: float, rooms: str = "bot.media") -> None:
        """`timeout_seconds` is for one file, the start of its cell included, waiting for a free cell not.

        `rooms` is the package in which the modules are that open files; only tests name another.
        """
        self._rooms = rooms
        self._timeout_seconds = timeout_seconds
        self._free = asyncio.Semaphore(_AT_ONCE)

    async def opened(self, room: str, data: bytes, *arguments: str) -> tuple[Mapping[str, Any], bytes]:
        """What the module of the name `room` makes of the file: what it is, and bytes.

        Raises:
            Refused: it cannot be opened; the message says why.
        """
        async with self._free:
            process = await _begun(f"{self._rooms}.{room}", arguments)
            try:
                async with asyncio.timeout(self._timeout_seconds):
                    answer = await _exchanged(process, data)
            except TimeoutError as error:
                raise Refused("opening it takes too long") from error
            finally:
                await _ended(process)
        if process.returncode:
            # Nothing that it may have said is trusted: it would be made of the file.
            _log.warning("a file was too much for its cell (%s, status %d)", room, process.returncode)
        return _read(answer, process.returncode)


async def _begun(module: str, arguments: Sequence[str]) -> asyncio.subprocess.Process:
    try:
        return await asyncio.create_subprocess_exec(
            *(sys.executable, "-m", module, *arguments),
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.DEVNULL,
            cwd=_ROOT,
            env={"PYTHONDONTWRITEBYTECODE": "1"},
            start_new_session=True,  # Ctrl-C is for Aldis, which then lets the cell finish or ends it
        )
    except OSError as error:
        _log.error("no cell can be started: %s", error.strerror)
        raise Refused("there is no room for it at the moment; it may be sent again") from error


async def _exchanged(process: asyncio.subprocess.Process, data: bytes) -> bytes:
    """What the cell answers to the file; one that says too much is ended."""
    async with asyncio.TaskGroup() as tasks:
        tasks.create_task(_fed(process, data))
        answer = await _said(process)
    await process.wait()
    return answer


async def _fed(process: asyncio.subprocess.Process, data: bytes) -> None:
    assert process.stdin is not None  # noqa: S101  (it was asked for)
    with suppress(BrokenPipeError, ConnectionResetError):  # it has died; its status says so
        process.stdin.write(data)
        await process.stdin.drain()
    process.stdin.close()


async def _said(process: asyncio.subprocess.Process) -> bytes:
    assert process.stdout is not None  # noqa: S101  (it was asked for)
    answer = bytearray()
    while piece := await process.stdout.read(_PIECE_BYTES):
        if len(answer) <= _MAX_ANSWER_BYTES:
            answer += piece
        elif process.returncode is None:  # what is in the pipe is still read, so that it can be closed
            process.kill()
    return bytes(answer)


async def _ended(process: asyncio.subprocess.Process) -> None:
    if process.returncode is None:
        process.kill()
        await process.wait()


def _read(answer: bytes, status: int | None) -> tuple[Mapping[str, Any], bytes]:
    line, _, data = answer.partition(b"\n")
    if status != 0 or not line:
        raise Refused(_DAMAGED)
    try:
        facts = json.loads(line)
    except (ValueError, RecursionError) as error:
        raise Refused(_DAMAGED) from error
    if not isinstance(facts, dict):  # a file has taken its cell over
        raise Refused(_DAMAGED)
    told = cast("dict[str, Any]", facts)
    if "refused" in told:
        raise Refused(str(told["refused"])[:_MOST_REASON_CHARS])
    return told, data
