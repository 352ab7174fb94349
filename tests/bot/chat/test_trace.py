"""The way of one message: what it tells at each stage, and what it never tells."""

import asyncio
import re
from datetime import timedelta

import pytest

from bot.chat.trace import trace_text
from bot.clock import SetClock
from bot.errors import CallRefused
from store import Store
from tests.bot.chat.turn_helpers import Echo, calls, says
from tests.bot.loops.app_harness import FIRST, Harness, app_harness
from tests.servers.envelopes import ALICE, message, reaction

WORDS = "the secret garden"


async def ask_once(aldis: Harness) -> None:
    aldis.model.script += [calls(("look", {"word": WORDS})), says(f"It is {WORDS}.")]
    await aldis.deliver(message(f"Where is {WORDS}?"))
    await aldis.answered(1)
    await aldis.quiet()


def heads(text: str) -> list[str]:
    """What stands first on each line."""
    return [line.split()[0] for line in text.splitlines()]


async def test_a_turn_that_is_over_is_told_from_its_arrival_to_what_was_said(store: Store, clock: SetClock) -> None:
    """By the ledger: two calls of the model and one of a tool, with their costs, and the sum."""
    async with app_harness(store, clock, tools=(Echo(name="look"),)) as aldis:
        await ask_once(aldis)
        told = await trace_text(store, 1)
    assert heads(told) == ["turn", "arrived", "began", "model", "tool", "model", "ended", "said", "cost"]
    assert told.startswith("turn 1, kept: conversation 1 of signal\n")
    assert "2026-11-21 12:00:00.000 UTC" in told
    assert re.search(r"^tool      look: ok, \d+\.\d\d s, 0\.\d+ USD$", told, re.MULTILINE)
    assert re.search(r"^said      answer: sent, 1 try, ", told, re.MULTILINE)
    assert re.search(r"^cost      3 calls, \d+ tokens in, \d+ out, 0\.\d+ USD$", told, re.MULTILINE)


async def test_a_command_is_called_one(store: Store, clock: SetClock) -> None:
    """It was answered, although nothing of it is kept: it was not ignored."""
    async with app_harness(store, clock) as aldis:
        await aldis.deliver(message("/help"))
        await aldis.answered(1)
        await aldis.quiet()
        assert "  command  " in await trace_text(store, None)
        assert (await trace_text(store, 1)).startswith("turn 1, command: ")


async def test_no_words_and_nobody_is_told(store: Store, clock: SetClock) -> None:
    """Neither what was asked, nor what a tool was called with and gave, nor who."""
    async with app_harness(store, clock, tools=(Echo(name="look"),)) as aldis:
        await ask_once(aldis)
        told = await trace_text(store, 1) + await trace_text(store, None)
    for secret in (*WORDS.split()[1:], ALICE.uuid, str(ALICE.number), str(ALICE.name)):
        assert secret not in told


async def test_a_turn_that_runs_is_told_by_its_journal(store: Store, clock: SetClock) -> None:
    """What is finished stands there, with what it has cost so far."""
    gate = asyncio.Event()
    gate.set()  # until the tool has looked
    async with app_harness(store, clock, tools=(Echo(name="look", work=lambda _: gate.clear()),)) as aldis:
        aldis.model.gates["garden"] = gate
        aldis.model.script += [calls(("look", {"word": WORDS})), says("There.")]
        await aldis.deliver(message(f"Where is {WORDS}?"))
        await aldis.asked(2)
        told = await trace_text(store, 1)
        gate.set()
        await aldis.answered(1)
        await aldis.quiet()
    assert told.startswith("turn 1, running: ")
    assert heads(told)[:3] == ["turn", "arrived", "began"]
    assert {"asked", "model", "tool"} <= set(heads(told))
    assert "3 calls" in told.splitlines()[-1]
    assert "garden" not in told


async def test_a_turn_that_waits_for_a_yes_says_until_when(store: Store, clock: SetClock) -> None:
    """And then what was decided."""
    async with app_harness(store, clock, tools=(Echo(name="look"), Echo(name="post", effects="once"))) as aldis:
        aldis.model.script += [
            calls(("look", {"word": "page"})),
            calls(("post", {"word": WORDS})),
            says("As you like."),
        ]
        await aldis.deliver(message("Aldis, read the page."))
        await aldis.answered(1)
        told = await trace_text(store, 1)
        assert "paused    1 call waits for a yes until 2026-11-21 12:10:00.000 UTC" in told
        assert "garden" not in told
        await aldis.deliver(reaction("👎", FIRST + 1))
        await aldis.answered(2)
        await aldis.quiet()


async def test_the_newest_turns_are_listed_first(store: Store, clock: SetClock) -> None:
    """One line each, and a sentence where there is none."""
    assert await trace_text(store, None) == "no turn is kept"
    async with app_harness(store, clock) as aldis:
        for count in (1, 2):
            await aldis.deliver(message(f"question {count}"))
            await aldis.answered(count)
            await aldis.quiet()
        listed = await trace_text(store, None)
    assert heads(listed) == ["2", "1"]


@pytest.mark.parametrize("turn", [0, 2, 999_999_999_999_999_999])
async def test_a_turn_that_never_was_is_named(turn: int, store: Store, clock: SetClock) -> None:
    """With the way to those that are."""
    async with app_harness(store, clock) as aldis:
        await aldis.deliver(message("hello"))
        await aldis.answered(1)
        await aldis.quiet()
    with pytest.raises(CallRefused, match=f"turn {turn}: there is none yet; `aldis trace` lists"):
        await trace_text(store, turn)


async def test_of_a_turn_that_was_forgotten_only_what_was_sent_is_told(store: Store, clock: SetClock) -> None:
    """Its calls are nobody's any more. Once its row is gone, too, that is said: it was there once."""
    async with app_harness(store, clock) as aldis:
        await aldis.deliver(message("hello"))
        await aldis.answered(1)
        await aldis.quiet()
        await aldis.deliver(message("/forget yes"))
        await aldis.answered(2)
        await aldis.quiet()
    told = await trace_text(store, 1)
    assert heads(told) == ["turn", "arrived", "began", "ended", "said", "cost"]
    assert "0 calls" in told
    await store.transaction(lambda repos: repos.traces.execute("DELETE FROM turns WHERE id = 1"))
    with pytest.raises(CallRefused, match="turn 1: nothing of it is kept any more"):
        await trace_text(store, 1)


async def test_what_was_settled_long_ago_leaves_what_the_ledger_keeps(store: Store, clock: SetClock) -> None:
    """Messages and replies are pruned; times and costs stay."""
    async with app_harness(store, clock, tools=(Echo(name="look"),)) as aldis:
        await ask_once(aldis)
    later = clock.now() + timedelta(days=400)
    await store.transaction(lambda repos: (repos.inbox.prune(before=later), repos.outbox.prune(before=later)))
    told = await trace_text(store, 1)
    assert "its messages are no longer kept" in told
    assert "what was said is no longer kept" in told
    assert "3 calls" in told
