"""The guard: rows that decide access, trust and budgets are Aldis's own, or count for nothing.

Whoever can write the database and has no key could else let themselves in with one statement. Each of these rows
carries a MAC over its table, its key and what is in it; the sum of all MACs tells when a row was taken out, copied or
put back; and the key file knows how often the store was opened, which tells when the whole database is an older one.

    INSERT, UPDATE, DELETE by Aldis --triggers of its connection alone--> the row's MAC, the sum
    SELECT --views of its connection alone--> true_<table>: rows that hold; forged_<table>: keys of those that do not

An update of a forged row leaves it forged; where a decision makes a new row, the forged one is deleted first. What a
missing row would allow, a forged one forbids: that is for whoever asks. Triggers and views within the file would run
with Aldis's keys, so there may be none: those that are there at the start are taken out, and what would run one that
came later fails.

    opened --> first time: all rows are taken as they are, and the key file notes it, in what the master key seals
           '-> looked through: what is forged, missing or older is named --> generation + 1: database, then key file

The database is first, so that a crash in between leaves it ahead of the key file, which means nothing.
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
"""The key and the other columns of each table; a column that a migration adds belongs in here."""

_WHAT = {
    "people": "who was let in",
    "pins": "whose a number is",
    "identities": "whose safety number is trusted",
    "spent": "what was spent",
    "grants": "which tools were allowed for good",
    "quotas": "what services gave",
    "tool_shapes": "what tools of servers are",
}
_VIEWS = frozenset(f"{kind}_{table}" for kind in ("true", "forged") for table in _TABLES)
_LOOKING = frozenset({sqlite3.SQLITE_SELECT, sqlite3.SQLITE_READ, sqlite3.SQLITE_FUNCTION})
_MAC_BYTES = 32
_WRONG = b"\xff" * _MAC_BYTES
"""The sum of no MACs: it stands where the rows are others than they were, so that this is named until it is decided."""
_MODULUS = 1 << (8 * _MAC_BYTES)
_MAX_KNOWN_MACS = 256
"""A row's MAC is wanted again when it is looked at, and when it is changed: one over these values is made once."""

_KIND_NAMES = {kind: kind.__name__.encode() for kind in (str, int, float, bytes, type(None))}

GENERATION_TABLE = (
    "CREATE TABLE IF NOT EXISTS keys.generation "
    "(id INTEGER PRIMARY KEY CHECK (id = 1), generation INTEGER NOT NULL, mac BLOB NOT NULL) STRICT"
)

Value = int | str | bytes | None


@dataclass(frozen=True, kw_only=True, slots=True)
class Tampering:
    """What was done to the database behind Aldis's back, as far as it was seen."""

    forged: Mapping[str, int] = field(default_factory=dict[str, int])
    """How many rows of a table do not hold."""
    is_incomplete: bool = False
    """Whether rows were taken out, copied or put back."""
    is_older: bool = False
    """Whether the database is older than its key file."""
    intruders: int = 0
    """How many triggers and views were in the file; they are gone."""

    @property
    def sentences(self) -> tuple[str, ...]:
        """For whoever runs Aldis; none: nothing was done."""
        told = [
            f"{count} {'row' if count == 1 else 'rows'} on {_WHAT[table]} not written by Aldis"
            for table, count in sorted(self.forged.items())
        ]
        if self.is_incomplete:
            told.append("rows on access, trust or budgets, or all of it, were taken out or put back, and not by Aldis")
        if self.is_older:
            told.append("the database is older than its key file: somebody has put an older copy in its place")
        if self.intruders:
            told.append(f"{self.intruders} statements that the database would have run by itself were taken out")
        return tuple(told)


class Guard:
    """Keeps the guarded tables of an open store. All methods run on the store's thread."""

    def __init__(self, keyring: Keyring) -> None:
        self._keyring = keyring
        self._connection = keyring.connection
        self._key = keyring.derive(b"aldis rows")
        self._mac = lru_cache(_MAX_KNOWN_MACS, typed=True)(self._make_mac)
        self._suffix = secrets.token_hex(8)
        """Behind the names of what makes MACs: no schema, index or trigger in the file can call it."""
        self._found = Tampering()
        self._seen: set[tuple[str, bytes]] = set()
        """Forged rows that were asked for, by a digest of each."""

    def open(self) -> None:
        """Look the tables through and keep them from here on.

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
        """What was found when the store was opened, and in rows that were asked for since."""
        forged = dict(self._found.forged)
        for table in _TABLES:
            seen = sum(name == table for name, _ in self._seen)
            if seen > forged.get(table, 0):
                forged[table] = seen
        return replace(self._found, forged=forged)

    def reseal(self) -> Tampering:
        """Delete what is forged and take the rest as it is; gives what was found before.

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
        """Take all rows as they are: the schema had no MACs until now, or there are none yet."""
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
        """One generation more, in the database and then in the key file."""
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
        """That of the key file; None: it knows of none, or somebody wrote it."""
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
        """Make what keeps the rows; it belongs to this connection, and stands in no file."""
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
        """Nothing within the files acts by itself: `by` is the trigger or view that wants to."""
        if by is None or by.endswith(self._suffix) or (by in _VIEWS and action in _LOOKING):
            return sqlite3.SQLITE_OK
        return sqlite3.SQLITE_DENY

    def _row_holds(self, table: str, mac: Value, *values: Value) -> int:
        holds = self._equal(mac, self._mac(table, *values))
        if not holds:
            self._seen.add((table, self._mac(table, mac, *values)))
        return int(holds)

    def _row_mac_again(self, table: str, mac: Value, *values: Value) -> bytes | None:
        """The MAC of a row that was changed: of the second half of the values, if the first half holds."""
        half = len(values) // 2
        return self._mac(table, *values[half:]) if self._equal(mac, self._mac(table, *values[:half])) else None

    def _guard_mac_again(self, generation: int, digest: Value, mac: Value, new_digest: Value) -> bytes | None:
        return self._mac("guard", generation, new_digest) if self._guard_holds(generation, digest, mac) else None

    def _guard_holds(self, generation: Value, digest: Value, mac: Value) -> bool:
        return self._equal(mac, self._mac("guard", generation, digest))

    def _equal(self, mac: Value, expected: bytes) -> bool:
        return isinstance(mac, bytes) and hmac.compare_digest(mac, expected)

    def _make_mac(self, *values: Value) -> bytes:
        """Over the values, each with its kind and length, so that none can pass for another."""
        return hmac.digest(self._key, b"".join(map(_encode, values)), "sha256")


def _encode(value: Value | float) -> bytes:
    kind = type(value)
    body = value if isinstance(value, bytes) else str(value).encode("utf-8", "surrogatepass")
    return b"%b%d:%b" % (_KIND_NAMES.get(kind) or kind.__name__.encode(), len(body), body)


def _move_digest(digest: Value, minus: Value, plus: Value) -> bytes:
    """The sum without the one MAC and with the other; what is no MAC counts for nothing."""
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
