"""Nightly backups: one for each night, made by maintenance; the old ones go."""

from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from bot.clock import SetClock
from store import Store, StoreError
from tests.bot.loops.test_maintenance import maintenance_of


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir()) if folder.exists() else []


async def test_one_copy_a_night_and_the_old_ones_go(store: Store, tmp_path: Path) -> None:
    """Made up for where the machine was off; a copy is both files; what is not a nightly copy stays."""
    folder = tmp_path / "here" / "backups" / "nightly"
    clock = SetClock(datetime(2026, 11, 21, 12, 0, tzinfo=UTC))
    kept = timedelta(days=3)

    async def nightly() -> None:
        await store.back_up_nightly(folder, now=clock.wall(), timezone="Europe/Berlin", kept=kept)

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
