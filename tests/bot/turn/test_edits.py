"""What people take back or change while Aldis works, and what passes: carried through to all that was made of it."""

import asyncio
from datetime import timedelta
from pathlib import Path

import pytest

from bot.clock import SetClock
from bot.errors import NotSent, Rejected
from bot.i18n import phrases
from bot.providers.base import Request
from bot.turn import phrases as turn_phrases
from store import Store
from tests.bot.loops.app_harness import FIRST, Port, app_harness
from tests.bot.turn.turn_helpers import Echo, calls, says
from tests.invariants import is_sendable
from tests.servers.envelopes import ALICE, BOB, GROUP, admin_delete, delete, edit, message, reaction, timer


def words(request: Request) -> str:
    return " ".join(str(part) for part in request.messages)


def on_disk(path: Path) -> bytes:
    """Every file of the store, in one row."""
    return b"".join(file.read_bytes() for file in path.parent.iterdir())


async def open_words(port: Port) -> int:
    """How many sealed values of words are left, of all tables."""
    return await port.count(
        "SELECT (SELECT count(*) FROM history) + (SELECT count(*) FROM journal) + (SELECT count(*) FROM ledger "
        "WHERE details IS NOT NULL) + (SELECT count(*) FROM inbox WHERE envelope IS NOT NULL) + "
        "(SELECT count(*) FROM outbox WHERE reply IS NOT NULL)"
    )


# Deleted


async def test_the_answer_to_a_command_goes_with_it(store: Store, clock: SetClock) -> None:
    """It repeats what was said there: where it is not sent it goes, and from the chat if answers are deleted at all."""
    async with app_harness(store, clock, deletes_answers=True) as port:
        asked = await port.deliver(message("/remind in 2 hours call the clinic"))
        [told] = await port.answered(1)
        assert "clinic" in told.content.text
        await port.quiet()
        await port.deliver(delete(asked))
        await port.quiet()
        assert [removal.target for removal in port.transport.removed] == [FIRST + 1]
        port.transport.sends += [NotSent("down", retry_after_seconds=120)]
        asked = await port.deliver(message("/remind in 3 hours call the clinic"))
        await port.quiet_but(1)
        await port.deliver(delete(asked))
        await port.quiet()
        assert await open_words(port) == 0


async def test_a_deleted_message_is_gone_with_what_was_made_of_it(store: Store, clock: SetClock) -> None:
    """Question, tool arguments and results, answer: nothing is left, and the model does not see them again."""
    async with app_harness(store, clock, tools=(Echo(),)) as port:
        port.thinker.script += [calls(("echo", {"word": "tulip"})), says("The tulip is fine.")]
        asked = await port.deliver(message("How is the tulip?"))
        await port.answered(1)
        await port.quiet()
        await port.deliver(message("And the rose?"))
        await port.answered(2)
        await port.deliver(delete(asked))
        await port.quiet()
        await port.deliver(message("What did I ask?"))
        await port.answered(3)
        assert "tulip" not in words(port.thinker.requests[-1])
        assert "rose" in words(port.thinker.requests[-1])
        assert is_sendable(port.thinker.requests[-1].messages)
        assert await port.count("SELECT count(*) FROM ledger WHERE details IS NOT NULL") == 0
        assert await port.count("SELECT count(*) FROM ledger WHERE kind = 'tool'") == 1
        assert port.transport.removed == []


async def test_the_answer_is_deleted_too_where_the_operator_wants_it(store: Store, clock: SetClock) -> None:
    """Every part of it, by the time under which it went out."""
    async with app_harness(store, clock, deletes_answers=True) as port:
        port.transport.takes_long_texts = False
        port.thinker.script += [says("long. " * 700)]
        asked = await port.deliver(message("Tell me everything."))
        await port.quiet()
        parts = len(port.transport.sent)
        assert parts > 1
        await port.deliver(delete(asked))
        await port.transport.until(lambda: len(port.transport.removed) == parts)
        assert [removal.target for removal in port.transport.removed] == [FIRST + 1 + number for number in range(parts)]
        assert {removal.chat for removal in port.transport.removed} == {ALICE.chat}
        await port.quiet()
        assert await open_words(port) == 0


