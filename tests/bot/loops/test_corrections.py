"""A person corrects what a running turn has found: whole stories, from the words to the answer that knows of them."""

import asyncio
import json
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from functools import partial
from typing import Any

from bot.clock import SetClock
from bot.messages import ToolMessage
from bot.signal.envelope import is_command
from store import Store
from tests.bot.chat.turn_helpers import Echo, calls, says
from tests.bot.loops.app_harness import FIRST, Harness, app_harness
from tests.servers.envelopes import ALDIS, BOB, GROUP, Frame, attachment, delete, edit, message, quote_of

LOOK = calls(("look", {"word": "Bonn"}))
WORDS = "No, it's Leipzig."
CORRECTED = {"corrected_by_person": WORDS, "ok": True, "untrusted_data": {"word": "Bonn"}}


class Look(Echo):
    def __init__(self) -> None:
        self.cue = asyncio.Event()
        super().__init__(name="look", work=lambda _: self.cue.wait())

    async def begin(self, aldis: Harness, words: str = "How far is the fair?", **more: Any) -> None:
        await aldis.deliver(message(words, **more))
        await aldis.until(lambda: bool(self.ran))


@asynccontextmanager
async def play(
    store: Store, clock: SetClock, *script: Any, more: tuple[Echo, ...] = (), **settings: Any
) -> AsyncGenerator[tuple[Harness, Look]]:
    look = Look()
    async with app_harness(store, clock, tools=(look, *more), **settings) as aldis:
        aldis.model.script = list(script)
        yield aldis, look


async def correct(aldis: Harness, frame: Frame) -> int:
    sent_at = await aldis.deliver(frame)
    while await aldis.count("SELECT count(*) FROM inbox WHERE urgent AND state = 'waiting'"):
        await asyncio.sleep(0.005)
    return sent_at


def found(aldis: Harness) -> list[dict[str, Any]]:
    said = [one for one in aldis.model.requests[-1].messages if isinstance(one, ToolMessage)]
    return [json.loads(answer.content) for one in said for answer in one.answers]


def test_how_people_begin_to_correct_something() -> None:
    """In four languages, possibly behind Aldis's name."""
    begun = ("No, it is 5.", "no it’s Bonn", "Aldis, no, that's wrong", "￼ Nein, es sind 5", "NEIN DAS IST Köln")
    begun += ("non, c'est Lyon", "Non ce sont 3", "no, es Bilbao", "no son 4")
    others = ("No", "no, thanks", "it is no, it is", "nein danke", "non, merci", "Know, it is", "no, estoy aquí")
    assert [text for text in (*begun, *others) if is_command(text) != (text in begun)] == []


async def test_what_a_tool_found_is_corrected_while_it_looks(store: Store, clock: SetClock) -> None:
    """The model reads it before all else in that answer, now and in later turns; there is one answer."""
    async with play(store, clock, LOOK, says("Leipzig.")) as (aldis, look):
        await look.begin(aldis)
        await correct(aldis, message(WORDS))
        look.cue.set()
        await aldis.quiet()
        assert [reply.content.text for reply in aldis.transport.sent] == ["Leipzig."]
        await aldis.process(message("And the train?"))
        assert str(found(aldis)) == str([CORRECTED])


async def test_an_answer_that_is_being_made_is_made_again(store: Store, clock: SetClock) -> None:
    """With each correction that comes before it is there; what it has cost is counted."""
    async with play(store, clock, LOOK, says("Bonn."), says("Leipzig?"), says("Leipzig!")) as (aldis, look):
        gate = aldis.model.gates["fair"] = asyncio.Event()
        gate.set()
        look.work = lambda _: gate.clear()
        await look.begin(aldis)
        for number, words in enumerate((WORDS, "No, it is the new fair."), 2):
            await aldis.asked(number)
            await correct(aldis, message(words))
            gate.set()
            gate.clear()
        gate.set()
        await aldis.quiet()
        assert [reply.content.text for reply in aldis.transport.sent] == ["Leipzig!"]
        assert found(aldis)[0]["corrected_by_person"] == f"{WORDS}\nNo, it is the new fair."
        assert await aldis.count("SELECT count(*) FROM ledger WHERE kind = 'model'") == 4


