"""The database: many units share a commit, each is kept whole or not at all, and every failure says who must act."""

import asyncio
import sqlite3
import threading
from collections.abc import AsyncGenerator, Callable
from contextlib import closing
from pathlib import Path

import pytest

from store.database import Database
from store.errors import StoreError, StoreInUse
from tests.store.places import content, keys_of
from tests.waiting import WAIT_SECONDS

Work = Callable[[sqlite3.Connection], object]


class Oops(Exception):
    """What a unit of work raises by itself."""


@pytest.fixture
async def database(path: Path) -> AsyncGenerator[Database]:
    """An open database with a table of words."""
    database = await Database.open(path, keys_of(path))
    await database.transaction(lambda connection: execute(connection, "CREATE TABLE words (word TEXT UNIQUE) STRICT"))
    yield database
    await database.aclose()


def execute(connection: sqlite3.Connection, statement: str) -> None:
    connection.execute(statement)


def said(word: str) -> Work:
    """The work of keeping a word; it gives the word."""

    def work(connection: sqlite3.Connection) -> str:
        connection.execute("INSERT INTO words (word) VALUES (?)", (word,))
        return word

    return work


def failing(word: str, error: BaseException) -> Work:
    """The work of keeping a word and then failing."""

    def work(connection: sqlite3.Connection) -> None:
        connection.execute("INSERT INTO words (word) VALUES (?)", (word,))
        raise error

    return work


async def words(database: Database) -> list[str]:
    rows = await database.alone(
        lambda connection: connection.execute("SELECT word FROM words ORDER BY rowid").fetchall()
    )
    return [word for (word,) in rows]


async def pragma(database: Database, name: str) -> object:
    [value] = await database.alone(lambda connection: connection.execute(f"PRAGMA {name}").fetchone())
    return value


async def outcomes(database: Database, *works: Work) -> list[object]:
    """What came of units that waited together: results and exceptions, in order."""
    return await asyncio.gather(*map(database.transaction, works), return_exceptions=True)


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
    assert await outcomes(database, failing("alone", oops)) == [oops]
    assert await outcomes(database, said("before"), failing("gone", oops), said("after")) == ["before", oops, "after"]
    assert await words(database) == ["before", "after"]


async def test_a_commit_that_fails_fails_every_unit_in_it(database: Database) -> None:
    """Nothing of it is kept and everybody is told; what failed by itself before keeps its own error."""
    await database.transaction(
        lambda connection: execute(
            connection,
            "CREATE TABLE tied (word TEXT REFERENCES words (word) DEFERRABLE INITIALLY DEFERRED) STRICT",
        )
    )
    oops = Oops()
    loose = "INSERT INTO tied (word) VALUES ('nowhere')"
    first, second, third = await outcomes(
        database, said("word"), failing("other", oops), lambda connection: execute(connection, loose)
    )
    assert [type(first), type(third)] == [StoreError, StoreError]
    assert ("(SQLITE_CONSTRAINT_FOREIGNKEY)" in str(first), second) == (True, oops)
    assert await words(database) == []
    assert await database.transaction(said("word")) == "word"


async def test_a_unit_that_hides_a_full_disk_takes_nobody_in(database: Database) -> None:
    """A unit that catches the error and goes on has not kept anything, and is told so, whatever it gives or raises."""
    pages = await pragma(database, "main.page_count")
    await pragma(database, f"main.max_page_count = {pages}")

    def hiding(raised: Exception | None) -> Work:
        def work(connection: sqlite3.Connection) -> None:
            try:
                said("x" * 100_000)(connection)
            except sqlite3.OperationalError as error:
                if raised is not None:
                    raise raised from error

        return work

    for raised in (None, Oops()):
        first, hidden = await outcomes(database, said("small"), hiding(raised))
        assert isinstance(first, StoreError)
        assert isinstance(hidden, Oops if raised else StoreError)
        [alone] = await outcomes(database, hiding(raised))
        assert isinstance(alone, Oops if raised else StoreError)
    assert await words(database) == []


async def test_reading_waits_for_no_later_commit(database: Database) -> None:
    """A read goes before the units that wait for the next commit, however long the present one takes."""
    order: list[str] = []
    begun, free = asyncio.Event(), threading.Event()
    loop = asyncio.get_running_loop()

    def long(connection: sqlite3.Connection) -> None:
        loop.call_soon_threadsafe(begun.set)
        assert free.wait(WAIT_SECONDS)
        order.append("long")

    async with asyncio.TaskGroup() as group:
        group.create_task(database.transaction(long))
        await begun.wait()
        group.create_task(database.transaction(lambda _: order.append("next")))
        group.create_task(database.alone(lambda _: order.append("read")))
        loop.call_soon(free.set)
    assert order == ["long", "read", "next"]


async def test_the_work_of_a_cancelled_caller_happens_whole_or_not_at_all(database: Database) -> None:
    """A caller that goes away while its work runs leaves it whole, and `kept` is called; the others do not notice."""
    begun, free = asyncio.Event(), threading.Event()
    loop = asyncio.get_running_loop()
    kept: list[str] = []

    def half(connection: sqlite3.Connection) -> str:
        said("one")(connection)
        loop.call_soon_threadsafe(begun.set)
        assert free.wait(WAIT_SECONDS)
        said("two")(connection)
        return "whole"

    leaving = asyncio.create_task(database.transaction(half, kept=kept.append))
    await begun.wait()
    staying = asyncio.create_task(database.transaction(said("three"), kept=lambda word: kept.append(str(word))))
    leaving.cancel()
    with pytest.raises(asyncio.CancelledError):
        await leaving
    free.set()
    assert await staying == "three"
    assert await words(database) == ["one", "two", "three"]
    assert kept == ["whole", "three"]


async def test_a_second_opener_is_refused(database: Database, path: Path) -> None:
    """Two connections could corrupt the file, so the second is refused by name; after closing it may open."""
    with pytest.raises(StoreInUse, match=str(path)):
        await Database.open(path, keys_of(path))
    assert await database.transaction(said("still fine")) == "still fine"
    await database.aclose()
    again = await Database.open(path, keys_of(path))
    assert await words(again) == ["still fine"]
    await again.aclose()


async def test_the_connection_is_as_durable_and_tidy_as_it_says(database: Database) -> None:
    """Every pragma that the promises rest on is really on: FULL and EXTRA, and no temporary file with words."""
    wanted: dict[str, object] = {
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
    assert {name: await pragma(database, name) for name in wanted} == wanted


async def test_a_log_that_another_program_reads_is_no_empty_log(database: Database, path: Path) -> None:
    """As Litestream 0.5 does all the time: it is said that the log has its words."""
    secret = "a-word-to-be-erased"
    await database.transaction(said(secret))
    with closing(sqlite3.connect(path, isolation_level=None)) as other:
        other.execute("BEGIN")
        other.execute("SELECT * FROM words").fetchall()
        await database.transaction(lambda connection: execute(connection, "DELETE FROM words"))
        with pytest.raises(StoreInUse, match="another program reads"):
            await database.checkpoint()
        assert path.with_name(path.name + "-wal").stat().st_size > 0
        other.execute("COMMIT")
    await database.checkpoint()
    assert path.with_name(path.name + "-wal").stat().st_size == 0
    assert secret.encode() not in content(path)


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
