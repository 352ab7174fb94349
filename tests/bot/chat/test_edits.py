"""What people take back or change while Aldis works, and what passes: carried through to all that was made of it."""

import asyncio
import json
from datetime import timedelta
from functools import partial
from pathlib import Path

import pytest

from bot.chat import phrases as turn_phrases
from bot.clock import SetClock
from bot.errors import NotSent, Rejected, SendUnknown
from bot.events import SentId
from bot.i18n import phrases
from bot.models.base import Request
from bot.signal.envelope import FrameReader
from store import Store, open_store
from tests.bot.chat.turn_helpers import Echo, calls, says
from tests.bot.loops.app_harness import FIRST, Harness, app_harness
from tests.bot.signal.bridges import OWN_ACCOUNT
from tests.invariants import is_sendable
from tests.servers.envelopes import ALICE, BOB, GROUP, admin_delete, delete, edit, message, reaction, timer


def words(request: Request) -> str:
    return " ".join(str(part) for part in request.messages)


def on_disk(path: Path) -> bytes:
    """Every file of the store, in one row."""
    return b"".join(file.read_bytes() for file in path.parent.iterdir())


async def open_words(aldis: Harness) -> int:
    """How many sealed values of words are left, of all tables."""
    return await aldis.count(
        "SELECT (SELECT count(*) FROM history) + (SELECT count(*) FROM journal) + (SELECT count(*) FROM ledger "
        "WHERE details IS NOT NULL) + (SELECT count(*) FROM inbox WHERE envelope IS NOT NULL) + "
        "(SELECT count(*) FROM outbox WHERE reply IS NOT NULL)"
    )


async def asked_twice(aldis: Harness, *, is_running: bool) -> int:
    """A question about lanterns that `/retry` has answered again, or is answering; gives its name."""
    asked = await aldis.process(message("slow lanterns"))
    if is_running:
        aldis.model.gates["slow"] = asyncio.Event()
    await aldis.deliver(message("/retry"))
    await aldis.asked(2)
    await (aldis.until(lambda: bool(aldis.worker.tasks.running())) if is_running else aldis.quiet())
    return asked


# Deleted


async def test_what_is_urgent_comes_before_what_arrives_with_it(store: Store, clock: SetClock) -> None:
    """A question that is taken back in the same breath is not claimed."""
    async with app_harness(store, clock) as aldis:
        frames = FrameReader(OWN_ACCOUNT, "Aldis")
        both = (message("never mind", sent_at=1_795_000_000_500), delete(1_795_000_000_500))
        envelopes = [frames.envelope(json.dumps(frame)) for frame in both]
        await aldis.intake.take(*(envelope for envelope in envelopes if envelope is not None))
        await aldis.quiet()
        assert aldis.model.asked == []


async def test_the_answer_to_a_command_goes_with_it(store: Store, clock: SetClock) -> None:
    """It repeats what was said there: where it is not sent it goes, and from the chat if answers are deleted at all."""
    async with app_harness(store, clock, deletes_answers=True) as aldis:
        asked = await aldis.deliver(message("/remind in 2 hours call the clinic"))
        [told] = await aldis.answered(1)
        assert "clinic" in told.content.text
        await aldis.quiet()
        await aldis.deliver(delete(asked))
        await aldis.quiet()
        assert [removal.target for removal in aldis.transport.removed] == [FIRST + 1]
        aldis.transport.sends += [NotSent("down", retry_after_seconds=120)]
        asked = await aldis.deliver(message("/remind in 3 hours call the clinic"))
        await aldis.quiet_but(1)
        await aldis.deliver(delete(asked))
        await aldis.quiet()
        assert await open_words(aldis) == 0


async def test_a_deleted_message_is_gone_with_what_was_made_of_it(store: Store, clock: SetClock) -> None:
    """Question, tool arguments and results, answer: nothing is left, and the model does not see them again."""
    async with app_harness(store, clock, tools=(Echo(),)) as aldis:
        aldis.model.script += [calls(("echo", {"word": "tulip"})), says("The tulip is fine.")]
        asked = await aldis.deliver(message("How is the tulip?"))
        await aldis.answered(1)
        await aldis.quiet()
        await aldis.deliver(message("And the rose?"))
        await aldis.answered(2)
        await aldis.deliver(delete(asked))
        await aldis.quiet()
        await aldis.deliver(message("What did I ask?"))
        await aldis.answered(3)
        assert "tulip" not in words(aldis.model.requests[-1])
        assert "rose" in words(aldis.model.requests[-1])
        assert is_sendable(aldis.model.requests[-1].messages)
        assert await aldis.count("SELECT count(*) FROM ledger WHERE details IS NOT NULL") == 0
        assert await aldis.count("SELECT count(*) FROM ledger WHERE kind = 'tool'") == 1
        assert aldis.transport.removed == []


