"""The lessons: what models were found to take, by a digest of server and model. No words of people."""

from collections.abc import Mapping
from datetime import datetime

from store.repository import Repository, millis


class Lessons(Repository):
    """The repository of what was learnt of models. All methods run inside a transaction."""

    def all(self, *, since: datetime) -> Mapping[str, str]:
        """The lessons by subject, without those that are older: servers and models change."""
        return dict(self.rows("SELECT subject, lessons FROM lessons WHERE learnt_at >= ?", (millis(since),)))

    def keep(self, subject: str, lessons: str, *, now: datetime) -> None:
        """Keeps these lessons in place of the former ones."""
        self.execute(
            "INSERT INTO lessons (subject, lessons, learnt_at) VALUES (?, ?, ?) "
            "ON CONFLICT (subject) DO UPDATE SET lessons = excluded.lessons, learnt_at = excluded.learnt_at",
            (subject, lessons, millis(now)),
        )
