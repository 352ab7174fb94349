"""The sandbox: opens strangers' files and pages in cells, a few at a time, and ends those that run out of time.

    file --> a place for its kind --> a cell, forked (`bot.media.cell`) --> facts and bytes, a stranger's data
                                       '-- too late, too much, dead: refused

A person has one file of a kind open at a time, so others do not wait behind their slow ones. Each file has a cell of
its own, forked from a process that has never read any file: whatever a file does to its cell is gone with it, so
nothing of one person's file gets into another's.

Source: multiprocessing's start method "forkserver" (Python 3.11 to 3.14). Its processes are begun, and their ends read,
by one thread at a time, because it looks at all of them whenever it begins one.
"""

import asyncio
import json
import logging
import multiprocessing
import os
import signal
import socket
import sys
import threading
from collections import defaultdict
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import nullcontext, suppress
from multiprocessing import connection, forkserver, resource_tracker
from multiprocessing.process import BaseProcess
from typing import Any, TypeVar, cast
from weakref import WeakValueDictionary

from pydantic import BaseModel, ValidationError

from bot.media import cell
from bot.media.cell import Facts, FileRefused
from bot.media.confinement import Level

M = TypeVar("M", bound=BaseModel)

_log = logging.getLogger(__name__)

_PACKAGE = "bot.media"
_FORKING = multiprocessing.get_context("forkserver")
_BEGINNING = threading.Lock()
_AT_ONCE = 2
_MAX_ANSWER_BYTES = 16_000_000
"""More than any picture or text that a cell makes; one that a file has taken over could write without end."""
_MAX_FACTS_BYTES = 2_000_000
"""The part of it that is read as JSON, which takes twenty times as much memory; a feed of fifty entries needs half."""
_PIECE_BYTES = 262_144
_MAX_REASON_CHARS = 200
_KILL_SECONDS = 5.0
"""How long the server can take to report that a cell has ended; it does nothing but watch for that."""
_LEVEL_SECONDS = 60.0
_DAMAGED = "it is damaged, or not what it seems"
_NO_ROOM = "there is no room for it at the moment; it may be sent again"


class Sandbox:
    """Opens files in cells."""

    def __init__(self, *, package: str = _PACKAGE, preloaded: str = f"{_PACKAGE}.preloaded") -> None:
        """`package` is the package of the modules that open files, `preloaded` the module that loads them; only tests
        pass others.
        """
        self.known_level: Level | None = None
        """The layers that confine the cells on this machine; None until `level` has been asked."""
        self._package = package
        self._preloaded = preloaded
        self._threads = ThreadPoolExecutor(4 * _AT_ONCE, thread_name_prefix="cell")
        self._places = defaultdict[str, asyncio.Semaphore](lambda: asyncio.Semaphore(_AT_ONCE))
        self._lanes = WeakValueDictionary[tuple[str, str], asyncio.Lock]()
        """One for each kind and person, while they have files of it."""

    async def open(
        self, module: str, data: bytes, *arguments: str, timeout_seconds: float, person: str = ""
    ) -> tuple[Facts, bytes]:
        """Returns what the module makes of the file: facts about it, and bytes.

        The time limit does not include waiting for other files of the same module. `person` is for whom it is opened,
        by any name; empty for no one.

        Raises:
            FileRefused: it cannot be opened; the message says why.
        """
        lane = self._lanes.setdefault((module, person), asyncio.Lock()) if person else nullcontext()
        async with lane, self._places[module]:
            return await self._opened(f"{self._package}.{module}", data, arguments, timeout_seconds)

    async def level(self) -> Level:
        """Returns the layers that confine the cells on this machine, as reported by a cell.

        Raises:
            FileRefused: there can be no cells.
        """
        facts, _ = await self._opened(cell.LEVEL, b"", (), _LEVEL_SECONDS)
        self.known_level = Level(landlock=int(facts["landlock"]), seccomp=bool(facts["seccomp"]))
        return self.known_level

    def close(self) -> None:
        """Begins no further cell. The server ends with Aldis, and cells with it."""
        self._threads.shutdown(wait=False, cancel_futures=True)

    async def _opened(
        self, name: str, data: bytes, arguments: Sequence[str], timeout_seconds: float
    ) -> tuple[Facts, bytes]:
        try:
            start_server(self._preloaded)
            ours, theirs = socket.socketpair()
        except OSError as error:
            raise _no_room(error) from error
        process = _FORKING.Process(target=cell.run, args=(theirs, name, tuple(arguments)), daemon=True)
        is_over = threading.Event()
        with ours:
            working = asyncio.get_running_loop().run_in_executor(
                self._threads, _work, process, ours.dup(), theirs, data, timeout_seconds, is_over
            )
            try:
                async with asyncio.timeout(timeout_seconds + 2 * _KILL_SECONDS):
                    answer, status = await working
            except TimeoutError as error:
                _log.error("the process that forks the sandbox processes hangs")
                raise FileRefused(_NO_ROOM) from error
            except asyncio.CancelledError:
                is_over.set()
                with suppress(OSError):  # its thread sees the end of the channel, and ends the cell
                    ours.shutdown(socket.SHUT_RDWR)
                raise
        if status:
            # Nothing that it may have said is trusted: the file could have made it up.
            _log.warning("a file exceeded the limits of its sandbox process (%s, status %d)", name, status)
            raise FileRefused(_DAMAGED)
        return _read(answer)


