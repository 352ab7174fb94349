"""Notices: what the admins were told about and is not over yet. Handles only, no words."""

from collections.abc import Collection
from datetime import datetime

from store.repository import Repository, millis


class Notices(Repository):
    """The repository of notices. All methods run inside a transaction."""

    def is_told(self, name: str) -> bool:
        """Whether the admins were told of it, under any topic, and it is not over."""
        return self.exists("SELECT 1 FROM notices WHERE name = ? LIMIT 1", (self.keyring.handle(name),))

    def note(self, topic: str, name: str, *, now: datetime) -> None:
        """Records that it was found under this topic and told."""
        self.execute(
            "INSERT INTO notices (topic, name, seen_at) VALUES (?, ?, ?) "
            "ON CONFLICT (topic, name) DO UPDATE SET seen_at = excluded.seen_at",
            (self.keyring.handle(topic), self.keyring.handle(name), millis(now)),
        )

    def settle(self, topic: str, *, standing: Collection[str]) -> None:
        """Deletes the notices of the topic that are not in `standing`."""
        kept = {self.keyring.handle(name) for name in standing}
        place = self.keyring.handle(topic)
        gone = set(self.column("SELECT name FROM notices WHERE topic = ?", (place,))) - kept
        self.execute_many("DELETE FROM notices WHERE topic = ? AND name = ?", [(place, name) for name in gone])

    def prune(self, *, before: datetime) -> None:
        """Deletes notices that were not seen since `before`."""
        self.execute("DELETE FROM notices WHERE seen_at < ?", (millis(before),))
