"""The measurements: each function takes running processes and returns figures. A `Size` sets the amount."""

import statistics
import sys
import time
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

from tests.campaigns.bench import bill, upkeep
from tests.campaigns.bench.aldis import variables
from tests.campaigns.bench.blocks import Block, Measured
from tests.campaigns.bench.children import Child, started
from tests.campaigns.bench.figures import Figure
from tests.flows.consoles import seated

MAX_CPU_RATIO = {"anthropic": 1.0, "openai": 0.5}
MAX_START_SECONDS = 2.0
MAX_PROMPT_SECONDS = 0.5
MAX_MEMORY_RATIO = 1.15
PROMPTED = "\x1b[?2004h"
"""What a terminal is told when a prompt begins to listen (bracketed paste)."""
MAX_GROWTH = 1.25
"""How much slower a late turn may be before one says that it is: machines are not more exact than this."""


@dataclass(frozen=True, kw_only=True)
class Size:
    """How much is measured."""

    vendors: tuple[str, ...] = ("anthropic", "openai")
    blocks: int = 10
    """Of each of the two that are compared, in turn."""
    block_turns: int = 40
    warm_up_turns: int = 25
    """Beyond the window, so that each question carries twenty turns."""
    depths: tuple[int, ...] = (10, 100, 1000)
    around: int = 20
    """How many turns around each depth are measured, in turn with the others."""
    conversations: int = 50
    turns_each: int = 3
    crowds: int = 3
    started_with: tuple[str, ...] = ("offline", "anthropic")
    starts: int = 5
    messages: int = upkeep.MESSAGES
    """In the store whose longest steps are measured."""
    rhythms: tuple[str, ...] = tuple(bill.RHYTHMS)
    people: tuple[int, ...] = (1, 8)
    bill_turns: int = bill.TURNS


@dataclass(frozen=True, kw_only=True)
class Pair:
    """Aldis and the hand-written loop, before the same model."""

    vendor: str
    aldis: Child
    plain: Child


def say(text: str) -> None:
    sys.stderr.write(f"{text}\n")
    sys.stderr.flush()


@asynccontextmanager
async def opened(vendor: str, folder: Path) -> AsyncGenerator[Pair]:
    """Both subjects and their model, each in a process and a folder of its own."""
    folders = [folder / vendor / name for name in ("model", "aldis", "plain")]
    for each in folders:
        each.mkdir(parents=True)
    async with started("tests.campaigns.bench.double", vendor, folder=folders[0]) as double:
        address = await double.told()
        async with (
            started("tests.campaigns.bench.installed", vendor, address, folder=folders[1]) as aldis,
            started("tests.campaigns.bench.plain", vendor, address, folder=folders[2]) as plain,
        ):
            for child in (aldis, plain):
                await child.told()
            yield Pair(vendor=vendor, aldis=aldis, plain=plain)


async def cpu(pair: Pair, size: Size) -> list[Figure]:
    """CPU per turn of both in alternating blocks, and what one makes of the other: medians over the blocks."""
    say(f"{pair.vendor}: {size.blocks} blocks of {size.block_turns} turns, Aldis and the hand-written loop in turn")
    warm_up = Block(conversations=("cpu",), turns_each=size.warm_up_turns)
    for child in (pair.aldis, pair.plain):
        await _right(child, warm_up)
    block = Block(conversations=("cpu",), turns_each=size.block_turns)
    measured = [(await _right(pair.aldis, block), await _right(pair.plain, block)) for _ in range(size.blocks)]
    ours = statistics.median(aldis.cpu_ms_per_turn for aldis, _ in measured)
    theirs = statistics.median(plain.cpu_ms_per_turn for _, plain in measured)
    ratio = statistics.median(aldis.cpu_ms_per_turn / plain.cpu_ms_per_turn for aldis, plain in measured)
    return [
        Figure(name=f"CPU per turn, Aldis, {pair.vendor}", value=ours, unit="ms"),
        Figure(name=f"CPU per turn, hand-written loop, {pair.vendor}", value=theirs, unit="ms"),
        Figure(
            name=f"CPU per turn, Aldis to hand-written, {pair.vendor}", value=ratio, most=MAX_CPU_RATIO[pair.vendor]
        ),
        *_memory(pair, *measured[-1]),
    ]


