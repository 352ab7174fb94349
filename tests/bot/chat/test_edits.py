"""What people take back or change while Aldis works, and what passes: carried through to all that was made of it."""

import asyncio
from datetime import timedelta
from functools import partial
from pathlib import Path

from bot.chat import phrases as turn_phrases
from bot.clock import SetClock
from bot.errors import NotSent, SendUnknown
from bot.events import SentId
from bot.i18n import phrases
from bot.i18n.catalogues import say
from bot.models.base import Request
from store import Store, open_store
from tests.bot.chat.turn_helpers import Echo, calls, says
from tests.bot.loops.app_harness import FIRST, Harness, app_harness
from tests.invariants import is_sendable
from tests.servers.envelopes import ALICE, BOB, GROUP, admin_delete, delete, edit, message


def words(request: Request) -> str:
    return " ".join(str(part) for part in request.messages)


def on_disk(path: Path) -> bytes:
    return b"".join(file.read_bytes() for file in path.parent.iterdir())


async def open_words(aldis: Harness) -> int:
    return await aldis.count(
        "SELECT (SELECT count(*) FROM history) + (SELECT count(*) FROM journal) + "
        "(SELECT count(*) FROM inbox WHERE envelope IS NOT NULL) + "
        "(SELECT count(*) FROM outbox WHERE reply IS NOT NULL)"
    )


# Deleted


async def test_the_answer_to_a_command_goes_with_it(store: Store, clock: SetClock) -> None:
    """It repeats what was said there: where it is not sent it goes, and from the chat if answers are deleted at all."""
    async with app_harness(store, clock, deletes_answers=True) as aldis:
        asked = await aldis.deliver(message("/remind in 2 hours call the clinic"))
        [told] = await aldis.answered(1)
        assert "clinic" in told.content.text
        await aldis.quiet()
        await aldis.process(delete(asked))
        assert [removal.target for removal in aldis.transport.removed] == [FIRST + 1]
        aldis.transport.sends += [NotSent("down", retry_after_seconds=120)]
        asked = await aldis.deliver(message("/remind in 3 hours call the clinic"))
        await aldis.quiet_but(1)
        await aldis.process(delete(asked))
        assert await open_words(aldis) == 0


async def test_a_deleted_message_is_gone_with_what_was_made_of_it(store: Store, clock: SetClock) -> None:
    """Question, tool arguments and results, answer: nothing is left, and the model does not see them again."""
    async with app_harness(store, clock, tools=(Echo(),)) as aldis:
        aldis.model.script += [calls(("echo", {"word": "tulip"})), says("The tulip is fine.")]
        asked = await aldis.process(message("How is the tulip?"))
        await aldis.process(message("And the rose?"))
        await aldis.process(delete(asked))
        await aldis.process(message("What did I ask?"))
        assert "tulip" not in words(aldis.model.requests[-1])
        assert "rose" in words(aldis.model.requests[-1])
        assert is_sendable(aldis.model.requests[-1].messages)
        assert await aldis.count("SELECT count(*) FROM ledger WHERE kind = 'tool'") == 1
        assert aldis.transport.removed == []


async def test_the_answer_is_deleted_too_where_the_operator_wants_it(store: Store, clock: SetClock) -> None:
    """Every part of it, by the time under which it went out."""
    async with app_harness(store, clock, deletes_answers=True) as aldis:
        aldis.transport.takes_long_texts = False
        aldis.model.script += [says("long. " * 700)]
        asked = await aldis.process(message("Tell me everything."))
        parts = len(aldis.transport.sent)
        assert parts > 1
        await aldis.deliver(delete(asked))
        await aldis.transport.until(lambda: len(aldis.transport.removed) == parts)
        targets = [removal.target for removal in aldis.transport.removed]
        assert targets == list(range(FIRST + 1, FIRST + 1 + parts))
        assert {removal.chat for removal in aldis.transport.removed} == {ALICE.chat}
        await aldis.quiet()
        assert await open_words(aldis) == 0


