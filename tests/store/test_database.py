"""The database: many units share a commit, each is kept whole or not at all, and every failure says who must act."""

import asyncio
import errno
import sqlite3
import threading
from collections.abc import AsyncGenerator, Callable
from contextlib import closing
from pathlib import Path

import pytest

from store.database import Database, translate_error
from store.errors import Damaged, StoreError, StoreFull, StoreInUse
from tests.store.places import contents
from tests.waiting import WAIT_SECONDS

Work = Callable[[sqlite3.Connection], object]


class Oops(Exception):
    """What a unit of work raises by itself."""


@pytest.fixture
async def database(path: Path) -> AsyncGenerator[Database]:
    database = await Database.open(path)
    await database.transaction(does("CREATE TABLE words (word TEXT UNIQUE) STRICT"))
    yield database
    await database.aclose()


def does(statement: str) -> Work:
    def work(connection: sqlite3.Connection) -> None:
        connection.execute(statement)

    return work


def said(word: str, error: BaseException | None = None) -> Work:
    """The work of keeping a word; it gives the word, or fails afterwards."""

    def work(connection: sqlite3.Connection) -> str:
        connection.execute("INSERT INTO words (word) VALUES (?)", (word,))
        if error is not None:
            raise error
        return word

    return work


async def rows(database: Database, query: str) -> list[object]:
    return await database.alone(lambda connection: [value for value, *_ in connection.execute(query)])


async def words(database: Database) -> list[object]:
    return await rows(database, "SELECT word FROM words ORDER BY rowid")


async def outcomes(database: Database, *works: Work) -> list[object]:
    return await asyncio.gather(*map(database.transaction, works), return_exceptions=True)


class Stopped:
    """Lets a unit of work stand still on the store's thread until it may go on."""

    def __init__(self) -> None:
        self._begun, self._free = asyncio.Event(), threading.Event()
        self._loop = asyncio.get_running_loop()
        self.begun, self.go_on = self._begun.wait, self._free.set

    def stand(self) -> None:
        self._loop.call_soon_threadsafe(self._begun.set)
        assert self._free.wait(WAIT_SECONDS)


async def test_units_that_wait_together_share_a_commit(database: Database, path: Path) -> None:
    """A hundred waiting units cost two commits at most: one that was just starting, one for all the rest."""
    statements: list[str] = []
    await database.alone(lambda connection: connection.set_trace_callback(statements.append))
    assert await outcomes(database, *(said(str(number)) for number in range(100))) == list(map(str, range(100)))
    assert statements.count("SAVEPOINT unit") == 100
    assert 1 <= statements.count("COMMIT") <= 2
    with closing(sqlite3.connect(path)) as other:  # as soon as they have returned
        assert other.execute("SELECT count(*) FROM words").fetchall() == [(100,)]


async def test_the_failure_of_one_unit_leaves_the_others_kept(database: Database) -> None:
    """Its exception comes through as it is, what it wrote is gone, and its neighbours do not notice; nor alone."""
    oops = Oops("mine")
    assert await outcomes(database, said("alone", oops)) == [oops]
    assert await outcomes(database, said("before"), said("gone", oops), said("after")) == ["before", oops, "after"]
    assert await words(database) == ["before", "after"]


async def test_a_commit_that_fails_fails_every_unit_in_it(database: Database) -> None:
    """Nothing of it is kept, and each caller hears so; what failed by itself before keeps its own error."""
    tied = "CREATE TABLE tied (word TEXT REFERENCES words (word) DEFERRABLE INITIALLY DEFERRED) STRICT"
    await database.transaction(does(tied))
    oops = Oops()
    loose = does("INSERT INTO tied (word) VALUES ('nowhere')")
    first, second, third = await outcomes(database, said("word"), said("other", oops), loose)
    assert [type(first), second, type(third)] == [StoreError, oops, StoreError]
    assert "(SQLITE_CONSTRAINT_FOREIGNKEY)" in str(first)
    assert await words(database) == []
    assert await database.transaction(said("word")) == "word"


async def test_reading_waits_for_no_later_commit(database: Database) -> None:
    """A read goes before the units that wait for the next commit, however long the present one takes."""
    order: list[str] = []
    stopped = Stopped()

    def long(_: sqlite3.Connection) -> None:
        stopped.stand()
        order.append("long")

    async with asyncio.TaskGroup() as group:
        group.create_task(database.transaction(long))
        await stopped.begun()
        group.create_task(database.transaction(lambda _: order.append("next")))
        group.create_task(database.alone(lambda _: order.append("read")))
        asyncio.get_running_loop().call_soon(stopped.go_on)
    assert order == ["long", "read", "next"]


async def test_the_work_of_a_cancelled_caller_happens_whole_or_not_at_all(database: Database) -> None:
    """A caller that goes away while its work runs leaves it whole, and `kept` is called; the others do not notice."""
    stopped = Stopped()
    kept: list[object] = []

    def half(connection: sqlite3.Connection) -> object:
        said("one")(connection)
        stopped.stand()
        said("two")(connection)
        return "whole"

    leaving = asyncio.create_task(database.transaction(half, kept=kept.append))
    await stopped.begun()
    staying = asyncio.create_task(database.transaction(said("three"), kept=kept.append))
    leaving.cancel()
    with pytest.raises(asyncio.CancelledError):
        await leaving
    stopped.go_on()
    assert await staying == "three"
    assert await words(database) == ["one", "two", "three"]
    assert kept == ["whole", "three"]


