"""Forgetting: what must be gone is gone, from all files, whole; what must stay, and what came later, is there."""

import sqlite3
from contextlib import closing
from datetime import timedelta
from pathlib import Path

import pytest

from store import Erasure, InboxId, OutboxId, Repositories, Store, StoreError, Summary, TurnId, open_store
from tests.arrivals import arrival
from tests.conftest import NOON
from tests.ledger_sums import ledger_sum
from tests.store.dying import each_step
from tests.store.lives import (
    LATER,
    answered,
    asked,
    forgotten,
    found,
    ordered,
    remembered,
    rows,
    sealed_in,
    taken,
    talked,
    waiting,
)
from tests.store.places import contents, keys_of, replace, wrapped
from tests.store.sends import confirm, place


async def turn_row(store: Store, turn: TurnId) -> tuple[object, ...]:
    [row] = await rows(store, "SELECT state, ended_at IS NOT NULL, expires_at FROM turns WHERE id = ?", turn)
    return row


class TestATurn:
    async def test_all_its_words_go_and_its_costs_stay(self, store: Store, path: Path) -> None:
        """History, steps, who asked: gone, with the next checkpoint from free pages and the log, too."""
        turn = await talked(store, "direct:a", 1, b"one")
        other = await talked(store, "direct:a", 2, b"two")
        mine, others = await sealed_in(store, "SELECT message FROM history WHERE position = 0")
        await store.transaction(lambda repos: repos.forgetting.turns(turn, now=NOON))
        assert await remembered(store, "direct:a") == [b"asked two", b"told two"]
        assert await rows(store, "SELECT turn_id FROM askers") == [(other,)]
        costs = await rows(store, "SELECT turn_id, cost_usd FROM ledger ORDER BY id")
        assert costs == [(turn, "0.25"), (other, "0.25")]
        assert await turn_row(store, turn) == ("ignored", 1, None)
        assert await rows(store, "SELECT count(*) FROM inbox WHERE turn_id = ?", turn) == [(1,)]
        await store.checkpoint()
        assert (found(path, mine), found(path, others)) == ([], ["aldis.db"])

    def test_what_is_not_sent_of_its_answer_is_never_sent(self, repos: Repositories) -> None:
        """What waits is dead; what is being sent keeps its place, for the timestamp that it will be known by."""
        conversation = place(repos, "direct:a")
        repos.inbox.put(arrival(conversation, 1))
        _, turn = taken(repos)
        answered(repos, conversation, turn, b"asked", b"part 0")
        for position in (1, 2):
            repos.outbox.put(conversation, turn, position, b"part", in_group=False, now=NOON)
        [sent] = repos.outbox.begin(now=NOON, limit=8)
        repos.outbox.mark_sent(sent.id, 77, now=NOON)
        [sending] = repos.outbox.begin(now=NOON, limit=8)
        repos.forgetting.turns(turn, now=NOON)
        assert repos.outbox.begin(now=LATER, limit=8) == ()
        repos.outbox.mark_sent(sending.id, 78, now=NOON)
        assert repos.outbox.begin(now=LATER, limit=8) == ()
        assert repos.outbox.rows("SELECT state, sent_at, reply, settled_at IS NULL FROM outbox ORDER BY id") == [
            ("sent", 77, None, 0),
            ("sent", 78, None, 0),
            ("dead", None, None, 0),
        ]


def test_what_has_expired_or_is_outdated_goes(repos: Repositories) -> None:
    """Each at its time: here a summary of turns that have disappeared, and a person who has left a group."""
    conversation = place(repos, "group:g")
    turn = repos.turns.begin(conversation, now=NOON)
    repos.summaries.keep(conversation, Summary(first=turn, last=turn, summary=b"one", expires_at=LATER))
    repos.members.keep("group:g", ["direct:a", "direct:b"], listed_at=NOON)
    repos.members.keep("group:g", ["direct:b"], listed_at=LATER)
    for now, expired, members in ((NOON, 0, 2), (LATER + timedelta(days=1), 1, 1)):
        repos.forgetting.prune(before=now)
        assert repos.forgetting.expire(now) == expired
        assert repos.forgetting.value("SELECT count(*) FROM members") == members


