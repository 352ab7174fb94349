"""What people see while an answer takes long: one message that says what is going on, and becomes the answer."""

import asyncio
from typing import Any

import pytest

from bot.chat import phrases as turn_phrases
from bot.chat.status import EMOJI, StatusMessage
from bot.clock import SetClock
from bot.errors import SendUnknown
from bot.events import ChatId, PersonId, SentId
from bot.i18n import phrases as common_phrases
from bot.signal.protocol import ToolEnded, ToolStarted
from store import Store
from tests.bot.chat.turn_helpers import Echo, calls, says
from tests.bot.loops.app_harness import FIRST, Harness, HarnessTransport, app_harness
from tests.bot.loops.test_sender import come_to, states
from tests.servers.envelopes import ALICE, BOB, CAROL, GROUP, delete, edit, message, reaction, receipt, timer
from tests.waiting import eventually_found

THINKING = turn_phrases.STATUS_THINKING.text


def shown(aldis: Harness) -> list[tuple[str, int | None]]:
    return [(reply.content.text, reply.edits) for reply in aldis.transport.sent]


async def gated(aldis: Harness, text: str = "slow one", **more: Any) -> int:
    aldis.model.gates.setdefault("slow", asyncio.Event())
    return await aldis.deliver(message(text, **more))


async def slowly(aldis: Harness, text: str = "slow one", **more: Any) -> int:
    asked = await gated(aldis, text, **more)
    await aldis.asked(1)
    return asked


async def test_a_status_becomes_the_answer(store: Store, clock: SetClock) -> None:
    """It is sent while the turn runs; then the same message is the answer, which alone is remembered."""
    async with app_harness(store, clock, live="status") as aldis:
        await slowly(aldis)
        [status] = await aldis.answered(1)
        assert (status.last, status.quote) == (False, None)
        aldis.model.gates["slow"].set()
        await aldis.answered(2)
        await aldis.quiet()
        assert shown(aldis) == [(THINKING, None), ("re: slow one", FIRST + 1)]
        assert aldis.transport.removed == []
        await aldis.deliver(message("next"))
        await aldis.answered(3)
        assert THINKING not in str(aldis.model.requests[-1])


async def test_a_status_says_which_tool_runs(store: Store, clock: SetClock) -> None:
    """Each is an edit of the one before, and so is the answer; in a group each quotes the question."""
    gate = asyncio.Event()
    tools = (Echo(name="web_search", work=lambda _: gate.wait()),)
    async with app_harness(store, clock, live="status", tools=tools) as aldis:
        aldis.model.script += [calls(("web_search", {"word": "tulips"})), says("Found **them**.")]
        asked = await slowly(aldis, "Aldis, slow tulips", group=GROUP)
        await aldis.answered(1)
        aldis.model.gates["slow"].set()
        await aldis.answered(2)
        gate.set()
        await aldis.until(lambda: bool(aldis.transport.sent) and aldis.transport.sent[-1].last)
        texts = [text for text, _ in shown(aldis)]
        assert texts[:2] == [THINKING, "Web search …"]
        assert texts[-1] == "Found them."
        assert [edits for _, edits in shown(aldis)] == [None, *range(FIRST + 1, FIRST + len(texts))]
        assert {reply.quote and reply.quote.sent_at for reply in aldis.transport.sent} == {asked}


async def doubt_status(aldis: Harness) -> None:
    """The status is in doubt, and the answer waits behind it."""
    aldis.transport.sends += [SendUnknown("silence")]
    await slowly(aldis)
    await come_to(aldis.store, "unknown")
    aldis.model.gates["slow"].set()
    await come_to(aldis.store, "unknown", "waiting")


@pytest.mark.parametrize("is_confirmed", [True, False])
async def test_a_status_in_doubt_holds_the_answer_up_for_a_moment_only(
    store: Store, clock: SetClock, *, is_confirmed: bool
) -> None:
    """With a receipt the answer edits it; without, it is a new message after ten seconds. Nothing comes twice."""
    async with app_harness(store, clock, live="status") as aldis:
        await doubt_status(aldis)
        clock.move(9)
        store.wakeups["outbox"].set()
        await asyncio.sleep(0.05)
        assert aldis.transport.sent == []
        if is_confirmed:
            await aldis.deliver(receipt([FIRST + 5]))
        else:
            clock.move(1)
            store.wakeups["outbox"].set()
        await aldis.quiet()
        assert shown(aldis) == [("re: slow one", FIRST + 5 if is_confirmed else None)]
        assert await states(aldis.store) == ["sent" if is_confirmed else "dead", "sent"]


