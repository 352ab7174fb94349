"""The loop of reminders: what happens when the time of one comes, and what is overdue in a restored store.

    due --can its person still write there, and are they in that group?--no--> dropped silently
         '-yes--> said in the chat -----------------.--again--> its next time
              |--> a prompt: asked, as by its person-'-over---> its words go a day later
              '--> words have disappeared: only that there was something
    restored --> backlog --settle--> closed: nothing of the past is answered, sent or said; what repeats goes on
                         '-replay--> left as it is: everything is done now, perhaps for the second time

Firing a reminder and planning its next time are one transaction: it fires once, whatever crashes. What was due while
Aldis was away fires late and says so, and a repeating reminder fires once for all the times that it missed. Reminders
belong to a calendar, so they go by the machine's clock. But if that is set ahead by mistake and soon set back,
everything would fire at once and never again, so a jump of the clock has to last first (`bot.clock`). Deletions and the
timers of chats are no part of a backlog: they are carried out in any case.
"""

import logging
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta

from bot.access.access import AccessList, may_write
from bot.chat.prompt import PLANNED, PLANNED_LATE
from bot.clock import is_set_within
from bot.event_json import dump_reminder, dump_value
from bot.events import ChatId, Envelope, Incoming, Kind, SentId
from bot.features.reminders.schedules import describe_moment, next_after
from bot.features.reminders.service import PLACES, WORDS, Place, Reminders, Words
from bot.i18n import phrases
from bot.i18n.catalogues import Sentence, say
from bot.i18n.language import use_language
from bot.logs import describe_error
from bot.metrics import Counts
from store import Arrival, Reminder, Repositories, Restoration, Waiting

REMINDER_LATE = Sentence("REMINDER_LATE", "⏰ {text}\n\n({late} late: I was offline.)")
REMINDER_WORDLESS = Sentence(
    "REMINDER_WORDLESS", "⏰ You wanted a reminder now. What it was about disappeared with your message."
)

_log = logging.getLogger(__name__)

_AT_ONCE = 20
_LATE = timedelta(minutes=2)
"""From this delay on people read that it is late; shorter ones are normal for the loop."""
_MAX_NAP_SECONDS = 30.0
"""The longest sleep: the machine's clock may be set in the meantime."""
_MIN_NAP_SECONDS = 0.05
_PAUSE_SECONDS = 5.0
_SILENT = (Kind.DELETE, Kind.TIMER)