def test_a_planned_question_that_is_taken_back_ends(repos: Repositories) -> None:
    """While it is answered: its turn is given back, to be stopped, and nothing of it waits. Others go on."""
    here = place(repos, "direct:a")
    for origin in ("item_1", "item_2"):
        made = repos.reminders.put(here, "alice", origin, plan=b"", words=b"ask", due_at=NOON)
        repos.inbox.put(arrival(here, kind="reminder", device=made.id))
    _, turn = taken(repos)
    assert repos.inbox.value("SELECT count(*) FROM inbox WHERE turn_id = ?", (turn,)) == 2
    repos.inbox.set_apart(turn, [InboxId(2)])
    assert repos.forgetting.undo("item_2", None, now=NOON) == []
    assert repos.forgetting.undo("item_1", None, now=NOON) == [turn]
    assert not repos.journal.is_running(turn)
    assert repos.forgetting.undo("item_1", None, now=NOON) == []
    assert repos.reminders.of_person("alice") == ()


class TestAConversation:
    async def test_it_begins_anew_and_the_command_is_answered_in_it(self, store: Store) -> None:
        """Nothing is remembered, what was destroyed is counted, and the answer is the next thing to be sent."""
        await talked(store, "direct:a", 1, b"one")
        await talked(store, "direct:a", 2, b"two")
        before = await store.conversation("direct:a", now=NOON)
        answer = await forgotten(store, "direct:a", await ordered(store, "direct:a", 3))
        assert answer.erased == Erasure(turns=2)
        after = await store.conversation("direct:a", now=NOON)
        assert after == answer.conversation != before
        assert await remembered(store, "direct:a") == []
        [item] = await store.transaction(lambda repos: repos.outbox.begin(now=NOON, limit=8))
        assert (item.conversation, item.reply) == (after, b"forgotten")
        await store.transaction(lambda repos: repos.outbox.mark_sent(item.id, 99, now=NOON))
        assert await waiting(store) == []
        await talked(store, "direct:a", 4, b"four")
        assert await remembered(store, "direct:a") == [b"asked four", b"told four"]

    async def test_what_waited_before_goes_and_what_came_later_is_answered(self, store: Store) -> None:
        """Earlier questions are settled unread; later ones wait, also those whose answer had just begun."""
        await asked(store, "direct:a", 1, b"before")
        await store.transaction(taken)
        command = await ordered(store, "direct:a", 2)
        for sent_at, words in ((3, b"after"), (4, b"also after")):
            await asked(store, "direct:a", sent_at, words)
        await asked(store, "direct:b", 5, b"of b")
        other = await store.conversation("direct:b", now=NOON)

        def begin(repos: Repositories) -> None:
            claim = repos.inbox.claim(now=NOON, until=LATER, busy={other}, limit=1)
            assert claim is not None
            assert [item.envelope for item in claim.items] == [b"after"]
            repos.journal.add(claim.conversation, claim.turn, 0, b"step")

        await store.transaction(begin)
        await forgotten(store, "direct:a", command)
        assert await rows(store, "SELECT state FROM inbox ORDER BY id") == [("done",)] * 2 + [("waiting",)] * 3
        assert await rows(store, "SELECT DISTINCT turn_id, claimed_until FROM inbox") == [(None, None)]
        assert await rows(store, "SELECT count(*) FROM journal") == [(0,)]
        assert await waiting(store) == [b"after", b"also after", b"of b"]

    async def test_redeliveries_and_late_receipts_are_still_known(self, store: Store) -> None:
        """Names of messages stay, so that nothing is answered or proved twice; so do costs."""
        await talked(store, "direct:a", 1, b"one")
        spent = await store.read(ledger_sum)
        await asked(store, "direct:a", 2)
        await forgotten(store, "direct:a", await ordered(store, "direct:a", 3))
        conversation = await store.conversation("direct:a", now=NOON)
        assert await store.read(lambda repos: ledger_sum(repos, conversation)) == spent
        assert await rows(store, "SELECT turn_id FROM ledger") == [(None,)]

        def again(repos: Repositories) -> None:
            for sent_at in (1, 2, 3):
                assert repos.inbox.put(arrival(place(repos, "direct:a"), sent_at)) is None
            repos.outbox.begin(now=NOON, limit=8)
            assert not confirm(repos, "direct:a", (1_000_001,), NOON)

        await store.transaction(again)

    async def test_a_send_under_way_is_known_when_it_ends(self, store: Store) -> None:
        """Its words are gone; what else waited to be sent is gone whole; the answer to the command comes after it."""
        await asked(store, "direct:a", 1)

        def live(repos: Repositories) -> OutboxId:
            conversation, turn = taken(repos)
            answered(repos, conversation, turn, b"asked", b"part 0")
            repos.outbox.put(conversation, turn, 1, b"part 1", in_group=False, now=NOON)
            [item] = repos.outbox.begin(now=NOON, limit=8)
            return item.id

        item = await store.transaction(live)
        await forgotten(store, "direct:a", await ordered(store, "direct:a", 2))

        def end(repos: Repositories) -> list[bytes]:
            left = repos.outbox.rows("SELECT state, reply IS NULL FROM outbox ORDER BY id")
            assert left == [("sending", 1), ("waiting", 0)]
            assert repos.outbox.begin(now=LATER, limit=8) == ()
            repos.outbox.mark_sent(item, 77, now=LATER)
            return [begun.reply for begun in repos.outbox.begin(now=LATER, limit=8)]

        assert await store.transaction(end) == [b"forgotten"]

    async def test_if_the_answer_fails_nothing_is_forgotten(self, store: Store) -> None:
        """All of it is one transaction: the exception comes through, and everything is as it was."""
        await talked(store, "direct:a", 1, b"one")
        command = await ordered(store, "direct:a", 2)

        def failing(*_: object) -> None:
            raise ZeroDivisionError

        with pytest.raises(ZeroDivisionError):
            await store.forget("direct:a", before=command, now=NOON, then=failing)
        assert await remembered(store, "direct:a") == [b"asked one", b"told one"]
        assert await waiting(store) == [b"/forget"]
        assert (await forgotten(store, "direct:a", command)).erased == Erasure(turns=1)

    async def test_a_place_where_nothing_is_known_has_nothing_to_forget(self, store: Store) -> None:
        """The command may come from elsewhere; it is answered where it came from."""
        answer = await forgotten(store, "direct:b", await ordered(store, "direct:a", 1))
        assert answer.erased == Erasure()
        assert answer.conversation == await store.conversation("direct:a", now=NOON)
        with pytest.raises(StoreError, match="message 99 of the inbox is not there"):
            await forgotten(store, "direct:a", InboxId(99))