async def test_the_answer_is_deleted_too_where_the_operator_wants_it(store: Store, clock: SetClock) -> None:
    """Every part of it, by the time under which it went out."""
    async with app_harness(store, clock, deletes_answers=True) as aldis:
        aldis.transport.takes_long_texts = False
        aldis.model.script += [says("long. " * 700)]
        asked = await aldis.deliver(message("Tell me everything."))
        await aldis.quiet()
        parts = len(aldis.transport.sent)
        assert parts > 1
        await aldis.deliver(delete(asked))
        await aldis.transport.until(lambda: len(aldis.transport.removed) == parts)
        assert [removal.target for removal in aldis.transport.removed] == [
            FIRST + 1 + number for number in range(parts)
        ]
        assert {removal.chat for removal in aldis.transport.removed} == {ALICE.chat}
        await aldis.quiet()
        assert await open_words(aldis) == 0


async def test_deleting_a_message_stops_its_turn(store: Store, clock: SetClock) -> None:
    """The model call is cancelled, nothing is said, nothing is left; the next message works."""
    async with app_harness(store, clock) as aldis:
        aldis.model.gates["slow"] = asyncio.Event()
        asked = await aldis.deliver(message("slow one"))
        await aldis.asked(1)
        await aldis.deliver(delete(asked))
        await aldis.quiet()
        await aldis.deliver(message("next"))
        [reply] = await aldis.answered(1)
        assert reply.content.text == "re: next"
        assert "slow" not in words(aldis.model.requests[-1])
        assert len(aldis.model.asked) == 2


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
            gate = aldis.model.gates["slow"] = asyncio.Event()
            await aldis.deliver(message("slow"))
            await aldis.asked(1)
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


async def test_what_is_answered_is_not_asked_again(store: Store, clock: SetClock) -> None:
    """Once the one answer to two messages is out, deleting one of them asks nothing, and no words of them are kept."""
    async with app_harness(store, clock) as aldis:
        gate = aldis.model.gates["slow"] = asyncio.Event()
        await aldis.deliver(message("slow"))
        await aldis.asked(1)
        first, _ = [await aldis.deliver(message(word)) for word in ("tulip", "rose")]
        gate.set()
        await aldis.answered(2)
        await aldis.quiet()
        assert await aldis.count("SELECT count(*) FROM inbox WHERE envelope IS NOT NULL") == 0
        await aldis.process(delete(first))
        assert (len(aldis.model.asked), len(aldis.transport.sent)) == (2, 2)


async def test_a_message_that_is_deleted_before_its_turn_is_never_asked(store: Store, clock: SetClock) -> None:
    """While another conversation has the only place, it waits, and goes."""
    async with app_harness(store, clock, conversations_at_once=1) as aldis:
        aldis.model.gates["slow"] = asyncio.Event()
        await aldis.deliver(message("slow", author=BOB))
        await aldis.asked(1)
        asked = await aldis.deliver(message("regretted"))
        await aldis.deliver(delete(asked))
        await aldis.until(lambda: True)
        aldis.model.gates["slow"].set()
        await aldis.answered(1)
        await aldis.quiet()
        assert [reply.content.text for reply in aldis.transport.sent] == ["re: slow"]
        assert await aldis.count("SELECT count(*) FROM inbox WHERE envelope IS NOT NULL") == 0


async def test_nobody_deletes_what_another_wrote(store: Store, clock: SetClock) -> None:
    """In a group a member deletes by author and time: the same time of another author is another message."""
    async with app_harness(store, clock) as aldis:
        asked = await aldis.deliver(message("Aldis, mine", author=ALICE, group=GROUP))
        await aldis.answered(1)
        await aldis.deliver(delete(asked, author=BOB, group=GROUP))
        await aldis.quiet()
        assert await aldis.count("SELECT count(*) FROM history") == 2
        await aldis.deliver(admin_delete(asked, ALICE, author=BOB))
        await aldis.quiet()
        assert await aldis.count("SELECT count(*) FROM history") == 0


