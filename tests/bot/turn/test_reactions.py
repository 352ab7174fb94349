"""The emoji on messages that are being answered, and the cross that stops an answer."""

import asyncio
from datetime import timedelta
from typing import Any

import pytest

from bot.clock import SetClock
from bot.errors import SendUnknown
from bot.events import ChatId, PersonId, SentId
from bot.i18n import phrases
from bot.turn.reactions import EMOJI
from store import Store
from store.repository import millis
from tests.bot.loops.app_harness import FIRST, Berth, Port, app_harness
from tests.bot.turn.turn_helpers import Echo, calls, says
from tests.servers.envelopes import ALICE, BOB, CAROL, GROUP, edit, message, reaction, timer
from tests.waiting import eventually_found


def marks(port: Port) -> list[tuple[int, bool]]:
    """The marks that were put and taken off, by message."""
    assert {mark[3] for mark in port.transport.reactions} <= {EMOJI}
    return [(mark[2], mark[4]) for mark in port.transport.reactions]


async def gated(port: Port, text: str = "slow one", **more: Any) -> int:
    port.thinker.gates.setdefault("slow", asyncio.Event())
    return await port.deliver(message(text, **more))


async def test_a_message_is_marked_until_it_is_answered(store: Store, clock: SetClock) -> None:
    """On the message of whoever asked; the mark goes when the answer comes."""
    async with app_harness(store, clock, mark_seconds=0) as port:
        asked = await gated(port, "Aldis, slow one", group=GROUP)
        await port.transport.until(lambda: len(port.transport.reactions) == 1)
        assert port.transport.reactions == [(f"group:{GROUP}", ALICE.uuid, asked, EMOJI, False)]
        port.thinker.gates["slow"].set()
        await port.transport.until(lambda: len(port.transport.reactions) == 2)
        assert marks(port) == [(asked, False), (asked, True)]


async def test_a_mark_that_may_still_come_is_reckoned_with(store: Store, clock: SetClock) -> None:
    """The bridge did not answer: the receipt of the mark that it sends later is not taken for that of an answer."""

    async def is_open_for_long() -> bool:
        rows = await store.read(lambda repos: repos.outbox.rows("SELECT ended_at FROM reactions"))
        return rows == [(millis(clock.now() + timedelta(seconds=90)),)]

    async with app_harness(store, clock, mark_seconds=0) as port:
        port.transport.reacting_fails = SendUnknown("silence")
        await gated(port)
        await eventually_found(is_open_for_long)


async def test_messages_that_wait_behind_others_are_marked_too(store: Store, clock: SetClock) -> None:
    """While the turn before them runs; each is taken off with its own turn."""
    async with app_harness(store, clock, mark_seconds=0) as port:
        first = await gated(port)
        await port.asked(1)
        second = await gated(port, "second")
        await port.transport.until(lambda: len(port.transport.reactions) == 2)
        assert len(port.thinker.asked) == 1
        port.thinker.gates["slow"].set()
        await port.transport.until(lambda: len(port.transport.reactions) == 4)
        assert sorted(marks(port)) == [(first, False), (first, True), (second, False), (second, True)]


async def test_an_answer_that_comes_at_once_leaves_no_mark(store: Store, clock: SetClock) -> None:
    """Nor do commands, talk among others, and what is noted only."""
    async with app_harness(store, clock) as port:
        await port.deliver(message("quick"))
        await port.deliver(message("/help", author=BOB))
        await port.deliver(message("just us", group=GROUP))
        await port.deliver(timer(3600, author=CAROL))
        await port.answered(2)
        await port.quiet()
        assert port.transport.reactions == []


async def test_a_mark_goes_however_its_turn_ends(store: Store, clock: SetClock) -> None:
    """Stopped; waiting for a person's word; given up."""
    async with app_harness(store, clock, mark_seconds=0, tools=(Echo(effects="once"),), max_attempts=1) as port:
        stopped = await gated(port)
        await port.transport.until(lambda: len(port.transport.reactions) == 1)
        await port.deliver(message("/stop"))
        await port.transport.until(lambda: len(port.transport.reactions) == 2)
        quote = {"id": 1, "author": BOB.uuid, "authorUuid": BOB.uuid, "text": "do it", "attachments": []}
        port.thinker.script += [calls(("echo", {"word": "a"})), says("Done.")]
        port.thinker.gates["slow"] = asyncio.Event()
        paused = await gated(port, "slow, may you?", quote=quote)
        await port.transport.until(lambda: len(port.transport.reactions) == 3)
        port.thinker.gates["slow"].set()
        await port.transport.until(lambda: len(port.transport.reactions) == 4)
        assert marks(port) == [(stopped, False), (stopped, True), (paused, False), (paused, True)]


async def test_a_mark_of_an_earlier_process_is_taken_off(store: Store, clock: SetClock) -> None:
    """What was marked when Aldis was killed: the next start does not mark it for long, and ends with the removal."""
    async with app_harness(store, clock, mark_seconds=0) as port:
        asked = await gated(port)
        await port.transport.until(lambda: len(port.transport.reactions) == 1)
    clock.move(60)
    async with app_harness(store, clock) as port:
        await port.answered(1)
        await port.transport.until(lambda: bool(port.transport.reactions))
        assert marks(port) == [(asked, True)]


