"""The store: one database, one key file, the repositories, and the wakeups of the loops.

A unit of work is a plain function over the repositories:

    await store.transaction(lambda repositories: repositories.inbox.done(turn))

It runs on the store's thread in the context of its caller, all or nothing, and returns when it is on the disk.
"""

import asyncio
import logging
import sqlite3
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from datetime import datetime, timedelta
from pathlib import Path
from typing import TypeVar
from zoneinfo import ZoneInfo

from store import backup
from store.database import Database, DiskReserve, beside, master_key_path
from store.erasure import Erasure, Forgetting
from store.errors import StoreError, StoreFull
from store.feeds import Feeds
from store.history import Conversations, History, Journal, LastTime, Summaries, Turns
from store.inbox import Inbox
from store.ledger import Ledger
from store.memories import Facts, Predictions, Reminders, Watches
from store.migrations import carry_over, foreign_tables, migrate
from store.outbox import Outbox
from store.passages import Passages
from store.people import Grants, Members, Notices, People
from store.records import ConversationId, InboxId, TurnId
from store.repository import Context
from store.sealing import Keyring
from store.sealing import unlock as open_keys

T = TypeVar("T")

_log = logging.getLogger(__name__)

_WAKEUPS = ("inbox", "urgent", "outbox", "members", "reminders", "feeds", "identities")


class Repositories:
    """All repositories, as units of work use them."""

    def __init__(self, context: Context) -> None:
        self.conversations = Conversations(context)
        self.turns = Turns(context)
        self.inbox = Inbox(context)
        self.journal = Journal(context)
        self.history = History(context)
        self.outbox = Outbox(context)
        self.members = Members(context)
        self.ledger = Ledger(context)
        self.people = People(context)
        self.reminders = Reminders(context)
        self.facts = Facts(context)
        self.grants = Grants(context)
        self.predictions = Predictions(context)
        self.watches = Watches(context)
        self.summaries = Summaries(context)
        self.notices = Notices(context)
        self.feeds = Feeds(context)
        self.passages = Passages(context)
        self.restored = backup.Restored(context)
        self.last_time = LastTime(context)
        self.forgetting = Forgetting(context)


