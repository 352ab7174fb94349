"""The sandbox: opens strangers' files and pages in cells, a few at a time, and ends those that run out of time.

    file --> a place for its kind --> the zygote --fork--> a cell --> facts and bytes, treated as a stranger's data
                                                     '-- too late, too much, dead: refused

A person has one file of a kind open at a time, so nobody else waits behind somebody's slow ones.

Each file has a cell of its own, forked from a process that has never read any file (`bot.media.zygote`): whatever a
file does to its cell is gone with it, so nothing of one person's file gets into another's, at the price of a fork.
Left to others: what confines a cell (`bot.media.confinement`), what is in a file (`bot.media.pictures`, ...).
"""

import asyncio
import json
import logging
import socket
import subprocess
import sys
from collections import defaultdict
from collections.abc import Sequence
from contextlib import ExitStack, nullcontext, suppress
from pathlib import Path
from typing import Any, TypeVar, cast
from weakref import WeakValueDictionary

from pydantic import BaseModel, ValidationError

from bot.media.cell import Facts, FileRefused
from bot.media.confinement import Level
from bot.media.zygote import LEVEL

M = TypeVar("M", bound=BaseModel)

_log = logging.getLogger(__name__)

_ROOT = Path(__file__).resolve().parent.parent.parent
_PACKAGE = "bot.media"
MODULES = tuple(f"{_PACKAGE}.{name}" for name in ("pages", "pdf", "pictures", "feed_parser"))
"""The modules that open files, by their full names."""

_AT_ONCE = 2
_MAX_ANSWER_BYTES = 16_000_000
"""More than any picture or text that a cell makes; one that a file has taken over could write without end."""
_MAX_FACTS_BYTES = 2_000_000
"""The part of it that is read as JSON, which takes twenty times as much memory; a feed of fifty entries needs half."""
_PIECE_BYTES = 262_144
_MAX_REASON_CHARS = 200
_KILL_SECONDS = 5.0
"""How long the zygote can take to report that a cell has ended; it does nothing but watch for that."""
_CLOSE_SECONDS = 2.0
_LEVEL_SECONDS = 20.0
_DAMAGED = "it is damaged, or not what it seems"
_NO_ROOM = "there is no room for it at the moment; it may be sent again"


class Zygote:
    """The process that cells are forked from: started when first needed, and again when it is gone."""

    def __init__(self, modules: Sequence[str] = MODULES, *, close_seconds: float = _CLOSE_SECONDS) -> None:
        """`modules` are the full names of those that open files; only tests pass others."""
        self._modules = modules
        self._close_seconds = close_seconds
        self._process: subprocess.Popen[bytes] | None = None
        self._control: socket.socket | None = None

    def start(self) -> None:
        """Starts it, without waiting until it has loaded everything. For the main thread.

        Raises:
            OSError: it cannot be started.
        """
        if self._process is not None and self._process.poll() is None:
            return
        self.close()
        self._control, theirs = socket.socketpair()
        self._control.settimeout(0)
        with theirs:
            self._process = subprocess.Popen(  # noqa: S603  (our own words)
                (sys.executable, "-E", "-B", "-m", "bot.media.zygote", *self._modules),
                stdin=theirs.fileno(),
                stdout=subprocess.DEVNULL,
                cwd=_ROOT,
                env={},
                start_new_session=True,  # Ctrl-C is for Aldis, which lets the cells finish or ends them
            )

    def fork(self, channel: socket.socket, leash: socket.socket) -> None:
        """Forks a cell that has `channel`; it is killed when the other end of `leash` is closed.

        Raises:
            OSError: it cannot be forked.
        """
        self.start()
        assert self._control is not None  # noqa: S101  (`start` has set it)
        descriptors = [channel.fileno(), leash.fileno()]
        try:
            socket.send_fds(self._control, [b"."], descriptors)
        except BrokenPipeError:  # it has just ended
            self.close()
            self.start()
            socket.send_fds(self._control, [b"."], descriptors)

    def close(self) -> None:
        """Ends it, and every cell with it. Closing again does nothing."""
        if self._control is not None:
            self._control.close()
        if self._process is not None:
            try:
                self._process.wait(self._close_seconds)
            except subprocess.TimeoutExpired:
                self._process.kill()
                self._process.wait()
        self._process = self._control = None


