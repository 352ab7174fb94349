"""Work that was open when a backup was made, and is open again when the backup is restored.

    backup, restore --mark--> undecided --close the open work, or leave it as it is--> decide --> a normal store

A backup does not know what was answered, sent or said after it was made, and going on from there would do it all again.
So nothing goes on until somebody decides. The mark is a row in the store itself, so it travels with the file. All of
this applies to both realms. Left to others: what an item means, when a reminder comes again.
"""

import json
import logging
import sqlite3
from collections.abc import Collection
from dataclasses import dataclass
from datetime import datetime

from store.records import Waiting
from store.repository import Repository, millis, millis_if, moment_if

_log = logging.getLogger(__name__)


@dataclass(frozen=True, kw_only=True, slots=True)
class Restoration:
    """The origin of an undecided store."""

    copied_at: datetime | None
    """When the backup was made; None: unknown."""
    restored_at: datetime | None
    """When it was restored; None: the file was put in place by hand."""


class Restored(Repository):
    """The repository of restored open work. All methods run inside a transaction."""

    def restoration(self) -> Restoration | None:
        """Returns the origin of the store while it is undecided; None: it is a normal store."""
        return self.record(Restoration, "SELECT copied_at, restored_at FROM restored")

    def messages(self, *, besides: Collection[str]) -> Waiting:
        """Counts the messages that would be answered, leaving out the kinds `besides`."""
        [(items, oldest)] = self.rows(
            "SELECT count(*), min(received_at) FROM inbox WHERE state IN ('waiting', 'claimed') "
            "AND kind NOT IN (SELECT value FROM json_each(?))",
            (json.dumps(list(besides)),),
        )
        return Waiting(items=items, oldest_at=moment_if(oldest), dead=0)

    def replies(self) -> Waiting:
        """Counts the replies that would be sent; the oldest by when its turn started."""
        [(items, oldest)] = self.rows(
            "SELECT count(*), min(started_at) FROM outbox JOIN turns ON turns.id = turn_id "
            "WHERE outbox.state IN ('waiting', 'sending', 'unknown')"
        )
        return Waiting(items=items, oldest_at=moment_if(oldest), dead=0)

    def close(self, *, besides: Collection[str], now: datetime) -> None:
        """Closes these messages unanswered and everything waiting unsent; deletes their words and turns' steps."""
        self.execute(
            "UPDATE inbox SET state = 'done', envelope = NULL, claimed_until = NULL, put_off_until = NULL "
            "WHERE state IN ('waiting', 'claimed') AND kind NOT IN (SELECT value FROM json_each(?))",
            (json.dumps(list(besides)),),
        )
        self.execute(
            "UPDATE outbox SET state = 'dead', reply = NULL, settled_at = ? "
            "WHERE state IN ('waiting', 'sending', 'unknown')",
            (millis(now),),
        )
        self.execute("DELETE FROM receipts")  # nothing is left that they could prove
        self.execute(
            "UPDATE turns SET state = 'ignored', ended_at = ? WHERE state = 'running' AND id NOT IN "
            "(SELECT turn_id FROM inbox WHERE state IN ('waiting', 'claimed') AND turn_id IS NOT NULL)",
            (millis(now),),
        )
        self.execute("DELETE FROM journal WHERE turn_id IN (SELECT id FROM turns WHERE state = 'ignored')")

    def decide(self) -> None:
        """Makes this a normal store. Deletes all grants: they may have been revoked since the backup."""
        self.execute("DELETE FROM grants")
        self.execute("DELETE FROM restored")


def mark(
    connection: sqlite3.Connection, *, copied_at: datetime | None = None, restored_at: datetime | None = None
) -> None:
    """Marks a copy of any schema as undecided; a `copied_at` of None keeps the time noted before."""
    create_mark(connection)
    connection.execute(
        "INSERT INTO restored (id, copied_at, restored_at) VALUES (1, ?, ?) ON CONFLICT (id) DO UPDATE "
        "SET copied_at = coalesce(excluded.copied_at, copied_at), restored_at = excluded.restored_at",
        (millis_if(copied_at), millis_if(restored_at)),
    )


def create_mark(connection: sqlite3.Connection) -> None:
    """Creates the table of the mark in a file of any schema."""
    connection.execute(
        "CREATE TABLE IF NOT EXISTS restored "
        "(id INTEGER PRIMARY KEY CHECK (id = 1), copied_at INTEGER, restored_at INTEGER) STRICT"
    )


OPENINGS_TABLE = (
    "CREATE TABLE IF NOT EXISTS keys.openings (id INTEGER PRIMARY KEY CHECK (id = 1), count INTEGER NOT NULL) STRICT"
)


def count_opening(connection: sqlite3.Connection) -> None:
    """Counts this opening, in the database and then in the key file; marks a database that is older than its key file.

    A crash in between leaves the database ahead, which is harmless.

    Raises:
        sqlite3.Error: the files cannot be read or written.
    """
    connection.execute(OPENINGS_TABLE)
    own, kept = (_count(connection, schema) for schema in ("main", "keys"))
    if own < kept and not connection.execute("SELECT 1 FROM main.restored").fetchone():
        _log.error("the database is older than its key file: an older copy was put in its place")
        mark(connection)
    for schema in ("main", "keys"):
        connection.execute(
            f"INSERT OR REPLACE INTO {schema}.openings (id, count) VALUES (1, ?)",  # noqa: S608  (our own names)
            (max(own, kept) + 1,),
        )


def _count(connection: sqlite3.Connection, schema: str) -> int:
    row = connection.execute(f"SELECT count FROM {schema}.openings").fetchone()  # noqa: S608  (our own names)
    return 0 if row is None else row[0]
