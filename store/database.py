r"""The one connection to SQLite: runs units of work in order on aiosqlite's thread and groups their commits.

    transaction(work) --\
    transaction(work) ---+--> BEGIN . savepoint, work, release . savepoint, work, release . followers . COMMIT
    transaction(work) --/                                                                     --> all return

A commit costs an fsync of about 4 ms, a row about 50 microseconds (measured on ext4). Units that wait at the same time
therefore share one commit, each under its own savepoint, so that one can fail without the others (a full disk fails
all of them: SQLite then rolls everything back). No unit returns before its commit is on the disk.

Work that always comes next, such as claiming a message or starting to send an answer, can run in the same commit
(`follow`). If it fails, the units before it are kept without it. A unit that nobody waits for can wait for the commit
of another (`patience_seconds`).

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
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

import aiosqlite

from store.errors import Damaged, StoreError, StoreFull, StoreInUse
from store.files import beside

T = TypeVar("T")

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

_BUSY_SECONDS = 5.0

_FOLDED_PAGES = 1000
"""How many pages the log may reach before SQLite checkpoints it with the next commit; SQLite's default."""

_RESTORE = "restore a backup with `aldis restore FILE`"

_NO_ROOM = "no room is left on the disk: what was kept is safe, nothing new is taken in until there is room"

_CHECKED_BYTES = 64 * 2**20
"""Files up to this size have their structure checked at every opening; larger ones only after an unclean stop.

The check takes 0.1 s per 100 MB from the page cache and 3.4 s from the cold disk of a rented server (measured). Damage
that it does not see is reported when the data is read, and every backup is checked completely."""

_NO_TEXT = "Could not decode to UTF-8 column"
"""Start of Python's message when a text column is not UTF-8. Source: CPython 3.11, Modules/_sqlite/cursor.c (2026)."""

_KINDS: dict[str, tuple[type[StoreError], str]] = {
    "SQLITE_FULL": (StoreFull, _NO_ROOM),
    # The index of the write-ahead log could not grow. Source: https://sqlite.org/rescode.html#ioerr_shmsize (2026-11).
    "SQLITE_IOERR_SHMSIZE": (StoreFull, _NO_ROOM),
    "SQLITE_CORRUPT": (Damaged, f"the database file is damaged: {_RESTORE}"),
    "SQLITE_ERROR": (
        StoreError,
        f"a statement is refused (SQLITE_ERROR): the database is not as Aldis made it, or this is a bug; {_RESTORE}",
    ),
    "SQLITE_NOTADB": (Damaged, f"the file is not a database: set STORE__PATH to another, or {_RESTORE}"),
    "SQLITE_BUSY": (StoreInUse, "another program holds the database locked: close it; Aldis tries again"),
    "SQLITE_READONLY": (StoreError, "the database cannot be written: check the owner and mode of its folder"),
    "SQLITE_CANTOPEN": (StoreError, "the database cannot be opened: check the owner and mode of its folder"),
}


FOREIGN_ERRORS = (sqlite3.Error, OSError, UnicodeDecodeError)
"""Errors of file access. The last one occurs where SQLite's message about a damaged schema quotes invalid UTF-8."""


def translate_error(error: sqlite3.Error | OSError | UnicodeDecodeError) -> StoreError:
    """Returns the store's error for this one. An unknown SQLite error keeps its SQLite name and nothing else."""
    if isinstance(error, OSError):
        kind = StoreFull if error.errno == errno.ENOSPC else StoreError
        place = error.filename or "its folder"
        return kind(f"the store cannot use {place} ({error.strerror}): check its path, owner and mode")
    is_no_text = isinstance(error, UnicodeDecodeError) or str(error).startswith(_NO_TEXT)
    name = "SQLITE_CORRUPT" if is_no_text else getattr(error, "sqlite_errorname", None) or type(error).__name__
    kind, message = next((told for prefix, told in _KINDS.items() if name.startswith(prefix)), (StoreError, name))
    return kind(message)


