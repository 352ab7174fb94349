"""Memory: what a person asks to be remembered, told to the model in their own chat only, and gone when it has to be."""

from pathlib import Path
from typing import Any

import pytest

from bot.clock import SetClock
from bot.features import memory
from bot.features.memory import MAX_FACTS, Remember, RememberArguments
from bot.features.predictions import prediction_tools
from store import Store
from tests.bot.chat.test_edits import on_disk
from tests.bot.chat.turn_helpers import calls, contents, says
from tests.bot.commands.test_commands import ask, plain
from tests.bot.loops.app_harness import Harness, app_harness
from tests.servers.envelopes import BOB, GROUP, delete, edit, message
from tools import BadArguments, ToolContext

FACT = "is vegetarian"


def remember(fact: str = FACT) -> Any:
    return calls(("remember", {"action": "remember", "fact": fact}))


async def learn(aldis: Harness, fact: str = FACT, **more: Any) -> None:
    aldis.model.script = [remember(fact), says("I will.")]
    assert await ask(aldis, f"remember that I am so: {fact}", **more) == "I will."


def seen(aldis: Harness) -> str:
    return repr(aldis.model.requests[-1].messages)


async def test_a_fact_is_known_in_later_questions(store: Store, clock: SetClock) -> None:
    """In front of the first message, also when its turn is out of the window; the system prompt stays the same."""
    async with app_harness(store, clock, remembers=True) as aldis:
        await learn(aldis)
        for number in range(21):
            await ask(aldis, f"question {number}")
        request = aldis.model.requests[-1]
        [first, *others] = request.messages
        assert first.role == "user"
        assert f"1. {FACT}" in first.text
        assert FACT not in repr(others)
        assert request.system == aldis.model.requests[0].system
        assert await ask(aldis, "/memory") == f"1. {FACT}"


async def test_no_group_learns_it_and_nothing_is_remembered_there(store: Store, clock: SetClock) -> None:
    """Neither from the one who asks nor from anybody else; and nobody else is told of it."""
    async with app_harness(store, clock, remembers=True) as aldis:
        await learn(aldis)
        await ask(aldis, "Aldis, what shall we eat?", group=GROUP)
        assert FACT not in seen(aldis)
        await ask(aldis, "what shall I eat?", author=BOB)
        assert FACT not in seen(aldis)
        aldis.model.script = [remember("likes cake"), says("I cannot.")]
        await ask(aldis, "Aldis, remember that I like cake", group=GROUP)
        assert '"error": "denied"' in contents(aldis.model.requests[-1])[0]
        assert await aldis.count("SELECT count(*) FROM facts") == 1
        assert await ask(aldis, "/memory", author=BOB) == plain(memory.NOTHING_REMEMBERED.text)
        assert FACT not in await ask(aldis, "/memory", group=GROUP)


async def test_facts_are_listed_and_forgotten_by_number(store: Store, clock: SetClock, path: Path) -> None:
    """By command and by the model; what is forgotten is not told any more, and its number is free."""
    async with app_harness(store, clock, remembers=True) as aldis:
        await learn(aldis, "first")
        await learn(aldis, "second")
        await learn(aldis, "FIRST")
        assert await ask(aldis, "/memory") == "1. first\n2. second"
        assert await ask(aldis, "/memory forget 1") == plain(memory.FACTS_FORGOTTEN.text)
        assert await ask(aldis, "/memory forget 1") == plain(memory.NO_SUCH_FACT.text)
        aldis.model.script = [calls(("remember", {"action": "forget", "number": 2})), says("Gone.")]
        await ask(aldis, "forget the second")
        assert await ask(aldis, "/memory") == plain(memory.NOTHING_REMEMBERED.text)
        aldis.model.script = [calls(("remember", {"action": "forget", "number": 2**63})), says("There is none.")]
        await ask(aldis, f"forget {2**63}")
        assert '"error": "not_found"' in contents(aldis.model.requests[-1])[-1]
        await learn(aldis, "third")
        assert await ask(aldis, "/memory forget all") == plain(memory.FACTS_FORGOTTEN.text)
        assert "/memory, /memory forget 2 or /memory forget all" in await ask(aldis, "/memory forget it")
        await ask(aldis, "well?")
        assert "asked to be remembered" not in seen(aldis)


async def test_only_so_many_are_remembered(store: Store, clock: SetClock) -> None:
    """And the model hears why."""
    async with app_harness(store, clock, remembers=True) as aldis:
        await learn(aldis)
        direct = await aldis.count("SELECT conversation_id FROM facts")
        turn = await aldis.count("SELECT turn_id FROM facts")

        def fill(repos: Any) -> None:
            for number in range(1, MAX_FACTS):
                repos.facts.put(direct, f"call {number}", b"fact %d" % number, labels=b"{}", turn=turn, now=clock.now())

        await store.transaction(fill)
        aldis.model.script = [remember("one more"), says("Too many.")]
        await ask(aldis, "one more")
        assert '"error": "rate_limited"' in contents(aldis.model.requests[-1])[-1]
        assert await aldis.count("SELECT count(*) FROM facts") == MAX_FACTS


@pytest.mark.parametrize("how", ["timer", "delete", "edit", "/undo", "/forget yes", "/forget everything yes"])
async def test_what_a_message_had_aldis_keep_goes_with_it(store: Store, clock: SetClock, path: Path, how: str) -> None:
    """A fact and a prediction; also with the conversation. Not a word of them is left on the disk."""
    prediction = {"statement": "canary-4711", "probability": 0.8, "due": "2026-12-31"}
    async with app_harness(store, clock, tools=prediction_tools(store, clock), remembers=True) as aldis:
        both = calls(("remember", {"action": "remember", "fact": "canary-4711"}), ("predict", prediction))
        aldis.model.script = [both, says("I will.")]
        sent = await aldis.deliver(message("keep it", expires_in_seconds=60 if how == "timer" else 0))
        await aldis.answered(1)
        await aldis.quiet()
        kept = "SELECT (SELECT count(*) FROM facts) + (SELECT count(*) FROM predictions)"
        assert await aldis.count(kept) == 2
        if how == "timer":
            clock.move(60)
            await aldis.maintenance.expire()
        elif how.startswith("/"):
            await ask(aldis, how)
        else:
            await aldis.process(delete(sent) if how == "delete" else edit("never mind", sent))
        assert await aldis.count(kept) == 0
        assert b"canary-4711" not in on_disk(path)
        await ask(aldis, "well?")
        assert "canary-4711" not in seen(aldis)


async def test_what_is_missing_is_named(store: Store, clock: SetClock) -> None:
    """The model learns what to give."""
    for arguments in (RememberArguments(action="remember"), RememberArguments(action="forget")):
        with pytest.raises(BadArguments, match=r"^\w+: "):
            await Remember(store, clock).run(arguments, ToolContext(now=clock.now(), timezone="UTC"))
