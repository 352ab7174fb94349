"""When the machine fails: a full disk, a damaged file, a lock that somebody else holds, a clock that jumps.

Each is told by name, nothing is half written, and everything works again when the machine does.
"""

import os
import sqlite3
import subprocess
from collections.abc import Generator
from contextlib import closing
from dataclasses import dataclass
from dataclasses import replace as replaced
from datetime import datetime, timedelta
from io import RawIOBase
from pathlib import Path

import pytest

from store import (
    Arrival,
    Damaged,
    Erasure,
    Repositories,
    Store,
    StoredMessage,
    StoreFull,
    StoreInUse,
    TurnId,
    open_store,
    restore,
)
from store.connection import DiskReserve
from store.database import Database
from tests.arrivals import arrival
from tests.conftest import NOON
from tests.store.lives import Answer, asked, found, ordered, remembered, rows, talked, waiting
from tests.store.places import content, keys_of, replace

KB = 1024
RESERVE_BYTES = 256 * KB
HOUR = timedelta(hours=1)


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

    async def test_the_same_with_a_limit_that_needs_no_root(self, store: Store) -> None:
        """SQLite's own limit on pages ends in the same error; deleting makes room there."""
        turn = await talked(store, "direct:a", 1, b"one")
        await limit_pages(store, 0)
        with pytest.raises(StoreFull, match="no room is left on the disk"):
            await asked(store, "direct:a", 2, b"x" * 100 * KB)
        erased = await store.erase(lambda repos: repos.forgetting.turn(turn, now=NOON))
        assert erased.messages == 2
        await limit_pages(store, 1000)
        await asked(store, "direct:a", 2, b"x" * 100 * KB)
        assert await waiting(store) == [b"x" * 100 * KB]

    async def test_what_must_go_goes_all_the_same(self, disk: Disk) -> None:
        """The reserve makes room for deleting: words leave the files even when nothing more can be taken in."""
        async with open_store(disk.path, realm="signal", reserve_bytes=RESERVE_BYTES) as store:
            turn = await talked(store, "direct:a", 1, b"one")
            [(sealed,)] = await rows(store, "SELECT message FROM history WHERE position = 0")
            assert isinstance(sealed, bytes)
            await store.checkpoint()
            disk.fill()
            await store.erase(lambda repos: repos.forgetting.turn(turn, now=NOON))
            await store.checkpoint()
            assert found(disk.path, sealed) == []
            assert await remembered(store, "direct:a") == []

    async def test_without_ballast_deleting_fails_too(self, disk: Disk) -> None:
        """Which is why there is one: the error is the same, and nothing is half gone."""
        async with open_store(disk.path, realm="signal") as store:
            turn = await talked(store, "direct:a", 1, b"one")
            await store.checkpoint()
            disk.fill()
            with pytest.raises(StoreFull):
                await store.erase(lambda repos: repos.forgetting.turn(turn, now=NOON))
            assert await remembered(store, "direct:a") == [b"asked one", b"told one"]

    async def test_a_conversation_is_forgotten_all_the_same(self, disk: Disk) -> None:
        """Its keys too, which are in another file."""
        async with open_store(disk.path, realm="signal", reserve_bytes=RESERVE_BYTES) as store:
            await talked(store, "direct:a", 1, b"one")
            command = await ordered(store, "direct:a", 2)
            await store.checkpoint()
            disk.fill()
            assert await store.forget("direct:a", before=command, now=NOON, then=Answer(command)) == Erasure(
                conversations=1, turns=1, messages=2
            )
            assert await rows(store, "SELECT count(*) FROM keys.wrapped") == [(2,)]

    async def test_a_key_is_not_rotated_halfway(self, disk: Disk) -> None:
        """There is no moment at which no key opens the store."""
        async with open_store(disk.path, realm="signal") as store:
            await talked(store, "direct:a", 1, b"one")
            disk.fill()
            with pytest.raises(StoreFull):
                await store.rotate_key()
            assert await remembered(store, "direct:a") == [b"asked one", b"told one"]
        disk.empty()
        async with open_store(disk.path, realm="signal") as store:
            assert await remembered(store, "direct:a") == [b"asked one", b"told one"]
            assert await store.rotate_key() == 2

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

    async def test_a_restoring_that_does_not_fit_leaves_the_store_as_it_is(self, disk: Disk, path: Path) -> None:
        """Nothing is moved aside before the copy stands beside it, whole."""
        async with open_store(path, realm="signal") as store:
            await talked(store, "direct:a", 1, b"one")
            copy = await store.backup(path.parent, now=NOON)
        async with open_store(disk.path, realm="signal"):
            pass
        disk.fill()
        before = {file.name: content(file) for file in disk.path.parent.iterdir()}
        with pytest.raises(StoreFull):
            restore(copy, disk.path, now=NOON)
        assert {file.name: content(file) for file in disk.path.parent.iterdir()} == before

    async def test_opening_on_a_full_disk_is_told_by_name(self, disk: Disk) -> None:
        """Whether it is just full enough or not: it opens, or says why it cannot."""
        async with open_store(disk.path, realm="signal") as store:
            await talked(store, "direct:a", 1, b"one")
        disk.fill()
        with pytest.raises(StoreFull, match="no room is left on the disk"):
            async with open_store(disk.path, realm="signal"):
                pass
        disk.empty()
        async with open_store(disk.path, realm="signal") as store:
            assert await remembered(store, "direct:a") == [b"asked one", b"told one"]