class _Thread(aiosqlite.Connection):
    """aiosqlite's connection, with a public way to run one function on its thread.

    A transaction of ten statements would cross between the threads ten times; as one function it crosses once.
    """

    _ending: asyncio.Future[Any] | None = None

    async def begin(self) -> None:
        """Starts the thread and opens the connection. If that fails, the thread has ended when this raises."""
        try:
            await self
        except BaseException:
            # aiosqlite does not wait for its thread, which fails if it reports its end after the event loop is gone.
            if self._ending is not None:
                await self._ending
            raise

    def stop(self) -> asyncio.Future[Any] | None:
        """Like the original, but remembers the future for `begin`."""
        self._ending = super().stop()  # pyright: ignore[reportUnknownMemberType] (untyped there)
        return self._ending

    def submit(self, work: Callable[[sqlite3.Connection], T]) -> asyncio.Future[T]:
        """Runs `work` on the thread, after everything submitted before.

        Like the original's `_execute`, but no coroutine, which would need a task of its own for every commit.
        """
        done: asyncio.Future[T] = asyncio.get_running_loop().create_future()
        self._tx.put_nowait((done, partial(work, self._conn)))  # pyright: ignore[reportUnknownMemberType]  (untyped)
        return done


@dataclass(eq=False, frozen=True)
class Follower:
    """Work done at the end of a commit if one of its units calls for it."""

    prepare: Callable[[], Callable[[sqlite3.Connection], Any] | None]
    """Returns the work for the commit that begins now; None: no work. Runs on the event loop."""
    is_due: Callable[[Sequence[Any]], bool]
    """Whether the work is to be done, given the results of the units. Runs on the store's thread."""
    on_kept: Callable[[Any], None]
    """Called with the result once it is on the disk, before the units return. Runs on the event loop."""


@dataclass
class _Step:
    """Work for the store's thread, and its result or error."""

    work: Callable[[sqlite3.Connection], Any]
    result: Any = None
    error: BaseException | None = None


@dataclass
class _Unit(_Step):
    kept: Callable[[Any], None] | None = None
    done: asyncio.Future[Any] = field(kw_only=True)
    due_at: float = 0.0
    """Until when it waits for the commit of another, by the event loop's clock."""


@dataclass
class _Following(_Step):
    """The work of a follower in one commit."""

    follower: Follower = field(kw_only=True)
    is_kept: bool = False


