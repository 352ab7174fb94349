"""The files of a store: the database, and beside it files with the same name and a suffix. Opens them with SQLite, and
translates its errors into those of the store.
"""

import errno
import fcntl
import os
import sqlite3
from contextlib import suppress
from pathlib import Path

from store.errors import Damaged, StoreError, StoreFull, StoreInUse

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

BUSY_SECONDS = 5.0

_RESTORE = "restore a backup with `aldis restore FILE`"

_NO_ROOM = "no room is left on the disk: what was kept is safe, nothing new is taken in until there is room"

CHECKED_BYTES = 64 * 2**20
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
    "SQLITE_IOERR": (
        StoreError,
        "the database cannot be read or written ({name}): check its disk or network folder, and the system's log",
    ),
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
    return kind(message.format(name=name))


def beside(path: Path, ending: str) -> Path:
    """Returns the file beside this database with the given suffix, such as `-keys`, `-wal` or `-lock`."""
    return path.with_name(path.name + ending)


def master_key_path(path: Path) -> Path:
    """Returns where the master key is kept when the settings give none."""
    return beside(path, "-master-key")


class DiskReserve:
    """A file of `size_bytes` at `path`; 0 bytes means no file."""

    def __init__(self, path: Path, size_bytes: int) -> None:
        self._path = path
        self._size_bytes = size_bytes

    def create(self) -> None:
        """Creates the file, unless it exists or would leave less space than it takes."""
        if self._size_bytes == 0 or (self._path.exists() and self._path.stat().st_size == self._size_bytes):
            return
        room = os.statvfs(self._path.parent)
        if room.f_bavail * room.f_frsize < 2 * self._size_bytes:
            return
        with suppress(OSError):
            descriptor = os.open(self._path, os.O_RDWR | os.O_CREAT, 0o600)
            try:
                # Not a sparse file: the blocks are really taken.
                os.posix_fallocate(descriptor, 0, self._size_bytes)
            finally:
                os.close(descriptor)

    def release(self) -> bool:
        """Deletes the file; returns whether it existed."""
        was_there = self._path.exists()
        self._path.unlink(missing_ok=True)
        return was_there


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


def check_structure(connection: sqlite3.Connection, schema: str, path: Path) -> None:
    """Checks the structure of an open file.

    Raises:
        Damaged: it is not sound.
        sqlite3.Error: the file cannot be read at all.
    """
    [found] = connection.execute(f"PRAGMA {schema}.quick_check(1)").fetchone()
    if found != "ok":
        raise Damaged(f"{path} is damaged: {_RESTORE}")


def connect(path: Path, keys_path: Path, busy_seconds: float, checked_bytes: int) -> sqlite3.Connection:
    """Opens or creates the database, with the key file attached as `keys`; checks both.

    A large database is checked only if it was not closed in order.

    Raises:
        Damaged: one of them is not sound.
        sqlite3.Error: one of them cannot be opened or read at all.
        OSError: one of them cannot be created.
    """
    log = beside(path, "-wal")
    was_clean = not log.exists() or log.stat().st_size == 0
    for file in (path, keys_path):
        os.close(os.open(file, os.O_RDWR | os.O_CREAT, 0o600))
    connection = sqlite3.connect(path, isolation_level=None, check_same_thread=False, timeout=busy_seconds)
    try:
        connection.execute("ATTACH DATABASE ? AS keys", (str(keys_path),))
        connection.executescript(_PRAGMAS)
        if not was_clean or path.stat().st_size <= checked_bytes:
            check_structure(connection, "main", path)
        check_structure(connection, "keys", keys_path)
    except BaseException:
        connection.close()
        raise
    return connection
