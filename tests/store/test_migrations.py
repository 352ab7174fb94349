"""The schema: a new file gets the newest, a newer one is refused, a step that fails leaves the one before it."""

import sqlite3
from collections.abc import Generator
from contextlib import closing
from datetime import UTC, datetime
from importlib.resources import files
from pathlib import Path

import pytest

from store import SchemaTooNew, StoreError, open_store
from store.migrations import migrate, newest
from store.upgrade import FORMER


@pytest.fixture
def connection() -> Generator[sqlite3.Connection]:
    """A database in memory, as the store opens one."""
    with closing(sqlite3.connect(":memory:", isolation_level=None)) as connection:
        connection.execute("PRAGMA foreign_keys = ON")
        yield connection


def version(connection: sqlite3.Connection) -> int:
    [number] = connection.execute("PRAGMA user_version").fetchone()
    return number


def tables(connection: sqlite3.Connection) -> set[str]:
    rows = connection.execute("SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite%'")
    return {name for (name,) in rows}


def test_a_new_file_gets_the_newest_schema(connection: sqlite3.Connection) -> None:
    """Every table is there, and the number says so."""
    assert version(connection) == 0
    migrate(connection)
    assert version(connection) == newest()
    assert tables(connection) == {
        *("conversations", "turns", "askers", "inbox", "journal", "history", "outbox", "ledger"),
        *("spent", "people", "pins", "attempts", "receipts", "listening", "chats", "unanswered", "rosters", "members"),
        *("reminders", "zones", "facts", "summaries", "predictions", "quotas"),
        *("feeds", "articles", "restored", "own_time", "accounts", "identities", "holds", "openings"),
        *("notices", "grants", "copies", "reactions", "tool_shapes", "lessons"),
    }


async def test_every_earlier_schema_is_brought_up_to_date(tmp_path: Path) -> None:
    """With what was kept in it: the first one, those around large changes, and the last one with MACs."""
    for number in (1, 4, 14, 15, 21, 28, 30, FORMER):
        path = tmp_path / f"{number}" / "aldis.db"
        path.parent.mkdir()
        with closing(sqlite3.connect(path, isolation_level=None)) as connection:
            migrate(connection, up_to=number)
            row = "(at, kind, name, outcome, latency_ms, cost_usd) VALUES (1, 'tool', 'x', 'ok', 1, '2')"
            connection.execute(f"INSERT INTO ledger {row}")
        async with open_store(path, realm="signal") as store:
            used = await store.read(lambda repos: repos.ledger.usage(since=datetime(1970, 1, 1, tzinfo=UTC)))
            assert await store.read(lambda repos: repos.inbox.value("PRAGMA user_version")) == newest()
        assert [(one.name, str(one.cost_usd)) for one in used] == [("x", "2")]


def test_a_schema_that_is_up_to_date_is_left_alone(connection: sqlite3.Connection) -> None:
    """The second time nothing is written."""
    migrate(connection)
    statements: list[str] = []
    connection.set_trace_callback(statements.append)
    migrate(connection)
    assert statements == ["PRAGMA main.user_version"]


def test_the_scripts_are_numbered_without_a_gap() -> None:
    """001, 002 ... one file each, none left out and none twice."""
    names = sorted(file.name for file in files("store").joinpath("schema").iterdir())
    assert [int(name.partition("_")[0]) for name in names] == list(range(1, newest() + 1))
    assert all(name.endswith(".sql") and name[3] == "_" for name in names)


def test_every_table_is_strict(connection: sqlite3.Connection) -> None:
    """A value of the wrong type is refused instead of being kept as whatever it is."""
    migrate(connection)
    strict = {
        name: strict for _, name, kind, _, _, strict in connection.execute("PRAGMA main.table_list") if kind == "table"
    }
    assert {name for name, is_strict in strict.items() if not is_strict} <= {"sqlite_schema", "sqlite_sequence"}
    with pytest.raises(sqlite3.IntegrityError, match="cannot store TEXT"):
        connection.execute("INSERT INTO conversations (realm, handle, created_at) VALUES ('signal', x'00', 'noon')")


def test_a_newer_schema_is_refused_by_name(connection: sqlite3.Connection) -> None:
    """The error names both numbers and says what to do; the number stays."""
    connection.execute(f"PRAGMA user_version = {newest() + 7}")
    with pytest.raises(SchemaTooNew, match=rf"schema {newest() + 7}.*up to {newest()}: start a newer one"):
        migrate(connection)
    assert version(connection) == newest() + 7
    assert tables(connection) == set()


async def test_a_newer_store_is_left_as_it_is(path: Path) -> None:
    """Not a byte of its files is changed, so that the newer Aldis still opens it."""
    async with open_store(path, realm="signal"):
        pass
    with closing(sqlite3.connect(path)) as connection:
        connection.execute(f"PRAGMA user_version = {newest() + 1}")

    def contents() -> dict[str, bytes]:
        return {file.name: file.read_bytes() for file in path.parent.iterdir()}

    before = contents()
    with pytest.raises(SchemaTooNew):
        async with open_store(path, realm="signal"):
            pass
    assert contents() == before


def test_a_step_that_fails_leaves_the_schema_before_it(connection: sqlite3.Connection) -> None:
    """Half a step is no schema: the number stays, the tables made until then are gone, no transaction is open."""
    connection.execute("CREATE TABLE ledger (something TEXT)")  # the step's last table stands in its way
    with pytest.raises(sqlite3.OperationalError, match="already exists"):
        migrate(connection)
    assert version(connection) == 0
    assert tables(connection) == {"ledger"}
    assert not connection.in_transaction
    connection.execute("DROP TABLE ledger")
    migrate(connection)
    assert version(connection) == newest()


def test_a_step_that_cannot_begin_is_told_as_such(tmp_path: Path) -> None:
    """Somebody else holds the file locked: that error comes through, not one of undoing what was not begun."""
    path = tmp_path / "aldis.db"
    with closing(sqlite3.connect(path, isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        second = sqlite3.connect(path, isolation_level=None, timeout=0)
        with closing(second), pytest.raises(sqlite3.OperationalError, match="locked"):
            migrate(second)


async def test_a_foreign_database_is_refused(path: Path) -> None:
    """Another program's file with tables of the same names is an error of the store, and its rows stay."""
    path.parent.mkdir()
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute("CREATE TABLE conversations (somebody TEXT)")
        connection.execute("INSERT INTO conversations VALUES ('else')")
    with pytest.raises(StoreError):
        async with open_store(path, realm="signal"):
            pass
    with closing(sqlite3.connect(path)) as connection:
        assert connection.execute("SELECT * FROM conversations").fetchall() == [("else",)]
        assert tables(connection) == {"conversations"}
