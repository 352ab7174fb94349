"""The measurements: each function plays something before a double of the model, and returns figures.

The model answers from this process, whose CPU time is not counted; Aldis runs in others.
"""

import asyncio
import json
import statistics
import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from tests.campaigns.bench import bill, upkeep
from tests.campaigns.bench.aldis import variables
from tests.campaigns.bench.blocks import Block, Measured
from tests.campaigns.bench.figures import Figure
from tests.campaigns.bench.model import model
from tests.campaigns.proc import cpu_seconds
from tests.flows.consoles import seated
from tests.flows.processes import environment, started

MAX_START_SECONDS = 2.0
MAX_PROMPT_SECONDS = 0.5
PROMPTED = "\x1b[?2004h"
"""What a terminal reads when a prompt begins to listen (bracketed paste)."""
MAX_GROWTH = 1.25
"""How much slower a late turn may be before one says that it is: machines are not more exact than this."""


@dataclass(frozen=True, kw_only=True)
class Size:
    vendors: tuple[str, ...] = ("anthropic", "openai")
    blocks: int = 10
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
    rhythms: tuple[str, ...] = tuple(bill.RHYTHMS)
    people: tuple[int, ...] = (1, 8)
    bill_turns: int = bill.TURNS
    claims: int = 15
    passages: int = 10_000


def say(text: str) -> None:
    sys.stderr.write(f"{text}\n")
    sys.stderr.flush()


async def measured(vendor: str, folder: Path, blocks: Sequence[Block], subject: str = "subject") -> list[Measured]:
    """What each of these blocks took in one process of Aldis, or of the loop `plain`, with a store of its own."""
    place = folder / f"{subject}-{vendor}"
    place.mkdir(exist_ok=True)
    async with model(vendor) as server:
        process = await asyncio.create_subprocess_exec(
            *(sys.executable, "-m", f"tests.campaigns.bench.{subject}", vendor, server.base_url),
            cwd=place,
            env=environment({}, place),
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
        )
        out, _ = await process.communicate(json.dumps(list(map(asdict, blocks))).encode())
    if process.returncode:
        raise RuntimeError(f"the {subject} ended before it answered; what it said stands above")
    found = [Measured(**one) for one in json.loads(out)]
    for block, one in zip(blocks, found, strict=True):
        if one.failures and not block.at_once:  # the time of a wrong answer says nothing
            raise RuntimeError(f"{one.failures} of {one.turns} answers were wrong")
    return found


async def cpu(vendor: str, folder: Path, size: Size) -> list[Figure]:
    """CPU per turn, a median over the blocks, and what the process holds after the last; below it the floor of both."""
    say(f"{vendor}: {size.blocks} blocks of {size.block_turns} turns, and as many of the hand-written loop")
    warm_up = Block(conversations=("cpu",), turns_each=size.warm_up_turns)
    blocks = [warm_up, *[Block(conversations=("cpu",), turns_each=size.block_turns)] * size.blocks]
    figures: list[Figure] = []
    for subject, name in (("subject", vendor), ("plain", f"hand-written loop, {vendor}")):
        _, *found = await measured(vendor, folder, blocks, subject)
        spent = statistics.median(1000 * one.cpu_seconds / one.turns for one in found)
        figures += [
            Figure(name=f"CPU per turn, {name}", value=spent, unit="ms"),
            Figure(name=f"resident memory, {name}", value=found[-1].memory_bytes / 2**20, unit="MB"),
        ]
    return figures


