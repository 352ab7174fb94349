"""Beginning anew, asking again, taking back: about the last question of whoever says so, crash-safe like any turn."""

import asyncio

import pytest

from bot.chat import phrases as turn_phrases
from bot.clock import SetClock
from bot.commands import phrases
from bot.errors import Overloaded
from bot.features import personas
from bot.i18n import phrases as common_phrases
from bot.i18n.catalogues import say
from store import Erasure, Store
from tests.bot.chat.test_edits import open_words, words
from tests.bot.chat.turn_helpers import Echo, calls, says
from tests.bot.commands.test_commands import ask, plain
from tests.bot.loops.app_harness import FIRST, app_harness
from tests.invariants import is_sendable
from tests.servers.envelopes import BOB, GROUP, edit, message, quote_of, reaction


async def test_new_begins_anew_and_keeps_what_was_said(store: Store, clock: SetClock) -> None:
    """The model reads nothing of before, after a restart neither; it is kept until it is forgotten."""
    async with app_harness(store, clock) as aldis:
        await aldis.process(message("I like tulips."))
        assert await ask(aldis, "/new") == plain(phrases.BEGUN_ANEW.text)
        await aldis.process(message("And roses."))
        assert "tulips" not in words(aldis.model.requests[-1])
    async with app_harness(store, clock) as aldis:
        await aldis.process(message("What do I like?"))
        assert "tulips" not in words(aldis.model.requests[-1])
        assert "roses" in words(aldis.model.requests[-1])
        await ask(aldis, "/export")
        assert b"tulips" in aldis.transport.sent[-1].files[0].data
        assert await ask(aldis, "/forget yes") == phrases.forget_reply(Erasure(turns=3))


async def test_retry_answers_again_in_the_place_of_the_answer(store: Store, clock: SetClock) -> None:
    """The newest question, with the same words, and the old answer is edited; also the last one that failed."""
    async with app_harness(store, clock) as aldis:
        aldis.model.script += [says("Perhaps."), says("Surely.")]
        await aldis.process(message("Will it rain?"))
        await aldis.process(message("/retry"))
        first, second = aldis.transport.sent
        assert (first.content.text, second.content.text, second.edits) == ("Perhaps.", "Surely.", FIRST + 1)
        assert aldis.model.requests[0].messages[-1] == aldis.model.requests[1].messages[-1]
        await aldis.process(message("Sure?"))
        history = words(aldis.model.requests[-1])
        assert (history.count("Will it rain?"), "Surely." in history, "Perhaps." in history) == (1, True, False)
        assert is_sendable(aldis.model.requests[-1].messages)
        for question, later in (("Will it snow?", "/retry"), ("Will it hail?", "Something else.")):
            aldis.model.script += [Overloaded("busy", provider="p")]
            assert await ask(aldis, question) == turn_phrases.OVERLOADED.text
            assert await aldis.count("SELECT count(*) FROM unanswered") == 1
            assert await ask(aldis, later) == f"re: {question if later == '/retry' else later}"
            await aldis.quiet()
            assert await aldis.count("SELECT count(*) FROM unanswered") == 0


async def test_an_older_question_is_asked_again_in_a_new_message(store: Store, clock: SetClock) -> None:
    """In a group each repeats their own; where others have written since, an edit far above would not be seen."""
    async with app_harness(store, clock) as aldis:
        await aldis.process(message("Aldis, tulips?", group=GROUP))
        await aldis.process(message("Aldis, roses?", group=GROUP, author=BOB))
        await aldis.process(message("/retry", group=GROUP))
        again = aldis.transport.sent[-1]
        assert "tulips" in again.content.text
        assert again.edits is None
        await aldis.quiet()
        await aldis.process(message("/retry", group=GROUP, author=BOB))
        assert "roses" in aldis.transport.sent[-1].content.text
        assert "tulips?" in await ask(aldis, "/undo", group=GROUP)  # nor does anyone take back what others asked
        assert await ask(aldis, "/undo", group=GROUP) == phrases.NOTHING_TO_UNDO.text


async def test_there_may_be_nothing_to_repeat(store: Store, clock: SetClock) -> None:
    """No question yet, one that is still being answered, one from before the beginning."""
    async with app_harness(store, clock) as aldis:
        assert await ask(aldis, "/retry") == phrases.NOTHING_TO_REPEAT.text
        await aldis.held("slow")
        assert await ask(aldis, "/retry") == plain(phrases.STILL_ANSWERING.text)
        aldis.model.gates["slow"].set()
        await aldis.quiet()
        await ask(aldis, "/new")
        assert await ask(aldis, "/retry") == phrases.NOTHING_TO_REPEAT.text
        assert await ask(aldis, "/undo") == phrases.NOTHING_TO_UNDO.text


@pytest.mark.parametrize("is_quoting", [True, False])
async def test_what_is_asked_again_is_as_trusted_as_it_was(store: Store, clock: SetClock, is_quoting: bool) -> None:
    """Words of a stranger that stood in the old message still do."""
    echo = Echo(effects="once")
    quote = quote_of(BOB, 1, "Say it twice!") if is_quoting else None
    async with app_harness(store, clock, tools=(echo,)) as aldis:
        aldis.model.script += [says("done"), calls(("echo", {"word": "a"})), says("done again")]
        assert await ask(aldis, "Say it.", quote=quote) == "done"
        await aldis.quiet()
        assert ("May I " in await ask(aldis, "/retry")) is is_quoting
        assert echo.ran == ([] if is_quoting else ["a"])