async def test_a_question_takes_the_place_of_the_status(store: Store, clock: SetClock) -> None:
    """Whether something may be done; after the word there is a new status, which the answer takes the place of."""
    tools = (Echo(effects="once", name="post"), Echo(name="web_search"))
    async with app_harness(store, clock, live="status", tools=tools) as aldis:
        aldis.model.script += [calls(("post", {"word": "a"})), says("Posted.")]
        quoted = {"id": 1, "author": BOB.uuid, "authorUuid": BOB.uuid, "text": "post it", "attachments": []}
        await slowly(aldis, quote=quoted)
        await aldis.answered(1)
        aldis.model.gates["slow"].set()
        _, question = await aldis.answered(2)
        assert question.content.text.startswith("May I ")
        assert question.edits == FIRST + 1
        await aldis.until(lambda: not aldis.worker.tasks)
        aldis.model.gates["slow"] = asyncio.Event()
        await aldis.deliver(reaction("👍", FIRST + 2))
        await aldis.answered(3)
        aldis.model.gates["slow"].set()
        await aldis.until(lambda: aldis.transport.sent[-1].content.text == "Posted.")
        await aldis.quiet()
        assert aldis.transport.sent[2].edits is None
        assert [edits for _, edits in shown(aldis)[3:]] == list(range(FIRST + 3, FIRST + len(aldis.transport.sent)))


@pytest.mark.parametrize("how", ["deleted", "undone", "edited"])
async def test_what_is_taken_back_takes_its_status_with_it(store: Store, clock: SetClock, how: str) -> None:
    """While its turn runs: nothing of it stays in the chat, and new words have a status of their own."""
    async with app_harness(store, clock, live="status") as aldis:
        asked = await slowly(aldis)
        await aldis.answered(1)
        change = {"deleted": delete(asked), "undone": message("/undo"), "edited": edit("quick one", asked)}
        await aldis.deliver(change[how])
        await aldis.transport.until(lambda: bool(aldis.transport.removed))
        await aldis.quiet()
        assert [(removal.chat, removal.target) for removal in aldis.transport.removed] == [(ALICE.chat, FIRST + 1)]
        last = {"deleted": [], "undone": [common_phrases.STOPPED.text], "edited": ["re: quick one"]}
        assert [text for text, _ in shown(aldis)[1:]][-1:] == last[how]


async def test_the_next_start_goes_on_with_the_status(store: Store, clock: SetClock) -> None:
    """Killed while the turn ran: one message in the chat, which becomes the answer."""
    async with app_harness(store, clock, live="status") as aldis:
        await slowly(aldis)
        await aldis.answered(1)
        await come_to(aldis.store, "sent")
    async with app_harness(store, clock) as aldis:
        await aldis.answered(1)
        assert shown(aldis) == [("re: slow one", FIRST + 1)]


def test_the_tool_that_began_last_is_shown() -> None:
    """By the name that people call it; when all have ended, or a model has made one up, it is thinking."""
    showing = StatusMessage()
    assert showing.content().text == "Thinking …"
    showing.watch(ToolStarted(name="get_weather", arguments="{}"))
    assert showing.content().text == "Weather …"
    showing.watch(ToolStarted(name="something_new", arguments="{}"))
    assert showing.content().text == "Thinking …"
    for name, text in (("something_new", "Weather …"), ("get_weather", "Thinking …")):
        showing.watch(ToolEnded(name=name, content="{}", ok=True, latency_seconds=0))
        assert showing.content().text == text


# The emoji on messages that are being answered


def marks(aldis: Harness) -> list[tuple[int, bool]]:
    assert {mark[3] for mark in aldis.transport.reactions} <= {EMOJI}
    return [(mark[2], mark[4]) for mark in aldis.transport.reactions]


