"""The step to schema 36, once for each store: rows that decide access are sealed. The one place that knows their MACs.

    schema 35 --> the rows whose MAC holds --> new tables, the same rows sealed: one transaction --> schema 36

A store that has never had MACs is taken as it is. The key file says whether it had, and only the master key can change
that: so nobody without it lets themselves in by pretending that their rows are older.
"""

import hmac
import sqlite3
from collections.abc import Iterator

from store.migrations import script
from store.sealing import Keyring

FORMER = 35

GENERATION_TABLE = (
    "CREATE TABLE IF NOT EXISTS keys.generation "
    "(id INTEGER PRIMARY KEY CHECK (id = 1), generation INTEGER NOT NULL, mac BLOB NOT NULL) STRICT"
)
"""What key files have had in them."""

_TABLES = {
    "people": ("person", "allowed_at", "allowed_by"),
    "pins": ("number", "person", "pinned_at", "refused_at"),
    "identities": ("person", "key", "noticed_at", "is_open", "is_verified", "told_at"),
    "grants": ("conversation_id", "person", "tool", "shape", "granted_at"),
    "tool_shapes": ("tool", "shape", "seen_at"),
}
"""The key columns of each table, then the others."""

_Value = int | str | bytes | None


def seal_access(connection: sqlite3.Connection, keyring: Keyring) -> None:
    """Brings a store of schema 35 to schema 36; does nothing to a later one.

    Raises:
        sqlite3.Error: it could not be written; nothing has changed.
    """
    [version] = connection.execute("PRAGMA main.user_version").fetchone()
    if version == FORMER:
        rows = list(_sealed(connection, keyring))
        try:
            connection.executescript(f"BEGIN IMMEDIATE; {script(FORMER + 1)}")
            for table, row in rows:
                connection.execute(f"INSERT INTO {table} VALUES ({', '.join('?' * len(row))})", row)  # noqa: S608
            connection.execute(f"PRAGMA main.user_version = {FORMER + 1}")
            connection.execute("COMMIT")
        except sqlite3.Error:
            if connection.in_transaction:
                connection.execute("ROLLBACK")
            raise
    if not keyring.is_guarded:
        keyring.note_guard()
    connection.execute("DROP TABLE IF EXISTS keys.generation")


def _sealed(connection: sqlite3.Connection, keyring: Keyring) -> Iterator[tuple[str, tuple[_Value, ...]]]:
    """Yields the rows that hold, as they are from now on."""
    # HKDF with SHA-256 and no salt. Source: RFC 5869, 2.2 and 2.3.
    key = hmac.digest(hmac.digest(bytes(32), keyring.index_key, "sha256"), b"aldis rows\x01", "sha256")
    for table, columns in _TABLES.items():
        count = 3 if table == "grants" else 1
        for mac, *values in connection.execute(f"SELECT mac, {', '.join(columns)} FROM {table}"):  # noqa: S608
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
