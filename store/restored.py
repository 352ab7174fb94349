"""What was open when a backup was made, and is open again once the backup is the store.

    backup, restore --mark--> undecided --close what was open, or leave it as it is--> decide --> a store like any other

What was answered, sent or said since the backup is not known in it, so going on from there would do it all again: until
somebody decides, nothing goes on. The mark is a row of the store itself, so that it goes wherever the file goes.
All of this is about both realms. Left to others: what an item means, when a reminder comes again.
"""

import json
import sqlite3
from collections.abc import Collection
from dataclasses import dataclass
from datetime import datetime
from importlib.resources import files

from store.records import Waiting
from store.repository import Repository, millis, millis_if, moment_if


@dataclass(frozen=True, kw_only=True, slots=True)
class Restoration:
    """Where an undecided store comes from."""

    copied_at: datetime | None
    """When the backup was made; None: it does not tell."""
    restored_at: datetime | None
    """None: it was put in place by hand."""


class Restored(Repository):
    """The repository of what is open since then. All methods run inside a transaction."""

    def restoration(self) -> Restoration | None:
        """Where the store comes from, while it is undecided; None: it is a store like any other."""
        return self.record(Restoration, "SELECT copied_at, restored_at FROM restored")

    def messages(self, *, besides: Collection[str]) -> Waiting:
        """The messages that would be answered; those of the kinds `besides` are not meant."""
        [(items, oldest)] = self.rows(
            "SELECT count(*), min(received_at) FROM inbox WHERE state IN ('waiting', 'claimed') "
            "AND kind NOT IN (SELECT value FROM json_each(?))",
            (json.dumps(list(besides)),),
        )
        return Waiting(items=items, oldest_at=moment_if(oldest), dead=0)

    def replies(self) -> Waiting:
        """What would be sent; how old it is tells the turn that it belongs to."""
        [(items, oldest)] = self.rows(
            "SELECT count(*), min(started_at) FROM outbox JOIN turns ON turns.id = turn_id "
            "WHERE outbox.state IN ('waiting', 'sending', 'unknown')"
        )
        return Waiting(items=items, oldest_at=moment_if(oldest), dead=0)

    def close(self, *, besides: Collection[str], now: datetime) -> None:
        """None of these messages is answered, nothing that waited is sent: their words go, with the steps of their
        turns.
        """
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
        self.execute("DELETE FROM receipts")  # there is nothing any more that they could prove
        self.execute(
            "UPDATE turns SET state = 'ignored', ended_at = ? WHERE state = 'running' AND id NOT IN "
            "(SELECT turn_id FROM inbox WHERE state IN ('waiting', 'claimed') AND turn_id IS NOT NULL)",
            (millis(now),),
        )
        self.execute("DELETE FROM journal WHERE turn_id IN (SELECT id FROM turns WHERE state = 'ignored')")

    def decide(self) -> None:
        """It is decided: this is a store like any other. What it says was allowed for good may have been taken back
        since, and is asked about again.
        """
        self.execute("DELETE FROM grants")
        self.execute("DELETE FROM restored")


def mark(
    connection: sqlite3.Connection, *, copied_at: datetime | None = None, restored_at: datetime | None = None
) -> None:
    """Make a copy undecided, of whatever schema it is; what is None stays as it was told before."""
    connection.execute(files("store").joinpath("schema", "015_restored.sql").read_text("utf-8"))
    connection.execute(
        "INSERT INTO restored (id, copied_at, restored_at) VALUES (1, ?, ?) ON CONFLICT (id) DO UPDATE "
        "SET copied_at = coalesce(excluded.copied_at, copied_at), restored_at = excluded.restored_at",
        (millis_if(copied_at), millis_if(restored_at)),
    )
