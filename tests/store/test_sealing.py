"""Sealing: what is kept opens with its key, in its place, unaltered, or not at all; the files tell nothing."""

import secrets
import sqlite3
import stat
from collections.abc import Generator
from contextlib import closing
from decimal import Decimal
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from store import (
    Arrival,
    ConversationId,
    Damaged,
    LedgerEntry,
    Repositories,
    Store,
    StoredMessage,
    StoreError,
    WrongKey,
    open_store,
)
from store.sealing import KEY_BYTES, Keyring, unlock
from tests.conftest import NOON
from tests.store.places import keys_of, master_of

KEY = bytes(range(KEY_BYTES))
PLACE = "history.message|1|0"


def contents(path: Path) -> tuple[bytes, bytes]:
    """The database and its key file."""
    return path.read_bytes(), keys_of(path).read_bytes()


def replace(file: Path, content: bytes | None) -> None:
    """Put this content in the place of a file's; None: there is no file any more."""
    file.unlink(missing_ok=True)
    if content is not None:
        file.parent.mkdir(exist_ok=True)
        file.write_bytes(content)


_opened: list[sqlite3.Connection] = []


@pytest.fixture(autouse=True)
def _close() -> Generator[None]:
    """Newer Pythons complain of connections that are left to the garbage collector."""
    yield
    while _opened:
        _opened.pop().close()


def begun() -> sqlite3.Connection:
    """A store in memory without keys or conversations."""
    connection = sqlite3.connect(":memory:", isolation_level=None)
    _opened.append(connection)
    connection.execute("ATTACH DATABASE ':memory:' AS keys")
    connection.execute(
        "CREATE TABLE conversations (id INTEGER PRIMARY KEY, handle BLOB NOT NULL, key_generation INTEGER NOT NULL)"
    )
    return connection


def unlocked(path: Path, given: bytes | None = None) -> sqlite3.Connection:
    """A new store whose keys were wrapped under the master key of this file or these settings."""
    connection = begun()
    unlock(connection, path, given)
    return connection


def is_wrapped_under(connection: sqlite3.Connection, master: bytes) -> bool:
    try:
        Keyring(connection, master)
    except WrongKey:
        return False
    return True


def ring(master: bytes = KEY) -> tuple[Keyring, sqlite3.Connection]:
    """An unlocked keyring over two conversations (1 and 2) in memory."""
    connection = begun()
    keyring = Keyring(connection, master)
    for number in (1, 2):
        handle = keyring.handle(f"chat {number}")
        keyring.make(handle)
        connection.execute("INSERT INTO conversations VALUES (?, ?, 0)", (number, handle))
    return keyring, connection


ONE, TWO = ConversationId(1), ConversationId(2)


class TestMasterKey:
    def test_it_is_made_once_for_the_owner_alone(self, tmp_path: Path) -> None:
        """The first start makes 32 random bytes with mode 0600; later starts read the same."""
        path = tmp_path / "key"
        connection = unlocked(path)
        key = bytes.fromhex(path.read_text())
        assert len(key) == KEY_BYTES
        assert path.read_text() == key.hex() + "\n"
        assert stat.S_IMODE(path.stat().st_mode) == 0o600
        assert is_wrapped_under(connection, key)
        unlock(connection, path)
        assert path.read_text() == key.hex() + "\n"
        assert [file.name for file in tmp_path.iterdir()] == ["key"]
        unlocked(tmp_path / "another")
        assert (tmp_path / "another").read_text() != path.read_text()

    @pytest.mark.parametrize(
        "content", [b"", b"not hexadecimal", b"abc", "schlüssel".encode(), b"00" * 31, b"00" * 33, b"\xff" * 64]
    )
    def test_a_file_without_a_key_is_refused_and_left_alone(self, tmp_path: Path, content: bytes) -> None:
        """A damaged key file is an error that names it and shows none of it; it is not replaced by a new key."""
        path = tmp_path / "key"
        path.write_bytes(content)
        with pytest.raises(WrongKey, match=str(path)) as caught:
            unlocked(path)
        assert path.read_bytes() == content
        assert not content or content.decode("latin-1") not in str(caught.value)


class TestValues:
    @settings(max_examples=50, deadline=None)
    @given(value=st.binary(max_size=2000), place=st.text(st.characters(codec="utf-8"), max_size=50))
    def test_any_value_comes_back_and_costs_28_bytes(self, value: bytes, place: str) -> None:
        """Sealing adds a nonce of 12 bytes and a tag of 16."""
        keyring, _ = ring()
        sealed = keyring.seal(ONE, place, value)
        assert keyring.open(ONE, place, sealed) == value
        assert len(sealed) == len(value) + 28

    def test_what_an_earlier_aldis_has_compressed_opens(self) -> None:
        """In its own place."""
        keyring, _ = ring()
        packed = bytes.fromhex("43717a30d055849d0ecad93989b905c50a693989c519f6947902128200")
        question = (
            b'1:[{"text":"[Sat 2026-11-21 22:40 Europe/Berlin] Which lamps flash?","role":"user",'
            b'"sent_at":[1795000000000],"media":[],"labels":null}]'
        )
        cipher, bound = keyring._cipher(ONE), b"2|%d|%s" % (ONE, PLACE.encode())
        nonce = bytes(12)
        assert keyring.open(ONE, PLACE, nonce + cipher.encrypt(nonce, packed, bound)) == question

    @pytest.mark.parametrize(
        ("conversation", "place"),
        [
            (ONE, "history.message|1|1"),
            (ONE, "history.message|2|0"),
            (ONE, "journal.step|1|0"),
            (ONE, ""),
            (TWO, PLACE),
        ],
        ids=["another position", "another turn", "another table", "no place", "another conversation"],
    )
    def test_a_value_that_was_moved_is_refused(self, conversation: ConversationId, place: str) -> None:
        """Whoever can write to the file cannot put one's words into another's mouth."""
        keyring, _ = ring()
        sealed = keyring.seal(ONE, PLACE, b"words")
        with pytest.raises(Damaged) as caught:
            keyring.open(conversation, place, sealed)
        assert "words" not in str(caught.value)

    def test_a_value_with_any_byte_altered_is_refused(self) -> None:
        """Nonce, words and tag: every byte counts."""
        keyring, _ = ring()
        sealed = keyring.seal(ONE, PLACE, b"words")
        for index in range(len(sealed)):
            altered = bytearray(sealed)
            altered[index] ^= 1
            with pytest.raises(Damaged):
                keyring.open(ONE, PLACE, bytes(altered))


