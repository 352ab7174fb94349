"""Stores as earlier Aldis made them, empty: today's tables without what came later, with what was there then."""

import re
import sqlite3
from collections.abc import Generator
from contextlib import closing, contextmanager
from pathlib import Path

import store
from store.sealing import Keyring, unlock
from tests.store.places import keys_of, master_of

NEWEST_UNSEALED = 35
"""The last schema whose rows that decide access are not sealed."""

_ONE_ROW = "id INTEGER PRIMARY KEY CHECK (id = 1)"
_TOKENS = ("input_tokens", "output_tokens")

CHANGES = (
    (1, 41, "DROP TABLE watches"),
    *((1, 40, f"DROP TRIGGER articles_{what}") for what in ("come", "go", "change")),
    (1, 40, "DROP TABLE article_words"),
    (15, 40, "ALTER TABLE restored ADD COLUMN restored_at INTEGER"),
    (4, 40, "CREATE TABLE spent (scope BLOB, period TEXT, cost_usd TEXT, unknown_costs INTEGER)"),
    (23, 40, "ALTER TABLE turns ADD COLUMN reached INTEGER NOT NULL DEFAULT 0"),
    (6, 40, "CREATE TABLE listening (realm TEXT PRIMARY KEY, until INTEGER NOT NULL)"),
    (16, 40, "ALTER TABLE attempts ADD COLUMN open_until INTEGER"),
    *((39, 40, f"ALTER TABLE {table} ADD COLUMN set_back_ms INTEGER") for table in ("attempts", "reactions")),
    (1, 39, "ALTER TABLE ledger ADD COLUMN latency_ms INTEGER NOT NULL DEFAULT 0"),
    (1, 39, "ALTER TABLE ledger ADD COLUMN cached_input_tokens INTEGER NOT NULL DEFAULT 0"),
    *((4, 39, f"ALTER TABLE spent ADD COLUMN {name} INTEGER DEFAULT 0") for name in ("calls", *_TOKENS)),
    (15, 39, "ALTER TABLE restored ADD COLUMN copied_at INTEGER"),
    (35, 39, "ALTER TABLE inbox ADD COLUMN final INTEGER NOT NULL DEFAULT 0"),
    (1, 38, "ALTER TABLE ledger ADD COLUMN details BLOB"),
    (1, 38, "DROP TABLE last_time"),
    (17, 38, f"CREATE TABLE own_time ({_ONE_ROW}, boot TEXT, counted_ns INTEGER, wall_ns INTEGER, own_ns INTEGER)"),
    (39, 40, "ALTER TABLE reminders ADD COLUMN is_delay INTEGER NOT NULL DEFAULT 0"),
    (12, 40, "ALTER TABLE feeds ADD COLUMN failures INTEGER NOT NULL DEFAULT 0"),
    (12, 40, "ALTER TABLE feeds ADD COLUMN digest BLOB"),
    (17, 38, "ALTER TABLE reminders ADD COLUMN set_back_ms INTEGER"),
    (4, 38, "ALTER TABLE spent ADD COLUMN warned INTEGER NOT NULL DEFAULT 0"),
    (19, 38, "ALTER TABLE attempts ADD COLUMN ahead_ms INTEGER NOT NULL DEFAULT 0"),
    (19, 38, "ALTER TABLE receipts ADD COLUMN ahead_ms INTEGER NOT NULL DEFAULT 0"),
    (27, 38, "ALTER TABLE reactions ADD COLUMN ahead_ms INTEGER NOT NULL DEFAULT 0"),
    (36, 38, "CREATE TABLE tool_shapes (tool TEXT PRIMARY KEY, sealed BLOB NOT NULL)"),
    (36, 38, f"CREATE TABLE openings ({_ONE_ROW}, count INTEGER NOT NULL)"),
    *((1, 35, f"DROP TABLE {table}") for table in ("people", "pins", "identities", "grants")),
    (3, 35, "CREATE TABLE people (person BLOB PRIMARY KEY, allowed_at INTEGER, allowed_by BLOB)"),
    (3, 35, "CREATE TABLE pins (number BLOB PRIMARY KEY, person BLOB, pinned_at INTEGER, refused_at INTEGER)"),
    (18, 35, "CREATE TABLE identities (person BLOB PRIMARY KEY, key BLOB, noticed_at INTEGER, is_open INTEGER)"),
    (18, 35, "ALTER TABLE identities ADD COLUMN is_verified INTEGER NOT NULL DEFAULT 0"),
    (18, 35, "ALTER TABLE identities ADD COLUMN told_at INTEGER"),
    (25, 35, "CREATE TABLE grants (conversation_id INTEGER, person BLOB, tool TEXT, shape TEXT, granted_at INTEGER)"),
    (25, 35, "ALTER TABLE grants ADD COLUMN mac BLOB"),
    *((21, 35, f"ALTER TABLE {table} ADD COLUMN mac BLOB") for table in ("people", "pins", "identities", "spent")),
    (21, 35, f"CREATE TABLE guard ({_ONE_ROW}, generation INTEGER, digest BLOB, mac BLOB)"),
    (26, 35, "ALTER TABLE outbox ADD COLUMN removal BLOB"),
    (26, 35, "CREATE TABLE copies (outbox_id INTEGER, name INTEGER, is_taken INTEGER NOT NULL DEFAULT 0)"),
    (28, 35, "CREATE TABLE tool_shapes (tool TEXT PRIMARY KEY, shape TEXT, seen_at INTEGER, mac BLOB)"),
    (28, 35, "ALTER TABLE quotas ADD COLUMN mac BLOB"),
    (31, 35, "CREATE TABLE lessons (subject TEXT PRIMARY KEY, lessons TEXT, learnt_at INTEGER)"),
    (1, 33, "ALTER TABLE outbox DROP COLUMN unsent"),
    (1, 32, "ALTER TABLE turns DROP COLUMN origin"),
    (1, 31, "ALTER TABLE receipts DROP COLUMN came_at"),
    (1, 26, "DROP TABLE reactions"),
    (1, 23, "DROP TABLE notices"),
    (1, 22, "ALTER TABLE turns DROP COLUMN deaths"),
    (1, 21, "DROP TABLE accounts"),
    *((1, 19, f"ALTER TABLE {table} DROP COLUMN labels") for table in ("facts", "summaries")),
    (1, 17, "DROP TABLE holds"),
    (1, 15, "ALTER TABLE receipts ADD COLUMN window_ms INTEGER"),
    *((1, 15, f"DROP TABLE {table}") for table in ("members", "rosters")),
    (1, 14, "DROP TABLE restored"),
    (1, 13, "ALTER TABLE quotas RENAME COLUMN period TO month"),
    (1, 12, "DROP TABLE predictions"),
    *((1, 11, f"DROP TABLE {table}") for table in ("articles", "feeds")),
    (1, 10, "ALTER TABLE outbox DROP COLUMN removes"),
    (1, 9, "DROP TABLE quotas"),
    *((1, 8, f"DROP TABLE {table}") for table in ("facts", "summaries")),
    *((1, 7, f"DROP TABLE {table}") for table in ("reminders", "zones")),
    *((1, 6, f"DROP TABLE {table}") for table in ("chats", "unanswered")),
    *((1, 4, f"DROP TABLE {table}") for table in ("attempts", "receipts")),
    (1, 1, "DROP TABLE askers"),
    *((1, 1, f"ALTER TABLE inbox DROP COLUMN {column}") for column in ("urgent", "refusal", "put_off_until")),
    *((1, 1, f"ALTER TABLE outbox DROP COLUMN {column}") for column in ("revision", "original_at")),
    *((1, 1, f"ALTER TABLE {table} DROP COLUMN expires_at") for table in ("inbox", "turns")),
    (1, 1, "ALTER TABLE conversations DROP COLUMN key_generation"),
    # Columns with a reference cannot be dropped.
    *((1, 1, f"ALTER TABLE {table} RENAME COLUMN replaces TO later_replaces") for table in ("turns", "outbox")),
    (1, 1, "ALTER TABLE inbox RENAME COLUMN revises TO later_revises"),
)
"""The first and the last schema for which a statement has to be run on today's tables."""


def build_earlier(connection: sqlite3.Connection, version: int) -> None:
    [script] = (Path(store.__file__).parent / "schema").iterdir()
    # SQLite cannot drop a column that has a comment beside it.
    connection.executescript("BEGIN;" + re.sub("--.*", "", script.read_text("utf-8")))
    if version <= NEWEST_UNSEALED:  # nor one that has an index
        indexes = "SELECT name FROM main.sqlite_master WHERE type = 'index' AND sql IS NOT NULL"
        for (name,) in connection.execute(indexes).fetchall():
            connection.execute(f"DROP INDEX main.{name}")
    for first, last, statement in CHANGES:
        if first <= version <= last:
            connection.execute(statement)
    connection.execute(f"PRAGMA user_version = {version}")
    connection.execute("COMMIT")


@contextmanager
def earlier_store(path: Path, version: int) -> Generator[tuple[sqlite3.Connection, Keyring]]:
    path.parent.mkdir(exist_ok=True)
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        connection.execute("ATTACH DATABASE ? AS keys", (str(keys_of(path)),))
        build_earlier(connection, version)
        yield connection, unlock(connection, master_of(path))
