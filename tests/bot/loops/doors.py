"""An intake in front of a store, and what has become of what it took."""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

from bot.access.access import AccessList
from bot.access.limits import Quota
from bot.access.pairing import Pairing
from bot.clock import SetClock
from bot.events import Envelope, load_envelope
from bot.loops.doorkeeper import Doorkeeper
from bot.loops.intake import Intake
from bot.metrics import Counts
from bot.settings import LimitsSettings
from store import ConversationId, Store
from tests.bot.loops.fake_transport import FakeTransport
from tests.conftest import NOON
from tests.waiting import running


def access(*persons: str, groups: tuple[str, ...] = ("G",), admins: tuple[str, ...] = ()) -> AccessList:
    return AccessList(persons=frozenset(persons), groups=frozenset(groups), admins=frozenset(admins))


@dataclass
class Door:
    """Alice and the group G may come in, unless it is said otherwise."""

    store: Store
    clock: SetClock
    transport: FakeTransport = field(default_factory=FakeTransport)
    allowed: AccessList = field(default_factory=lambda: access("alice"))
    quota: Quota = field(default_factory=lambda: Quota(LimitsSettings()))
    pairing: Pairing | None = None
    counts: Counts = field(default_factory=Counts)
    intake: Intake = field(init=False)

    def __post_init__(self) -> None:
        outside = self.transport, self.store, self.clock, self.counts
        door = Doorkeeper(*outside, self.allowed, "Aldis", self.pairing or Pairing(), self.pairing is not None)
        self.intake = Intake(*outside, door=door, quota=self.quota)

    async def take(self, *envelopes: Envelope) -> None:
        """Takes these, and waits for what is done aside."""
        await self.intake.take(*envelopes)
        await self.finished()

    async def finished(self) -> None:
        await asyncio.gather(*self.intake._aside.tasks)

    @asynccontextmanager
    async def running(self) -> AsyncGenerator[asyncio.Task[None]]:
        async with running(self.intake.run()) as task:
            yield task
        await self.intake.aclose()

    async def rows(self, columns: str) -> list[tuple[Any, ...]]:
        query = f"SELECT {columns} FROM inbox ORDER BY id"
        return await self.store.read(lambda repos: repos.inbox.rows(query))

    async def count(self) -> int:
        return len(await self.rows("id"))

    async def kept(self) -> list[Envelope]:
        found, busy = list[Envelope](), list[ConversationId]()
        while claim := await self.store.transaction(
            lambda repos: repos.inbox.claim(now=NOON, until=NOON, busy=busy, limit=1000)
        ):
            busy.append(claim.conversation)
            found += [load_envelope(item.envelope) for item in claim.items]
        return found

    async def rename(self, one: str, other: str) -> None:
        """Another name for a table: while the inbox has one, it cannot be written."""
        await self.store.transaction(lambda repos: repos.inbox.execute(f"ALTER TABLE {one} RENAME TO {other}"))