class Store:
    """An open store. `open_store` makes one."""

    def __init__(self, database: Database, keyring: Keyring, reserve: DiskReserve, realm: str) -> None:
        self._database = database
        self._keyring = keyring
        self._reserve = reserve
        self._context = Context(keyring, realm)
        self._repos = Repositories(self._context)
        self._forgetting = asyncio.Lock()
        self.wakeups: dict[str, asyncio.Event] = {name: asyncio.Event() for name in _WAKEUPS}
        """Set when a loop should look again; each loop clears its own."""

    async def transaction(self, work: Callable[[Repositories], T]) -> T:
        """Runs `work`, all or nothing; it is on the disk when this returns. Any error: nothing was kept."""

        def run(_: sqlite3.Connection) -> tuple[T, frozenset[str]]:
            self._context.notified.clear()
            return work(self._repos), frozenset(self._context.notified)

        def wake(done: tuple[T, frozenset[str]]) -> None:
            for name in done[1]:
                self.wakeups[name].set()

        # The database does the waking: a caller that is cancelled during the commit would not come back to do it.
        return (await self._database.transaction(run, kept=wake))[0]

    async def erase(self, work: Callable[[Repositories], T]) -> T:
        """Like `transaction`, for work that only deletes: on a full disk it can use the room of the reserve."""
        try:
            return await self.transaction(work)
        except StoreFull:
            if not self._reserve.release():
                raise
            _log.warning("the disk is full; the disk reserve was deleted so that deletions can go through")
            return await self.transaction(work)

    async def read(self, work: Callable[[Repositories], T]) -> T:
        """Runs `work`, which must not write, without waiting for a commit."""
        return await self._database.alone(lambda _: work(self._repos))

    async def conversation(self, address: str, *, now: datetime) -> ConversationId:
        """Returns the conversation at this address; creates it with its data key if it is new."""
        known = await self.read(lambda repos: repos.conversations.at(address))
        if known is None:
            await self.transaction(lambda repos: repos.conversations.key(address))
            known = await self.transaction(lambda repos: repos.conversations.add(address, now=now))
        return known

    async def forget(
        self,
        address: str,
        *,
        before: InboxId,
        now: datetime,
        then: Callable[[Repositories, ConversationId, Erasure], None],
        person: str | None = None,
    ) -> tuple[TurnId, ...]:
        """Destroys the conversation at this address with its key, and the turns in which a `person` asked elsewhere.

        `before` is the message that asked for it; later ones wait again. `then` has to answer and settle it in the same
        transaction; it gets the conversation that the message is in now, and how much was destroyed. If it fails,
        nothing is. Returns the turns that were running.
        """

        def erase(repos: Repositories) -> tuple[TurnId, ...]:
            running = tuple(turn for _, turn in repos.forgetting.open_turns(address, person))
            erased = repos.forgetting.preview(person, whole=repos.conversations.at(address), within=None)
            repos.forgetting.conversation(address, before=before, now=now)
            if person is not None:
                repos.forgetting.person(person, before=before, now=now)
            place = repos.forgetting.value("SELECT conversation_id FROM inbox WHERE id = ?", (before,))
            if place is None:
                raise StoreError(f"message {before} of the inbox is not there")
            then(repos, place, erased)
            return running

        async with self._forgetting:
            await self.erase(lambda repos: repos.forgetting.prepare(address))
            running = await self.erase(erase)
        try:
            await self.checkpoint()
        except StoreError as error:
            _log.error("what was forgotten leaves the files only at the next checkpoint: %s", error)
        return running

    async def back_up_nightly(self, folder: Path, *, now: datetime, timezone: str, kept: timedelta) -> None:
        """Copies the store unless the folder has a copy from after 3 at night; deletes those older than `kept`."""
        night = now.astimezone(ZoneInfo(timezone)).replace(hour=3, minute=0, second=0, microsecond=0)
        night -= timedelta(days=night > now)
        found = [*folder.glob("aldis-*Z.db"), *folder.glob("aldis-*Z-?.db")]  # noqa: ASYNC240  (a short list)
        copies = {path: datetime.strptime(path.stem[:22], "aldis-%Y%m%dT%H%M%S%z") for path in found}
        if all(made_at < night for made_at in copies.values()):
            await self.backup(folder, now=now)
        for copy, made_at in copies.items():
            if made_at < now - kept:
                copy.unlink()
                beside(copy, "-keys").unlink(missing_ok=True)

    async def backup(self, folder: Path, *, now: datetime) -> Path:
        """Copies the store into the folder while it is in use, without the master key; returns the path of the copy."""
        return await self._database.alone(lambda connection: backup.write_backup(connection, folder, now))

    async def checkpoint(self) -> None:
        """Removes what was deleted from the files: checkpoints the write-ahead log and destroys former keys."""
        await self._database.alone(lambda _: self._keyring.sweep())
        await self._database.checkpoint()
        await self._database.alone(lambda _: self._reserve.create())


@asynccontextmanager
async def open_store(
    path: Path, *, realm: str, key: bytes | None = None, reserve_bytes: int = 0
) -> AsyncGenerator[Store]:
    """Opens or creates the store at `path` for one realm (`signal`, `terminal`); closes it at the end.

    Beside the database are `<name>-keys` (the wrapped data keys), `<name>-lock`, `<name>-master-key` (unless the `key`
    is given) and, while it is open, `<name>-ballast` of `reserve_bytes`. Raises a `StoreError` of any kind.
    """
    keys_path, reserve = beside(path, "-keys"), DiskReserve(beside(path, "-ballast"), reserve_bytes)

    def prepare() -> None:
        backup.remove_draft(beside(path, ".fetched"))
        reserve.release()  # a kill leaves it behind, and opening needs some room itself
        if not _has_content(path) and _has_content(keys_path):
            raise StoreError(
                f"the database {path} is gone, or a restore was cut off, and its keys are still there ({keys_path}): "
                "put a backup in its place with `aldis restore FILE`; to start with nothing, rename or delete "
                f"{keys_path.name}"
            )

    def unlock(connection: sqlite3.Connection) -> Keyring:
        migrate(connection)
        keyring = open_keys(connection, master_key_path(path), key)
        carry_over(connection, keyring)
        if others := foreign_tables(connection):
            _log.info("the database has tables of another program, which Aldis leaves alone: %s", ", ".join(others))
        keyring.sweep()
        reserve.create()
        return keyring

    database = await Database.open(path, prepare=prepare)
    try:
        keyring = await database.alone(unlock)
        yield Store(database, keyring, reserve, realm)
    finally:
        reserve.release()
        await database.aclose()


def _has_content(path: Path) -> bool:
    return path.exists() and path.stat().st_size > 0
