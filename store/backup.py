"""Backup and restore: a copy of the whole store, made while it is in use, and the way back.

A copy is two files, `aldis-<UTC time>.db` (with `-2`, `-3`, ... for further copies in one second) and the same name
with `-keys`. Reading them takes the master key, which is in neither and has to be kept apart from them. Each copy is
marked as one.

    backup:   copy log and keys --> copy file --> merge the log, mark as a copy, drop deleted rows --> check --> rename
    restore:  copy beside the store --> check --> mark --> rename present files, rename copies --> unmark

A second connection could corrupt the write-ahead log (see `store.database`), so a backup copies files. Log and keys are
copied in one step on the store's thread, which takes milliseconds. The database file is copied beside other work: it
does not change until the next checkpoint, which waits. From then on only the copy is opened.

An interrupted restore is finished at the next opening if it was marked, and has done nothing if it was not. At no point
is the store half old and half new, or empty.

A backup does not know what was answered, sent or said after it was made, and going on from there would do it all again.
So a restored store is undecided, and nothing goes on until the operator decides what becomes of its open work:

    backup, restore --mark--> undecided --close the open work, or leave it as it is--> decide --> a normal store

The mark is a row in the store itself, so it travels with the file. Left to others: what an item means, when a reminder
comes again.
"""

import asyncio
import json
import os
import shutil
import sqlite3
import time
from collections.abc import Collection, Generator, Iterable
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import count
from pathlib import Path
from urllib.parse import quote

from store.database import (
    FOREIGN_ERRORS,
    Database,
    beside,
    check_structure,
    lock_file,
    master_key_path,
    translate_error,
)
from store.errors import Damaged, SchemaTooNew, StoreError, StoreFull, WrongKey
from store.migrations import newest, version_of
from store.records import Waiting
from store.repository import Repository, millis, millis_if, moment_if
from store.sealing import MasterKey, has_keys, sync

NOT_INCLUDED = (
    "The copy is two files (the second ends in -keys). The master key is in neither: keep a copy of it elsewhere, for "
    "without it nobody can read them."
)
"""What to tell everybody who makes a backup."""

_FILES = ("", "-keys")
_COMPANIONS = ("-wal", "-journal", "-keys-journal")
"""Files that SQLite leaves beside the database and the keys after an unclean stop; they belong to them."""

_FIRST = frozenset({"conversations", "turns", "inbox", "journal", "history", "outbox", "ledger"})
"""The tables that every schema has."""

_LEFT_SECONDS = 86_400
"""After so long without a write, a draft belongs to no running backup."""


async def write_backup(database: Database, folder: Path, *, now: datetime) -> Path:
    """Copies the store into the folder, which is created if missing; returns the path of the copy.

    Other work waits while the log and the keys are copied: 6 ms (measured), whatever the size of the store. A cancelled
    caller waits for the end.

    Raises:
        StoreFull: the disk is full; nothing is left behind.
        StoreError: it cannot be written there; nothing is left behind.
    """
    writing = asyncio.ensure_future(_write(database, folder, now))
    try:
        return await asyncio.shield(writing)
    except asyncio.CancelledError:
        await asyncio.gather(writing, return_exceptions=True)
        raise


async def _write(database: Database, folder: Path, now: datetime) -> Path:
    with _drafting(folder, now) as (copy, draft):

        def begin(connection: sqlite3.Connection) -> None:
            """Copies what changes with every commit: the log, and the keys of what it contains."""
            connection.execute("VACUUM keys INTO ?", (str(beside(draft, "-keys")),))
            if (log := beside(database.path, "-wal")).exists():
                _copy(log, beside(draft, "-wal"))

        await database.copy_files(begin, lambda: shutil.copyfile(database.path, draft))
        await asyncio.to_thread(_call_a_copy, draft, now)
        await asyncio.to_thread(_finish, draft, copy)
    return copy


def copies_in(folder: Path) -> dict[Path, datetime]:
    """Returns the copies in a folder, each with the time that its name gives."""
    copies = {path: path.stem.split("-")[1] for path in sorted(folder.glob("aldis-*.db"))}
    return {path: datetime.strptime(stamp, "%Y%m%dT%H%M%SZ").replace(tzinfo=UTC) for path, stamp in copies.items()}


def delete_copies(copies: Iterable[Path]) -> None:
    """Deletes both files of each copy."""
    for copy in copies:
        for suffix in _FILES:
            beside(copy, suffix).unlink(missing_ok=True)


