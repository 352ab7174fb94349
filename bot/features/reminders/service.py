"""Reminders: planned by the tool or a command, listed, cancelled and put off; and the loop that fires them.

    wish --> plan (when is that?) --> [reminders]
    due --can its person still write there, and are they in that group?--no--> dropped silently
         '-yes--> said in the chat -----------------.--again--> its next time
              |--> a prompt: asked, as by its person-'-over---> its words go a day later
              '--> words have disappeared: only that there was something
    restored --> closed: nothing of the past is answered, sent or said; what repeats goes on

Firing a reminder and planning its next time are one transaction: it fires once, whatever crashes. What was due while
Aldis was away fires late and says so, and a repeating reminder fires once for all the times that it missed. Its words
live as long as the message that they came from. Reminders belong to a calendar, so they go by the machine's clock. But
if that is set ahead by mistake and soon set back, everything would fire at once and never again, so a jump of the clock
has to last first (`bot.clock`). Deletions and the timers of chats are carried out in a restored store, too.
"""

import logging
from collections.abc import Callable
from dataclasses import KW_ONLY, dataclass, field, replace
from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

from pydantic import TypeAdapter

from bot import labels
from bot.access import chat_settings
from bot.access.access import AccessList, may_still_read
from bot.access.routing import Wished
from bot.chat.prompt import PLANNED, PLANNED_LATE
from bot.chat.turns import Turns
from bot.clock import is_set_within
from bot.events import ChatId, Envelope, Incoming, Kind, PersonId, ScheduledPrompt, SentId, dump_reminder, dump_value
from bot.features.reminders import schedules
from bot.features.reminders.schedules import Plan, UnfitWish
from bot.i18n import phrases
from bot.i18n.catalogues import Sentence, say
from bot.i18n.language import use_language
from bot.labels import UNKNOWN
from bot.logs import describe_error
from bot.settings.groups import LocaleSettings
from bot.signal.protocol import Outside
from bot.trust.links import inert
from bot.trust.rules import may_carry_out
from store import Arrival, ConversationId, Reminder, Repositories, TurnId
from tools import Repeat, Wish

REMINDER_LATE = Sentence("REMINDER_LATE", "⏰ {text}\n\n({late} late: I was offline.)")
REMINDER_WORDLESS = Sentence(
    "REMINDER_WORDLESS", "⏰ You wanted a reminder now. What it was about disappeared with your message."
)

_log = logging.getLogger(__name__)

MAX_REMINDERS = 50
"""How many reminders one person can have, in all conversations together."""

_LATER = timedelta(hours=1)
"""How much later a reminder comes that is put off by a reaction."""
_LATE = timedelta(minutes=2)
"""From this delay on people read that it is late; shorter ones are normal for the loop."""
_AT_ONCE = 20
_MAX_NAP_SECONDS = 30.0
"""The longest sleep: the machine's clock may be set in the meantime."""
_MIN_NAP_SECONDS = 0.05
_PAUSE_SECONDS = 5.0


@dataclass(frozen=True, kw_only=True, slots=True)
class Place:
    """The stored part about where and when."""

    person: PersonId
    chat: ChatId
    sent_at: SentId
    plan: Plan
    planned_at: datetime = datetime(1970, 1, 1, tzinfo=UTC)
    """When the person was certainly in the chat; earlier versions of Aldis have not kept it."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Words:
    """The stored part about what to say."""

    text: str
    prompt: str | None
    scheduled: ScheduledPrompt = field(default_factory=lambda: ScheduledPrompt(labels=UNKNOWN))
    """Where they come from, and what a prompt can do."""

    @property
    def shown(self) -> str:
        """The text, with inert links if an address in it could carry something out."""
        return inert(self.text) if may_carry_out(self.scheduled.labels) else self.text


_places: TypeAdapter[Place] = TypeAdapter(Place)
_words: TypeAdapter[Words] = TypeAdapter(Words)


@dataclass(frozen=True, kw_only=True, slots=True)
class PlannedReminder:
    """A planned reminder, as its person and models see it."""

    row: Reminder
    words: Words | None
    """None if they have disappeared with the message they came from."""
    repeat: Repeat | None
    in_seconds: int
    """The time from now until it is due; negative if it is over."""
    timezone: str
    """The IANA zone of the person."""
    zone_is_known: bool = True
    """Whether the time zone is known; if not, the person is to be asked now."""

    @property
    def loses_words(self) -> bool:
        """Whether its words disappear before it is due, with the message they came from."""
        return self.row.expires_at is not None and self.row.expires_at <= self.row.due_at

    def spoken_time(self, *, tells_how_soon: bool = False) -> str:
        """The next time by its person's clock: `tomorrow at 09:00`."""
        at = self.row.due_at.astimezone(ZoneInfo(self.timezone)).replace(tzinfo=None)
        return phrases.spoken_time(at, at - timedelta(seconds=self.in_seconds), tells_how_soon=tells_how_soon)

    @property
    def origin(self) -> str:
        """Where its words come from, for `Result.origins`."""
        return "" if self.words is None else labels.dump_labels(self.words.scheduled.labels).decode()


