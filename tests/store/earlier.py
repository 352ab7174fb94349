"""Stores as earlier Aldis made them: empty, with the tables of a schema from 1 to 38."""

import re
import sqlite3
from pathlib import Path

from store.migrations import migrate

NEWEST_EARLIER = 35
"""The last schema that was built step by step."""

GONE_SINCE_36 = """
    CREATE TABLE tool_shapes (tool TEXT PRIMARY KEY, sealed BLOB NOT NULL) STRICT;
    CREATE TABLE openings (id INTEGER PRIMARY KEY CHECK (id = 1), count INTEGER NOT NULL) STRICT;
    ALTER TABLE ledger ADD COLUMN details BLOB;
    ALTER TABLE spent ADD COLUMN warned INTEGER NOT NULL DEFAULT 0;
    DROP TABLE last_time;
    CREATE TABLE own_time (
        id INTEGER PRIMARY KEY CHECK (id = 1), boot TEXT NOT NULL, counted_ns INTEGER NOT NULL,
        wall_ns INTEGER NOT NULL, own_ns INTEGER NOT NULL
    ) STRICT;
    ALTER TABLE attempts RENAME COLUMN set_back_ms TO ahead_ms;
    ALTER TABLE receipts ADD COLUMN ahead_ms INTEGER NOT NULL DEFAULT 0;
    ALTER TABLE reactions RENAME COLUMN set_back_ms TO ahead_ms;
    ALTER TABLE reminders ADD COLUMN set_back_ms INTEGER;
"""


def build_earlier(connection: sqlite3.Connection, version: int) -> None:
    """Create the tables of this schema in an empty database, and its number."""
    if version > NEWEST_EARLIER:
        migrate(connection)
        connection.executescript(GONE_SINCE_36 + f"PRAGMA user_version = {version};")
        return
    steps = re.split(
        r"^---- (\d+)$", Path(__file__).with_name("earlier_schemas.sql").read_text("utf-8"), flags=re.MULTILINE
    )
    wanted = [script for number, script in zip(steps[1::2], steps[2::2], strict=True) if int(number) <= version]
    connection.executescript("".join(wanted) + f"PRAGMA user_version = {version};")
