"""Holds: what is held is not sent, late for nobody, and given up in the end."""

from datetime import timedelta

from store import ConversationId, Store
from tests.conftest import NOON
from tests.store.sends import begin, conversation_at, say, states

LATER = NOON + timedelta(seconds=1)


async def hold(store: Store, chat: str) -> ConversationId:
    conversation = await conversation_at(store, chat)
    await store.transaction(lambda repos: repos.holds.add(conversation, now=NOON))
    return conversation


async def test_what_is_held_is_never_due_and_late_for_nobody(store: Store) -> None:
    """Neither what was there nor what comes; others go out. Released, it does, in its order."""
    await say(store, "direct:a", b"one")
    conversation = await hold(store, "direct:a")
    await say(store, "direct:a", b"two")
    await say(store, "direct:b", b"other")
    assert [item.reply for item in await begin(store, NOON + timedelta(days=1))] == [b"other"]
    assert await store.read(lambda repos: repos.outbox.next_due_at()) is None
    backlog = await store.read(lambda repos: repos.outbox.backlog())
    assert (backlog.items, backlog.oldest_at) == (3, NOON)
    assert await store.read(lambda repos: repos.holds.all()) == {conversation: NOON}
    await store.transaction(lambda repos: repos.holds.release(conversation))
    assert store.wakeups["outbox"].is_set()
    assert [item.reply for item in await begin(store)] == [b"one"]


async def test_what_is_held_for_too_long_is_dead(store: Store) -> None:
    """By the age of its turn; what is not held is none of it."""
    for chat in ("direct:a", "direct:b"):
        await say(store, chat, b"one")
    await hold(store, "direct:a")
    held = await store.transaction(lambda repos: repos.holds.give_up_items(before=LATER, now=NOON))
    assert (held, await states(store)) == (1, [("dead", None), ("waiting", None)])
    assert await store.read(lambda repos: repos.outbox.rows("SELECT count(*) FROM outbox WHERE reply IS NULL")) == [
        (1,)
    ]
