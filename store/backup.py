"""Backup and restore: a copy of the whole store, made while it is in use, and the way back.

A copy is two files, `aldis-<UTC time>.db` (with `-2`, `-3`, ... for further copies in one second) and the same name
with `-keys`. Reading them takes the master key, which is in neither.

    backup:   SQLite writes both files, without deleted rows --> mark as a copy --> check --> rename
    restore:  copy beside the store --> check --> mark as a copy --> rename present files, rename copies

A backup is made in one step on the store's one connection, which takes 0.2 s per 100 MB (measured). A store whose
files a restore that was cut off has begun to rename is not opened until it is restored again.

A backup does not know what was answered, sent or said after it was made, and going on from there would do it all again.
So what is open in a marked store is closed when Aldis first works on it (`Restored`). The mark is a row in the store
itself, so it travels with the file. Left to others: what an item means.
"""

import json
import os
import shutil
import sqlite3
from collections.abc import Collection, Generator
from contextlib import closing, contextmanager
from datetime import UTC, datetime
from itertools import count
from pathlib import Path
from urllib.parse import quote

from store.database import FOREIGN_ERRORS, beside, check_structure, lock_file, master_key_path, translate_error
from store.errors import Damaged, SchemaTooNew, StoreError, StoreFull, WrongKey
from store.migrations import newest, version_of
from store.repository import Repository, millis, millis_if, moment_if
from store.sealing import has_keys, opens, sync

NOT_INCLUDED = (
    "The copy is two files (the second ends in -keys). The master key is in neither: keep a copy of it elsewhere, for "
    "without it nobody can read them."
)
"""What to tell everybody who makes a backup."""

_FILES = ("", "-keys")
_COMPANIONS = ("-wal", "-journal", "-keys-journal")
"""Files that SQLite leaves beside the database and the keys after an unclean stop; they belong to them."""


def write_backup(connection: sqlite3.Connection, folder: Path, now: datetime) -> Path:
    """Copies the store into the folder, created if missing; returns the path. A failure leaves nothing behind."""
    if not str(folder).isprintable():
        raise StoreError("a backup cannot be made in this folder: its path is not UTF-8 text of one line")
    try:
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        for left in folder.glob(".aldis-*.part*"):  # by a backup that was killed
            left.unlink(missing_ok=True)
        copy = next(copy for stamp in _stamps(now) if not (copy := folder / f"aldis-{stamp}.db").exists())
        _write(connection, copy, folder / f".{copy.name}.part")
    except FOREIGN_ERRORS as error:
        translated = translate_error(error)
        if isinstance(translated, StoreFull):
            translated = StoreFull(f"no room is left in {folder}: nothing was copied")
        raise translated from error
    return copy


def _write(connection: sqlite3.Connection, copy: Path, draft: Path) -> None:
    try:
        for schema, suffix in zip(("main", "keys"), _FILES, strict=True):
            _create(beside(draft, suffix))  # SQLite would create it readable by everybody
            connection.execute(f"VACUUM {schema} INTO ?", (str(beside(draft, suffix)),))
        with _opened(draft) as written:
            _mark(written)
            check_structure(written, "main", draft)
            check_structure(written, "keys", draft)
        # The keys first: once the database file is there, the copy is complete.
        for suffix in reversed(_FILES):
            sync(beside(draft, suffix))
            beside(draft, suffix).rename(beside(copy, suffix))
        sync(copy.parent)
    except BaseException:
        _remove(draft)
        raise


@contextmanager
def _opened(path: Path, *, mode: str = "rw") -> Generator[sqlite3.Connection]:
    """Opens a store that no process has open, or a copy of one, with its keys; neither is created or migrated."""
    file = f"file:{quote(str(path))}"
    with closing(sqlite3.connect(f"{file}?mode={mode}", uri=True, isolation_level=None)) as connection:
        connection.execute("ATTACH DATABASE ? AS keys", (f"{file}-keys?mode=rw",))
        yield connection