async def test_an_unsent_answer_to_a_deleted_message_is_not_sent(store: Store, clock: SetClock) -> None:
    """Signal was down when it was answered, and is up when the question is gone."""
    async with app_harness(store, clock) as aldis:
        aldis.transport.sends += [NotSent("down")]
        asked = await aldis.deliver(message("hello"))
        await aldis.asked(1)
        await aldis.until(lambda: not aldis.transport.sends)
        await aldis.deliver(delete(asked))
        await aldis.quiet()
        assert aldis.transport.sent == []
        assert await open_words(aldis) == 0


async def test_deleting_what_nobody_knows_changes_nothing(store: Store, clock: SetClock) -> None:
    """A message from before Aldis was there; a deletion that comes twice."""
    async with app_harness(store, clock) as aldis:
        await aldis.deliver(delete(12345))
        asked = await aldis.deliver(message("hello"))
        await aldis.answered(1)
        gone = delete(asked)
        await aldis.deliver(gone)
        await aldis.deliver(gone)
        await aldis.deliver(delete(asked))
        await aldis.quiet()
        assert await aldis.count("SELECT count(*) FROM inbox WHERE state = 'dead'") == 0


# Edited


async def test_editing_the_newest_question_edits_the_answer(store: Store, clock: SetClock) -> None:
    """It is asked again in its new words, and the answer takes the place of the old one; again and again."""
    async with app_harness(store, clock) as aldis:
        asked = await aldis.deliver(message("How is teh rose?"))
        await aldis.answered(1)
        await aldis.quiet()
        first = await aldis.deliver(edit("How is the rose?", asked))
        await aldis.answered(2)
        await aldis.quiet()
        await aldis.deliver(edit("How is the red rose?", first))
        replies = await aldis.answered(3)
        await aldis.quiet()
        assert [reply.content.text for reply in replies] == [
            "re: How is teh rose?",
            "re: How is the rose?",
            "re: How is the red rose?",
        ]
        assert [reply.edits for reply in replies] == [None, FIRST + 1, FIRST + 2]
        await aldis.deliver(message("Thanks"))
        await aldis.answered(4)
        history = words(aldis.model.requests[-1])
        assert "red rose" in history
        assert "teh" not in history
        assert history.count("How is") == 2  # the question and its answer, once each


async def test_an_edit_stops_the_turn_that_runs(store: Store, clock: SetClock) -> None:
    """One answer comes, to the new words."""
    async with app_harness(store, clock) as aldis:
        aldis.model.gates["slow"] = asyncio.Event()
        asked = await aldis.deliver(message("slow"))
        await aldis.asked(1)
        await aldis.deliver(edit("quick", asked))
        [reply] = await aldis.answered(1)
        await aldis.quiet()
        assert (reply.content.text, reply.edits) == ("re: quick", None)
        assert len(aldis.transport.sent) == 1
        assert await aldis.count("SELECT count(*) FROM history") == 2


async def test_an_edit_of_an_edit_that_is_being_answered_still_edits_the_first_answer(
    store: Store, clock: SetClock
) -> None:
    """The chain is not lost when the repeated turn is repeated itself."""
    async with app_harness(store, clock) as aldis:
        aldis.model.gates["slow"] = asyncio.Event()
        asked = await aldis.deliver(message("one"))
        await aldis.answered(1)
        await aldis.quiet()
        await aldis.deliver(edit("slow two", asked))
        await aldis.asked(2)
        await aldis.deliver(edit("three", asked))
        replies = await aldis.answered(2)
        await aldis.quiet()
        assert [(reply.content.text, reply.edits) for reply in replies] == [("re: one", None), ("re: three", FIRST + 1)]


async def test_editing_an_older_message_corrects_the_history_alone(store: Store, clock: SetClock) -> None:
    """No new answer; what the model reads of it has its new words and its old date."""
    async with app_harness(store, clock) as aldis:
        asked = await aldis.deliver(message("I have a dgo."))
        await aldis.answered(1)
        await aldis.deliver(message("And a cat."))
        await aldis.answered(2)
        await aldis.quiet()
        clock.move(3600)
        edited = await aldis.deliver(edit("I have a dog.", asked))
        await aldis.quiet()
        await aldis.deliver(message("What do I have?"))
        await aldis.answered(3)
        history = aldis.model.requests[-1].messages
        assert history[0].role == "user"
        assert history[0].text.endswith("] I have a dog.")
        assert history[0].text.startswith("[Sat 2026-11-21 12:00")
        assert len(aldis.transport.sent) == 3
        await aldis.deliver(delete(edited))
        await aldis.quiet()
        assert await aldis.count("SELECT count(DISTINCT turn_id) FROM history") == 2


