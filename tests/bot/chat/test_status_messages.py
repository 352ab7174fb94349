"""What people see while an answer takes long: one message that says what is going on, and becomes the answer."""

import asyncio
from typing import Any

import pytest

from bot.chat import phrases as turn_phrases
from bot.chat.status import StatusMessage
from bot.clock import SetClock
from bot.errors import SendUnknown
from bot.signal.protocol import ToolEnded, ToolStarted
from store import Store
from tests.bot.chat.turn_helpers import Echo, calls, says
from tests.bot.loops.app_harness import FIRST, Harness, app_harness
from tests.servers.envelopes import ALICE, BOB, GROUP, delete, edit, message, reaction, receipt
from tests.waiting import eventually_found

THINKING = turn_phrases.STATUS_THINKING.text


def shown(aldis: Harness) -> list[tuple[str, int | None]]:
    """Everything that went out, each with the revision that it edits."""
    return [(reply.content.text, reply.edits) for reply in aldis.transport.sent]


async def slowly(aldis: Harness, text: str = "slow one", **more: Any) -> int:
    """A question whose answer waits for the gate `slow`."""
    aldis.model.gates["slow"] = asyncio.Event()
    asked = await aldis.deliver(message(text, **more))
    await aldis.asked(1)
    return asked


async def states(aldis: Harness) -> list[str]:
    rows = await aldis.store.read(lambda repos: repos.outbox.rows("SELECT state FROM outbox ORDER BY id"))
    return [state for (state,) in rows]


async def come_to(aldis: Harness, *wanted: str) -> None:
    """Wait until the outbox is in these states."""

    async def has_come() -> bool:
        return await states(aldis) == list(wanted)

    await eventually_found(has_come)


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

    async def search(_: str) -> None:
        await gate.wait()

    tools = (Echo(name="web_search", work=search),)
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
    await come_to(aldis, "unknown")
    aldis.model.gates["slow"].set()
    await come_to(aldis, "unknown", "waiting")


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
        assert await states(aldis) == ["sent" if is_confirmed else "dead", "sent"]


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


@pytest.mark.parametrize("is_undone", [False, True])
async def test_what_is_taken_back_takes_its_status_with_it(store: Store, clock: SetClock, is_undone: bool) -> None:
    """The question is deleted, or undone, while its turn runs: nothing of it stays in the chat."""
    async with app_harness(store, clock, live="status") as aldis:
        asked = await slowly(aldis)
        await aldis.answered(1)
        await aldis.deliver(message("/undo") if is_undone else delete(asked))
        await aldis.transport.until(lambda: bool(aldis.transport.removed))
        await aldis.quiet()
        assert [(removal.chat, removal.target) for removal in aldis.transport.removed] == [(ALICE.chat, FIRST + 1)]
        assert len(aldis.transport.sent) == 1 + is_undone


async def test_an_edited_question_begins_again(store: Store, clock: SetClock) -> None:
    """The status of the old words goes; the new ones have their own."""
    async with app_harness(store, clock, live="status") as aldis:
        asked = await slowly(aldis)
        await aldis.answered(1)
        await aldis.deliver(edit("quick one", asked))
        await aldis.until(lambda: bool(aldis.transport.sent) and aldis.transport.sent[-1].last)
        await aldis.quiet()
        assert [removal.target for removal in aldis.transport.removed] == [FIRST + 1]
        assert aldis.transport.sent[-1].content.text == "re: quick one"


async def test_the_next_start_goes_on_with_the_status(store: Store, clock: SetClock) -> None:
    """Killed while the turn ran: one message in the chat, which becomes the answer."""
    async with app_harness(store, clock, live="status") as aldis:
        await slowly(aldis)
        await aldis.answered(1)
        await come_to(aldis, "sent")
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
