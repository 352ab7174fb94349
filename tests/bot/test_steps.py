"""Nobody waits long for the one thread of the store: no step of anything grows with what is kept.

A step is what runs on that thread in one piece. It is measured in instructions of SQLite's machine, which are the same
on every machine, over a store and one of three times its size.
"""

import asyncio
from collections.abc import Awaitable, Callable
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from bot import messages
from bot.chat.edits import Revisions
from bot.chat.turns import Turns
from bot.clock import SetClock
from bot.events import ChatId, PersonId
from bot.features.export import gather_export
from bot.loops.maintenance import Maintenance
from bot.messages import AssistantMessage, Text, UserMessage
from store import Repositories, Store, StoredMessage, open_store
from store.repository import millis
from tests.arrivals import arrival
from tests.bot.chat.turn_helpers import settings_with, unlimited
from tests.conftest import NOON

TURNS = 700
"""More than any step takes at once."""
LATER = NOON + timedelta(days=400)
PERSON, DIRECT = PersonId("alice"), ChatId("direct:alice")

Work = Callable[[Store], Awaitable[object]]


async def filled(store: Store, turns: int) -> None:
    conversation = await store.conversation(DIRECT, now=NOON)
    question = messages.dump_messages([UserMessage(text="When do I sow beans?")])
    answer = messages.dump_messages([AssistantMessage(parts=(Text(text="In April."),))])

    def fill(repos: Repositories) -> None:
        for number in range(turns):
            repos.inbox.put(arrival(conversation, number, author=PERSON))
            claim = repos.inbox.claim(now=NOON, until=NOON, busy=())
            assert claim is not None
            said = [
                StoredMessage(turn=claim.turn, role="user", call_id=None, message=question),
                StoredMessage(turn=claim.turn, role="assistant", call_id=None, message=answer),
            ]
            repos.history.append(conversation, said)
            repos.journal.close(claim.turn, "kept", now=NOON)
            repos.inbox.done(claim.turn)
            repos.outbox.execute(
                "INSERT INTO outbox (conversation_id, turn_id, position, in_group, state, due_at, settled_at) "
                "VALUES (?, ?, 0, 0, 'sent', 0, ?)",
                (conversation, claim.turn, millis(NOON)),
            )

    await store.transaction(fill)


class Meter:
    def __init__(self, store: Store) -> None:
        self._thread = store._database._thread
        self._submit = self._thread.submit
        self.steps: list[int] = []
        self._thread.submit = self._measured

    def _measured(self, work: Callable[..., Any]) -> asyncio.Future[Any]:
        count = 0

        def measured(connection: object) -> object:
            def tick() -> int:
                nonlocal count
                count += 1
                return 0

            connection.set_progress_handler(tick, 10)  # type: ignore[attr-defined]
            try:
                return work(connection)
            finally:
                connection.set_progress_handler(None, 0)  # type: ignore[attr-defined]
                self.steps.append(count)

        return self._submit(measured)


async def tidied(store: Store) -> None:
    """What is done by and by: what was settled long ago is forgotten, and what is older than the retention goes."""
    clock = SetClock(LATER)
    settings = settings_with(signal={"delete_answers": True}, history={"retention_days": 30})
    turns = Turns(store, clock, settings, unlimited(store, clock))
    maintenance = Maintenance(store, clock, Revisions(store, clock, turns, settings), settings)
    await maintenance.tidy()
    await maintenance.expire()


async def loaded(store: Store) -> None:
    conversation = await store.conversation(DIRECT, now=NOON)
    await store.read(lambda repos: repos.history.last(conversation, 20))


WORKS: dict[str, Work] = {
    "all of an export": lambda store: gather_export(store, PERSON, DIRECT, now=NOON),
    "the newest of an export": lambda store: gather_export(store, PERSON, DIRECT, now=NOON, max_bytes=1000),
    "the window": loaded,
    "tidying": tidied,
    "the backlog": lambda store: store.read(lambda repos: (repos.inbox.backlog(), repos.outbox.backlog())),
}


@pytest.mark.parametrize("work", WORKS.values(), ids=WORKS)
async def test_no_step_grows_with_what_is_kept(tmp_path: Path, work: Work) -> None:
    """Three times as much is done in three times as many steps, not in longer ones."""
    longest: list[int] = []
    for turns in (TURNS, 3 * TURNS):
        async with open_store(tmp_path / f"{turns}.db", realm="signal") as store:
            await filled(store, turns)
            meter = Meter(store)
            await work(store)
            longest.append(max(meter.steps))
    assert longest[1] < 1.5 * longest[0] + 20
