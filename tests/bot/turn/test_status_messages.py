"""What people see while an answer takes long: one message that says what is going on, and becomes the answer."""

import asyncio
from dataclasses import replace
from typing import Any

import pytest

from bot.clock import SetClock
from bot.errors import NotSent, SendUnknown, Undeliverable
from bot.events import Style
from bot.i18n import phrases
from bot.turn import phrases as turn_phrases
from store import Store
from tests.bot.loops.app_harness import FIRST, Port, app_harness
from tests.bot.turn.turn_helpers import Echo, EchoArguments, calls, says
from tests.servers.envelopes import ALICE, BOB, GROUP, delete, edit, message, reaction, receipt
from tests.waiting import DEADLINE_SECONDS, eventually_found
from tools import Result, ResultFile, ToolContext

THINKING = turn_phrases.STATUS_THINKING.text


class Drawing(Echo):
    """A tool that makes a file."""

    def __init__(self) -> None:
        super().__init__(name="draw")

    async def run(self, arguments: EchoArguments, context: ToolContext) -> Result:
        made = ResultFile(name="a.png", content_type="image/png", data=b"\x89PNG")
        return replace(await super().run(arguments, context), files=(made,))


def shown(port: Port) -> list[tuple[str, int | None]]:
    """Everything that went out, each with the revision that it edits."""
    return [(reply.content.text, reply.edits) for reply in port.transport.sent]


async def slowly(port: Port, text: str = "slow one", **more: Any) -> int:
    """A question whose answer waits for the gate `slow`."""
    port.thinker.gates["slow"] = asyncio.Event()
    asked = await port.deliver(message(text, **more))
    await port.asked(1)
    return asked


async def states(port: Port) -> list[str]:
    rows = await port.store.read(lambda repos: repos.outbox.rows("SELECT state FROM outbox ORDER BY id"))
    return [state for (state,) in rows]


async def come_to(port: Port, *wanted: str) -> None:
    """Wait until the outbox is in these states."""

    async def has_come() -> bool:
        return await states(port) == list(wanted)

    await eventually_found(has_come)


async def test_a_status_becomes_the_answer(store: Store, clock: SetClock) -> None:
    """It is sent while the turn runs; then the same message is the answer, which alone is remembered."""
    async with app_harness(store, clock, live="status") as port:
        await slowly(port)
        [status] = await port.answered(1)
        assert (status.last, status.quote) == (False, None)
        port.thinker.gates["slow"].set()
        await port.answered(2)
        await port.quiet()
        assert shown(port) == [(THINKING, None), ("re: slow one", FIRST + 1)]
        assert port.transport.removed == []
        await port.deliver(message("next"))
        await port.answered(3)
        assert THINKING not in str(port.thinker.requests[-1])


async def test_a_status_says_which_tool_runs(store: Store, clock: SetClock) -> None:
    """Each is an edit of the one before, and so is the answer; in a group each quotes the question."""
    gate = asyncio.Event()

    async def search(_: str) -> None:
        await gate.wait()

    tools = (Echo(name="web_search", work=search),)
    async with app_harness(store, clock, live="status", tools=tools) as port:
        port.thinker.script += [calls(("web_search", {"word": "tulips"})), says("Found **them**.")]
        asked = await slowly(port, "Aldis, slow tulips", group=GROUP)
        await port.answered(1)
        port.thinker.gates["slow"].set()
        await port.answered(2)
        gate.set()
        await port.until(lambda: bool(port.transport.sent) and port.transport.sent[-1].last)
        texts = [text for text, _ in shown(port)]
        assert texts[:2] == [THINKING, "Searching the web …"]
        assert texts[-1] == "Found them."
        assert [edits for _, edits in shown(port)] == [None, *range(FIRST + 1, FIRST + len(texts))]
        assert {reply.quote and reply.quote.sent_at for reply in port.transport.sent} == {asked}


async def test_a_quick_answer_shows_no_status(store: Store, clock: SetClock) -> None:
    """A status that still waits when the answer is there is not sent at all."""
    async with app_harness(store, clock, live="status") as port:
        port.transport.sends += [NotSent("down")]
        await slowly(port)
        await port.until(lambda: not port.transport.sends)
        port.thinker.gates["slow"].set()
        await port.quiet()
        assert shown(port) == [("re: slow one", None)]
        assert await states(port) == ["sent"]


async def test_a_status_that_fails_while_the_answer_waits_is_not_sent_again(store: Store, clock: SetClock) -> None:
    """It was under way when the answer came; the bridge refuses it."""
    async with app_harness(store, clock, live="status") as port:
        port.transport.gate = asyncio.Event()
        port.transport.sends += [NotSent("down")]
        await slowly(port)
        await come_to(port, "sending")
        port.thinker.gates["slow"].set()
        await come_to(port, "sending", "waiting")
        port.transport.gate.set()
        await port.quiet()
        assert shown(port) == [("re: slow one", None)]


