"""Backups: a copy of the whole store while it is in use, and the way back.

A copy is two files, `aldis-<UTC time>.db` and, beside it, the same with `-keys`. Whoever has both still needs the
master key; it is in neither, and has to be kept apart from them. In each copy stands that it is one (`store.restored`).

    written:  log and keys copied --> file copied --> folded into one, deleted rows out --> told that it is a copy
              --> checked --> renamed
    restore:  copied beside the store --> checked --> marked --> present files renamed, copies renamed --> unmarked

A second connection could corrupt the write-ahead log (see `store.database`), so files are copied: log and keys in one
step of the store's thread, which takes milliseconds, and the file itself beside it, for nothing is written into it
until its log is folded in, and that waits. What is done to the copy then is done by a connection that knows it alone.
From the mark on a restoring that was interrupted is finished at the next opening, before it a restoring has done
nothing: at no point is there half of one store and half of another, or an empty one.
"""

import asyncio
import os
import shutil
import sqlite3
from collections.abc import Generator
from contextlib import closing, contextmanager, suppress
from datetime import UTC, datetime
from pathlib import Path
from urllib.parse import quote

from store.database import FOREIGN_ERRORS, Database, lock_file, quick_checked, translate_error
from store.errors import Damaged, SchemaTooNew, StoreError, StoreFull, WrongKey
from store.feeds import WORDS_TABLE
from store.files import beside, master_key_path
from store.guard import GENERATION_TABLE
from store.migrations import build, definitions, newest, steps_after, without_triggers
from store.restored import mark
from store.sealing import KEYS_TABLE, MasterKey, has_keys, sync

NOT_INCLUDED = (
    "The copy is two files (the second ends in -keys). The master key is in neither: keep a copy of it elsewhere, for "
    "without it nobody can read them."
)
"""What whoever makes a backup has to know."""

_FILES = ("", "-keys")
_COMPANIONS = ("-wal", "-journal", "-keys-journal")
"""What SQLite leaves beside the files when it is stopped at a bad moment; it belongs to them."""

_JOURNAL_MAGIC = bytes.fromhex("d9d505f920a163d7")
"""A journal that ends so is of a commit over several databases, which Aldis never makes; it names a file that SQLite
deletes when the journal is played back. Source: sqlite.org/atomiccommit.html, 5, and what SQLite did (2026-11-24).
"""


async def write_backup(database: Database, folder: Path, *, now: datetime) -> Path:
    """Copy the store into the folder, which is made when missing; gives the path of the copy.

    Other work waits while the log and the keys are copied: 6 ms (measured), however large the store is. A caller that
    is cancelled waits for the end.

    Raises:
        StoreFull: there is no room; nothing is left behind.
        StoreError: it cannot be written there, or something of that name is there already; nothing is left behind.
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
            """Copies what changes with every commit: the log, and the keys that open what is in it."""
            connection.execute("VACUUM keys INTO ?", (str(beside(draft, "-keys")),))
            if (log := beside(database.path, "-wal")).exists():
                _copy(log, beside(draft, "-wal"))

        await database.copy_files(begin, lambda: shutil.copyfile(database.path, draft))
        await asyncio.to_thread(_call_a_copy, draft, now)
        await asyncio.to_thread(_finish, draft, copy)
    return copy


@contextmanager
def _drafting(folder: Path, now: datetime) -> Generator[tuple[Path, Path]]:
    """The path that the copy gets, and that of its draft, which is gone where it fails.

    Errors are in the store's words; that of a full disk names the folder.
    """
    copy = folder / f"aldis-{_stamp(now)}.db"
    draft = folder / f".{copy.name}.part"
    try:
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        for suffix in _FILES:
            if beside(copy, suffix).exists():
                raise StoreError(f"{beside(copy, suffix)} is there already: wait a second, or choose another folder")
            # Empty files that SQLite fills: of itself it would make them readable for everybody.
            _create(beside(draft, suffix))
        try:
            yield copy, draft
        except BaseException:
            _remove(draft)
            raise
    except (*FOREIGN_ERRORS, StoreFull) as error:
        told = error if isinstance(error, StoreFull) else translate_error(error)
        raise (
            StoreFull(f"no room is left in {folder}: nothing was copied") if isinstance(told, StoreFull) else told
        ) from error


def _create(file: Path) -> None:
    """Makes an empty file that nobody else may read, where there is none."""
    os.close(os.open(file, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600))


def _copy(file: Path, target: Path) -> None:
    _create(target)
    shutil.copyfile(file, target)


def _call_a_copy(draft: Path, now: datetime) -> None:
    """Fold the log in, and leave what was deleted behind."""
    with closing(sqlite3.connect(draft, isolation_level=None)) as connection:
        connection.execute("PRAGMA journal_mode = DELETE").fetchall()
        connection.execute("PRAGMA synchronous = OFF")  # it is synced as a whole before it counts
        with without_triggers(connection):
            mark(connection, copied_at=now)
        connection.execute("VACUUM")


def _finish(draft: Path, copy: Path) -> None:
    for suffix in _FILES:
        file = beside(draft, suffix)
        sync(file)
        with closing(_connected_to_copy(file)) as connection:
            quick_checked(connection, "main", file)
    # The keys first: where the bigger file is, the copy is whole.
    for suffix in reversed(_FILES):
        beside(draft, suffix).rename(beside(copy, suffix))
    sync(copy.parent)


def _connected_to_copy(file: Path) -> sqlite3.Connection:
    return sqlite3.connect(f"file:{quote(str(file))}?mode=ro&immutable=1", uri=True)


def copy_closed(path: Path, folder: Path, *, now: datetime) -> Path:
    """Copy a store that nobody has open into the folder, as it is: not opened, and so not brought up to date.

    Gives the path of the copy, as `write_backup`.

    Raises:
        StoreInUse: an Aldis is running on this store: it makes the copy itself.
        StoreError: there is no store, files cannot be read or written, or the copy is not whole.
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


