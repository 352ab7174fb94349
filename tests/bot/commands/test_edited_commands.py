"""Messages that are edited into a command, which none gives, or into a yes or no, which shows what it would allow."""

import asyncio

import pytest

from bot.chat import phrases as turn_phrases
from bot.clock import SetClock
from bot.commands import phrases
from bot.i18n import phrases as common_phrases
from store import Store
from tests.bot.chat.test_edits import open_words, words
from tests.bot.chat.turn_helpers import Echo, calls
from tests.bot.commands.test_commands import ask, plain
from tests.bot.loops.app_harness import FIRST, Harness, app_harness
from tests.servers.envelopes import GROUP, edit, message


async def edited(aldis: Harness, text: str, sent_at: int, **more: object) -> str:
    """What is answered to an edit."""
    before = len(aldis.transport.sent)
    await aldis.process(edit(text, sent_at, **more))  # pyright: ignore[reportArgumentType]
    [reply] = aldis.transport.sent[before:]
    assert reply.edits is None
    return reply.content.text


async def test_an_edit_gives_no_command(store: Store, clock: SetClock) -> None:
    """Its author reads so. What was made of the former words goes all the same: their answer, and what they planned."""
    async with app_harness(store, clock) as aldis:
        await aldis.process(message("I like roses"))
        for former in ("statuss of tulips", "/frobnicate tulips", "/remind in 2 hours tulips", "/persona tulips"):
            sent_at = await aldis.process(message(former))
            asked = len(aldis.model.asked)
            for later in ("/forget yes", "/usage", "/stop"):
                assert await edited(aldis, later, sent_at) == turn_phrases.EDITED_COMMAND.text
            assert len(aldis.model.asked) == asked
            assert await open_words(aldis) == 2  # of what was asked before
        assert await aldis.count("SELECT count(*) FROM reminders") == 0
        assert await ask(aldis, "/persona") == plain(phrases.NO_PERSONA.text)
        await aldis.process(message("What do I like?"))
        assert "tulips" not in words(aldis.model.requests[-1])
        assert "roses" in words(aldis.model.requests[-1])


async def test_an_edit_to_a_command_stops_its_own_question(store: Store, clock: SetClock) -> None:
    """Nobody asks it any more; in a group a command for another bot is no business of Aldis."""
    async with app_harness(store, clock) as aldis:
        aldis.model.gates["slow"] = asyncio.Event()
        sent_at = await aldis.deliver(message("a slow one"))
        await aldis.asked(1)
        assert await edited(aldis, "/stop", sent_at) == turn_phrases.EDITED_COMMAND.text
        await aldis.until(lambda: not aldis.worker.tasks)
        assert await open_words(aldis) == 0
        sent_at = await aldis.process(message("rolled 2d6", group=GROUP))
        before = len(aldis.transport.sent)
        await aldis.process(edit("/roll 2d6", sent_at, group=GROUP))
        assert len(aldis.transport.sent) == before
        assert await edited(aldis, "/stop", sent_at, group=GROUP) == turn_phrases.EDITED_COMMAND.text


async def test_edited_commands_are_no_more_than_messages(store: Store, clock: SetClock) -> None:
    """The first that is too much is told so."""
    few = {"limits": {"messages_per_minute": 2, "conversation_messages_per_minute": 100, "turns_at_once": 9}}
    async with app_harness(store, clock, settings=few) as aldis:
        sent_at = await aldis.process(message("/persona like a pirate"))
        for number in range(9):
            await aldis.process(edit(f"/persona like {number} pirates", sent_at))
        replies = [reply.content.text for reply in aldis.transport.sent]
        assert (len(replies), replies[-1]) == (4, common_phrases.TOO_MANY.text)


async def asked_whether(aldis: Harness, post: Echo) -> int:
    """A page wants something posted; gives what Signal calls the question whether it may be."""
    aldis.model.script = [calls(("look", {"word": "page"})), calls((post.spec.name, {"word": "x"}))]
    assert (await ask(aldis, "Read the page.")).startswith("May I")
    clock = aldis.clock
    assert isinstance(clock, SetClock)
    clock.move(2)
    return FIRST + 1


@pytest.mark.parametrize("former", ["Yse", "/yes"])
async def test_an_edit_to_yes_shows_what_it_would_allow(store: Store, clock: SetClock, former: str) -> None:
    """It may be about something else that was asked before; a new yes to what is shown counts."""
    look, post = Echo(name="look"), Echo(name="post", effects="once")
    async with app_harness(store, clock, tools=(look, post)) as aldis:
        await asked_whether(aldis, post)
        sent_at = await aldis.deliver(message(former))
        await aldis.answered(2)
        clock.move(2)
        await aldis.deliver(edit("Yes", sent_at))
        await aldis.answered(3)
        assert aldis.transport.sent[2].content.text.startswith(turn_phrases.STILL_OPEN.text)
        assert post.ran == []
        clock.move(2)
        await aldis.process(message("Yes"))
        assert post.ran == ["x"]
        assert "Yse" not in words(aldis.model.requests[-1])


async def test_the_question_itself_does_not_become_its_own_yes(store: Store, clock: SetClock) -> None:
    """Who changes what they asked takes back what was to be allowed."""
    look, post = Echo(name="look"), Echo(name="post", effects="once")
    async with app_harness(store, clock, tools=(look, post)) as aldis:
        aldis.model.script = [calls(("look", {"word": "page"})), calls(("post", {"word": "x"}))]
        sent_at = await aldis.deliver(message("Read the page."))
        await aldis.answered(1)
        clock.move(2)
        await aldis.process(edit("Yes", sent_at))
        assert (post.ran, aldis.transport.sent[-1].content.text) == ([], "re: Yes")
