"""Lessons: what models were found to accept, by a digest of server and model. No words of people."""

from collections.abc import Mapping
from datetime import datetime

from store.repository import Repository, millis


class Lessons(Repository):
    """The repository of lessons. All methods run inside a transaction."""

    def all(self, *, since: datetime) -> Mapping[str, str]:
        """Returns the lessons by subject, leaving out those from before `since`, as servers and models change."""
        return dict(self.rows("SELECT subject, lessons FROM lessons WHERE learnt_at >= ?", (millis(since),)))

    def keep(self, subject: str, lessons: str, *, now: datetime) -> None:
        """Keeps the lessons of a subject in place of the former ones."""
        self.execute(
            "INSERT INTO lessons (subject, lessons, learnt_at) VALUES (?, ?, ?) "
            "ON CONFLICT (subject) DO UPDATE SET lessons = excluded.lessons, learnt_at = excluded.learnt_at",
            (subject, lessons, millis(now)),
        )
