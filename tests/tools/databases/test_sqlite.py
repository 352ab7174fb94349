"""SQLite files as they are in the world: locked, broken, endless, hostile. None is ever written, none is waited for."""

import os
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from tests.tools.databases.samples import Shop, where
from tests.waiting import eventually
from tools import BadArguments, Disabled, TimedOut, ToolError, Unavailable
from tools.databases.query import TableQuery, quote_identifier

ENDLESS = "WITH RECURSIVE n (x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n) SELECT x FROM n"


def made(path: Path, script: str) -> Path:
    with closing(sqlite3.connect(path)) as connection:
        connection.executescript(script)
    return path


def contents(folder: Path) -> dict[str, bytes]:
    return {file.name: file.read_bytes() for file in folder.iterdir()}


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return made(tmp_path / "shop.db", "CREATE TABLE t (a, b); INSERT INTO t VALUES (1, 'x'), (2, 'y');")


def shop(path: Path, *columns: str, table: str = "t", **limits: Any) -> Shop:
    return Shop(f"sqlite://{path}", {table: columns or ("a",)}, **limits)


async def test_a_file_stays_as_it_is(path: Path) -> None:
    """Byte for byte, and no file appears beside it, also where a write-ahead log is usual."""
    for _ in range(2):
        before = contents(path.parent)
        await shop(path).describe()
        assert await shop(path).rows("t") == [[1], [2]]
        assert contents(path.parent) == before
        made(path, "PRAGMA journal_mode = WAL")


async def test_what_is_no_database_is_told(tmp_path: Path) -> None:
    """At once, in words of our own; nothing of the file is in them."""
    folder, text, stump = (tmp_path / name for name in ("folder", "text", "stump"))
    folder.mkdir()
    text.write_text("SECRET, and no database at all. " * 100)
    made(stump, "CREATE TABLE t (a); INSERT INTO t VALUES (hex(zeroblob(40000)));")
    os.truncate(stump, 5000)
    for path in (folder, text, stump):
        with pytest.raises(ToolError) as caught:
            await shop(path).query("t")
        assert isinstance(caught.value, Disabled | Unavailable)
        assert "SECRET" not in str(caught.value)


async def test_a_database_that_another_program_writes_is_left_or_read(path: Path, tmp_path: Path) -> None:
    """A lock is for later, not for waiting; with a write-ahead log what is committed is seen, by any name."""
    with closing(sqlite3.connect(path, isolation_level=None)) as writer:
        writer.execute("BEGIN EXCLUSIVE")
        with pytest.raises((Unavailable, TimedOut)) as caught:
            await shop(path, timeout_seconds=0.4).query("t")
        assert "later" in str(caught.value) or "time" in str(caught.value)
        writer.execute("COMMIT")
    assert await shop(path).rows("t") == [[1], [2]]
    link = tmp_path / "link.db"
    link.symlink_to(path)
    with closing(sqlite3.connect(path, isolation_level=None)) as writer:
        writer.execute("PRAGMA journal_mode = WAL")
        writer.execute("BEGIN IMMEDIATE")
        writer.execute("INSERT INTO t VALUES (3, 'z')")
        asked = shop(path)
        assert await asked.rows("t") == [[1], [2]]
        writer.execute("COMMIT")
        assert await asked.rows("t") == await shop(link).rows("t") == [[1], [2], [3]]


async def test_what_never_ends_is_stopped(tmp_path: Path) -> None:
    """By the database's own deadline, and the thread is gone with it: the file can be had alone."""
    path = made(tmp_path / "shop.db", f"CREATE VIEW endless AS {ENDLESS}; CREATE TABLE t (a);")
    for arguments in ({"compute": ["count"]}, {"order_by": ["x desc"]}, {"where": where("x", "<", 0)}):
        with pytest.raises(TimedOut, match="ask for less"):
            await shop(path, "x", table="endless", timeout_seconds=0.2).query("endless", **arguments)
        await eventually(lambda: _is_free(path))


async def test_a_view_reads_what_it_is_made_of_and_shows_what_is_listed(tmp_path: Path) -> None:
    """The operator names it; other views are as closed as other tables, even those that it is made of."""
    path = made(
        tmp_path / "shop.db",
        """
        CREATE TABLE staff (name TEXT, salary REAL);
        INSERT INTO staff VALUES ('Ann', 5), ('Bo', 7);
        CREATE VIEW names AS SELECT upper(name) AS name, salary FROM staff;
        CREATE VIEW initials AS SELECT substr(name, 1, 1) AS initial FROM names;
        CREATE VIEW broken AS SELECT secret_column FROM staff;
        """,
    )
    tables = {"names": ["name"], "initials": ["initial"], "broken": ["secret_column"]}
    asked = Shop(f"sqlite://{path}", tables)
    assert await asked.rows("names") == [["ANN"], ["BO"]]
    assert await asked.rows("initials", order_by=["initial desc"]) == [["B"], ["A"]]
    for table, column in (("names", "salary"), ("staff", "name")):
        with pytest.raises(BadArguments):
            await asked.query(table, columns=[column])
    with pytest.raises(Disabled) as caught:
        await asked.query("broken")
    assert "secret" not in str(caught.value)


async def test_any_name_is_a_name(tmp_path: Path) -> None:
    """Quotes, brackets, keywords and SQL in a name of the operator's stay within the name."""
    table, column = 'we"ird]; DROP TABLE t; --', "select 'x' \"from\" `t`"
    path = tmp_path / "shop.db"
    with closing(sqlite3.connect(path)) as connection:
        connection.execute(f"CREATE TABLE {quote_identifier(table)} ({quote_identifier(column)} TEXT, [group] INT)")
        connection.execute(f"INSERT INTO {quote_identifier(table)} VALUES ('a', 1)")
        connection.commit()
    asked = Shop(f"sqlite://{path}", {table: [column, "group"]})
    assert await asked.rows(table, where=where(column, "starts_with", "A"), order_by=[f"{column} desc"]) == [["a", 1]]
    assert await asked.rows(table, group_by=["group"], compute=[f"max({column})"]) == [[1, "a"]]


async def test_cells_are_cut_before_they_are_fetched(tmp_path: Path) -> None:
    """Millions of characters of a cell never become a Python text; a text beyond all reason is told."""
    path = made(tmp_path / "other.db", "CREATE TABLE t (a); INSERT INTO t VALUES (hex(zeroblob(1000000)));")
    assert await shop(path).answer("t") == [("0" * 301,)]
    path = made(tmp_path / "shop.db", "CREATE TABLE t (a); INSERT INTO t VALUES (CAST(zeroblob(17000000) AS TEXT));")
    with pytest.raises(Unavailable, match="ask later, or for less"):
        await shop(path).query("t")


class Deletion(TableQuery):
    def sql(self, *_: object, **__: object) -> str:
        return "DELETE FROM t RETURNING a"


async def test_nothing_is_written_whatever_is_said(path: Path) -> None:
    """No question of a model can write; one that does meets a file that is open for reading only."""
    before = contents(path.parent)
    question = Deletion(table="t", shown={}, rest="", values=(), limit=1, offset=0)
    with pytest.raises(Unavailable):
        await shop(path).tool.database("shop").ask(question)
    assert contents(path.parent) == before


def _is_free(path: Path) -> bool:
    with closing(sqlite3.connect(path, timeout=0, isolation_level=None)) as connection:
        try:
            connection.execute("BEGIN EXCLUSIVE")
        except sqlite3.OperationalError:
            return False
        return True