async def test_a_second_opener_is_refused(database: Database, path: Path) -> None:
    """Two connections could corrupt the file, so the second is refused by name; after closing it may open."""
    with pytest.raises(StoreInUse, match=str(path)):
        await Database.open(path)
    assert await database.transaction(said("still fine")) == "still fine"
    await database.aclose()
    again = await Database.open(path)
    assert await words(again) == ["still fine"]
    await again.aclose()


async def test_the_connection_is_as_durable_and_tidy_as_it_says(database: Database) -> None:
    """Every pragma that the promises rest on is really on: FULL and EXTRA, and no temporary file with words."""
    wanted = {
        "main.journal_mode": "wal",
        "main.synchronous": 2,
        "main.secure_delete": 1,
        "keys.journal_mode": "delete",
        "keys.synchronous": 3,
        "keys.secure_delete": 1,
        "foreign_keys": 1,
        "busy_timeout": 5000,
        "temp_store": 2,
    }
    assert {name: (await rows(database, f"PRAGMA {name}"))[0] for name in wanted} == wanted


async def test_a_log_that_another_program_reads_is_no_empty_log(database: Database, path: Path) -> None:
    """As Litestream 0.5 does all the time: it is said that the log has its words."""
    secret, log = "a-word-to-be-erased", path.with_name(path.name + "-wal")
    await database.transaction(said(secret))
    with closing(sqlite3.connect(path, isolation_level=None)) as other:
        other.execute("BEGIN")
        other.execute("SELECT * FROM words").fetchall()
        await database.transaction(does("DELETE FROM words"))
        with pytest.raises(StoreInUse, match="another program reads"):
            await database.checkpoint()
        assert log.stat().st_size > 0
        other.execute("COMMIT")
    await database.checkpoint()
    assert log.stat().st_size == 0
    assert secret.encode() not in contents(path)[path.name]


async def test_closing_finishes_what_waits(database: Database, path: Path) -> None:
    """Units that wait when the database is closed are committed first; later ones fail at once."""
    waiting = [asyncio.create_task(database.transaction(said(word))) for word in "ab"]
    await asyncio.sleep(0)
    await database.aclose()
    assert await asyncio.gather(*waiting) == ["a", "b"]
    with closing(sqlite3.connect(path)) as connection:
        assert connection.execute("SELECT word FROM words").fetchall() == [("a",), ("b",)]
    with pytest.raises(StoreError, match="closed"):
        await database.transaction(said("late"))


class TestOpening:
    def assert_ended(self, before: set[threading.Thread]) -> None:
        for thread in set(threading.enumerate()) - before:
            thread.join(10)
            assert not thread.is_alive()

    async def test_one_that_is_cancelled_leaves_it_free(self, path: Path) -> None:
        """The lock is given back and the thread ends, so that the next one can open it."""
        before = set(threading.enumerate())
        opening = asyncio.create_task(Database.open(path))
        await asyncio.sleep(0)
        assert not opening.done()
        opening.cancel()
        with pytest.raises(asyncio.CancelledError):
            await opening
        self.assert_ended(before)
        await (await Database.open(path)).aclose()

    @pytest.mark.parametrize("place", ["data", "data/aldis.db", "data/aldis.db-lock", "data/aldis.db-keys"])
    async def test_a_place_that_cannot_be_used_is_named(self, path: Path, place: str) -> None:
        """A file where a folder must be, or a folder where a file must be: one error that names it."""
        wrong = path.parent.parent / place
        if place == "data":
            wrong.write_text("a file")
        else:
            wrong.mkdir(parents=True)
        before = set(threading.enumerate())
        with pytest.raises(StoreError, match=str(wrong)) as caught:
            await Database.open(path)
        assert type(caught.value) is StoreError
        self.assert_ended(before)


class Refusal(sqlite3.OperationalError):
    def __init__(self, name: str) -> None:
        super().__init__("SQLite's words about a word of a person")
        self.sqlite_errorname = name


def test_every_foreign_error_has_its_kind() -> None:
    """The table of translations: who must act is in the type; words of SQLite's that may quote a value are not."""
    errors: tuple[tuple[sqlite3.Error | OSError | UnicodeDecodeError, type[StoreError], str], ...] = (
        (Refusal("SQLITE_FULL"), StoreFull, "no room"),
        (Refusal("SQLITE_IOERR_SHMSIZE"), StoreFull, "no room"),
        (Refusal("SQLITE_CORRUPT"), Damaged, "damaged"),
        (sqlite3.OperationalError("no such module: fts5"), StoreError, "FTS5"),
        (Refusal("SQLITE_BUSY_SNAPSHOT"), StoreInUse, "locked"),
        (Refusal("SQLITE_READONLY_DIRECTORY"), StoreError, "check its disk"),
        (Refusal("SQLITE_IOERR_FSYNC"), StoreError, "(SQLITE_IOERR_FSYNC): check its disk"),
        (sqlite3.ProgrammingError("a word of a person"), StoreError, "ProgrammingError"),
        (sqlite3.OperationalError("Could not decode to UTF-8 column 'a', of a person"), Damaged, "damage"),
        (UnicodeDecodeError("utf-8", b"of a person\xe1", 11, 12, "invalid"), Damaged, "damage"),
        (OSError(errno.ENOSPC, "No space left on device", "/data/aldis.db"), StoreFull, "/data/aldis.db"),
        (PermissionError(errno.EACCES, "Permission denied", "/data/aldis.db"), StoreError, "Permission denied"),
        (OSError(errno.ENOLCK, "No locks available"), StoreError, "its folder"),
    )
    for error, kind, words in errors:
        translated = translate_error(error)
        assert type(translated) is kind, error
        assert words in str(translated)
        assert "of a person" not in str(translated)
