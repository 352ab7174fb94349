r"""The one connection to SQLite: runs units of work in order on aiosqlite's thread and groups their commits.

    transaction(work) --\
    transaction(work) ---+--> one commit --> all return
    transaction(work) --/

A commit costs an fsync of about 4 ms, so units that wait at the same time share one; none returns before it is on the
disk. Each has a savepoint, so that one can fail without the others; a full disk fails all, as SQLite rolls all back.

There is only one connection because SQLite up to 3.51.2 can corrupt a write-ahead log that several connections share.
Source: https://sqlite.org/wal.html#walresetbug (2026-11).
"""

import asyncio
import errno
import fcntl
import os
import sqlite3
from collections.abc import Callable, Sequence
from contextlib import suppress
from contextvars import copy_context
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

import aiosqlite

from store.errors import Damaged, StoreError, StoreFull, StoreInUse

T = TypeVar("T")

_BUSY_SECONDS = 5

_PRAGMAS = """
PRAGMA main.journal_mode = WAL;
PRAGMA main.synchronous = FULL;
PRAGMA main.secure_delete = ON;
PRAGMA keys.journal_mode = DELETE;
PRAGMA keys.synchronous = EXTRA;
PRAGMA keys.secure_delete = ON;
PRAGMA foreign_keys = ON;
PRAGMA temp_store = MEMORY;
"""

_RESTORE = "restore a backup with `aldis restore FILE`"
_NO_ROOM = StoreFull, "no room is left on the disk: what was kept is safe, nothing new is kept until there is room"
_DAMAGED = Damaged, f"the database file is damaged: {_RESTORE}"
_KINDS: dict[str, tuple[type[StoreError], str]] = {
    "SQLITE_FULL": _NO_ROOM,
    # The index of the write-ahead log could not grow. Source: https://sqlite.org/rescode.html#ioerr_shmsize (2026-11).
    "SQLITE_IOERR_SHMSIZE": _NO_ROOM,
    "SQLITE_CORRUPT": _DAMAGED,
    # Python about text, or SQLite's message, that is not UTF-8. Source: CPython 3.11, Modules/_sqlite/cursor.c (2026).
    "Could not decode to UTF-8 column": _DAMAGED,
    "'utf-8' codec can't decode": _DAMAGED,
    "SQLITE_NOTADB": (Damaged, f"the file is not a database: set STORE__PATH to another, or {_RESTORE}"),
    "SQLITE_BUSY": (StoreInUse, "another program holds the database locked: close it; Aldis tries again"),
    "no such module: fts5": (StoreError, "this Python's SQLite has no full-text search (FTS5): use another Python"),
}
"""The kind of an error by the beginning of its name in SQLite, or else of its message."""

FOREIGN_ERRORS = (sqlite3.Error, OSError, UnicodeError)
"""Errors of file access. The last one: SQLite's message about a damaged schema, or a backup's path, is not UTF-8."""


def translate_error(error: sqlite3.Error | OSError | UnicodeError) -> StoreError:
    """Returns the store's error for this one. An unknown SQLite error keeps its SQLite name and nothing else."""
    if isinstance(error, OSError):
        kind = StoreFull if error.errno == errno.ENOSPC else StoreError
        place = error.filename or "its folder"
        return kind(f"the store cannot use {place} ({error.strerror}): check its path, owner and mode")
    name = getattr(error, "sqlite_errorname", None) or type(error).__name__
    for start, (kind, message) in _KINDS.items():
        if name.startswith(start) or str(error).startswith(start):
            return kind(message)
    return StoreError(f"the database cannot be used ({name}): check its disk, and the owner and mode of its folder")


def beside(path: Path, ending: str) -> Path:
    """Returns the file beside this database with the given suffix, such as `-keys`, `-wal` or `-lock`."""
    return path.with_name(path.name + ending)


def master_key_path(path: Path) -> Path:
    """Returns where the master key is kept when the settings give none."""
    return beside(path, "-master-key")


