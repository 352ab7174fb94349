"""SQLite files as they are in the world: locked, broken, endless, hostile. None is ever written, none is waited for."""

import asyncio
import os
import shutil
import sqlite3
import threading
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from tests.tools.databases.samples import Asked, where
from tests.waiting import DEADLINE_SECONDS, eventually
from tools import BadArguments, Disabled, TimedOut, TooLarge, ToolError, Unavailable
from tools.databases import sqlite
from tools.databases.sqlite import Brake

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


def shop(path: Path, *columns: str, table: str = "t", **limits: Any) -> Asked:
    return Asked(f"sqlite://{path}", {table: columns or ("a",)}, **limits)


async def test_a_file_stays_as_it_is(path: Path) -> None:
    """Byte for byte, and no other file appears beside it."""
    before = contents(path.parent)
    asked = shop(path)
    await asked.describe()
    await asked.query("t", compute=["count"])
    assert contents(path.parent) == before


async def test_no_log_is_made_beside_a_file_that_rests(path: Path) -> None:
    """Its owner might not be able to write a log of Aldis's making; and it is read where nothing can be made."""
    made(path, "PRAGMA journal_mode = WAL")
    before = contents(path.parent)
    assert await shop(path).rows("t") == [[1], [2]]
    assert contents(path.parent) == before


def test_what_was_read_while_the_file_changed_is_not_told(path: Path) -> None:
    """A file that is read as it lies must lie still; beside a log that is there, everybody may write."""
    made(path, "PRAGMA journal_mode = WAL")
    databases = shop(path).databases
    database = databases.database(databases.access("shop"))
    assert isinstance(database, sqlite.Sqlite)

    def written(connection: sqlite3.Connection) -> list[tuple[int]]:
        made(path, "INSERT INTO t VALUES (3, 'z')")
        return connection.execute("SELECT a FROM t").fetchall()

    with pytest.raises(Unavailable, match="is writing"):
        database._worked(Brake(DEADLINE_SECONDS), written)
    with closing(sqlite3.connect(path)) as writer:
        assert writer.execute("SELECT count(*) FROM t").fetchone() == (3,)
        assert database._worked(Brake(DEADLINE_SECONDS), written) == [(1,), (2,), (3,), (3,)]


async def test_a_file_that_comes_later_is_found(tmp_path: Path) -> None:
    """Nothing is opened at the start, nothing is made, and nothing is kept open."""
    asked = shop(tmp_path / "later.db")
    with pytest.raises(Disabled, match="does not exist: the operator"):
        await asked.query("t")
    assert contents(tmp_path) == {}
    made(tmp_path / "later.db", "CREATE TABLE t (a); INSERT INTO t VALUES (7);")
    assert await asked.rows("t") == [[7]]


def a_pipe(path: Path) -> None:
    os.mkfifo(path)


def a_folder(path: Path) -> None:
    path.mkdir()


def a_link_to_nothing(path: Path) -> None:
    path.symlink_to(path.parent / "nothing")


def a_link_to_an_endless_file(path: Path) -> None:
    path.symlink_to("/dev/zero")


def a_text(path: Path) -> None:
    path.write_text("SECRET, and no database at all. " * 100)


def a_stump(path: Path) -> None:
    made(path, "CREATE TABLE t (a); INSERT INTO t VALUES (hex(zeroblob(40000)));")
    os.truncate(path, 5000)


def an_empty_file(path: Path) -> None:
    path.touch()


async def test_a_path_that_no_disk_has_is_told(tmp_path: Path) -> None:
    """As any other file that is not there."""
    with pytest.raises(Disabled, match="does not exist"):
        await shop(tmp_path / ("x" * 300)).query("t")


@pytest.mark.parametrize(
    "make", [a_pipe, a_folder, a_link_to_nothing, a_link_to_an_endless_file, a_text, a_stump, an_empty_file]
)
async def test_what_is_no_database_is_told(tmp_path: Path, make: Callable[[Path], None]) -> None:
    """At once, in words of our own; nothing of the file is in them."""
    make(tmp_path / "odd.db")
    with pytest.raises(ToolError) as caught:
        await shop(tmp_path / "odd.db").query("t")
    assert isinstance(caught.value, Disabled | Unavailable)
    assert "SECRET" not in str(caught.value)


async def test_a_link_is_followed(path: Path, tmp_path: Path) -> None:
    """The operator names the file; where a link of theirs leads is theirs, too. A name may need escapes."""
    link = tmp_path / "a b?#%.db"
    link.symlink_to(path)
    assert await shop(Path(str(tmp_path) + "/a%20b%3F%23%25.db")).rows("t") == [[1], [2]]