class TestAPerson:
    async def test_what_a_person_asked_goes_everywhere(self, store: Store) -> None:
        """The direct conversation whole, elsewhere the turns of that person alone; the words of others stay."""
        await talked(store, "direct:alice", 1, b"one")
        await talked(store, "group:g", 2, b"two")
        await talked(store, "group:g", 3, b"three", author="bob")
        await talked(store, "direct:bob", 4, b"four", author="bob")
        group = await store.conversation("group:g", now=NOON)
        answer = await forgotten(store, "direct:alice", await ordered(store, "group:g", 5), "alice")
        assert answer.erased == Erasure(turns=2)
        assert answer.conversation == group == await store.conversation("group:g", now=NOON)
        assert await remembered(store, "direct:alice") == []
        assert await remembered(store, "group:g") == [b"asked three", b"told three"]
        assert await remembered(store, "direct:bob") == [b"asked four", b"told four"]
        assert await rows(store, "SELECT count(*), count(person), count(cost_usd) FROM ledger") == [(4, 4, 4)]

    async def test_only_what_the_person_said_before_is_not_answered(self, store: Store) -> None:
        """A turn that answers several people is over, yet what the others asked is answered by another one."""
        for number, (author, words) in enumerate((("alice", b"mine"), ("bob", b"his"))):
            await asked(store, "group:g", number, words, author)
        _, turn = await store.transaction(taken)
        command = await ordered(store, "group:g", 2)
        await asked(store, "group:g", 3, b"later")
        await asked(store, "group:h", 4, b"his", "bob")
        await forgotten(store, "direct:alice", command, "alice")
        assert await turn_row(store, turn) == ("ignored", 1, None)
        settled = await rows(store, "SELECT sent_at, state FROM inbox WHERE state <> 'waiting'")
        assert settled == [(0, "done"), (2, "done")]
        assert await waiting(store) == [b"his", b"later", b"his"]


