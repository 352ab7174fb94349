"""Opening a database: what is none, or is in use, is refused by name and left alone; each failure has its kind."""

import asyncio
import errno
import sqlite3
import threading
from pathlib import Path

import pytest

from store.database import Database, translate_error
from store.errors import Damaged, StoreError, StoreFull, StoreInUse
from tests.store.places import keys_of


async def refused(path: Path) -> StoreError:
    """The error of opening; its thread has ended then."""
    before = set(threading.enumerate())
    with pytest.raises(StoreError) as caught:
        await Database.open(path, keys_of(path))
    for thread in set(threading.enumerate()) - before:
        thread.join(10)
        assert not thread.is_alive()
    return caught.value


async def test_opening_that_is_cancelled_leaves_it_free(path: Path) -> None:
    """The lock is given back and the thread ends, so that the next one can open it."""
    before = set(threading.enumerate())
    opening = asyncio.create_task(Database.open(path, keys_of(path)))
    await asyncio.sleep(0)
    assert not opening.done()
    opening.cancel()
    with pytest.raises(asyncio.CancelledError):
        await opening
    for thread in set(threading.enumerate()) - before:
        thread.join(10)
        assert not thread.is_alive()
    await (await Database.open(path, keys_of(path))).aclose()


@pytest.mark.parametrize("place", ["parent", "database", "lock", "keys"])
async def test_a_place_that_cannot_be_used_is_named(path: Path, place: str) -> None:
    """A file where a folder must be, or a folder where a file must be: one error that names it.

    The tests may run as root, to whom no mode forbids anything.
    """
    wrong = {"parent": path.parent, "database": path, "lock": path.with_name("aldis.db-lock"), "keys": keys_of(path)}[
        place
    ]
    if place == "parent":
        wrong.write_text("a file")
    else:
        wrong.mkdir(parents=True)
    error = await refused(path)
    assert type(error) is StoreError
    assert str(wrong) in str(error)


class Refusal(sqlite3.OperationalError):
    def __init__(self, name: str) -> None:
        super().__init__("SQLite's words about a word that somebody wrote")
        self.sqlite_errorname = name


@pytest.mark.parametrize(
    ("error", "kind", "words"),
    [
        (Refusal("SQLITE_FULL"), StoreFull, "no room"),
        (Refusal("SQLITE_IOERR_SHMSIZE"), StoreFull, "no room"),
        (Refusal("SQLITE_CORRUPT"), Damaged, "damaged"),
        (Refusal("SQLITE_BUSY_SNAPSHOT"), StoreInUse, "locked"),
        (Refusal("SQLITE_READONLY_DIRECTORY"), StoreError, "check its disk"),
        (Refusal("SQLITE_CANTOPEN"), StoreError, "check its disk"),
        (Refusal("SQLITE_IOERR_FSYNC"), StoreError, "(SQLITE_IOERR_FSYNC): check its disk"),
        (Refusal("SQLITE_LATER"), StoreError, "SQLITE_LATER"),
        (sqlite3.ProgrammingError("words that somebody wrote"), StoreError, "ProgrammingError"),
        (Refusal("SQLITE_ERROR"), StoreError, "(SQLITE_ERROR)"),
        (
            sqlite3.OperationalError("Could not decode to UTF-8 column 'a', somebody wrote"),
            Damaged,
            "damage",
        ),
        (UnicodeDecodeError("utf-8", b"somebody wrote\xe1", 14, 15, "invalid"), Damaged, "damage"),
        (OSError(errno.ENOSPC, "No space left on device", "/data/aldis.db"), StoreFull, "/data/aldis.db"),
        (PermissionError(errno.EACCES, "Permission denied", "/data/aldis.db"), StoreError, "Permission denied"),
        (OSError(errno.ENOLCK, "No locks available"), StoreError, "its folder"),
    ],
    ids=lambda value: str(getattr(value, "sqlite_errorname", "")) or None,
)
def test_every_foreign_error_has_its_kind(
    error: sqlite3.Error | OSError | UnicodeDecodeError, kind: type[StoreError], words: str
) -> None:
    """The table of translations: who must act is told by the type; words of SQLite's that may quote a value are not."""
    told = translate_error(error)
    assert type(told) is kind
    assert words in str(told)
    assert "somebody wrote" not in str(told)
