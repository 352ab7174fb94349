"""When the disk is full: the error says so, nothing is half written, and everything works again when there is room."""

import subprocess
from collections.abc import Generator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import pytest

from store import Erasure, Repositories, Store, StoreFull, open_store
from tests.conftest import NOON
from tests.store.lives import asked, forgotten, found, ordered, remembered, rows, sealed_in, talked, waiting

KB = 1024
RESERVE_BYTES = 256 * KB


@dataclass
class Disk:
    folder: Path

    @property
    def path(self) -> Path:
        return self.folder / "data" / "aldis.db"

    def fill(self) -> None:
        with (self.folder / "filler").open("ab", buffering=0) as filler:
            for size in (64 * KB, KB, 1):
                with suppress(OSError):
                    while filler.write(b"x" * size):
                        pass

    def empty(self) -> None:
        (self.folder / "filler").unlink()


@pytest.fixture
def disk(tmp_path: Path) -> Generator[Disk]:
    """A small disk of its own, which only root can make; without it the limit on SQLite's pages is what is tested."""
    folder = tmp_path / "disk"
    folder.mkdir()
    made = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=2m", "tmpfs", folder], capture_output=True, check=False
    ).returncode
    if made != 0:
        pytest.skip("only root can mount a small disk")
    yield Disk(folder)
    subprocess.run(["umount", folder], check=True)


async def limit_pages(store: Store, more: int) -> None:
    def limit(repos: Repositories) -> None:
        [(pages,)] = repos.inbox.rows("PRAGMA main.page_count")
        repos.inbox.rows(f"PRAGMA main.max_page_count = {pages + more}")

    await store.read(limit)


async def test_what_does_not_fit_is_told_and_nothing_of_it_is_kept(disk: Disk) -> None:
    """What was there can be read, and what comes is kept again as soon as there is room."""
    async with open_store(disk.path, realm="signal") as store:
        await talked(store, "direct:a", 1, b"one")
        await store.checkpoint()
        disk.fill()
        with pytest.raises(StoreFull, match="no room is left on the disk"):
            await asked(store, "direct:a", 2, b"x" * 100 * KB)
        with pytest.raises(StoreFull):
            await store.conversation("direct:b", now=NOON)
        assert await remembered(store, "direct:a") == [b"asked one", b"told one"]
        disk.empty()
        await asked(store, "direct:a", 2, b"two")
        await asked(store, "direct:b", 3, b"three")
        assert await waiting(store) == [b"two", b"three"]
        assert await rows(store, "PRAGMA integrity_check") == [("ok",)]


@pytest.mark.parametrize("whole", [False, True])
async def test_what_must_go_goes_all_the_same(disk: Disk, whole: bool) -> None:
    """The reserve makes room for deleting: words and keys leave both files when nothing more can be taken in."""
    async with open_store(disk.path, realm="signal", reserve_bytes=RESERVE_BYTES) as store:
        turn = await talked(store, "direct:a", 1, b"one")
        command = await ordered(store, "direct:a", 2)
        [sealed] = await sealed_in(store, "SELECT message FROM history WHERE position = 0")
        await store.checkpoint()
        disk.fill()
        if whole:
            assert (await forgotten(store, "direct:a", command)).erased == Erasure(turns=1)
            assert await rows(store, "SELECT count(*) FROM keys.wrapped") == [(2,)]
        else:
            await store.erase(lambda repos: repos.forgetting.turns(turn, now=NOON))
        await store.checkpoint()
        assert found(disk.path, sealed) == []
        assert await remembered(store, "direct:a") == []


async def test_a_backup_that_does_not_fit_leaves_nothing_behind(disk: Disk, store: Store) -> None:
    """The store itself has room and goes on."""
    await talked(store, "direct:a", 1, b"one")
    disk.fill()
    with pytest.raises(StoreFull, match="no room is left on the disk"):
        await store.backup(disk.folder / "backups", now=NOON)
    assert list((disk.folder / "backups").iterdir()) == []
    await asked(store, "direct:a", 2)
    disk.empty()
    assert (await store.backup(disk.folder / "backups", now=NOON)).exists()
