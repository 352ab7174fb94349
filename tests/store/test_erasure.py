"""Forgetting: what must be gone is gone, whole; what must stay, and what came later, is there."""

import asyncio
from datetime import datetime, timedelta
from pathlib import Path

import pytest

from store import Erasure, InboxId, Repositories, Store, StoreError, Summary, TurnId, open_store
from tests.arrivals import arrival
from tests.conftest import NOON
from tests.ledger_sums import ledger_sum
from tests.store.lives import (
    LATER,
    Answer,
    answered,
    asked,
    forgotten,
    ordered,
    remembered,
    rows,
    taken,
    talked,
    waiting,
)
from tests.store.places import wrapped
from tests.store.sends import confirm

DAY = timedelta(days=1)


async def turn_row(store: Store, turn: TurnId) -> tuple[object, ...]:
    [row] = await rows(store, "SELECT state, ended_at IS NOT NULL, expires_at FROM turns WHERE id = ?", turn)
    return row


class TestATurn:
    async def test_all_its_words_go_and_its_costs_stay(self, store: Store) -> None:
        """History, steps, who asked: gone; the ledger's row and the names of its messages stay."""
        turn = await talked(store, "direct:a", 1, b"one")
        other = await talked(store, "direct:a", 2, b"two")
        await store.transaction(lambda repos: repos.forgetting.turns(turn, now=NOON))
        assert await remembered(store, "direct:a") == [b"asked two", b"told two"]
        assert await rows(store, "SELECT turn_id FROM askers") == [(other,)]
        assert await rows(store, "SELECT turn_id, cost_usd FROM ledger ORDER BY id") == [
            (turn, "0.25"),
            (other, "0.25"),
        ]
        assert await turn_row(store, turn) == ("ignored", 1, None)
        assert await rows(store, "SELECT count(*) FROM inbox WHERE turn_id = ?", turn) == [(1,)]

    async def test_what_is_not_sent_of_its_answer_is_never_sent(self, store: Store) -> None:
        """What waits is dead; what is being sent keeps its place, for the timestamp that it will be known by."""
        await asked(store, "direct:a", 1)

        def live(repos: Repositories) -> None:
            conversation, turn = taken(repos)
            answered(repos, conversation, turn, (b"asked", b"part 0"))
            for position in (1, 2):
                repos.outbox.put(conversation, turn, position, b"part", in_group=False, now=NOON)
            [sent] = repos.outbox.begin(now=NOON, limit=8)
            repos.outbox.mark_sent(sent.id, 77, now=NOON)
            [sending] = repos.outbox.begin(now=NOON, limit=8)
            repos.forgetting.turns(turn, now=NOON)
            assert repos.outbox.begin(now=LATER, limit=8) == ()
            repos.outbox.mark_sent(sending.id, 78, now=NOON)
            assert repos.outbox.begin(now=LATER, limit=8) == ()

        await store.transaction(live)
        assert await rows(store, "SELECT state, sent_at, reply, settled_at IS NULL FROM outbox ORDER BY id") == [
            ("sent", 77, None, 0),
            ("sent", 78, None, 0),
            ("dead", None, None, 0),
        ]


async def test_what_has_expired_or_is_outdated_goes(store: Store) -> None:
    """Each at its time: here a summary of turns that have disappeared, and a person who has left a group."""
    turn = await talked(store, "group:g", 1, b"one")
    conversation = await store.conversation("group:g", now=NOON)

    def keep(repos: Repositories) -> None:
        repos.summaries.keep(conversation, Summary(first=turn, last=turn, summary=b"one", expires_at=LATER))
        repos.members.keep("group:g", ["direct:a", "direct:b"], listed_at=NOON)
        repos.members.keep("group:g", ["direct:b"], listed_at=LATER)

    def left(repos: Repositories, now: datetime) -> tuple[int, int]:
        repos.forgetting.prune(before=now)
        return repos.forgetting.expire(now), repos.forgetting.value("SELECT count(*) FROM members")

    await store.transaction(keep)
    assert await store.transaction(lambda repos: left(repos, NOON)) == (0, 2)
    assert await store.transaction(lambda repos: left(repos, LATER + DAY)) == (1, 1)


