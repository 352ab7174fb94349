"""The guard: rows that decide access, trust and budgets count only if Aldis wrote them.

Otherwise anybody who can write the database, but has no key, could let themselves in with one statement. Each guarded
row has a MAC over its table, its key and its values. The sum of all MACs shows when a row was deleted, copied or put
back. The key file counts how often the store was opened, which shows when the whole database is an older one.

    INSERT, UPDATE, DELETE by Aldis --triggers of its connection alone--> the row's MAC, the sum
    SELECT --views of its connection alone--> true_<table>: rows that hold; forged_<table>: keys of those that do not

An update of a forged row leaves it forged; a decision that makes a new row deletes the forged one first. Callers have
to forbid for a forged row what they would allow for a missing one. Triggers and views in the file would run with
Aldis's keys, so they are removed at the start, and a statement that would run a later one fails.

    open --> first time: accept all rows as they are; note that in the key file, sealed with the master key
         '-> check: report what is forged, missing or older --> generation + 1: database, then key file

The database comes first, so that a crash in between leaves it ahead of the key file, which is harmless.
"""

import hmac
import secrets
import sqlite3
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import lru_cache

from store.migrations import drop_all
from store.restored import mark
from store.sealing import Keyring, own_transaction

_TABLES: Mapping[str, tuple[tuple[str, ...], tuple[str, ...]]] = {
    "people": (("person",), ("allowed_at", "allowed_by")),
    "pins": (("number",), ("person", "pinned_at", "refused_at")),
    "identities": (("person",), ("key", "noticed_at", "is_open", "is_verified", "told_at")),
    "spent": (
        ("scope", "period"),
        ("cost_usd", "calls", "unknown_costs", "input_tokens", "output_tokens", "warned"),
    ),
    "grants": (("conversation_id", "person", "tool"), ("shape", "granted_at")),
    "quotas": (("service",), ("period", "used")),
    "tool_shapes": (("tool",), ("shape", "seen_at")),
}
"""The key columns and the other columns of each table. Columns that a migration adds belong here."""

_WHAT = {
    "people": "who was let in",
    "pins": "which account a number belongs to",
    "identities": "whose safety number is trusted",
    "spent": "what was spent",
    "grants": "which tools were allowed for good",
    "quotas": "the quotas of services",
    "tool_shapes": "the tools of MCP servers",
}
_VIEWS = frozenset(f"{kind}_{table}" for kind in ("true", "forged") for table in _TABLES)
_LOOKING = frozenset({sqlite3.SQLITE_SELECT, sqlite3.SQLITE_READ, sqlite3.SQLITE_FUNCTION})
_MAC_BYTES = 32
_WRONG = b"\xff" * _MAC_BYTES
"""A sum that no MACs have. It is kept after rows have changed, so that this is reported until somebody decides."""
_MODULUS = 1 << (8 * _MAC_BYTES)
_MAX_KNOWN_MACS = 256
"""How many MACs are cached: a row's is needed again when the row is read and when it changes."""

_KIND_NAMES = {kind: kind.__name__.encode() for kind in (str, int, float, bytes, type(None))}

GENERATION_TABLE = (
    "CREATE TABLE IF NOT EXISTS keys.generation "
    "(id INTEGER PRIMARY KEY CHECK (id = 1), generation INTEGER NOT NULL, mac BLOB NOT NULL) STRICT"
)

Value = int | str | bytes | None


@dataclass(frozen=True, kw_only=True, slots=True)
class Tampering:
    """Changes to the database that Aldis did not make, as far as they were detected."""

    forged: Mapping[str, int] = field(default_factory=dict[str, int])
    """The number of forged rows by table."""
    is_incomplete: bool = False
    """Whether rows were deleted, copied or put back."""
    is_older: bool = False
    """Whether the database is older than its key file."""
    intruders: int = 0
    """How many triggers and views were removed from the file."""

    @property
    def sentences(self) -> tuple[str, ...]:
        """Sentences for the operator; empty if nothing was detected."""
        told = [
            f"{count} {'row' if count == 1 else 'rows'} about {_WHAT[table]} not written by Aldis"
            for table, count in sorted(self.forged.items())
        ]
        if self.is_incomplete:
            told.append(
                "rows about access, trust or budgets, or all of them, were removed or put back, and not by Aldis"
            )
        if self.is_older:
            told.append("the database is older than its key file: somebody has put an older copy in its place")
        if self.intruders:
            what = "statement" if self.intruders == 1 else "statements"
            was = "was" if self.intruders == 1 else "were"
            told.append(f"{self.intruders} {what} that the database would have run by itself {was} removed")
        return tuple(told)