class TestHandles:
    def test_they_are_keyed(self) -> None:
        """Two stores name the same person differently, even under one master key: no list of numbers opens them."""
        assert ring()[0].handle("+15550000000") != ring()[0].handle("+15550000000")


async def everything_said(store: Store) -> None:
    """Words, names and addresses on every repository that takes some."""
    conversation = await store.conversation("direct:plainword-address", now=NOON)
    arrival = Arrival(
        conversation=conversation,
        account="plainword-account",
        author="plainword-author",
        device=1,
        sent_at=1,
        kind="message",
        envelope=b"plainword-envelope",
        received_at=NOON,
    )
    await store.transaction(lambda repos: repos.inbox.put(arrival))
    claim = await store.transaction(lambda repos: repos.inbox.claim(now=NOON, until=NOON, busy=()))
    assert claim is not None
    entry = LedgerEntry(kind="tool", name="calculate", outcome="ok", latency_seconds=0.1, cost_usd=Decimal(0))

    def write(repos: Repositories) -> None:
        repos.journal.add(conversation, claim.turn, 0, b"plainword-step")
        message = StoredMessage(turn=claim.turn, role="user", call_id=None, message=b"plainword-message")
        repos.history.append(conversation, [message])
        repos.people.allow("plainword-guest", account="plainword-account", by="plainword-admin", now=NOON)
        repos.people.pin("plainword-number", "plainword-guest", now=NOON)
        repos.ledger.add(conversation, claim.turn, "plainword-person", (entry,), now=NOON)
        repos.outbox.put(conversation, claim.turn, 0, b"plainword-reply", in_group=False, now=NOON)

    await store.transaction(write)


class TestFiles:
    async def test_they_hold_no_word_no_name_and_no_address(self, path: Path) -> None:
        """Neither while the store is open nor afterwards, in no file that stands beside it."""

        def found() -> list[str]:
            return [file.name for file in path.parent.iterdir() if b"plainword" in file.read_bytes()]

        async with open_store(path, realm="signal") as store:
            await everything_said(store)
            assert path.with_name("aldis.db-wal").stat().st_size > 0
            assert found() == []
            await store.checkpoint()
            assert found() == []
        assert found() == []

    async def test_the_keys_stand_in_a_file_of_their_own(self, path: Path) -> None:
        """The big file and its copies hold no key, wrapped or not, and the small one no key that is not wrapped."""
        async with open_store(path, realm="signal", key=KEY) as store:
            await everything_said(store)
        with closing(sqlite3.connect(keys_of(path))) as connection:
            wrapped = [row[0] for row in connection.execute("SELECT key FROM wrapped")]
        assert len(wrapped) == 2
        big, small = contents(path)
        assert not any(key in big for key in wrapped)
        assert not any(key in file for key in (KEY, KEY.hex().encode()) for file in (big, small))
        assert not master_of(path).exists()


class TestOpening:
    async def _refused(self, path: Path, key: bytes | None = None) -> StoreError:
        with pytest.raises(StoreError) as caught:
            async with open_store(path, realm="signal", key=key):
                pass
        return caught.value

    async def test_the_wrong_key_is_refused_by_name(self, path: Path) -> None:
        """Another master key opens nothing and changes nothing; the right one still does."""
        async with open_store(path, realm="signal", key=KEY) as store:
            conversation = await store.conversation("direct:a", now=NOON)
        before = contents(path)
        error = await self._refused(path, secrets.token_bytes(KEY_BYTES))
        assert isinstance(error, WrongKey)
        assert "master key" in str(error)
        assert contents(path) == before
        async with open_store(path, realm="signal", key=KEY) as store:
            assert await store.conversation("direct:a", now=NOON) == conversation

    async def test_a_change_of_the_key_that_was_cut_off_is_told(self, path: Path) -> None:
        """An earlier Aldis wrapped the keys anew before it renamed the new master key."""
        async with open_store(path, realm="signal"):
            pass
        changed = master_of(path).rename(f"{master_of(path)}.next")
        master_of(path).write_text(KEY.hex())
        assert f"rename {changed.name} to {master_of(path).name}" in str(await self._refused(path))
        changed.rename(master_of(path))
        async with open_store(path, realm="signal"):
            pass

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
        async with open_store(path, realm="signal") as store:
            conversation = await store.conversation("direct:a", now=NOON)
        file = path.with_name(path.name + name)
        before = {each.name: each.read_bytes() for each in path.parent.iterdir()}
        replace(file, content)
        for _ in range(2):
            error = await self._refused(path)
            assert isinstance(error, kind)
            assert all(word in str(error) for word in words)
            if name == "":
                assert keys_of(path).read_bytes() == before[keys_of(path).name]
        replace(file, before[file.name])
        async with open_store(path, realm="signal") as store:
            assert await store.conversation("direct:a", now=NOON) == conversation
        replace(path, None)
        replace(keys_of(path), None)
        async with open_store(path, realm="signal") as store:
            await store.conversation("direct:b", now=NOON)
