"""The one step from schemas 1 to 35 to schema 36. The one place that knows what earlier versions wrote.

    tables that are as they were -----> stay
    tables with other columns --------> made anew, their rows copied, with what the columns have in common
    rows that decide access ----------> sealed, those whose MAC holds; all of them in a store that has never had MACs

All of it is one transaction. The key file says whether a store has had MACs, and only the master key can change that:
so no one without it gets in by pretending that their rows are older.
"""

import hmac
import sqlite3
from collections.abc import Iterator
from contextlib import closing

from store.migrations import BASE, build, definitions
from store.sealing import Keyring, own_transaction

GENERATION_TABLE = (
    "CREATE TABLE IF NOT EXISTS keys.generation "
    "(id INTEGER PRIMARY KEY CHECK (id = 1), generation INTEGER NOT NULL, mac BLOB NOT NULL) STRICT"
)
"""What key files have had in them."""

FORMER_TABLES = frozenset({"guard"})
"""Tables that are no more."""

_DECIDING = {
    "people": ("person", "allowed_at", "allowed_by"),
    "pins": ("number", "person", "pinned_at", "refused_at"),
    "identities": ("person", "key", "noticed_at", "is_open", "is_verified", "told_at"),
    "grants": ("conversation_id", "person", "tool", "shape", "granted_at"),
    "tool_shapes": ("tool", "shape", "seen_at"),
}
"""The key columns of each table that decides access, then the others."""

_ATTEMPTS_KEPT = 5
"""The first schema with the single attempts at a send."""

_QUOTAS_BY_PERIOD = 28
"""The first schema whose counts of services are taken over."""

_Value = int | str | bytes | None


def carry_over(connection: sqlite3.Connection, keyring: Keyring) -> None:
    """Brings an earlier store to schema 36; does nothing to a later one.

    Raises:
        sqlite3.Error: it could not be written; nothing has changed.
    """
    [version] = connection.execute("PRAGMA main.user_version").fetchone()
    if version < BASE:
        # Otherwise renaming a table renames it in what refers to it, and dropping it deletes what refers to its rows.
        connection.executescript("PRAGMA foreign_keys = OFF; PRAGMA legacy_alter_table = ON")
        try:
            with own_transaction(connection):
                _rebuild(connection, keyring, version)
        finally:
            connection.executescript("PRAGMA foreign_keys = ON; PRAGMA legacy_alter_table = OFF")
    if not keyring.is_guarded:
        keyring.note_guard()
    connection.execute("DROP TABLE IF EXISTS keys.generation")


def _rebuild(connection: sqlite3.Connection, keyring: Keyring, version: int) -> None:
    sealed = list(_sealed(connection, keyring))
    ids = connection.execute("SELECT name, seq FROM main.sqlite_sequence").fetchall()
    with closing(sqlite3.connect(":memory:")) as model:
        build(model, BASE)
        objects = model.execute("SELECT type, name, sql FROM sqlite_master WHERE sql IS NOT NULL").fetchall()
        changed = _changed(definitions(connection, "main"), definitions(model, "main"))
    indexes = "SELECT name, tbl_name FROM main.sqlite_master WHERE type = 'index' AND sql IS NOT NULL"
    for name, table in connection.execute(indexes).fetchall():
        if table in changed:
            connection.execute(f"DROP INDEX main.{name}")
    for table in changed:
        connection.execute(f"ALTER TABLE main.{table} RENAME TO former_{table}")
    _create(connection, [one for one in objects if one[0] == "table"])
    for table in changed - _DECIDING.keys():
        if table != "quotas" or version >= _QUOTAS_BY_PERIOD:
            columns = ", ".join(_columns(connection, table) & _columns(connection, f"former_{table}"))
            connection.execute(f"INSERT INTO main.{table} ({columns}) SELECT {columns} FROM main.former_{table}")  # noqa: S608
    if version < _ATTEMPTS_KEPT:
        connection.execute(
            "INSERT INTO main.attempts (outbox_id, begun_at, sent_at) SELECT id, coalesce(attempted_at, due_at), "
            "sent_at FROM main.outbox WHERE state IN ('sending', 'unknown', 'sent')"
        )
    for table, row in sealed:
        connection.execute(f"INSERT INTO main.{table} VALUES ({', '.join('?' * len(row))})", row)  # noqa: S608
    for table in (*(f"former_{table}" for table in changed), *FORMER_TABLES):
        connection.execute(f"DROP TABLE IF EXISTS main.{table}")
    _create(connection, objects)
    for table, last in ids:  # no number is used twice
        connection.execute("DELETE FROM main.sqlite_sequence WHERE name = ?", (table,))
        connection.execute("INSERT INTO main.sqlite_sequence (name, seq) VALUES (?, ?)", (table, last))
    connection.execute(f"PRAGMA main.user_version = {BASE}")


def _changed(former: set[tuple[str, str]], newer: set[tuple[str, str]]) -> set[str]:
    """Returns the tables that are defined otherwise now."""
    tables = {name for name, statement in newer if statement.startswith("CREATE TABLE")}
    return {name for name, _ in former - newer if name in tables}


def _create(connection: sqlite3.Connection, objects: list[tuple[str, str, str]]) -> None:
    """Creates those of these tables and indexes that are not there."""
    there = {name for (name,) in connection.execute("SELECT name FROM main.sqlite_master")}
    for _, name, statement in objects:
        if name not in there and not name.startswith("sqlite_"):
            connection.execute(statement)


def _columns(connection: sqlite3.Connection, table: str) -> set[str]:
    return {name for (name,) in connection.execute("SELECT name FROM pragma_table_info(?, 'main')", (table,))}


def _sealed(connection: sqlite3.Connection, keyring: Keyring) -> Iterator[tuple[str, tuple[_Value, ...]]]:
    """Yields the rows that decide access, as they are from now on."""
    # HKDF with SHA-256 and no salt. Source: RFC 5869, 2.2 and 2.3.
    key = hmac.digest(hmac.digest(bytes(32), keyring.index_key, "sha256"), b"aldis rows\x01", "sha256")
    for table, columns in _DECIDING.items():
        there = _columns(connection, table)
        if not there:
            continue
        count = 3 if table == "grants" else 1
        mac_column = "mac" if "mac" in there else "NULL"
        query = f"SELECT {mac_column}, {', '.join(columns)} FROM main.{table}"  # noqa: S608  (our own names)
        for mac, *values in connection.execute(query):
            expected = hmac.digest(key, b"".join(map(_encode, (table, *values))), "sha256")
            if keyring.is_guarded and not (isinstance(mac, bytes) and hmac.compare_digest(mac, expected)):
                continue
            names = tuple(values[:count])
            rest = [value.hex() if isinstance(value, bytes) else value for value in values[count:]]
            yield table, (*names, keyring.seal_row(table, names, rest))


def _encode(value: _Value) -> bytes:
    """Returns a value with its type and length, as it entered a MAC."""
    body = value if isinstance(value, bytes) else str(value).encode("utf-8", "surrogatepass")
    return b"%b%d:%b" % (type(value).__name__.encode(), len(body), body)