class Guard:
    """Guards the tables of an open store. All methods run on the store's thread."""

    def __init__(self, keyring: Keyring) -> None:
        self._keyring = keyring
        self._connection = keyring.connection
        self._key = keyring.derive(b"aldis rows")
        self._mac = lru_cache(_MAX_KNOWN_MACS, typed=True)(self._make_mac)
        self._suffix = secrets.token_hex(8)
        """Suffix of the functions that make MACs: nothing in the file can know it and call them."""
        self._found = Tampering()
        self._seen: set[tuple[str, bytes]] = set()
        """Digests of the forged rows that queries met."""

    def open(self) -> None:
        """Checks the tables and guards them from here on.

        Raises:
            sqlite3.Error: the files cannot be read or written.
        """
        self._connection.execute(GENERATION_TABLE)
        intruders = drop_all(self._connection, "trigger", "view")  # the schema has neither
        self._install()
        kept = self._kept_generation()
        [own] = self._connection.execute("SELECT count(*) FROM main.guard").fetchone()
        if kept is None and not own and not self._keyring.is_guarded:
            self._begin()
        else:
            self._found = self._look(kept or 0, intruders)
            if self._found.is_older and not self._connection.execute("SELECT 1 FROM main.restored").fetchone():
                mark(self._connection)
        self._advance()
        if not self._keyring.is_guarded:
            self._keyring.note_guard()

    def tampering(self) -> Tampering:
        """Returns what was found when the store was opened, and in rows that were read since."""
        forged = dict(self._found.forged)
        for table in _TABLES:
            seen = sum(name == table for name, _ in self._seen)
            if seen > forged.get(table, 0):
                forged[table] = seen
        return replace(self._found, forged=forged)

    def reseal(self) -> Tampering:
        """Deletes forged rows and accepts the others as they are; returns what was found before.

        Raises:
            sqlite3.Error: it could not be written; nothing has changed.
        """
        before = self.tampering()
        with own_transaction(self._connection):
            for table in _TABLES:
                self._connection.execute(f"DELETE FROM {table} WHERE NOT {_holds(table, self._suffix)}")  # noqa: S608
            self._write(self._newest_generation(), self._sum())
        self._found, self._seen = Tampering(), set()
        return before

    def _begin(self) -> None:
        """Accepts all rows as they are: the schema had no MACs until now, or there are no rows yet."""
        with own_transaction(self._connection):
            for table, (key, more) in _TABLES.items():
                mac = f"row_mac_{self._suffix}('{table}', {_list((*key, *more))})"
                self._connection.execute(f"UPDATE {table} SET mac = {mac}")  # noqa: S608  (our own names)
            self._write(0, self._sum())

    def _look(self, kept: int, intruders: int) -> Tampering:
        counts = dict[str, int]()
        for table in _TABLES:
            query = f"SELECT count(*) FROM {table} WHERE NOT {_holds(table, self._suffix)}"  # noqa: S608
            [counts[table]] = self._connection.execute(query).fetchone()
        self._seen.clear()  # they were counted
        forged = {table: count for table, count in counts.items() if count}
        row = self._connection.execute("SELECT generation, digest, mac FROM main.guard").fetchone()
        if row is None or not self._guard_holds(*row):
            return Tampering(forged=forged, is_incomplete=True, is_older=row is None, intruders=intruders)
        generation, digest, _ = row
        is_incomplete = digest != self._sum()
        return Tampering(forged=forged, is_incomplete=is_incomplete, is_older=generation < kept, intruders=intruders)

    def _advance(self) -> None:
        """Counts the generation up, in the database and then in the key file."""
        row = self._connection.execute("SELECT generation, digest, mac FROM main.guard").fetchone()
        generation = self._newest_generation() + 1
        if row is None or self._guard_holds(*row):
            with own_transaction(self._connection):
                self._write(generation, _WRONG if row is None or self._found.is_older else row[1])
        with own_transaction(self._connection):
            self._connection.execute(
                "INSERT INTO keys.generation (id, generation, mac) VALUES (1, ?1, ?2) "
                "ON CONFLICT (id) DO UPDATE SET generation = ?1, mac = ?2",
                (generation, self._mac("key file", generation)),
            )

    def _kept_generation(self) -> int | None:
        """Returns the generation in the key file; None if there is none, or it is forged."""
        row = self._connection.execute("SELECT generation, mac FROM keys.generation").fetchone()
        return row[0] if row and self._equal(row[1], self._mac("key file", row[0])) else None

    def _newest_generation(self) -> int:
        row = self._connection.execute("SELECT generation, digest, mac FROM main.guard").fetchone()
        own = row[0] if row and self._guard_holds(*row) else 0
        return max(own, self._kept_generation() or 0)

    def _write(self, generation: int, digest: bytes) -> None:
        self._connection.execute(
            "INSERT INTO main.guard (id, generation, digest, mac) VALUES (1, ?1, ?2, ?3) "
            "ON CONFLICT (id) DO UPDATE SET generation = ?1, digest = ?2, mac = ?3",
            (generation, digest, self._mac("guard", generation, digest)),
        )

    def _sum(self) -> bytes:
        digest = bytes(_MAC_BYTES)
        for table in _TABLES:
            for (mac,) in self._connection.execute(f"SELECT mac FROM {table}"):  # noqa: S608
                digest = _move_digest(digest, None, mac)
        return digest

    def _install(self) -> None:
        """Creates the functions, views and triggers that guard the rows; they belong to this connection only."""
        functions: Mapping[str, Callable[..., Value]] = {
            "row_mac": self._mac,
            "row_holds": self._row_holds,
            "row_mac_again": self._row_mac_again,
            "digest_moved": _move_digest,
            "guard_mac_again": self._guard_mac_again,
        }
        for name, function in functions.items():
            self._connection.create_function(f"{name}_{self._suffix}", -1, function, deterministic=True)
        for table in _TABLES:
            self._connection.executescript(_script(table, self._suffix))
        self._connection.set_authorizer(self._authorize)

    def _authorize(self, action: int, _what: str | None, _more: str | None, _file: str | None, by: str | None) -> int:
        """Denies everything that a trigger or view of the file (`by`) would do."""
        if by is None or by.endswith(self._suffix) or (by in _VIEWS and action in _LOOKING):
            return sqlite3.SQLITE_OK
        return sqlite3.SQLITE_DENY

    def _row_holds(self, table: str, mac: Value, *values: Value) -> int:
        holds = self._equal(mac, self._mac(table, *values))
        if not holds:
            self._seen.add((table, self._mac(table, mac, *values)))
        return int(holds)

    def _row_mac_again(self, table: str, mac: Value, *values: Value) -> bytes | None:
        """Returns the MAC of a changed row: that of the second half of the values, if the first half holds."""
        half = len(values) // 2
        return self._mac(table, *values[half:]) if self._equal(mac, self._mac(table, *values[:half])) else None

    def _guard_mac_again(self, generation: int, digest: Value, mac: Value, new_digest: Value) -> bytes | None:
        return self._mac("guard", generation, new_digest) if self._guard_holds(generation, digest, mac) else None

    def _guard_holds(self, generation: Value, digest: Value, mac: Value) -> bool:
        return self._equal(mac, self._mac("guard", generation, digest))

    def _equal(self, mac: Value, expected: bytes) -> bool:
        return isinstance(mac, bytes) and hmac.compare_digest(mac, expected)

    def _make_mac(self, *values: Value) -> bytes:
        """Returns the MAC over the values, each with its type and length, so that none can pass for another."""
        return hmac.digest(self._key, b"".join(map(_encode, values)), "sha256")