@contextmanager
def _drafting(folder: Path, now: datetime) -> Generator[tuple[Path, Path]]:
    """Yields the path of the copy and that of its draft, which is deleted if the context fails.

    Translates errors to the store's; that of a full disk names the folder.
    """
    if not str(folder).isprintable():
        raise StoreError("a backup cannot be made in this folder: its path is not UTF-8 text of one line")
    try:
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        _clear(folder)
        copy, draft = next(filter(None, (_claim(folder, stamp) for stamp in _stamps(now))))
        try:
            # SQLite fills these empty files; it would create them readable by everybody.
            _create(beside(draft, "-keys"))
            yield copy, draft
        except BaseException:
            _remove(draft)
            raise
    except (*FOREIGN_ERRORS, StoreFull) as error:
        told = error if isinstance(error, StoreFull) else translate_error(error)
        raise (
            StoreFull(f"no room is left in {folder}: nothing was copied") if isinstance(told, StoreFull) else told
        ) from error


def _clear(folder: Path) -> None:
    """Deletes the drafts of backups that were killed long ago."""
    for left in folder.glob(".aldis-*.db.part*"):
        with suppress(FileNotFoundError):  # another backup clears, too, or ends
            if time.time() - left.stat().st_mtime > _LEFT_SECONDS:
                left.unlink()


def _claim(folder: Path, stamp: str) -> tuple[Path, Path] | None:
    """Returns the paths of a copy and its draft, which exists from now on; None if another backup has the name."""
    copy = folder / f"aldis-{stamp}.db"
    draft = folder / f".{copy.name}.part"
    try:
        _create(draft)
    except FileExistsError:
        return None
    # Checked only now: the draft of another backup is there until its copy is.
    if any(beside(copy, suffix).exists() for suffix in _FILES):
        draft.unlink()
        return None
    return copy, draft


def _create(file: Path) -> None:
    """Creates an empty file that only its owner can read; it must not exist."""
    os.close(os.open(file, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600))


def _copy(file: Path, target: Path) -> None:
    _create(target)
    shutil.copyfile(file, target)


def _call_a_copy(draft: Path, now: datetime) -> None:
    """Merges the log, marks the draft as a copy, and drops deleted rows."""
    with closing(sqlite3.connect(draft, isolation_level=None)) as connection:
        connection.execute("PRAGMA journal_mode = DELETE").fetchall()
        connection.execute("PRAGMA synchronous = OFF")  # the whole file is synced before it is used
        mark(connection, copied_at=now)
        connection.execute("VACUUM")


def _finish(draft: Path, copy: Path) -> None:
    for suffix in _FILES:
        file = beside(draft, suffix)
        sync(file)
        with closing(_connected_to_copy(file)) as connection:
            check_structure(connection, "main", file)
    # The keys first: once the database file is there, the copy is complete.
    for suffix in reversed(_FILES):
        beside(draft, suffix).rename(beside(copy, suffix))
    sync(copy.parent)


def _connected_to_copy(file: Path) -> sqlite3.Connection:
    return sqlite3.connect(f"file:{quote(str(file))}?mode=ro&immutable=1", uri=True)


def copy_closed(path: Path, folder: Path, *, now: datetime) -> Path:
    """Copies a store that no process has open into the folder, without migrating it.

    Returns the path of the copy, as `write_backup` does.

    Raises:
        StoreInUse: an Aldis is running on this store: ask it for the copy.
        StoreError: there is no store, files cannot be read or written, or the copy is not sound.
    """
    lock = lock_file(path)
    try:
        with _drafting(folder, now) as (copy, draft):
            finish_restore(path)
            for suffix in (*_FILES, *_COMPANIONS):
                if suffix in _FILES or beside(path, suffix).exists():
                    shutil.copyfile(beside(path, suffix), beside(draft, suffix))
            _call_a_copy(draft, now)
            with closing(sqlite3.connect(beside(draft, "-keys"))) as connection:
                connection.execute("SELECT 1 FROM sqlite_master").fetchall()  # plays back what is left of a journal
            for suffix in (*_COMPANIONS, "-shm"):
                beside(draft, suffix).unlink(missing_ok=True)
            _finish(draft, copy)
    finally:
        os.close(lock)
    return copy


def schema_of(copy: Path) -> int:
    """Returns the number of a copy's schema.

    Raises:
        Damaged: the copy cannot be read.
    """
    with _as_copy(copy), closing(_connected_to_copy(copy)) as connection:
        return version_of(connection)