class Database:
    """An open database. Belongs to one event loop."""

    def __init__(self, thread: _Thread, lock: int, path: Path) -> None:
        self.path = path
        self._thread = thread
        self._lock = lock
        self._waiting: list[_Unit] = []
        self._is_idle = asyncio.Event()
        """Set while no commit is under way, or about to be."""
        self._is_idle.set()
        self._alarm: asyncio.TimerHandle | None = None
        """Set while all waiting units are patient."""
        self._followers: list[Follower] = []
        self._commit: asyncio.Future[None] | None = None
        """The last commit that was started."""
        self._folding = asyncio.Lock()
        """Held during a checkpoint, and while there must be none."""
        self._is_closed = False

    @classmethod
    async def open(
        cls,
        path: Path,
        keys_path: Path,
        *,
        prepare: Callable[[], None] = lambda: None,
        busy_seconds: float = _BUSY_SECONDS,
        checked_bytes: int = _CHECKED_BYTES,
    ) -> "Database":
        """Opens or creates the database for this process alone, and attaches the key file as `keys`.

        `prepare` runs first, once no other process can open the files. A statement fails if another program locks the
        file for longer than `busy_seconds`. Files of up to `checked_bytes` are checked after a clean stop, too.

        Raises:
            StoreInUse: another process has it open.
            Damaged: it is not a database, or not as it was written.
            StoreError: it cannot be opened.
        """
        lock = lock_file(path)
        try:
            prepare()
        except BaseException as error:
            os.close(lock)
            if isinstance(error, OSError):
                raise translate_error(error) from error
            raise
        thread = _Thread(lambda: _connect(path, keys_path, busy_seconds, checked_bytes), iter_chunk_size=64)
        opening = asyncio.ensure_future(thread.begin())
        try:
            await asyncio.shield(opening)
        except BaseException as error:
            # When the caller is cancelled, the thread is still opening the connection.
            await asyncio.wait([opening])
            if opening.exception() is None:
                await thread.close()
            os.close(lock)
            if isinstance(error, FOREIGN_ERRORS):
                raise translate_error(error) from error
            raise
        return cls(thread, lock, path)

    async def transaction(
        self,
        work: Callable[[sqlite3.Connection], T],
        *,
        kept: Callable[[T], None] | None = None,
        patience_seconds: float = 0.0,
    ) -> T:
        """Runs `work` on the store's thread, all or nothing; returns its result once it is on the disk.

        It starts at once, or with the next commit of another unit, within `patience_seconds` at most. If the caller is
        cancelled, the work is still done completely or not at all. Whenever it is done, `kept` is called with its
        result on the event loop.

        Raises:
            StoreError: nothing was kept. Errors that `work` raises itself come through unchanged.
        """
        self._refuse_if_closed()
        loop = asyncio.get_running_loop()
        due_at = loop.time() + patience_seconds if patience_seconds else 0.0
        unit = _Unit(work, kept=kept, done=loop.create_future(), due_at=due_at)
        self._waiting.append(unit)
        if self._is_idle.is_set():
            self._schedule()
        return await unit.done

    def follow(self, follower: Follower) -> None:
        """Adds a follower to every commit from now on."""
        self._followers.append(follower)

    async def unfollow(self, follower: Follower) -> None:
        """Removes a follower; when this returns, it has been told of everything it did."""
        self._followers.remove(follower)
        if self._commit is not None and not self._commit.done():
            await asyncio.wait([self._commit])

    async def alone(self, work: Callable[[sqlite3.Connection], T]) -> T:
        """Runs `work` by itself on the store's thread, without waiting for a commit.

        The work only reads, or begins and ends its own transactions. If the caller is cancelled, it still runs to the
        end.

        Raises:
            StoreError: SQLite or a file failed.
        """
        self._refuse_if_closed()
        try:
            return await self._thread.submit(work)
        except FOREIGN_ERRORS as error:
            raise translate_error(error) from error

    async def checkpoint(self) -> None:
        """Moves the write-ahead log into the database file and empties it.

        Raises:
            StoreError: it could not be written; nothing is lost.
        """
        async with self._folding:
            await self.alone(lambda connection: connection.execute("PRAGMA main.wal_checkpoint(TRUNCATE)").fetchall())

    async def copy_files(self, begin: Callable[[sqlite3.Connection], None], go_on: Callable[[], object]) -> None:
        """Copies the files; only `begin` holds up other work.

        `begin` runs on the store's thread and sees the file and its log at one moment. `go_on` then runs beside other
        work; until it ends there is no checkpoint, so the file does not change and the log grows.

        Raises:
            StoreError: SQLite or a file failed.
        """

        def held(connection: sqlite3.Connection) -> None:
            connection.execute("PRAGMA main.wal_autocheckpoint = 0")
            begin(connection)

        async with self._folding:
            try:
                await self.alone(held)
                await asyncio.to_thread(go_on)
            except FOREIGN_ERRORS as error:
                raise translate_error(error) from error
            finally:
                again = f"PRAGMA main.wal_autocheckpoint = {_FOLDED_PAGES}"
                await self._thread.submit(lambda connection: connection.execute(again).fetchall())

    async def aclose(self) -> None:
        """Finishes all waiting work and closes, which checkpoints the log. Closing again does nothing."""
        if self._is_closed:
            return
        # First: nobody must start to wait for a thread that no longer answers.
        self._is_closed = True
        if self._alarm is not None:
            self._schedule()
        await self._is_idle.wait()
        async with self._folding:  # closing checkpoints, which must not happen during a copy
            await self._thread.close()
            os.close(self._lock)

    def _refuse_if_closed(self) -> None:
        if self._is_closed:
            raise StoreError("the store is closed")

    def _schedule(self) -> None:
        """Commits the waiting units soon, or when the first one's patience ends."""
        due_at = min(unit.due_at for unit in self._waiting)
        loop = asyncio.get_running_loop()
        if self._alarm is not None:
            self._alarm.cancel()
            self._alarm = None
        if due_at > loop.time() and not self._is_closed:
            self._alarm = loop.call_at(due_at, self._schedule)
            self._is_idle.set()
        else:
            self._is_idle.clear()
            # Not right now: units that are added in this iteration of the loop share the commit.
            loop.call_soon(self._flush)

    def _flush(self) -> None:
        """Commits the waiting units, and afterwards those that came meanwhile."""
        units, self._waiting = self._waiting, []
        following = [
            _Following(work, follower=follower)
            for follower in self._followers
            if (work := follower.prepare()) is not None
        ]
        done = self._commit = self._thread.submit(lambda connection: _commit_units(connection, units, following))
        done.add_done_callback(lambda done: self._after_flush(done, units, following))

    def _after_flush(self, done: asyncio.Future[None], units: Sequence[_Unit], following: Sequence[_Following]) -> None:
        if (error := done.exception()) is not None:
            for unit in units:
                unit.error = unit.error or error
        for one in following:
            if one.is_kept and error is None:
                one.follower.on_kept(one.result)
        for unit in units:
            _settle(unit)
        if self._waiting:
            self._schedule()
        else:
            self._is_idle.set()