async def test_deleting_a_message_stops_its_turn(store: Store, clock: SetClock) -> None:
    """The model call is cancelled, nothing is said, nothing is left; the next message works."""
    async with app_harness(store, clock) as port:
        port.thinker.gates["slow"] = asyncio.Event()
        asked = await port.deliver(message("slow one"))
        await port.asked(1)
        await port.deliver(delete(asked))
        await port.quiet()
        await port.deliver(message("next"))
        [reply] = await port.answered(1)
        assert reply.content.text == "re: next"
        assert "slow" not in words(port.thinker.requests[-1])
        assert len(port.thinker.asked) == 2


async def test_what_was_asked_with_a_deleted_message_is_asked_again_without_it(store: Store, clock: SetClock) -> None:
    """Of two messages that were taken together one is deleted: the other has its answer."""
    async with app_harness(store, clock) as port:
        port.thinker.gates = {"first": asyncio.Event(), "second": asyncio.Event()}
        await port.deliver(message("first"))
        await port.asked(1)
        second = await port.deliver(message("second"))
        await port.deliver(message("third"))
        port.thinker.gates["first"].set()
        await port.asked(2)
        assert "third" in port.thinker.asked[1]
        await port.deliver(delete(second))
        assert (await port.answered(2))[1].content.text == "re: third"
        assert "second" not in words(port.thinker.requests[-1])


async def test_a_message_that_is_deleted_before_its_turn_is_never_asked(store: Store, clock: SetClock) -> None:
    """While another conversation has the only place, it waits, and goes."""
    async with app_harness(store, clock, conversations_at_once=1) as port:
        port.thinker.gates["slow"] = asyncio.Event()
        await port.deliver(message("slow", author=BOB))
        await port.asked(1)
        asked = await port.deliver(message("regretted"))
        await port.deliver(delete(asked))
        await port.until(lambda: True)
        port.thinker.gates["slow"].set()
        await port.answered(1)
        await port.quiet()
        assert [reply.content.text for reply in port.transport.sent] == ["re: slow"]
        assert await port.count("SELECT count(*) FROM inbox WHERE envelope IS NOT NULL") == 0


async def test_nobody_deletes_what_another_wrote(store: Store, clock: SetClock) -> None:
    """In a group a member deletes by author and time: the same time of another author is another message."""
    async with app_harness(store, clock) as port:
        asked = await port.deliver(message("Aldis, mine", author=ALICE, group=GROUP))
        await port.answered(1)
        await port.deliver(delete(asked, author=BOB, group=GROUP))
        await port.quiet()
        assert await port.count("SELECT count(*) FROM history") == 2
        await port.deliver(admin_delete(asked, ALICE, author=BOB))
        await port.quiet()
        assert await port.count("SELECT count(*) FROM history") == 0


async def test_an_unsent_answer_to_a_deleted_message_is_not_sent(store: Store, clock: SetClock) -> None:
    """Signal was down when it was answered, and is up when the question is gone."""
    async with app_harness(store, clock) as port:
        port.transport.sends += [NotSent("down")]
        asked = await port.deliver(message("hello"))
        await port.asked(1)
        await port.until(lambda: not port.transport.sends)
        await port.deliver(delete(asked))
        await port.quiet()
        assert port.transport.sent == []
        assert await open_words(port) == 0


async def test_deleting_what_nobody_knows_changes_nothing(store: Store, clock: SetClock) -> None:
    """A message from before Aldis was there; a deletion that comes twice."""
    async with app_harness(store, clock) as port:
        await port.deliver(delete(12345))
        asked = await port.deliver(message("hello"))
        await port.answered(1)
        gone = delete(asked)
        await port.deliver(gone)
        await port.deliver(gone)
        await port.deliver(delete(asked))
        await port.quiet()
        assert await port.count("SELECT count(*) FROM inbox WHERE state = 'dead'") == 0


# Edited


async def test_editing_the_newest_question_edits_the_answer(store: Store, clock: SetClock) -> None:
    """It is asked again in its new words, and the answer takes the place of the old one; again and again."""
    async with app_harness(store, clock) as port:
        asked = await port.deliver(message("How is teh rose?"))
        await port.answered(1)
        await port.quiet()
        first = await port.deliver(edit("How is the rose?", asked))
        await port.answered(2)
        await port.quiet()
        await port.deliver(edit("How is the red rose?", first))
        replies = await port.answered(3)
        await port.quiet()
        assert [reply.content.text for reply in replies] == [
            "re: How is teh rose?",
            "re: How is the rose?",
            "re: How is the red rose?",
        ]
        assert [reply.edits for reply in replies] == [None, FIRST + 1, FIRST + 2]
        await port.deliver(message("Thanks"))
        await port.answered(4)
        history = words(port.thinker.requests[-1])
        assert "red rose" in history
        assert "teh" not in history
        assert history.count("How is") == 2  # the question and its answer, once each


