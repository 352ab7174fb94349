"""Membership: the bridge is asked who is in its groups when a receipt depends on it, and not for nothing."""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import timedelta

from bot.access.access import AccessList
from bot.clock import SetClock
from bot.events import PersonId
from bot.loops.maintenance import Membership
from bot.signal.protocol import Group
from store import Repositories, Store, TurnId
from store.repository import millis
from tests.bot.loops.fake_transport import FakeTransport
from tests.conftest import NOON
from tests.store.sends import confirm
from tests.waiting import eventually, eventually_found

LISTED = AccessList(persons=frozenset(), groups=frozenset())


@dataclass
class Asked(FakeTransport):
    """Counts how often it was asked for its groups."""

    looks: int = 0

    async def groups(self) -> tuple[Group, ...]:
        self.looks += 1
        return await super().groups()


def group(id_: str, *people: str, is_complete: bool = True) -> Group:
    return Group(id=id_, name="", members=frozenset(map(PersonId, people)), is_complete=is_complete)


@asynccontextmanager
async def running(transport: FakeTransport, store: Store, clock: SetClock) -> AsyncGenerator[None]:
    task = asyncio.create_task(Membership(transport, store, clock, LISTED, pause_seconds=0.01).run())
    try:
        yield
    finally:
        task.cancel()
        await asyncio.wait([task])


async def doubted(store: Store, clock: SetClock) -> None:
    """A send to the group G of which nobody knows what became of it."""
    conversation = await store.conversation("group:G", now=NOON)

    def doubt(repos: Repositories) -> None:
        turn = repos.turns.begin(conversation, now=NOON)
        repos.outbox.put(conversation, TurnId(turn), 0, b"answer", in_group=True, now=NOON)
        [item] = repos.outbox.begin(now=NOON, limit=1)
        repos.outbox.mark_unknown(item.id, due_at=NOON + timedelta(seconds=90))

    await store.transaction(doubt)
    clock.move(1)


async def confirmed(store: Store, clock: SetClock) -> None:
    """Somebody confirms what may be that send."""
    now = clock.now()
    await store.transaction(lambda repos: confirm(repos, "direct:alice", [millis(now)], now))


async def is_sent(store: Store) -> bool:
    return await store.read(lambda repos: repos.outbox.rows("SELECT state FROM outbox")) == [("sent",)]


async def test_a_receipt_of_somebody_unknown_is_a_reason_to_ask(store: Store, clock: SetClock) -> None:
    """A send in doubt alone is none; when the bridge has told, the receipt proves the send."""
    transport = Asked()
    async with running(transport, store, clock):
        await eventually(lambda: transport.looks == 1)
        transport.known_groups = (group("G", "alice"), group("elsewhere", "bob"))
        await doubted(store, clock)
        assert transport.looks == 1
        await confirmed(store, clock)
        await eventually_found(lambda: is_sent(store))
    assert transport.looks == 2


async def test_a_list_that_leaves_people_out_counts_for_nothing(store: Store, clock: SetClock) -> None:
    """Whoever is not named in it may be in the group all the same: it proves nothing, and disproves nothing."""
    transport = Asked(known_groups=(group("G", "bob", is_complete=False),))
    await doubted(store, clock)
    await confirmed(store, clock)
    await Membership(transport, store, clock, LISTED, pause_seconds=0.01).look()
    assert not await is_sent(store)
    assert await store.read(lambda repos: repos.outbox.rows("SELECT count(*) FROM receipts")) == [(1,)]
    transport.known_groups = (group("G", "alice"),)
    await Membership(transport, store, clock, LISTED, pause_seconds=0.01).look()
    assert await is_sent(store)