async def test_what_was_asked_with_a_deleted_message_is_asked_again_without_it(store: Store, clock: SetClock) -> None:
    """Of two messages that were taken together one is deleted: the other has its answer."""
    async with app_harness(store, clock) as aldis:
        aldis.model.gates = {"first": asyncio.Event(), "second": asyncio.Event()}
        await aldis.deliver(message("first"))
        await aldis.asked(1)
        second = await aldis.deliver(message("second"))
        await aldis.deliver(message("third"))
        aldis.model.gates["first"].set()
        await aldis.asked(2)
        assert "third" in aldis.model.asked[1]
        await aldis.deliver(delete(second))
        assert (await aldis.answered(2))[1].content.text == "re: third"
        assert "second" not in words(aldis.model.requests[-1])


OTHERS = (
    ("the first is deleted", 0, delete, NotSent("down", retry_after_seconds=120)),
    ("the last is deleted", 2, delete, NotSent("down", retry_after_seconds=120)),
    ("one becomes a command", 1, partial(edit, "/help"), NotSent("down", retry_after_seconds=120)),
    ("one becomes another command", 1, partial(edit, "/new"), NotSent("down", retry_after_seconds=120)),
    ("the send is in doubt", 1, delete, SendUnknown("no answer")),
    ("the bridge wants a pause", 1, delete, NotSent("rate limit", retry_after_seconds=3600)),
)


async def test_what_takes_one_message_back_leaves_the_others_their_answer(tmp_path: Path, clock: SetClock) -> None:
    """While the one answer to three messages waits to be sent; they are asked again without it, and answered once."""
    for story, place, change, failure in OTHERS:
        path = tmp_path / f"{story}.db"
        async with open_store(path, realm="signal") as store, app_harness(store, clock) as aldis:
            gate = await aldis.held("slow")
            words_of = ["tulip", "rose", "iris"]
            names = [await aldis.deliver(message(word)) for word in words_of]
            aldis.transport.sends = [lambda: SentId(FIRST), failure]
            gate.set()
            await aldis.asked(2)
            await aldis.until(lambda aldis=aldis: not aldis.transport.sends)
            await aldis.quiet_but(1)
            await aldis.deliver(change(names[place]))
            del words_of[place]
            await aldis.until(lambda aldis=aldis: "re: " in aldis.transport.sent[-1].content.text)
            await aldis.quiet()
            answers = [reply for reply in aldis.transport.sent if names[place - 1] in reply.answers and reply.ok]
            assert [word for word in ("tulip", "rose", "iris") if word in aldis.model.asked[2]] == words_of, story
            assert set(answers[-1].answers) == {*names} - {names[place]}, story
            assert await aldis.count("SELECT count(*) FROM inbox WHERE envelope IS NOT NULL") == 0, story


async def test_the_others_hear_of_an_answer_in_doubt_that_cannot_be_made_again(store: Store, clock: SetClock) -> None:
    """What was done for it must not be done twice, and it may not have gone out: a word says that it is gone."""
    async with app_harness(store, clock, tools=(Echo(effects="once"),)) as aldis:
        gate = await aldis.held("slow")
        tulip, rose = await aldis.deliver(message("tulip")), await aldis.deliver(message("rose"))
        aldis.model.script += [says("re: slow"), calls(("echo", {"word": "tulip"})), says("Both are fine.")]
        aldis.transport.sends = [lambda: SentId(FIRST), SendUnknown("no answer")]
        gate.set()
        await aldis.until(lambda: not aldis.transport.sends)
        await aldis.quiet_but(1)
        await aldis.deliver(delete(rose))
        await aldis.until(lambda: aldis.transport.sent[-1].answers == (tulip,))
        assert aldis.transport.sent[-1].content.text == say(turn_phrases.ANSWER_TAKEN_BACK)


async def test_nobody_deletes_what_another_wrote(store: Store, clock: SetClock) -> None:
    """In a group a member deletes by author and time: the same time of another author is another message."""
    async with app_harness(store, clock) as aldis:
        asked = await aldis.process(message("Aldis, mine", author=ALICE, group=GROUP))
        await aldis.process(delete(asked, author=BOB, group=GROUP))
        assert await aldis.count("SELECT count(*) FROM history") == 2
        await aldis.process(admin_delete(asked, ALICE, author=BOB))
        assert await aldis.count("SELECT count(*) FROM history") == 0


