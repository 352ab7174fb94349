"""Aldis as a real process: started as an operator starts it, killed as the kernel kills it, started again."""

import asyncio
import atexit
import codecs
import json
import os
import signal
import socket
import subprocess
import sys
from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from tests.waiting import WAIT_SECONDS

REPOSITORY = Path(__file__).parent.parent.parent

_PASSED_ON = ("PATH", "HOME", "TMPDIR")
"""Nothing that would make coverage count these processes: it doubles their time, and other tests reach nearly all."""


@dataclass
class Ended:
    status: int
    stdout: str
    stderr: str


class Heard:
    """A stream of a process, gathered as it comes."""

    def __init__(self, stream: asyncio.StreamReader) -> None:
        self.text = ""
        self._is_over = False
        self._changed = asyncio.Condition()
        self._gathering = asyncio.create_task(self._gather(stream))

    async def until(self, words: str, count: int = 1) -> None:
        """Wait until these words were said so often; fails where they cannot come any more."""
        async with asyncio.timeout(WAIT_SECONDS), self._changed:
            await self._changed.wait_for(lambda: self.text.count(words) >= count or self._is_over)
        assert self.text.count(words) >= count, self.text

    async def whole(self) -> str:
        await self._gathering
        return self.text

    async def _gather(self, stream: asyncio.StreamReader) -> None:
        decoder = codecs.getincrementaldecoder("utf-8")("replace")
        with suppress(OSError):  # a terminal whose other end is gone reads as an error
            while chunk := await stream.read(65_536):
                async with self._changed:
                    self.text += decoder.decode(chunk)
                    self._changed.notify_all()
        async with self._changed:
            self._is_over = True
            self._changed.notify_all()


@dataclass
class Process:
    """A running `python -m bot`, and its two ears."""

    _process: "Forked | asyncio.subprocess.Process"
    out: Heard
    err: Heard

    @property
    def process_id(self) -> int:
        return self._process.pid

    @property
    def is_running(self) -> bool:
        return self._process.returncode is None

    async def kill(self) -> Ended:
        if self.is_running:
            self._process.send_signal(signal.SIGKILL)
        return await self.ended()

    async def terminate(self) -> Ended:
        self.signal(signal.SIGTERM)
        return await self.ended()

    def signal(self, number: signal.Signals) -> None:
        self._process.send_signal(number)

    async def ended(self) -> Ended:
        async with asyncio.timeout(WAIT_SECONDS):
            return await self.at_its_end()

    async def at_its_end(self) -> Ended:
        status = await self._process.wait()
        return Ended(status=status, stdout=await self.out.whole(), stderr=await self.err.whole())


@dataclass
class Forked:
    pid: int
    _ending: asyncio.Task[int]

    @property
    def returncode(self) -> int | None:
        return self._ending.result() if self._ending.done() else None

    def send_signal(self, number: int, /) -> None:
        with suppress(ProcessLookupError):  # it has ended, and nobody has said so yet
            os.kill(self.pid, number)

    async def wait(self) -> int:
        return await asyncio.shield(self._ending)


@cache
def _warm() -> tuple[socket.socket, subprocess.Popen[bytes]]:
    """Where forks are ordered, and who makes them: one for each process that runs tests, ended when that has."""
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    environment_of_its = {name: os.environ[name] for name in _PASSED_ON if name in os.environ}
    process = subprocess.Popen(
        [sys.executable, "-m", "tests.flows.warm", str(theirs.fileno())],
        cwd=REPOSITORY,
        env=environment_of_its,
        pass_fds=[theirs.fileno()],
        stdin=subprocess.DEVNULL,
        start_new_session=True,  # Ctrl-C is for the tests alone, which end what they have started
    )
    theirs.close()
    atexit.register(_end_warm, ours, process)
    return ours, process


def _end_warm(ours: socket.socket, process: subprocess.Popen[bytes]) -> None:
    ours.close()
    process.wait()


async def _forked(order: Mapping[str, object]) -> Process:
    ends = [os.pipe() for _ in range(3)]
    socket.send_fds(_warm()[0], [json.dumps(order).encode()], [writes for _, writes in ends])
    for _, writes in ends:
        os.close(writes)
    stdout, stderr, told = [await _reader(reads) for reads, _ in ends]
    process_id = int(await told.readline())

    async def ending() -> int:
        # To the end of the pipe: it is closed by then.
        return int((await told.read()).decode() or -signal.SIGKILL)

    return Process(Forked(process_id, asyncio.create_task(ending())), Heard(stdout), Heard(stderr))


async def _reader(descriptor: int) -> asyncio.StreamReader:
    reader = asyncio.StreamReader()
    protocol = asyncio.StreamReaderProtocol(reader)
    await asyncio.get_running_loop().connect_read_pipe(lambda: protocol, os.fdopen(descriptor, "rb", buffering=0))
    return reader


def environment(settings: Mapping[str, str], folder: Path) -> dict[str, str]:
    """Nothing but the machine's own, a store in the folder, and these settings; nobody is greeted unless they say."""
    inherited = {name: os.environ[name] for name in _PASSED_ON if name in os.environ}
    defaults = {"STORE__PATH": str(folder / "aldis.db"), "WEB__PORT": "0", "PYTHONPATH": str(REPOSITORY)}
    defaults["ACCESS__GREETING"] = "false"
    return {**inherited, **defaults, **settings}


async def begun(
    *arguments: str,
    settings: Mapping[str, str],
    folder: Path,
    module: str = "bot",
    is_warm: bool = True,
) -> Process:
    """As `started`, for who ends it by itself."""
    given = environment(settings, folder)
    if is_warm and sys.platform == "linux":
        return await _forked({"module": module, "arguments": arguments, "folder": str(folder), "environment": given})
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", module, *arguments),
        cwd=folder,
        env=given,
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
    )
    assert process.stdout is not None
    assert process.stderr is not None
    return Process(process, Heard(process.stdout), Heard(process.stderr))


@asynccontextmanager
async def started(
    *arguments: str,
    settings: Mapping[str, str],
    folder: Path,
    module: str = "bot",
    is_warm: bool = True,
) -> AsyncGenerator[Process]:
    """`python -m bot ...` in an otherwise empty environment; killed at the end if it still runs.

    `folder` holds the store unless the settings say otherwise, and is the working directory, so that no `.env` of the
    repository is read. `is_warm` False: it is started as an operator starts it, and imports everything itself.
    """
    running = await begun(*arguments, settings=settings, folder=folder, module=module, is_warm=is_warm)
    try:
        yield running
    finally:
        await running.kill()


async def run_to_end(
    *arguments: str, settings: Mapping[str, str], folder: Path, module: str = "bot", is_warm: bool = True
) -> Ended:
    async with started(*arguments, settings=settings, folder=folder, module=module, is_warm=is_warm) as process:
        return await process.ended()