async def growth(pair: Pair, size: Size) -> list[Figure]:
    """The latency of turns early and late in conversations, measured in turn so that the machine's moods cancel out."""
    say(f"latency at the turns {', '.join(map(str, size.depths))} of a conversation")
    early = max(1, size.around // 2)
    for depth in size.depths:
        if depth > early:
            await _right(pair.aldis, Block(conversations=(f"depth {depth}",), turns_each=depth - early))
    latencies: dict[int, list[float]] = {depth: [] for depth in size.depths}
    for _ in range(size.around):
        for depth in size.depths:
            measured = await _right(pair.aldis, Block(conversations=(f"depth {depth}",), turns_each=1))
            latencies[depth] += measured.latencies_seconds
    medians = {depth: 1000 * statistics.median(seconds) for depth, seconds in latencies.items()}
    first, last = size.depths[0], size.depths[-1]
    return [
        *(Figure(name=f"latency around turn {depth}", value=median, unit="ms") for depth, median in medians.items()),
        Figure(name=f"latency, turn {last} to turn {first}", value=medians[last] / medians[first], most=MAX_GROWTH),
    ]


async def side_by_side(pair: Pair, size: Size) -> list[Figure]:
    """Many new conversations at once, against as many new ones one after the other, in turn; medians of the rounds."""
    say(f"{size.crowds} times {size.conversations} conversations: one after the other, then all at once")
    rounds = [
        (
            await pair.aldis.measured(_talks(f"alone {number}", size, at_once=False)),
            await pair.aldis.measured(_talks(f"crowd {number}", size, at_once=True)),
        )
        for number in range(size.crowds)
    ]
    failures = sum(crowd.failures for _, crowd in rounds)
    alone = statistics.median(alone.turns_per_second for alone, _ in rounds)
    crowd = statistics.median(crowd.turns_per_second for _, crowd in rounds)
    ratio = statistics.median(crowd.turns_per_second / alone.turns_per_second for alone, crowd in rounds)
    return [
        Figure(name=f"failures with {size.conversations} conversations at once", value=failures, most=0),
        Figure(name="throughput, one conversation at a time", value=alone, unit="turns/s"),
        Figure(name=f"throughput, {size.conversations} at once", value=crowd, unit="turns/s"),
        Figure(name="throughput, at once to one at a time", value=ratio, least=1.0),
    ]


async def start(vendor: str, folder: Path, size: Size) -> list[Figure]:
    """From the command to the prompt and to the first answer, of a process that finds its store there; the first start
    is not counted.
    """
    say(f"{size.starts} starts with {vendor}")
    place = folder / f"start-{vendor}"
    place.mkdir()
    async with started("tests.campaigns.bench.double", vendor, folder=place) as double:
        settings = {**variables(vendor, await double.told()), "STORE__PATH": str(place / "aldis.db")}
        answers = [await _start_seconds(place, settings) for _ in range(1 + size.starts)]
        prompts = [await _prompt_seconds(place, settings) for _ in range(size.starts)]
    cpu_seconds = [seconds for _, seconds in answers[1:]]
    return [
        Figure(
            name=f"start to the prompt of chat, {vendor}",
            value=statistics.median(prompts),
            unit="s",
            most=MAX_PROMPT_SECONDS,
        ),
        Figure(
            name=f"start to first answer, {vendor}",
            value=statistics.median(took for took, _ in answers[1:]),
            unit="s",
            most=MAX_START_SECONDS,
        ),
        Figure(
            name=f"CPU of a start to its first answer, {vendor}",
            value=None if None in cpu_seconds else statistics.median(filter(None, cpu_seconds)),
            unit="s",
        ),
    ]


async def _start_seconds(folder: Path, settings: dict[str, str]) -> tuple[float, float | None]:
    """How long it takes to the first answer, and of how much CPU."""
    began_at = time.monotonic()
    async with started("bot", "chat", "--once", "hi", folder=folder, settings=settings) as child:
        await child.line()
        return time.monotonic() - began_at, child.cpu_seconds()


async def _prompt_seconds(folder: Path, settings: dict[str, str]) -> float:
    began_at = time.monotonic()
    async with seated("chat", settings=settings, folder=folder) as console:
        await console.out.until(PROMPTED)
        return time.monotonic() - began_at


async def store_steps(folder: Path, size: Size) -> list[Figure]:
    """What is done to a large store, and how long others wait meanwhile."""
    say(f"the longest steps of a store with {size.messages} messages")
    place = folder / "upkeep"
    place.mkdir()
    return await upkeep.measured(place, size.messages)


async def bills(size: Size) -> list[Figure]:
    """What is paid of what sending everything anew would cost, for each wire, number of people and rhythm."""
    say(f"the bill of {size.bill_turns} turns, {len(size.rhythms)} rhythms on {len(bill.WIRES)} wires")
    return [
        Figure(
            name=f"bill, {wire}, {'one person' if people == 1 else f'{people} people'}, every {rhythm}",
            value=await bill.percent(wire, people=people, rhythm=rhythm, turns=size.bill_turns),
            unit="%",
            most=bill.MAX_PERCENT,
        )
        for wire in bill.WIRES
        for people in size.people
        for rhythm in size.rhythms
    ]


def _talks(prefix: str, size: Size, *, at_once: bool) -> Block:
    conversations = tuple(f"{prefix} {number}" for number in range(size.conversations))
    return Block(conversations=conversations, turns_each=size.turns_each, at_once=at_once)


def _memory(pair: Pair, aldis: Measured, plain: Measured) -> list[Figure]:
    """What each of both had after its last block, and what one makes of the other."""
    ours, theirs = (None if each.memory_bytes is None else each.memory_bytes / 2**20 for each in (aldis, plain))
    ratio = None if ours is None or theirs is None else ours / theirs
    return [
        Figure(name=f"resident memory, Aldis, {pair.vendor}", value=ours, unit="MB"),
        Figure(name=f"resident memory, hand-written loop, {pair.vendor}", value=theirs, unit="MB"),
        Figure(name=f"resident memory, Aldis to hand-written, {pair.vendor}", value=ratio, most=MAX_MEMORY_RATIO),
    ]


async def _right(child: Child, block: Block) -> Measured:
    """A block in which every answer is right: the time of a wrong one says nothing."""
    measured = await child.measured(block)
    if measured.failures:
        raise RuntimeError(f"{measured.failures} of {measured.turns} answers were wrong")
    return measured
