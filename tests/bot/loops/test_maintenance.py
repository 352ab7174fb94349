"""Maintenance: what is left behind is taken up, what is settled is forgotten in time."""

import asyncio
from datetime import timedelta
from pathlib import Path
from typing import Any

from bot.chat.edits import Revisions
from bot.chat.turns import Turns
from bot.clock import SetClock
from bot.loops.maintenance import Maintenance
from store import Store, TurnId
from tests.arrivals import arrive
from tests.conftest import NOON
from tests.waiting import eventually


def maintenance_of(store: Store, clock: SetClock, **every: Any) -> Maintenance:
    turns = Turns(store, clock, max_turns=20, timezone="UTC")
    return Maintenance(store, clock, Revisions(store, clock, turns, deletes_answers=False, asks_per_minute=60), **every)


async def claim(store: Store) -> int | None:
    until = NOON + timedelta(minutes=5)
    claim = await store.transaction(lambda repos: repos.inbox.claim(now=NOON, until=until, busy=()))
    return None if claim is None else claim.turn


async def test_settled_messages_are_forgotten_after_the_time_a_redelivery_may_take(
    store: Store, clock: SetClock
) -> None:
    """Within 45 days their names are kept."""
    await arrive(store)
    turn = await claim(store)
    assert turn
    await store.transaction(lambda repos: repos.inbox.done(TurnId(turn)))
    maintenance = maintenance_of(store, clock)
    for days, left in ((44, 1), (2, 0)):
        clock.move(days * 86400)
        await maintenance.tidy()
        assert await store.read(lambda repos: repos.inbox.rows("SELECT count(*) FROM inbox")) == [(left,)]


async def test_it_folds_the_write_ahead_log_again_and_again(store: Store, clock: SetClock, path: Path) -> None:
    """The log does not grow for ever, and a failure in between ends nothing."""
    log = path.with_name(path.name + "-wal")
    task = asyncio.create_task(maintenance_of(store, clock, every_seconds=0.01, expiry_every_seconds=0.01).run())
    try:
        await store.transaction(lambda repos: repos.inbox.execute("ALTER TABLE inbox RENAME TO away"))
        await asyncio.sleep(0.05)
        await store.transaction(lambda repos: repos.inbox.execute("ALTER TABLE away RENAME TO inbox"))
        await arrive(store)
        await eventually(lambda: not log.stat().st_size)
    finally:
        task.cancel()
        await asyncio.wait([task])
