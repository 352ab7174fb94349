"""A short round of the soak, and the audit over rounds that went wrong; `python -m tests.campaigns.soak` plays long
ones.
"""

import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from bot.i18n import phrases
from tests.campaigns.chaos.crowd import Chat, Crowd
from tests.campaigns.soak.__main__ import report
from tests.campaigns.soak.audit import audit
from tests.campaigns.soak.beats import Beats, read_beats
from tests.campaigns.soak.letters import Letter, Phase, named
from tests.campaigns.soak.model import Thought
from tests.campaigns.soak.phones import Out
from tests.campaigns.soak.process_stats import PROC, Files, ProcessStats
from tests.campaigns.soak.record import Idle, Record, Size
from tests.campaigns.soak.rounds import played
from tests.flows.processes import REPOSITORY
from tests.servers.signal_server import Sent
from tests.waiting import WAIT_SECONDS

SHORT = Size(
    seed=1,
    conversations=40,
    seconds=4,
    pause_seconds=6,
    model_seconds=(0.1, 0.5),
    turn_timeout_seconds=10,
    patience_seconds=WAIT_SECONDS,
)
"""How quick a machine is may not matter here: only the stubborn conversation comes to the end of a turn's time."""


async def test_a_short_round(tmp_path: Path) -> None:
    """Forty conversations, one of them stubborn: every property that so short a round can tell holds."""
    record = await played(SHORT, tmp_path)
    found = audit(record)
    assert not found.broken, report(record, found, 0)
    looked_at = {finding.property for finding in found.findings}
    assert {"messages answered once and in their order", "turns brought to their end"} <= looked_at
    assert "turns of the stubborn conversation that took too long and said so" in looked_at
    assert (
        not PROC.exists()
        or {f"{what} held at the end" for what in ("file descriptors", "threads", "asyncio tasks")} <= looked_at
    )


# The audit over rounds as they might have gone.

SIZE = Size(seed=1, conversations=3, seconds=120)
STUBBORN, ALICE, BOB = Crowd.drawn(1, people=3, groups=0, strangers=0).listed
_TURNS = 40


def _round() -> Record:
    """Three conversations with forty turns each, one a second; each takes the model half a second and Aldis a tenth.

    In the second half the model is silent for every question of the stubborn one.
    """
    turns = [turn for chat in (STUBBORN, ALICE, BOB) for turn in _turns(chat)]
    letters, thoughts, outs = zip(*turns, strict=True)
    idle = Idle(descriptors=14, threads=3, tasks=20)
    return Record(
        size=SIZE,
        chats=(STUBBORN, ALICE, BOB),
        stubborn=STUBBORN.id,
        letters=letters,
        outs=outs,
        thoughts=thoughts,
        read_seconds={},
        refusals=(),
        stats=_stats(lambda second: 100_000_000),
        files=(Files(database_bytes=4096, log_bytes=0),),
        before=idle,
        after=idle,
        page_seconds=(),
        lag_seconds=(),
        beats=Beats(),
        rested=True,
        was_stopped=False,
        status=0,
        log="",
    )


def _turns(chat: Chat) -> Iterator[tuple[Letter, Thought, Out]]:
    for number in range(1, _TURNS + 1):
        phase: Phase = "alone" if number <= _TURNS // 2 else "beside"
        was_left = chat is STUBBORN and phase == "beside"
        text = (
            phrases.TOOK_TOO_LONG.text if was_left else f"On {chat.canary}: to {named((number,))} I say that it grows."
        )
        yield (
            Letter(chat=chat.id, number=number, phase=phase, sent_at=number, delivered_seconds=number),
            Thought(
                canary=chat.canary,
                numbers=(number,),
                began_seconds=number + 0.05,
                ended_seconds=number + 0.55,
                was_left=was_left,
            ),
            _out(chat, number, text, number + 0.6),
        )


def _out(chat: Chat, at: int, text: str, at_seconds: float) -> Out:
    sent = Sent(
        text=text,
        recipient=chat.members[0].uuid,
        group=None,
        styles=(),
        quote_timestamp=None,
        quote_author=None,
        quote_text=None,
        timestamp=at,
    )
    return Out(sent=sent, at_seconds=at_seconds)


def _stats(resident_bytes: Callable[[int], int]) -> tuple[ProcessStats, ...]:
    return tuple(
        ProcessStats(
            at_seconds=second,
            resident_bytes=resident_bytes(second),
            threads=3,
            descriptors=14,
            cpu_seconds=second / 10,
        )
        for second in range(100)
    )


def _place(record: Record, chat: Chat, number: int) -> int:
    """Where the answer to this letter stands."""
    return next(
        place for place, out in enumerate(record.outs) if (out.sent.chat, out.sent.timestamp) == (chat.id, number)
    )


def _swapped(record: Record) -> Record:
    outs, place = list(record.outs), _place(record, ALICE, 7)
    outs[place], outs[place + 1] = outs[place + 1], outs[place]
    return replace(record, outs=tuple(outs))


def _without_one(record: Record) -> Record:
    place = _place(record, BOB, 30)
    return replace(record, outs=(*record.outs[:place], *record.outs[place + 1 :]))


def _with_one_twice(record: Record) -> Record:
    place = _place(record, BOB, 30)
    return replace(record, outs=(*record.outs[:place], record.outs[place], *record.outs[place:]))


def _in_the_wrong_chat(record: Record) -> Record:
    outs, place = list(record.outs), _place(record, BOB, 30)
    outs[place] = _out(ALICE, 30, outs[place].sent.text, outs[place].at_seconds)
    return replace(record, outs=tuple(outs))