def restore(
    copy: Path, path: Path, *, now: datetime, key: bytes | None = None, old_key: bytes | None = None
) -> Path | None:
    """Puts a copy in the place of the store at `path`, which no process may have open.

    Renames the present files to `<name>.before-<UTC time>`, from where they can be restored like any copy, and returns
    that path; None if there were none. `key` and `old_key` come from the settings, as in `open_store`. The copy may
    have an older schema. The store is undecided afterwards.

    Raises:
        StoreInUse: an Aldis is running on this store; stop it first.
        Damaged: the copy is not sound, or is no store.
        SchemaTooNew: a newer Aldis wrote the copy.
        WrongKey: the master key does not open it.
        StoreError: files cannot be read or written. In all these cases the store is unchanged.
    """
    lock = lock_file(path)
    draft = beside(path, ".restoring")
    try:
        finish_restore(path)
        _fetch(copy, draft)
        _check(copy, draft, MasterKey(master_key_path(path), given=key, former=old_key), now)
        # The files of another restore in this second are not overwritten.
        formers = ((stamp, beside(path, f".before-{stamp}")) for stamp in _stamps(now))
        stamp, former = next(each for each in formers if not any(beside(each[1], part).exists() for part in _FILES))
        was_there = path.exists()
        mark = beside(path, ".restoring-mark")
        mark.write_text(stamp, "ascii")
        sync(mark)
        # From here on the restore will be finished, whatever happens.
        mark.rename(beside(path, ".restore"))
        sync(path.parent)
        finish_restore(path)
    except FOREIGN_ERRORS as error:
        raise translate_error(error) from error
    finally:
        if not beside(path, ".restore").exists():
            _remove(draft)
        os.close(lock)
    return former if was_there else None


def finish_restore(path: Path) -> None:
    """Finishes an interrupted restore if it was marked; removes what is left of one that was not.

    No process may have the files open. Calling it again changes nothing.

    Raises:
        OSError: a file could not be renamed; the next call goes on.
    """
    mark, draft = beside(path, ".restore"), beside(path, ".restoring")
    if not mark.exists():
        _remove(draft)
        return
    former = beside(path, f".before-{mark.read_text('ascii')}")
    if draft.exists():
        # SQLite would play a log or journal of the present files back into their replacements.
        for companion in _COMPANIONS:
            _move(beside(path, companion), beside(former, companion))
        beside(path, "-shm").unlink(missing_ok=True)
    for suffix in _FILES:
        if beside(draft, suffix).exists():
            _move(beside(path, suffix), beside(former, suffix))
            beside(draft, suffix).rename(beside(path, suffix))
    sync(path.parent)
    mark.unlink()
    sync(path.parent)


def is_undecided(path: Path) -> bool:
    """Whether the store at `path` waits for a decision; False also if it cannot be read. No process may have it open.

    Raises:
        StoreInUse: an Aldis is running on this store.
        StoreError: its folder cannot be used.
    """
    lock = lock_file(path)
    try:
        finish_restore(path)
        # Read-only: closing a writable connection checkpoints the log, whose length tells the next opening whether
        # the last stop was clean.
        with closing(sqlite3.connect(f"file:{quote(str(path))}?mode=ro", uri=True)) as connection:
            return connection.execute("SELECT 1 FROM restored").fetchone() is not None
    except FOREIGN_ERRORS:
        return False  # opening the store will report what is wrong
    finally:
        os.close(lock)


def _fetch(copy: Path, draft: Path) -> None:
    """Copies the copy beside the store, together with logs and journals that an unclean stop left."""
    if copy.is_dir():
        raise StoreError(f"{copy} is a folder: name the backup's .db file in it")
    if copy.name.endswith(f".db{_FILES[1]}"):
        raise StoreError(f"{copy} is the smaller of the backup's two files: name the other, which ends in .db")
    for suffix in _FILES:
        if not beside(copy, suffix).is_file():
            raise StoreError(f"{beside(copy, suffix)} is not there: a backup is two files, of which one ends in -keys")
    _remove(draft)
    for suffix in (*_FILES, *_COMPANIONS):
        if beside(copy, suffix).exists():
            _copy(beside(copy, suffix), beside(draft, suffix))


def _check(copy: Path, draft: Path, master: MasterKey, now: datetime) -> None:
    with _as_copy(copy), closing(sqlite3.connect(draft, isolation_level=None)) as connection:
        connection.execute("ATTACH DATABASE ? AS keys", (str(beside(draft, "-keys")),))
        version = version_of(connection)
        if version > newest():
            raise SchemaTooNew(
                f"{copy} has schema {version}, this Aldis knows schemas up to {newest()}: use a newer one"
            )
        # Aldis makes no triggers and no views; one of another program would act on every write.
        for kind, name in connection.execute("SELECT type, name FROM main.sqlite_master").fetchall():
            if kind in {"trigger", "view"}:
                quoted = name.replace('"', '""')
                connection.execute(f'DROP {kind} "{quoted}"')
        there = {name for (name,) in connection.execute("SELECT name FROM main.sqlite_master")}
        if version <= 0 or not there >= _FIRST or not has_keys(connection):
            raise Damaged(f"{copy} is not a backup of Aldis")
        check_structure(connection, "main", copy)
        check_structure(connection, "keys", beside(copy, "-keys"))
        if not master.opens(connection):
            raise WrongKey(
                f"the master key does not open {copy}: put the one that it was made under into {master.path}, or give "
                "it as STORE__KEY"
            )
        mark(connection, restored_at=now)
    for suffix in _FILES:
        sync(beside(draft, suffix))