async def test_an_edit_stops_the_turn_that_runs(store: Store, clock: SetClock) -> None:
    """One answer comes, to the new words."""
    async with app_harness(store, clock) as port:
        port.thinker.gates["slow"] = asyncio.Event()
        asked = await port.deliver(message("slow"))
        await port.asked(1)
        await port.deliver(edit("quick", asked))
        [reply] = await port.answered(1)
        await port.quiet()
        assert (reply.content.text, reply.edits) == ("re: quick", None)
        assert len(port.transport.sent) == 1
        assert await port.count("SELECT count(*) FROM history") == 2


async def test_an_edit_of_an_edit_that_is_being_answered_still_edits_the_first_answer(
    store: Store, clock: SetClock
) -> None:
    """The chain is not lost when the repeated turn is repeated itself."""
    async with app_harness(store, clock) as port:
        port.thinker.gates["slow"] = asyncio.Event()
        asked = await port.deliver(message("one"))
        await port.answered(1)
        await port.quiet()
        await port.deliver(edit("slow two", asked))
        await port.asked(2)
        await port.deliver(edit("three", asked))
        replies = await port.answered(2)
        await port.quiet()
        assert [(reply.content.text, reply.edits) for reply in replies] == [("re: one", None), ("re: three", FIRST + 1)]


async def test_editing_an_older_message_corrects_the_history_alone(store: Store, clock: SetClock) -> None:
    """No new answer; what the model reads of it has its new words and its old date."""
    async with app_harness(store, clock) as port:
        asked = await port.deliver(message("I have a dgo."))
        await port.answered(1)
        await port.deliver(message("And a cat."))
        await port.answered(2)
        await port.quiet()
        clock.move(3600)
        edited = await port.deliver(edit("I have a dog.", asked))
        await port.quiet()
        await port.deliver(message("What do I have?"))
        await port.answered(3)
        history = port.thinker.requests[-1].messages
        assert history[0].role == "user"
        assert history[0].text.endswith("] I have a dog.")
        assert history[0].text.startswith("[Sat 2026-11-21 12:00")
        assert len(port.transport.sent) == 3
        await port.deliver(delete(edited))
        await port.quiet()
        assert await port.count("SELECT count(DISTINCT turn_id) FROM history") == 2


@pytest.mark.parametrize("how", ["/pause", "/takeover 1h"])
async def test_where_nothing_is_answered_an_edit_corrects_the_history(store: Store, clock: SetClock, how: str) -> None:
    """The answer on everybody's screen stays, and is what the model knows afterwards."""
    async with app_harness(store, clock, admins=frozenset({BOB.uuid})) as port:
        sent_at = await port.process(message("Aldis, apples?", group=GROUP))
        await port.process(message(how, author=BOB, group=GROUP))
        await port.process(edit("Aldis, pears?", sent_at, group=GROUP))
        assert len(port.thinker.asked) == 1
        await port.process(message("/resume", author=BOB, group=GROUP))
        await port.process(message("Aldis, and now?", group=GROUP))
        asked = words(port.thinker.requests[-1])
        assert ("pears?" in asked, "re: Aldis, apples?" in asked) == (True, True)
        assert port.transport.removed == []


async def test_an_edit_of_what_was_under_way_before_a_pause_is_answered(store: Store, clock: SetClock) -> None:
    """As the question itself would be; what is asked after it is not."""
    async with app_harness(store, clock) as port:
        port.thinker.gates["slow"] = asyncio.Event()
        sent_at = await port.deliver(message("slow?"))
        await port.asked(1)
        clock.move(1)
        await port.deliver(message("/pause"))
        await port.answered(1)
        clock.move(1)
        await port.process(edit("fast?", sent_at))
        assert [reply.content.text for reply in port.transport.sent[1:]] == ["re: fast?"]
        await port.process(message("And this?"))
        assert port.transport.sent[-1].content.text == turn_phrases.IS_PAUSED.text.replace("`", "")