class DiskReserve:
    """A file of `size_bytes` at `path` that gives its room up when the disk is full; 0 bytes means no file."""

    def __init__(self, path: Path, size_bytes: int) -> None:
        self._path = path
        self._size_bytes = size_bytes

    def create(self) -> None:
        """Creates the file, unless it exists or would leave less room than it takes."""
        room = os.statvfs(self._path.parent)
        is_there = self._path.exists() and self._path.stat().st_size == self._size_bytes
        if self._size_bytes == 0 or is_there or room.f_bavail * room.f_frsize < 2 * self._size_bytes:
            return
        with suppress(OSError), self._path.open("wb") as file:
            # Not a sparse file: the blocks are really taken.
            os.posix_fallocate(file.fileno(), 0, self._size_bytes)

    def release(self) -> bool:
        """Deletes the file; returns whether it existed."""
        was_there = self._path.exists()
        self._path.unlink(missing_ok=True)
        return was_there


def lock_file(path: Path) -> int:
    """Keeps other processes from opening the database until the descriptor is closed, or raises `StoreInUse`."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        descriptor = os.open(beside(path, "-lock"), os.O_RDWR | os.O_CREAT, 0o600)
    except OSError as error:
        raise translate_error(error) from error
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError as error:
        os.close(descriptor)
        raise StoreInUse(f"another Aldis uses {path}: stop it, or set STORE__PATH to another file") from error
    return descriptor


def check_structure(connection: sqlite3.Connection, path: Path) -> None:
    """Raises `Damaged` if the structure of an open database, or of its keys, is not sound. 100 MB take 0.1 to 3.4 s."""
    for schema, file in (("main", path), ("keys", beside(path, "-keys"))):
        if connection.execute(f"PRAGMA {schema}.quick_check(1)").fetchone() != ("ok",):
            raise Damaged(f"{file} is damaged: {_RESTORE}")


def connect(path: Path) -> sqlite3.Connection:
    """Opens or creates the database, with the key file beside it attached as `keys`; checks the structure of both."""
    keys_path = beside(path, "-keys")
    for file in (path, keys_path):
        os.close(os.open(file, os.O_RDWR | os.O_CREAT, 0o600))
    connection = sqlite3.connect(path, isolation_level=None, check_same_thread=False, timeout=_BUSY_SECONDS)
    try:
        connection.execute("ATTACH DATABASE ? AS keys", (str(keys_path),))
        connection.executescript(_PRAGMAS)
        check_structure(connection, path)
    except BaseException:
        connection.close()
        raise
    return connection


@dataclass(eq=False, kw_only=True)
class _Unit:
    work: Callable[[sqlite3.Connection], Any]
    kept: Callable[[Any], None]
    done: asyncio.Future[Any]
    """What waits for it; cancelled if no one does any more, which does not stop the unit."""
    result: Any = None
    error: BaseException | None = None


class _Thread(aiosqlite.Connection):
    """aiosqlite's connection, with a public way to run a whole function on its thread, crossing to it only once."""

    async def begin(self) -> None:
        """Starts the thread and opens the connection. If that fails, the thread has ended when this raises."""
        try:
            await self
        except BaseException:
            # aiosqlite does not wait for its thread, which fails if it reports its end after the event loop is gone.
            self._thread.join()
            raise

    def submit(self, work: Callable[[sqlite3.Connection], T]) -> asyncio.Future[T]:
        """Runs `work` on the thread, after what came before. No coroutine, which would need a task for each commit."""
        done: asyncio.Future[T] = asyncio.get_running_loop().create_future()
        self._tx.put_nowait((done, partial(work, self._conn)))  # pyright: ignore[reportUnknownMemberType]  (untyped)
        return done


