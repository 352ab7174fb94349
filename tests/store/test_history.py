"""The history: whole turns in order, of one conversation. The journal: the steps of a turn, gone when it has ended."""

from collections.abc import Sequence
from datetime import datetime, timedelta
from pathlib import Path

import pytest

from store import ConversationId, Damaged, Repositories, Role, StepMissing, StoredMessage, TurnEnd, TurnId, open_store
from tests.conftest import NOON
from tests.store.sends import place

Shape = Sequence[tuple[Role, str | None]]

PLAIN: Shape = (("user", None), ("assistant", None))
CALLED: Shape = (*PLAIN, ("tool", "call-1"), ("tool", "call-2"), ("assistant", None))


def say(
    repos: Repositories, conversation: ConversationId, words: str, shape: Shape = PLAIN, end: TurnEnd = "kept"
) -> None:
    turn = repos.turns.begin(conversation, now=NOON)
    messages = [
        StoredMessage(turn=turn, role=role, call_id=call_id, message=f"{words} {number}".encode())
        for number, (role, call_id) in enumerate(shape)
    ]
    if end == "kept":
        repos.history.append(conversation, messages)
    repos.journal.close(turn, end, now=NOON)


def words(repos: Repositories, conversation: ConversationId, turns: int) -> list[str]:
    return [message.message.decode() for message in repos.history.last(conversation, turns)]


def test_the_last_turns_are_whole_and_oldest_first(repos: Repositories) -> None:
    """The window counts kept turns of this conversation, not messages: however long a turn is, all of it comes."""
    conversation, other = place(repos, "direct:a"), place(repos, "group:G")
    turns: list[tuple[str, Shape, TurnEnd]] = [
        *(("one", PLAIN, "kept"), ("gone", PLAIN, "failed"), ("two", CALLED, "kept"), ("gone", PLAIN, "ignored")),
        ("three", PLAIN, "kept"),
    ]
    for name, shape, end in turns:
        say(repos, conversation, name, shape, end)
        say(repos, other, "theirs")
    repos.turns.begin(conversation, now=NOON)
    one, three = ["one 0", "one 1"], ["three 0", "three 1"]
    two = [f"two {number}" for number in range(5)]
    for count, wanted in ((0, []), (1, three), (2, two + three), (3, one + two + three), (1000, one + two + three)):
        assert words(repos, conversation, count) == wanted
    assert words(repos, other, 2) == ["theirs 0", "theirs 1"] * 2


def test_rows_that_were_exchanged_are_found_out(repos: Repositories, caplog: pytest.LogCaptureFixture) -> None:
    """A writer to the file cannot change who said what: that turn is as good as gone, and no other."""
    conversation = place(repos, "direct:a")
    say(repos, conversation, "asked")
    say(repos, conversation, "whole")
    answer = "(SELECT message FROM history WHERE turn_id = 1 AND position = 1)"
    repos.history.execute(f"UPDATE history SET message = {answer} WHERE turn_id = 1 AND position = 0")
    assert words(repos, conversation, 9) == ["whole 0", "whole 1"]
    assert [record.getMessage() for record in caplog.records] == [
        "conversation 1 has lost something: a sealed value at history.message|1|0 is not what was written there"
    ]


class TestJournal:
    async def test_steps_come_back_in_order(self, path: Path) -> None:
        """After a restart, too. None is written before the one that comes first: a gap would be written over."""

        def begin(repos: Repositories) -> tuple[ConversationId, TurnId]:
            conversation = place(repos, "direct:a")
            turn = repos.turns.begin(conversation, now=NOON)
            repos.journal.add(conversation, turn, 0, *(b"%d" % number for number in range(12)))
            with pytest.raises(StepMissing):
                repos.journal.add(conversation, turn, 13, b"13")
            return conversation, turn

        def go_on(repos: Repositories) -> tuple[bytes, ...]:
            repos.journal.add(*turn, 12, b"12")
            return repos.journal.steps(*turn)

        async with open_store(path, realm="signal") as store:
            turn = await store.transaction(begin)
        async with open_store(path, realm="signal") as store:
            assert await store.transaction(go_on) == tuple(b"%d" % number for number in range(13))

    def test_a_turn_that_was_not_claimed_has_none(self, repos: Repositories) -> None:
        """None of a turn that ended or never began is written, and none opens in another's place."""
        conversation = place(repos, "direct:a")
        turn = repos.turns.begin(conversation, now=NOON)
        repos.journal.add(conversation, TurnId(turn + 1), 0, b"step")
        repos.journal.close(turn, "ignored", now=NOON)
        repos.journal.add(conversation, turn, 0, b"step")
        assert repos.journal.value("SELECT count(*) FROM journal") == 0
        turn, other = (repos.turns.begin(conversation, now=NOON) for _ in range(2))
        repos.journal.add(conversation, turn, 0, b"step")
        for where, position in ((turn, 1), (other, 0)):
            repos.journal.execute("UPDATE journal SET position = ?, turn_id = ?", (position, where))
            with pytest.raises(Damaged):
                repos.journal.steps(conversation, where)


def test_a_prediction_goes_with_the_first_of_its_messages_that_does(repos: Repositories) -> None:
    """Of the one that made it and the one that said what came of it."""

    def after(minutes: int | None) -> datetime | None:
        return None if minutes is None else NOON + timedelta(minutes=minutes)

    for made, settled, goes in ((None, None, None), (5, None, 5), (None, 5, 5), (5, 9, 5), (9, 5, 5)):
        here = place(repos, f"direct:{made}-{settled}")
        first, later = (repos.turns.begin(here, now=NOON, expires_at=after(end)) for end in (made, settled))
        repos.predictions.put(here, "alice", f"call {here}", b"words", due_at=NOON, turn=first)
        repos.predictions.settle(here, "alice", 1, b"void", turn=later, now=NOON)
        for minutes in range(4, 11):
            now, left = NOON + timedelta(minutes=minutes), int(goes is None or minutes < goes)
            assert len(repos.predictions.all(here, "alice", now=now)) == left
            repos.forgetting.expire(now)
            count = "SELECT count(*) FROM predictions WHERE conversation_id = ?"
            assert repos.predictions.value(count, (here,)) == left