async def test_a_message_is_marked_until_it_is_answered(store: Store, clock: SetClock) -> None:
    """Also while it waits behind another; the mark goes when the answer comes, and after a stop there is none."""
    async with app_harness(store, clock, mark_seconds=0) as aldis:
        asked = await gated(aldis, "Aldis, slow one", group=GROUP)
        await aldis.transport.until(lambda: len(aldis.transport.reactions) == 1)
        assert aldis.transport.reactions == [(f"group:{GROUP}", ALICE.uuid, asked, EMOJI, False)]
        waiting = await aldis.deliver(message("Aldis, and then?", group=GROUP))
        await aldis.transport.until(lambda: len(aldis.transport.reactions) == 2)
        await aldis.deliver(edit("Aldis, and now?", waiting, group=GROUP))  # which takes its place
        aldis.model.gates["slow"].set()
        await aldis.transport.until(lambda: len(aldis.transport.reactions) == 4)
        assert sorted(marks(aldis)) == sorted((name, off) for name in (asked, waiting) for off in (False, True))
        await aldis.worker.reactions.aclose()
        (await aldis.held("late", message("Aldis, a late one", group=GROUP))).set()
        await aldis.quiet()
        assert len(aldis.transport.reactions) == 4


async def test_an_answer_that_comes_at_once_leaves_no_mark(store: Store, clock: SetClock) -> None:
    """Nor do commands, talk among others, and what is noted only."""
    async with app_harness(store, clock) as aldis:
        await aldis.deliver(message("quick"))
        await aldis.deliver(message("/help", author=BOB))
        await aldis.deliver(message("just us", group=GROUP))
        await aldis.process(timer(3600, author=CAROL))
        assert aldis.transport.reactions == []


async def test_a_mark_goes_however_its_turn_ends(store: Store, clock: SetClock) -> None:
    """Stopped, by a word that gets none itself; waiting for a person's word; given up."""
    async with app_harness(store, clock, mark_seconds=0, tools=(Echo(effects="once"),), max_attempts=1) as aldis:
        stopped = await gated(aldis)
        await aldis.transport.until(lambda: len(aldis.transport.reactions) == 1)
        await aldis.deliver(message("stop"))
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
        asked = await slowly(aldis)
        await aldis.deliver(reaction(sign, asked, of=ALICE))
        assert [reply.content.text for reply in await aldis.answered(1)] == [common_phrases.STOPPED.text]
        await aldis.deliver(message("next"))
        assert (await aldis.answered(2))[1].content.text == "re: next"
        assert "slow" not in str(aldis.model.requests[-1])


async def test_a_cross_of_somebody_else_stops_nothing_but_an_admins_does(store: Store, clock: SetClock) -> None:
    """In a group everybody sees the question; it is not theirs."""
    async with app_harness(store, clock, admins=frozenset({CAROL.uuid})) as aldis:
        asked = await slowly(aldis, "Aldis, slow one", group=GROUP)
        await aldis.deliver(reaction("❌", asked, of=ALICE, author=BOB, group=GROUP))
        await eventually_found(lambda: aldis.count("SELECT count(*) = 0 FROM inbox WHERE urgent AND state = 'waiting'"))
        assert aldis.worker.tasks
        await aldis.deliver(reaction("❌", asked, of=ALICE, author=CAROL, group=GROUP))
        assert [reply.content.text for reply in await aldis.answered(1)] == [common_phrases.STOPPED.text]


async def test_a_cross_on_a_message_that_waits_takes_it_back(store: Store, clock: SetClock) -> None:
    """It is not asked any more; one that is answered already stays so, and so does one whose cross was taken off."""
    async with app_harness(store, clock) as aldis:
        first = await slowly(aldis)
        waiting = await aldis.deliver(message("waiting"))
        await aldis.deliver(reaction("❌", waiting, of=ALICE))
        await aldis.deliver(reaction("❌", first, of=ALICE, removed=True))
        aldis.model.gates["slow"].set()
        await aldis.answered(1)
        await aldis.quiet()
        await aldis.process(reaction("❌", first, of=ALICE))
        assert [reply.content.text for reply in aldis.transport.sent] == ["re: slow one"]
        assert len(aldis.model.asked) == 1
        await aldis.deliver(message("next"))
        await aldis.answered(2)
        assert "re: slow one" in str(aldis.model.requests[-1])