@dataclass
class Reminders(Outside):
    """The reminders of all people, and their loop. Methods that take `repos` run within a transaction."""

    _: KW_ONLY
    turns: Turns
    locale: LocaleSettings
    """With the time zone of a person who has named none."""
    allowed: Callable[[], AccessList]
    """Returns who can currently write."""

    def zone(self, repos: Repositories, person: PersonId) -> str:
        """Returns the person's time zone as far as known."""
        return repos.reminders.zone(ChatId.direct(person)) or self.locale.timezone

    async def live_in(self, person: PersonId, zone: str) -> None:
        """Sets the person's time zone, one that there is. What they have planned keeps its instant."""
        direct = await self.store.conversation(ChatId.direct(person), now=self.clock.now())
        await self.store.transaction(lambda repos: repos.reminders.keep_zone(direct, zone))

    def plan(
        self,
        repos: Repositories,
        wish: Wish,
        conversation: ConversationId,
        message: Incoming,
        scheduled: ScheduledPrompt,
        *,
        origin: str,
        turn: TurnId | None = None,
        expires_at: datetime | None = None,
    ) -> PlannedReminder:
        """Plans a reminder that a message asks for; what the same origin has planned before is returned unchanged.

        `scheduled` says where the words come from, and what a prompt can do; `expires_at` is when the message
        disappears; None if it stays, or the turn knows.

        Raises:
            UnfitWish: there is no such time, or not one that can be planned, or the person has too many.
        """
        known = repos.reminders.of_origin(origin)
        if known is not None:
            return self._shown(repos, message.author, known)
        person = message.author
        chat = message.chat
        now = self.clock.now()
        plan, due_at = self.first_plan(repos, wish, person)
        put = repos.reminders.put(
            conversation,
            person,
            origin,
            plan=_places.dump_json(Place(person=person, chat=chat, sent_at=message.sent_at, plan=plan, planned_at=now)),
            words=_words.dump_json(Words(text=wish.text, prompt=wish.prompt, scheduled=scheduled)),
            due_at=due_at,
            turn=turn,
            expires_at=expires_at,
        )
        if chat.is_group:
            repos.members.want(conversation)
        shown = self._shown(repos, person, put)
        if "timezone" in self.locale.model_fields_set or repos.reminders.zone(ChatId.direct(person)) is not None:
            return shown
        # They are asked for it once in each chat.
        is_first = chat_settings.change(repos, conversation, now, lambda settings: replace(settings, told_zone=True))
        return replace(shown, zone_is_known=not is_first)

    def first_plan(self, repos: Repositories, wish: Wish, person: PersonId) -> tuple[Plan, datetime]:
        """Returns the times of the person's wish, and the first of them; raises as `plan`."""
        plan, due_at = schedules.first_plan(wish, now=self.clock.now(), zone=self.zone(repos, person))
        if repos.reminders.count(person) >= MAX_REMINDERS:
            raise UnfitWish("many", f"The person has {MAX_REMINDERS} reminders already; one must be cancelled first.")
        return plan, due_at

    def all(self, repos: Repositories, person: PersonId, conversation: ConversationId) -> tuple[PlannedReminder, ...]:
        """Returns what the person has planned in this conversation, the next one first."""
        found = repos.reminders.of_person(person, conversation)
        return tuple(self._shown(repos, person, reminder) for reminder in found)

    def cancel(
        self, repos: Repositories, person: PersonId, conversation: ConversationId, number: int | None = None
    ) -> tuple[PlannedReminder, ...]:
        """Cancels the person's reminder of this number here (None: all of theirs); returns what there was."""
        meant = [one for one in repos.reminders.of_person(person, conversation) if number in {None, one.number}]
        for one in meant:
            repos.reminders.settle(one.id, now=self.clock.now())
        return tuple(self._shown(repos, person, one) for one in meant)

    def _shown(self, repos: Repositories, person: PersonId, reminder: Reminder) -> PlannedReminder:
        return PlannedReminder(
            row=reminder,
            words=None if reminder.words is None else _words.validate_json(reminder.words),
            repeat=_place(reminder).plan.repeat if reminder.plan else None,
            in_seconds=round((reminder.due_at - self.clock.now()).total_seconds()),
            timezone=self.zone(repos, person),
        )

    def react(
        self, repos: Repositories, conversation: ConversationId, person: PersonId, target: SentId, wish: Wished
    ) -> bool:
        """Does what a reaction to our message wants of the person's reminders; False: it is about none."""
        turn = repos.outbox.turn_of(conversation, target)
        known = () if turn is None else repos.reminders.of_turn(turn, person)
        found = [one for one in known if one.plan and one.words]
        for reminder in found:
            place = _place(reminder)
            text = as_sentence(_words.validate_json(reminder.words or b"").shown)
            with use_language(self.turns.language(repos, conversation)):
                if wish == "later":
                    when = self._postpone(repos, reminder, place)
                    self.tell(repos, reminder, place, say(phrases.REMINDER_SET, when=when, text=text))
                elif wish == "cancel" and not reminder.is_over:
                    self.tell(repos, reminder, place, say(phrases.REMINDER_CANCELLED, text=text))
            if wish == "cancel" or (wish == "done" and reminder.is_over):
                repos.reminders.settle(reminder.id, now=self.clock.now())
        return bool(found)

    def _postpone(self, repos: Repositories, reminder: Reminder, place: Place) -> str:
        """Has it come an hour later, or an hour from now if it has come; returns when, in words."""
        now = self.clock.now()
        is_to_come = not reminder.is_over and place.plan.repeat is None
        due_at = (reminder.due_at if is_to_come else now) + _LATER
        if not is_to_come and not reminder.is_over:
            due_at = min(due_at, reminder.due_at)  # a repeated one comes anyway
        repos.reminders.again(reminder.id, due_at)
        return self._shown(repos, place.person, replace(reminder, due_at=due_at)).spoken_time(tells_how_soon=True)

    def tell(self, repos: Repositories, reminder: Reminder, place: Place, text: str | Sentence) -> None:
        """Says it in the chat; in a group it quotes the message that asked for it, which notifies its author."""
        message = Incoming(author=place.person, name=None, chat=place.chat, sent_at=place.sent_at, text="⏰")
        self.turns.tell(
            repos, reminder.conversation, message, text, expires_at=reminder.expires_at, origin=reminder.origin
        )

    # The loop

    async def run(self) -> None:
        """Fires what is due, again and again; ends only by cancellation."""
        wakeup = self.store.wakeups["reminders"]
        while True:
            wakeup.clear()
            try:
                seconds = await self.attend_all()
            except Exception as error:  # noqa: BLE001  (it is retried)
                _log.error("sending reminders failed: %s", describe_error(error))
                seconds = _PAUSE_SECONDS
            await is_set_within(wakeup, seconds)

    async def attend_all(self) -> float:
        """Fires everything that is due, unless the clock is in doubt; returns the seconds until the next look.

        Raises:
            StoreError: nothing fired; try again later.
        """
        allowed = self.allowed()
        if self.clock.doubt() or (allowed.needs_members and not allowed.members):
            return _PAUSE_SECONDS  # who can write in groups is still unknown

        def attend_some(repos: Repositories) -> int:
            due = repos.reminders.due(self.clock.now(), limit=_AT_ONCE)
            for reminder in due:
                self._attend(repos, reminder)
            return len(due)

        while await self.store.transaction(attend_some) == _AT_ONCE:
            continue
        next_at = await self.store.read(lambda repos: repos.reminders.next_due_at())
        if next_at is None:
            return _MAX_NAP_SECONDS
        seconds = (next_at - self.clock.now()).total_seconds()
        return min(max(seconds, _MIN_NAP_SECONDS), _MAX_NAP_SECONDS)

    def _attend(self, repos: Repositories, reminder: Reminder) -> None:
        """Fires one reminder, up to its end or its next time; one that cannot be read is over."""
        try:
            place = _place(reminder)
            words = None if reminder.words is None else _words.validate_json(reminder.words)
            person = place.person
            chat = place.chat
            account = self.transport.account
            comes = may_still_read(repos, person, chat, self.allowed(), account=account, since=place.planned_at)
            if comes:
                self._fire(repos, reminder, place, words)
        except ValueError as error:
            _log.error("reminder %d cannot be read and was given up: %s", reminder.id, describe_error(error))
            words = None
            comes = False
        self.counts.add("reminders_came" if comes else "reminders_dropped")
        if comes and words is not None:
            _go_on(repos, reminder, self.clock.now())
        else:
            repos.reminders.settle(reminder.id, now=self.clock.now())

    def _fire(self, repos: Repositories, reminder: Reminder, place: Place, words: Words | None) -> None:
        late = self.clock.now() - reminder.due_at
        if words is None:
            self.tell(repos, reminder, place, REMINDER_WORDLESS)
        elif words.prompt is not None:
            repos.inbox.put(self._asking(reminder, place, words, is_late=late >= _LATE))
        else:
            with use_language(self.turns.language(repos, reminder.conversation)):
                seconds = phrases.duration(late.total_seconds()) if late >= _LATE else ""
                sentence = REMINDER_LATE if seconds else phrases.REMINDER
                self.tell(repos, reminder, place, say(sentence, text=words.shown, late=seconds))

    def _asking(self, reminder: Reminder, place: Place, words: Words, *, is_late: bool) -> Arrival:
        """The prompt as a message of its person: each time of a reminder is one message, however often it is put."""
        when = schedules.describe_moment(reminder.due_at, place.plan.zone)
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
            account=self.transport.account,
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
            received_at=self.clock.now(),
            expires_at=reminder.expires_at,
        )


