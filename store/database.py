r"""The one connection to SQLite: units of work, run in order on aiosqlite's thread, their commits grouped.

    transaction(work) --\
    transaction(work) ---+--> BEGIN . savepoint, work, release . savepoint, work, release . followers . COMMIT
    transaction(work) --/                                                                     --> all return

A commit costs an fsync of about 4 ms, a row about 50 microseconds (measured on ext4): units that wait together share
one commit, each under a savepoint of its own, so that the failure of one leaves the others untouched (a full disk is
everybody's failure: SQLite then rolls all of them back). Nothing returns before its commit has.
What is always done next (a message is claimed, an answer is about to be sent) follows in the same commit (`follow`),
as it would have in one of its own: all that is gone is the moment between the two. It never costs what it follows:
where it fails, that is kept without it. A unit that nothing depends on may wait for the commit of another (`patience`).
One connection only: SQLite up to 3.51.2 can corrupt a write-ahead log that several connections share.
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
"""As soon as the log has so many pages, SQLite folds them into the file with the next commit; its own default."""

_RESTORE = "restore a backup with `aldis restore FILE`"

_NO_ROOM = "no room is left on the disk: what was kept is safe, nothing new is taken in until there is room"

_CHECKED_BYTES = 64 * 2**20
"""Up to this size the structure of the file is checked at every opening, which takes 0.1 s per 100 MB out of the page
cache and 3.4 s from a cold disk of the kind that is rented (measured); beyond it only after a stop that was not clean.
What is damaged later, or in a larger file, is told when it is read, and every backup is checked whole."""

_NO_TEXT = "Could not decode to UTF-8 column"
"""How Python's own words begin where a text in a row is none. Source: CPython 3.11, Modules/_sqlite/cursor.c (2026)."""

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
"""What goes wrong with files; the last where SQLite's sentence about a damaged schema quotes what is no text."""


def translate_error(error: sqlite3.Error | OSError | UnicodeDecodeError) -> StoreError:
    """The error in the store's words; one of SQLite's that is unknown keeps SQLite's name for it and nothing else."""
    if isinstance(error, OSError):
        kind = StoreFull if error.errno == errno.ENOSPC else StoreError
        place = error.filename or "its folder"
        return kind(f"the store cannot use {place} ({error.strerror}): check its path, owner and mode")
    is_no_text = isinstance(error, UnicodeDecodeError) or str(error).startswith(_NO_TEXT)
    name = "SQLITE_CORRUPT" if is_no_text else getattr(error, "sqlite_errorname", None) or type(error).__name__
    kind, message = next((told for prefix, told in _KINDS.items() if name.startswith(prefix)), (StoreError, name))
    return kind(message)


class _Thread(aiosqlite.Connection):
    """aiosqlite's connection, with its way of running one function on the thread made public.

    Statement by statement a transaction of ten statements would cross between the threads ten times; as one function
    it crosses once.
    """

    _ending: asyncio.Future[Any] | None = None

    async def begin(self) -> None:
        """Start the thread and open the connection; where that fails, the thread has ended when this raises."""
        try:
            await self
        except BaseException:
            # aiosqlite does not wait for it, and a thread that outlives the event loop fails when it reports its end.
            if self._ending is not None:
                await self._ending
            raise

    def stop(self) -> asyncio.Future[Any] | None:
        """As the original; `begin` waits for what this gives."""
        self._ending = super().stop()  # pyright: ignore[reportUnknownMemberType] (untyped there)
        return self._ending

    def submit(self, work: Callable[[sqlite3.Connection], T]) -> asyncio.Future[T]:
        """Have it run, after what was submitted before. As the original's `_execute`, but for the coroutine: that would
        have to be a task to go on by itself, with every commit.
        """
        done: asyncio.Future[T] = asyncio.get_running_loop().create_future()
        self._tx.put_nowait((done, partial(work, self._conn)))  # pyright: ignore[reportUnknownMemberType]  (untyped)
        return done


@dataclass(eq=False, frozen=True)
class Follower:
    """What is done at the end of a commit, where one of its units gives reason to."""

    prepare: Callable[[], Callable[[sqlite3.Connection], Any] | None]
    """What would be done at the end of the commit that begins now; None: nothing. Runs on the event loop."""
    is_due: Callable[[Sequence[Any]], bool]
    """Whether these units, by what they gave, are reason for it. Runs on the store's thread."""
    on_kept: Callable[[Any], None]
    """It is on the disk, and its units have not been told yet. Runs on the event loop."""


@dataclass
class _Step:
    """What runs on the store's thread, and what came of it."""

    work: Callable[[sqlite3.Connection], Any]
    result: Any = None
    error: BaseException | None = None


@dataclass
class _Unit(_Step):
    kept: Callable[[Any], None] | None = None
    done: asyncio.Future[Any] = field(kw_only=True)
    due_at: float = 0.0
    """When it has waited long enough for the commit of another, by the event loop's clock."""


@dataclass
class _Following(_Step):
    """What a follower does at one commit."""

    follower: Follower = field(kw_only=True)
    is_kept: bool = False


