"""Sends of the outbox, step by step: put, begun, left in doubt, proved."""

from collections.abc import Collection
from datetime import datetime, timedelta

from store import Confirmation, ConversationId, OutboxItem, Repositories
from store.repository import millis
from tests.conftest import NOON

GRACE = timedelta(seconds=90)


def at(seconds: float) -> datetime:
    return NOON + timedelta(seconds=seconds)


def place(repos: Repositories, chat: str) -> ConversationId:
    repos.conversations.key(chat)
    return repos.conversations.add(chat, now=NOON)


def say(repos: Repositories, chat: str, *replies: bytes, now: datetime = NOON) -> None:
    conversation = place(repos, chat)
    turn = repos.turns.begin(conversation, now=now)
    for position, reply in enumerate(replies):
        repos.outbox.put(conversation, turn, position, reply, in_group=chat.startswith("group:"), now=now)


def begin(repos: Repositories, now: datetime = NOON) -> tuple[OutboxItem, ...]:
    return repos.outbox.begin(now=now, limit=16)


def sent(repos: Repositories, item: OutboxItem, name: datetime, now: datetime | None = None) -> None:
    repos.outbox.mark_sent(item.id, millis(name), now=now or name)


def states(repos: Repositories) -> list[tuple[str, int | None]]:
    return repos.outbox.rows("SELECT state, sent_at FROM outbox ORDER BY id")


def prove(repos: Repositories, address: str, *names: datetime, now: datetime | None = None) -> int:
    return confirm(repos, address, list(map(millis, names)), now or max(names))


def confirm(repos: Repositories, address: str, names: Collection[int], now: datetime) -> int:
    return repos.outbox.prove_all([Confirmation(address=address, names=names, came_at=now)], now=now)


def listed(repos: Repositories, group: str, *people: str, now: datetime = NOON + timedelta(seconds=10)) -> None:
    """The bridge lists who is in a group, after all that has been sent so far unless `now` says another time."""
    assert repos.members.keep(group, people, listed_at=now)
    repos.outbox.reconcile(now=now)


def doubt(repos: Repositories, item: OutboxItem, until: datetime = NOON + GRACE) -> None:
    repos.outbox.end_attempt(item.id, "unknown", due_at=until)


def doubted(repos: Repositories, chat: str, now: datetime = NOON) -> OutboxItem:
    say(repos, chat, b"answer", now=now)
    [item] = begin(repos, now)
    doubt(repos, item, now + GRACE)
    return item