# Edited


async def test_editing_the_newest_question_edits_the_answer(store: Store, clock: SetClock) -> None:
    """It is asked again in its new words, and the answer takes the place of the old one; again and again."""
    async with app_harness(store, clock) as aldis:
        asked = await aldis.process(message("How is teh rose?"))
        first = await aldis.process(edit("How is the rose?", asked))
        await aldis.deliver(edit("How is the red rose?", first))
        replies = await aldis.answered(3)
        await aldis.quiet()
        assert [reply.content.text for reply in replies] == [
            "re: How is teh rose?",
            "re: How is the rose?",
            "re: How is the red rose?",
        ]
        assert [reply.edits for reply in replies] == [None, FIRST + 1, FIRST + 2]
        await aldis.process(message("Thanks"))
        history = words(aldis.model.requests[-1])
        assert "red rose" in history
        assert "teh" not in history
        assert history.count("How is") == 2  # the question and its answer, once each


async def test_editing_an_older_message_corrects_the_history_alone(store: Store, clock: SetClock) -> None:
    """No new answer; what the model reads of it has its new words and its old date."""
    async with app_harness(store, clock) as aldis:
        asked = await aldis.process(message("I have a dgo."))
        await aldis.process(message("And a cat."))
        clock.move(3600)
        edited = await aldis.process(edit("I have a dog.", asked))
        await aldis.process(message("What do I have?"))
        history = aldis.model.requests[-1].messages
        assert history[0].role == "user"
        assert history[0].text.endswith("] I have a dog.")
        assert history[0].text.startswith("[Sat 2026-11-21 12:00")
        assert len(aldis.transport.sent) == 3
        await aldis.process(delete(edited))
        assert await aldis.count("SELECT count(DISTINCT turn_id) FROM history") == 2


async def test_of_two_messages_in_one_question_the_edited_one_changes(store: Store, clock: SetClock) -> None:
    """The other words of the question stay as they are, a line that begins with a bracket included."""
    async with app_harness(store, clock) as aldis:
        await aldis.held("zero")
        await aldis.deliver(message("one\n[not a header] 1"))
        two = await aldis.deliver(message("two"))
        aldis.model.gates["zero"].set()
        await aldis.answered(2)
        await aldis.quiet()
        await aldis.deliver(edit("TWO", two))
        await aldis.answered(3)
        last = aldis.model.asked[-1]
        assert last.splitlines()[0].endswith("] one")
        assert last.splitlines()[1] == "\\[not a header] 1"
        assert last.splitlines()[2].endswith("] TWO")
        assert len(last.splitlines()) == 3


async def test_after_ten_edits_or_a_day_the_answer_is_a_new_message(store: Store, clock: SetClock) -> None:
    """Signal's apps would not show the eleventh edit, nor one after a day."""
    async with app_harness(store, clock) as aldis:
        asked = await aldis.process(message("take 0"))
        for number in range(1, 13):
            await aldis.deliver(edit(f"take {number}", asked))
            await aldis.answered(number + 1)
            await aldis.quiet()
        edits = [reply.edits for reply in aldis.transport.sent]
        assert [target is None for target in edits] == [True, *[False] * 10, True, False]
        clock.move(timedelta(days=1, seconds=1).total_seconds())
        await aldis.process(edit("late take", asked))
        assert aldis.transport.sent[-1].edits is None


async def test_edits_ask_no_more_often_than_messages(store: Store, clock: SetClock) -> None:
    """Ten times as many of them come in; what they say stands, and costs nothing more until the minute is over."""
    few = {"limits": {"messages_per_minute": 2, "conversation_messages_per_minute": 100, "turns_at_once": 9}}
    async with app_harness(store, clock, settings=few) as aldis:
        sent_at = await aldis.process(message("Hello."))
        for number in range(9):
            await aldis.process(edit(f"Hello, {number}.", sent_at))
        assert len(aldis.model.asked) == 3
        await aldis.process(message("What did I say?"))
        said = [asked.text for asked in aldis.model.requests[-1].messages if asked.role == "user"]
        assert [text.partition("] ")[2] for text in said] == ["Hello, 8.", "What did I say?"]
        clock.move(61)
        sent_at = await aldis.process(message("And now?"))
        await aldis.process(edit("And then?", sent_at))
        assert len(aldis.model.asked) == 6