async def test_a_locked_database_is_told_and_works_again(path: Path) -> None:
    """Another program writes: that is for later, not for waiting."""
    with closing(sqlite3.connect(path, isolation_level=None)) as writer:
        writer.execute("BEGIN EXCLUSIVE")
        with pytest.raises((Unavailable, TimedOut)) as caught:
            await shop(path, timeout_seconds=0.4).query("t")
        assert "later" in str(caught.value) or "time" in str(caught.value)
        writer.execute("COMMIT")
    assert await shop(path).rows("t") == [[1], [2]]


async def test_a_database_that_is_being_written_is_read_beside_it(path: Path, tmp_path: Path) -> None:
    """With a write-ahead log, what is committed is seen and nothing else, by whichever name."""
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


@pytest.mark.parametrize(
    "arguments",
    [{"compute": ["count"]}, {"order_by": ["x desc"]}, {"where": where("x", "<", 0)}, {"group_by": ["x"]}],
)
async def test_what_never_ends_is_stopped(tmp_path: Path, arguments: dict[str, Any]) -> None:
    """By the database's own deadline, and the thread is gone with it."""
    path = made(tmp_path / "shop.db", f"CREATE VIEW endless AS {ENDLESS}; CREATE TABLE t (a);")
    with pytest.raises(TimedOut, match="ask for less"):
        await shop(path, "x", table="endless", timeout_seconds=0.2).query("endless", **arguments)
    await nobody_reads(path)


async def test_who_stops_waiting_stops_the_database(tmp_path: Path) -> None:
    """However long the question might have taken."""
    path = made(
        tmp_path / "shop.db", f"CREATE VIEW endless AS {ENDLESS} UNION ALL SELECT a FROM t; CREATE TABLE t (a);"
    )
    asked = shop(path, "x", table="endless", timeout_seconds=DEADLINE_SECONDS)
    question = asyncio.create_task(asked.query("endless", compute=["count"]))
    await somebody_reads(path)
    question.cancel()
    with pytest.raises(asyncio.CancelledError):
        await question
    await nobody_reads(path)


def test_the_deadline_holds_without_anybody_watching() -> None:
    """SQLite looks at it by itself, also when the loop is busy."""
    with closing(sqlite3.connect(":memory:")) as connection:
        Brake(0.05).attach(connection)
        with pytest.raises(sqlite3.OperationalError, match="interrupted"):
            connection.execute(f"SELECT count(*) FROM ({ENDLESS} LIMIT 3000000)").fetchall()


async def test_one_long_step_is_stopped_too() -> None:
    """Counting a whole table is a single step of SQLite's, which asks nobody; it is interrupted from outside."""
    brake = Brake(DEADLINE_SECONDS)
    with closing(sqlite3.connect(":memory:", check_same_thread=False)) as connection:
        brake.attach(connection)
        connection.set_progress_handler(None, 0)  # as if the step were one
        has_begun = threading.Event()

        def step(_value: int) -> int:
            has_begun.set()
            return 0

        connection.create_function("step", 1, step)
        sql = f"SELECT sum(step(x)) FROM ({ENDLESS} LIMIT 3000000)"
        work = asyncio.create_task(asyncio.to_thread(lambda: connection.execute(sql).fetchall()))
        await asyncio.to_thread(has_begun.wait)
        brake.pull()
        with pytest.raises(sqlite3.OperationalError, match="interrupted"):
            await work
    brake.pull()


async def test_questions_side_by_side_wait_for_each_other(path: Path) -> None:
    """A few threads at most, and all are answered."""
    asked = shop(path)
    assert await asyncio.gather(*(asked.rows("t") for _ in range(12))) == [[[1], [2]]] * 12