async def test_undo_takes_the_last_question_and_its_answer_out(store: Store, clock: SetClock) -> None:
    """The person hears what it was; once more takes the one before. What is under way stops without a word."""
    async with app_harness(store, clock) as aldis:
        await aldis.process(message("I like tulips."))
        await aldis.process(message("I like roses."))
        assert await ask(aldis, "/undo") == say(phrases.UNDONE, question="I like roses.")
        await aldis.quiet()
        assert [removal.target for removal in aldis.transport.removed] == [FIRST + 2]
        await aldis.held("slow", message("slow lilies"))
        assert await ask(aldis, "/undo") == common_phrases.STOPPED.text
        await aldis.until(lambda: not aldis.worker.tasks)
        await aldis.process(message("What do I like?"))
        history = words(aldis.model.requests[-1])
        assert [word in history for word in ("tulips", "roses", "lilies")] == [True, False, False]
        assert "What do I like?" in await ask(aldis, "/undo")
        assert "I like tulips." in await ask(aldis, "/undo")
        assert await ask(aldis, "/undo") == phrases.NOTHING_TO_UNDO.text
        await aldis.quiet()
        assert await open_words(aldis) == 0
        assert len(aldis.transport.sent) == 8


# Messages that are edited into a command, which none gives, or into a yes or no, which shows what it would allow


async def test_an_edit_gives_no_command(store: Store, clock: SetClock) -> None:
    """Its author reads so; what was made of the former words goes. A command for another bot is none of Aldis's."""
    async with app_harness(store, clock) as aldis:

        async def edited(text: str, sent_at: int, group: str | None = None) -> list[str]:
            before = len(aldis.transport.sent)
            await aldis.process(edit(text, sent_at, group=group))
            assert not any(reply.edits for reply in aldis.transport.sent[before:])
            return [reply.content.text for reply in aldis.transport.sent[before:]]

        await aldis.process(message("I like roses"))
        for former in ("statuss of tulips", "/frobnicate tulips", "/remind in 2 hours tulips", "/persona tulips"):
            sent_at = await aldis.process(message(former))
            asked = len(aldis.model.asked)
            for later in ("/forget yes", "/stop"):
                assert await edited(later, sent_at) == [turn_phrases.EDITED_COMMAND.text]
            assert (len(aldis.model.asked), await open_words(aldis)) == (asked, 2)  # of what was asked before
        assert await aldis.count("SELECT count(*) FROM reminders") == 0
        assert await ask(aldis, "/persona") == plain(personas.NO_PERSONA.text)
        aldis.model.gates["slow"] = asyncio.Event()
        sent_at = await aldis.deliver(message("slow tulips"))
        await aldis.asked(asked + 1)
        assert await edited("/stop", sent_at) == [turn_phrases.EDITED_COMMAND.text]
        await aldis.until(lambda: not aldis.worker.tasks)
        await aldis.process(message("What do I like?"))
        history = words(aldis.model.requests[-1])
        assert ["tulips" in history, "roses" in history] == [False, True]
        sent_at = await aldis.process(message("rolled 2d6", group=GROUP))
        assert await edited("/roll 2d6", sent_at, GROUP) == []
        assert await edited("/stop", sent_at, GROUP) == [turn_phrases.EDITED_COMMAND.text]


async def test_edited_commands_are_no_more_than_messages(store: Store, clock: SetClock) -> None:
    """The sender of the first that is too much reads so."""
    few = {"limits": {"messages_per_minute": 2, "conversation_messages_per_minute": 100, "turns_at_once": 9}}
    async with app_harness(store, clock, settings=few) as aldis:
        sent_at = await aldis.process(message("/persona like a pirate"))
        for number in range(9):
            await aldis.process(edit(f"/persona like {number} pirates", sent_at))
        replies = [reply.content.text for reply in aldis.transport.sent]
        assert (len(replies), replies[-1]) == (4, common_phrases.TOO_MANY.text)


@pytest.mark.parametrize("is_question", [False, True])
async def test_an_edit_to_yes_allows_nothing(store: Store, clock: SetClock, is_question: bool) -> None:
    """It may be about something else, or be the question itself: a yes is a message, or a thumb on the question."""
    look, post = Echo(name="look"), Echo(name="post", effects="once")
    async with app_harness(store, clock, tools=(look, post)) as aldis:
        aldis.model.script = [calls(("look", {"word": "page"})), calls(("post", {"word": "x"}))]
        sent_at = await aldis.deliver(message("Read the page."))
        await aldis.answered(1)
        assert aldis.transport.sent[0].content.text.startswith("May I")
        clock.move(2)
        if not is_question:
            sent_at = await aldis.deliver(message("Yse"))
            await aldis.answered(2)
            clock.move(2)
        await aldis.deliver(edit("Yes", sent_at))
        await (aldis.quiet() if is_question else aldis.process(reaction("👎", FIRST + 1)))
        assert post.ran == []
        assert "Yse" not in words(aldis.model.requests[-1])
        assert not is_question or aldis.transport.sent[-1].content.text == "re: Yes"
