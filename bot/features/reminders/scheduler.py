"""The scheduler of reminders, and what is open in a restored store, where times have passed unseen.

    due --can its person still write there?--yes--> still in that group? --yes, or unknown--> it fires
                                            '-no, or no--> it is dropped silently
    restored --> backlog --settle--> closed: nothing of the past is answered, sent or said; what repeats goes on
                         '-replay--> left as it is: everything is done now, perhaps for the second time

Reminders belong to a calendar, so they go by the machine's clock. But if that is set ahead by mistake and soon set
back, everything would fire at once and never again, so a jump of the clock has to last first (`bot.clock`). Deletions
and the timers of chats are no part of a backlog: they are carried out in any case. Only counts and times are shown of
it, never words.
"""

import logging
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from functools import partial

from bot.access.access import AccessList, may_write
from bot.clock import Clock, is_set_within
from bot.events import ChatId, Envelope, Kind, PersonId, SentId
from bot.features.reminders.service import Reminders, asks, pass_over
from bot.logs import describe_error
from bot.metrics import Counts
from store import Reminder, Repositories, Restoration, Store, Waiting

_log = logging.getLogger(__name__)

_AT_ONCE = 20
_MAX_NAP_SECONDS = 30.0
"""The longest sleep: the machine's clock may be set in the meantime."""
_MIN_NAP_SECONDS = 0.05
_PAUSE_SECONDS = 5.0
_SILENT = (Kind.DELETE, Kind.TIMER)


class ReminderScheduler:
    """The loop of reminders. `allowed` returns who can currently write to `account`."""

    def __init__(
        self,
        store: Store,
        clock: Clock,
        counts: Counts,
        reminders: Reminders,
        *,
        allowed: Callable[[], AccessList],
        account: str,
    ) -> None:
        self._store = store
        self._clock = clock
        self._counts = counts
        self._reminders = reminders
        self._allowed = allowed
        self._account = account

    async def run(self) -> None:
        """Fires what is due, again and again; ends only by cancellation."""
        wakeup = self._store.wakeups["reminders"]
        while True:
            wakeup.clear()
            try:
                seconds = await self.attend_all()
            except Exception as error:  # noqa: BLE001  (it is retried)
                _log.error("sending reminders failed: %s", describe_error(error))
                seconds = _PAUSE_SECONDS
            await is_set_within(wakeup, seconds)

    async def attend_all(self) -> float:
        """Fires everything that is due; returns the seconds until the next look.

        Raises:
            StoreError: nothing fired; try again later.
        """
        allowed = self._allowed()
        if allowed.needs_members and not allowed.members:
            return _PAUSE_SECONDS  # who can write in groups is still unknown

        def attend_some(repos: Repositories) -> int:
            due = repos.reminders.due(self._clock.settled_now(), limit=_AT_ONCE)
            for reminder in due:
                self._attend(repos, reminder)
            return len(due)

        while await self._store.transaction(attend_some) == _AT_ONCE:
            continue
        next_at = await self._store.read(lambda repos: repos.reminders.next_due_at())
        if next_at is None:
            return _MAX_NAP_SECONDS
        seconds = (next_at - self._clock.settled_now()).total_seconds()
        return min(max(seconds, _MIN_NAP_SECONDS), _MAX_NAP_SECONDS)

    def _attend(self, repos: Repositories, reminder: Reminder) -> None:
        """Fires one reminder, up to its end or its next time; one that cannot be read is over."""
        try:
            has_come = self._reminders.attend(repos, reminder, may_write=partial(self._is_welcome, repos))
        except ValueError as error:
            _log.error("reminder %d cannot be read and was given up: %s", reminder.id, describe_error(error))
            repos.reminders.settle(reminder.id, now=self._clock.now())
            has_come = False
        self._counts.add("reminders_came" if has_come else "reminders_dropped")

    def _is_welcome(self, repos: Repositories, person: PersonId, chat: ChatId) -> bool:
        """Whether a message from the person in the chat would be answered now."""
        allowed = self._allowed()
        envelope = Envelope(
            account=self._account,
            author=person,
            number=repos.people.number_of(person, allowed.numbers),
            device=0,
            sent_at=SentId(0),
            kind=Kind.REMINDER,
            chat=chat,
            raw="",
            from_self=allowed.note_to_self,
        )
        return may_write(envelope, allowed, is_approved=repos.people.is_allowed(person, account=self._account))


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
    # What was due later has surely not come: nothing ran on this store.
    overdue = repos.reminders.overdue(restoration.restored_at or now)

    def waiting(*, questions: bool) -> Waiting:
        times = [one.due_at for one in overdue if asks(one) == questions]
        return Waiting(items=len(times), oldest_at=min(times, default=None), dead=0)

    return Backlog(
        restoration=restoration,
        messages=repos.restored.messages(besides=_SILENT),
        replies=repos.restored.replies(),
        reminders=waiting(questions=False),
        questions=waiting(questions=True),
    )


def settle(repos: Repositories, now: datetime) -> None:
    """Closes all of it, within a transaction; that decides about the store."""
    restoration = repos.restored.restoration()
    if restoration is not None:
        for reminder in repos.reminders.overdue(restoration.restored_at or now):
            pass_over(repos, reminder, now)
        repos.restored.close(besides=_SILENT, now=now)
        repos.restored.decide()


def replay(repos: Repositories) -> None:
    """Leaves all of it to be done, within a transaction; that decides about the store."""
    repos.restored.decide()
