"""Short rounds of every target, and that the fuzzing itself sees what it is to see."""

import json
from collections.abc import Awaitable, Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from bot.events import ChatId, Envelope, Event, Incoming, PersonId
from bot.signal.envelope import FrameReader
from tests.bot.signal.bridges import OWN_ACCOUNT
from tests.campaigns.fuzz import calculator, envelopes, models, oracle, streams
from tests.campaigns.fuzz.__main__ import main
from tests.campaigns.fuzz.rounds import Round, Violation
from tests.servers.envelopes import ALDIS, ALICE, BOB, GROUP, message

SEED = 20_261_121


def short(target: str, count: int) -> Round:
    return Round(target=target, count=count, seed=SEED)


async def test_expressions() -> None:
    """Any expression gives a number of bounded size or a sentence, and memory stays where it was."""
    round_ = short("calculator", 1_000)
    await calculator.check(round_)
    assert set(round_.outcomes) == {"calculated", "refused with a sentence", "no arguments"}


def test_frames() -> None:
    """No frame raises, and nothing comes out of it that does not stand in it."""
    round_ = short("envelopes", 2_000)
    envelopes.check(round_)
    assert {"Incoming", "Edited", "Deleted", "Reacted", "Receipt", "nothing", "no envelope"} <= set(round_.outcomes)


@pytest.mark.parametrize("check", [streams.check_signal_cli, streams.check_rest_api], ids=["signal-cli", "rest-api"])
async def test_streams(check: Callable[..., Awaitable[None]]) -> None:
    """No frame ends a stream, holds it up or takes another with it."""
    round_ = short("streams", 500)
    await check(round_)
    assert round_.outcomes["good frames, all heard"] > 10


async def test_intake(tmp_path: Path) -> None:
    """Of strangers nothing is stored; of those who may write, all kinds of events."""
    round_ = short("intake", 500)
    await streams.check_intake(round_, tmp_path)
    kinds = ("message", "edit", "delete", "reaction", "timer")
    assert {f"kept: {kind}" for kind in kinds} <= set(round_.outcomes)


@pytest.mark.parametrize("kind", models.KINDS)
async def test_answers_of_models(kind: str) -> None:
    """An adapter keeps the promises of its seam or raises one of its errors, and the conversation can go on."""
    round_ = short("models", 150)
    await models.check(round_, kind)
    assert {"Unavailable", "end", "tools", "length", "refusal"} <= set(round_.outcomes)


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
    with pytest.raises(Violation, match=rf"calculator: example 2 of seed {SEED}: '1\+1'\n[^$]*it is three"):
        fail(round_)


def fail(round_: Round) -> None:
    with round_.trying("1+1"):
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


@pytest.mark.parametrize("number", range(12))
def test_the_oracle_sees(number: int) -> None:
    """Whoever would read a frame as somebody else's, or in another place, or with other words, is found out."""
    with pytest.raises(AssertionError):
        oracle.judge(*list(forged())[number])


def test_the_oracle_lets_pass_what_is_right() -> None:
    """A frame that is read as it says is no violation."""
    assert envelopes.outcome_of(json.dumps(message("Rosebud"))) == "Incoming"
    assert envelopes.outcome_of('{"envelope": {}}') == "no envelope"
