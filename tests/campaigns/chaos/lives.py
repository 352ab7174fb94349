"""The lives of Aldis, from the side of the harness: begun, killed, ended, and what each wrote to its log."""

import asyncio
import json
import os
import re
import signal
import sys
import time
from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager, suppress
from dataclasses import asdict, dataclass
from datetime import datetime
from pathlib import Path

from tests.campaigns.chaos.crash_points import SAID, Step
from tests.flows.processes import environment
from tests.waiting import WAIT_SECONDS

_REPLY = re.compile(r"reply (\d+)")

_START_SECONDS = 120.0
"""For the imports of the fork server; generous, for machines that are busy."""


@dataclass
class Life:
    """One process of Aldis."""

    number: int
    process_id: int
    born_at: int
    """In milliseconds since 1970."""
    log: Path
    ending: asyncio.Task[int]
    """Gives the exit status, or minus the signal."""

    @property
    def is_over(self) -> bool:
        return self.ending.done()

    async def kill(self) -> None:
        """SIGKILL: nothing of it runs after this."""
        self._signal(signal.SIGKILL)
        await self.ended()

    async def terminate(self) -> int:
        """SIGTERM, and the status with which it leaves."""
        self._signal(signal.SIGTERM)
        return await self.ended()

    def _signal(self, number: signal.Signals) -> None:
        if not self.is_over:
            with suppress(ProcessLookupError):  # it may be over already, and nobody has said so yet
                os.kill(self.process_id, number)

    async def ended(self) -> int:
        async with asyncio.timeout(WAIT_SECONDS):
            return await asyncio.shield(self.ending)

    def said(self) -> str:
        """All that it wrote to its log."""
        return self.log.read_text("utf-8", errors="replace")

    def told(self) -> tuple[tuple[int, int, str], ...]:
        """What it wrote of what it sent: when, in milliseconds since 1970, the row of the outbox, the words."""
        lines = (json.loads(line) for line in self.said().splitlines() if line.startswith("{") and line.endswith("}"))
        return tuple(
            (int(datetime.fromisoformat(line["at"]).timestamp() * 1000), int(found[1]), line["message"])
            for line in lines
            if (found := _REPLY.match(line["message"]))
        )

    def died_at(self) -> str | None:
        """The step at which it killed itself, if it did."""
        before, said, name = self.said().rpartition(f"{SAID} ")
        del before
        return name.strip() if said else None


@dataclass
class ForkServer:
    """Begins lives in a folder, one after the other."""

    folder: Path
    _process: asyncio.subprocess.Process
    _life: Life | None = None

    async def born(self, settings: Mapping[str, str], *, number: int, step: Step | None = None) -> Life:
        """A new life; the one before must be over."""
        assert self._process.stdin is not None
        log = self.folder / f"life-{number}.log"
        log.touch()  # it may be killed before it opens it
        orders = {
            "environment": environment(settings, self.folder),
            "folder": str(self.folder),
            "log": str(log),
            "step": None if step is None else asdict(step),
        }
        born_at = time.time_ns() // 1_000_000
        self._process.stdin.write(json.dumps(orders).encode() + b"\n")
        process_id = int(await self._line())
        ending = asyncio.create_task(self._status())
        self._life = Life(number=number, process_id=process_id, born_at=born_at, log=log, ending=ending)
        return self._life

    async def _status(self) -> int:
        return int(await self._line())

    async def _line(self) -> str:
        assert self._process.stdout is not None
        line = await self._process.stdout.readline()
        if not line:
            raise RuntimeError("the fork server has ended; what it said stands above")
        return line.decode()

    async def ready(self) -> None:
        async with asyncio.timeout(_START_SECONDS):
            await self._line()

    async def aclose(self) -> None:
        """End the life under way, and the fork server."""
        if self._life is not None:
            await self._life.kill()
        assert self._process.stdin is not None
        self._process.stdin.close()
        async with asyncio.timeout(WAIT_SECONDS):
            await self._process.wait()


@asynccontextmanager
async def fork_server(folder: Path) -> AsyncGenerator[ForkServer]:
    """A fork server whose lives have their store in the folder; the life under way is killed at the end."""
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        "-m",
        "tests.campaigns.chaos.forkserver",
        env=environment({}, folder),
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        start_new_session=True,  # Ctrl-C is for the harness alone: it ends the lives in its own order
    )
    opened = ForkServer(folder=folder, _process=process)
    try:
        await opened.ready()
        yield opened
    finally:
        await opened.aclose()
