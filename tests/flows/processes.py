"""Aldis as a real process: started as an operator starts it, killed as the kernel kills it, started again."""

import asyncio
import os
import signal
import sys
from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path

REPOSITORY = Path(__file__).parent.parent.parent
EXIT_SECONDS = 60.0
"""How long a process may take to end; generous, for machines that are busy."""

_PASSED_ON = ("PATH", "HOME", "TMPDIR")
"""Nothing that would make coverage count these processes: it doubles their time, and other tests reach nearly all."""


@dataclass
class Ended:
    """What is left of a process."""

    status: int
    stdout: str
    stderr: str


@dataclass
class Process:
    """A running `python -m bot`; what it says is gathered while it runs."""

    _process: asyncio.subprocess.Process
    _said: list[asyncio.Task[bytes]] = field(default_factory=list[asyncio.Task[bytes]])

    def __post_init__(self) -> None:
        for stream in (self._process.stdout, self._process.stderr):
            assert stream is not None
            self._said.append(asyncio.create_task(stream.read()))

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
            self._process.kill()
        return await self.ended()

    async def terminate(self) -> Ended:
        """SIGTERM: what docker stop sends."""
        self._process.terminate()
        return await self.ended()

    def interrupt(self) -> None:
        """SIGINT: Ctrl-C."""
        self._process.send_signal(signal.SIGINT)

    async def ended(self) -> Ended:
        async with asyncio.timeout(EXIT_SECONDS):
            status = await self._process.wait()
            stdout, stderr = [(await said).decode() for said in self._said]
        return Ended(status=status, stdout=stdout, stderr=stderr)


def environment(settings: Mapping[str, str], folder: Path) -> dict[str, str]:
    """Nothing but the machine's own, a store in the folder, and these settings."""
    inherited = {name: os.environ[name] for name in _PASSED_ON if name in os.environ}
    defaults = {"STORE__PATH": str(folder / "aldis.db"), "WEB__PORT": "0", "PYTHONPATH": str(REPOSITORY)}
    return {**inherited, **defaults, **settings}


@asynccontextmanager
async def started(
    *arguments: str, settings: Mapping[str, str], folder: Path, module: str = "bot", stdin: bool = False
) -> AsyncGenerator[Process]:
    """`python -m bot ...` in an otherwise empty environment; killed at the end if it still runs.

    `folder` holds the store unless the settings say otherwise, and is the working directory, so that no `.env` of the
    repository is read.
    """
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        "-m",
        module,
        *arguments,
        cwd=folder,
        env=environment(settings, folder),
        stdin=asyncio.subprocess.PIPE if stdin else asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
    )
    running = Process(process)
    try:
        yield running
    finally:
        await running.kill()
