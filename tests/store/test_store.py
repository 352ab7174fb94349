"""The store put together: units over all repositories, who is woken for what is kept, and costs that do not grow."""

import asyncio
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path

import pytest

from store import ConversationId, Repositories, Role, Store, StoredMessage, StoreError, TurnId, open_store
from store.repository import millis
from tests.arrivals import arrival
from tests.conftest import NOON
from tests.store.sends import confirm

_ROLES: tuple[Role, ...] = ("user", "assistant")
LATER = NOON + timedelta(minutes=5)


class Oops(Exception):
    """What a unit of work raises by itself."""


async def woken(store: Store, work: Callable[[Repositories], object]) -> set[str]:
    """The loops that a unit of work wakes."""
    for wakeup in store.wakeups.values():
        wakeup.clear()
    await store.transaction(work)
    return ringing(store)


def ringing(store: Store) -> set[str]:
    return {name for name, wakeup in store.wakeups.items() if wakeup.is_set()}


def answer(repos: Repositories, conversation: ConversationId, turn: TurnId) -> None:
    """A turn ends: its reply goes out, its journal is closed, its messages are settled."""
    said = [StoredMessage(turn=turn, role=role, call_id=None, message=b"words") for role in _ROLES]
    repos.history.append(conversation, said)
    repos.outbox.put(conversation, turn, 0, b"reply", in_group=False, now=NOON)
    repos.journal.close(turn, "kept", now=NOON)
    repos.inbox.done(turn)


def take(repos: Repositories) -> TurnId:
    """Claim what waits; gives its turn."""
    claim = repos.inbox.claim(now=NOON, until=LATER, busy=())
    assert claim is not None
    return claim.turn


async def test_a_unit_over_many_repositories_is_kept_whole_or_not_at_all(store: Store) -> None:
    """What fails at the end leaves nothing on any repository, and its own exception comes through."""
    conversation = await store.conversation("direct:a", now=NOON)
    await store.transaction(lambda repos: repos.inbox.put(arrival(conversation)))

    def half(repos: Repositories) -> None:
        answer(repos, conversation, take(repos))
        raise Oops

    with pytest.raises(Oops):
        await store.transaction(half)
    backlogs = await store.read(lambda repos: (repos.inbox.backlog().items, repos.outbox.backlog().items))
    assert backlogs == (1, 0)
    assert await store.read(lambda repos: repos.inbox.rows("SELECT count(*) FROM turns")) == [(0,)]


async def test_bells_ring_for_what_others_wait_for(store: Store) -> None:
    """An arrival rings the inbox's, a reply the outbox's; what changes nothing for a loop, or fails, rings none."""
    conversation = await store.conversation("direct:a", now=NOON)
    assert await woken(store, lambda repos: repos.inbox.put(arrival(conversation))) == {"inbox"}
    assert await woken(store, lambda repos: repos.inbox.put(arrival(conversation))) == set()
    turn = await store.transaction(take)
    assert await woken(store, lambda repos: answer(repos, conversation, turn)) == {"outbox"}
    assert await woken(store, lambda repos: repos.ledger.add(conversation, turn, None, (), now=NOON)) == set()

    def failing(repos: Repositories) -> None:
        repos.inbox.put(arrival(conversation, 2))
        raise Oops

    nothing, failed = await asyncio.gather(
        store.transaction(lambda _: store.wakeups["outbox"].clear()), store.transaction(failing), return_exceptions=True
    )
    assert (nothing, type(failed)) == (None, Oops)
    assert await woken(store, lambda _: None) == set()


async def test_it_is_closed_when_its_block_fails(path: Path) -> None:
    """Whatever ends the block: the lock is free again, and what was kept is there."""
    kept: list[tuple[Store, ConversationId]] = []

    async def failing() -> None:
        async with open_store(path, realm="signal") as store:
            kept.append((store, await store.conversation("direct:a", now=NOON)))
            raise Oops

    with pytest.raises(Oops):
        await failing()
    [(closed, conversation)] = kept
    async with open_store(path, realm="signal") as store:
        assert await store.conversation("direct:a", now=NOON) == conversation
    with pytest.raises(StoreError, match="closed"):
        await closed.checkpoint()


async def steps_of_a_message(store: Store, sent_at: int) -> dict[str, int]:
    """A message's whole way through the store; gives how many steps SQLite takes for each unit of it."""
    conversation = await store.conversation("direct:a", now=NOON)
    counts: dict[str, int] = {}

    async def run(name: str, work: Callable[[Repositories], object]) -> object:
        def counted(repos: Repositories) -> object:
            def step() -> int:
                counts[name] = counts.get(name, 0) + 1
                return 0

            connection = repos.inbox._connection
            connection.set_progress_handler(step, 1)
            try:
                return work(repos)
            finally:
                connection.set_progress_handler(None, 1)

        return await store.transaction(counted)

    def sent(repos: Repositories) -> None:
        [item] = repos.outbox.begin(now=NOON, limit=8)
        repos.outbox.mark_sent(item.id, millis(NOON) + sent_at, now=NOON)

    await run("arrive", lambda repos: repos.inbox.put(arrival(conversation, sent_at)))
    await run("claim", take)
    await run("requeue", lambda repos: repos.inbox.requeue(now=LATER + timedelta(seconds=1)))
    turn = await store.transaction(take)
    await run("hand back", lambda repos: repos.inbox.hand_back(turn, counts=False))
    await store.transaction(take)
    await run("answer", lambda repos: answer(repos, conversation, turn))
    await run("load", lambda repos: repos.history.last(conversation, 1))
    await run("due", lambda repos: repos.outbox.next_due_at())
    await run("send", sent)
    await run("receipt", lambda repos: confirm(repos, "direct:a", (sent_at,), NOON))
    await run("recover", lambda repos: repos.outbox.mark_all_unknown(now=NOON, grace=timedelta(minutes=1)))
    await run("health", lambda repos: (repos.inbox.backlog(), repos.outbox.backlog()))
    await run("prune", lambda repos: (repos.inbox.prune(before=NOON), repos.outbox.prune(before=NOON)))
    return counts


async def test_a_message_costs_the_same_whatever_was_before(store: Store) -> None:
    """After a thousand answered messages, in fifty conversations, each step takes SQLite as much work as at first."""
    await steps_of_a_message(store, 0)
    first = await steps_of_a_message(store, 1)
    conversations = [await store.conversation(f"direct:{number}", now=NOON) for number in range(50)]

    def live(repos: Repositories) -> None:
        for sent_at in range(1000):
            conversation = conversations[sent_at % len(conversations)]
            repos.inbox.put(arrival(conversation, 1000 + sent_at))
            answer(repos, conversation, take(repos))
            [item] = repos.outbox.begin(now=NOON, limit=8)
            repos.outbox.mark_sent(item.id, millis(NOON) + 1000 + sent_at, now=NOON)

    await store.transaction(live)
    later = await steps_of_a_message(store, 2)
    assert {name: count for name, count in later.items() if count > 1.2 * first[name]} == {}