class Database:
    """An open database. Not for use from several event loops."""

    def __init__(self, thread: _Thread, lock: int, path: Path) -> None:
        self.path = path
        self._thread = thread
        self._lock = lock
        self._waiting: list[_Unit] = []
        self._is_idle = asyncio.Event()
        """Set while no commit is under way, or about to be."""
        self._is_idle.set()
        self._alarm: asyncio.TimerHandle | None = None
        """Set while what waits is patient."""
        self._followers: list[Follower] = []
        self._commit: asyncio.Future[None] | None = None
        """The last that has begun."""
        self._folding = asyncio.Lock()
        """Held while the log is folded into the file, or must not be."""
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
        """Open or create the database and attach the key file as `keys`; one process at a time.

        `prepare` runs first, when nobody else can have the files open any more. `busy_seconds` is how long another
        program may hold the file locked before a statement fails. Up to `checked_bytes` the structure of the file is
        checked also after a clean stop.

        Raises:
            StoreInUse: another process has it open.
            Damaged: it is no database, or not as it was written.
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
            # A caller that was cancelled leaves a connection behind that the thread is still making.
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
        """Run `work` on the store's thread, all or nothing; returns its result once it is on the disk.

        If the caller is cancelled meanwhile, the work has either happened whole or not at all, as after a crash; where
        it has, `kept` is called with its result all the same, on the event loop. It begins at once, or within
        `patience_seconds` with the first commit of another.

        Raises:
            StoreError: nothing of it was kept. What `work` raises itself comes through unchanged.
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
        """From now on let it follow at the end of each commit."""
        self._followers.append(follower)

    async def unfollow(self, follower: Follower) -> None:
        """As `follow`, undone: when this returns, it has been told of all that it has done."""
        self._followers.remove(follower)
        if self._commit is not None and not self._commit.done():
            await asyncio.wait([self._commit])

    async def alone(self, work: Callable[[sqlite3.Connection], T]) -> T:
        """Run `work`, which only reads or begins and ends its own transactions, on the store's thread, with no other
        unit in between and without waiting for a commit.

        If the caller is cancelled meanwhile, the work goes on to its end.

        Raises:
            StoreError: SQLite or a file failed.
        """
        self._refuse_if_closed()
        try:
            return await self._thread.submit(work)
        except FOREIGN_ERRORS as error:
            raise translate_error(error) from error

    async def checkpoint(self) -> None:
        """Fold the write-ahead log into the file and empty it.

        Raises:
            StoreError: it could not be written; nothing is lost.
        """
        async with self._folding:
            await self.alone(lambda connection: connection.execute("PRAGMA main.wal_checkpoint(TRUNCATE)").fetchall())

    async def copy_files(self, begin: Callable[[sqlite3.Connection], None], go_on: Callable[[], object]) -> None:
        """Copy the files while others go on reading and writing, and wait only for `begin`.

        `begin` runs on the store's thread: the file and its log as they are then are one moment of the store. `go_on`
        runs beside it. Until it has ended, nothing is folded into the file, which stays as it was; the log grows.

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
        """Finish what waits and close, which folds the write-ahead log into the file. Closing again does nothing."""
        if self._is_closed:
            return
        # First of all: nobody may wait for an answer that the thread will not give.
        self._is_closed = True
        if self._alarm is not None:
            self._schedule()
        await self._is_idle.wait()
        async with self._folding:  # a copy that is being made must not see the log folded in
            await self._thread.close()
            os.close(self._lock)

    def _refuse_if_closed(self) -> None:
        if self._is_closed:
            raise StoreError("the store is closed")

    def _schedule(self) -> None:
        """Have what waits committed: soon, or when the first has no more patience."""
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
            # Not at once: what else is about to wait in this moment shares the commit.
            loop.call_soon(self._flush)

    def _flush(self) -> None:
        """Commit what waits, and then what waits by then."""
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
        # Not IMMEDIATE: that would take and drop the locks of the key file each time, and nobody else may write.
        connection.execute("BEGIN")
        if len(units) == 1:
            # The usual unit comes alone and needs no savepoint: two statements less.
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
            # Without it there may be room for them.
            for unit in units:
                unit.error = None
            for one in following:
                one.is_kept = False
            _commit_units(connection, units)
            return
        for unit in units:
            unit.error = unit.error or translate_error(error)


def _run_followers(connection: sqlite3.Connection, units: Sequence[_Unit], following: Sequence[_Following]) -> None:
    """Do at the end of a commit what its units give reason to; what fails is left undone, and nobody is told."""
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
            # SQLite itself rolled everything back (a full disk): the units before this one are gone as well.
            raise
        connection.execute(undo)


def lock_file(path: Path) -> int:
    """Keep every other process from opening the database at `path`, until the descriptor that this gives is closed.

    Makes the folder when it is missing.

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
    """Look whether the pages of an open file hang together as they should.

    Raises:
        Damaged: they do not.
        sqlite3.Error: they cannot be read at all.
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