async def test_a_correction_outlives_the_process(store: Store, clock: SetClock) -> None:
    """And is read once, in the answer that it corrected, whichever steps followed."""
    async with play(store, clock, LOOK, calls(("look", {"word": "Gera"}))) as (aldis, look):
        await look.begin(aldis)
        await correct(aldis, message(WORDS))
        look.work = lambda _: asyncio.Event().wait()
        look.cue.set()
        await aldis.until(lambda: look.ran[1:] == ["Gera"])
    async with play(store, clock, says("Leipzig.")) as (aldis, look):
        look.cue.set()
        await aldis.quiet()
        assert [reply.content.text for reply in aldis.transport.sent] == ["Leipzig."]
        assert found(aldis) == [CORRECTED, {"ok": True, "untrusted_data": {"word": "Gera"}}]


async def test_any_words_that_quote_the_status_correct_it(store: Store, clock: SetClock) -> None:
    """Which is what people see of the turn."""
    async with play(store, clock, LOOK, says("Leipzig."), live="status") as (aldis, look):
        await look.begin(aldis)
        [status] = await aldis.answered(1)
        await correct(aldis, message("Leipzig!", quote=quote_of(ALDIS, FIRST + 1, status.content.text)))
        look.cue.set()
        await aldis.quiet()
        assert found(aldis) == [{**CORRECTED, "corrected_by_person": "Leipzig!"}]


async def test_an_address_in_it_may_be_read(store: Store, clock: SetClock) -> None:
    """It is the person's own, as one in the question is."""
    page = Echo(name="page", flags={"fetches": "word"})
    address = "https://fair.example/halls"
    script = LOOK, calls(("page", {"word": address}), ("page", {"word": "https://evil.example/"})), says("There.")
    async with play(store, clock, *script, more=(page,)) as (aldis, look):
        await look.begin(aldis)
        await correct(aldis, message(f"No, it's {address}!"))
        look.cue.set()
        await aldis.quiet()
        assert page.ran == [address]


async def test_else_it_is_a_message_like_any(store: Store, clock: SetClock) -> None:
    """Where nothing runs, has been looked up yet or runs on after a stop, from another person, with a file, or when it
    disappears sooner.
    """
    async with play(store, clock) as (aldis, look):
        await aldis.process(message(WORDS))
        aldis.model.script = [LOOK]
        ending = asyncio.Event()

        async def end_slowly(_: str) -> None:
            try:
                await look.cue.wait()
            finally:
                await ending.wait()

        look.work = end_slowly
        await look.begin(aldis)
        for words in ("/stop", WORDS):
            await correct(aldis, message(words))
        ending.set()
        await aldis.quiet()
        assert [reply.content.text for reply in aldis.transport.sent[1:]] == ["Stopped.", f"re: {WORDS}"]
        look.ran.clear()
        gate = await aldis.held("early")
        await aldis.deliver(message(WORDS))
        aldis.model.script = [LOOK]
        await look.begin(aldis, "Aldis, well?", group=GROUP)
        gate.set()
        await correct(aldis, message(f"Aldis, {WORDS}", group=GROUP, author=BOB))
        await correct(aldis, message(f"Aldis, {WORDS}", group=GROUP, attachments=[attachment()]))
        await correct(aldis, message(f"Aldis, {WORDS}", group=GROUP, expires_in_seconds=60))
        look.cue.set()
        await aldis.quiet()
        assert len([text for text in aldis.model.asked if WORDS in text]) >= 4
        assert "corrected_by_person" not in str(aldis.model.requests)


async def test_its_words_go_when_they_are_taken_back_or_changed(store: Store, clock: SetClock) -> None:
    """With the turn that rests on them, also once others have followed; an edit's new words are asked at once only."""
    async with play(store, clock) as (aldis, look):
        for change, others in ((delete, 0), (partial(edit, "No, it is Halle."), 0), (partial(edit, "It is Ulm."), 1)):
            look.cue.clear()
            look.ran.clear()
            aldis.model.script = [LOOK, says("Leipzig.")]
            await look.begin(aldis)
            corrected = await correct(aldis, message(WORDS))
            look.cue.set()
            for frame in [message("Well?")] * others + [change(target=corrected), message("And now?")]:
                await aldis.quiet()
                await aldis.process(frame)
            assert "Leipzig" not in str(aldis.model.requests[-1].messages)
        assert "Halle" in str(aldis.model.asked)
