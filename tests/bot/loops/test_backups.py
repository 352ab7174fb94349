"""Nightly backups: one for each night, the old ones go, and a disk that is full ends nothing."""

import asyncio
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from bot.clock import SetClock
from bot.loops.backups import NightlyBackups, nightly_folder
from store import Store, StoreError
from tests.waiting import eventually


def nightly(store: Store, clock: SetClock, folder: Path, days: int | None = 3) -> NightlyBackups:
    return NightlyBackups(store, clock, folder, days=days, timezone="Europe/Berlin")


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir()) if folder.exists() else []


async def test_one_copy_a_night_and_the_old_ones_go(store: Store, tmp_path: Path) -> None:
    """Made up for where the machine was off; a copy is both files; what is not a nightly copy stays."""
    folder = nightly_folder(tmp_path / "aldis.db")
    clock = SetClock(datetime(2026, 11, 21, 12, 0, tzinfo=UTC))
    backups = nightly(store, clock, folder)
    await backups.look()
    await backups.look()
    assert names(folder) == ["aldis-20261121T120000Z.db", "aldis-20261121T120000Z.db-keys"]
    other = folder.parent / "aldis-20200101T000000Z.db"
    other.write_bytes(b"by hand")
    clock.move(timedelta(hours=13, minutes=59).total_seconds())  # 02:59 in Berlin
    await backups.look()
    assert len(names(folder)) == 2
    clock.move(60)
    await backups.look()
    assert names(folder)[2:] == ["aldis-20261122T020000Z.db", "aldis-20261122T020000Z.db-keys"]
    clock.move(timedelta(days=3).total_seconds())
    await backups.look()
    assert [name for name in names(folder) if not name.endswith("-keys")] == [
        "aldis-20261122T020000Z.db",
        "aldis-20261125T020000Z.db",
    ]
    assert other.exists()


async def test_a_copy_that_cannot_be_made_keeps_the_old_ones(
    store: Store, clock: SetClock, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """The loop goes on and the log says why; without a number of days there is no copy at all."""
    folder = tmp_path / "backups"
    folder.write_text("a file in the place of the folder")
    with pytest.raises(StoreError):
        await nightly(store, clock, folder).look()
    running = asyncio.create_task(nightly(store, clock, folder).run())
    off = asyncio.create_task(nightly(store, clock, tmp_path / "off", days=None).run())
    await eventually(lambda: "the nightly backup failed" in caplog.text)
    assert not running.done()
    for task in (running, off):
        task.cancel()
    await asyncio.wait([running, off])
    assert not (tmp_path / "off").exists()
