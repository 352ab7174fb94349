"""The schema: SQL files in `store/schema`, the whole of schema 37 and numbered steps after it. SQLite's `user_version`
holds the number of the last one.

A store of schemas 1 to 36 is carried over to schema 37 in one step, one transaction:

    tables ---------------------------> made anew, their rows copied, with what the columns have in common
    rows that decide access ----------> sealed, up to schema 35; where they have MACs, those whose MAC holds
"""

import hmac
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from importlib.resources import files

from store.errors import SchemaTooNew
from store.sealing import Keyring, own_transaction

_BASE = 37
"""The schema that stands in one file."""

_SEALED = 36
"""The first schema whose rows that decide access are sealed."""

_DECIDING = {
    "people": ("person", "allowed_at", "allowed_by"),
    "pins": ("number", "person", "pinned_at", "refused_at"),
    "identities": ("person", "key", "noticed_at", "is_open", "is_verified", "told_at"),
    "grants": ("conversation_id", "person", "tool", "shape", "granted_at"),
}
"""The key columns of each table that decides access, then the others, as schemas up to 35 have them."""

_ATTEMPTS_KEPT = 5
"""The first schema with the single attempts at a send."""

_QUOTAS_BY_PERIOD = 28
"""The first schema whose counts of services are taken over."""

_GONE = ("guard", "tool_shapes", "openings")
"""Tables of earlier schemas that nothing reads any more."""

_Value = int | str | bytes | None


def _scripts() -> list[tuple[int, str]]:
    folder = files("store").joinpath("schema")
    scripts = [(int(file.name.partition("_")[0]), file.read_text("utf-8")) for file in folder.iterdir()]
    return sorted(scripts)


def newest() -> int:
    """Returns the number of the newest schema this Aldis knows."""
    return _scripts()[-1][0]


def version_of(connection: sqlite3.Connection) -> int:
    """Returns the number of the file's schema; 0: the file is new, no migration has ever run in it."""
    return connection.execute("PRAGMA main.user_version").fetchone()[0]


def migrate(connection: sqlite3.Connection) -> None:
    """Brings a new store or one of schema 37 or later up to date, in one transaction; does nothing to an earlier one.

    Raises:
        SchemaTooNew: a newer Aldis wrote this file; nothing has changed.
        sqlite3.Error: a migration failed; nothing has changed.
    """
    version, scripts = version_of(connection), _scripts()
    [*_, (last, _)] = scripts
    if version > last:
        raise SchemaTooNew(f"the store has schema {version}, this Aldis knows schemas up to {last}: start a newer one")
    missing = "\n".join(script for number, script in scripts if number > version)
    if not missing or 0 < version < _BASE:
        return
    try:
        connection.executescript(f"BEGIN IMMEDIATE; {missing} PRAGMA main.user_version = {last}; COMMIT;")
    except sqlite3.Error:
        if connection.in_transaction:
            connection.execute("ROLLBACK")
        raise


def carry_over(connection: sqlite3.Connection, keyring: Keyring) -> None:
    """Brings a store of an earlier schema than 37 to the newest; does nothing to a later one.

    Raises:
        sqlite3.Error: it could not be written; the schema is the earlier one or 37.
    """
    version = version_of(connection)
    if version >= _BASE:
        return
    # Otherwise renaming a table renames it in what refers to it, and dropping it deletes what refers to its rows.
    connection.executescript("PRAGMA foreign_keys = OFF; PRAGMA legacy_alter_table = ON")
    try:
        with own_transaction(connection):
            _rebuild(connection, keyring, version)
    finally:
        connection.executescript("PRAGMA foreign_keys = ON; PRAGMA legacy_alter_table = OFF")
    migrate(connection)


def _rebuild(connection: sqlite3.Connection, keyring: Keyring, version: int) -> None:
    sealed = list(_sealed(connection, keyring)) if version < _SEALED else []
    ids = connection.execute("SELECT name, seq FROM main.sqlite_sequence").fetchall()
    with closing(sqlite3.connect(":memory:")) as model:
        model.executescript(dict(_scripts())[_BASE])
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
        if version >= _SEALED or (table not in _DECIDING and (table != "quotas" or version >= _QUOTAS_BY_PERIOD)):
            columns = ", ".join(_columns(connection, table) & _columns(connection, f"former_{table}"))
            connection.execute(f"INSERT INTO main.{table} ({columns}) SELECT {columns} FROM main.former_{table}")  # noqa: S608
        connection.execute(f"DROP TABLE main.former_{table}")
    for table in _GONE:
        connection.execute(f"DROP TABLE IF EXISTS main.{table}")
    if version < _ATTEMPTS_KEPT:
        connection.execute(
            "INSERT INTO main.attempts (outbox_id, begun_at, sent_at) SELECT id, coalesce(attempted_at, due_at), "
            "sent_at FROM main.outbox WHERE state IN ('sending', 'unknown', 'sent')"
        )
    for table, row in sealed:
        connection.execute(f"INSERT INTO main.{table} VALUES ({', '.join('?' * len(row))})", row)  # noqa: S608
    for table, last in ids:  # no number is used twice
        connection.execute("DELETE FROM main.sqlite_sequence WHERE name = ?", (table,))
        connection.execute("INSERT INTO main.sqlite_sequence (name, seq) VALUES (?, ?)", (table, last))
    connection.execute(f"PRAGMA main.user_version = {_BASE}")


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
            if keyring.has_macs and not (isinstance(mac, bytes) and hmac.compare_digest(mac, expected)):
                continue
            names = tuple(values[:count])
            rest = [value.hex() if isinstance(value, bytes) else value for value in values[count:]]
            yield table, (*names, keyring.seal_row(table, names, rest))


def _encode(value: _Value) -> bytes:
    """Returns a value with its type and length, as it entered a MAC."""
    body = value if isinstance(value, bytes) else str(value).encode("utf-8", "surrogatepass")
    return b"%b%d:%b" % (type(value).__name__.encode(), len(body), body)
