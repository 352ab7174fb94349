"""Backups: a copy made under load is whole, and a store restored from it is the store as it was at that moment."""

import os
import secrets
import shutil
import sqlite3
import stat
from contextlib import closing
from datetime import timedelta
from pathlib import Path

import pytest

from store import Repositories, Store, copy_closed, open_store, restore
from store.errors import Damaged, SchemaTooNew, StoreError, StoreInUse, WrongKey
from store.migrations import NEWEST
from store.sealing import KEY_BYTES
from tests.arrivals import arrival
from tests.conftest import NOON
from tests.store.dying import each_step
from tests.store.lives import LATER, asked, forgotten, found, ordered, remembered, sealed_in, taken, talked
from tests.store.places import HARMS, contents, execute, keys_of, master_of, wrapped
from tests.store.sends import place

WORDS = [b"asked one", b"told one"]
ALL_WORDS = [*WORDS, b"asked two", b"told two"]
STAMP = "20261121T120000Z"
HOUR = timedelta(hours=1)


def files(folder: Path) -> set[str]:
    return {file.name for file in folder.iterdir()}


async def backed_up(path: Path, folder: Path, key: bytes | None = None) -> Path:
    """A store with one turn, and a copy of it from before a second turn."""
    async with open_store(path, realm="signal", key=key) as store:
        await talked(store, "direct:a", 1, b"one")
        copy = await store.backup(folder, now=NOON)
        await talked(store, "direct:a", 2, b"two")
    return copy


async def assert_holds(path: Path, words: list[bytes], key: bytes | None = None) -> None:
    async with open_store(path, realm="signal", key=key) as store:
        assert await remembered(store, "direct:a") == words


class TestMaking:
    async def test_it_is_two_files_for_the_owner_alone(self, path: Path, tmp_path: Path) -> None:
        """Named after the time, in a folder that is made; neither plain words nor the master key are in them."""
        folder = tmp_path / "deep" / "backups"
        copy = await backed_up(path, folder)
        assert copy == folder / f"aldis-{STAMP}.db"
        assert files(folder) == {copy.name, keys_of(copy).name}
        assert {stat.S_IMODE(file.stat().st_mode) for file in folder.iterdir()} == {0o600}
        master = master_of(path).read_text().strip()
        for secret in (b"asked one", b"direct:a", master.encode(), bytes.fromhex(master)):
            assert found(copy, secret) == []

    async def test_nothing_is_overwritten(self, store: Store, tmp_path: Path) -> None:
        """A second copy in the same second is refused; what a killed one left is cleared away."""
        folder = tmp_path / "backups"
        folder.mkdir()
        (folder / ".aldis-20261120T120000Z.db.part-keys").write_bytes(b"half of its keys")
        copy = await store.backup(folder, now=NOON)
        before = copy.read_bytes()
        with pytest.raises(StoreError, match=f"{copy} was made in this second"):
            await store.backup(folder, now=NOON)
        assert copy.read_bytes() == before
        assert files(folder) == {copy.name, keys_of(copy).name}
        with closing(sqlite3.connect(copy)) as connection:
            assert connection.execute("PRAGMA integrity_check").fetchall() == [("ok",)]

    @pytest.mark.parametrize("name", [b"file", b"not-utf8-\xff"])
    async def test_a_folder_that_cannot_be_used_is_refused(self, store: Store, tmp_path: Path, name: bytes) -> None:
        """A file stands there, or its name is no text."""
        (tmp_path / "file").touch()
        with pytest.raises(StoreError, match="cannot"):
            await store.backup(tmp_path / os.fsdecode(name), now=NOON)

    async def test_what_was_forgotten_is_in_no_later_copy(self, path: Path, tmp_path: Path) -> None:
        """Free pages and rows that were deleted are not copied."""
        async with open_store(path, realm="signal") as store:
            await talked(store, "direct:a", 1, b"one")
            [sealed] = await sealed_in(store, "SELECT message FROM history WHERE position = 0")
            former = wrapped(path)
            await forgotten(store, "direct:a", await ordered(store, "direct:a", 2))
            copy = await store.backup(tmp_path / "backups", now=NOON)
        assert found(copy, sealed) == []
        assert len([key for key in former if found(copy, key)]) == 1


