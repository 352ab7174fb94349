"""Statuses: a lost one does no harm, one in doubt may still arrive, one that was not sent is replaced by nothing."""

from collections.abc import Sequence
from datetime import timedelta

import pytest

from store import OutboxItem, Repositories, SentMessage, Store, TurnId
from store.repository import millis
from tests.conftest import NOON
from tests.store.sends import begin, conversation_at, doubted, listed, prove, states


async def put_status(store: Store, chat: str, words: bytes, turn: TurnId | None = None) -> TurnId:
    """A turn of the chat, a new one if none is given, shows its progress."""
    conversation = await conversation_at(store, chat)

    def put(repos: Repositories) -> TurnId:
        now = turn or repos.turns.begin(conversation, now=NOON)
        assert repos.outbox.put_status(conversation, now, words, in_group=False, now=NOON, max_edits=8)
        return now

    return await store.transaction(put)


async def test_a_status_in_doubt_that_is_taken_back_is_settled(store: Store) -> None:
    """Its row is pruned like any other."""
    turn = await put_status(store, "direct:a", b"Thinking")
    [item] = await begin(store)
    later = NOON + timedelta(days=1)
    await store.transaction(lambda repos: repos.outbox.mark_unknown(item.id, due_at=NOON))
    assert await store.transaction(lambda repos: repos.statuses.take_back(turn)) is None
    assert await store.transaction(lambda repos: repos.outbox.prune(before=later)) == 1


async def put_answer(store: Store, chat: str, turn: TurnId, failed: Sequence[OutboxItem] = ()) -> None:
    """The turn is answered in place of its newest status, while these items turn out not to have gone out."""
    conversation = await conversation_at(store, chat)

    def put(repos: Repositories) -> None:
        status = repos.statuses.current(turn)
        assert status is not None
        repos.outbox.put(conversation, turn, 0, b"answer", in_group=False, now=NOON, replaces=status)
        for item in failed:
            repos.outbox.postpone(item.id, due_at=NOON, now=NOON)

    await store.transaction(put)


@pytest.mark.parametrize("is_killed", [False, True])
async def test_a_status_given_up_early_may_still_be_what_arrives(store: Store, is_killed: bool) -> None:
    """A slow bridge sends it after nobody waits for it any more: its receipt proves nothing that is in doubt elsewhere,
    also when the clock was set meanwhile.
    """
    await doubted(store, "group:G")
    await put_status(store, "direct:a", b"Thinking")
    [item] = await begin(store)
    soon, grace = timedelta(seconds=10), timedelta(seconds=90)

    def doubt(repos: Repositories) -> None:
        if is_killed:
            repos.outbox.mark_all_unknown(now=NOON, grace=grace, status_grace=soon)
        else:
            repos.outbox.mark_unknown(item.id, due_at=NOON + soon, open_until=NOON + grace)
        repos.outbox.put_off_all(timedelta(hours=1), now=NOON)

    await store.transaction(doubt)
    jumped = NOON + timedelta(hours=1)
    await begin(store, jumped + soon)
    assert await states(store) == [("unknown", None), ("dead", None)]
    arrived = jumped + timedelta(seconds=60)
    await listed(store, "group:G", "direct:a", now=arrived + timedelta(seconds=1))
    assert await prove(store, "direct:a", arrived) == 0
    assert await states(store) == [("unknown", None), ("dead", None)]


@pytest.mark.parametrize("is_begun", [False, True])
async def test_the_answer_replaces_the_last_status_that_was_sent(store: Store, is_begun: bool) -> None:
    """It edits what stands in the chat, whether a newer status still waited or has just failed to go out; where none
    was sent, it is a message of its own.
    """
    turn = await put_status(store, "direct:a", b"Thinking")
    [first] = await begin(store)
    await store.transaction(lambda repos: repos.outbox.mark_sent(first.id, millis(NOON), now=NOON))
    await put_status(store, "direct:a", b"Searching", turn)
    await put_answer(store, "direct:a", turn, failed=await begin(store) if is_begun else [])
    await put_answer(store, "direct:b", await put_status(store, "direct:b", b"Thinking"))
    shown = SentMessage(sent_at=millis(NOON), original_at=millis(NOON), revision=0)
    assert [(item.reply, item.edits) for item in await begin(store)] == [(b"answer", shown), (b"answer", None)]
