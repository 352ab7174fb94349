"""Sealing: what is kept opens with its key, in its place, unaltered, or not at all; the files tell nothing."""

import secrets
import shutil
import sqlite3
import stat
from contextlib import closing
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from store import ConversationId, Damaged, StoreError, WrongKey, open_store
from store.sealing import KEY_BYTES, Keyring, unlock
from tests.conftest import NOON
from tests.store.lives import found, talked
from tests.store.places import contents, keys_of, master_of, wrapped

KEY = bytes(range(KEY_BYTES))
PLACE = "history.message|1|0"
ONE, TWO = ConversationId(1), ConversationId(2)


def begun() -> sqlite3.Connection:
    """A store in memory without keys, with two conversations (1 and 2)."""
    connection = sqlite3.connect(":memory:", isolation_level=None)
    connection.execute("ATTACH DATABASE ':memory:' AS keys")
    connection.execute("CREATE TABLE conversations (id INTEGER PRIMARY KEY, handle BLOB, key_generation INTEGER)")
    return connection


def ring() -> Keyring:
    keyring = Keyring(begun(), KEY)
    for number in (ONE, TWO):
        keyring.make(b"chat %d" % number)
        keyring.connection.execute("INSERT INTO conversations VALUES (?, ?, 0)", (number, b"chat %d" % number))
    return keyring


class TestMasterKey:
    def test_it_is_made_once_for_the_owner_alone(self, tmp_path: Path) -> None:
        """The first start makes 32 random bytes with mode 0600; later starts read the same."""
        path = tmp_path / "key"
        with closing(begun()) as connection, closing(begun()) as other:
            unlock(connection, path)
            text = path.read_text()
            key = bytes.fromhex(text)
            assert (len(key), text) == (KEY_BYTES, key.hex() + "\n")
            assert stat.S_IMODE(path.stat().st_mode) == 0o600
            unlock(connection, path, key)
            with pytest.raises(WrongKey):
                unlock(connection, path, KEY)
            unlock(connection, path)
            assert [(file.name, file.read_text()) for file in tmp_path.iterdir()] == [("key", text)]
            unlock(other, tmp_path / "another")
            assert (tmp_path / "another").read_text() != text

    @pytest.mark.parametrize(
        "content", [b"", b"not hexadecimal", b"abc", "schlüssel".encode(), b"00" * 31, b"00" * 33, b"\xff" * 64]
    )
    def test_a_file_without_a_key_is_refused_and_left_alone(self, tmp_path: Path, content: bytes) -> None:
        """A damaged key file is an error that names it and shows none of it; it is not replaced by a new key."""
        path = tmp_path / "key"
        path.write_bytes(content)
        with closing(begun()) as connection, pytest.raises(WrongKey, match=str(path)) as caught:
            unlock(connection, path)
        assert path.read_bytes() == content
        assert not content or content.decode("latin-1") not in str(caught.value)


class TestValues:
    @settings(max_examples=50, deadline=None)
    @given(value=st.binary(max_size=2000), place=st.text(st.characters(codec="utf-8"), max_size=50))
    def test_any_value_comes_back_and_costs_28_bytes(self, value: bytes, place: str) -> None:
        """Sealing adds a nonce of 12 bytes and a tag of 16."""
        keyring = ring()
        with closing(keyring.connection):
            sealed = keyring.seal(ONE, place, value)
            assert keyring.open(ONE, place, sealed) == value
            assert len(sealed) == len(value) + 28

    def test_what_an_earlier_aldis_has_compressed_opens(self) -> None:
        """In its own place."""
        packed = bytes.fromhex("43717a30d055849d0ecad93989b905c50a693989c519f6947902128200")
        question = (
            b'1:[{"text":"[Sat 2026-11-21 22:40 Europe/Berlin] Which lamps flash?","role":"user",'
            b'"sent_at":[1795000000000],"media":[],"labels":null}]'
        )
        keyring, nonce = ring(), bytes(12)
        with closing(keyring.connection):
            sealed = nonce + keyring._cipher(ONE).encrypt(nonce, packed, b"2|%d|%s" % (ONE, PLACE.encode()))
            assert keyring.open(ONE, PLACE, sealed) == question

    def test_a_value_that_was_moved_or_altered_is_refused(self) -> None:
        """None puts one's words into another's mouth: position, turn, table, conversation and every byte count."""
        keyring = ring()
        sealed = keyring.seal(ONE, PLACE, b"words")
        forged = [
            *((ONE, place, sealed) for place in ("history.message|1|1", "history.message|2|0", "journal.step|1|0", "")),
            (TWO, PLACE, sealed),
        ]
        for index, byte in enumerate(sealed):
            forged.append((ONE, PLACE, sealed[:index] + bytes((byte ^ 1,)) + sealed[index + 1 :]))
        with closing(keyring.connection):
            for conversation, place, value in forged:
                with pytest.raises(Damaged) as caught:
                    keyring.open(conversation, place, value)
                assert "words" not in str(caught.value)
            assert keyring.open(ONE, PLACE, sealed) == b"words"

    def test_handles_are_keyed(self) -> None:
        """Two stores name the same person differently, even under one master key: no list of numbers opens them."""
        with closing(begun()) as one, closing(begun()) as other:
            assert Keyring(one, KEY).handle("+15550000000") != Keyring(other, KEY).handle("+15550000000")