async def doubt_status(port: Port) -> None:
    """The status is in doubt, and the answer waits behind it."""
    port.transport.sends += [SendUnknown("silence")]
    await slowly(port)
    await come_to(port, "unknown")
    port.thinker.gates["slow"].set()
    await come_to(port, "unknown", "waiting")


@pytest.mark.parametrize("is_confirmed", [True, False])
async def test_a_status_in_doubt_holds_the_answer_up_for_a_moment_only(
    store: Store, clock: SetClock, *, is_confirmed: bool
) -> None:
    """With a receipt the answer edits it; without, it is a new message after ten seconds. Nothing comes twice."""
    async with app_harness(store, clock, live="status") as port:
        await doubt_status(port)
        clock.move(9)
        store.wakeups["outbox"].set()
        await asyncio.sleep(0.05)
        assert port.transport.sent == []
        if is_confirmed:
            await port.deliver(receipt([FIRST + 5]))
        else:
            clock.move(1)
            store.wakeups["outbox"].set()
        await port.quiet()
        assert shown(port) == [("re: slow one", FIRST + 5 if is_confirmed else None)]
        assert await states(port) == ["sent" if is_confirmed else "dead", "sent"]


async def test_a_status_whose_receipt_comes_after_the_answer_is_removed(store: Store, clock: SetClock) -> None:
    """The phone was off: it shows the status above the answer, and says so when both are long there."""
    async with app_harness(store, clock, live="status") as port:
        await doubt_status(port)
        clock.move(10)
        store.wakeups["outbox"].set()
        await port.quiet()
        await port.deliver(receipt([FIRST + 5]))
        await port.transport.until(lambda: bool(port.transport.removed))
        await port.quiet()
        assert shown(port) == [("re: slow one", None)]
        assert [removal.target for removal in port.transport.removed] == [FIRST + 5]
        assert await states(port) == ["dead", "sent", "sent"]


async def test_a_status_whose_receipt_comes_while_the_turn_runs_becomes_the_answer(
    store: Store, clock: SetClock
) -> None:
    """It was given up as one that nobody may ever see; that it is there is known early enough."""
    async with app_harness(store, clock, live="status") as port:
        port.transport.sends += [SendUnknown("silence")]
        await slowly(port)
        await come_to(port, "unknown")
        clock.move(10)
        store.wakeups["outbox"].set()
        await come_to(port, "dead")
        await port.deliver(receipt([FIRST + 5]))
        await come_to(port, "sent")
        port.thinker.gates["slow"].set()
        await port.quiet()
        assert shown(port) == [("re: slow one", FIRST + 5)]
        assert port.transport.removed == []


async def test_a_status_that_was_taken_back_in_doubt_is_removed(store: Store, clock: SetClock) -> None:
    """Nothing takes its place, for the question is gone; its receipt tells that it stands there."""
    async with app_harness(store, clock, live="status") as port:
        port.transport.sends += [SendUnknown("silence")]
        asked = await slowly(port)
        await come_to(port, "unknown")
        await port.deliver(delete(asked))
        await come_to(port, "dead")
        await port.deliver(receipt([FIRST + 5]))
        await port.transport.until(lambda: bool(port.transport.removed))
        assert [removal.target for removal in port.transport.removed] == [FIRST + 5]
        assert shown(port) == []


async def test_an_edit_in_doubt_is_not_edited(store: Store, clock: SetClock) -> None:
    """Nobody knows its newest revision: the answer is a new message, and the old one goes."""
    gate = asyncio.Event()

    async def search(_: str) -> None:
        await gate.wait()

    async with app_harness(store, clock, live="status", tools=(Echo(work=search),)) as port:
        port.thinker.script += [calls(("echo", {"word": "a"})), says("Done.")]
        await slowly(port)
        await port.answered(1)
        port.transport.sends += [SendUnknown("silence")]
        port.thinker.gates["slow"].set()
        await come_to(port, "sent", "unknown")
        gate.set()
        await come_to(port, "sent", "unknown", "waiting")
        clock.move(10)
        store.wakeups["outbox"].set()
        await port.transport.until(lambda: bool(port.transport.removed))
        assert shown(port) == [(THINKING, None), ("Done.", None)]
        assert [removal.target for removal in port.transport.removed] == [FIRST + 1]