async def test_where_nothing_is_answered_an_edit_corrects_the_history(store: Store, clock: SetClock) -> None:
    """The answer on everybody's screen stays, and is what the model knows afterwards."""
    async with app_harness(store, clock, admins=frozenset({BOB.uuid})) as aldis:
        sent_at = await aldis.process(message("Aldis, apples?", group=GROUP))
        await aldis.process(message("/pause", author=BOB, group=GROUP))
        await aldis.process(edit("Aldis, pears?", sent_at, group=GROUP))
        assert len(aldis.model.asked) == 1
        await aldis.process(message("/resume", author=BOB, group=GROUP))
        await aldis.process(message("Aldis, and now?", group=GROUP))
        asked = words(aldis.model.requests[-1])
        assert ("pears?" in asked, "re: Aldis, apples?" in asked) == (True, True)
        assert aldis.transport.removed == []


async def test_an_edit_of_what_was_under_way_before_a_pause_is_answered(store: Store, clock: SetClock) -> None:
    """As the question itself would be; what is asked after it is not."""
    async with app_harness(store, clock) as aldis:
        aldis.model.gates["slow"] = asyncio.Event()
        sent_at = await aldis.deliver(message("slow?"))
        await aldis.asked(1)
        clock.move(1)
        await aldis.deliver(message("/pause"))
        await aldis.answered(1)
        clock.move(1)
        await aldis.process(edit("fast?", sent_at))
        assert [reply.content.text for reply in aldis.transport.sent[1:]] == ["re: fast?"]
        await aldis.process(message("And this?"))
        assert aldis.transport.sent[-1].content.text == turn_phrases.IS_PAUSED.text.replace("`", "")


async def test_a_question_that_failed_is_asked_again_in_its_new_words(store: Store, clock: SetClock) -> None:
    """It was changed while nothing was answered there."""
    async with app_harness(store, clock) as aldis:
        aldis.model.script = [Rejected("no", provider="p")]
        sent_at = await aldis.process(message("apples?"))
        await aldis.process(message("/pause"))
        await aldis.process(edit("pears?", sent_at))
        await aldis.process(message("/resume"))
        await aldis.process(message("/retry"))
        assert aldis.transport.sent[-1].content.text == "re: pears?"


async def test_an_edit_between_two_tries_is_answered(store: Store, clock: SetClock) -> None:
    """The first has failed, and the second would come in a moment."""
    async with app_harness(store, clock) as aldis:
        aldis.model.script = [object()]  # no completion at all: nobody expects that
        sent_at = await aldis.deliver(message("apples?"))
        await aldis.until(lambda: aldis.worker._counts.all().get("turns_failed") == 1)
        await aldis.process(edit("pears?", sent_at))
        assert [reply.content.text for reply in aldis.transport.sent] == ["re: pears?"]
        assert len(aldis.model.asked) == 2


async def test_of_two_messages_in_one_question_the_edited_one_changes(store: Store, clock: SetClock) -> None:
    """The other words of the question stay as they are, a line that begins with a bracket included."""
    async with app_harness(store, clock) as aldis:
        aldis.model.gates["zero"] = asyncio.Event()
        await aldis.deliver(message("zero"))
        await aldis.asked(1)
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


@pytest.mark.parametrize("is_running", [False, True])
async def test_a_question_that_is_asked_again_is_still_its_messages(
    store: Store, clock: SetClock, *, is_running: bool
) -> None:
    """After `/retry`, and while it is being answered again: who deletes the message takes all of it away."""
    async with app_harness(store, clock, deletes_answers=True) as aldis:
        asked = await asked_twice(aldis, is_running=is_running)
        await aldis.deliver(delete(asked))
        await aldis.quiet()
        answers = 1 if is_running else 2
        assert len(aldis.transport.sent) == answers
        assert [removal.target for removal in aldis.transport.removed] == [FIRST + answers]
        assert await open_words(aldis) == 0
        assert await aldis.count("SELECT count(*) FROM inbox WHERE state IN ('waiting', 'claimed')") == 0
        await aldis.process(message("And now?"))
        assert "lanterns" not in words(aldis.model.requests[-1])


