"""Own time: where it stood when it was last looked at, so that it goes on from there after a restart."""

from dataclasses import astuple
from datetime import datetime

from store.records import KeptTime
from store.repository import Repository, moment_if


class OwnTime(Repository):
    """The repository of the one row. All methods run inside a transaction."""

    def last(self) -> KeptTime | None:
        """The times as they were kept last; None: they never were."""
        return self.record(KeptTime, "SELECT boot, counted_ns, wall_ns, own_ns FROM own_time")

    def keep(self, time: KeptTime) -> None:
        """Keeps the times as they stand now."""
        self.execute(
            "INSERT INTO own_time (id, boot, counted_ns, wall_ns, own_ns) VALUES (1, ?, ?, ?, ?) ON CONFLICT (id) DO "
            "UPDATE SET boot = excluded.boot, counted_ns = excluded.counted_ns, wall_ns = excluded.wall_ns, "
            "own_ns = excluded.own_ns",
            astuple(time),
        )

    def latest(self) -> datetime | None:
        """When something was sent or came last, as far as is known; None: nothing has."""
        return moment_if(
            self.value(
                "SELECT max(at) FROM (SELECT max(until) AS at FROM listening UNION ALL SELECT max(started_at) FROM ("
                "SELECT started_at FROM turns ORDER BY id DESC LIMIT 1))"
            )
        )
