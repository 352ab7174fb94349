"""Blocks of turns, run and measured within the process of Aldis: CPU, time, memory."""

import asyncio
import itertools
import json
import os
import sys
import time
from collections.abc import Awaitable, Callable
from contextlib import AbstractAsyncContextManager
from dataclasses import asdict, dataclass

from tests.campaigns.proc import usage

Ask = Callable[[str, str], Awaitable[str]]
"""Asks in a conversation of this name, gives the answer."""

_TURN_SECONDS = 60.0
_SETTLING_SECONDS = 0.1
"""What Aldis still does when the answer is out (it notes that it was sent) belongs to its turn."""

_NUMBERS = itertools.count(1001)


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
    memory_bytes: int

    @property
    def turns_per_second(self) -> float:
        return self.turns / self.wall_seconds


async def serve(subject: AbstractAsyncContextManager[Ask]) -> None:
    """Measure the blocks on standard input, a list in JSON, and write what each took to standard output."""
    asked = [Block(**block) for block in json.load(sys.stdin)]
    async with subject as ask:
        measured = [asdict(await _measured(ask, block)) for block in asked]
    json.dump(measured, sys.stdout)


async def _measured(ask: Ask, block: Block) -> Measured:
    """Puts questions that want one call of the calculator each, and looks at the answers."""
    cpu_seconds, began_at = time.process_time(), time.monotonic()
    talks = [_talk(ask, conversation, block.turns_each) for conversation in block.conversations]
    results = await asyncio.gather(*talks) if block.at_once else [await talk for talk in talks]
    wall_seconds = time.monotonic() - began_at
    await asyncio.sleep(_SETTLING_SECONDS)
    latencies = [seconds for result in results for seconds in result]
    return Measured(
        turns=len(latencies),
        failures=latencies.count(None),
        cpu_seconds=time.process_time() - cpu_seconds,
        wall_seconds=wall_seconds,
        latencies_seconds=tuple(seconds for seconds in latencies if seconds is not None),
        memory_bytes=usage(os.getpid()).resident_bytes,
    )


async def _talk(ask: Ask, conversation: str, turns: int) -> list[float | None]:
    return [await _turn(ask, conversation) for _ in range(turns)]


async def _turn(ask: Ask, conversation: str) -> float | None:
    number = next(_NUMBERS)
    question = f"What is {number} * 37? I need the exact figure for the treasurer's report, please."
    began_at = time.monotonic()
    async with asyncio.timeout(_TURN_SECONDS):
        answer = await ask(conversation, question)
    seconds = time.monotonic() - began_at
    return seconds if str(number * 37) in answer else None