async def test_a_bridge_that_is_slow_with_marks_holds_no_answer_up(store: Store, clock: SetClock) -> None:
    """The answer goes out while the mark is still on its way."""

    class Slow(Berth):
        async def react(
            self, chat: ChatId, author: PersonId, sent_at: SentId, emoji: str, *, removed: bool
        ) -> SentId | None:
            await super().react(chat, author, sent_at, emoji, removed=removed)
            await asyncio.Event().wait()
            return None

    async with app_harness(store, clock, mark_seconds=0, transport=Slow()) as port:
        await gated(port)
        await port.transport.until(lambda: bool(port.transport.reactions))
        port.thinker.gates["slow"].set()
        await port.answered(1)
        await port.quiet()


# The cross


@pytest.mark.parametrize("sign", ["❌", "🛑"])
async def test_a_cross_on_the_own_message_stops_its_answer(store: Store, clock: SetClock, sign: str) -> None:
    """The model call is cancelled, the person hears that it stopped, and the conversation goes on."""
    async with app_harness(store, clock) as port:
        asked = await gated(port)
        await port.asked(1)
        await port.deliver(reaction(sign, asked, of=ALICE))
        assert [reply.content.text for reply in await port.answered(1)] == [phrases.STOPPED.text]
        await port.deliver(message("next"))
        assert (await port.answered(2))[1].content.text == "re: next"
        assert "slow" not in str(port.thinker.requests[-1])


async def test_a_cross_on_the_status_stops_the_answer_too(store: Store, clock: SetClock) -> None:
    """The status becomes the sentence that it was stopped."""
    async with app_harness(store, clock, live="status") as port:
        await gated(port)
        await port.answered(1)
        await port.until(lambda: True)
        await port.deliver(reaction("❌", FIRST + 1))
        await port.answered(2)
        assert [(reply.content.text, reply.edits) for reply in port.transport.sent][1:] == [
            (phrases.STOPPED.text, FIRST + 1)
        ]


async def test_a_cross_of_somebody_else_stops_nothing_but_an_admins_does(store: Store, clock: SetClock) -> None:
    """In a group everybody sees the question; it is not theirs."""
    async with app_harness(store, clock, admins=frozenset({CAROL.uuid})) as port:
        asked = await gated(port, "Aldis, slow one", group=GROUP)
        await port.asked(1)
        await port.deliver(reaction("❌", asked, of=ALICE, author=BOB, group=GROUP))
        await eventually_found(lambda: port.count("SELECT count(*) = 0 FROM inbox WHERE urgent AND state = 'waiting'"))
        assert port.worker.tasks.running()
        await port.deliver(reaction("❌", asked, of=ALICE, author=CAROL, group=GROUP))
        assert [reply.content.text for reply in await port.answered(1)] == [phrases.STOPPED.text]


async def test_a_cross_on_a_message_that_waits_takes_it_back(store: Store, clock: SetClock) -> None:
    """It is not asked any more; one that is answered already stays so, and so does one whose cross was taken off."""
    async with app_harness(store, clock) as port:
        first = await gated(port)
        await port.asked(1)
        waiting = await port.deliver(message("waiting"))
        await port.deliver(reaction("❌", waiting, of=ALICE))
        await port.deliver(reaction("❌", first, of=ALICE, removed=True))
        port.thinker.gates["slow"].set()
        await port.answered(1)
        await port.quiet()
        await port.deliver(reaction("❌", first, of=ALICE))
        await port.quiet()
        assert [reply.content.text for reply in port.transport.sent] == ["re: slow one"]
        assert len(port.thinker.asked) == 1
        await port.deliver(message("next"))
        await port.answered(2)
        assert "re: slow one" in str(port.thinker.requests[-1])


async def test_a_graceful_end_leaves_no_mark_on_what_was_answered(store: Store, clock: SetClock) -> None:
    """The last marks are taken off before the loop ends."""
    async with app_harness(store, clock, mark_seconds=0) as port:
        asked = await gated(port)
        await port.transport.until(lambda: len(port.transport.reactions) == 1)
        port.worker.drain()
        port.thinker.gates["slow"].set()
        await port.answered(1)
        await port.transport.until(lambda: len(port.transport.reactions) == 2)
        assert marks(port) == [(asked, False), (asked, True)]


@pytest.mark.parametrize("change", ["edit", "pause", "timer"])
async def test_a_mark_goes_from_what_waited_and_is_not_answered_as_it_stands(
    store: Store, clock: SetClock, change: str
) -> None:
    """It has other words by now, the conversation was paused, or its timer ran out."""
    async with app_harness(store, clock, mark_seconds=0) as port:
        await gated(port)
        await port.asked(1)
        waits = await gated(port, "second", expires_in_seconds=60 if change == "timer" else 0)
        await port.transport.until(lambda: len(port.transport.reactions) == 2)
        if change == "edit":
            await port.deliver(edit("third", waits))
        elif change == "pause":
            await port.deliver(message("/pause"))
            await port.answered(1)
        else:
            clock.move(61)
        port.thinker.gates["slow"].set()
        await port.quiet()
        await port.transport.until(lambda: len(port.transport.reactions) == 4)
        assert (waits, True) in marks(port)
