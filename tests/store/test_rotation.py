"""A new master key: put in place while everything works, at no moment without a key that opens the store."""

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from store import KeyGiven, StoreInUse, WrongKey, open_store
from store.sealing import KEY_BYTES
from tests.store.lives import NEW, OLD, found, remembered, talked
from tests.store.places import each_step, keys_of, master_of, wrapped


def key_of(path: Path) -> bytes:
    return bytes.fromhex(master_of(path).read_text())


def next_of(path: Path) -> Path:
    return path.with_name(path.name + "-master-key.next")


async def prepared(path: Path, key: bytes | None = None) -> None:
    """A store with words in two conversations."""
    async with open_store(path, realm="signal", key=key) as store:
        await talked(store, "direct:a", 1, b"one")
        await talked(store, "direct:b", 2, b"two")


async def assert_readable(path: Path, key: bytes | None = None, old_key: bytes | None = None) -> None:
    async with open_store(path, realm="signal", key=key, old_key=old_key) as store:
        assert await remembered(store, "direct:a") == [b"asked one", b"told one"]
        assert await remembered(store, "direct:b") == [b"asked two", b"told two"]
    assert not next_of(path).exists()


async def refused(path: Path, key: bytes | None = None) -> WrongKey:
    with pytest.raises(WrongKey) as caught:
        async with open_store(path, realm="signal", key=key):
            pass
    return caught.value


async def test_every_key_is_wrapped_again_while_the_store_is_in_use(path: Path) -> None:
    """What was there is read and what comes is kept, before and after a restart; the former key opens nothing."""
    await prepared(path)
    former, keys = key_of(path), wrapped(path)
    async with open_store(path, realm="signal") as store:
        assert await store.rotate_key() == 3
        assert await remembered(store, "direct:a") == [b"asked one", b"told one"]
        await talked(store, "direct:c", 3, b"three")
    assert not set(keys) & set(wrapped(path))
    assert [each for key in keys for each in found(path, key)] == []
    assert found(path, former.hex().encode()) == []
    assert key_of(path) != former
    assert master_of(path).stat().st_mode & 0o777 == 0o600
    await assert_readable(path)
    assert isinstance(await refused(path, key=former), WrongKey)


async def test_a_crash_at_any_step_leaves_a_key_that_opens_everything(path: Path, tmp_path: Path) -> None:
    """Whichever of the two key files is the right one is found, and the other one is gone then."""
    await prepared(path)
    former, keys = key_of(path), wrapped(path)
    seen: list[tuple[bool, bool, bool]] = []
    async for copy in each_step(path, tmp_path / "steps", "rotate"):
        seen.append((next_of(copy).exists(), set(wrapped(copy)) == set(keys), key_of(copy) == former))
        await assert_readable(copy)
    # The draft is written, the keys are wrapped again, the draft takes the key's place.
    steps = [(False, True, True), (True, True, True), (True, False, True), (False, False, False)]
    assert [step for step in steps if step in seen] == steps


@pytest.mark.parametrize("content", ["", "abcd", "no key", "5a" * KEY_BYTES])
async def test_a_draft_that_opens_nothing_is_cleared_away(path: Path, content: str) -> None:
    """Half a draft, or one that was not used before the crash, is not the key."""
    await prepared(path)
    next_of(path).write_text(content)
    await assert_readable(path)


@pytest.mark.parametrize("draft", ["5a" * KEY_BYTES, "abcd"])
async def test_when_no_file_opens_the_store_both_are_left_alone(path: Path, draft: str) -> None:
    """The right one may still be put back; which that is cannot be told."""
    await prepared(path)
    right = master_of(path).read_text()
    master_of(path).write_text("5a" * KEY_BYTES)
    next_of(path).write_text(draft)
    before = (master_of(path).read_text(), next_of(path).read_text())
    assert str(master_of(path)) in str(await refused(path))
    assert (master_of(path).read_text(), next_of(path).read_text()) == before
    master_of(path).write_text(right)
    await assert_readable(path)


async def test_a_draft_that_has_become_the_key_is_never_overwritten(path: Path) -> None:
    """If the renaming failed behind the commit, the next rotation puts the draft in place before it makes another."""
    await prepared(path)
    async with open_store(path, realm="signal") as store:
        former = master_of(path).read_text()
        await store.rotate_key()
        master_of(path).rename(next_of(path))
        master_of(path).write_text(former)
        draft = next_of(path).read_text()
        with closing(sqlite3.connect(keys_of(path), isolation_level=None)) as other:
            await store.read(lambda repos: repos.inbox.rows("PRAGMA busy_timeout = 1"))
            other.execute("BEGIN IMMEDIATE")
            with pytest.raises(StoreInUse):
                await store.rotate_key()
            other.execute("ROLLBACK")
    assert master_of(path).read_text() == draft
    await assert_readable(path)


class TestGiven:
    async def test_a_key_from_the_settings_is_changed_in_the_settings(self, path: Path) -> None:
        """The refusal says how, and nothing is changed."""
        await prepared(path, OLD)
        async with open_store(path, realm="signal", key=OLD) as store:
            with pytest.raises(KeyGiven, match="set STORE__OLD_KEY to it and STORE__KEY to a new one, then start"):
                await store.rotate_key()
        assert not next_of(path).exists()
        await assert_readable(path, OLD)

    async def test_the_former_key_lets_a_new_one_in(self, path: Path) -> None:
        """After one start with both the new one suffices, and the former one opens nothing."""
        await prepared(path, OLD)
        await refused(path, key=NEW)
        await assert_readable(path, NEW, OLD)
        await assert_readable(path, NEW, OLD)
        await assert_readable(path, NEW)
        await refused(path, key=OLD)
        assert not master_of(path).exists()

    async def test_a_crash_at_any_step_is_made_good_by_the_next_start(self, path: Path, tmp_path: Path) -> None:
        """With both keys given the store opens, whichever its keys are wrapped under."""
        await prepared(path, OLD)
        count = 0
        async for copy in each_step(path, tmp_path / "steps", "take-over"):
            await assert_readable(copy, NEW, OLD)
            await assert_readable(copy, NEW)
            count += 1
        assert count > 3
