"""Backup and restore: a copy of the whole store, made while it is in use, and the way back.

A copy is two files, `aldis-<UTC time>.db` and the same name with `-keys`; the master key is in neither.

    backup:   SQLite writes both files, without deleted rows --> mark as a copy --> check --> rename
    restore:  copy beside the store --> check --> mark as a copy --> put present files aside, rename copies

A backup does not know what was answered, sent or said after it was made, and going on from there would do it all again.
So what is open in a marked store is closed when Aldis first works on it (`Restored`).
"""

import json
import os
import shutil
import sqlite3
from collections.abc import Collection, Generator
from contextlib import closing, contextmanager
from datetime import UTC, datetime
from pathlib import Path
from urllib.parse import quote

from store.database import FOREIGN_ERRORS, beside, check_structure, lock_file, master_key_path, translate_error
from store.errors import Damaged, SchemaTooNew, StoreError, WrongKey
from store.migrations import version_of
from store.repository import Repository
from store.sealing import has_keys, sync, unlock

NOT_INCLUDED = (
    "The copy is two files (the second ends in -keys). The master key is in neither: keep a copy of it elsewhere, for "
    "without it nobody can read them."
)
"""What to tell everybody who makes a backup."""

_FILES = ("", "-keys")
_COMPANIONS = ("-wal", "-journal", "-keys-journal")
"""Files that SQLite leaves beside the database and the keys after an unclean stop; they belong to them."""


def write_backup(connection: sqlite3.Connection, folder: Path, now: datetime) -> Path:
    """Copies the store into the folder, in 0.2 s per 100 MB; returns the path. A failure leaves nothing behind."""
    copy = folder / f"aldis-{_stamp(now)}.db"
    draft = folder / f".{copy.name}.part"
    try:
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        for left in folder.glob(".aldis-*.part*"):  # by a backup that was killed
            left.unlink(missing_ok=True)
        if copy.exists():
            raise StoreError(f"{copy} was made in this second: it is not made again")
        for schema, suffix in zip(("main", "keys"), _FILES, strict=True):
            _create(beside(draft, suffix))  # SQLite would create it readable by everybody
            connection.execute(f"VACUUM {schema} INTO ?", (str(beside(draft, suffix)),))
        with _opened(draft) as written:
            _mark(written)
            check_structure(written, draft)
        # The keys first: once the database file is there, the copy is complete.
        for suffix in reversed(_FILES):
            sync(beside(draft, suffix))
            beside(draft, suffix).rename(beside(copy, suffix))
        sync(folder)
    except FOREIGN_ERRORS as error:
        raise translate_error(error) from error
    finally:
        remove_draft(draft)
    return copy


@contextmanager
def _opened(path: Path, *, mode: str = "rw") -> Generator[sqlite3.Connection]:
    """Opens a store that no process has open, or a copy of one, with its keys; neither is created or migrated."""
    file = f"file:{quote(str(path))}"
    with closing(sqlite3.connect(f"{file}?mode={mode}", uri=True, isolation_level=None)) as connection:
        connection.execute("ATTACH DATABASE ? AS keys", (f"{file}-keys?mode=rw",))
        yield connection


def copy_closed(path: Path, folder: Path, *, now: datetime) -> Path:
    """Copies a store that no process has open into the folder, without migrating it."""
    lock = lock_file(path)
    try:
        with _opened(path, mode="ro") as connection:
            return write_backup(connection, folder, now)
    except FOREIGN_ERRORS as error:
        raise translate_error(error) from error
    finally:
        os.close(lock)