async def test_a_question_that_failed_is_asked_again_in_its_new_words(store: Store, clock: SetClock) -> None:
    """It was changed while nothing was answered there."""
    async with app_harness(store, clock) as port:
        port.thinker.script = [Rejected("no", provider="p")]
        sent_at = await port.process(message("apples?"))
        await port.process(message("/pause"))
        await port.process(edit("pears?", sent_at))
        await port.process(message("/resume"))
        await port.process(message("/retry"))
        assert port.transport.sent[-1].content.text == "re: pears?"


async def test_an_edit_between_two_tries_is_answered(store: Store, clock: SetClock) -> None:
    """The first has failed, and the second would come in a moment."""
    async with app_harness(store, clock) as port:
        port.thinker.script = [object()]  # no completion at all: nobody expects that
        sent_at = await port.deliver(message("apples?"))
        await port.until(lambda: port.worker._counts.all().get("turns_failed") == 1)
        await port.process(edit("pears?", sent_at))
        assert [reply.content.text for reply in port.transport.sent] == ["re: pears?"]
        assert len(port.thinker.asked) == 2


async def test_of_two_messages_in_one_question_the_edited_one_changes(store: Store, clock: SetClock) -> None:
    """The other words of the question stay as they are, a line that begins with a bracket included."""
    async with app_harness(store, clock) as port:
        port.thinker.gates["zero"] = asyncio.Event()
        await port.deliver(message("zero"))
        await port.asked(1)
        await port.deliver(message("one\n[not a header] 1"))
        two = await port.deliver(message("two"))
        port.thinker.gates["zero"].set()
        await port.answered(2)
        await port.quiet()
        await port.deliver(edit("TWO", two))
        await port.answered(3)
        last = port.thinker.asked[-1]
        assert last.splitlines()[0].endswith("] one")
        assert last.splitlines()[1] == "\\[not a header] 1"
        assert last.splitlines()[2].endswith("] TWO")
        assert len(last.splitlines()) == 3


async def test_a_long_answer_that_becomes_short_loses_its_further_parts(store: Store, clock: SetClock) -> None:
    """The first part is edited, the others are deleted; and a short one that becomes long grows by new messages."""
    async with app_harness(store, clock) as port:
        port.transport.takes_long_texts = False
        port.thinker.script += [says("long. " * 700), says("short."), says("long. " * 700)]
        asked = await port.deliver(message("Tell me."))
        await port.quiet()
        parts = len(port.transport.sent)
        assert parts > 1
        await port.deliver(edit("Tell me, briefly.", asked))
        await port.quiet()
        assert [reply.edits for reply in port.transport.sent[parts:]] == [FIRST + 1]
        assert [removal.target for removal in port.transport.removed] == [FIRST + 1 + n for n in range(1, parts)]
        await port.deliver(edit("Tell me more.", asked))
        await port.quiet()
        edits = [reply.edits for reply in port.transport.sent[parts + 1 :]]
        assert edits == [FIRST + 1 + parts, *[None] * (parts - 1)]


async def test_after_ten_edits_or_a_day_the_answer_is_a_new_message(store: Store, clock: SetClock) -> None:
    """Signal's apps would not show the eleventh edit, nor one after a day."""
    async with app_harness(store, clock) as port:
        asked = await port.deliver(message("take 0"))
        await port.quiet()
        for number in range(1, 13):
            await port.deliver(edit(f"take {number}", asked))
            await port.answered(number + 1)
            await port.quiet()
        edits = [reply.edits for reply in port.transport.sent]
        assert [target is None for target in edits] == [True, *[False] * 10, True, False]
        clock.move(timedelta(days=1, seconds=1).total_seconds())
        await port.deliver(edit("late take", asked))
        await port.quiet()
        assert port.transport.sent[-1].edits is None


async def test_edits_ask_no_more_often_than_messages(store: Store, clock: SetClock) -> None:
    """Ten times as many of them come in; what they say stands, and costs nothing more until the minute is over."""
    few = {"limits": {"messages_per_minute": 2, "conversation_messages_per_minute": 100, "turns_at_once": 9}}
    async with app_harness(store, clock, settings=few) as port:
        sent_at = await port.process(message("Hello."))
        for number in range(9):
            await port.process(edit(f"Hello, {number}.", sent_at))
        assert len(port.thinker.asked) == 3
        await port.process(message("What did I say?"))
        said = [asked.text for asked in port.thinker.requests[-1].messages if asked.role == "user"]
        assert [text.partition("] ")[2] for text in said] == ["Hello, 8.", "What did I say?"]
        clock.move(61)
        sent_at = await port.process(message("And now?"))
        await port.process(edit("And then?", sent_at))
        assert len(port.thinker.asked) == 6


