"""The backlog of a restored store: what it would answer, send and remind of, and a way to close it.

    restored --> backlog --settle--> closed: nothing of the past is answered, sent or said; what repeats goes on
                         '-replay--> left as it is: everything is done now, perhaps for the second time

Deletions and the timers of chats are not part of it: they are carried out in any case, silently. Only counts and times
are shown, never words.
"""

from dataclasses import dataclass
from datetime import datetime

from bot.events import Kind
from bot.features.reminders.service import asks, pass_over
from store import Reminder, Repositories, Restoration, Waiting

_SILENT = (Kind.DELETE, Kind.TIMER)


@dataclass(frozen=True, kw_only=True, slots=True)
class Backlog:
    """The number of open things, each with the time since when."""

    restoration: Restoration
    messages: Waiting
    """Still to be answered."""
    replies: Waiting
    """Still to be sent."""
    reminders: Waiting
    questions: Waiting
    """Planned for a time that has passed."""

    @property
    def is_empty(self) -> bool:
        """Whether there is nothing to decide."""
        return not any(part.items for part in (self.messages, self.replies, self.reminders, self.questions))


def backlog(repos: Repositories, now: datetime) -> Backlog | None:
    """Returns what is open in a restored store, within a transaction; None if the store was not restored."""
    restoration = repos.restored.restoration()
    if restoration is None:
        return None
    reminders: list[datetime] = []
    questions: list[datetime] = []
    for reminder in repos.reminders.overdue(_until(restoration, now)):
        (questions if _asks(reminder) else reminders).append(reminder.due_at)
    return Backlog(
        restoration=restoration,
        messages=repos.restored.messages(besides=_SILENT),
        replies=repos.restored.replies(),
        reminders=_waiting(reminders),
        questions=_waiting(questions),
    )


def settle(repos: Repositories, now: datetime) -> None:
    """Closes all of it, within a transaction; that decides about the store."""
    restoration = repos.restored.restoration()
    if restoration is None:
        return
    for reminder in repos.reminders.overdue(_until(restoration, now)):
        try:
            pass_over(repos, reminder, now)
        except ValueError:  # written by a newer version: its next time is unknown
            repos.reminders.settle(reminder.id, now=now)
    repos.restored.close(besides=_SILENT, now=now)
    repos.restored.decide()


def replay(repos: Repositories) -> None:
    """Leaves all of it to be done, within a transaction; that decides about the store."""
    repos.restored.decide()


def _until(restoration: Restoration, now: datetime) -> datetime:
    """What was due later than this has surely not come: nothing ran on this store."""
    return restoration.restored_at or now


def _asks(reminder: Reminder) -> bool:
    try:
        return asks(reminder)
    except ValueError:
        return False


def _waiting(times: list[datetime]) -> Waiting:
    return Waiting(items=len(times), oldest_at=min(times, default=None), dead=0)