def _encode(value: Value | float) -> bytes:
    kind = type(value)
    body = value if isinstance(value, bytes) else str(value).encode("utf-8", "surrogatepass")
    return b"%b%d:%b" % (_KIND_NAMES.get(kind) or kind.__name__.encode(), len(body), body)


def _move_digest(digest: Value, minus: Value, plus: Value) -> bytes:
    """Returns the sum without one MAC and with the other; a value that is no MAC counts as zero."""
    total = _number(digest) - _number(minus) + _number(plus)
    return (total % _MODULUS).to_bytes(_MAC_BYTES, "big")


def _number(mac: Value) -> int:
    return int.from_bytes(mac, "big") if isinstance(mac, bytes) and len(mac) == _MAC_BYTES else 0


def _list(columns: Iterable[str], row: str = "") -> str:
    return ", ".join(f"{row}{column}" for column in columns)


def _holds(table: str, suffix: str) -> str:
    key, more = _TABLES[table]
    return f"row_holds_{suffix}('{table}', mac, {_list((*key, *more))})"


def _script(table: str, suffix: str) -> str:
    key, more = _TABLES[table]
    columns, holds = (*key, *more), _holds(table, suffix)
    this = " AND ".join(f"{column} = NEW.{column}" for column in key)
    mac = f"(SELECT mac FROM {table} WHERE {this})"  # noqa: S608  (our own names)
    fresh = f"row_mac_{suffix}('{table}', {_list(columns, 'NEW.')})"
    again = f"row_mac_again_{suffix}('{table}', OLD.mac, {_list(columns, 'OLD.')}, {_list(columns, 'NEW.')})"
    return f"""
        CREATE TEMP VIEW true_{table} AS SELECT {_list(columns)} FROM main.{table} WHERE {holds};
        CREATE TEMP VIEW forged_{table} AS SELECT {_list(key)} FROM main.{table} WHERE NOT {holds};
        CREATE TEMP TRIGGER {table}_insert_{suffix} AFTER INSERT ON main.{table} BEGIN
            UPDATE {table} SET mac = {fresh} WHERE {this};
            {_count("NULL", mac, suffix)}
        END;
        CREATE TEMP TRIGGER {table}_update_{suffix} AFTER UPDATE OF {_list(columns)} ON main.{table} BEGIN
            UPDATE {table} SET mac = {again} WHERE {this};
            {_count("OLD.mac", mac, suffix)}
        END;
        CREATE TEMP TRIGGER {table}_delete_{suffix} AFTER DELETE ON main.{table} BEGIN
            {_count("OLD.mac", "NULL", suffix)}
        END;
    """  # noqa: S608


def _count(minus: str, plus: str, suffix: str) -> str:
    moved = f"digest_moved_{suffix}(digest, {minus}, {plus})"
    mac = f"guard_mac_again_{suffix}(generation, digest, mac, {moved})"
    return f"UPDATE guard SET mac = {mac}, digest = {moved};"  # noqa: S608