class TestRestoring:
    async def test_the_store_is_as_it_was(self, path: Path, tmp_path: Path) -> None:
        """The drill: words of then are back, words from afterwards are not; the files of before are kept aside."""
        copy = await backed_up(path, tmp_path / "backups")
        former = restore(copy, path, now=NOON)
        assert former is not None
        assert former.name == f"aldis.db.before-{STAMP}"
        await assert_holds(path, WORDS)
        own = {path.name + suffix for suffix in ("", "-keys", "-master-key", "-lock")}
        assert files(path.parent) == {*own, former.name, keys_of(former).name}
        assert {stat.S_IMODE(file.stat().st_mode) for file in path.parent.iterdir()} == {0o600}

    async def test_it_works_on_a_new_machine(self, path: Path, tmp_path: Path) -> None:
        """Where nothing was: the copy and the master key are enough."""
        key = secrets.token_bytes(KEY_BYTES)
        copy = await backed_up(path, tmp_path / "backups", key)
        elsewhere = tmp_path / "new" / "machine" / "aldis.db"
        assert restore(copy, elsewhere, now=NOON, key=key) is None
        await assert_holds(elsewhere, WORDS, key)

    async def test_what_cannot_be_put_aside_stays(self, path: Path, tmp_path: Path) -> None:
        """As on a full disk, or while it runs, which does not notice: it opens as before."""
        copy = await backed_up(path, tmp_path / "backups")
        async with open_store(path, realm="signal") as store:
            with pytest.raises(StoreInUse, match=str(path)):
                restore(copy, path, now=NOON)
            assert await remembered(store, "direct:a") == ALL_WORDS
        before = contents(path)
        keys_of(path.with_name(f"{path.name}.before-{STAMP}")).touch()
        with pytest.raises(StoreError, match="cannot use"):
            restore(copy, path, now=NOON)
        assert contents(path) == before
        await assert_holds(path, ALL_WORDS)

    async def test_a_log_of_before_is_not_played_into_it(self, path: Path, tmp_path: Path) -> None:
        """After a crash the store has a write-ahead log, which goes aside with it and can be restored with it."""
        copy = await backed_up(path, tmp_path / "backups")
        crashed = tmp_path / "crashed" / "aldis.db"
        async with open_store(path, realm="signal") as store:
            await talked(store, "direct:a", 3, b"three")
            shutil.copytree(path.parent, crashed.parent)
        former = restore(copy, crashed, now=NOON)
        assert former is not None
        assert former.with_name(former.name + "-wal").exists()
        await assert_holds(crashed, WORDS)
        restore(former, crashed, now=NOON + timedelta(seconds=1))
        await assert_holds(crashed, [*ALL_WORDS, b"asked three", b"told three"])

    @pytest.mark.parametrize("part", ["", "-keys"])
    @pytest.mark.parametrize("harm", [*HARMS, "empty", "missing"])
    async def test_what_is_not_whole_is_refused_and_left_alone(
        self, path: Path, tmp_path: Path, part: str, harm: str
    ) -> None:
        """A copy by its name, and a store with the verb that restores one."""
        copy = await backed_up(path, tmp_path / "backups")
        file, before = copy.with_name(copy.name + part), contents(path)
        whole = file.read_bytes()
        if harm == "missing":
            file.unlink()
        else:
            file.write_bytes(HARMS[harm](whole) if harm in HARMS else b"")
        with pytest.raises(StoreError, match=str(copy)) as caught:
            restore(copy, path, now=NOON)
        assert harm == "missing" or isinstance(caught.value, Damaged)
        assert contents(path) == before
        if harm in HARMS:
            present = path.with_name(path.name + part)
            present.write_bytes(HARMS[harm](present.read_bytes()))
            damaged = present.read_bytes()
            with pytest.raises(Damaged, match="restore a backup with `aldis restore FILE`"):
                await assert_holds(path, ALL_WORDS)
            assert present.read_bytes() == damaged
        file.write_bytes(whole)
        restore(copy, path, now=NOON)
        await assert_holds(path, WORDS)

    async def test_a_copy_under_another_key_is_refused(self, path: Path, tmp_path: Path) -> None:
        """Nothing in it could be read: better to be refused now than by the next message."""
        copy = await backed_up(path, tmp_path / "backups")
        with pytest.raises(WrongKey, match=f"{copy} cannot be read: the master key .STORE__KEY"):
            restore(copy, path, now=NOON, key=secrets.token_bytes(KEY_BYTES))
        given = bytes.fromhex(master_of(path).read_text())
        master_of(path).unlink()
        with pytest.raises(WrongKey, match=f"{copy} cannot be read: the master key {master_of(path)} is missing"):
            restore(copy, path, now=NOON)
        assert restore(copy, path, now=NOON, key=given) is not None

    async def test_a_copy_of_a_newer_aldis_is_refused(self, path: Path, tmp_path: Path) -> None:
        """It names both schemas."""
        copy = await backed_up(path, tmp_path / "backups")
        execute(copy, f"PRAGMA user_version = {NEWEST + 1}")
        with pytest.raises(SchemaTooNew, match=f"{copy} cannot be read: schema {NEWEST + 1} is newer than {NEWEST}"):
            restore(copy, path, now=NOON)
        await assert_holds(path, ALL_WORDS)

    async def test_tables_of_another_program_are_in_no_ones_way(
        self, path: Path, tmp_path: Path, caplog: pytest.LogCaptureFixture
    ) -> None:
        """Litestream 0.5.17 makes two tables in each database (db.go, 2026-11): the log names them at opening."""
        caplog.set_level("INFO")
        await backed_up(path, tmp_path / "backups")
        execute(path, *(f"CREATE TABLE _litestream_{name} (id INTEGER PRIMARY KEY)" for name in ("seq", "lock")))
        async with open_store(path, realm="signal") as store:
            copy = await store.backup(tmp_path / "backups", now=LATER)
        assert caplog.text.count("tables of another program") == 1
        assert "leaves alone: _litestream_lock, _litestream_seq" in caplog.text
        restore(copy, path, now=NOON)
        await assert_holds(path, ALL_WORDS)

    async def test_a_crash_at_any_step_leaves_one_store_or_a_refusal(self, path: Path, tmp_path: Path) -> None:
        """Never half of each and never an empty one: one that was cut off is refused until it is done again."""
        copy = await backed_up(path, tmp_path / "made")
        (tmp_path / "copies").mkdir()
        again = copy.rename(tmp_path / "copies" / "copy.db")
        keys_of(copy).rename(keys_of(again))
        seen: list[str] = []
        async for at in each_step(path, tmp_path / "steps", "restore"):
            try:
                async with open_store(at, realm="signal") as store:
                    words = await remembered(store, "direct:a")
                    seen.append("after" if await store.read(lambda repos: repos.restored.is_copy()) else "before")
                assert words == (WORDS if seen[-1] == "after" else ALL_WORDS)
            except StoreError as error:
                seen.append("refused" if "a restore was cut off" in str(error) else str(error))
                with pytest.raises(StoreError, match="is no backup"):
                    restore(tmp_path / "another.db", at, now=NOON)
                with pytest.raises(StoreError, match="was cut off"):
                    await assert_holds(at, [])
                restore(at.with_name(f"{at.name}.before-{STAMP}"), at, now=LATER)
                await assert_holds(at, ALL_WORDS)
                restore(again, at, now=NOON + HOUR)
                await assert_holds(at, WORDS)
        assert list(dict.fromkeys(seen)) == ["before", "refused", "after"]
        assert {name for name in files(path.parent) if ".fetched" in name} == set()