class TestFiles:
    async def test_sealed_bytes_and_the_key_leave_all_files(self, path: Path) -> None:
        """Neither the database nor its log nor the key file holds a byte of what was there."""
        async with open_store(path, realm="signal") as store:
            await talked(store, "direct:a", 1, b"one")
            await asked(store, "direct:a", 2)
            command = await ordered(store, "direct:a", 3)
            sealed = await sealed_in(store, "SELECT message FROM history")
            sealed += await sealed_in(store, "SELECT envelope FROM inbox WHERE envelope IS NOT NULL")
            keys = wrapped(path)
            assert len(sealed) == 4
            assert all(found(path, each) for each in (*sealed, *keys))
            await forgotten(store, "direct:a", command)
            gone = [key for key in keys if key not in wrapped(path)]
            assert len(gone) == 1
            assert [found(path, each) for each in (*sealed, *gone)] == [[]] * 5
        assert [found(path, each) for each in (*sealed, *gone)] == [[]] * 5

    async def test_a_copy_from_before_is_shut_for_ever(self, path: Path) -> None:
        """The database as it was yesterday holds sealed words; with the key file of today they are not opened."""
        async with open_store(path, realm="signal") as store:
            await talked(store, "direct:a", 1, b"one")
            await talked(store, "direct:b", 2, b"two")
        kept = contents(path)[path.name]
        async with open_store(path, realm="signal") as store:
            await forgotten(store, "direct:a", await ordered(store, "direct:a", 3))
        replace(path, kept)
        async with open_store(path, realm="signal") as store:
            assert await remembered(store, "direct:a") == []
            assert await remembered(store, "direct:b") == [b"asked two", b"told two"]

    @pytest.mark.parametrize("verb", ["forget", "forget-person"])
    async def test_a_crash_at_any_step_leaves_all_of_it_or_nothing(self, path: Path, tmp_path: Path, verb: str) -> None:
        """All is as before, and the command done again does it; or all is forgotten and answered, the old key gone."""
        async with open_store(path, realm="signal") as store:
            await talked(store, "direct:a", 1, b"one")
            await talked(store, "direct:b", 2, b"two", author="bob")
            await talked(store, "group:g", 3, b"three")
            await asked(store, "direct:a", 4, b"before")
            await ordered(store, "direct:a", 5)
            await asked(store, "direct:a", 6, b"after")
            [handle] = await sealed_in(store, "SELECT handle FROM conversations WHERE id = 1")
        with closing(sqlite3.connect(keys_of(path))) as connection:
            [(old_key,)] = connection.execute("SELECT key FROM wrapped WHERE name = ?", (handle,))
        outcomes: list[tuple[bool, int]] = []
        async for copy in each_step(path, tmp_path / "steps", verb):
            keys = len(wrapped(copy))
            async with open_store(copy, realm="signal") as store:
                is_gone = await rows(store, "SELECT 1 FROM conversations WHERE key_generation = 1") != []
                assert (found(copy, old_key) == []) == is_gone
                in_group = await remembered(store, "group:g")
                assert (in_group == []) == (is_gone and verb == "forget-person")
                if not is_gone:
                    assert await remembered(store, "direct:a") == [b"asked one", b"told one"]
                    [urgent_item] = await store.read(lambda repos: repos.inbox.urgent_items())
                    assert (await forgotten(store, "direct:a", urgent_item.id)).erased == Erasure(turns=1)
                assert await remembered(store, "direct:a") == []
                assert await remembered(store, "direct:b") == [b"asked two", b"told two"]
                begun = await store.transaction(lambda repos: repos.outbox.begin(now=NOON, limit=8))
                assert [item.reply for item in begun] == [b"forgotten"]
                assert await waiting(store) == [b"after"]
                await store.checkpoint()
                assert found(copy, old_key) == []
                assert len(wrapped(copy)) == 4
            outcomes.append((is_gone, keys))
        # The next key is made, the rows go, the old key goes: in this order, each at once.
        assert sorted(set(outcomes), key=outcomes.index) == [(False, 4), (False, 5), (True, 5), (True, 4)]
