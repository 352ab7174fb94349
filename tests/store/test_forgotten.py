"""What is left of what was forgotten: nothing in any file or copy, and after a crash all of it or nothing."""

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from store import Erasure, open_store
from tests.conftest import NOON
from tests.store.lives import (
    asked,
    forgotten,
    found,
    ordered,
    remembered,
    rows,
    talked,
    waiting,
)
from tests.store.places import content, each_step, keys_of, replace, wrapped


class TestFiles:
    async def test_sealed_bytes_and_the_key_leave_all_files(self, path: Path) -> None:
        """Neither the database nor its log nor the key file holds a byte of what was there."""
        async with open_store(path, realm="signal") as store:
            await talked(store, "direct:a", 1, b"one")
            await asked(store, "direct:a", 2)
            command = await ordered(store, "direct:a", 3)
            sealed = [row[0] for row in await rows(store, "SELECT message FROM history")]
            sealed += [row[0] for row in await rows(store, "SELECT envelope FROM inbox WHERE envelope IS NOT NULL")]
            keys = wrapped(path)
            assert len(sealed) == 4
            assert all(isinstance(each, bytes) and found(path, each) for each in (*sealed, *keys))
            await forgotten(store, "direct:a", command)
            kept = wrapped(path)
            gone = [key for key in keys if key not in kept]
            assert len(gone) == 1
            for each in (*sealed, *gone):
                assert isinstance(each, bytes)
                assert found(path, each) == []
        assert [name for each in (*sealed, *gone) if isinstance(each, bytes) for name in found(path, each)] == []

    async def test_words_of_one_turn_leave_all_files_with_the_next_checkpoint(self, path: Path) -> None:
        """What disappears by a timer is not left in free pages or in the log."""
        async with open_store(path, realm="signal") as store:
            turn = await talked(store, "direct:a", 1, b"one")
            await talked(store, "direct:a", 2, b"two")
            mine, other = (row[0] for row in await rows(store, "SELECT message FROM history WHERE position = 0"))
            assert isinstance(mine, bytes)
            assert isinstance(other, bytes)
            await store.transaction(lambda repos: repos.forgetting.turns(turn, now=NOON))
            await store.checkpoint()
            assert found(path, mine) == []
            assert found(path, other) == ["aldis.db"]

    async def test_a_copy_from_before_is_shut_for_ever(self, path: Path, tmp_path: Path) -> None:
        """The database as it was yesterday holds sealed words; with the key file of today they are not opened."""
        async with open_store(path, realm="signal") as store:
            await talked(store, "direct:a", 1, b"one")
            await talked(store, "direct:b", 2, b"two")
        kept = content(path)
        async with open_store(path, realm="signal") as store:
            await forgotten(store, "direct:a", await ordered(store, "direct:a", 3))
        replace(path, kept)
        async with open_store(path, realm="signal") as store:
            assert await remembered(store, "direct:a") == []
            assert await remembered(store, "direct:b") == [b"asked two", b"told two"]


async def prepared(path: Path) -> None:
    """A store in which there is something to forget, something that came later, and somebody else."""
    async with open_store(path, realm="signal") as store:
        await talked(store, "direct:a", 1, b"one")
        await talked(store, "direct:b", 2, b"two", author="bob")
        await talked(store, "group:g", 3, b"three")
        await asked(store, "direct:a", 4, b"before")
        await ordered(store, "direct:a", 5)
        await asked(store, "direct:a", 6, b"after")


@pytest.mark.parametrize("verb", ["forget", "forget-person"])
async def test_a_crash_at_any_step_leaves_all_of_it_or_nothing(path: Path, tmp_path: Path, verb: str) -> None:
    """Whatever the moment: either everything is as before and the command still there, and carrying it out again does
    it; or everything is forgotten and the command answered. What came later can be read; the old key is gone.
    """
    await prepared(path)
    old_key = named_keys(path)[handle_of(path, 1)]
    outcomes: list[tuple[bool, int]] = []
    async for copy in each_step(path, tmp_path / "steps", verb):
        keys = len(wrapped(copy))
        async with open_store(copy, realm="signal") as store:
            is_gone = await rows(store, "SELECT 1 FROM conversations WHERE key_generation = 1") != []
            assert (found(copy, old_key) == []) == is_gone
            in_group = await remembered(store, "group:g")
            assert (in_group == []) == (is_gone and verb == "forget-person")
            if not is_gone:
                assert await remembered(store, "direct:a") == [b"asked one", b"told one"]
                [urgent_item] = await store.read(lambda repos: repos.inbox.urgent_items())
                assert await forgotten(store, "direct:a", urgent_item.id) == Erasure(turns=1)
            assert await remembered(store, "direct:a") == []
            assert await remembered(store, "direct:b") == [b"asked two", b"told two"]
            begun = await store.transaction(lambda repos: repos.outbox.begin(now=NOON, limit=8))
            assert [item.reply for item in begun] == [b"forgotten"]
            assert await waiting(store) == [b"after"]
            await store.checkpoint()
            assert found(copy, old_key) == []
            assert len(wrapped(copy)) == 4
        outcomes.append((is_gone, keys))
    # The next key is made, the rows go, the old key goes: in this order, each at once.
    assert sorted(set(outcomes), key=outcomes.index) == [(False, 4), (False, 5), (True, 5), (True, 4)]


def named_keys(path: Path) -> dict[bytes, bytes]:
    with closing(sqlite3.connect(keys_of(path))) as connection:
        return dict(connection.execute("SELECT name, key FROM wrapped").fetchall())


def handle_of(path: Path, conversation: int) -> bytes:
    with closing(sqlite3.connect(path)) as connection:
        return connection.execute("SELECT handle FROM conversations WHERE id = ?", (conversation,)).fetchone()[0]