async def test_edits_of_what_is_not_answered_yet_are_refused_once_they_are_too_many(
    store: Store, clock: SetClock
) -> None:
    """Each stops what runs; the first that is too much is told so, the others are not answered."""
    few = {"limits": {"messages_per_minute": 2, "conversation_messages_per_minute": 100, "turns_at_once": 9}}
    async with app_harness(store, clock, settings=few) as port:
        gate = port.thinker.gates["slow"] = asyncio.Event()
        sent_at = await port.deliver(message("A slow one."))
        await port.asked(1)
        for number in range(2):
            await port.deliver(edit(f"A slow one, {number}.", sent_at))
            await port.asked(2 + number)
        for number in range(2, 9):
            await port.process(edit(f"A slow one, {number}.", sent_at))
        gate.set()
        await port.quiet()
        assert (len(port.thinker.asked), [reply.content.text for reply in port.transport.sent]) == (
            3,
            [phrases.TOO_MANY.text],
        )


async def test_an_answer_that_never_went_out_is_not_edited(store: Store, clock: SetClock) -> None:
    """The first answer still waits for Signal when the question is edited: only the new one is sent."""
    async with app_harness(store, clock) as port:
        port.transport.sends += [NotSent("down")]
        asked = await port.deliver(message("one"))
        await port.until(lambda: not port.transport.sends)
        await port.deliver(edit("two", asked))
        [reply] = await port.answered(1)
        await port.quiet()
        assert (reply.content.text, reply.edits) == ("re: two", None)
        assert len(port.transport.sent) == 1


async def test_group_talk_that_becomes_a_question_is_answered(store: Store, clock: SetClock) -> None:
    """A message that nobody meant for Aldis is edited so that it is; one that still is not stays ignored."""
    async with app_harness(store, clock) as port:
        asked = await port.deliver(message("how are the roses?", group=GROUP))
        await port.quiet()
        await port.deliver(edit("how are the red roses?", asked, group=GROUP))
        await port.quiet()
        assert port.thinker.asked == []
        await port.deliver(edit("Aldis, how are the roses?", asked, group=GROUP))
        [reply] = await port.answered(1)
        assert reply.content.text == "re: Aldis, how are the roses?"


async def test_an_edit_of_a_forgotten_message_is_left_alone(store: Store, clock: SetClock) -> None:
    """Nobody can say what it was about."""
    async with app_harness(store, clock) as port:
        await port.deliver(edit("new words", 12345))
        await port.quiet()
        assert port.thinker.asked == []
        assert port.transport.sent == []


@pytest.mark.parametrize("frame", [timer(3600), reaction("👍", 1), timer(0, group=GROUP)])
async def test_timers_and_reactions_are_no_prompts(store: Store, clock: SetClock, frame: dict[str, object]) -> None:
    """They are noted, nothing is asked, nothing is said."""
    async with app_harness(store, clock) as port:
        await port.deliver(frame)
        await port.quiet()
        assert (port.thinker.asked, port.transport.sent) == ([], [])


# Disappearing


async def test_what_disappears_in_signal_disappears_here(store: Store, clock: SetClock, path: Path) -> None:
    """Question, tool, answer: after the timer nothing is left, in the files neither, and the model never sees them."""
    async with app_harness(store, clock, tools=(Echo(),)) as port:
        port.thinker.script += [calls(("echo", {"word": "tulip"})), says("The tulip is fine.")]
        await port.deliver(message("How is the tulip?", expires_in_seconds=60))
        await port.quiet()
        await port.deliver(message("I like roses."))
        await port.quiet()
        rows = await port.store.read(lambda repos: repos.history.rows("SELECT message FROM history"))
        await port.store.checkpoint()
        sealed = [row[0] for row in rows]
        assert sum(value in on_disk(path) for value in sealed) == len(sealed) == 6
        clock.move(61)
        await port.deliver(message("What do I like?"))
        await port.answered(3)
        assert "tulip" not in words(port.thinker.requests[-1])
        await port.maintenance.expire()
        files = on_disk(path)
        assert sum(value in files for value in sealed) == 2
        assert await port.count("SELECT count(*) FROM ledger WHERE details IS NOT NULL") == 0


