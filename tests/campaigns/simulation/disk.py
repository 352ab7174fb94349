"""The store on a real file, opened by the production code; then its thread is replaced, so that every run is the same.

Work that is handed to the store's thread is done at once and in order, and virtual time passes for it. When Aldis is
killed, what SQLite has written by then is copied as it lies on the disk (the write-ahead log without its index, a hot
journal where there is one), and the next life opens the copy: uncommitted work, locks and caches are gone.
"""

import asyncio
import os
import re
import shutil
import sqlite3
import tempfile
from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from typing import Any, ClassVar, TypeVar, cast

from store import Store, open_store
from store.database import Database
from tests.campaigns.simulation.crashes import Killed, Life, never
from tests.campaigns.simulation.timeline import millis_now, time_standing_still

T = TypeVar("T")


REALM = "signal"
_NAME = "aldis.db"
_A_WHILE_MS = 500
"""A receipt that comes now may be for a name of then."""
_MEMORY = Path("/dev/shm")
_OF_A_PROCESS = ("-shm", "-lock")
"""Ends of the names of files that mean nothing once their process is gone."""
_CHANGE = re.compile(r"(?:INSERT (?:OR REPLACE )?INTO|UPDATE|DELETE FROM) ([\w.]+)")


def folder() -> tempfile.TemporaryDirectory[str]:
    """A place for stores, in memory where the machine has one: these stories test no disk."""
    return tempfile.TemporaryDirectory(prefix="aldis-simulation-", dir=_MEMORY if _MEMORY.is_dir() else None)


def contents(place: Path) -> dict[str, bytes]:
    return {file.name: file.read_bytes() for file in sorted(place.iterdir())}


class Connection:
    """sqlite3's connection with a step before and after each commit that changes something."""

    def __init__(self, connection: sqlite3.Connection, life: Life) -> None:
        self._connection = connection
        self._life = life
        self._changes_before = 0
        self._tables: dict[str, None] = {}
        connection.set_trace_callback(self._noted)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._connection, name)

    def execute(self, statement: str, values: Sequence[Any] = ()) -> sqlite3.Cursor:
        if statement == "COMMIT":
            return self._committed()
        if statement.startswith("BEGIN"):
            self._changes_before = self._connection.total_changes
            self._tables.clear()
        return self._connection.execute(statement, values)

    def _committed(self) -> sqlite3.Cursor:
        if self._connection.total_changes == self._changes_before:
            return self._connection.execute("COMMIT")
        what = ", ".join(self._tables)
        self._life.step_of_store(f"about to commit {what}")
        cursor = self._connection.execute("COMMIT")
        self._life.step_of_store(f"committed {what}")
        return cursor

    def _noted(self, statement: str) -> None:
        if (change := _CHANGE.match(statement)) is not None:
            self._tables[change[1]] = None


class Thread:
    def __init__(self, thread: Any, life: Life, seconds: Callable[[], float]) -> None:
        self._thread = thread
        self._connection = cast("sqlite3.Connection", Connection(thread._conn, life))
        self._life = life
        self._seconds = seconds
        self._in_turn = asyncio.Lock()
        self._running: set[asyncio.Future[Any]] = set()

    def submit(self, work: Callable[[sqlite3.Connection], T]) -> asyncio.Future[T]:
        done: asyncio.Future[T] = asyncio.get_running_loop().create_future()
        running = asyncio.ensure_future(self._run(work))
        self._running.add(running)
        running.add_done_callback(lambda running: _hand_on(running, done))
        running.add_done_callback(self._running.discard)
        return done

    async def _run(self, work: Callable[[sqlite3.Connection], T]) -> T:
        async with self._in_turn:
            await asyncio.sleep(self._seconds())
            await self._life.alive()
            try:
                return work(self._connection)
            except Killed:
                return await never()

    async def close(self) -> None:
        await self._life.alive()
        await self.abandon()

    async def abandon(self) -> None:
        for running in self._running:
            running.cancel()
        with time_standing_still():
            await self._thread.close()


def _hand_on(running: asyncio.Future[T], done: asyncio.Future[T]) -> None:
    """What came of the work; nobody hears of it where the life was killed meanwhile, or nobody waits."""
    if running.cancelled():
        return
    error = running.exception()
    if done.done():
        return
    if error is None:
        done.set_result(running.result())
    else:
        done.set_exception(error)


class Disk:
    """Where the store of one story lies, through all lives of Aldis."""

    _new: ClassVar[dict[str, bytes]] = {}

    def __init__(self, place: Path, seconds: Callable[[], float]) -> None:
        self._place = place
        self._seconds = seconds
        self._life = 0
        self._store: Store | None = None

    async def prepare(self) -> None:
        """Lay a new store, made once and copied from then on."""
        if not self._new:
            with folder() as place, time_standing_still():
                async with open_store(Path(place) / _NAME, realm=REALM):
                    pass
                self._new.update(contents(Path(place)))
        self.folder.mkdir()
        for name, content in self._new.items():
            (self.folder / name).write_bytes(content)

    @property
    def folder(self) -> Path:
        return self._place / str(self._life)

    @property
    def _database(self) -> Database:
        assert self._store is not None
        return self._store._database

    @asynccontextmanager
    async def opened(self, life: Life) -> AsyncGenerator[Store]:
        """The store, open for one life; closed at the end unless that ends by death."""
        async with AsyncExitStack() as stack:
            with time_standing_still():
                store = await stack.enter_async_context(open_store(self.folder / _NAME, realm=REALM))
            self._store = store
            self._database._thread = cast("Any", Thread(self._database._thread, life, self._seconds))
            yield store

    def rows(self, statement: str, values: Sequence[object] = ()) -> list[tuple[Any, ...]]:
        return cast("Any", self._database._thread)._connection.execute(statement, values).fetchall()

    def has(self, sent_at: int) -> bool:
        return bool(self.rows("SELECT 1 FROM inbox WHERE sent_at = ?", (sent_at,)))

    def open_sends(self, address: str, stamp: int) -> int:
        """How many sends to groups or to this address have no name yet, and could have this one.

        What was in doubt and is over is one of them, and so is a reaction, which the store soon forgets.
        """
        assert self._store is not None
        handle = self._store._repos.conversations.chat_handle(address)
        counts = self.rows(
            "SELECT count(*) FROM outbox JOIN conversations ON conversations.id = conversation_id "
            "WHERE (state IN ('sending', 'unknown') OR state = 'dead' AND outbox.id IN "
            "(SELECT outbox_id FROM attempts WHERE attempts.sent_at IS NULL)) AND (in_group OR handle = ?1) "
            "UNION ALL SELECT count(*) FROM reactions WHERE name IS NULL AND (in_group OR chat = ?1) "
            "UNION ALL SELECT count(*) FROM attempts JOIN outbox ON outbox.id = outbox_id "
            "JOIN conversations ON conversations.id = conversation_id "
            "WHERE attempts.sent_at IS NULL AND state = 'sent' AND (in_group OR handle = ?1) "
            "AND settled_at > ?2",
            (handle, min(stamp, millis_now() - _A_WHILE_MS)),
        )
        return sum(count for (count,) in counts)

    def crash(self) -> None:
        """The process is gone: what is on the disk by now is all that the next life will find."""
        died_in = self.folder
        self._life += 1
        shutil.copytree(died_in, self.folder, ignore=_of_a_process)

    async def bury(self) -> None:
        await cast("Any", self._database._thread).abandon()
        os.close(self._database._lock)


def _of_a_process(_: str, names: list[str]) -> set[str]:
    return {name for name in names if name.endswith(_OF_A_PROCESS)}