def _place(reminder: Reminder) -> Place:
    return _places.validate_json(reminder.plan or b"")


def _go_on(repos: Repositories, reminder: Reminder, now: datetime) -> None:
    """Makes it due again at its next time, or ends it; for a day it can still be put off."""
    if (next_at := schedules.next_after(_place(reminder).plan, now)) is None:
        repos.reminders.end(reminder.id, now=now)
    else:
        repos.reminders.again(reminder.id, next_at)


def close_copy(repos: Repositories, now: datetime) -> None:
    """Closes what is open in a store that is a copy, within a transaction; the log says how much.

    What happened between copy and restore is unknown, and doing all of it now could do it twice.
    """
    if not repos.restored.is_copy():
        return
    overdue = repos.reminders.overdue(now)
    for reminder in overdue:
        try:
            _go_on(repos, reminder, now)
        except ValueError:  # written by a newer version: its next time is unknown
            repos.reminders.settle(reminder.id, now=now)
    _log.warning(
        "the store is a restored backup: %d messages, answers and reminders that were open in it are closed, as they "
        "may have been answered, sent and said since; people who still wait have to write again",
        len(overdue) + repos.restored.close(besides=(Kind.DELETE,), now=now),
    )


def as_sentence(text: str) -> str:
    """Returns the text with a full stop, unless it has an end of its own."""
    return text if text[-1:] in ".!?…" else f"{text}."
