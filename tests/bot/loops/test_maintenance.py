"""Maintenance: what is left behind is taken up, what is settled is forgotten in time; one backup a night."""

import asyncio
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from bot.chat.edits import Revisions
from bot.chat.turns import Turns
from bot.clock import SetClock
from bot.loops.maintenance import Maintenance
from store import Store, StoreError, TurnId
from tests.arrivals import arrive
from tests.conftest import NOON
from tests.waiting import eventually, running


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
    maintenance = maintenance_of(store, clock)
    maintenance.every_seconds = maintenance.expiry_every_seconds = 0.01
    async with running(maintenance.run()):
        await store.transaction(lambda repos: repos.inbox.execute("ALTER TABLE inbox RENAME TO away"))
        await asyncio.sleep(0.05)
        await store.transaction(lambda repos: repos.inbox.execute("ALTER TABLE away RENAME TO inbox"))
        await arrive(store)
        await eventually(lambda: not log.stat().st_size)


# Nightly backups


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir()) if folder.exists() else []


async def test_one_copy_a_night_and_the_old_ones_go(store: Store, tmp_path: Path) -> None:
    """Made up for where the machine was off; a copy is both files; what is not a nightly copy stays."""
    folder = tmp_path / "here" / "backups" / "nightly"
    clock = SetClock(datetime(2026, 11, 21, 12, 0, tzinfo=UTC))
    kept = timedelta(days=3)

    async def nightly() -> None:
        await store.back_up_nightly(folder, now=clock.now(), timezone="Europe/Berlin", kept=kept)

    tidy = maintenance_of(store, clock, nightly=nightly).tidy
    await tidy()
    await tidy()
    assert names(folder) == ["aldis-20261121T120000Z.db", "aldis-20261121T120000Z.db-keys"]
    other = folder.parent / "aldis-20200101T000000Z.db"
    other.write_bytes(b"by hand")
    clock.move(timedelta(hours=13, minutes=59).total_seconds())  # 02:59 in Berlin
    await tidy()
    assert len(names(folder)) == 2
    clock.move(60)
    await tidy()
    assert names(folder)[2:] == ["aldis-20261122T020000Z.db", "aldis-20261122T020000Z.db-keys"]
    clock.move(timedelta(days=3).total_seconds())
    await tidy()
    copies = [name for name in names(folder) if not name.endswith("-keys")]
    assert copies == ["aldis-20261122T020000Z.db", "aldis-20261125T020000Z.db"]
    assert other.exists()


async def test_a_copy_that_cannot_be_made_keeps_the_old_ones(store: Store, tmp_path: Path) -> None:
    """A file stands in the place of the folder."""
    folder = tmp_path / "backups"
    now = datetime(2026, 11, 21, 12, 0, tzinfo=UTC)
    await store.back_up_nightly(folder, now=now, timezone="UTC", kept=timedelta(days=1))
    made = names(folder)
    assert len(made) == 2
    (tmp_path / "file").write_text("")
    with pytest.raises(StoreError):
        await store.back_up_nightly(tmp_path / "file", now=now, timezone="UTC", kept=timedelta(days=1))
    assert names(folder) == made
