"""Encryption of everything people and tools said: AES-256-GCM, with one data key per conversation.

    master key --wraps--> index key           handles: keyed hashes that find a row without naming a person
               '-wraps--> data key of a conversation --seals--> values, each bound to its place

The wrapped keys are in a small file beside the database, attached as `keys`. Destroying a key makes its conversation
unreadable everywhere, in copies of the database, too; it goes on under the key of its next generation.

A sealed value is a nonce of 12 bytes, the ciphertext and a tag of 16. Its associated data says whether it was
compressed, as an earlier Aldis did. Random nonces are safe for 2^32 values under one key (NIST SP 800-38D, 8.3, 2007).
"""

import hmac
import json
import logging
import os
import secrets
import sqlite3
import zlib
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM

from store.errors import Damaged, WrongKey
from store.records import ConversationId

_log = logging.getLogger(__name__)

KEY_BYTES = 32
_NONCE_BYTES = 12
_PUT_BACK = "put back the one that the store was sealed with"
_INDEX_KEY = b"index"
_KNOWN = (
    b'{"step":"completed","completion":{"message":null,"stop":"end","usage":{"input_tokens":0,"cached_'
    b'input_tokens":0,"cache_write_tokens":0,"output_tokens":0},"provider":"anthropic","model":"","lat'
    b'ency_seconds":0.0,"cost_usd":null,"attempts":[]},"arguments":{"query":"","url":"https://www."},"'
    b'outcome":"ok","latency_seconds":0.00,"cost_usd":"0","tool":"calculate","files":[],"step":"ran"}{'
    b'"question":{"text":"","settings":null,"step":"asked"}. The and the of to in is a for that you it'
    b" with on as are be this was have from or by not at but can I we will if what your has more one a"
    b"ll about they there which when would their so an out up no do my Die der und den das von zu mit "
    b'ist im nicht ein auf sich es dem les des est que une pour dans el la los de para 1:[{"answers":['
    b'{"call_id":"call_1_0_0","name":"web_search","content":"{\\"ok\\":false,\\"error\\":\\"{\\"ok\\":true,\\"'
    b'untrusted_data\\":{\\"query\\":\\"\\",\\"source\\":\\"\\",\\"results\\":[{\\"number\\":101,\\"title\\":\\"\\",\\"u'
    b'rl\\":\\"https://\\",\\"site\\":\\"\\",\\"age\\":\\"\\",\\"snippet\\":\\"\\"}]}}","ok":true,"labels":null}],"ro'
    b'le":"tool"}]1:[{"parts":[{"text":"","kind":"text"},{"id":"call_1_0_0","name":"calculate","argume'
    b'nts":{"expression":""},"malformed":null,"kind":"tool_call"}],"role":"assistant","labels":{"peopl'
    b'e":[{"id":"","name":""}],"sources":[{"kind":"search","name":"","is_trusted":false,"is_private":f'
    b'alse}],"is_scheduled":false},"pages":[{"number":101,"url":"https://"}],"pages":[]}],"pages":null'
    b'}]1:[{"text":"[Mon 2026-11-21 22:40 Europe/Berlin] What is ","role":"user","sent_at":[1795000000'
    b'000],"media":[],"labels":{"people":[{"id":"","name":""}],"sources":[],"is_scheduled":false}}]'
)
"""What an earlier Aldis took as known when it compressed a value."""


def unlock(connection: sqlite3.Connection, path: Path, given: bytes | None = None) -> "Keyring":
    """Opens the keys by the master key `given`, or that in the file at `path`, made if new, or raises `WrongKey`."""
    master = given or _read_key(path)
    if not has_keys(connection):
        if connection.execute("SELECT 1 FROM main.conversations LIMIT 1").fetchone():
            raise WrongKey(
                "the key file of this store (its name ends in -keys) is missing or empty: put it back, or restore "
                "a backup with `aldis restore FILE`"
            )
        return Keyring(connection, master or _new(path))
    if master is None:
        raise WrongKey(f"the master key {path} is missing: put it back, or give STORE__KEY")
    return Keyring(connection, master)