def restore(copy: Path, path: Path, *, now: datetime, key: bytes | None = None) -> Path | None:
    """Puts a copy, which may have an older schema, in the place of the store at `path`.

    The present files are put aside as `<name>.before-<UTC time>`, to be restored like any copy; returns that path, None
    if there were none. A restore that was cut off leaves the store as it was, or without its database.

    Raises a `StoreError`, and changes nothing, if another process has the store open, or the copy is not sound, from a
    newer Aldis, or sealed with another key.
    """
    lock = lock_file(path)
    draft = beside(path, ".fetched")
    former = beside(path, f".before-{_stamp(now)}")
    was_there = path.exists()
    try:
        remove_draft(draft)  # of a restore that was cut off
        if not (copy.is_file() and beside(copy, "-keys").is_file()):
            raise StoreError(f"{copy} is no backup: name the file that ends in .db, beside which another ends in -keys")
        for suffix in (*_FILES, *_COMPANIONS):
            _copy(beside(copy, suffix), beside(draft, suffix))
        _check(copy, draft, master_key_path(path), key)
        # What is put aside is whole before the database goes, which comes back last.
        for suffix in ("-keys", *_COMPANIONS):
            _copy(beside(path, suffix), beside(former, suffix))
        if was_there:
            path.rename(former)
        sync(path.parent)
        for suffix in (*_COMPANIONS, "-shm"):  # SQLite would play a log of the present one back into the next
            beside(path, suffix).unlink(missing_ok=True)
        for suffix in reversed(_FILES):
            beside(draft, suffix).rename(beside(path, suffix))
        sync(path.parent)
    except FOREIGN_ERRORS as error:
        raise translate_error(error) from error
    finally:
        if was_there and not former.exists():
            remove_draft(former)
        remove_draft(draft)
        os.close(lock)
    return former if was_there else None


def _check(copy: Path, draft: Path, master: Path, key: bytes | None) -> None:
    try:
        with _opened(draft) as connection:
            if version_of(connection) <= 0 or not has_keys(connection):
                raise Damaged(f"{copy} is not a backup of Aldis")
            check_structure(connection, copy)
            unlock(connection, master, key)
            _mark(connection)
    except (WrongKey, SchemaTooNew) as error:
        raise type(error)(f"{copy} cannot be read: {error}") from error
    except (sqlite3.DatabaseError, UnicodeDecodeError) as error:
        kind = translate_error(error)
        raise Damaged(f"{copy} is damaged, or not a backup of Aldis") if isinstance(kind, Damaged) else kind from error
    for suffix in _FILES:
        sync(beside(draft, suffix))


def _copy(source: Path, target: Path) -> None:
    if source.exists():
        _create(target)
        shutil.copyfile(source, target)
        sync(target)


def _create(file: Path) -> None:
    os.close(os.open(file, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600))


def remove_draft(draft: Path) -> None:
    """Deletes the files of a copy that was not finished."""
    for suffix in (*_FILES, *_COMPANIONS, "-shm"):
        beside(draft, suffix).unlink(missing_ok=True)


def _stamp(now: datetime) -> str:
    return now.astimezone(UTC).strftime("%Y%m%dT%H%M%SZ")


def _mark(connection: sqlite3.Connection) -> None:
    """Marks a store of any schema as a copy, by a row that travels with the file."""
    connection.execute("CREATE TABLE IF NOT EXISTS restored (id INTEGER PRIMARY KEY CHECK (id = 1)) STRICT")
    connection.execute("INSERT OR IGNORE INTO restored (id) VALUES (1)")


class Restored(Repository):
    """The repository of what is open in a copy. All methods run inside a transaction."""

    def is_copy(self) -> bool:
        """Whether the store is a copy on which Aldis has not worked yet."""
        return self.exists("SELECT 1 FROM restored")

    def close(self, *, besides: Collection[str], now: datetime) -> int:
        """Closes open messages, but the kinds `besides`, and replies; deletes all grants. Returns how many closed."""
        messages = self.execute(
            "UPDATE inbox SET state = 'done', envelope = NULL, claimed_until = NULL, put_off_until = NULL "
            "WHERE state IN ('waiting', 'claimed') AND kind NOT IN (SELECT value FROM json_each(?))",
            (json.dumps(list(besides)),),
        )
        replies = self.execute(
            "UPDATE outbox SET state = 'dead', reply = NULL, settled_at = ? "
            "WHERE state IN ('waiting', 'sending', 'unknown')",
            (now,),
        )
        self.execute(
            "UPDATE turns SET state = 'ignored', ended_at = ? WHERE state = 'running' AND id NOT IN "
            "(SELECT turn_id FROM inbox WHERE state IN ('waiting', 'claimed') AND turn_id IS NOT NULL)",
            (now,),
        )
        self.execute("DELETE FROM journal WHERE turn_id IN (SELECT id FROM turns WHERE state = 'ignored')")
        self.execute("UPDATE watches SET state = NULL")  # what was said since is unknown
        for table in ("receipts", "grants", "restored"):  # no receipt can prove anything any more
            self.execute(f"DELETE FROM {table}")  # noqa: S608  (our own names)
        return messages.rowcount + replies.rowcount