class Database:
    """An open database. Belongs to one event loop."""

    def __init__(self, thread: _Thread, lock: int) -> None:
        self._thread = thread
        self._lock = lock
        self._waiting: list[_Unit] = []
        self._is_idle = asyncio.Event()
        """Set while no commit is under way, or about to be."""
        self._is_idle.set()
        self._is_closed = False

    @classmethod
    async def open(cls, path: Path, *, prepare: Callable[[], None] = lambda: None) -> "Database":
        """Opens or creates the database for this process alone, after `prepare`, with the keys attached as `keys`."""
        lock = lock_file(path)
        thread = _Thread(lambda: connect(path), iter_chunk_size=64)
        try:
            prepare()
            await thread.begin()
        except BaseException as error:
            os.close(lock)
            if isinstance(error, FOREIGN_ERRORS):
                raise translate_error(error) from error
            raise
        return cls(thread, lock)

    async def transaction(
        self, work: Callable[[sqlite3.Connection], T], *, kept: Callable[[T], None] = lambda _: None
    ) -> T:
        """Runs `work`, all or nothing, until it is on the disk; then `kept` is called, even after a cancellation."""
        self._refuse_if_closed()
        unit = _Unit(work=partial(copy_context().run, work), kept=kept, done=asyncio.Future())
        self._waiting.append(unit)
        if self._is_idle.is_set():
            self._is_idle.clear()
            # Not right now: units that are added in this iteration of the loop share the commit.
            asyncio.get_running_loop().call_soon(self._flush)
        return await unit.done

    async def alone(self, work: Callable[[sqlite3.Connection], T]) -> T:
        """Runs `work`, which only reads or makes its own transactions, to its end, without waiting for a commit."""
        self._refuse_if_closed()
        try:
            return await self._thread.submit(partial(copy_context().run, work))
        except FOREIGN_ERRORS as error:
            raise translate_error(error) from error

    async def checkpoint(self) -> None:
        """Moves the write-ahead log into the database file; raises `StoreInUse` if another program reads the log."""

        def is_blocked(connection: sqlite3.Connection) -> bool:
            connection.execute("PRAGMA busy_timeout = 0")  # it is tried again later
            try:
                # The first column. Source: https://sqlite.org/pragma.html#pragma_wal_checkpoint (2026-11).
                return bool(connection.execute("PRAGMA main.wal_checkpoint(TRUNCATE)").fetchone()[0])
            finally:
                connection.execute(f"PRAGMA busy_timeout = {1000 * _BUSY_SECONDS}")

        if await self.alone(is_blocked):
            raise StoreInUse(
                "another program reads the database, so its log cannot be emptied: what was deleted stays on the disk "
                "until that program ends"
            )

    async def aclose(self) -> None:
        """Finishes all waiting work and closes, which checkpoints the log. Closing again does nothing."""
        if self._is_closed:
            return
        # First: nothing must start to wait for a thread that no longer answers.
        self._is_closed = True
        await self._is_idle.wait()
        await self._thread.close()
        os.close(self._lock)

    def _refuse_if_closed(self) -> None:
        if self._is_closed:
            raise StoreError("the store is closed")

    def _flush(self) -> None:
        """Commits the waiting units, and afterwards those that came meanwhile."""
        units, self._waiting = self._waiting, []
        done = self._thread.submit(lambda connection: _commit(connection, units))
        done.add_done_callback(lambda done: self._after_flush(done, units))

    def _after_flush(self, done: asyncio.Future[None], units: Sequence[_Unit]) -> None:
        failure = done.exception()
        for unit in units:
            error = unit.error or failure
            if error is None:
                unit.kept(unit.result)
            if unit.done.cancelled():
                continue
            if error is None:
                unit.done.set_result(unit.result)
            else:
                unit.done.set_exception(error)
        if self._waiting:
            done.get_loop().call_soon(self._flush)
        else:
            self._is_idle.set()


def _commit(connection: sqlite3.Connection, units: Sequence[_Unit]) -> None:
    """Runs the units and commits. Raises nothing: each unit has its result or error."""
    try:
        # Not IMMEDIATE, which would lock the key file each time; no other process writes anyway.
        connection.execute("BEGIN")
        for unit in units:
            connection.execute("SAVEPOINT unit")
            try:
                unit.result = unit.work(connection)
            except BaseException as error:
                unit.error = translate_error(error) if isinstance(error, sqlite3.Error) else error
                if isinstance(error, sqlite3.Error) and not connection.in_transaction:
                    # SQLite rolled everything back (a full disk), the units before this one included.
                    raise
                connection.execute("ROLLBACK TO unit")
            connection.execute("RELEASE unit")
        connection.execute("COMMIT")
    except sqlite3.Error as error:
        with suppress(sqlite3.Error):
            connection.execute("ROLLBACK")
        for unit in units:
            unit.error = unit.error or translate_error(error)