async def test_an_edit_that_is_refused_becomes_a_new_message(store: Store, clock: SetClock) -> None:
    """The answer is not lost with it, and the status goes."""
    async with app_harness(store, clock, live="status") as port:
        await slowly(port)
        await port.answered(1)
        port.transport.sends += [Undeliverable("no such message")]
        port.thinker.gates["slow"].set()
        await port.transport.until(lambda: bool(port.transport.removed))
        assert shown(port) == [(THINKING, None), ("re: slow one", None)]
        assert [removal.target for removal in port.transport.removed] == [FIRST + 1]


async def test_an_undeliverable_status_takes_nothing_with_it(store: Store, clock: SetClock) -> None:
    """The answer is tried by itself."""
    async with app_harness(store, clock, live="status") as port:
        port.transport.sends += [Undeliverable("odd")]
        await slowly(port)
        await come_to(port, "dead")
        port.thinker.gates["slow"].set()
        await port.quiet()
        assert shown(port) == [("re: slow one", None)]


@pytest.mark.parametrize("end", ["stop", "fail"])
async def test_a_turn_without_an_answer_says_so_in_its_status(store: Store, clock: SetClock, end: str) -> None:
    """Stopped, or out of time: the status becomes that sentence."""
    seconds = DEADLINE_SECONDS if end == "stop" else 0.3
    async with app_harness(store, clock, live="status", turn_timeout_seconds=seconds) as port:
        await slowly(port)
        await port.answered(1)
        if end == "stop":
            await port.deliver(message("/stop"))
        await port.answered(2)
        said = phrases.STOPPED.text if end == "stop" else phrases.TOOK_TOO_LONG.text
        assert shown(port) == [(THINKING, None), (said, FIRST + 1)]


async def test_a_question_takes_the_place_of_the_status(store: Store, clock: SetClock) -> None:
    """Whether something may be done; after the word there is a new status, which the answer takes the place of."""
    tools = (Echo(effects="once", name="post"), Echo(name="web_search"))
    async with app_harness(store, clock, live="status", tools=tools) as port:
        port.thinker.script += [calls(("post", {"word": "a"})), says("Posted.")]
        quoted = {"id": 1, "author": BOB.uuid, "authorUuid": BOB.uuid, "text": "post it", "attachments": []}
        await slowly(port, quote=quoted)
        await port.answered(1)
        port.thinker.gates["slow"].set()
        _, question = await port.answered(2)
        assert question.content.text.startswith("May I ")
        assert question.edits == FIRST + 1
        await port.until(lambda: not port.worker.tasks.running())
        port.thinker.gates["slow"] = asyncio.Event()
        await port.deliver(reaction("👍", FIRST + 2))
        await port.answered(3)
        port.thinker.gates["slow"].set()
        await port.until(lambda: port.transport.sent[-1].content.text == "Posted.")
        await port.quiet()
        assert port.transport.sent[2].edits is None
        assert [edits for _, edits in shown(port)[3:]] == list(range(FIRST + 3, FIRST + len(port.transport.sent)))


async def test_what_is_taken_back_takes_its_status_with_it(store: Store, clock: SetClock) -> None:
    """The question is deleted while its turn runs: nothing of it stays in the chat."""
    async with app_harness(store, clock, live="status") as port:
        asked = await slowly(port)
        await port.answered(1)
        await port.deliver(delete(asked))
        await port.transport.until(lambda: bool(port.transport.removed))
        await port.quiet()
        assert [(removal.chat, removal.target) for removal in port.transport.removed] == [(ALICE.chat, FIRST + 1)]
        assert len(port.transport.sent) == 1


async def test_a_status_that_is_under_way_when_its_question_goes_is_removed(store: Store, clock: SetClock) -> None:
    """It comes out after all, and goes at once."""
    async with app_harness(store, clock, live="status") as port:
        port.transport.gate = asyncio.Event()
        asked = await slowly(port)
        await come_to(port, "sending")
        await port.deliver(delete(asked))
        await port.until(lambda: not port.worker.tasks.running())
        port.transport.gate.set()
        await port.transport.until(lambda: bool(port.transport.removed))
        await port.quiet()
        assert [removal.target for removal in port.transport.removed] == [FIRST + 1]


async def test_an_edited_question_begins_again(store: Store, clock: SetClock) -> None:
    """The status of the old words goes; the new ones have their own."""
    async with app_harness(store, clock, live="status") as port:
        asked = await slowly(port)
        await port.answered(1)
        await port.deliver(edit("quick one", asked))
        await port.until(lambda: bool(port.transport.sent) and port.transport.sent[-1].last)
        await port.quiet()
        assert [removal.target for removal in port.transport.removed] == [FIRST + 1]
        assert port.transport.sent[-1].content.text == "re: quick one"