class Sandbox:
    """Opens files in cells."""

    def __init__(
        self, zygote: Zygote | None = None, *, package: str = _PACKAGE, kill_seconds: float = _KILL_SECONDS
    ) -> None:
        """A given `zygote` is closed by its owner; None means one of its own. `package` is the package of the modules
        that open files; only tests pass another.
        """
        self.known_level: Level | None = None
        """The layers that confine the cells on this machine; None until `level` has been asked."""
        self._owns = zygote is None
        self._zygote = zygote or Zygote()
        self._package = package
        self._kill_seconds = kill_seconds
        self._places = defaultdict[str, asyncio.Semaphore](lambda: asyncio.Semaphore(_AT_ONCE))
        self._lanes = WeakValueDictionary[tuple[str, str], asyncio.Lock]()
        """One for each kind and person, while they have files of it."""

    async def open(
        self, module: str, data: bytes, *arguments: str, timeout_seconds: float, person: str = ""
    ) -> tuple[Facts, bytes]:
        """Returns what the module makes of the file: facts about it, and bytes.

        The time limit does not include waiting for other files of the same module. `person` is for whom it is opened,
        by any name; empty for nobody.

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
        facts, _ = await self._opened(LEVEL, b"", (), _LEVEL_SECONDS)
        self.known_level = Level(landlock=int(facts["landlock"]), seccomp=bool(facts["seccomp"]))
        return self.known_level

    def close(self) -> None:
        """Ends everything. Files that are being opened are refused."""
        if self._owns:
            self._zygote.close()

    async def _opened(
        self, name: str, data: bytes, arguments: Sequence[str], timeout_seconds: float
    ) -> tuple[Facts, bytes]:
        head = json.dumps([name, *arguments]).encode() + b"\n"
        with ExitStack() as stack:
            channel, leash = self._forked(stack)
            try:
                async with asyncio.timeout(timeout_seconds):
                    answer = await _exchanged(channel, head + data)
                    # A cell can fall silent and go on computing, so its end is waited for as well as its answer.
                    status = await (self._kill(leash) if answer is None else _status(leash))
            except TimeoutError as error:
                await self._kill(leash)
                raise FileRefused("opening it takes too long") from error
        if status is None:
            _log.error("no sandbox process is available")
            raise FileRefused(_NO_ROOM)
        if status:
            # Nothing that it may have said is trusted: the file could have made it up.
            _log.warning("a file exceeded the limits of its sandbox process (%s, status %d)", name, status)
        return _read(answer or b"", status)

    def _forked(self, stack: ExitStack) -> tuple[socket.socket, socket.socket]:
        """Our ends of the channel and the leash of a new cell. Closing the leash ends the cell."""
        try:
            ends = [socket.socketpair() for _ in range(2)]
            for ours, theirs in ends:
                ours.settimeout(0)
                stack.enter_context(ours)
                stack.callback(theirs.close)
            [(channel, their_channel), (leash, their_leash)] = ends
            self._zygote.fork(their_channel, their_leash)
        except OSError as error:
            _log.error("no sandbox process can be started: %s", error.strerror)
            raise FileRefused(_NO_ROOM) from error
        # Otherwise the end of the other side would go unnoticed.
        their_channel.close()
        their_leash.close()
        return channel, leash

    async def _kill(self, leash: socket.socket) -> int | None:
        """Like `_status`, for a cell that may not end by itself. A zygote that hangs is ended, with all its cells."""
        with suppress(OSError):  # its other end has gone
            leash.shutdown(socket.SHUT_WR)
        try:
            async with asyncio.timeout(self._kill_seconds):
                return await _status(leash)
        except TimeoutError:
            _log.error("the process that forks the sandbox processes hangs; restarting it")
            self._zygote.close()
            return None


async def _status(leash: socket.socket) -> int | None:
    """The exit status of the cell, negative for a signal; None if the zygote is gone."""
    told = await asyncio.get_running_loop().sock_recv(leash, 16)
    return int(told) if told else None


def check_facts(expected: type[M], facts: Facts) -> M:
    """Returns a cell's facts about a file, checked to be what a cell would report.

    Raises:
        FileRefused: they are not; a file has taken over its cell.
    """
    try:
        return expected.model_validate(facts)
    except ValidationError as error:
        raise FileRefused(_DAMAGED) from error


async def _exchanged(channel: socket.socket, data: bytes) -> bytes | None:
    """The cell's answer to the file; None if it is too long."""
    async with asyncio.TaskGroup() as tasks:
        feeding = tasks.create_task(_feed(channel, data))
        answer = await _answer(channel)
        feeding.cancel()
    return answer


async def _feed(channel: socket.socket, data: bytes) -> None:
    with suppress(OSError):  # it has died, as its status will say
        await asyncio.get_running_loop().sock_sendall(channel, data)
        channel.shutdown(socket.SHUT_WR)


async def _answer(channel: socket.socket) -> bytes | None:
    loop, answer = asyncio.get_running_loop(), bytearray()
    with suppress(ConnectionError):
        while piece := await loop.sock_recv(channel, _PIECE_BYTES):
            answer += piece
            if len(answer) > _MAX_ANSWER_BYTES:
                return None
    return bytes(answer)


def _read(answer: bytes, status: int) -> tuple[Facts, bytes]:
    line, _, data = answer.partition(b"\n")
    if status != 0 or not 0 < len(line) <= _MAX_FACTS_BYTES:
        raise FileRefused(_DAMAGED)
    try:
        facts = json.loads(line)
    except (ValueError, RecursionError) as error:
        raise FileRefused(_DAMAGED) from error
    if not isinstance(facts, dict):  # a file has taken over its cell
        raise FileRefused(_DAMAGED)
    told = cast("dict[str, Any]", facts)
    if "refused" in told:
        raise FileRefused(str(told["refused"])[:_MAX_REASON_CHARS])
    return told, data