def steps_of(copy: Path) -> tuple[int, tuple[tuple[int, str], ...]]:
    """The schema of a copy, and each step that brings it to the newest: its number, and what it is for.

    Raises:
        Damaged: it cannot be read.
    """
    with _as_copy(copy), closing(_connected_to_copy(copy)) as connection:
        [version] = connection.execute("PRAGMA main.user_version").fetchone()
    return version, steps_after(version)


def restore(
    copy: Path, path: Path, *, now: datetime, key: bytes | None = None, old_key: bytes | None = None
) -> Path | None:
    """Put a copy in the place of the store at `path`, which nobody may have open; gives where that one is now.

    The files that were there are renamed to `<name>.before-<UTC time>`, and can be restored like any copy; None when
    there were none. `key` and `old_key` are those of the settings, as in `open_store`. A copy of an older schema is
    fine. The store is undecided from then on, see `store.restored`.

    Raises:
        StoreInUse: an Aldis is running on this store; stop it first.
        Damaged: the copy is not whole, or is no store.
        SchemaTooNew: a newer Aldis wrote the copy.
        WrongKey: the master key does not open it.
        StoreError: files cannot be read or written. In all these cases the store is as it was.
    """
    lock = lock_file(path)
    draft = beside(path, ".restoring")
    try:
        finish_restore(path)
        _fetch(copy, draft)
        _check(copy, draft, MasterKey(master_key_path(path), given=key, former=old_key), now)
        former = beside(path, f".before-{_stamp(now)}") if path.exists() else None
        stamp = beside(path, ".restoring-mark")
        stamp.write_text(_stamp(now), "ascii")
        sync(stamp)
        # From here on it is finished, whatever happens.
        stamp.rename(beside(path, ".restore"))
        sync(path.parent)
        finish_restore(path)
    except FOREIGN_ERRORS as error:
        raise translate_error(error) from error
    finally:
        if not beside(path, ".restore").exists():
            _remove(draft)
        os.close(lock)
    return former


