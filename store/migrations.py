"""Numbered SQL files that bring any older store to the present schema. The number is in SQLite's `user_version`."""

import re
import sqlite3
from collections.abc import Generator
from contextlib import contextmanager
from importlib.resources import files
from itertools import takewhile

from store.errors import SchemaTooNew

_STATISTICS = {
    ("sqlite_stat1", "CREATETABLEsqlite_stat1(tbl,idx,stat)"),
    ("sqlite_stat4", "CREATETABLEsqlite_stat4(tbl,idx,neq,nlt,ndlt,sample)"),
}
"""What `ANALYZE` makes. Source: sqlite.org/fileformat2.html, 2.6 (2026-11-24)."""


def _scripts() -> list[tuple[int, str]]:
    folder = files("store").joinpath("schema")
    scripts = [(int(file.name.partition("_")[0]), file.read_text("utf-8")) for file in folder.iterdir()]
    return sorted(scripts)


def newest() -> int:
    """The number of the newest schema this Aldis knows."""
    return _scripts()[-1][0]


def steps_after(version: int) -> tuple[tuple[int, str], ...]:
    """Returns each later step: its number, and the first sentence of what it is for."""
    return tuple((number, _purpose(script)) for number, script in _scripts() if number > version)


def _purpose(script: str) -> str:
    lines = takewhile(lambda line: line.startswith("--"), script.splitlines())
    return " ".join(line.removeprefix("--").strip() for line in lines).partition(". ")[0].rstrip(".")


def has_no_schema(connection: sqlite3.Connection) -> bool:
    """Whether nothing was ever written into this file."""
    return connection.execute("PRAGMA main.user_version").fetchone()[0] == 0


def build(connection: sqlite3.Connection, version: int) -> None:
    """Makes the tables of that schema in an empty file."""
    connection.executescript("".join(script for number, script in _scripts() if number <= version))


def definitions(connection: sqlite3.Connection, schema: str) -> set[tuple[str, str]]:
    """Name and statement of each table and index of a file, without what a version of SQLite may write in another way.

    Two files with the same ones have SQLite compute the same while it checks them and writes into them (constraints,
    indexes on expressions, generated columns); triggers and views are another matter (`without_triggers`).
    """
    query = f"SELECT name, sql FROM {schema}.sqlite_master WHERE type IN ('table', 'index')"  # noqa: S608  (our own names)
    return {(name, re.sub(r"[\s\"`]", "", sql or "")) for name, sql in connection.execute(query)} - _STATISTICS


@contextmanager
def without_triggers(connection: sqlite3.Connection) -> Generator[None]:
    """Within it nothing in the file runs by itself: the schema has no trigger, so whatever there is somebody else has
    put in. Afterwards it is there again, for whoever looks the file through and says so (`store.guard`).
    """
    found = connection.execute("SELECT * FROM main.sqlite_master WHERE type = 'trigger'").fetchall()
    drop_all(connection, "trigger")
    try:
        yield
    finally:
        tables = {name for (name,) in connection.execute("SELECT name FROM main.sqlite_master")}
        with _writable_schema(connection):
            query = "INSERT INTO main.sqlite_master (type, name, tbl_name, rootpage, sql) VALUES (?, ?, ?, ?, ?)"
            connection.executemany(query, [row for row in found if row[2] in tables])


def drop_all(connection: sqlite3.Connection, *kinds: str) -> int:
    """Takes all triggers or views out of the file; returns how many there were."""
    with _writable_schema(connection):
        query = "DELETE FROM main.sqlite_master WHERE type = ?"
        return sum(connection.execute(query, (kind,)).rowcount for kind in kinds)


@contextmanager
def _writable_schema(connection: sqlite3.Connection) -> Generator[None]:
    """Within it the schema is a table like any other, in one transaction: `CREATE` and `DROP` look through all of it
    each, which took 31 s for 20,000 triggers (measured).
    """
    connection.execute("PRAGMA writable_schema = ON")
    connection.execute("SAVEPOINT schema")
    try:
        yield
    finally:
        connection.execute("RELEASE schema")
        connection.execute("PRAGMA writable_schema = RESET")


def migrate(connection: sqlite3.Connection) -> None:
    """Bring the schema up to date, whole or not at all: all missing steps are one transaction.

    Raises:
        SchemaTooNew: a newer Aldis wrote this file; nothing is touched.
        sqlite3.Error: a step failed; the schema is the one from before.
    """
    version = connection.execute("PRAGMA main.user_version").fetchone()[0]
    scripts = _scripts()
    [*_, (last, _)] = scripts
    if version > last:
        raise SchemaTooNew(f"the store has schema {version}, this Aldis knows schemas up to {last}: start a newer one")
    missing = "\n".join(script for number, script in scripts if number > version)
    if not missing:
        return
    try:
        with without_triggers(connection):
            connection.executescript(f"BEGIN IMMEDIATE; {missing} PRAGMA main.user_version = {last}; COMMIT;")
    except sqlite3.Error:
        if connection.in_transaction:
            connection.execute("ROLLBACK")
        raise