async def test_a_view_reads_what_it_is_made_of_and_shows_what_is_listed(tmp_path: Path) -> None:
    """The operator names it; other views are as closed as other tables, even those that it is made of."""
    path = made(
        tmp_path / "shop.db",
        """
        CREATE TABLE staff (name TEXT, salary REAL);
        INSERT INTO staff VALUES ('Ann', 5), ('Bo', 7);
        CREATE VIEW names AS SELECT upper(name) AS name, salary FROM staff;
        CREATE VIEW initials AS SELECT substr(name, 1, 1) AS initial FROM names;
        CREATE VIEW tree AS
          WITH RECURSIVE n (x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n WHERE x < 3) SELECT x FROM n;
        CREATE VIEW broken AS SELECT secret_column FROM staff;
        """,
    )
    tables = {"names": ["name"], "initials": ["initial"], "tree": ["x"], "broken": ["secret_column"]}
    asked = Asked(f"sqlite://{path}", tables)
    assert await asked.rows("names") == [["ANN"], ["BO"]]
    assert await asked.rows("initials", order_by=["initial desc"]) == [["B"], ["A"]]
    assert await asked.rows("tree", compute=["sum(x)"]) == [[6]]
    for table, column in (("names", "salary"), ("staff", "name")):
        with pytest.raises(BadArguments):
            await asked.query(table, columns=[column])
    with pytest.raises(Unavailable) as caught:
        await asked.query("broken")
    assert "secret" not in str(caught.value)
    described = (await asked.describe())["tables"]
    assert [table["table"] for table in described if "columns" in table] == ["names", "initials", "tree"]
    assert described[-1] == {"table": "broken", "problem": "The database could not answer this."}


async def test_a_table_that_the_file_does_not_have_is_the_operators_to_mend(path: Path) -> None:
    """Describing says so for the one table and goes on with the others; spelling follows SQLite, which has no case."""
    made(path, "CREATE VIRTUAL TABLE words USING fts5 (word);")
    asked = Asked(f"sqlite://{path}", {"T": ["A"], "gone": ["a"], "t": ["b", "gone"], "words": ["word"]})
    assert (await asked.describe())["tables"] == [
        {"table": "T", "columns": {"A": "any"}},
        {
            "table": "gone",
            "problem": "The operator's list has the table 'gone', but the database does not.",
        },
        {"table": "t", "problem": "The operator's list has t.gone, but the table has no such column."},
        {"table": "words", "problem": "The table 'words' is virtual and cannot be read here."},
    ]
    assert await asked.rows("T", order_by=["A desc"]) == [[2], [1]]
    for table in ("gone", "t", "words"):
        with pytest.raises(Disabled):
            await asked.query(table)


async def test_any_name_is_a_name(tmp_path: Path) -> None:
    """Quotes, brackets, keywords and SQL in a name of the operator's stay within the name."""
    table, column = 'we"ird]; DROP TABLE t; --', "select 'x' \"from\" `t`"
    path = tmp_path / "shop.db"
    with closing(sqlite3.connect(path)) as connection:
        connection.execute(
            f"CREATE TABLE {sqlite.quote_identifier(table)} ({sqlite.quote_identifier(column)} TEXT, [group] INT)"
        )
        connection.execute(f"INSERT INTO {sqlite.quote_identifier(table)} VALUES ('a', 1)")
        connection.commit()
    asked = Asked(f"sqlite://{path}", {table: [column, "group"]})
    assert await asked.rows(table, where=where(column, "starts_with", "A"), order_by=[f"{column} desc"]) == [["a", 1]]
    assert await asked.rows(table, group_by=["group"], compute=[f"max({column})"]) == [[1, "a"]]


async def test_texts_are_compared_by_their_characters_whatever_the_column_says(tmp_path: Path) -> None:
    """So that the same question means the same in every column, even in one whose own order is not there."""
    path = tmp_path / "shop.db"
    with closing(sqlite3.connect(path)) as connection:
        connection.create_collation("of_another_program", lambda one, other: (one > other) - (one < other))
        connection.execute("CREATE TABLE t (a TEXT COLLATE NOCASE, b TEXT COLLATE of_another_program)")
        connection.execute("INSERT INTO t VALUES ('x', 'x'), ('X', 'X')")
        connection.commit()
    asked = shop(path, "a", "b")
    for column in ("a", "b"):
        assert await asked.rows("t", columns=[column], where=where(column, "=", "x")) == [["x"]]
        assert await asked.rows("t", columns=[column], where=where(column, "in", ["X", "y"])) == [["X"]]
        assert await asked.rows("t", group_by=[column], compute=["count"], order_by=[column]) == [["X", 1], ["x", 1]]
        assert await asked.rows("t", compute=[f"min({column})", f"max({column})"]) == [["X", "x"]]


async def test_cells_are_cut_before_they_are_fetched(tmp_path: Path) -> None:
    """Millions of characters of a cell never become a Python text."""
    path = made(tmp_path / "shop.db", "CREATE TABLE t (a); INSERT INTO t VALUES (hex(zeroblob(1000000)));")
    assert (await shop(path).answer("t")).rows == (("0" * 301,),)