def _read_key(path: Path) -> bytes | None:
    try:
        key = bytes.fromhex(path.read_text("ascii"))
    except FileNotFoundError:
        return None
    except ValueError:
        key = b""
    if len(key) != KEY_BYTES:
        raise WrongKey(f"{path} does not hold {2 * KEY_BYTES} hexadecimal digits: {_PUT_BACK}")
    return key


def _new(path: Path) -> bytes:
    key = secrets.token_bytes(KEY_BYTES)
    # Written under another name first: a crash must not leave part of a key that passes for the key.
    draft = path.with_name(path.name + ".new")
    draft.unlink(missing_ok=True)
    draft.touch(0o600)
    draft.write_text(key.hex() + "\n", encoding="ascii")
    sync(draft)
    draft.rename(path)
    sync(path.parent)
    return key


def sync(path: Path) -> None:
    """Syncs a file or a directory to the disk. A new file survives a power cut only if its directory was synced."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def has_keys(connection: sqlite3.Connection) -> bool:
    """Whether the attached key file holds any; writes nothing."""
    made = "SELECT 1 FROM keys.sqlite_master WHERE name = 'wrapped'"
    return bool(connection.execute(made).fetchone() and connection.execute("SELECT 1 FROM keys.wrapped").fetchone())


def key_name(conversation_handle: bytes, generation: int) -> bytes:
    """Returns the name of the data key of one generation of a conversation in the key file."""
    return conversation_handle if generation == 0 else b"%s|%d" % (conversation_handle, generation)


class Keyring:
    """The keys of an open store, whose key file is attached as `keys`. All methods run on the store's thread."""

    def __init__(self, connection: sqlite3.Connection, master: bytes) -> None:
        """Loads the index key from the key file; creates it in a new file. Raises `WrongKey` if it does not fit."""
        self.connection = connection
        self._master = AESGCM(master)
        connection.execute("CREATE TABLE IF NOT EXISTS keys.wrapped (name BLOB PRIMARY KEY, key BLOB NOT NULL) STRICT")
        self._index = self.make(_INDEX_KEY)
        connection.create_function("opened", 3, self._opened)
        # Under None the cipher of what belongs to no conversation and is never forgotten.
        self._ciphers: dict[ConversationId | None, AESGCM] = {None: AESGCM(hmac.digest(self._index, b"seal", "sha256"))}

    def handle(self, word: str) -> bytes:
        """Returns a keyed hash of 16 bytes: equal for equal words or file names, meaningless without the key."""
        return hmac.digest(self._index, word.encode(errors="surrogateescape"), "sha256")[:16]

    def make(self, name: bytes) -> bytes:
        """Returns the data key of that name (`key_name`); creates it unless it exists."""
        key = self._key(name)
        if key is None:
            key = secrets.token_bytes(KEY_BYTES)
            wrapped = _encrypt(self._master, b"key|" + name, key)
            self.connection.execute("INSERT INTO keys.wrapped (name, key) VALUES (?, ?)", (name, wrapped))
        return key

    def sweep(self) -> None:
        """Destroys the data keys of forgotten generations, in a transaction of its own."""
        # Keys without a conversation stay: it may be about to begin.
        conversations = self.connection.execute(
            "SELECT handle, key_generation FROM main.conversations WHERE key_generation > 0"
        )
        former = {key_name(handle, earlier) for handle, generation in conversations for earlier in range(generation)}
        there = self.connection.execute("SELECT name FROM keys.wrapped").fetchall()
        if outlived := [row for row in there if row[0] in former]:
            self.connection.execute("BEGIN")
            with self.connection:
                self.connection.executemany("DELETE FROM keys.wrapped WHERE name = ?", outlived)

    def refresh(self, conversation: ConversationId) -> None:
        """Drops the cached data key: when adding a conversation fails, another one gets the same id."""
        self._ciphers.pop(conversation, None)

    def seal(self, conversation: ConversationId | None, place: str, value: bytes) -> bytes:
        """Seals a value for its place, `table.column` and the row's natural key. None: it is of no conversation."""
        return _encrypt(self._cipher(conversation), _associated_data(conversation, place), value)

    def open(self, conversation: ConversationId | None, place: str, value: bytes) -> bytes:
        """Opens a value; raises `Damaged` if it was not sealed for this place, was altered, or its key is destroyed."""
        cipher = self._cipher(conversation)
        try:
            try:
                return _decrypt(cipher, _associated_data(conversation, place), value)
            except InvalidTag:
                packed = _decrypt(cipher, _associated_data(conversation, place, is_packed=True), value)
                return zlib.decompressobj(-12, _KNOWN).decompress(packed)  # raw deflate, 4 KB
        except (InvalidTag, ValueError, zlib.error) as error:  # a truncated value may lack part of its nonce
            raise Damaged(f"a sealed value at {place} is not what was written there") from error

    def _opened(self, conversation: ConversationId | None, place: str, value: bytes | None) -> bytes | None:
        """Opens a value in SQL; one that is damaged is null, as if it were missing, and the log says so."""
        try:
            return None if value is None else self.open(conversation, place, value)
        except Damaged as error:
            _log.error("conversation %s has lost something: %s", conversation, error)
            return None

    def seal_row(self, table: str, key: Sequence[object], values: Sequence[object]) -> bytes:
        """Seals the values of a row that decides something, bound to its table and its key columns."""
        return self.seal(None, _row_place(table, key), json.dumps(values).encode())

    def open_row(self, table: str, key: Sequence[object], sealed: bytes) -> list[Any]:
        """Returns the values of a row; empty if it was altered or moved, which the log says."""
        try:
            return json.loads(self.open(None, _row_place(table, key), sealed))
        except Damaged:
            _log.error("a row of %s is not what Aldis wrote there: it counts for nothing", table)
            return []

    def _cipher(self, conversation: ConversationId | None) -> AESGCM:
        cipher = self._ciphers.get(conversation)
        if cipher is None:
            row = self.connection.execute(
                "SELECT handle, key_generation FROM main.conversations WHERE id = ?", (conversation,)
            ).fetchone()
            key = self._key(key_name(*row)) if row else None
            if key is None:
                raise Damaged(f"conversation {conversation} has no data key")
            cipher = self._ciphers[conversation] = AESGCM(key)
        return cipher

    def _key(self, name: bytes) -> bytes | None:
        row = self.connection.execute("SELECT key FROM keys.wrapped WHERE name = ?", (name,)).fetchone()
        if row is None:
            return None
        # An earlier Aldis bound the index key to another name.
        for bound in (name, b"index|guarded") if name == _INDEX_KEY else (name,):
            with suppress(InvalidTag, ValueError):
                return _decrypt(self._master, b"key|" + bound, row[0])
        raise WrongKey(f"the master key (STORE__KEY, or its file) does not open this store: {_PUT_BACK}")


def _encrypt(cipher: AESGCM, place: bytes, value: bytes) -> bytes:
    nonce = os.urandom(_NONCE_BYTES)
    return nonce + cipher.encrypt(nonce, value, place)


def _decrypt(cipher: AESGCM, place: bytes, value: bytes) -> bytes:
    return cipher.decrypt(value[:_NONCE_BYTES], value[_NONCE_BYTES:], place)


def _row_place(table: str, key: Sequence[object]) -> str:
    return "|".join((table, *(part.hex() if isinstance(part, bytes) else str(part) for part in key)))


def _associated_data(conversation: ConversationId | None, place: str, *, is_packed: bool = False) -> bytes:
    return place.encode() if conversation is None else b"%d|%d|%s" % (1 + is_packed, conversation, place.encode())
