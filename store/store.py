"""The store put together: one database, one key file, the shelves, and the bells that tell the loops to look again.

A unit of work is a plain function over the shelves:

    await store.transaction(lambda shelves: shelves.inbox.done(turn))

It runs on the store's thread, all or nothing, and returns when it is on the disk.
"""

import asyncio
import sqlite3
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Literal, TypeVar

from store.conversations import Conversations
from store.database import Database, translated
from store.errors import WrongKey
from store.history import History
from store.inbox import Inbox
from store.journal import Journal
from store.ledger import Ledger
from store.migrations import migrate
from store.outbox import Outbox
from store.records import ConversationId
from store.sealing import Keyring, is_begun, master_key

T = TypeVar("T")

BellName = Literal["inbox", "outbox"]


@dataclass(frozen=True, kw_only=True, slots=True)
class Shelves:
    """All shelves, as a unit of work sees them."""

    conversations: Conversations
    inbox: Inbox
    journal: Journal
    history: History
    outbox: Outbox
    ledger: Ledger


class Store:
    """An open store. `opened` makes one."""

    def __init__(self, database: Database, shelves: Shelves, stirred: set[str]) -> None:
        self._database = database
        self._shelves = shelves
        self._stirred = stirred
        self._conversations: dict[str, ConversationId] = {}
        self.bells: dict[str, asyncio.Event] = {"inbox": asyncio.Event(), "outbox": asyncio.Event()}
        """Set when a loop should look again; the loop that waits clears its own."""

    async def transaction(self, work: Callable[[Shelves], T]) -> T:
        """Run `work`, all or nothing, on the disk when this returns.

        Raises:
            StoreError: nothing of it was kept. What `work` raises itself comes through unchanged.
        """
        # Rung by the database: a caller that is cancelled while its work is committed does not come back to do it.
        result, _ = await self._database.transaction(lambda _: self._noted(work), kept=self._rung)
        return result

    async def read(self, work: Callable[[Shelves], T]) -> T:
        """Run `work`, which must not write, without waiting for anybody's commit.

        Raises:
            StoreError: it could not be read.
        """
        return await self._database.read(lambda _: work(self._shelves))

    async def conversation(self, address: str, *, now: datetime) -> ConversationId:
        """The conversation at this address, begun now unless it is known; its data key exists from then on.

        Raises:
            StoreError: a new one could not be kept.
        """
        known = self._conversations.get(address)
        if known is None:
            await self.transaction(lambda shelves: shelves.conversations.key(address))
            known = await self.transaction(lambda shelves: shelves.conversations.add(address, now=now))
            self._conversations[address] = known
        return known

    async def checkpoint(self) -> None:
        """Fold the write-ahead log into the database file and empty it.

        Raises:
            StoreError: it could not be written; nothing is lost.
        """
        await self._database.checkpoint()

    def _rung(self, kept: tuple[object, frozenset[str]]) -> None:
        for name in kept[1]:
            self.bells[name].set()

    def _noted(self, work: Callable[[Shelves], T]) -> tuple[T, frozenset[str]]:
        self._stirred.clear()
        result = work(self._shelves)
        return result, frozenset(self._stirred)


@asynccontextmanager
async def opened(path: Path, *, realm: str, key: bytes | None = None) -> AsyncGenerator[Store]:
    """Open or create the store at `path` for one realm (`signal`, `terminal`), close it at the end.

    Beside the database stand `<name>-keys` (the wrapped data keys), `<name>-master-key` (unless `key` is given) and
    `<name>-lock`.

    Raises:
        StoreInUse: another process has it open.
        SchemaTooNew: a newer Aldis wrote it.
        WrongKey: `key`, or the key file, is not the one that it was sealed with, or is missing.
        StoreError: it cannot be opened.
    """
    keys_path = path.with_name(path.name + "-keys")
    database = await Database.opened(path, keys_path)
    try:
        stirred: set[str] = set()
        keyring = await database.read(lambda connection: _unlocked(connection, path, key))
        yield Store(
            database, await database.read(lambda connection: _shelves(connection, keyring, stirred, realm)), stirred
        )
    finally:
        await database.aclose()


def _unlocked(connection: sqlite3.Connection, path: Path, key: bytes | None) -> Keyring:
    migrate(connection)
    key_path = path.with_name(path.name + "-master-key")
    if key is None and not key_path.exists() and is_begun(connection):
        raise WrongKey(f"the master key {key_path} is missing: put it back, or give STORE__KEY")
    try:
        master = master_key(key_path, key)
    except OSError as error:
        raise translated(error) from error
    keyring = Keyring(connection, master)
    keyring.unlock()
    return keyring


def _shelves(connection: sqlite3.Connection, keyring: Keyring, stirred: set[str], realm: str) -> Shelves:
    return Shelves(
        conversations=Conversations(connection, keyring, stirred, realm),
        inbox=Inbox(connection, keyring, stirred, realm),
        journal=Journal(connection, keyring, stirred, realm),
        history=History(connection, keyring, stirred, realm),
        outbox=Outbox(connection, keyring, stirred, realm),
        ledger=Ledger(connection, keyring, stirred, realm),
    )