async def test_forgetting_takes_the_status_with_it(store: Store, clock: SetClock) -> None:
    """The conversation is another one by then; the message in the chat is the same."""
    async with app_harness(store, clock, live="status") as port:
        await slowly(port)
        await port.answered(1)
        await port.deliver(message("/forget"))
        await port.transport.until(lambda: bool(port.transport.removed))
        await port.quiet()
        assert [removal.target for removal in port.transport.removed] == [FIRST + 1]
        assert len(port.transport.sent) == 2  # the status, and what /forget says


async def test_the_next_start_goes_on_with_the_status(store: Store, clock: SetClock) -> None:
    """Killed while the turn ran: one message in the chat, which becomes the answer."""
    async with app_harness(store, clock, live="status") as port:
        await slowly(port)
        await port.answered(1)
        await come_to(port, "sent")
    async with app_harness(store, clock) as port:
        await port.answered(1)
        assert shown(port) == [("re: slow one", FIRST + 1)]


async def test_an_answer_with_a_file_is_a_message_of_its_own(store: Store, clock: SetClock) -> None:
    """Signal cannot edit a message into one with a file: the status goes."""
    async with app_harness(store, clock, live="status", tools=(Drawing(),)) as port:
        port.thinker.script += [calls(("draw", {"word": "a"})), says("There.")]
        await slowly(port)
        await port.answered(1)
        port.thinker.gates["slow"].set()
        await port.transport.until(lambda: bool(port.transport.removed))
        await port.quiet()
        answer = port.transport.sent[-1]
        assert (answer.content.text, answer.edits, [file.name for file in answer.files]) == ("There.", None, ["a.png"])
        assert [removal.target for removal in port.transport.removed] == [FIRST + len(port.transport.sent) - 1]


async def test_few_edits_and_the_last_is_the_answer(store: Store, clock: SetClock) -> None:
    """However long an answer is written: eight edits in all, each of the newest revision, with whole words in it."""
    async with app_harness(store, clock, live="stream") as port:
        await slowly(port)
        told = port.thinker.on_text
        assert told is not None
        await port.answered(1)
        for number in range(1, 20):
            told("word **bold** " * number + "**ha")
            seen = len(port.transport.sent)
            if number < 8:
                await port.transport.until(lambda seen=seen: len(port.transport.sent) > seen)
        port.thinker.gates["slow"].set()
        await port.until(lambda: port.transport.sent[-1].last)
        await port.quiet()
        assert len(port.transport.sent) == 9
        assert [edits for _, edits in shown(port)] == [None, *range(FIRST + 1, FIRST + 9)]
        middle = port.transport.sent[1]
        assert middle.content.text == "word bold …"
        assert [style.style for style in middle.content.styles] == [Style.BOLD]
        assert port.transport.sent[-1].content.text == "re: slow one"


async def test_where_nothing_is_to_be_shown_nothing_is(store: Store, clock: SetClock) -> None:
    """Off: the answer alone."""
    async with app_harness(store, clock, live="off") as port:
        await slowly(port)
        assert port.thinker.on_text is None
        port.thinker.gates["slow"].set()
        await port.quiet()
        assert shown(port) == [("re: slow one", None)]


async def test_an_answer_with_a_file_takes_the_old_answer_away(store: Store, clock: SetClock) -> None:
    """The question was edited: one answer stands in the chat, though Signal cannot edit the old one into it."""
    async with app_harness(store, clock, tools=(Drawing(),)) as port:
        asked = await port.deliver(message("plot one"))
        await port.answered(1)
        await port.quiet()
        port.thinker.script += [calls(("draw", {"word": "a"})), says("There.")]
        await port.deliver(edit("plot two", asked))
        await port.transport.until(lambda: bool(port.transport.removed))
        assert shown(port) == [("re: plot one", None), ("There.", None)]
        assert [removal.target for removal in port.transport.removed] == [FIRST + 1]


async def test_no_message_takes_the_place_of_a_removal(store: Store, clock: SetClock) -> None:
    """An answer that was shortened and is long again: its second part is a new message, for nobody would see an edit
    of what took the old one away.
    """
    long = "word " * 600
    async with app_harness(store, clock) as port:
        port.transport.takes_long_texts = False
        port.thinker.script += [says(long), says("short"), says(long)]
        asked = await port.deliver(message("one"))
        await port.answered(2)
        await port.quiet()
        await port.deliver(edit("two", asked))
        await port.transport.until(lambda: bool(port.transport.removed))
        await port.quiet()
        await port.deliver(edit("three", asked))
        await port.answered(5)
        await port.quiet()
        assert [edits for _, edits in shown(port)] == [None, None, FIRST + 1, FIRST + 3, None]
        assert [removal.target for removal in port.transport.removed] == [FIRST + 2]