async def growth(vendor: str, folder: Path, size: Size) -> list[Figure]:
    """The latency of turns early and late in conversations, measured in turn so that the machine's moods cancel out."""
    say(f"latency at the turns {', '.join(map(str, size.depths))} of a conversation")
    early = max(1, size.around // 2)
    before = [
        Block(conversations=(f"depth {depth}",), turns_each=depth - early) for depth in size.depths if depth > early
    ]
    around = [Block(conversations=(f"depth {depth}",), turns_each=1) for depth in size.depths]
    found = (await measured(vendor, folder, [*before, *around * size.around]))[len(before) :]
    medians = {
        depth: 1000 * statistics.median(one.latencies_seconds[0] for one in found[place :: len(around)])
        for place, depth in enumerate(size.depths)
    }
    first, last = size.depths[0], size.depths[-1]
    return [
        *(Figure(name=f"latency around turn {depth}", value=median, unit="ms") for depth, median in medians.items()),
        Figure(name=f"latency, turn {last} to turn {first}", value=medians[last] / medians[first], most=MAX_GROWTH),
    ]


async def side_by_side(vendor: str, folder: Path, size: Size) -> list[Figure]:
    """Many new conversations at once, against as many new ones one after the other, in turn; medians of the rounds."""
    say(f"{size.crowds} times {size.conversations} conversations: one after the other, then all at once")
    talks = [
        Block(
            conversations=tuple(f"{number} {at_once} {person}" for person in range(size.conversations)),
            turns_each=size.turns_each,
            at_once=at_once,
        )
        for number in range(size.crowds)
        for at_once in (False, True)
    ]
    found = await measured(vendor, folder, talks)
    alone, crowds = found[::2], found[1::2]
    pairs, failures = zip(alone, crowds, strict=True), sum(crowd.failures for crowd in crowds)
    ratio = statistics.median(crowd.turns_per_second / one.turns_per_second for one, crowd in pairs)
    return [
        Figure(name=f"failures with {size.conversations} conversations at once", value=failures, most=0),
        Figure(name="throughput, one conversation at a time", value=_turns_per_second(alone), unit="turns/s"),
        Figure(name=f"throughput, {size.conversations} at once", value=_turns_per_second(crowds), unit="turns/s"),
        Figure(name="throughput, at once to one at a time", value=ratio, least=1.0),
    ]


def _turns_per_second(found: Sequence[Measured]) -> float:
    return statistics.median(one.turns_per_second for one in found)


async def start(vendor: str, folder: Path, size: Size) -> list[Figure]:
    """From the command to the prompt and to the first answer; the start that makes the store is not counted."""
    say(f"{size.starts} starts with {vendor}")
    place = folder / f"start-{vendor}"
    place.mkdir()
    async with model(vendor) as server:
        settings = variables(vendor, server.base_url)
        answers = [await _start_seconds(place, settings) for _ in range(1 + size.starts)]
        prompt = statistics.median([await _prompt_seconds(place, settings) for _ in range(size.starts)])
    took, spent = (statistics.median(column) for column in zip(*answers[1:], strict=True))
    return [
        Figure(name=f"start to the prompt of chat, {vendor}", value=prompt, unit="s", most=MAX_PROMPT_SECONDS),
        Figure(name=f"start to first answer, {vendor}", value=took, unit="s", most=MAX_START_SECONDS),
        Figure(name=f"CPU of a start to its first answer, {vendor}", value=spent, unit="s"),
    ]


async def _start_seconds(folder: Path, settings: Mapping[str, str]) -> tuple[float, float]:
    began_at = time.monotonic()
    async with started("chat", "--once", "hi", settings=settings, folder=folder, is_warm=False) as console:
        await console.out.until("\n")
        return time.monotonic() - began_at, cpu_seconds(console.process_id)


async def _prompt_seconds(folder: Path, settings: Mapping[str, str]) -> float:
    began_at = time.monotonic()
    async with seated("chat", settings=settings, folder=folder) as console:
        await console.out.until(PROMPTED)
        return time.monotonic() - began_at


async def bills(size: Size) -> list[Figure]:
    """What is paid of what sending everything anew would cost, for each wire, number of people and rhythm; and talk."""
    say(f"the bill of {size.bill_turns} turns, {len(size.rhythms)} rhythms on {len(bill.WIRES)} wires")
    talk = [
        Figure(name=f"talk with tools to talk without, {wire}", value=await bill.times(wire), most=bill.MAX_TIMES)
        for wire in bill.WIRES
    ]
    return talk + [
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
