"""Aldis at a terminal of its own, with a person in front of it."""

import asyncio
import os
import pty
import sys
import termios
from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path

from tests.flows.processes import Ended, Heard, Process, environment


@dataclass
class Console(Process):
    """A running `python -m bot` at a terminal: both ears are the one screen."""

    _keyboard: int = -1
    _open_ends: list[int] = field(default_factory=list[int])

    def type(self, text: str) -> None:
        os.write(self._keyboard, text.encode())

    async def at_its_end(self) -> Ended:
        """Only when this end lets go of the process's side, too, is the screen over."""
        await self._process.wait()
        while self._open_ends:
            os.close(self._open_ends.pop())
        return await super().at_its_end()


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
    screen = Heard(reader)
    console = Console(process, screen, screen, person, [slave])
    try:
        yield console
    finally:
        await console.kill()
        transport.close()
        os.close(person)