async def test_what_was_paid_for_a_question_that_is_asked_again_counts(store: Store, clock: SetClock) -> None:
    """Its message is deleted while the second answer is at its tool."""
    reached, never = asyncio.Event(), asyncio.Event()

    async def hang(_: str) -> None:
        reached.set()
        await never.wait()

    async with app_harness(store, clock, tools=(Echo(work=hang),)) as aldis:
        aldis.model.script += [says("Yes."), calls(("echo", {"word": "a"}))]
        asked = await aldis.process(message("Lanterns?"))
        await aldis.deliver(message("/retry"))
        await reached.wait()
        await aldis.deliver(delete(asked))
        await aldis.quiet()
        assert await aldis.count("SELECT count(*) FROM ledger WHERE kind = 'model'") == 2
        assert len(aldis.transport.sent) == 1


@pytest.mark.parametrize("is_running", [False, True])
async def test_a_question_that_is_asked_again_has_the_words_of_the_edit(
    store: Store, clock: SetClock, *, is_running: bool
) -> None:
    """After `/retry`, and while it is being answered again, which stops; the first answer is edited all the same."""
    async with app_harness(store, clock) as aldis:
        asked = await asked_twice(aldis, is_running=is_running)
        await aldis.process(edit("Tulips", asked))
        assert aldis.transport.sent[-1].content.text == "re: Tulips"
        assert aldis.transport.sent[-1].edits == FIRST + (1 if is_running else 2)
        await aldis.process(message("And now?"))
        assert "lanterns" not in words(aldis.model.requests[-1])
        assert words(aldis.model.requests[-1]).count("Tulips") == 2
        assert is_sendable(aldis.model.requests[-1].messages)


async def test_what_was_asked_with_an_edited_message_can_still_be_deleted(store: Store, clock: SetClock) -> None:
    """Of two messages in one question one was edited, so both were asked again, in another turn."""
    async with app_harness(store, clock) as aldis:
        aldis.model.gates["zero"] = asyncio.Event()
        await aldis.deliver(message("zero"))
        await aldis.asked(1)
        one = await aldis.deliver(message("one lantern"))
        two = await aldis.deliver(message("two"))
        aldis.model.gates["zero"].set()
        await aldis.answered(2)
        await aldis.quiet()
        await aldis.process(edit("TWO", two))
        assert "one lantern" in aldis.model.asked[-1]
        await aldis.process(delete(one))
        await aldis.process(message("And now?"))
        assert "lantern" not in words(aldis.model.requests[-1])


async def test_edits_of_messages_that_are_asked_again_are_refused_once_they_are_too_many(
    store: Store, clock: SetClock
) -> None:
    """Also where each stops the answer to the other's: no former words stay behind."""
    few = {"limits": {"messages_per_minute": 2, "conversation_messages_per_minute": 100, "turns_at_once": 9}}
    async with app_harness(store, clock, settings=few) as aldis:
        asked = await aldis.process(message("slow lanterns"))
        aldis.model.gates["slow"] = asyncio.Event()
        for number in range(4):
            await aldis.deliver(message("/retry"))
            await aldis.deliver(edit(f"slow lanterns {number}", asked))
        aldis.model.gates["slow"].set()
        await aldis.quiet()
        clock.move(61)
        await aldis.process(message("And now?"))
        history = words(aldis.model.requests[-1])
        assert all(f"lanterns {number}" not in history for number in range(3))


async def test_a_long_answer_that_becomes_short_loses_its_further_parts(store: Store, clock: SetClock) -> None:
    """The first part is edited, the others are deleted; and a short one that becomes long grows by new messages."""
    async with app_harness(store, clock) as aldis:
        aldis.transport.takes_long_texts = False
        aldis.model.script += [says("long. " * 700), says("short."), says("long. " * 700)]
        asked = await aldis.deliver(message("Tell me."))
        await aldis.quiet()
        parts = len(aldis.transport.sent)
        assert parts > 1
        await aldis.deliver(edit("Tell me, briefly.", asked))
        await aldis.quiet()
        assert [reply.edits for reply in aldis.transport.sent[parts:]] == [FIRST + 1]
        assert [removal.target for removal in aldis.transport.removed] == [FIRST + 1 + n for n in range(1, parts)]
        await aldis.deliver(edit("Tell me more.", asked))
        await aldis.quiet()
        edits = [reply.edits for reply in aldis.transport.sent[parts + 1 :]]
        assert edits == [FIRST + 1 + parts, *[None] * (parts - 1)]