def _settle(unit: _Unit) -> None:
    if unit.error is None and unit.kept is not None:
        unit.kept(unit.result)
    if unit.done.done():  # its caller was cancelled
        return
    if unit.error is None:
        unit.done.set_result(unit.result)
    else:
        unit.done.set_exception(unit.error)


def _commit_units(connection: sqlite3.Connection, units: Sequence[_Unit], following: Sequence[_Following] = ()) -> None:
    try:
        # Not IMMEDIATE, which would lock the key file each time; no other process writes anyway.
        connection.execute("BEGIN")
        if len(units) == 1:
            # Most units come alone and need no savepoint: two statements less.
            _attempt(connection, units[0], undo="ROLLBACK")
        else:
            for unit in units:
                connection.execute("SAVEPOINT unit")
                _attempt(connection, unit, undo="ROLLBACK TO unit")
                connection.execute("RELEASE unit")
        if connection.in_transaction:
            _run_followers(connection, units, following)
            connection.execute("COMMIT")
    except sqlite3.Error as error:
        with suppress(sqlite3.Error):
            connection.execute("ROLLBACK")
        if any(one.is_kept for one in following):
            # There may be space for the units without the followers.
            for unit in units:
                unit.error = None
            for one in following:
                one.is_kept = False
            _commit_units(connection, units)
            return
        for unit in units:
            unit.error = unit.error or translate_error(error)


def _run_followers(connection: sqlite3.Connection, units: Sequence[_Unit], following: Sequence[_Following]) -> None:
    """Does the followers' work at the end of a commit. Work that fails is undone and reported to nobody."""
    results = [unit.result for unit in units if unit.error is None]
    for one in following:
        if not one.follower.is_due(results):
            continue
        connection.execute("SAVEPOINT unit")
        one.is_kept = True
        _attempt(connection, one, undo="ROLLBACK TO unit")
        connection.execute("RELEASE unit")
        one.is_kept = one.error is None


def _attempt(connection: sqlite3.Connection, unit: _Step, *, undo: str) -> None:
    try:
        unit.result = unit.work(connection)
    except BaseException as error:
        unit.error = translate_error(error) if isinstance(error, sqlite3.Error) else error
        if isinstance(error, sqlite3.Error) and not connection.in_transaction:
            # SQLite rolled everything back (a full disk), the units before this one included.
            raise
        connection.execute(undo)


def lock_file(path: Path) -> int:
    """Keeps other processes from opening the database at `path` until the returned descriptor is closed.

    Creates the folder if it is missing.

    Raises:
        StoreInUse: another process has it open.
        StoreError: the folder cannot be used.
    """
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


def quick_checked(connection: sqlite3.Connection, schema: str, path: Path) -> None:
    """Checks the structure of an open file.

    Raises:
        Damaged: it is not sound.
        sqlite3.Error: the file cannot be read at all.
    """
    [found] = connection.execute(f"PRAGMA {schema}.quick_check(1)").fetchone()
    if found != "ok":
        raise Damaged(f"{path} is damaged: {_RESTORE}")


def _connect(path: Path, keys_path: Path, busy_seconds: float, checked_bytes: int) -> sqlite3.Connection:
    log = beside(path, "-wal")
    was_clean = not log.exists() or log.stat().st_size == 0
    for file in (path, keys_path):
        os.close(os.open(file, os.O_RDWR | os.O_CREAT, 0o600))
    connection = sqlite3.connect(path, isolation_level=None, check_same_thread=False, timeout=busy_seconds)
    try:
        connection.execute("ATTACH DATABASE ? AS keys", (str(keys_path),))
        connection.executescript(_PRAGMAS)
        if not was_clean or path.stat().st_size <= checked_bytes:
            quick_checked(connection, "main", path)
        quick_checked(connection, "keys", keys_path)
    except BaseException:
        connection.close()
        raise
    return connection