class TestClosing:
    async def is_copy(self, path: Path) -> bool:
        with closing(sqlite3.connect(path)) as connection:
            return connection.execute("SELECT count(*) FROM restored").fetchone() == (1,)

    async def test_a_copy_is_marked_until_it_is_closed(self, path: Path, tmp_path: Path) -> None:
        """Both from its making, as files may be put in place by hand, and by a restore, whatever its schema."""
        async with open_store(path, realm="signal") as store:
            await asked(store, "direct:a", 1)
            copy = await store.backup(tmp_path / "copies", now=NOON)
        assert (await self.is_copy(path), await self.is_copy(copy)) == (False, True)
        earlier = NEWEST - 2
        execute(path, f"PRAGMA user_version = {earlier}")
        copy = copy_closed(path, tmp_path / "copies", now=LATER)
        restore(copy, path, now=NOON + HOUR)
        assert await self.is_copy(path)

        def close(repos: Repositories) -> int:
            assert repos.restored.is_copy()
            repos.grants.allow(place(repos, "direct:a"), "alice", tool="post", shape="s", now=NOON)
            return repos.restored.close(besides=(), now=NOON)

        async with open_store(path, realm="signal") as store:
            assert await store.transaction(close) == 1
            # It may have been taken back since the backup.
            assert await store.read(lambda repos: repos.grants.value("SELECT count(*) FROM grants")) == 0
        assert not await self.is_copy(path)

    def test_what_is_closed_is_neither_answered_nor_sent(self, repos: Repositories) -> None:
        """Its words go, and the steps of a turn that was under way; a deletion stays to be carried out."""
        for number in (1, 2, 3):
            repos.inbox.put(arrival(place(repos, f"direct:{number}"), number))
        repos.inbox.put(arrival(place(repos, "direct:a"), 4, urgent=True, kind="delete"))
        here, turn = taken(repos)
        repos.outbox.put(here, turn, 0, b"an answer", in_group=False, now=NOON)
        repos.journal.close(turn, "ignored", now=NOON)
        repos.inbox.done(turn)
        repos.journal.add(*taken(repos), 0, b"a step")
        repos.outbox.begin(now=LATER, limit=1)
        assert repos.restored.close(besides=("delete",), now=LATER) == 3
        assert repos.inbox.claim(now=LATER, until=LATER, busy=()) is None
        assert len(repos.inbox.urgent_items()) == 1
        assert repos.outbox.begin(now=LATER + HOUR, limit=9) == ()
        assert repos.inbox.value("SELECT count(*) FROM journal") == 0
        assert repos.inbox.column("SELECT DISTINCT state FROM turns") == ("ignored",)
        words = "SELECT count(*) FROM inbox WHERE envelope IS NOT NULL UNION ALL SELECT count(*) FROM outbox "
        assert repos.inbox.column(words + "WHERE reply IS NOT NULL") == (1, 0)