class ReminderScheduler:
    """The loop of reminders. `allowed` returns who can currently write to `account`, which is Aldis's own."""

    def __init__(
        self, reminders: Reminders, counts: Counts, *, allowed: Callable[[], AccessList], account: str
    ) -> None:
        self._reminders = reminders
        self._store = reminders.store
        self._clock = reminders.clock
        self._counts = counts
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
            place = PLACES.validate_json(reminder.plan)
            words = None if reminder.words is None else WORDS.validate_json(reminder.words)
            is_welcome = self._is_welcome(repos, place)
            if is_welcome:
                self._fire(repos, reminder, place, words)
        except ValueError as error:
            _log.error("reminder %d cannot be read and was given up: %s", reminder.id, describe_error(error))
            words, is_welcome = None, False
        self._counts.add("reminders_came" if is_welcome else "reminders_dropped")
        if is_welcome and words is not None:
            _go_on(repos, reminder, self._clock.settled_now(), self._clock.now())
        else:
            repos.reminders.settle(reminder.id, now=self._clock.now())

    def _is_welcome(self, repos: Repositories, place: Place) -> bool:
        """Whether a message from its person there would be answered now, and they have not left the group."""
        person, chat, allowed = place.person, place.chat, self._allowed()
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
        if chat.is_group and repos.members.has_left(chat, ChatId.direct(person), since=place.planned_at):
            return False
        return may_write(envelope, allowed, is_approved=repos.people.is_allowed(person, account=self._account))

    def _fire(self, repos: Repositories, reminder: Reminder, place: Place, words: Words | None) -> None:
        late = self._clock.wall() - reminder.due_at
        if words is None:
            self._reminders.tell(repos, reminder, place, REMINDER_WORDLESS)
        elif words.prompt is not None:
            repos.inbox.put(self._asking(reminder, place, words, is_late=late >= _LATE))
        else:
            with use_language(self._reminders.turns.language(repos, reminder.conversation)):
                seconds = phrases.duration(late.total_seconds()) if late >= _LATE else ""
                sentence = REMINDER_LATE if seconds else phrases.REMINDER
                self._reminders.tell(repos, reminder, place, say(sentence, text=words.shown, late=seconds))

    def _asking(self, reminder: Reminder, place: Place, words: Words, *, is_late: bool) -> Arrival:
        """The prompt as a message of its person: each time of a reminder is one message, however often it is put."""
        when = describe_moment(reminder.due_at, place.plan.zone)
        message = Incoming(
            author=place.person,
            name=None,
            chat=place.chat,
            sent_at=place.sent_at,
            text=words.prompt or "",
            mentions_me=True,
            preface=PLANNED_LATE.format(when=when) if is_late else PLANNED,
            scheduled=words.scheduled,
        )
        envelope = Envelope(
            account=self._account,
            author=place.person,
            number=None,
            device=reminder.id,
            sent_at=SentId(int(reminder.due_at.timestamp() * 1000)),
            kind=Kind.REMINDER,
            chat=place.chat,
            raw=dump_reminder(message),
        )
        return Arrival(
            conversation=reminder.conversation,
            account=envelope.account,
            author=place.person,
            device=envelope.device,
            sent_at=envelope.sent_at,
            kind=envelope.kind,
            envelope=dump_value(envelope),
            received_at=self._clock.now(),
            expires_at=reminder.expires_at,
        )


def _go_on(repos: Repositories, reminder: Reminder, after: datetime, now: datetime) -> None:
    """Makes it due again at its next time, or ends it; for a day it can still be put off."""
    next_at = next_after(PLACES.validate_json(reminder.plan).plan, after)
    if next_at is None:
        repos.reminders.end(reminder.id, now=now)
    else:
        repos.reminders.again(reminder.id, next_at)


@dataclass(frozen=True, kw_only=True, slots=True)
class Backlog:
    """The number of open things, each with the time since when."""

    restoration: Restoration
    messages: Waiting
    """Still to be answered."""
    replies: Waiting
    """Still to be sent."""
    reminders: Waiting
    """Planned for a time that has passed, to be said or asked."""

    @property
    def is_empty(self) -> bool:
        """Whether there is nothing to decide."""
        return not (self.messages.items or self.replies.items or self.reminders.items)


def backlog(repos: Repositories, now: datetime) -> Backlog | None:
    """Returns what is open in a restored store, within a transaction; None if the store was not restored."""
    restoration = repos.restored.restoration()
    if restoration is None:
        return None
    # What was due later has surely not come: nothing ran on this store.
    overdue = repos.reminders.overdue(restoration.restored_at or now)
    return Backlog(
        restoration=restoration,
        messages=repos.restored.messages(besides=_SILENT),
        replies=repos.restored.replies(),
        reminders=Waiting(items=len(overdue), oldest_at=overdue[0].due_at if overdue else None, dead=0),
    )


def settle(repos: Repositories, now: datetime) -> None:
    """Closes all of it, within a transaction; that decides about the store."""
    restoration = repos.restored.restoration()
    if restoration is not None:
        for reminder in repos.reminders.overdue(restoration.restored_at or now):
            try:
                _go_on(repos, reminder, now, now)
            except ValueError:  # written by a newer version: its next time is unknown
                repos.reminders.settle(reminder.id, now=now)
        repos.restored.close(besides=_SILENT, now=now)
        repos.restored.decide()


def replay(repos: Repositories) -> None:
    """Leaves all of it to be done, within a transaction; that decides about the store."""
    repos.restored.decide()
