"""Aldis with somebody in front of it: what it says can be waited for while it runs, on pipes or at a terminal."""

import asyncio
import codecs
import os
import pty
import signal
import sys
import termios
from collections.abc import AsyncGenerator, Callable, Mapping
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from tests.flows.processes import Ended, environment, started
from tests.waiting import WAIT_SECONDS


async def chatted(*arguments: str, settings: Mapping[str, str], folder: Path) -> Ended:
    """`python -m bot chat ...` to its end, with nobody to type anything."""
    async with started("chat", *arguments, settings=settings, folder=folder) as process:
        return await process.ended()


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
        """All that was said, once no more can come."""
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
class Console:
    """A running `python -m bot` and its two ears; at a terminal both are the one screen."""

    process: asyncio.subprocess.Process
    out: Heard
    err: Heard
    _keyboard: Callable[[str], None]
    _leave: Callable[[], None]

    def type(self, text: str) -> None:
        """Type at the terminal, or write a line into the pipe."""
        self._keyboard(text)

    def send(self, number: signal.Signals) -> None:
        self.process.send_signal(number)

    async def ended(self) -> Ended:
        async with asyncio.timeout(WAIT_SECONDS):
            status = await self.process.wait()
            self._leave()
            return Ended(status=status, stdout=await self.out.whole(), stderr=await self.err.whole())

    async def kill(self) -> None:
        if self.process.returncode is None:
            self.process.kill()
        await self.ended()


@asynccontextmanager
async def watched(*arguments: str, settings: Mapping[str, str], folder: Path) -> AsyncGenerator[Console]:
    """`python -m bot ...` on pipes; killed at the end if it still runs."""
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "bot", *arguments),
        cwd=folder,
        env=environment(settings, folder),
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
    )
    stdin, stdout, stderr = process.stdin, process.stdout, process.stderr
    assert stdin is not None
    assert stdout is not None
    assert stderr is not None
    console = Console(process, Heard(stdout), Heard(stderr), lambda text: stdin.write(text.encode()), stdin.close)
    try:
        yield console
    finally:
        await console.kill()


@asynccontextmanager
async def seated(*arguments: str, settings: Mapping[str, str], folder: Path) -> AsyncGenerator[Console]:
    """`python -m bot ...` at a terminal of its own, on which Ctrl-C (the character 3) interrupts; killed at the end."""
    person, slave = pty.openpty()
    termios.tcsetwinsize(slave, (24, 100))
    reader = asyncio.StreamReader()
    transport, _ = await asyncio.get_running_loop().connect_read_pipe(
        lambda: asyncio.StreamReaderProtocol(reader), os.fdopen(os.dup(person), "rb", buffering=0)
    )
    # The first terminal that the leader of a session opens becomes its own: this is how Ctrl-C finds the process.
    process = await asyncio.create_subprocess_exec(
        *("sh", "-c", 'exec "$@" <"$0" >"$0" 2>&1', os.ttyname(slave)),
        *(sys.executable, "-m", "bot", *arguments),
        cwd=folder,
        env=environment({"TERM": "xterm", "PROMPT_TOOLKIT_NO_CPR": "1", **settings}, folder),
        start_new_session=True,
    )
    screen, open_ends = Heard(reader), [slave]

    def leave() -> None:
        """Only when this end lets go of the process's side, too, is the screen over."""
        while open_ends:
            os.close(open_ends.pop())

    console = Console(process, screen, screen, lambda text: _typed(person, text), leave)
    try:
        yield console
    finally:
        await console.kill()
        transport.close()
        os.close(person)


def _typed(person: int, text: str) -> None:
    os.write(person, text.encode())
