"""The sandbox: opens strangers' files and pages in cells, a few at a time, and ends those that run out of time.

A person has one file of a kind open at a time, so others do not wait behind their slow ones. Each file has a cell of
its own (`bot.media.cell`), forked from a process that has never read any file, so nothing of one person's file gets
into another's.

Source: multiprocessing's start method "forkserver" (Python 3.11 to 3.14), which looks at all of its processes whenever
it begins one, so they begin and end on one thread.
"""

import asyncio
import json
import logging
import multiprocessing
import os
import signal
import socket
import sys
from collections import defaultdict
from collections.abc import AsyncGenerator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager, nullcontext, suppress
from multiprocessing import connection, forkserver, resource_tracker
from multiprocessing.process import BaseProcess
from typing import TypeVar, cast
from weakref import WeakValueDictionary

from pydantic import BaseModel, ValidationError

from bot.media import cell
from bot.media.cell import Facts, FileRefused
from bot.media.confinement import Level

M = TypeVar("M", bound=BaseModel)

_log = logging.getLogger(__name__)

_PACKAGE = "bot.media"
_FORKING = multiprocessing.get_context("forkserver")
_THREAD = ThreadPoolExecutor(1, thread_name_prefix="cell")
_AT_ONCE = 2
_MAX_ANSWER_BYTES = 16_000_000
_MAX_FACTS_BYTES = 2_000_000
"""Of the part of an answer that is read as JSON, which takes twenty times as much memory."""
_PIECE_BYTES = 262_144
_MAX_REASON_CHARS = 200
_BEGIN_SECONDS = 60.0
"""How long the server can take to load everything and to begin a cell."""
_END_SECONDS = 5.0
_DAMAGED = "it is damaged, or not what it seems"


class Sandbox:
    """Opens files in cells."""

    def __init__(self, *, package: str = _PACKAGE, preloaded: str = f"{_PACKAGE}.preloaded") -> None:
        """`package` has the modules that open files, `preloaded` loads them; only tests pass others."""
        self.known_level: Level | None = None
        """What `level` said last; None before."""
        self._package = package
        self._preloaded = preloaded
        self._places = defaultdict[str, asyncio.Semaphore](lambda: asyncio.Semaphore(_AT_ONCE))
        self._lanes = WeakValueDictionary[tuple[str, str], asyncio.Lock]()
        """One for each kind and person, while they have files of it."""

    async def open(
        self, module: str, data: bytes, *arguments: str, timeout_seconds: float, person: str = ""
    ) -> tuple[Facts, bytes]:
        """Returns what the module makes of the file: facts and bytes; raises `FileRefused` with the reason.

        The time limit excludes waiting for other files of the module. `person` is for whom, by any name; empty: no one.
        """
        name = f"{self._package}.{module}"
        async with self._place(module, person):
            return _read(await self._answer(name, data, arguments, timeout_seconds), name)

    async def run_program(self, text: str, *call: str, timeout_seconds: float, person: str = "") -> str:
        """Returns what a program says to a text; see `tools.ProgramCells`; raises `FileRefused` if that takes long."""
        async with self._place(cell.PROGRAM, person):
            answer = await self._answer(cell.PROGRAM, text.encode(errors="replace"), call, timeout_seconds)
        return answer.decode(errors="replace")

    async def level(self) -> Level:
        """Returns the layers that confine the cells on this machine; raises `FileRefused` if there can be no cells."""
        facts, _ = _read(await self._answer(cell.LEVEL, b"", (), _BEGIN_SECONDS), cell.LEVEL)
        self.known_level = Level(landlock=int(facts["landlock"]), seccomp=bool(facts["seccomp"]))
        return self.known_level

    @asynccontextmanager
    async def _place(self, kind: str, person: str) -> AsyncGenerator[None]:
        lane = self._lanes.setdefault((kind, person), asyncio.Lock()) if person else nullcontext()
        async with lane, self._places[kind]:
            yield

    async def _answer(self, name: str, data: bytes, arguments: Sequence[str], timeout_seconds: float) -> bytes:
        run = asyncio.get_running_loop().run_in_executor
        try:
            start_server(self._preloaded)
            ours, theirs = socket.socketpair()
            process = _FORKING.Process(target=cell.run, args=(theirs, name, tuple(arguments)), daemon=True)
            try:
                async with asyncio.timeout(_BEGIN_SECONDS):
                    await run(_THREAD, _begin, process, theirs)
                async with asyncio.timeout(timeout_seconds):
                    return await _exchange(ours, data)
            finally:
                ours.close()
                await asyncio.wait([run(_THREAD, _end, process, theirs)], timeout=2 * _END_SECONDS)
        except TimeoutError as error:
            raise FileRefused("it takes too long") from error
        except (OSError, EOFError) as error:
            _log.error("no sandbox process can be started: %s", error)
            raise FileRefused("there is no room for it at the moment; it may be sent again") from error


