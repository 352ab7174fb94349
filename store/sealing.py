"""Sealing: what people and tools said is kept under AES-256-GCM, with a data key for each conversation.

    master key --wraps--> index key           handles: keyed hashes that find a row without naming anybody
               '-wraps--> data key of a conversation --seals--> values, each bound to its place

The wrapped keys are in a small file of their own beside the database (attached to the one connection as `keys`), so
that destroying one key makes everything of a conversation unreadable, copies of the big file included. The master key
comes from the settings, or is made on first start. Left to others: which values are sealed (the shelves).

A sealed value is 12 bytes of nonce and the ciphertext with its tag of 16 bytes. Random nonces are safe for 2^32 values
under one key. Source: NIST SP 800-38D, 8.3 (2007).
"""

import hashlib
import hmac
import os
import secrets
import sqlite3
from pathlib import Path

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM

from store.errors import Damaged, WrongKey
from store.records import ConversationId

KEY_BYTES = 32
_NONCE_BYTES = 12
_INDEX_KEY = b"index"


def master_key(path: Path, given: bytes | None) -> bytes:
    """The 32 bytes that wrap all other keys: those given, else those in the file, else new ones written there.

    The file holds 64 hexadecimal digits and is made with mode 0600.

    Raises:
        WrongKey: what was given or read is not 32 bytes.
    """
    if given is None:
        given = _kept_key(path) if path.exists() else _new_key(path)
    if len(given) != KEY_BYTES:
        raise WrongKey(f"a master key has {KEY_BYTES} bytes, this one has {len(given)}")
    return given


def _kept_key(path: Path) -> bytes:
    try:
        return bytes.fromhex(path.read_text("ascii"))
    except ValueError as error:
        raise WrongKey(f"{path} does not hold {2 * KEY_BYTES} hexadecimal digits") from error


def _new_key(path: Path) -> bytes:
    key = secrets.token_bytes(KEY_BYTES)
    # Written whole under another name first: a crash must not leave half a key that looks like the key.
    draft = path.with_name(path.name + ".new")
    descriptor = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    with os.fdopen(descriptor, "w", encoding="ascii") as file:
        file.write(key.hex() + "\n")
        file.flush()
        os.fsync(file.fileno())
    draft.rename(path)
    synced_directory(path.parent)
    return key


def is_begun(connection: sqlite3.Connection) -> bool:
    """Whether keys were made or used here before: then a new master key would open nothing."""
    kept = "SELECT 1 FROM main.conversations UNION ALL SELECT 1 FROM keys.sqlite_master LIMIT 1"
    return connection.execute(kept).fetchone() is not None


def synced_directory(path: Path) -> None:
    """Make the names in a directory durable: a file is only there after a power cut if its name is."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _sealed(cipher: AESGCM, place: bytes, value: bytes) -> bytes:
    nonce = os.urandom(_NONCE_BYTES)
    return nonce + cipher.encrypt(nonce, value, place)


def _opened(cipher: AESGCM, place: bytes, value: bytes) -> bytes:
    return cipher.decrypt(value[:_NONCE_BYTES], value[_NONCE_BYTES:], place)


class Keyring:
    """The keys of an open store. All methods run on the store's thread.

    Expects the key file attached as `keys`. `unlock` comes first.
    """

    def __init__(self, connection: sqlite3.Connection, master: bytes) -> None:
        self._connection = connection
        self._master = AESGCM(master)
        self._index = b""
        self._ciphers: dict[ConversationId, AESGCM] = {}

    def unlock(self) -> None:
        """Open the key file, or begin it.

        Raises:
            WrongKey: the master key is not the one that wrapped these keys, or the keys of the conversations that
                there are have gone.
        """
        self._connection.execute(
            "CREATE TABLE IF NOT EXISTS keys.wrapped (name BLOB PRIMARY KEY, key BLOB NOT NULL) STRICT"
        )
        index = self._key(_INDEX_KEY)
        if index is None and self._connection.execute("SELECT 1 FROM main.conversations LIMIT 1").fetchone():
            raise WrongKey("the key file of this store (its name ends in -keys) is missing or empty: put it back")
        self._index = index or self._make(_INDEX_KEY)

    def handle(self, word: str) -> bytes:
        """A keyed hash of 16 bytes: the same for the same word, meaningless without the key."""
        return hmac.new(self._index, word.encode(), hashlib.sha256).digest()[:16]

    def make(self, conversation_handle: bytes) -> None:
        """Give a conversation its data key, unless it has one."""
        if self._key(conversation_handle) is None:
            self._make(conversation_handle)

    def refresh(self, conversation: ConversationId) -> None:
        """Load the conversation's data key anew when it is needed next.

        A transaction that began a conversation and failed leaves its id to another conversation, with another key.
        """
        self._ciphers.pop(conversation, None)

    def seal(self, conversation: ConversationId, place: str, value: bytes) -> bytes:
        """The value sealed for this place: `table.column` and the row's natural key.

        Raises:
            Damaged: the conversation has no data key.
        """
        return _sealed(self._cipher(conversation), _bound(conversation, place), value)

    def open(self, conversation: ConversationId, place: str, value: bytes) -> bytes:
        """The value that was sealed for this place.

        Raises:
            Damaged: it was altered, moved from another place, or its key was destroyed.
        """
        try:
            return _opened(self._cipher(conversation), _bound(conversation, place), value)
        except (InvalidTag, ValueError) as error:  # a value that was cut off has no whole nonce
            raise Damaged(f"a sealed value at {place} is not what was written there") from error

    def _cipher(self, conversation: ConversationId) -> AESGCM:
        cipher = self._ciphers.get(conversation)
        if cipher is None:
            row = self._connection.execute(
                "SELECT handle FROM main.conversations WHERE id = ?", (conversation,)
            ).fetchone()
            key = self._key(row[0]) if row else None
            if key is None:
                raise Damaged(f"conversation {conversation} has no data key")
            cipher = self._ciphers[conversation] = AESGCM(key)
        return cipher

    def _key(self, name: bytes) -> bytes | None:
        row = self._connection.execute("SELECT key FROM keys.wrapped WHERE name = ?", (name,)).fetchone()
        if row is None:
            return None
        try:
            return _opened(self._master, b"key|" + name, row[0])
        except (InvalidTag, ValueError) as error:
            raise WrongKey("the master key does not open this store: give the one that it was made with") from error

    def _make(self, name: bytes) -> bytes:
        key = secrets.token_bytes(KEY_BYTES)
        wrapped = _sealed(self._master, b"key|" + name, key)
        self._connection.execute("INSERT INTO keys.wrapped (name, key) VALUES (?, ?)", (name, wrapped))
        return key


def _bound(conversation: ConversationId, place: str) -> bytes:
    return b"1|%d|%s" % (conversation, place.encode())