async def test_after_ten_edits_or_a_day_the_answer_is_a_new_message(store: Store, clock: SetClock) -> None:
    """Signal's apps would not show the eleventh edit, nor one after a day."""
    async with app_harness(store, clock) as aldis:
        asked = await aldis.deliver(message("take 0"))
        await aldis.quiet()
        for number in range(1, 13):
            await aldis.deliver(edit(f"take {number}", asked))
            await aldis.answered(number + 1)
            await aldis.quiet()
        edits = [reply.edits for reply in aldis.transport.sent]
        assert [target is None for target in edits] == [True, *[False] * 10, True, False]
        clock.move(timedelta(days=1, seconds=1).total_seconds())
        await aldis.deliver(edit("late take", asked))
        await aldis.quiet()
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


async def test_edits_of_what_is_not_answered_yet_are_refused_once_they_are_too_many(
    store: Store, clock: SetClock
) -> None:
    """Each stops what runs; the first that is too much is told so, the others are not answered."""
    few = {"limits": {"messages_per_minute": 2, "conversation_messages_per_minute": 100, "turns_at_once": 9}}
    async with app_harness(store, clock, settings=few) as aldis:
        gate = aldis.model.gates["slow"] = asyncio.Event()
        sent_at = await aldis.deliver(message("A slow one."))
        await aldis.asked(1)
        for number in range(2):
            await aldis.deliver(edit(f"A slow one, {number}.", sent_at))
            await aldis.asked(2 + number)
        for number in range(2, 9):
            await aldis.process(edit(f"A slow one, {number}.", sent_at))
        gate.set()
        await aldis.quiet()
        assert (len(aldis.model.asked), [reply.content.text for reply in aldis.transport.sent]) == (
            3,
            [phrases.TOO_MANY.text],
        )


async def test_an_answer_that_never_went_out_is_not_edited(store: Store, clock: SetClock) -> None:
    """The first answer still waits for Signal when the question is edited: only the new one is sent."""
    async with app_harness(store, clock) as aldis:
        aldis.transport.sends += [NotSent("down")]
        asked = await aldis.deliver(message("one"))
        await aldis.until(lambda: not aldis.transport.sends)
        await aldis.deliver(edit("two", asked))
        [reply] = await aldis.answered(1)
        await aldis.quiet()
        assert (reply.content.text, reply.edits) == ("re: two", None)
        assert len(aldis.transport.sent) == 1


async def test_group_talk_that_becomes_a_question_is_answered(store: Store, clock: SetClock) -> None:
    """A message that nobody meant for Aldis is edited so that it is; one that still is not stays ignored."""
    async with app_harness(store, clock) as aldis:
        asked = await aldis.deliver(message("how are the roses?", group=GROUP))
        await aldis.quiet()
        await aldis.deliver(edit("how are the red roses?", asked, group=GROUP))
        await aldis.quiet()
        assert aldis.model.asked == []
        await aldis.deliver(edit("Aldis, how are the roses?", asked, group=GROUP))
        [reply] = await aldis.answered(1)
        assert reply.content.text == "re: Aldis, how are the roses?"


async def test_an_edit_of_a_forgotten_message_is_left_alone(store: Store, clock: SetClock) -> None:
    """Nobody can say what it was about."""
    async with app_harness(store, clock) as aldis:
        await aldis.deliver(edit("new words", 12345))
        await aldis.quiet()
        assert aldis.model.asked == []
        assert aldis.transport.sent == []


@pytest.mark.parametrize("frame", [timer(3600), reaction("👍", 1), timer(0, group=GROUP)])
async def test_timers_and_reactions_are_no_prompts(store: Store, clock: SetClock, frame: dict[str, object]) -> None:
    """They are noted, nothing is asked, nothing is said."""
    async with app_harness(store, clock) as aldis:
        await aldis.deliver(frame)
        await aldis.quiet()
        assert (aldis.model.asked, aldis.transport.sent) == ([], [])


# Disappearing