def start_server(preloaded: str) -> None:
    """Starts the process that cells are forked from, unless it runs; does not wait until it has loaded `preloaded`.

    It is deaf to Ctrl-C and gets nothing of the environment, in which there may be keys, but where Python finds its
    modules. No other thread may need the environment, which is not there for some milliseconds.
    """
    # No public function says whether it runs, and it would start again with the environment.
    pid = cast("int | None", vars(forkserver)["_forkserver"]._forkserver_pid)  # noqa: SLF001
    with suppress(ChildProcessError):  # its status is left to the server's own module
        if pid is not None and os.waitid(os.P_PID, pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is None:
            return
    _FORKING.set_forkserver_preload([preloaded])
    kept = dict(os.environ)
    os.environ.clear()
    os.environ["PYTHONPATH"] = os.pathsep.join(filter(None, sys.path))
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        resource_tracker.ensure_running()
        signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})  # the tracker unblocks it (Python 3.11 to 3.13)
        forkserver.ensure_running()
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
        os.environ.clear()
        os.environ.update(kept)


def _begin(process: BaseProcess, theirs: socket.socket) -> None:
    with theirs:  # open until it has been passed on, and no longer: its end tells that the cell has answered
        process.start()


def _end(process: BaseProcess, theirs: socket.socket) -> None:
    """Ends a cell, which may go on computing after its answer, and waits until it is gone."""
    theirs.close()
    if process.is_alive():
        process.kill()
        connection.wait([process.sentinel], _END_SECONDS)
    with suppress(ValueError):  # it hangs where even SIGKILL does not reach it
        process.close()


async def _exchange(channel: socket.socket, data: bytes) -> bytes:
    """Hands a cell its file, and returns what it has said by its end."""
    reader, writer = await asyncio.open_connection(sock=channel)
    answer = bytearray()
    try:
        writer.write(data)
        writer.write_eof()
        with suppress(ConnectionError):  # it has died, as its answer will show
            while len(answer) <= _MAX_ANSWER_BYTES and (piece := await reader.read(_PIECE_BYTES)):
                answer += piece
    finally:
        writer.transport.abort()
    return bytes(answer)


def _read(answer: bytes, name: str) -> tuple[Facts, bytes]:
    """Returns the facts and the bytes of a cell's answer; see `cell.run`."""
    line, _, data = answer.partition(b"\n")
    try:
        facts, size = json.loads(line) if len(line) <= _MAX_FACTS_BYTES else (None, 0)
    except (ValueError, TypeError, RecursionError):
        facts, size = None, 0
    if len(data) != size or not isinstance(facts, dict):  # it died, or a file has taken it over
        _log.warning("a sandbox process has not answered (%s)", name)
        raise FileRefused(_DAMAGED)
    found = cast("dict[str, object]", facts)
    if "refused" in found:
        raise FileRefused(str(found["refused"])[:_MAX_REASON_CHARS])
    return found, data


def check_facts(expected: type[M], facts: Facts) -> M:
    """Returns a cell's facts about a file; raises `FileRefused` if a file has taken over its cell to say others."""
    try:
        return expected.model_validate(facts)
    except ValidationError as error:
        raise FileRefused(_DAMAGED) from error