class TestAConversation:
    async def test_it_begins_anew_and_the_command_is_answered_in_it(self, store: Store) -> None:
        """Nothing is remembered, what was destroyed is counted, and the answer is the next thing to be sent."""
        await talked(store, "direct:a", 1, b"one")
        await talked(store, "direct:a", 2, b"two")
        before = await store.conversation("direct:a", now=NOON)
        command = await ordered(store, "direct:a", 3)
        answer = Answer(command)
        await store.forget("direct:a", before=command, now=NOON, then=answer)
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
        """Earlier questions are settled unread; later ones wait, also those that somebody had just begun to answer."""
        await asked(store, "direct:a", 1, b"before")
        await store.transaction(taken)
        command = await ordered(store, "direct:a", 2)
        await asked(store, "direct:a", 3, b"after")
        await asked(store, "direct:a", 4, b"also after")
        await asked(store, "direct:b", 5, b"of b")

        def begin(repos: Repositories) -> None:
            other = repos.conversations.at("direct:b")
            assert other is not None
            claim = repos.inbox.claim(now=NOON, until=LATER, busy={other}, limit=1)
            assert claim is not None
            assert [item.envelope for item in claim.items] == [b"after"]
            repos.journal.add(claim.conversation, claim.turn, 0, b"step")

        await store.transaction(begin)
        await forgotten(store, "direct:a", command)
        assert await rows(store, "SELECT sent_at, state, turn_id, claimed_until FROM inbox ORDER BY id") == [
            (1, "done", None, None),
            (2, "done", None, None),
            (3, "waiting", None, None),
            (4, "waiting", None, None),
            (5, "waiting", None, None),
        ]
        assert await rows(store, "SELECT count(*) FROM journal") == [(0,)]
        assert await waiting(store) == [b"after", b"also after", b"of b"]

    async def test_redeliveries_and_late_receipts_are_still_known(self, store: Store) -> None:
        """The names of messages hold no words: they stay, so that nothing is answered or proved a second time."""
        await talked(store, "direct:a", 1, b"one")
        await asked(store, "direct:a", 2)
        command = await ordered(store, "direct:a", 3)
        await forgotten(store, "direct:a", command)
        conversation = await store.conversation("direct:a", now=NOON)

        def again(repos: Repositories) -> None:
            for sent_at in (1, 2, 3):
                assert repos.inbox.put(arrival(conversation, sent_at)) is None
            repos.outbox.begin(now=NOON, limit=8)
            assert not confirm(repos, "direct:a", (1_000_001,), NOON)

        await store.transaction(again)

    async def test_a_send_under_way_is_known_when_it_ends(self, store: Store) -> None:
        """Its words are gone; what else waited to be sent is gone whole; the answer to the command comes after it."""
        await asked(store, "direct:a", 1)

        def live(repos: Repositories) -> None:
            conversation, turn = taken(repos)
            answered(repos, conversation, turn, (b"asked", b"part 0"))
            repos.outbox.put(conversation, turn, 1, b"part 1", in_group=False, now=NOON)
            repos.outbox.begin(now=NOON, limit=8)

        await store.transaction(live)
        command = await ordered(store, "direct:a", 2)
        await forgotten(store, "direct:a", command)
        query = "SELECT state, reply IS NULL FROM outbox ORDER BY id"
        assert await rows(store, query) == [("sending", 1), ("waiting", 0)]
        [(item,)] = await rows(store, "SELECT min(id) FROM outbox")

        def end(repos: Repositories) -> list[bytes]:
            assert repos.outbox.begin(now=LATER, limit=8) == ()
            repos.inbox.execute("UPDATE outbox SET state = 'sent', sent_at = 77 WHERE id = ?", (item,))
            return [begun.reply for begun in repos.outbox.begin(now=LATER, limit=8)]

        assert await store.transaction(end) == [b"forgotten"]

    async def test_what_was_spent_stays_without_what_it_was_spent_on(self, store: Store) -> None:
        """Forgetting renews no budget: the rows of the ledger belong to the conversation as it goes on."""
        await talked(store, "direct:a", 1, b"one")
        spent = await store.read(ledger_sum)
        await forgotten(store, "direct:a", await ordered(store, "direct:a", 2))
        conversation = await store.conversation("direct:a", now=NOON)
        assert await store.read(lambda repos: ledger_sum(repos, conversation)) == spent
        assert await rows(store, "SELECT turn_id FROM ledger") == [(None,)]

    async def test_it_can_be_forgotten_again_and_again(self, path: Path) -> None:
        """Each time under a new key, of which there is always one, also after a restart."""
        async with open_store(path, realm="signal") as store:
            for number in range(3):
                await talked(store, "direct:a", 2 * number, b"one")
                seen = set(wrapped(path))
                command = await ordered(store, "direct:a", 2 * number + 1)
                assert await forgotten(store, "direct:a", command) == Erasure(turns=1)
                assert len(wrapped(path)) == len(seen) == 2
                assert len(set(wrapped(path)) & seen) == 1
            await talked(store, "direct:a", 9, b"last")
        async with open_store(path, realm="signal") as store:
            assert await remembered(store, "direct:a") == [b"asked last", b"told last"]

    async def test_who_asks_for_it_meanwhile_gets_the_new_one(self, store: Store) -> None:
        """Nobody is left with the id of a conversation that has gone, however the two met."""
        for number in range(4):
            command = await ordered(store, "direct:a", number)
            both = [forgotten(store, "direct:a", command), store.conversation("direct:a", now=NOON)]
            await asyncio.gather(*(both if number % 2 else reversed(both)))
            [(kept,)] = await rows(store, "SELECT id FROM conversations")
            assert await store.conversation("direct:a", now=NOON) == kept

    async def test_if_the_answer_fails_nothing_is_forgotten(self, store: Store) -> None:
        """All of it is one transaction: the exception comes through, and everything is as it was."""
        await talked(store, "direct:a", 1, b"one")
        command = await ordered(store, "direct:a", 2)

        class Oops(Exception):
            pass

        def failing(*_: object) -> None:
            raise Oops

        with pytest.raises(Oops):
            await store.forget("direct:a", before=command, now=NOON, then=failing)
        assert await remembered(store, "direct:a") == [b"asked one", b"told one"]
        assert await waiting(store) == [b"/forget"]
        assert await forgotten(store, "direct:a", command) == Erasure(turns=1)

    async def test_a_place_where_nothing_is_known_has_nothing_to_forget(self, store: Store) -> None:
        """The command may come from elsewhere; it is answered where it came from."""
        command = await ordered(store, "direct:a", 1)
        answer = Answer(command)
        await store.forget("direct:b", before=command, now=NOON, then=answer)
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
        command = await ordered(store, "group:g", 5)
        answer = Answer(command)
        group = await store.conversation("group:g", now=NOON)
        await store.forget("direct:alice", person="alice", before=command, now=NOON, then=answer)
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
        turn = (await store.transaction(taken))[1]
        command = await ordered(store, "group:g", 2)
        await asked(store, "group:g", 3, b"later")
        await asked(store, "group:h", 4, b"his", "bob")
        await store.forget("direct:alice", person="alice", before=command, now=NOON, then=Answer(command))
        assert await turn_row(store, turn) == ("ignored", 1, None)
        assert await rows(store, "SELECT sent_at, state FROM inbox WHERE state <> 'waiting'") == [
            (0, "done"),
            (2, "done"),
        ]
        assert await waiting(store) == [b"his", b"later", b"his"]
