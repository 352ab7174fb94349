"""The benchmark itself: it runs to its end and prints what it measured. What it measured is not looked at."""

import re
from pathlib import Path

import pytest

from tests.campaigns.bench import bill
from tests.campaigns.bench.__main__ import report
from tests.campaigns.bench.runs import Size
from tests.campaigns.proc import PROC

TINY = Size(
    vendors=("openai",),
    blocks=1,
    block_turns=2,
    warm_up_turns=1,
    depths=(1, 3),
    around=2,
    conversations=3,
    turns_each=1,
    crowds=1,
    started_with=("offline",),
    starts=1,
    rhythms=("10 min",),
    people=(2,),
    bill_turns=3,
    messages=20,
    claims=1,
    passages=20,
)


@pytest.mark.skipif(not PROC.exists(), reason="this system has no /proc")
def test_a_run_prints_its_table(tmp_path: Path) -> None:
    """Every figure has its row with a value, and the machine stands below."""
    printed = report(TINY, tmp_path)
    for name in (
        "CPU per turn, openai",
        "evidence on a claim",
        "recall in 20 passages",
        "resident memory, openai",
        "CPU per turn, hand-written loop, openai",
        "latency, turn 3 to turn 1",
        "throughput, 3 at once",
        "longest wait beside it (backup)",
        "talk with tools to talk without, anthropic",
        "bill, anthropic, 2 people, every 10 min",
        "start to the prompt of chat, offline",
        "start to first answer, offline",
        "CPU of a start to its first answer, offline",
    ):
        assert re.search(rf"^{re.escape(name)} +[0-9.]+", printed, re.MULTILINE), name
    assert re.search(r" cores, Python 3\.", printed)


@pytest.mark.parametrize("wire", bill.WIRES)
async def test_the_bill_stays_small_where_people_pause(wire: bill.Wire) -> None:
    """Fifty turns, ten minutes between them: at most 21 % of what sending everything anew would cost."""
    assert await bill.percent(wire, people=1, rhythm="10 min") <= bill.MAX_PERCENT


@pytest.mark.parametrize("wire", bill.WIRES)
async def test_to_have_tools_costs_little_where_none_is_used(wire: bill.Wire) -> None:
    """Ten turns of talk: at most 1.3 times what they cost without tools."""
    assert await bill.times(wire) <= bill.MAX_TIMES