async def test_what_disappears_in_signal_disappears_here(store: Store, clock: SetClock, path: Path) -> None:
    """Question, tool, answer: after the timer nothing is left, in the files neither, and the model never sees them."""
    async with app_harness(store, clock, tools=(Echo(),)) as aldis:
        aldis.model.script += [calls(("echo", {"word": "tulip"})), says("The tulip is fine.")]
        await aldis.deliver(message("How is the tulip?", expires_in_seconds=60))
        await aldis.quiet()
        await aldis.deliver(message("I like roses."))
        await aldis.quiet()
        rows = await aldis.store.read(lambda repos: repos.history.rows("SELECT message FROM history"))
        await aldis.store.checkpoint()
        sealed = [row[0] for row in rows]
        assert sum(value in on_disk(path) for value in sealed) == len(sealed) == 6
        clock.move(61)
        await aldis.deliver(message("What do I like?"))
        await aldis.answered(3)
        assert "tulip" not in words(aldis.model.requests[-1])
        await aldis.maintenance.expire()
        files = on_disk(path)
        assert sum(value in files for value in sealed) == 2
        assert await aldis.count("SELECT count(*) FROM ledger WHERE details IS NOT NULL") == 0


async def test_a_timer_runs_while_aldis_is_down(store: Store, clock: SetClock) -> None:
    """At the start what has expired goes before anything else happens."""
    async with app_harness(store, clock) as aldis:
        await aldis.deliver(message("secret", expires_in_seconds=30))
        await aldis.quiet()
    clock.move(3600)
    async with app_harness(store, clock) as aldis:
        await aldis.maintenance.recover()
        assert await open_words(aldis) == 0


async def test_a_message_that_disappears_before_its_answer_is_told_so(store: Store, clock: SetClock) -> None:
    """It waited too long: no model call, a sentence instead."""
    async with app_harness(store, clock, conversations_at_once=1) as aldis:
        aldis.model.gates["slow"] = asyncio.Event()
        await aldis.deliver(message("slow", author=BOB))
        await aldis.asked(1)
        await aldis.deliver(message("secret", expires_in_seconds=5))
        clock.move(6)
        aldis.model.gates["slow"].set()
        await aldis.quiet()
        assert aldis.transport.sent[-1].content.text == phrases.MESSAGE_EXPIRED.text
        assert aldis.intake._counts.all()["unanswered_expired"] == 1
        assert all("secret" not in asked for asked in aldis.model.asked)
        assert await aldis.count("SELECT count(*) FROM history") == 2


async def test_a_turn_that_outlives_its_message_is_answered_and_not_remembered(store: Store, clock: SetClock) -> None:
    """The person gets the answer that was under way; nothing of it is kept."""
    async with app_harness(store, clock) as aldis:
        aldis.model.gates["slow"] = asyncio.Event()
        await aldis.deliver(message("slow", expires_in_seconds=5))
        await aldis.asked(1)
        clock.move(6)
        aldis.model.gates["slow"].set()
        [reply] = await aldis.answered(1)
        await aldis.quiet()
        assert reply.content.text == "re: slow"
        assert await open_words(aldis) == 0


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
        await aldis.deliver(message("old"))
        await aldis.quiet()
        clock.move(timedelta(days=20).total_seconds())
        await aldis.deliver(message("young"))
        await aldis.quiet()
        clock.move(timedelta(days=11).total_seconds())
        await aldis.maintenance.tidy()
        await aldis.deliver(message("now"))
        await aldis.answered(3)
        history = words(aldis.model.requests[-1])
        assert "young" in history
        assert "old" not in history


async def test_a_message_of_the_day_before_yesterday_is_not_answered_as_if_it_were_new(
    store: Store, clock: SetClock
) -> None:
    """It waited with Signal's server while Aldis was away: one sentence, no model call."""
    async with app_harness(store, clock, settings={"intake": {"max_age": 86_400}}) as aldis:
        sent_at = int((clock.now() - timedelta(days=2)).timestamp() * 1000)
        days_ms = 2 * 86_400_000
        await aldis.deliver(message("Is it raining?", sent_at=sent_at, waited_ms=days_ms))
        later_at, later_ms = sent_at + 100_000_000, days_ms - 100_000_000
        await aldis.deliver(message("Is it still raining?", author=BOB, sent_at=later_at, waited_ms=later_ms))
        await aldis.answered(2)
        assert {reply.content.text for reply in aldis.transport.sent} == {
            phrases.TOO_OLD.text,
            "re: Is it still raining?",
        }
        assert aldis.intake._counts.all()["unanswered_too_old"] == 1
        assert len(aldis.model.asked) == 1