def _with_a_notice(record: Record) -> Record:
    outs, place = list(record.outs), _place(record, ALICE, 7)
    outs[place] = _out(ALICE, 7, phrases.TOOK_TOO_LONG.text, outs[place].at_seconds)
    return replace(record, outs=tuple(outs))


def _without_a_notice(record: Record) -> Record:
    place = _place(record, STUBBORN, _TURNS)
    return replace(record, outs=(*record.outs[:place], *record.outs[place + 1 :]))


def _late(record: Record, seconds: Callable[[int], float]) -> Record:
    """Answers that come later than they could, by so much for each letter's number."""
    outs = (
        replace(out, at_seconds=out.at_seconds + (0 if out.sent.chat == STUBBORN.id else seconds(out.sent.timestamp)))
        for out in record.outs
    )
    return replace(record, outs=tuple(outs))


def _holding(record: Record, **more: int) -> Record:
    assert record.after is not None
    return replace(record, after=replace(record.after, **more))


WRONG: dict[str, tuple[Callable[[Record], Record], str]] = {
    "two answers change places": (_swapped, "in their order"),
    "one is lost": (_without_one, "in their order"),
    "one comes twice": (_with_one_twice, "in their order"),
    "one goes to somebody else": (_in_the_wrong_chat, "in their order"),
    "another than the stubborn hears a notice": (_with_a_notice, "in their order"),
    "the stubborn does not hear of a turn": (_without_a_notice, "took too long and said so"),
    "one message waits for ever": (lambda record: _late(record, lambda n: 40.0 * (n == 9)), "of their model"),
    "delays grow": (lambda record: _late(record, lambda n: n % 20), "late than early (alone)"),
    "delays grow beside it": (lambda record: _late(record, lambda n: max(0, n - 20)), "late than early (beside)"),
    "all wait for the stubborn": (lambda record: _late(record, lambda n: 7.0 * (n > 20)), "by the stubborn"),
    "some wait for the stubborn": (
        lambda record: _late(record, lambda n: 9.0 * (n > 20 and n % 5 == 0)),
        "by the stub",
    ),
    "memory grows": (
        lambda record: replace(record, stats=_stats(lambda second: 100_000_000 + 200_000 * second)),
        "the memory",
    ),
    "files stay open": (lambda record: _holding(record, descriptors=20), "file descriptors"),
    "a thread stays": (lambda record: _holding(record, threads=4), "threads"),
    "a task stays": (lambda record: _holding(record, tasks=21), "asyncio tasks"),
    "it does not come to rest": (lambda record: replace(record, rested=False), "their end"),
    "it ends badly": (lambda record: replace(record, status=1), "their end"),
    "a request is refused": (lambda record: replace(record, refusals=("no",)), "their end"),
}


def test_a_round_in_which_all_went_well() -> None:
    """Every property is looked at, and holds."""
    found = audit(_round())
    assert found.skipped == ()
    assert found.broken == 0, found.findings


@pytest.mark.parametrize(("spoiled", "words"), WRONG.values(), ids=WRONG.keys())
def test_what_goes_wrong_is_found(spoiled: Callable[[Record], Record], words: str) -> None:
    """Each kind of trouble breaks the property that is about it, and the report says so."""
    record = spoiled(_round())
    found = audit(record)
    assert any(words in finding.property and finding.violations for finding in found.findings), found.findings
    assert "BROKEN" in report(record, found, 1.0)


def test_where_the_kernel_tells_nothing() -> None:
    """Without /proc the resources are skipped aloud, and the rest is looked at all the same."""
    nothing = Idle(descriptors=None, threads=None, tasks=None)
    record = replace(_round(), stats=(), before=nothing, after=nothing)
    found = audit(record)
    assert [words.partition(":")[0] for words in found.skipped] == [
        "memory",
        "file descriptors",
        "threads",
        "asyncio tasks",
    ]
    assert report(record, found, 1.0).count("SKIPPED") == 4
    assert found.broken == 0


def test_a_round_that_was_ended_at_once() -> None:
    """A record with nothing in it is reported as that: there is nothing to find."""
    empty = replace(_round(), letters=(), outs=(), thoughts=(), stats=(), files=(), before=None, after=None)
    record = replace(empty, was_stopped=True)
    found = audit(record)
    assert found.broken == 0
    assert "ended early" in report(record, found, 1.0)


# How the loop turns


def test_a_stall_is_told_with_its_place(tmp_path: Path) -> None:
    """What a process tells of its loop is read again, and what was before the measuring is left out."""
    script = (  # its sleep is the stall: the loop stands still until that has been noticed
        "import asyncio, pathlib, sys, time\n"
        "from tests.campaigns.soak.apart import Watched\n"
        "async def stand_still(file):\n"
        "    while '{' not in pathlib.Path(file).read_text():\n"
        "        await asyncio.sleep(0.01)\n"
        "    while 'stall' not in pathlib.Path(file).read_text():\n"
        "        time.sleep(0.01)\n"
        "asyncio.set_event_loop_policy(Watched(open(sys.argv[1], 'a')))\n"
        "asyncio.run(stand_still(sys.argv[1]))\n"
    )
    file = tmp_path / "beats"
    subprocess.run([sys.executable, "-c", script, str(file)], cwd=REPOSITORY, check=True, timeout=WAIT_SECONDS)
    found = read_beats(file)
    [stall] = found.stalls
    assert "in stand_still" in stall.threads
    [beat, *_] = found.beats
    assert beat.at_seconds < stall.at_seconds
    assert found.since(stall.at_seconds + 1) == Beats()
