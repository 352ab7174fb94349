"""The schema: one SQL file in `store/schema`. SQLite's `user_version` holds its number.

A store of an earlier schema is carried over in one step, one transaction:

    tables ---------------------------> made anew, their rows copied, with what the columns have in common
    rows that decide access ----------> sealed, up to schema 35
    own time, which was even ---------> the last known time: the machine's clock counts as set since, if it differs
"""

import re
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from importlib.resources import files

from store.errors import SchemaTooNew
from store.sealing import Keyring

_SEALED = 36
"""The first schema whose rows that decide access are sealed."""

_DECIDING = {
    "people": ("person", "allowed_at", "allowed_by"),
    "pins": ("number", "person", "pinned_at", "refused_at"),
    "identities": ("person", "key", "noticed_at", "is_open", "is_verified", "told_at"),
    "grants": ("conversation_id", "person", "tool", "shape", "granted_at"),
}
"""The key columns of each table that decides access, then the others, as schemas up to 35 have them."""

_GONE = ("guard", "tool_shapes", "openings", "copies", "lessons", "own_time", "listening")
"""Tables of earlier schemas that nothing reads any more."""

_OWN_TIME = "INSERT INTO main.last_time SELECT id, boot, counted_ns, own_ns, own_ns FROM main.own_time"
"""Takes over what has become the last known time."""


def _newest() -> tuple[int, str]:
    [script] = files("store").joinpath("schema").iterdir()
    return int(script.name.partition("_")[0]), script.read_text("utf-8")


def newest() -> int:
    """Returns the number of the schema that this Aldis makes."""
    return _newest()[0]


def version_of(connection: sqlite3.Connection) -> int:
    """Returns the number of the file's schema; 0: the file is new."""
    return connection.execute("PRAGMA main.user_version").fetchone()[0]


def migrate(connection: sqlite3.Connection) -> None:
    """Makes the tables of a new store, in one transaction; does nothing to another.

    Raises:
        SchemaTooNew: a newer Aldis wrote this file.
    """
    version, (number, script) = version_of(connection), _newest()
    if version > number:
        raise SchemaTooNew(
            f"the store has schema {version}, this Aldis knows schemas up to {number}: start a newer one"
        )
    if version != 0:
        return
    try:
        connection.executescript(f"BEGIN IMMEDIATE; {script} PRAGMA main.user_version = {number}; COMMIT;")
    except sqlite3.Error:
        if connection.in_transaction:
            connection.execute("ROLLBACK")
        raise


def foreign_tables(connection: sqlite3.Connection) -> list[str]:
    """Returns the names of tables that another program has made in the file, such as Litestream (0.5.17, db.go)."""
    ours = {*re.findall(r"CREATE TABLE (\w+)", _newest()[1]), *_GONE}
    there = connection.execute("SELECT name FROM main.sqlite_master WHERE type = 'table' ORDER BY name")
    return [name for (name,) in there if name not in ours and not name.startswith(("sqlite_", "article_words"))]


def carry_over(connection: sqlite3.Connection, keyring: Keyring) -> None:
    """Brings a store of an earlier schema to the newest, in one transaction; does nothing to one of that."""
    version, (number, script) = version_of(connection), _newest()
    if version == number:
        return
    # Otherwise renaming a table renames it in what refers to it, and dropping it deletes what refers to its rows.
    connection.executescript("PRAGMA foreign_keys = OFF; PRAGMA legacy_alter_table = ON")
    try:
        connection.execute("BEGIN")
        with connection:
            _rebuild(connection, keyring, version, script)
            connection.execute(f"PRAGMA main.user_version = {number}")
    finally:
        connection.executescript("PRAGMA foreign_keys = ON; PRAGMA legacy_alter_table = OFF")


def _rebuild(connection: sqlite3.Connection, keyring: Keyring, version: int, script: str) -> None:
    sealed = list(_sealed(connection, keyring)) if version < _SEALED else []
    ids = connection.execute("SELECT name, seq FROM main.sqlite_sequence").fetchall()
    with closing(sqlite3.connect(":memory:")) as model:
        model.executescript(script)
        objects = model.execute(
            "SELECT type, name, sql FROM sqlite_master WHERE sql IS NOT NULL AND name <> 'sqlite_sequence'"
        ).fetchall()
    there = {name for (name,) in connection.execute("SELECT name FROM main.sqlite_master WHERE type = 'table'")}
    former = sorted(there & {name for kind, name, _ in objects if kind == "table"})
    indexes = "SELECT name FROM main.sqlite_master WHERE type = 'index' AND sql IS NOT NULL"
    for (name,) in connection.execute(indexes).fetchall():
        connection.execute(f"DROP INDEX main.{name}")
    for table in former:
        connection.execute(f"ALTER TABLE main.{table} RENAME TO former_{table}")
    for _, _, statement in sorted(objects, key=lambda each: each[0] == "index"):
        connection.execute(statement)
    for table in former:
        # Quotas had other columns; they begin anew.
        if version >= _SEALED or table not in {*_DECIDING, "quotas"}:
            columns = ", ".join(_columns(connection, table) & _columns(connection, f"former_{table}"))
            connection.execute(f"INSERT INTO main.{table} ({columns}) SELECT {columns} FROM main.former_{table}")  # noqa: S608
    _drop(connection, *(f"former_{table}" for table in former), *_GONE)
    for table, row in sealed:
        connection.execute(f"INSERT INTO main.{table} VALUES ({', '.join('?' * len(row))})", row)  # noqa: S608
    for table, last in ids:  # no number is used twice
        connection.execute("DELETE FROM main.sqlite_sequence WHERE name = ?", (table,))
        connection.execute("INSERT INTO main.sqlite_sequence (name, seq) VALUES (?, ?)", (table, last))


def _drop(connection: sqlite3.Connection, *tables: str) -> None:
    """Drops earlier tables, once what became of their columns is taken over."""
    if "own_ns" in _columns(connection, "own_time"):
        connection.execute(_OWN_TIME)
    for table in tables:
        connection.execute(f"DROP TABLE IF EXISTS main.{table}")


def _columns(connection: sqlite3.Connection, table: str) -> set[str]:
    return {name for (name,) in connection.execute("SELECT name FROM pragma_table_info(?, 'main')", (table,))}


def _sealed(connection: sqlite3.Connection, keyring: Keyring) -> Iterator[tuple[str, tuple[object, ...]]]:
    """Yields the rows that decide access, as they are from now on."""
    for table, columns in _DECIDING.items():
        if not _columns(connection, table):
            continue
        count = 3 if table == "grants" else 1
        for row in connection.execute(f"SELECT {', '.join(columns)} FROM main.{table}"):  # noqa: S608  (our own names)
            rest = [value.hex() if isinstance(value, bytes) else value for value in row[count:]]
            yield table, (*row[:count], keyring.seal_row(table, row[:count], rest))