async def test_the_files_hold_no_word_and_no_key(path: Path) -> None:
    """While the store is open and afterwards, in no file; the small one holds no key that is not wrapped."""

    def assert_nothing_is_plain() -> None:
        assert [found(path, words) for words in (b"asked one", b"told one", b"direct:a", b"alice")] == [[]] * 4

    async with open_store(path, realm="signal", key=KEY) as store:
        await talked(store, "direct:a", 1, b"one")
        assert path.with_name("aldis.db-wal").stat().st_size > 0
        assert_nothing_is_plain()
        await store.checkpoint()
        assert_nothing_is_plain()
    assert_nothing_is_plain()
    assert len(wrapped(path)) == 2
    assert not any(path.name in found(path, key) for key in wrapped(path))
    assert not any(found(path, key) for key in (KEY, KEY.hex().encode()))
    assert not master_of(path).exists()


class TestOpening:
    async def refused(self, path: Path, key: bytes | None = None) -> StoreError:
        with pytest.raises(StoreError) as caught:
            async with open_store(path, realm="signal", key=key):
                pass
        return caught.value

    async def conversation(self, path: Path, key: bytes | None = None) -> ConversationId:
        async with open_store(path, realm="signal", key=key) as store:
            return await store.conversation("direct:a", now=NOON)

    async def test_the_wrong_key_is_refused_by_name(self, path: Path) -> None:
        """Another master key opens nothing and changes nothing; the right one still does."""
        conversation = await self.conversation(path, KEY)
        before = contents(path)
        error = await self.refused(path, secrets.token_bytes(KEY_BYTES))
        assert (type(error), "master key" in str(error)) == (WrongKey, True)
        assert contents(path) == before
        assert await self.conversation(path, KEY) == conversation

    @pytest.mark.parametrize(
        ("name", "content", "kind", "words"),
        [
            ("-master-key", None, WrongKey, ("-master-key",)),
            ("-keys", None, WrongKey, ("-keys",)),
            ("-keys", b"", WrongKey, ("-keys",)),
            ("", None, StoreError, ("-keys", "restore FILE", "to start with nothing")),
            ("", b"", StoreError, ("-keys", "restore FILE", "to start with nothing")),
        ],
    )
    async def test_a_missing_file_is_refused_and_not_made_again(
        self, path: Path, name: str, content: bytes | None, kind: type[StoreError], words: tuple[str, ...]
    ) -> None:
        """A new one would hide every word that is there: the error names the way back, and the file put back opens."""
        conversation = await self.conversation(path)
        file, before = path.with_name(path.name + name), contents(path)
        file.unlink()
        if content is not None:
            file.write_bytes(content)
        for _ in range(2):
            error = await self.refused(path)
            assert isinstance(error, kind)
            assert all(word in str(error) for word in words)
            assert name != "" or contents(path)[keys_of(path).name] == before[keys_of(path).name]
        file.write_bytes(before[file.name])
        assert await self.conversation(path) == conversation
        shutil.rmtree(path.parent)
        await self.conversation(path)
