"""The benchmark itself: it runs to its end and writes what it measured. What it measured is not looked at."""

import json
from pathlib import Path

import pytest

from tests.campaigns.bench import bill
from tests.campaigns.bench.__main__ import report
from tests.campaigns.bench.runs import Size

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
)


def test_a_run_prints_its_table_and_writes_its_json(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Every figure has a value, with the machine beside it, and the table shows them."""
    report(TINY, tmp_path, tmp_path / "bench.json")
    written = json.loads((tmp_path / "bench.json").read_text("utf-8"))
    names = [figure["name"] for figure in written["figures"]]
    assert {"CPU per turn, Aldis to hand-written, openai", "start to first answer, offline"} <= {*names}
    asked_of_linux = ("resident memory", "CPU of a start")
    assert all(
        figure["value"] is not None or figure["name"].startswith(asked_of_linux) for figure in written["figures"]
    )
    assert {"cpu", "cores", "python", "date"} <= written["machine"].keys()
    printed = capsys.readouterr().out
    assert all(name in printed for name in names)


@pytest.mark.parametrize("wire", bill.WIRES)
async def test_the_bill_stays_small_where_people_pause(wire: bill.Wire) -> None:
    """Fifty turns, ten minutes between them: at most 18 % of what sending everything anew would cost."""
    assert await bill.percent(wire, people=1, rhythm="10 min") <= bill.MAX_PERCENT