def finish_restore(path: Path) -> None:
    """Finish a restoring that was marked and interrupted, or clear away one that was not marked yet.

    Expects that nobody has the files open. Doing it again changes nothing.

    Raises:
        OSError: a file could not be renamed; it is done the next time.
    """
    mark, draft = beside(path, ".restore"), beside(path, ".restoring")
    if not mark.exists():
        _remove(draft)
        return
    former = beside(path, f".before-{mark.read_text('ascii')}")
    if draft.exists():
        # A log or a journal of the present files would be played back into those that take their place.
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
    """Whether the store at `path`, which nobody may have open, waits for a decision; False too where none can be read.

    Raises:
        StoreInUse: an Aldis is running on this store.
        StoreError: its folder cannot be used.
    """
    lock = lock_file(path)
    try:
        finish_restore(path)
        # Only read: whoever closes a connection that may write folds the log in, by whose length the next opening
        # knows whether the last end was a clean one.
        with closing(sqlite3.connect(f"file:{quote(str(path))}?mode=ro", uri=True)) as connection:
            return connection.execute("SELECT 1 FROM restored").fetchone() is not None
    except FOREIGN_ERRORS:
        return False  # what is wrong is told by whoever opens it
    finally:
        os.close(lock)


def _fetch(copy: Path, draft: Path) -> None:
    """Copies of the copy, beside the store, with whatever a stop at a bad moment left to be played back into them."""
    for suffix in _FILES:
        if not beside(copy, suffix).is_file():
            raise StoreError(f"{beside(copy, suffix)} is not there: a backup is two files, of which one ends in -keys")
    _remove(draft)
    for suffix in (*_FILES, *_COMPANIONS):
        if beside(copy, suffix).exists():
            _copy(beside(copy, suffix), beside(draft, suffix))
        if suffix.endswith("-journal") and _names_another_file(beside(draft, suffix)):
            raise Damaged(f"{beside(copy, suffix)} is none that Aldis has left behind")


def _names_another_file(journal: Path) -> bool:
    return journal.exists() and journal.read_bytes().endswith(_JOURNAL_MAGIC)


def _check(copy: Path, draft: Path, master: MasterKey, now: datetime) -> None:
    with _as_copy(copy), closing(sqlite3.connect(draft, isolation_level=None)) as connection:
        connection.execute("ATTACH DATABASE ? AS keys", (str(beside(draft, "-keys")),))
        [version] = connection.execute("PRAGMA main.user_version").fetchone()
        if version > newest():
            raise SchemaTooNew(
                f"{copy} has schema {version}, this Aldis knows schemas up to {newest()}: use a newer one"
            )
        # Before anything is checked: SQLite would compute what the definitions in a file say.
        if not _is_of_aldis(connection, version):
            raise Damaged(f"{copy} is no backup of Aldis")
        quick_checked(connection, "main", copy)
        quick_checked(connection, "keys", beside(copy, "-keys"))
        if not master.opens(connection):
            raise WrongKey(f"the master key does not open {copy}: give the one that it was made under as STORE__KEY")
        with without_triggers(connection):
            mark(connection, restored_at=now)
    for suffix in _FILES:
        sync(beside(draft, suffix))


def _is_of_aldis(connection: sqlite3.Connection, version: int) -> bool:
    """Whether nothing but the tables and indexes of that schema is in the files, and of these none is missing."""
    with closing(sqlite3.connect(":memory:")) as model:
        model.execute("ATTACH ':memory:' AS keys")
        model.execute(KEYS_TABLE)
        model.execute(GENERATION_TABLE)
        build(model, version)
        needed = definitions(model, "main")
        with suppress(sqlite3.OperationalError):  # SQLite may lack FTS5
            model.execute(WORDS_TABLE)
        return (
            version > 0
            and needed <= definitions(connection, "main") <= definitions(model, "main")
            and definitions(connection, "keys") <= definitions(model, "keys")
            and has_keys(connection)
        )


@contextmanager
def _as_copy(copy: Path) -> Generator[None]:
    """SQLite's refusals are about the copy, and say so."""
    try:
        yield
    except (sqlite3.DatabaseError, UnicodeDecodeError) as error:
        told = translate_error(error)
        raise Damaged(f"{copy} is damaged, or no backup of Aldis") if isinstance(told, Damaged) else told from error


def _move(file: Path, target: Path) -> None:
    if file.exists():
        file.rename(target)


def _remove(draft: Path) -> None:
    for suffix in (*_FILES, *_COMPANIONS, "-shm", "-mark"):
        beside(draft, suffix).unlink(missing_ok=True)


def _stamp(now: datetime) -> str:
    return now.astimezone(UTC).strftime("%Y%m%dT%H%M%SZ")
