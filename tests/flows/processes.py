"""Aldis as a real process: started as an operator starts it, killed as the kernel kills it, started again."""

import asyncio
import atexit
import json
import os
import signal
import socket
import subprocess
import sys
from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Protocol

from tests.waiting import WAIT_SECONDS

REPOSITORY = Path(__file__).parent.parent.parent

_PASSED_ON = ("PATH", "HOME", "TMPDIR")
"""Nothing that would make coverage count these processes: it doubles their time, and other tests reach nearly all."""


@dataclass
class Ended:
    """What is left of a process."""

    status: int
    stdout: str
    stderr: str


class Child(Protocol):
    """A process, as asyncio's own is one."""

    @property
    def pid(self) -> int: ...

    @property
    def stdin(self) -> asyncio.StreamWriter | None: ...

    @property
    def stdout(self) -> asyncio.StreamReader | None: ...

    @property
    def stderr(self) -> asyncio.StreamReader | None: ...

    @property
    def returncode(self) -> int | None: ...

    def send_signal(self, number: int, /) -> None: ...

    async def wait(self) -> int: ...


@dataclass
class Process:
    """A running `python -m bot`; what it says is gathered while it runs."""

    _process: Child
    _said: list[asyncio.Task[bytes]] = field(default_factory=list[asyncio.Task[bytes]])

    def __post_init__(self) -> None:
        for stream in (self._process.stdout, self._process.stderr):
            assert stream is not None
            self._said.append(asyncio.create_task(stream.read()))

    @property
    def process_id(self) -> int:
        return self._process.pid

    @property
    def is_running(self) -> bool:
        return self._process.returncode is None

    async def write(self, text: str) -> None:
        assert self._process.stdin is not None
        self._process.stdin.write(text.encode())
        await self._process.stdin.drain()

    def close_input(self) -> None:
        assert self._process.stdin is not None
        self._process.stdin.close()

    async def kill(self) -> Ended:
        """SIGKILL: nothing of the process runs after this."""
        if self.is_running:
            self._process.send_signal(signal.SIGKILL)
        return await self.ended()

    async def terminate(self) -> Ended:
        """SIGTERM: what docker stop sends."""
        self._process.send_signal(signal.SIGTERM)
        return await self.ended()

    def interrupt(self) -> None:
        """SIGINT: Ctrl-C."""
        self.signal(signal.SIGINT)

    def signal(self, number: signal.Signals) -> None:
        """Any other signal."""
        self._process.send_signal(number)

    async def ended(self) -> Ended:
        async with asyncio.timeout(WAIT_SECONDS):
            return await self.at_its_end()

    async def at_its_end(self) -> Ended:
        """What is left of it, however long it lives."""
        status = await self._process.wait()
        stdout, stderr = [(await said).decode(errors="replace") for said in self._said]
        return Ended(status=status, stdout=stdout, stderr=stderr)


@dataclass
class Forked:
    """A process that `tests.flows.warm` has forked."""

    pid: int
    stdin: asyncio.StreamWriter | None
    stdout: asyncio.StreamReader | None
    stderr: asyncio.StreamReader | None
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
    """Ends the forker: it leaves when nobody can order any more."""
    ours.close()
    process.wait()


async def _forked(order: Mapping[str, object], *, stdin: bool) -> Forked:
    """A process by this order; `stdin` tells whether it is written to."""
    ours: list[int] = []
    theirs: list[int] = []
    for place in range(4):
        reads, writes = os.pipe()
        ours.append(writes if place == 0 else reads)
        theirs.append(reads if place == 0 else writes)
    if not stdin:
        os.close(ours[0])
    socket.send_fds(_warm()[0], [json.dumps(order).encode()], theirs)
    for descriptor in theirs:
        os.close(descriptor)
    stdout, stderr, told = [await _reader(descriptor) for descriptor in ours[1:]]
    process_id = int(await told.readline())

    async def ending() -> int:
        # To the end of the pipe: it is closed by then.
        return int((await told.read()).decode() or -signal.SIGKILL)

    writer = await _writer(ours[0]) if stdin else None
    return Forked(process_id, writer, stdout, stderr, asyncio.create_task(ending()))


async def _reader(descriptor: int) -> asyncio.StreamReader:
    reader = asyncio.StreamReader()
    protocol = asyncio.StreamReaderProtocol(reader)
    await asyncio.get_running_loop().connect_read_pipe(lambda: protocol, os.fdopen(descriptor, "rb", buffering=0))
    return reader


async def _writer(descriptor: int) -> asyncio.StreamWriter:
    loop = asyncio.get_running_loop()
    pipe = os.fdopen(descriptor, "wb", buffering=0)
    transport, protocol = await loop.connect_write_pipe(asyncio.streams.FlowControlMixin, pipe)
    return asyncio.StreamWriter(transport, protocol, None, loop)


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
    stdin: bool = False,
    is_warm: bool = True,
) -> Process:
    """As `started`, for who ends it by itself."""
    given = environment(settings, folder)
    if is_warm and sys.platform == "linux":
        order = {"module": module, "arguments": arguments, "folder": str(folder), "environment": given}
        return Process(await _forked(order, stdin=stdin))
    return Process(
        await asyncio.create_subprocess_exec(
            sys.executable,
            "-m",
            module,
            *arguments,
            cwd=folder,
            env=given,
            stdin=asyncio.subprocess.PIPE if stdin else asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
        )
    )


@asynccontextmanager
async def started(
    *arguments: str,
    settings: Mapping[str, str],
    folder: Path,
    module: str = "bot",
    stdin: bool = False,
    is_warm: bool = True,
) -> AsyncGenerator[Process]:
    """`python -m bot ...` in an otherwise empty environment; killed at the end if it still runs.

    `folder` holds the store unless the settings say otherwise, and is the working directory, so that no `.env` of the
    repository is read. `is_warm` False: it is started as an operator starts it, and imports everything itself.
    """
    running = await begun(*arguments, settings=settings, folder=folder, module=module, stdin=stdin, is_warm=is_warm)
    try:
        yield running
    finally:
        await running.kill()
