"""What was worked at when a process died is known to the next one, and nothing else is."""

from dataclasses import replace
from decimal import Decimal
from pathlib import Path

import pytest

from store import working
from store.working import OpenCall, Working


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "aldis.db-working"


def test_what_is_begun_and_not_ended_is_left(file: Path) -> None:
    """In whatever order; a number that is begun twice is one."""
    died = Working(file)
    for number in (7, -3, 9, 7):
        died.begin(number)
    died.end(9)
    died.begin(11)
    died.end(-3)
    died.end(-3)
    assert Working(file).left == {7, 11}


def test_paid_calls_that_are_not_recorded_are_left(file: Path) -> None:
    """With what is known of their costs, however little, and whatever a model is called; the work beside them is kept
    until it is recorded itself.
    """
    died = Working(file)
    died.begin(7)
    long = OpenCall(
        turn=7,
        kind="model",
        person=b"p" * 16,
        group=b"g" * 16,
        provider="mödel",
        name="mödel" * 30,
        step="completion 0",
        cost_usd=Decimal("0.002"),
    )
    search = replace(long, turn=9, kind="tool", group=b"", provider="", name="web_search", cost_usd=Decimal("1e-15"))
    recorded = died.open_call(replace(long, turn=8))
    place = died.open_call(long)
    died.close_call(recorded)
    died.open_call(search)
    died.update_call(place, replace(long, cost_usd=Decimal("0.012")))
    found = {call.turn: call for call in Working(file).unpaid}
    assert found[7] == replace(long, name=found[7].name, cost_usd=Decimal("0.012"))
    assert long.name.startswith(found[7].name)
    assert found[9] == replace(search, cost_usd=Decimal("1e-9"))
    assert found.keys() == {7, 9}
    again = Working(file)
    again.settle_calls()
    after = Working(file)
    assert (after.left, after.unpaid) == ({7}, ())
    after.settle()
    assert Working(file).left == frozenset()


def test_a_process_that_ends_leaves_nothing(file: Path) -> None:
    """And one that dies before it has written down what the one before left does not lose it."""
    died = Working(file)
    died.begin(7)
    assert Working(file).left == {7}
    again = Working(file)
    assert again.left == {7}
    again.begin(8)
    again.settle()
    assert Working(file).left == {8}
    again.close()
    assert Working(file).left == frozenset()


def test_after_a_restart_of_the_machine_nobody_is_to_blame(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The power may have gone."""
    died = Working(file)
    died.begin(7)
    monkeypatch.setattr(working, "_BOOT", file.with_name("none"))
    assert Working(file).left == frozenset()


def test_a_file_that_is_cut_off_is_read_as_far_as_it_goes(file: Path) -> None:
    """Half a number is none."""
    died = Working(file)
    died.begin(7)
    died.begin(8)
    file.write_bytes(file.read_bytes()[:-3])
    assert Working(file).left == {7}
    file.write_bytes(b"no such thing")
    assert Working(file).left == frozenset()
