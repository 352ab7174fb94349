"""Sends of the outbox, step by step: put, begun, left in doubt, proved."""

from collections.abc import Collection
from datetime import datetime, timedelta

from store import Confirmation, ConversationId, OutboxItem, Repositories, Store
from store.repository import millis
from tests.conftest import NOON

GRACE = timedelta(seconds=90)


async def conversation_at(store: Store, chat: str) -> ConversationId:
    return await store.conversation(chat, now=NOON)


async def say(store: Store, chat: str, *replies: bytes, now: datetime = NOON) -> None:
    """A turn of the chat ends with these replies."""
    conversation = await conversation_at(store, chat)

    def put(repos: Repositories) -> None:
        turn = repos.turns.begin(conversation, now=now)
        for position, reply in enumerate(replies):
            repos.outbox.put(conversation, turn, position, reply, in_group=chat.startswith("group:"), now=now)

    await store.transaction(put)


async def begin(store: Store, now: datetime = NOON, limit: int = 16) -> list[OutboxItem]:
    return list(await store.transaction(lambda repos: repos.outbox.begin(now=now, limit=limit)))


async def states(store: Store) -> list[tuple[str, int | None]]:
    rows = await store.read(lambda repos: repos.outbox.rows("SELECT state, sent_at FROM outbox ORDER BY id"))
    return [(state, sent_at) for state, sent_at in rows]


async def prove(store: Store, address: str, *at: datetime, now: datetime | None = None) -> int:
    """Somebody confirms messages of these times; gives how many sends that proves."""
    names, now = [millis(one) for one in at], now or max(at)
    return await store.transaction(lambda repos: confirm(repos, address, names, now))


def confirm(repos: Repositories, address: str, names: Collection[int], now: datetime) -> int:
    """A phone confirms these messages now; gives how many sends that proves."""
    return repos.attempts.prove_all([Confirmation(address=address, names=names, came_at=now)], now=now)


async def listed(store: Store, group: str, *people: str, now: datetime = NOON + timedelta(seconds=10)) -> None:
    """The bridge tells who is in a group, after all that has been sent so far unless `now` says another time."""

    def keep(repos: Repositories) -> None:
        assert repos.members.keep(group, people, listed_at=now)
        repos.attempts.reconcile(now=now)

    await store.transaction(keep)


async def doubted(store: Store, chat: str, now: datetime = NOON) -> OutboxItem:
    """A send of the chat whose outcome nobody knows."""
    await say(store, chat, b"answer", now=now)
    [item] = await begin(store, now)
    await store.transaction(lambda repos: repos.outbox.mark_unknown(item.id, due_at=now + GRACE))
    return item
