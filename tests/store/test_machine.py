"""When the machine fails: a full disk, a damaged file, a lock that somebody else holds, a clock that jumps.

Each is told by name, nothing is half written, and everything works again when the machine does.
"""

import os
import subprocess
from collections.abc import Generator
from dataclasses import dataclass
from io import RawIOBase
from pathlib import Path

import pytest

from store import (
    Damaged,
    Erasure,
    Repositories,
    Store,
    StoreFull,
    open_store,
    restore,
)
from tests.conftest import NOON
from tests.store.lives import Answer, asked, found, ordered, remembered, rows, talked, waiting
from tests.store.places import content, replace

KB = 1024
RESERVE_BYTES = 256 * KB


@dataclass
class Disk:
    """A disk of two megabytes."""

    folder: Path

    @property
    def path(self) -> Path:
        """Where a store on it stands."""
        return self.folder / "data" / "aldis.db"

    def fill(self) -> None:
        """Something else takes all the room there is."""
        with (self.folder / "filler").open("ab", buffering=0) as filler:
            for size in (64 * KB, KB, 1):
                with pytest.raises(OSError, match="No space left"):
                    write_on(filler, size)

    def empty(self) -> None:
        """There is room again."""
        (self.folder / "filler").unlink()


def write_on(file: RawIOBase, size: int) -> None:
    """Write blocks of so many bytes for as long as that works."""
    while True:
        file.write(b"x" * size)


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
    """Let the database grow by so many pages only."""

    def limit(repos: Repositories) -> None:
        [(pages,)] = repos.inbox.rows("PRAGMA main.page_count")
        repos.inbox.rows(f"PRAGMA main.max_page_count = {pages + more}")

    await store.read(limit)


class TestFullDisk:
    async def test_what_does_not_fit_is_told_and_nothing_of_it_is_kept(self, disk: Disk) -> None:
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

    async def test_what_must_go_goes_all_the_same(self, disk: Disk) -> None:
        """The reserve makes room for deleting: words leave the files even when nothing more can be taken in."""
        async with open_store(disk.path, realm="signal", reserve_bytes=RESERVE_BYTES) as store:
            turn = await talked(store, "direct:a", 1, b"one")
            [(sealed,)] = await rows(store, "SELECT message FROM history WHERE position = 0")
            assert isinstance(sealed, bytes)
            await store.checkpoint()
            disk.fill()
            await store.erase(lambda repos: repos.forgetting.turns(turn, now=NOON))
            await store.checkpoint()
            assert found(disk.path, sealed) == []
            assert await remembered(store, "direct:a") == []

    async def test_a_conversation_is_forgotten_all_the_same(self, disk: Disk) -> None:
        """Its keys too, which are in another file."""
        async with open_store(disk.path, realm="signal", reserve_bytes=RESERVE_BYTES) as store:
            await talked(store, "direct:a", 1, b"one")
            command = await ordered(store, "direct:a", 2)
            await store.checkpoint()
            disk.fill()
            answer = Answer(command)
            await store.forget("direct:a", before=command, now=NOON, then=answer)
            assert answer.erased == Erasure(turns=1)
            assert await rows(store, "SELECT count(*) FROM keys.wrapped") == [(2,)]

    async def test_a_backup_that_does_not_fit_leaves_nothing_behind(self, disk: Disk, store: Store) -> None:
        """The error names the folder; the store itself has room and goes on."""
        await talked(store, "direct:a", 1, b"one")
        disk.fill()
        with pytest.raises(StoreFull, match=f"no room is left in {disk.folder / 'backups'}: nothing was copied"):
            await store.backup(disk.folder / "backups", now=NOON)
        assert list((disk.folder / "backups").iterdir()) == []
        await asked(store, "direct:a", 2)
        disk.empty()
        assert (await store.backup(disk.folder / "backups", now=NOON)).exists()


class TestDamage:
    @pytest.mark.parametrize("part", ["", "-keys"])
    @pytest.mark.parametrize("harm", ["a page of nonsense", "a letter of its schema", "cut off", "no database"])
    async def test_a_damaged_store_is_refused_with_the_way_out(self, path: Path, part: str, harm: str) -> None:
        """Its file is named with the verb that restores a backup; not a byte of it is changed."""
        async with open_store(path, realm="signal") as store:
            await talked(store, "direct:a", 1, b"one")
            copy = await store.backup(path.parent / "backups", now=NOON)
        file = path.with_name(path.name + part)
        before = content(file)
        match harm:
            case "a page of nonsense":
                replace(file, before[:4096] + os.urandom(4096) + before[8192:])
            case "a letter of its schema":
                replace(file, before.replace(b"CREATE TABLE", b"CREATE T\xe1BLE"))
            case "cut off":
                replace(file, before[: len(before) // 8192 * 4096])
            case _:
                replace(file, b"Dear diary, " * 1000)
        damaged = content(file)
        with pytest.raises(Damaged, match="restore a backup with `aldis restore FILE`"):
            async with open_store(path, realm="signal"):
                pass
        assert content(file) == damaged
        restore(copy, path, now=NOON)
        async with open_store(path, realm="signal") as store:
            assert await remembered(store, "direct:a") == [b"asked one", b"told one"]
