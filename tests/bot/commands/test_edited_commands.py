"""Messages that are edited into a command, or into a yes or no: carried out like a new message, and nothing twice."""

import asyncio

import pytest

from bot.chat import phrases as turn_phrases
from bot.clock import SetClock
from bot.commands import phrases
from bot.i18n import phrases as common_phrases
from store import Store
from tests.bot.chat.test_edits import open_words, words
from tests.bot.chat.turn_helpers import Echo, calls
from tests.bot.commands.test_commands import plain, told
from tests.bot.loops.app_harness import FIRST, Harness, app_harness
from tests.servers.envelopes import ALICE, edit, message

FEW = {"limits": {"messages_per_minute": 2, "conversation_messages_per_minute": 100, "turns_at_once": 9}}


async def edited(aldis: Harness, text: str, sent_at: int, **more: object) -> str:
    """What is answered to an edit."""
    before = len(aldis.transport.sent)
    await aldis.process(edit(text, sent_at, **more))  # pyright: ignore[reportArgumentType]
    [reply] = aldis.transport.sent[before:]
    assert reply.edits is None
    return reply.content.text


async def test_a_message_that_becomes_a_command_is_carried_out(store: Store, clock: SetClock) -> None:
    """Whether it was no command at all, an unknown one or another one: it is answered by itself, without a model."""
    async with app_harness(store, clock) as aldis:
        for former in ("/frobnicate", "whoami", "/help"):
            sent_at = await aldis.process(message(former))
            asked = len(aldis.model.asked)
            assert ALICE.uuid in await edited(aldis, "/whoami", sent_at)
            assert len(aldis.model.asked) == asked
            assert await open_words(aldis) == 0


async def test_what_was_asked_in_its_former_words_is_forgotten(store: Store, clock: SetClock) -> None:
    """Nobody reads them any more, neither in the chat nor here; also those of an older question."""
    async with app_harness(store, clock) as aldis:
        sent_at = await aldis.process(message("statuss of tulips"))
        await aldis.process(message("I like roses"))
        assert "tulips" not in await edited(aldis, "/status", sent_at)
        await aldis.process(message("What do I like?"))
        assert "tulips" not in words(aldis.model.requests[-1])
        assert "roses" in words(aldis.model.requests[-1])


async def test_an_edit_to_stop_stops_its_own_question_and_says_so(store: Store, clock: SetClock) -> None:
    """Also one that never began, and then what runs beside it."""
    async with app_harness(store, clock) as aldis:
        aldis.model.gates["slow"] = asyncio.Event()
        sent_at = await aldis.deliver(message("a slow one"))
        await aldis.asked(1)
        assert await edited(aldis, "/stop", sent_at) == common_phrases.STOPPED.text
        await aldis.deliver(message("another slow one"))
        await aldis.asked(2)
        sent_at = await aldis.deliver(message("and this"))
        assert await edited(aldis, "/stop", sent_at) == common_phrases.STOPPED.text
        assert len(aldis.model.asked) == 2
        sent_at = await aldis.process(message("hello"))
        assert await edited(aldis, "/stop", sent_at) == plain(phrases.NOTHING_TO_STOP.text)


@pytest.mark.parametrize(
    ("former", "later"),
    [
        ("/undo", "/forget yes"),
        ("/forget yes", "/forget everything yes"),
        ("/retry", "/retry!"),
        ("/remind cancel 1", "/remind cancel 1."),
    ],
)
async def test_what_cannot_be_taken_back_is_done_once_for_a_message(
    store: Store, clock: SetClock, former: str, later: str
) -> None:
    """Whatever it becomes; what has been said since is still there. The person is told, and a new message does it."""
    async with app_harness(store, clock) as aldis:
        await aldis.process(message("/remind in 2 hours call the clinic"))
        for text in ("I like apples", "I like pears"):
            await aldis.process(message(text))
        sent_at = await aldis.process(message(former))
        assert aldis.transport.sent[-1].content.text != plain(phrases.DONE_BEFORE.text)
        await aldis.process(message("/remind in 3 hours call Ben"))
        await aldis.process(message("I like plums"))
        asked = len(aldis.model.asked)
        assert await edited(aldis, later, sent_at) == phrases.DONE_BEFORE.text
        assert await edited(aldis, later, sent_at) == phrases.DONE_BEFORE.text
        assert len(aldis.model.asked) == asked
        assert "call Ben" in await told(aldis, "/remind")
        await aldis.process(message("What do I like?"))
        seen = words(aldis.model.requests[-1])
        assert "plums" in seen
        assert ("pears" in seen) is former.startswith(("/retry", "/remind"))
        assert await told(aldis, former) != phrases.DONE_BEFORE.text


async def test_edited_commands_are_no_more_than_messages(store: Store, clock: SetClock) -> None:
    """The first that is too much is told so; the former words are gone all the same."""
    async with app_harness(store, clock, settings=FEW) as aldis:
        sent_at = await aldis.process(message("/persona like a pirate"))
        for number in range(9):
            await aldis.process(edit(f"/persona like {number} pirates", sent_at))
        replies = [reply.content.text for reply in aldis.transport.sent]
        assert (len(replies), replies[-1]) == (4, common_phrases.TOO_MANY.text)
        clock.move(61)
        assert await told(aldis, "/persona") == plain(phrases.NO_PERSONA.text)
        assert aldis.model.asked == []


async def asked_whether(aldis: Harness, post: Echo) -> int:
    """A page wants something posted; gives what Signal calls the question whether it may be."""
    aldis.model.script = [calls(("look", {"word": "page"})), calls((post.spec.name, {"word": "x"}))]
    assert (await told(aldis, "Read the page.")).startswith("May I")
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