class TestDiskReserve:
    def test_it_takes_up_room_that_it_gives_back(self, tmp_path: Path) -> None:
        """Blocks that are really taken, not a hole in a file; laid once, and again when it was dropped."""
        reserve = DiskReserve(tmp_path / "reserve", RESERVE_BYTES)
        assert not reserve.release()
        for _ in range(2):
            reserve.create()
            reserve.create()
            assert (tmp_path / "reserve").stat().st_blocks * 512 >= RESERVE_BYTES
            assert reserve.release()
            assert list(tmp_path.iterdir()) == []

    def test_it_never_takes_the_last_room(self, disk: Disk) -> None:
        """Where there is little, what comes in goes before."""
        reserve = DiskReserve(disk.folder / "reserve", 1500 * KB)
        reserve.create()
        assert list(disk.folder.iterdir()) == []

    async def test_it_is_there_while_the_store_is_open(self, path: Path) -> None:
        """And laid again at a checkpoint when it had to go."""
        file = path.with_name("aldis.db-ballast")
        async with open_store(path, realm="signal", reserve_bytes=RESERVE_BYTES) as store:
            assert file.stat().st_size == RESERVE_BYTES
            remove(file)
            await store.checkpoint()
            assert file.stat().st_size == RESERVE_BYTES
        assert not file.exists()


def remove(path: Path) -> None:
    path.unlink()


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

    async def test_a_large_file_is_checked_when_the_last_stop_was_not_clean(self, path: Path, tmp_path: Path) -> None:
        """Checking takes time: after a clean stop a large file is trusted, and damage told when it is read."""
        async with open_store(path, realm="signal") as store:
            await talked(store, "direct:a", 1, b"one")
            [(page,)] = await rows(store, "SELECT rootpage FROM sqlite_schema WHERE name = 'history'")
            log = content(path.with_name("aldis.db-wal"))
        whole = content(path)
        start = (int(str(page)) - 1) * 4096
        replace(path, whole[:start] + b"\xff" * 4096 + whole[start + 4096 :])
        await (await Database.open(path, keys_of(path), checked_bytes=len(whole) - 1)).aclose()
        replace(path.with_name("aldis.db-wal"), log[:1000])
        with pytest.raises(Damaged):
            await Database.open(path, keys_of(path), checked_bytes=len(whole) - 1)

    async def test_a_flipped_bit_in_sealed_words_costs_them_alone(
        self, path: Path, caplog: pytest.LogCaptureFixture
    ) -> None:
        """The structure of the file is sound; the log names the place, and nobody waits because of it."""
        async with open_store(path, realm="signal") as store:
            await talked(store, "direct:a", 1, b"one")
            await talked(store, "direct:b", 2, b"two")
            [(sealed,)] = await rows(store, "SELECT message FROM history WHERE position = 0 AND turn_id = 1")
        assert isinstance(sealed, bytes)
        flipped = bytes([sealed[0] ^ 1]) + sealed[1:]
        replace(path, content(path).replace(sealed, flipped))
        async with open_store(path, realm="signal") as store:
            assert await remembered(store, "direct:a") == []
            assert "a sealed value at history.message|1|0 is not what was written there" in caplog.text
            assert await remembered(store, "direct:b") == [b"asked two", b"told two"]