def copies_in(folder: Path) -> dict[Path, datetime]:
    """Returns the copies in a folder, each with the time that its name gives."""
    copies = {path: path.stem.split("-")[1] for path in sorted(folder.glob("aldis-*.db"))}
    return {path: datetime.strptime(stamp, "%Y%m%dT%H%M%SZ").replace(tzinfo=UTC) for path, stamp in copies.items()}


def delete_copy(copy: Path) -> None:
    """Deletes both files of a copy."""
    for suffix in _FILES:
        beside(copy, suffix).unlink(missing_ok=True)


def copy_closed(path: Path, folder: Path, *, now: datetime) -> Path:
    """Copies a store that no process has open into the folder, without migrating it."""
    lock = lock_file(path)
    try:
        refuse_half_restored(path)
        with _opened(path, mode="ro") as connection:
            return write_backup(connection, folder, now)
    except FOREIGN_ERRORS as error:
        raise translate_error(error) from error
    finally:
        os.close(lock)


def schema_of(copy: Path) -> int:
    """Returns the number of a copy's schema."""
    with _as_copy(copy), _opened(copy, mode="ro") as connection:
        return version_of(connection)


def restore(copy: Path, path: Path, *, now: datetime, key: bytes | None = None) -> Path | None:
    """Puts a copy in the place of the store at `path`, which no process may have open.

    Renames the present files to `<name>.before-<UTC time>`, from where they can be restored like any copy, and returns
    that path; None if there were none. `key` comes from the settings, as in `open_store`. The copy may have an older
    schema.

    Raises:
        StoreInUse: an Aldis is running on this store; stop it first.
        Damaged: the copy is not sound, or is no store.
        SchemaTooNew: a newer Aldis wrote the copy.
        WrongKey: the master key does not open it.
        StoreError: files cannot be read or written. In all these cases the store is unchanged.
    """
    lock, draft = lock_file(path), beside(path, ".fetched")
    try:
        _remove(draft)  # of a restore that was cut off
        try:
            _fetch(copy, draft)
            with _as_copy(copy):
                _check(copy, draft, master_key_path(path), key, now)
        except BaseException:
            _remove(draft)
            raise
        # The files of another restore in this second are not overwritten.
        former = next(aside for stamp in _stamps(now) if not (aside := beside(path, f".before-{stamp}")).exists())
        was_there = path.exists()
        _exchange(path, draft, former)
    except FOREIGN_ERRORS as error:
        raise translate_error(error) from error
    finally:
        os.close(lock)
    return former if was_there else None


def _exchange(path: Path, draft: Path, former: Path) -> None:
    """Puts the draft in the place of the store, whose files are renamed."""
    begun = beside(path, ".restoring")  # with that beside it, the store is not opened
    begun.touch()
    sync(path.parent)
    # SQLite would play a log or journal of the present files back into their replacements.
    for suffix in (*_COMPANIONS, *_FILES):
        if beside(path, suffix).exists():
            beside(path, suffix).rename(beside(former, suffix))
    beside(path, "-shm").unlink(missing_ok=True)
    for suffix in _FILES:
        beside(draft, suffix).rename(beside(path, suffix))
    sync(path.parent)
    begun.unlink()


def refuse_half_restored(path: Path) -> None:
    """Raises `StoreError` if a restore of the store at `path` was cut off, so that its files may be half exchanged.

    One that had exchanged nothing yet only leaves its draft, which is removed.
    """
    _remove(beside(path, ".fetched"))
    if beside(path, ".restoring").exists():
        raise StoreError(f"a restore of {path} was cut off: do it again with `aldis restore FILE`")


def _fetch(copy: Path, draft: Path) -> None:
    """Copies the copy beside the store, together with logs and journals that an unclean stop left."""
    if not (copy.is_file() and beside(copy, "-keys").is_file()):
        raise StoreError(f"{copy} is no backup: name the file that ends in .db, beside which another ends in -keys")
    for suffix in (*_FILES, *_COMPANIONS):
        if beside(copy, suffix).exists():
            _create(beside(draft, suffix))
            shutil.copyfile(beside(copy, suffix), beside(draft, suffix))


