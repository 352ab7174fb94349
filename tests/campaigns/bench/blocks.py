"""Blocks of turns, run and measured within the process of a subject: CPU, time, memory.

A subject answers questions (`Ask`). It reads blocks as lines of JSON from standard input and writes its measurements as
lines of JSON to standard output, until the input ends.
"""

import asyncio
import json
import re
import sys
import time
from collections.abc import Awaitable, Callable
from contextlib import AbstractAsyncContextManager
from dataclasses import asdict, dataclass, field
from itertools import count
from pathlib import Path

Ask = Callable[[str, str], Awaitable[str]]
"""Asks in a conversation of this name, gives the answer."""

TURN_SECONDS = 60.0
_SETTLING_SECONDS = 0.1
"""What a subject still does when the answer is out (Aldis notes that it was sent) belongs to its turn."""

_STATUS = Path("/proc/self/status")


@dataclass(frozen=True, kw_only=True)
class Block:
    """So many turns in each of these conversations: one conversation after the other, or all at once."""

    conversations: tuple[str, ...]
    turns_each: int
    at_once: bool = False


@dataclass(frozen=True, kw_only=True)
class Measured:
    """What a block took. `cpu_seconds` is user and system time of the whole process, its threads included."""

    turns: int
    failures: int
    cpu_seconds: float
    wall_seconds: float
    latencies_seconds: tuple[float, ...]
    memory_bytes: int | None
    """Resident after the block; None where the system does not tell."""

    @property
    def cpu_ms_per_turn(self) -> float:
        return 1000 * self.cpu_seconds / self.turns

    @property
    def turns_per_second(self) -> float:
        return self.turns / self.wall_seconds


@dataclass
class Examiner:
    """Puts questions that want one call of the calculator each, and looks at the answers."""

    ask: Ask
    _numbers: "count[int]" = field(default_factory=lambda: count(1001))

    async def measured(self, block: Block) -> Measured:
        cpu_seconds, began_at = time.process_time(), time.monotonic()
        talks = [self._talk(conversation, block.turns_each) for conversation in block.conversations]
        if block.at_once:
            results = await asyncio.gather(*talks)
        else:
            results = [await talk for talk in talks]
        wall_seconds = time.monotonic() - began_at
        await asyncio.sleep(_SETTLING_SECONDS)
        latencies = [seconds for result in results for seconds in result]
        return Measured(
            turns=len(latencies),
            failures=latencies.count(None),
            cpu_seconds=time.process_time() - cpu_seconds,
            wall_seconds=wall_seconds,
            latencies_seconds=tuple(seconds for seconds in latencies if seconds is not None),
            memory_bytes=_memory_bytes(),
        )

    async def _talk(self, conversation: str, turns: int) -> list[float | None]:
        return [await self._turn(conversation) for _ in range(turns)]

    async def _turn(self, conversation: str) -> float | None:
        """The seconds until the right answer; None for any other."""
        number = next(self._numbers)
        question = f"What is {number} * 37? I need the exact figure for the treasurer's report, please."
        began_at = time.monotonic()
        async with asyncio.timeout(TURN_SECONDS):
            answer = await self.ask(conversation, question)
        seconds = time.monotonic() - began_at
        return seconds if str(number * 37) in answer else None


def serve(subject: AbstractAsyncContextManager[Ask]) -> None:
    """Measure the blocks that standard input asks for, until it ends."""
    asyncio.run(_served(subject))


async def _served(subject: AbstractAsyncContextManager[Ask]) -> None:
    async with subject as ask:
        examiner = Examiner(ask)
        tell("ready")
        while line := await asyncio.to_thread(sys.stdin.readline):
            measured = await examiner.measured(Block(**json.loads(line)))
            tell(asdict(measured))


def tell(value: object) -> None:
    """One line of JSON to whoever started this process."""
    sys.stdout.write(json.dumps(value) + "\n")
    sys.stdout.flush()


def _memory_bytes() -> int | None:
    if not _STATUS.exists():
        return None
    found = re.search(r"VmRSS:\s+(\d+) kB", _STATUS.read_text("ascii"))
    return int(found[1]) * 1024 if found else None
