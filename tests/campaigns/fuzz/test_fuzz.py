"""Short rounds of every target, and that the fuzzing itself sees what it is to see."""

import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from bot.events import ChatId, Envelope, Event, Incoming, PersonId
from bot.signal.envelope import FrameReader
from tests.bot.signal.bridges import OWN_ACCOUNT
from tests.campaigns.fuzz import calculator, models, oracle
from tests.campaigns.fuzz.__main__ import TARGETS, main
from tests.campaigns.fuzz.rounds import Round, Violation
from tests.servers.envelopes import ALDIS, ALICE, BOB, GROUP, message

SEED = 20_261_121


def short(target: str, count: int) -> Round:
    return Round(target=target, count=count, seed=SEED)


MUST_HAPPEN: dict[str, tuple[int, set[str]]] = {
    "calculator": (1_000, {"calculated", "refused with a sentence", "no arguments"}),
    "envelopes": (2_000, {"Incoming", "Edited", "Deleted", "Reacted", "Receipt", "nothing", "no envelope"}),
    "envelopes through the intake": (
        500,
        {f"kept: {kind}" for kind in ("message", "edit", "delete", "reaction")},
    ),
    **{f"models ({kind})": (150, {"Unavailable", "end", "tools", "length", "refusal"}) for kind in models.KINDS},
}
"""How many examples of each target are short, and what comes of some of them: else the round shows little."""


@pytest.mark.parametrize("target", TARGETS)
async def test_a_short_round(target: str, tmp_path: Path) -> None:
    """Nothing that must hold is broken, whatever comes, and examples get as far as they should."""
    count, outcomes = MUST_HAPPEN[target]
    round_ = short(target, count)
    await TARGETS[target][1](round_, tmp_path)
    assert outcomes <= set(round_.outcomes)


def test_an_example_is_the_same_alone() -> None:
    """What a failure names can be made again, whatever ran before it."""
    together = [calculator.expression_of(random) for random in short("calculator", 20).randoms()]
    alone = Round(target="calculator", count=1, seed=SEED, first=13)
    assert [calculator.expression_of(random) for random in alone.randoms()] == [together[13]]
    assert [calculator.expression_of(random) for random in Round(target="calculator", count=20).randoms()] != together


def test_a_violation_names_its_example() -> None:
    """The target, the seed, the number and the input."""
    round_ = short("calculator", 3)
    [_, *_] = round_.randoms()
    expected = rf"calculator: example 2 of seed {SEED}: '1\+1'\n[^$]*it is three"
    with pytest.raises(Violation, match=expected), round_.trying("1+1"):
        raise ValueError("it is three")


def test_the_command_runs_one_target_and_tells_its_figures(capsys: pytest.CaptureFixture[str]) -> None:
    """Count, seed, time, memory, outcomes and the slowest."""
    assert main(["calculator", "--count", "30", "--seed", "7"]) == 0
    told = capsys.readouterr().out
    assert told.startswith("calculator: 30 examples of seed 7, no violation, ")
    assert "slowest: " in told


def forged() -> Iterator[tuple[str, Envelope, Event | None]]:
    """Readings of a frame that are wrong, each in another way."""
    reader = FrameReader(OWN_ACCOUNT, "Aldis")
    direct, group = (json.dumps(message("Rosebud", group=place)) for place in (None, GROUP))
    said = reader.envelope(direct)
    grouped = reader.envelope(group)
    assert said is not None
    assert grouped is not None
    event = reader.event(said)
    assert isinstance(event, Incoming)
    yield direct, replace(said, author=PersonId(BOB.uuid)), None
    yield direct, replace(said, author=None), None
    yield direct, replace(said, chat=ChatId(BOB.chat)), None
    yield direct, replace(said, chat=ChatId(f"group:{GROUP}")), None
    yield direct, replace(said, number=BOB.number), None
    yield direct, replace(said, raw=group), None
    yield direct, replace(said, from_self=True), None
    yield direct, said, replace(event, author=PersonId(BOB.uuid))
    yield direct, said, replace(event, chat=ChatId(BOB.chat))
    yield direct, said, replace(event, text="Xanadu")
    yield group, replace(grouped, chat=ChatId(ALICE.chat)), replace(event, sent_at=grouped.sent_at)
    yield direct.replace(ALICE.uuid, ALDIS.uuid), replace(said, author=PersonId(ALDIS.uuid)), None


def test_the_oracle_sees() -> None:
    """A reading as another person's, or in another place, or with other words, is found out."""
    for raw, envelope, event in forged():
        with pytest.raises(AssertionError):
            oracle.judge(raw, envelope, event)