def _check(copy: Path, draft: Path, master: Path, key: bytes | None, now: datetime) -> None:
    with _opened(draft) as connection:
        version = version_of(connection)
        if version > newest():
            raise SchemaTooNew(
                f"{copy} has schema {version}, this Aldis knows schemas up to {newest()}: use a newer one"
            )
        if version <= 0 or not has_keys(connection):
            raise Damaged(f"{copy} is not a backup of Aldis")
        check_structure(connection, "main", copy)
        check_structure(connection, "keys", beside(copy, "-keys"))
        if not opens(connection, master, key):
            raise WrongKey(
                f"the master key does not open {copy}: put the one that it was made under into {master}, or give "
                "it as STORE__KEY"
            )
        _mark(connection, restored_at=now)
    for suffix in _FILES:
        sync(beside(draft, suffix))


@contextmanager
def _as_copy(copy: Path) -> Generator[None]:
    """Translates SQLite's errors so that they name the copy."""
    try:
        yield
    except (sqlite3.DatabaseError, UnicodeDecodeError) as error:
        kind = translate_error(error)
        raise Damaged(f"{copy} is damaged, or not a backup of Aldis") if isinstance(kind, Damaged) else kind from error


def _create(file: Path) -> None:
    """Creates an empty file that only its owner can read; it must not exist."""
    os.close(os.open(file, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600))


def _remove(draft: Path) -> None:
    for suffix in (*_FILES, *_COMPANIONS, "-shm"):
        beside(draft, suffix).unlink(missing_ok=True)


def _stamps(now: datetime) -> Generator[str]:
    """Yields names for this second: `20261121T120000Z`, then `20261121T120000Z-2`, ..."""
    stamp = now.astimezone(UTC).strftime("%Y%m%dT%H%M%SZ")
    yield stamp
    yield from (f"{stamp}-{number}" for number in count(2))


def _mark(connection: sqlite3.Connection, restored_at: datetime | None = None) -> None:
    """Marks a store of any schema as a copy."""
    connection.execute(
        "CREATE TABLE IF NOT EXISTS restored (id INTEGER PRIMARY KEY CHECK (id = 1), restored_at INTEGER) STRICT"
    )
    connection.execute(
        "INSERT INTO restored (id, restored_at) VALUES (1, ?) "
        "ON CONFLICT (id) DO UPDATE SET restored_at = excluded.restored_at",
        (millis_if(restored_at),),
    )


class Restored(Repository):
    """The repository of what is open in a copy. All methods run inside a transaction."""

    def until(self, now: datetime) -> datetime | None:
        """Returns when a copy on which Aldis has not worked yet was restored, `now` if unknown; None: it is no copy."""
        return moment_if(self.value("SELECT coalesce(restored_at, ?) FROM restored", (millis(now),)))

    def close(self, *, besides: Collection[str], now: datetime) -> int:
        """Closes messages unanswered, but the kinds `besides`, and replies unsent, and takes the mark off.

        Deletes their words, their turns' steps, and all grants, which may have been revoked since. Returns how many
        messages and replies there were.
        """
        messages = self.execute(
            "UPDATE inbox SET state = 'done', envelope = NULL, claimed_until = NULL, put_off_until = NULL "
            "WHERE state IN ('waiting', 'claimed') AND kind NOT IN (SELECT value FROM json_each(?))",
            (json.dumps(list(besides)),),
        )
        replies = self.execute(
            "UPDATE outbox SET state = 'dead', reply = NULL, settled_at = ? "
            "WHERE state IN ('waiting', 'sending', 'unknown')",
            (millis(now),),
        )
        self.execute("DELETE FROM receipts")  # nothing is left that they could prove
        self.execute(
            "UPDATE turns SET state = 'ignored', ended_at = ? WHERE state = 'running' AND id NOT IN "
            "(SELECT turn_id FROM inbox WHERE state IN ('waiting', 'claimed') AND turn_id IS NOT NULL)",
            (millis(now),),
        )
        self.execute("DELETE FROM journal WHERE turn_id IN (SELECT id FROM turns WHERE state = 'ignored')")
        self.execute("DELETE FROM grants")
        self.execute("DELETE FROM restored")
        return messages.rowcount + replies.rowcount