async def test_a_timer_runs_while_aldis_is_down(store: Store, clock: SetClock) -> None:
    """At the start what has expired goes before anything else happens."""
    async with app_harness(store, clock) as port:
        await port.deliver(message("secret", expires_in_seconds=30))
        await port.quiet()
    clock.move(3600)
    async with app_harness(store, clock) as port:
        await port.maintenance.recover()
        assert await open_words(port) == 0


async def test_a_message_that_disappears_before_its_answer_is_told_so(store: Store, clock: SetClock) -> None:
    """It waited too long: no model call, a sentence instead."""
    async with app_harness(store, clock, conversations_at_once=1) as port:
        port.thinker.gates["slow"] = asyncio.Event()
        await port.deliver(message("slow", author=BOB))
        await port.asked(1)
        await port.deliver(message("secret", expires_in_seconds=5))
        clock.move(6)
        port.thinker.gates["slow"].set()
        await port.quiet()
        assert port.transport.sent[-1].content.text == phrases.MESSAGE_EXPIRED.text
        assert port.intake._counts.all()["unanswered_expired"] == 1
        assert all("secret" not in asked for asked in port.thinker.asked)
        assert await port.count("SELECT count(*) FROM history") == 2


async def test_a_turn_that_outlives_its_message_is_answered_and_not_remembered(store: Store, clock: SetClock) -> None:
    """The person gets the answer that was under way; nothing of it is kept."""
    async with app_harness(store, clock) as port:
        port.thinker.gates["slow"] = asyncio.Event()
        await port.deliver(message("slow", expires_in_seconds=5))
        await port.asked(1)
        clock.move(6)
        port.thinker.gates["slow"].set()
        [reply] = await port.answered(1)
        await port.quiet()
        assert reply.content.text == "re: slow"
        assert await open_words(port) == 0


async def test_an_answer_that_disappears_before_it_is_sent_becomes_a_notice(store: Store, clock: SetClock) -> None:
    """Signal was down longer than the timer: the words go, and the person hears that they have gone."""
    async with app_harness(store, clock) as port:
        port.transport.sends += [NotSent("down", retry_after_seconds=120)]
        await port.deliver(message("secret", expires_in_seconds=30))
        await port.until(lambda: not port.transport.sends)
        clock.move(31)
        await port.maintenance.expire()
        [reply] = await port.answered(1)
        assert reply.content.text == turn_phrases.ANSWER_EXPIRED.text
        assert reply.chat == ALICE.chat
        await port.quiet()
        assert await open_words(port) == 0


async def test_what_is_older_than_the_retention_goes(store: Store, clock: SetClock) -> None:
    """By age, also without a timer; what is younger stays."""
    async with app_harness(store, clock, settings={"history": {"retention_days": 30}}) as port:
        await port.deliver(message("old"))
        await port.quiet()
        clock.move(timedelta(days=20).total_seconds())
        await port.deliver(message("young"))
        await port.quiet()
        clock.move(timedelta(days=11).total_seconds())
        await port.maintenance.tidy()
        await port.deliver(message("now"))
        await port.answered(3)
        history = words(port.thinker.requests[-1])
        assert "young" in history
        assert "old" not in history


async def test_a_message_of_the_day_before_yesterday_is_not_answered_as_if_it_were_new(
    store: Store, clock: SetClock
) -> None:
    """It waited with Signal's server while Aldis was away: one sentence, no model call."""
    async with app_harness(store, clock, settings={"intake": {"max_age": 86_400}}) as port:
        sent_at = int((clock.now() - timedelta(days=2)).timestamp() * 1000)
        days_ms = 2 * 86_400_000
        await port.deliver(message("Is it raining?", sent_at=sent_at, waited_ms=days_ms))
        later_at, later_ms = sent_at + 100_000_000, days_ms - 100_000_000
        await port.deliver(message("Is it still raining?", author=BOB, sent_at=later_at, waited_ms=later_ms))
        await port.answered(2)
        assert {reply.content.text for reply in port.transport.sent} == {
            phrases.TOO_OLD.text,
            "re: Is it still raining?",
        }
        assert port.intake._counts.all()["unanswered_too_old"] == 1
        assert len(port.thinker.asked) == 1