@contextmanager
def _as_copy(copy: Path) -> Generator[None]:
    """Translates SQLite's errors so that they name the copy."""
    try:
        yield
    except (sqlite3.DatabaseError, UnicodeDecodeError) as error:
        told = translate_error(error)
        raise Damaged(f"{copy} is damaged, or not a backup of Aldis") if isinstance(told, Damaged) else told from error


def _move(file: Path, target: Path) -> None:
    if file.exists():
        file.rename(target)


def _remove(draft: Path) -> None:
    for suffix in (*_FILES, *_COMPANIONS, "-shm", "-mark"):
        beside(draft, suffix).unlink(missing_ok=True)


def _stamps(now: datetime) -> Generator[str]:
    """Yields names for this second: `20261121T120000Z`, then `20261121T120000Z-2`, ..."""
    stamp = now.astimezone(UTC).strftime("%Y%m%dT%H%M%SZ")
    yield stamp
    yield from (f"{stamp}-{number}" for number in count(2))


@dataclass(frozen=True, kw_only=True, slots=True)
class Restoration:
    """The origin of an undecided store."""

    copied_at: datetime | None
    """When the backup was made; None: unknown."""
    restored_at: datetime | None
    """When it was restored; None: the file was put in place by hand."""


class Restored(Repository):
    """The repository of restored open work. All methods run inside a transaction."""

    def restoration(self) -> Restoration | None:
        """Returns the origin of the store while it is undecided; None: it is a normal store."""
        return self.record(Restoration, "SELECT copied_at, restored_at FROM restored")

    def messages(self, *, besides: Collection[str]) -> Waiting:
        """Counts the messages that would be answered, leaving out the kinds `besides`."""
        [(items, oldest)] = self.rows(
            "SELECT count(*), min(received_at) FROM inbox WHERE state IN ('waiting', 'claimed') "
            "AND kind NOT IN (SELECT value FROM json_each(?))",
            (json.dumps(list(besides)),),
        )
        return Waiting(items=items, oldest_at=moment_if(oldest), dead=0)

    def replies(self) -> Waiting:
        """Counts the replies that would be sent; the oldest by when its turn started."""
        [(items, oldest)] = self.rows(
            "SELECT count(*), min(started_at) FROM outbox JOIN turns ON turns.id = turn_id "
            "WHERE outbox.state IN ('waiting', 'sending', 'unknown')"
        )
        return Waiting(items=items, oldest_at=moment_if(oldest), dead=0)

    def close(self, *, besides: Collection[str], now: datetime) -> None:
        """Closes these messages unanswered and everything waiting unsent; deletes their words and turns' steps."""
        self.execute(
            "UPDATE inbox SET state = 'done', envelope = NULL, claimed_until = NULL, put_off_until = NULL "
            "WHERE state IN ('waiting', 'claimed') AND kind NOT IN (SELECT value FROM json_each(?))",
            (json.dumps(list(besides)),),
        )
        self.execute(
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

    def decide(self) -> None:
        """Makes this a normal store. Deletes all grants: they may have been revoked since the backup."""
        self.execute("DELETE FROM grants")
        self.execute("DELETE FROM restored")


def mark(
    connection: sqlite3.Connection, *, copied_at: datetime | None = None, restored_at: datetime | None = None
) -> None:
    """Marks a copy of any schema as undecided; a `copied_at` of None keeps the time noted before."""
    connection.execute(
        "CREATE TABLE IF NOT EXISTS restored "
        "(id INTEGER PRIMARY KEY CHECK (id = 1), copied_at INTEGER, restored_at INTEGER) STRICT"
    )
    connection.execute(
        "INSERT INTO restored (id, copied_at, restored_at) VALUES (1, ?, ?) ON CONFLICT (id) DO UPDATE "
        "SET copied_at = coalesce(excluded.copied_at, copied_at), restored_at = excluded.restored_at",
        (millis_if(copied_at), millis_if(restored_at)),
    )
