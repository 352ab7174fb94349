"""Own time: its last known state, from where it goes on after a restart."""

from dataclasses import astuple
from datetime import datetime

from store.records import KeptTime
from store.repository import Repository, moment_if


class OwnTime(Repository):
    """The repository of own time, a single row. All methods run inside a transaction."""

    def last(self) -> KeptTime | None:
        """Returns the times as last kept; None: never."""
        return self.record(KeptTime, "SELECT boot, counted_ns, wall_ns, own_ns FROM own_time")

    def keep(self, time: KeptTime) -> None:
        """Keeps the present times."""
        self.execute(
            "INSERT INTO own_time (id, boot, counted_ns, wall_ns, own_ns) VALUES (1, ?, ?, ?, ?) ON CONFLICT (id) DO "
            "UPDATE SET boot = excluded.boot, counted_ns = excluded.counted_ns, wall_ns = excluded.wall_ns, "
            "own_ns = excluded.own_ns",
            astuple(time),
        )

    def latest(self) -> datetime | None:
        """Returns when something last went out or came in, as far as is known; None: never."""
        return moment_if(
            self.value(
                "SELECT max(at) FROM (SELECT max(until) AS at FROM listening UNION ALL SELECT max(started_at) FROM ("
                "SELECT started_at FROM turns ORDER BY id DESC LIMIT 1))"
            )
        )
