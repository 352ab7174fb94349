"""The schema: one SQL file in `store/schema`. SQLite's `user_version` holds its number.

A store of an earlier schema is carried over in one transaction: its tables are made anew, and the rows copied with what
the columns have in common. Up to schema 35, the rows that decide access are sealed meanwhile.
"""

import re
import sqlite3
from collections.abc import Iterator
from importlib.resources import files

from store.errors import SchemaTooNew
from store.sealing import Keyring

[_FILE] = files("store").joinpath("schema").iterdir()
SCRIPT = _FILE.read_text("utf-8")
NEWEST = int(_FILE.name.partition("_")[0])
"""The number of the schema that this Aldis makes, by `SCRIPT`."""

_SEALED = 36
"""The first schema whose rows that decide access are sealed."""

_DECIDING = {
    "people": ("person", "allowed_at", "allowed_by"),
    "pins": ("number", "person", "pinned_at", "refused_at"),
    "identities": ("person", "key", "noticed_at", "is_open"),
    "grants": ("conversation_id", "person", "tool", "shape", "granted_at"),
}
"""The key columns of each table that decides access, then the others, as schemas up to 35 have them."""

_GONE = ("guard", "tool_shapes", "openings", "copies", "lessons", "own_time", "spent", "listening")
"""Tables of earlier schemas that nothing reads any more."""


def version_of(connection: sqlite3.Connection) -> int:
    """Returns the number of the file's schema; 0: the file is new. Raises `SchemaTooNew` if a newer Aldis wrote it."""
    version = connection.execute("PRAGMA main.user_version").fetchone()[0]
    if version > NEWEST:
        raise SchemaTooNew(f"schema {version} is newer than {NEWEST}, all that this Aldis knows: start a newer one")
    return version


def migrate(connection: sqlite3.Connection) -> None:
    """Makes the tables of a new store, in one transaction; does nothing to another, but raises `SchemaTooNew`."""
    if version_of(connection) == 0:
        with connection:
            _make_tables(connection)


def _make_tables(connection: sqlite3.Connection, *before: str) -> None:
    """Begins a transaction, runs statements `before`, and makes all tables; what began is left open."""
    connection.executescript(";".join(("BEGIN IMMEDIATE", *before, SCRIPT, f"PRAGMA main.user_version = {NEWEST}")))


def foreign_tables(connection: sqlite3.Connection) -> list[str]:
    """Returns the names of tables that another program has made in the file, such as Litestream (0.5.17, db.go)."""
    ours = _tables()
    there = connection.execute("SELECT name FROM main.sqlite_master WHERE type = 'table' ORDER BY name")
    return [name for (name,) in there if name not in ours and not name.startswith(("sqlite_", "article_words"))]


def _tables() -> list[str]:
    return re.findall(r"CREATE TABLE (\w+)", SCRIPT)


def carry_over(connection: sqlite3.Connection, keyring: Keyring) -> None:
    """Brings a store of an earlier schema to the newest, in one transaction; does nothing to one of that."""
    if version_of(connection) == NEWEST:
        return
    # Otherwise renaming a table renames it in what refers to it, and dropping it deletes what refers to its rows.
    connection.executescript("PRAGMA foreign_keys = OFF; PRAGMA legacy_alter_table = ON")
    try:
        with connection:
            _rebuild(connection, keyring)
    finally:
        connection.executescript("PRAGMA foreign_keys = ON; PRAGMA legacy_alter_table = OFF")


def _rebuild(connection: sqlite3.Connection, keyring: Keyring) -> None:
    is_sealed = version_of(connection) >= _SEALED
    ids = connection.execute("SELECT name, seq FROM main.sqlite_sequence").fetchall()
    former = [table for table in _tables() if _columns(connection, table)]
    on_tables = "SELECT type, name FROM main.sqlite_master WHERE type IN ('index', 'trigger') AND sql IS NOT NULL"
    _make_tables(
        connection,
        *(f"DROP {kind} main.{name}" for kind, name in connection.execute(on_tables).fetchall()),
        "DROP TABLE IF EXISTS main.article_words",  # the copied articles fill the new one
        *(f"ALTER TABLE main.{table} RENAME TO former_{table}" for table in former),
    )
    for table in former:
        if not is_sealed and table in _DECIDING:
            for row in _sealed_rows(connection, keyring, table):
                connection.execute(f"INSERT INTO main.{table} VALUES ({', '.join('?' * len(row))})", row)  # noqa: S608
        elif is_sealed or table != "quotas":  # quotas had other columns; they begin anew
            columns = ", ".join(_columns(connection, table) & _columns(connection, f"former_{table}"))
            connection.execute(f"INSERT INTO main.{table} ({columns}) SELECT {columns} FROM main.former_{table}")  # noqa: S608
    if _columns(connection, "own_time"):
        last_time = "SELECT id, boot, counted_ns, own_ns, own_ns FROM main.own_time"
        connection.execute(f"INSERT INTO main.last_time {last_time}")
    for table in (*(f"former_{table}" for table in former), *_GONE):
        connection.execute(f"DROP TABLE IF EXISTS main.{table}")
    for table, last in ids:  # no number is used twice
        connection.execute("DELETE FROM main.sqlite_sequence WHERE name = ?", (table,))
        connection.execute("INSERT INTO main.sqlite_sequence (name, seq) VALUES (?, ?)", (table, last))


def _columns(connection: sqlite3.Connection, table: str) -> set[str]:
    return {name for (name,) in connection.execute("SELECT name FROM pragma_table_info(?, 'main')", (table,))}


def _sealed_rows(connection: sqlite3.Connection, keyring: Keyring, table: str) -> Iterator[tuple[object, ...]]:
    """Yields the rows of a table that decides access, as they are from now on."""
    columns = _DECIDING[table]
    count = 3 if table == "grants" else 1
    for row in connection.execute(f"SELECT {', '.join(columns)} FROM main.former_{table}"):  # noqa: S608  (our own names)
        rest = [value.hex() if isinstance(value, bytes) else value for value in row[count:]]
        yield (*row[:count], keyring.seal_row(table, row[:count], rest))