async def test_group_talk_that_becomes_a_command_is_no_talk_any_more(store: Store, clock: SetClock) -> None:
    """Nor is it told to the model with the next question; what else was said is."""
    async with app_harness(store, clock, settings={"groups": {"context_messages": 5}}) as aldis:
        await aldis.process(message("the tulips are fine", author=BOB, group=GROUP))
        said = await aldis.process(message("the roses are dead", group=GROUP))
        await aldis.process(edit("/whoami", said, group=GROUP))
        await aldis.process(message("Aldis, how is the garden?", group=GROUP))
        told = words(aldis.model.requests[-1])
        assert ("tulips" in told, "roses" in told, "whoami" in told) == (True, False, False)


# Disappearing


async def test_what_disappears_in_signal_disappears_here(store: Store, clock: SetClock, path: Path) -> None:
    """Question, tool, answer: after the timer nothing is left, in the files neither, and the model never sees them."""
    async with app_harness(store, clock, tools=(Echo(),)) as aldis:
        aldis.model.script += [calls(("echo", {"word": "tulip"})), says("The tulip is fine.")]
        await aldis.process(message("How is the tulip?", expires_in_seconds=60))
        await aldis.process(message("I like roses."))
        rows = await aldis.store.read(lambda repos: repos.history.rows("SELECT message FROM history"))
        await aldis.store.checkpoint()
        sealed = [row[0] for row in rows]
        assert sum(value in on_disk(path) for value in sealed) == len(sealed) == 6
        clock.move(61)
        await aldis.process(message("What do I like?"))
        assert "tulip" not in words(aldis.model.requests[-1])
        await aldis.maintenance.expire()
        files = on_disk(path)
        assert sum(value in files for value in sealed) == 2


async def test_a_message_that_disappears_before_its_answer_is_told_so(store: Store, clock: SetClock) -> None:
    """It waited too long: no model call, a sentence instead."""
    async with app_harness(store, clock, conversations_at_once=1) as aldis:
        await aldis.held("slow", message("slow", author=BOB))
        await aldis.deliver(message("secret", expires_in_seconds=5))
        clock.move(6)
        aldis.model.gates["slow"].set()
        await aldis.quiet()
        assert aldis.transport.sent[-1].content.text == phrases.MESSAGE_EXPIRED.text
        assert aldis.intake.counts.all()["unanswered_expired"] == 1
        assert all("secret" not in asked for asked in aldis.model.asked)
        assert await aldis.count("SELECT count(*) FROM history") == 2


async def test_an_answer_that_disappears_before_it_is_sent_becomes_a_notice(store: Store, clock: SetClock) -> None:
    """Signal was down longer than the timer: the words go, and the person hears that they have gone."""
    async with app_harness(store, clock) as aldis:
        aldis.transport.sends += [NotSent("down", retry_after_seconds=120)]
        await aldis.deliver(message("secret", expires_in_seconds=30))
        await aldis.until(lambda: not aldis.transport.sends)
        clock.move(31)
        await aldis.maintenance.expire()
        [reply] = await aldis.answered(1)
        assert reply.content.text == turn_phrases.ANSWER_EXPIRED.text
        assert reply.chat == ALICE.chat
        await aldis.quiet()
        assert await open_words(aldis) == 0


async def test_what_is_older_than_the_retention_goes(store: Store, clock: SetClock) -> None:
    """By age, also without a timer; what is younger stays."""
    async with app_harness(store, clock, settings={"history": {"retention_days": 30}}) as aldis:
        await aldis.process(message("old"))
        clock.move(timedelta(days=20).total_seconds())
        await aldis.process(message("young"))
        clock.move(timedelta(days=11).total_seconds())
        await aldis.maintenance.tidy()
        await aldis.process(message("now"))
        history = words(aldis.model.requests[-1])
        assert "young" in history
        assert "old" not in history
