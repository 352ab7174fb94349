"""The emoji on messages that are being answered, and the cross that stops an answer."""

import asyncio
from typing import Any

import pytest

from bot.chat.status import EMOJI
from bot.clock import SetClock
from bot.events import ChatId, PersonId, SentId
from bot.i18n import phrases
from store import Store
from tests.bot.chat.turn_helpers import Echo, calls, says
from tests.bot.loops.app_harness import Harness, HarnessTransport, app_harness
from tests.servers.envelopes import ALICE, BOB, CAROL, GROUP, message, reaction, timer
from tests.waiting import eventually_found


def marks(aldis: Harness) -> list[tuple[int, bool]]:
    """The marks that were put and taken off, by message."""
    assert {mark[3] for mark in aldis.transport.reactions} <= {EMOJI}
    return [(mark[2], mark[4]) for mark in aldis.transport.reactions]


async def gated(aldis: Harness, text: str = "slow one", **more: Any) -> int:
    aldis.model.gates.setdefault("slow", asyncio.Event())
    return await aldis.deliver(message(text, **more))


async def test_a_message_is_marked_until_it_is_answered(store: Store, clock: SetClock) -> None:
    """On the message of whoever asked; the mark goes when the answer comes."""
    async with app_harness(store, clock, mark_seconds=0) as aldis:
        asked = await gated(aldis, "Aldis, slow one", group=GROUP)
        await aldis.transport.until(lambda: len(aldis.transport.reactions) == 1)
        assert aldis.transport.reactions == [(f"group:{GROUP}", ALICE.uuid, asked, EMOJI, False)]
        aldis.model.gates["slow"].set()
        await aldis.transport.until(lambda: len(aldis.transport.reactions) == 2)
        assert marks(aldis) == [(asked, False), (asked, True)]


async def test_an_answer_that_comes_at_once_leaves_no_mark(store: Store, clock: SetClock) -> None:
    """Nor do commands, talk among others, and what is noted only."""
    async with app_harness(store, clock) as aldis:
        await aldis.deliver(message("quick"))
        await aldis.deliver(message("/help", author=BOB))
        await aldis.deliver(message("just us", group=GROUP))
        await aldis.deliver(timer(3600, author=CAROL))
        await aldis.answered(2)
        await aldis.quiet()
        assert aldis.transport.reactions == []


async def test_a_mark_goes_however_its_turn_ends(store: Store, clock: SetClock) -> None:
    """Stopped; waiting for a person's word; given up."""
    async with app_harness(store, clock, mark_seconds=0, tools=(Echo(effects="once"),), max_attempts=1) as aldis:
        stopped = await gated(aldis)
        await aldis.transport.until(lambda: len(aldis.transport.reactions) == 1)
        await aldis.deliver(message("/stop"))
        await aldis.transport.until(lambda: len(aldis.transport.reactions) == 2)
        quote = {"id": 1, "author": BOB.uuid, "authorUuid": BOB.uuid, "text": "do it", "attachments": []}
        aldis.model.script += [calls(("echo", {"word": "a"})), says("Done.")]
        aldis.model.gates["slow"] = asyncio.Event()
        paused = await gated(aldis, "slow, may you?", quote=quote)
        await aldis.transport.until(lambda: len(aldis.transport.reactions) == 3)
        aldis.model.gates["slow"].set()
        await aldis.transport.until(lambda: len(aldis.transport.reactions) == 4)
        assert marks(aldis) == [(stopped, False), (stopped, True), (paused, False), (paused, True)]


async def test_a_mark_of_an_earlier_process_is_taken_off(store: Store, clock: SetClock) -> None:
    """What was marked when Aldis was killed: the next start does not mark it for long, and ends with the removal."""
    async with app_harness(store, clock, mark_seconds=0) as aldis:
        asked = await gated(aldis)
        await aldis.transport.until(lambda: len(aldis.transport.reactions) == 1)
    clock.move(60)
    async with app_harness(store, clock) as aldis:
        await aldis.answered(1)
        await aldis.transport.until(lambda: bool(aldis.transport.reactions))
        assert marks(aldis) == [(asked, True)]


async def test_a_bridge_that_is_slow_with_marks_holds_no_answer_up(store: Store, clock: SetClock) -> None:
    """The answer goes out while the mark is still on its way."""

    class Slow(HarnessTransport):
        async def react(
            self, chat: ChatId, author: PersonId, sent_at: SentId, emoji: str, *, removed: bool
        ) -> SentId | None:
            await super().react(chat, author, sent_at, emoji, removed=removed)
            await asyncio.Event().wait()
            return None

    async with app_harness(store, clock, mark_seconds=0, transport=Slow()) as aldis:
        await gated(aldis)
        await aldis.transport.until(lambda: bool(aldis.transport.reactions))
        aldis.model.gates["slow"].set()
        await aldis.answered(1)
        await aldis.quiet()


# The cross


@pytest.mark.parametrize("sign", ["❌", "🛑"])
async def test_a_cross_on_the_own_message_stops_its_answer(store: Store, clock: SetClock, sign: str) -> None:
    """The model call is cancelled, the person hears that it stopped, and the conversation goes on."""
    async with app_harness(store, clock) as aldis:
        asked = await gated(aldis)
        await aldis.asked(1)
        await aldis.deliver(reaction(sign, asked, of=ALICE))
        assert [reply.content.text for reply in await aldis.answered(1)] == [phrases.STOPPED.text]
        await aldis.deliver(message("next"))
        assert (await aldis.answered(2))[1].content.text == "re: next"
        assert "slow" not in str(aldis.model.requests[-1])


async def test_a_cross_of_somebody_else_stops_nothing_but_an_admins_does(store: Store, clock: SetClock) -> None:
    """In a group everybody sees the question; it is not theirs."""
    async with app_harness(store, clock, admins=frozenset({CAROL.uuid})) as aldis:
        asked = await gated(aldis, "Aldis, slow one", group=GROUP)
        await aldis.asked(1)
        await aldis.deliver(reaction("❌", asked, of=ALICE, author=BOB, group=GROUP))
        await eventually_found(lambda: aldis.count("SELECT count(*) = 0 FROM inbox WHERE urgent AND state = 'waiting'"))
        assert aldis.worker.tasks
        await aldis.deliver(reaction("❌", asked, of=ALICE, author=CAROL, group=GROUP))
        assert [reply.content.text for reply in await aldis.answered(1)] == [phrases.STOPPED.text]


async def test_a_cross_on_a_message_that_waits_takes_it_back(store: Store, clock: SetClock) -> None:
    """It is not asked any more; one that is answered already stays so, and so does one whose cross was taken off."""
    async with app_harness(store, clock) as aldis:
        first = await gated(aldis)
        await aldis.asked(1)
        waiting = await aldis.deliver(message("waiting"))
        await aldis.deliver(reaction("❌", waiting, of=ALICE))
        await aldis.deliver(reaction("❌", first, of=ALICE, removed=True))
        aldis.model.gates["slow"].set()
        await aldis.answered(1)
        await aldis.quiet()
        await aldis.deliver(reaction("❌", first, of=ALICE))
        await aldis.quiet()
        assert [reply.content.text for reply in aldis.transport.sent] == ["re: slow one"]
        assert len(aldis.model.asked) == 1
        await aldis.deliver(message("next"))
        await aldis.answered(2)
        assert "re: slow one" in str(aldis.model.requests[-1])
