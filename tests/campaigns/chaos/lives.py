"""The lives of Aldis, from the side of the harness: begun, killed, ended, and what each wrote to its log."""

import asyncio
import json
import re
import time
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from tests.flows.processes import Ended, Process, begun

_REPLY = re.compile(r"reply (\d+)")
_DIED_AT = re.compile(r"^died at (.+)$", re.MULTILINE)

Step = tuple[str, int, str]
"""`before` or `after`, the number of a transaction of this name, from 1, and the name; empty for any."""


@dataclass
class Life:
    """One process of Aldis."""

    number: int
    born_at: int
    """In milliseconds since 1970."""
    process: Process
    ending: asyncio.Task[Ended]

    @classmethod
    async def born(cls, settings: Mapping[str, str], *, number: int, folder: Path, step: Step | None) -> "Life":
        """Begins a life whose store is in the folder, and which kills itself at the step if there is one."""
        born_at = time.time_ns() // 1_000_000
        if step is None:
            process = await begun("run", settings=settings, folder=folder)
        else:
            arguments = (*map(str, step), "run")
            process = await begun(*arguments, settings=settings, folder=folder, module="tests.flows.dying")
        return cls(number, born_at, process, asyncio.create_task(process.at_its_end()))

    @property
    def is_over(self) -> bool:
        return self.ending.done()

    @property
    def status(self) -> int:
        """With what it ended: minus the signal where that was one."""
        return self.ending.result().status

    @property
    def log(self) -> str:
        """All that it wrote, once it is over."""
        return self.ending.result().stderr

    async def kill(self) -> None:
        """SIGKILL: nothing of it runs after this."""
        await self.process.kill()
        await self.ending

    async def terminate(self) -> None:
        """SIGTERM, and the wait for its end."""
        await self.process.terminate()
        await self.ending

    def told(self) -> tuple[tuple[int, int, str], ...]:
        """What it wrote of what it sent: when, in milliseconds since 1970, the row of the outbox, the words."""
        lines = (json.loads(line) for line in self.log.splitlines() if line.startswith("{") and line.endswith("}"))
        return tuple(
            (int(datetime.fromisoformat(line["at"]).timestamp() * 1000), int(found[1]), line["message"])
            for line in lines
            if (found := _REPLY.match(line["message"]))
        )

    def died_at(self) -> str | None:
        """The step at which it killed itself, if it did."""
        found = _DIED_AT.search(self.log)
        return found[1] if found else None