class TestLock:
    async def test_a_lock_of_another_program_is_told_and_waited_out(self, store: Store, path: Path) -> None:
        """Nothing is kept meanwhile, reading works, and afterwards everything does."""
        await talked(store, "direct:a", 1, b"one")
        await store.read(lambda repos: repos.inbox.rows("PRAGMA busy_timeout = 1"))
        command = await ordered(store, "direct:a", 2)
        with closing(sqlite3.connect(path, isolation_level=None)) as other:
            other.execute("BEGIN IMMEDIATE")
            with pytest.raises(StoreInUse, match="another program holds the database locked: close it"):
                await asked(store, "direct:a", 3)
            with pytest.raises(StoreInUse):
                await store.forget("direct:a", before=command, now=NOON, then=Answer(command))
            assert await remembered(store, "direct:a") == [b"asked one", b"told one"]
            other.execute("ROLLBACK")
        await store.forget("direct:a", before=command, now=NOON, then=Answer(command))
        await asked(store, "direct:a", 3)

    async def test_a_locked_key_file_is_told_and_waited_out(self, store: Store, path: Path) -> None:
        """What was forgotten is forgotten; its key goes with the first checkpoint that can take it out."""
        await talked(store, "direct:a", 1, b"one")
        command = await ordered(store, "direct:a", 2)
        await store.transaction(lambda repos: repos.forgetting.prepare("direct:a"))
        await store.read(lambda repos: repos.inbox.rows("PRAGMA busy_timeout = 1"))
        with closing(sqlite3.connect(keys_of(path), isolation_level=None)) as other:
            other.execute("BEGIN IMMEDIATE")
            with pytest.raises(StoreInUse):
                await store.rotate_key()
            await store.forget("direct:a", before=command, now=NOON, then=Answer(command))
            assert await rows(store, "SELECT count(*) FROM keys.wrapped") == [(3,)]
            with pytest.raises(StoreInUse):
                await store.checkpoint()
            other.execute("ROLLBACK")
        await store.checkpoint()
        assert await rows(store, "SELECT count(*) FROM keys.wrapped") == [(2,)]
        assert await store.rotate_key() == 2

    async def test_opening_a_locked_file_is_refused_by_name(self, path: Path) -> None:
        """It does not wait for ever."""
        async with open_store(path, realm="signal"):
            pass
        with closing(sqlite3.connect(path, isolation_level=None)) as other:
            other.execute("PRAGMA locking_mode = EXCLUSIVE")
            other.execute("BEGIN EXCLUSIVE")
            with pytest.raises(StoreInUse, match="another program holds the database locked"):
                await Database.open(path, keys_of(path), busy_seconds=0.01)
        async with open_store(path, realm="signal"):
            pass


class TestClock:
    async def test_order_is_the_order_of_arrival_whatever_the_clock_says(self, store: Store) -> None:
        """The clock goes back by an hour between two turns, then forward by two: what came first stays first."""
        conversation = await store.conversation("direct:a", now=NOON)
        for number, now in enumerate((NOON, NOON - HOUR, NOON + HOUR)):
            message = b"%d" % number

            came = replaced(arrival(conversation, number, message), received_at=now)

            def live(repos: Repositories, now: datetime = now, came: Arrival = came) -> None:
                turn = repos.turns.begin(conversation, now=now)
                repos.history.append(
                    conversation, [StoredMessage(turn=turn, role="user", call_id=None, message=came.envelope)]
                )
                repos.journal.close(turn, "kept", now=now)
                repos.inbox.put(came)

            await store.transaction(live)
        assert await remembered(store, "direct:a") == [b"0", b"1", b"2"]
        assert await waiting(store) == [b"0", b"1", b"2"]

    async def test_what_has_expired_stays_expired_when_the_clock_goes_back(self, store: Store) -> None:
        """Forgotten is forgotten; what the clock of now does not call expired is named when it does again."""
        turns = [await talked(store, "direct:a", number, b"words") for number in range(2)]

        def expire(repos: Repositories) -> None:
            for number, turn in enumerate(turns):
                at = int((NOON + number * HOUR).timestamp() * 1000)
                repos.inbox.execute("UPDATE turns SET expires_at = ? WHERE id = ?", (at, turn))

        async def expired(now: datetime) -> list[TurnId]:
            return [turn for _, turn in await store.read(lambda repos: repos.forgetting.turns_expired(now))]

        await store.transaction(expire)
        assert await expired(NOON) == [turns[0]]
        await store.transaction(lambda repos: repos.forgetting.turn(turns[0], now=NOON))
        assert await expired(NOON - HOUR) == []
        assert await expired(NOON + HOUR) == [turns[1]]
