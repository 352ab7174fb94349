"""The store put together: units over all repositories, wakeups, costs that do not grow, and conversations."""

import asyncio
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path

import pytest

from store import ConversationId, Damaged, Repositories, Store, StoreError, open_store
from store.repository import millis
from tests.arrivals import arrival
from tests.conftest import NOON
from tests.store.lives import LATER, answered, taken
from tests.store.sends import confirm, place


async def woken(store: Store, work: Callable[[Repositories], object]) -> set[str]:
    for wakeup in store.wakeups.values():
        wakeup.clear()
    await store.transaction(work)
    return {name for name, wakeup in store.wakeups.items() if wakeup.is_set()}


def answer(repos: Repositories, conversation: ConversationId) -> None:
    answered(repos, conversation, taken(repos)[1], b"question", b"answer")


async def test_bells_ring_for_what_others_wait_for(store: Store) -> None:
    """An arrival rings the inbox's, a reply the outbox's; what changes nothing for a loop, or fails, rings none."""
    conversation = await store.conversation("direct:a", now=NOON)
    assert await woken(store, lambda repos: repos.inbox.put(arrival(conversation))) == {"inbox"}
    assert await woken(store, lambda repos: repos.inbox.put(arrival(conversation))) == set()
    assert await woken(store, lambda repos: answer(repos, conversation)) == {"outbox"}

    def failing(repos: Repositories) -> None:
        repos.inbox.put(arrival(conversation, 2))
        raise ZeroDivisionError

    nothing, failed = await asyncio.gather(
        store.transaction(lambda _: store.wakeups["outbox"].clear()), store.transaction(failing), return_exceptions=True
    )
    assert (nothing, type(failed)) == (None, ZeroDivisionError)
    assert await woken(store, lambda _: None) == set()


async def test_it_is_closed_when_its_block_fails(path: Path) -> None:
    """Whatever ends the block: the lock is free again, and what was kept is there."""
    kept: list[tuple[Store, ConversationId]] = []

    async def failing() -> None:
        async with open_store(path, realm="signal") as store:
            kept.append((store, await store.conversation("direct:a", now=NOON)))
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        await failing()
    [(closed, conversation)] = kept
    async with open_store(path, realm="signal") as store:
        assert await store.conversation("direct:a", now=NOON) == conversation
    with pytest.raises(StoreError, match="closed"):
        await closed.checkpoint()


async def steps_of_a_message(store: Store, sent_at: int) -> dict[str, int]:
    """A message's whole way through the store; gives how many steps SQLite takes for each unit of it."""
    conversation = await store.conversation("direct:a", now=NOON)

    def live(repos: Repositories) -> dict[str, int]:
        counts: dict[str, int] = {}

        def run(name: str, work: Callable[[], object]) -> None:
            def step() -> int:
                counts[name] = counts.get(name, 0) + 1
                return 0

            repos.inbox._connection.set_progress_handler(step, 1)
            work()
            repos.inbox._connection.set_progress_handler(None, 1)

        def sent() -> None:
            [item] = repos.outbox.begin(now=NOON, limit=8)
            repos.outbox.mark_sent(item.id, millis(NOON) + sent_at, now=NOON)

        run("arrive", lambda: repos.inbox.put(arrival(conversation, sent_at)))
        run("claim", lambda: taken(repos))
        run("requeue", lambda: repos.inbox.requeue(now=LATER + timedelta(seconds=1)))
        _, turn = taken(repos)
        run("hand back", lambda: repos.inbox.hand_back(turn, counts=False))
        run("answer", lambda: answer(repos, conversation))
        run("load", lambda: repos.history.last(conversation, 1))
        run("due", repos.outbox.next_due_at)
        run("send", sent)
        run("receipt", lambda: confirm(repos, "direct:a", (sent_at,), NOON))
        run("recover", lambda: repos.outbox.mark_all_unknown(now=NOON, grace=timedelta(minutes=1)))
        run("health", lambda: (repos.inbox.backlog(), repos.outbox.backlog()))
        run("prune", lambda: (repos.inbox.prune(before=NOON), repos.outbox.prune(before=NOON)))
        return counts

    return await store.transaction(live)


async def test_a_message_costs_the_same_whatever_was_before(store: Store) -> None:
    """After a thousand answered messages, in fifty conversations, each step takes SQLite as much work as at first."""
    await steps_of_a_message(store, 0)
    first = await steps_of_a_message(store, 1)
    conversations = [await store.conversation(f"direct:{number}", now=NOON) for number in range(50)]

    def live(repos: Repositories) -> None:
        for sent_at in range(1000):
            conversation = conversations[sent_at % len(conversations)]
            repos.inbox.put(arrival(conversation, 1000 + sent_at))
            answer(repos, conversation)
            [item] = repos.outbox.begin(now=NOON, limit=8)
            repos.outbox.mark_sent(item.id, millis(NOON) + 1000 + sent_at, now=NOON)

    await store.transaction(live)
    later = await steps_of_a_message(store, 2)
    assert {name: count for name, count in later.items() if count > 1.2 * first[name]} == {}


class TestConversations:
    async def test_an_address_has_one_in_each_realm(self, path: Path) -> None:
        """It is begun once; later the same one is found. The terminal's of a name is not Signal's."""
        found: dict[str, ConversationId] = {}
        for realm in ("signal", "terminal", "signal", "terminal"):
            async with open_store(path, realm=realm) as store:
                conversation = await store.conversation("direct:a", now=LATER if realm in found else NOON)
                assert found.setdefault(realm, conversation) == conversation
                assert await store.transaction(lambda repos: place(repos, "direct:a")) == conversation
                query = "SELECT id, created_at FROM conversations"
                rows = await store.read(lambda repos, query=query: repos.conversations.rows(query))
        assert rows == [(found[realm], millis(NOON)) for realm in ("signal", "terminal")]

    def test_the_key_exists_before_the_row(self, repos: Repositories) -> None:
        """A row without a key could never be read; a key without a row does no harm."""
        assert repos.inbox.put(arrival(place(repos, "direct:a"))) is not None
        keyless = repos.conversations.add("direct:b", now=NOON)
        with pytest.raises(Damaged, match="no data key"):
            repos.inbox.put(arrival(keyless))

    async def test_one_whose_beginning_failed_leaves_nothing_to_the_next(self, path: Path) -> None:
        """The next one may get the same id: it is sealed with its own key, and opens after a restart."""

        def failing(repos: Repositories) -> None:
            repos.inbox.put(arrival(repos.conversations.add("direct:a", now=NOON)))
            raise ZeroDivisionError

        async with open_store(path, realm="signal") as store:
            await store.transaction(lambda repos: repos.conversations.key("direct:a"))
            with pytest.raises(ZeroDivisionError):
                await store.transaction(failing)
            conversation = await store.conversation("direct:b", now=NOON)
            await store.transaction(lambda repos: repos.inbox.put(arrival(conversation, envelope=b"of b")))
        async with open_store(path, realm="signal") as store:
            claim = await store.transaction(lambda repos: repos.inbox.claim(now=NOON, until=LATER, busy=()))
            assert claim is not None
            assert [item.envelope for item in claim.items] == [b"of b"]