def start_server(preloaded: str) -> None:
    """Starts the process that cells are forked from, unless it runs; without waiting until it has loaded `preloaded`.

    It gets nothing of the environment, in which there may be keys, but where Python finds its modules; so that must be
    called where no other thread needs the environment, which is not there for some milliseconds. It is deaf to Ctrl-C
    in a terminal.
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


def _no_room(error: OSError | EOFError) -> FileRefused:
    _log.error("no sandbox process can be started: %s", error)
    return FileRefused(_NO_ROOM)


def _work(
    process: BaseProcess,
    channel: socket.socket,
    theirs: socket.socket,
    data: bytes,
    seconds: float,
    is_over: threading.Event,
) -> tuple[bytes, int]:
    """Returns the answer of a new cell, and its exit status, negative for a signal; ends it after these seconds, or if
    the channel ends when `is_over` is set. Waits, so it has a thread.
    """
    answer = bytearray()
    with channel:
        try:
            with theirs, _BEGINNING:
                process.start()
        except (OSError, EOFError) as error:
            raise _no_room(error) from error
        ending = threading.Timer(seconds, lambda: (is_over.set(), process.kill()))
        ending.start()
        try:
            with suppress(ConnectionError):  # it has died, as its status will say
                channel.sendall(data)
                channel.shutdown(socket.SHUT_WR)
                while (piece := channel.recv(_PIECE_BYTES)) and len(answer) <= _MAX_ANSWER_BYTES:
                    answer += piece
            if is_over.is_set() or len(answer) > _MAX_ANSWER_BYTES:
                process.kill()
            # A cell can fall silent and go on computing, so its end is waited for as well as its answer.
            has_ended = bool(connection.wait([process.sentinel], seconds + _KILL_SECONDS))
            if is_over.is_set() or not has_ended:
                raise FileRefused("opening it takes too long")
            with _BEGINNING:
                return bytes(answer), process.exitcode or 0
        finally:
            ending.cancel()
            process.kill()
            connection.wait([process.sentinel], _KILL_SECONDS)
            with _BEGINNING, suppress(ValueError):  # it hangs where even SIGKILL does not reach it
                process.close()


def _read(answer: bytes) -> tuple[Facts, bytes]:
    """What a cell that ended well has said: a line of JSON, and bytes."""
    line, _, data = answer.partition(b"\n")
    try:
        facts = json.loads(line) if len(line) <= _MAX_FACTS_BYTES else None
    except (ValueError, RecursionError) as error:
        raise FileRefused(_DAMAGED) from error
    if not isinstance(facts, dict):  # a file has taken over its cell
        raise FileRefused(_DAMAGED)
    found = cast("dict[str, Any]", facts)
    if "refused" in found:
        raise FileRefused(str(found["refused"])[:_MAX_REASON_CHARS])
    return found, data


def check_facts(expected: type[M], facts: Facts) -> M:
    """Returns a cell's facts about a file, checked to be what a cell would report.

    Raises:
        FileRefused: they are not; a file has taken over its cell.
    """
    try:
        return expected.model_validate(facts)
    except ValidationError as error:
        raise FileRefused(_DAMAGED) from error