async def test_the_largest_question_that_can_be_asked_is_answered(tmp_path: Path) -> None:
    """As many columns, conditions and values as are let through, with the longest names: within SQLite's limits."""
    names = [f"{number:03d} " + "n" * 124 for number in range(100)]
    columns = ", ".join(f"{sqlite.quote_identifier(name)} TEXT" for name in names)
    path = made(tmp_path / "shop.db", f"CREATE TABLE t ({columns}); INSERT INTO t DEFAULT VALUES;")
    asked = Asked(f"sqlite://{path}", {"t": names})
    conditions = [{"column": name, "op": "in", "value": ["x" * 500] * 50} for name in names[:19]]
    [row] = await asked.rows("t", where=[*conditions, *where(names[99], "is_null")], match="any", order_by=names[:5])
    assert row == [None] * 100
    figures = [f"max({name})" for name in names[:10]]
    assert await asked.rows("t", where=conditions, group_by=names[:5], compute=figures, order_by=figures[:5]) == []


async def test_what_is_too_large_is_told(tmp_path: Path) -> None:
    """A text beyond all reason, a sum beyond 64 bits; bytes are measured, not read."""
    path = made(
        tmp_path / "shop.db",
        """
        CREATE TABLE t (a, b);
        INSERT INTO t VALUES (9223372036854775807, zeroblob(17000000)), (9223372036854775807, NULL);
        CREATE TABLE texts (a);
        INSERT INTO texts VALUES (CAST(zeroblob(17000000) AS TEXT));
        """,
    )
    asked = Asked(f"sqlite://{path}", {"t": ["a", "b"], "texts": ["a"]})
    assert await asked.rows("t", columns=["b"], limit=1) == [["[17000000 bytes]"]]
    with pytest.raises(TooLarge, match="average"):
        await asked.query("t", compute=["sum(a)"])
    with pytest.raises(TooLarge, match="other columns"):
        await asked.query("texts")


async def test_what_a_dead_program_left_half_written_is_told(path: Path, tmp_path: Path) -> None:
    """Taking it back takes writing, which is not Aldis's."""
    with closing(sqlite3.connect(path, isolation_level=None)) as writer:
        writer.execute("PRAGMA cache_size = 1")
        writer.execute("BEGIN")
        writer.executemany("INSERT INTO t VALUES (?, NULL)", [("x" * 3000,)] * 20)
        left = shutil.copytree(path.parent, tmp_path / "left")
    before = contents(left)
    assert len(before) == 2
    with pytest.raises(Unavailable, match="A program died while writing"):
        await shop(left / "shop.db").query("t")
    assert contents(left) == before


def test_a_disk_without_room_for_sorting_means_that_less_must_be_asked_for() -> None:
    """Temporary files have little room in a container."""
    with closing(sqlite3.connect(":memory:")) as connection:
        connection.execute("PRAGMA max_page_count = 1")
        with pytest.raises(sqlite3.OperationalError, match="full") as caught:
            connection.execute("CREATE TABLE t (a)")
    assert isinstance(sqlite._translated(caught.value), TooLarge)


def test_nothing_is_written_whatever_is_said(path: Path) -> None:
    """Read-only twice: by the way it is opened, and by a pragma."""
    brake = Brake(DEADLINE_SECONDS)
    databases = shop(path).databases
    database = databases.database(databases.access("shop"))
    assert isinstance(database, sqlite.Sqlite)
    with closing(database._open(brake, is_at_rest=False)) as connection:
        for statement in ("INSERT INTO t VALUES (3, 'z')", "DROP TABLE t", "ATTACH ':memory:' AS other"):
            with pytest.raises(sqlite3.OperationalError):
                connection.execute(statement)
        assert connection.execute("PRAGMA trusted_schema").fetchone() == (0,)
        assert connection.execute("PRAGMA query_only").fetchone() == (1,)
        connection.execute("PRAGMA query_only = OFF")
        with pytest.raises(sqlite3.OperationalError, match="readonly"):
            connection.execute("DELETE FROM t")


async def somebody_reads(path: Path) -> None:
    """Wait until a reader holds the file: nobody else can have it alone."""
    await eventually(lambda: not _is_free(path))


async def nobody_reads(path: Path) -> None:
    """Wait until the file can be had alone."""
    await eventually(lambda: _is_free(path))


def _is_free(path: Path) -> bool:
    with closing(sqlite3.connect(path, timeout=0, isolation_level=None)) as connection:
        try:
            connection.execute("BEGIN EXCLUSIVE")
        except sqlite3.OperationalError:
            return False
        return True
