"""Reminders: planned by a tool or a command, and what happens when their time comes.

    wish --> plan (when is that?) --> [reminders] --due--> said in the chat -----------------.--again--> [reminders]
                                                     |---> a prompt: asked, as by its person -'-over---> settled
                                                     |---> words have disappeared: only that there was something
                                                     '---> in a group that its person has left: over

Firing a reminder and planning its next time are one transaction: it fires once, whatever crashes. What was due while
Aldis was away fires late and says so, and a repeating reminder fires once for all the times that it missed. Its words
live as long as the message that they came from.
"""

from collections.abc import Callable, Generator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

from pydantic import TypeAdapter

from bot import labels
from bot.access import chat_settings
from bot.chat.prompt import PLANNED, PLANNED_LATE
from bot.chat.turns import Turns
from bot.clock import Clock
from bot.commands.base import Wished
from bot.event_json import dump_reminder, dump_value
from bot.events import ChatId, Envelope, Incoming, Kind, PersonId, ScheduledPrompt, SentId
from bot.features.reminders import schedules
from bot.features.reminders.schedules import Plan, PlannedReminder, UnfitWish
from bot.i18n import phrases as common_phrases
from bot.i18n.catalogues import Sentence, say
from bot.i18n.language import use_language
from bot.labels import UNKNOWN, Labels
from bot.settings import LocaleSettings
from bot.settings.values import is_zone
from bot.trust.links import inert
from bot.trust.rules import may_carry_out
from store import Arrival, ConversationId, Reminder, Repositories, Store, TurnId
from tools import BadArguments, Denied, RateLimited, ToolContext, Wish

REMINDER_LATE = Sentence("REMINDER_LATE", "⏰ {text}\n\n({late} late: I was offline.)")
REMINDER_WORDLESS = Sentence(
    "REMINDER_WORDLESS", "⏰ You wanted a reminder now. What it was about disappeared with your message."
)

MAX_REMINDERS = 50
"""How many reminders one person can have, in all conversations together."""

_LATER = timedelta(hours=1)
"""How much later a reminder comes that is put off by a reaction."""

_LATE = timedelta(minutes=2)
"""From this delay on people read that it is late; shorter ones are normal for the loop."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Asker:
    """The person who wants to be reminded, the chat, and the cause."""

    person: PersonId
    chat: ChatId
    conversation: ConversationId
    sent_at: SentId
    """The time of their message, which is quoted in a group; 0 if unknown."""
    origin: str
    """Identifies the call or the message, so that it plans only once."""
    turn: TurnId | None = None
    expires_at: datetime | None = None
    """When their message disappears; None if it stays, or the turn knows."""
    scheduled: ScheduledPrompt = field(default_factory=lambda: ScheduledPrompt(labels=Labels(), is_own=True))
    """Where the words come from, and what a prompt can do; by default the person gave them in a command."""


@dataclass(frozen=True, kw_only=True, slots=True)
class _Place:
    """The stored part about where and when."""

    person: PersonId
    chat: ChatId
    sent_at: SentId
    plan: Plan
    planned_at: datetime | None = None
    """When the person was certainly in the chat; None if unknown."""


@dataclass(frozen=True, kw_only=True, slots=True)
class _Words:
    """The stored part about what to say."""

    text: str
    prompt: str | None
    scheduled: ScheduledPrompt = field(default_factory=lambda: ScheduledPrompt(labels=UNKNOWN))
    """Where they come from, and what a prompt can do; the default is for reminders planned before there were labels."""

    @property
    def safe_text(self) -> str:
        """The text, with inert links if an address in it could carry something out."""
        return inert(self.text) if may_carry_out(self.scheduled.labels) else self.text


_places: TypeAdapter[_Place] = TypeAdapter(_Place)
_words: TypeAdapter[_Words] = TypeAdapter(_Words)


def asks(reminder: Reminder) -> bool:
    """Whether it asks a question when it is due, rather than only saying something; False if it cannot be read."""
    try:
        return reminder.words is not None and _words.validate_json(reminder.words).prompt is not None
    except ValueError:
        return False


def pass_over(repos: Repositories, reminder: Reminder, now: datetime) -> None:
    """Skips this time of a reminder, within a transaction: it is due again at its next one, or over."""
    try:
        plan = _places.validate_json(reminder.plan).plan
    except ValueError:  # written by a newer version: its next time is unknown
        repos.reminders.settle(reminder.id, now=now)
    else:
        _go_on(repos, reminder, None if reminder.words is None else schedules.next_after(plan, now), now)


def _go_on(repos: Repositories, reminder: Reminder, next_at: datetime | None, now: datetime) -> None:
    """Makes it due again at this time, or ends it; for a day it can still be put off."""
    if next_at is None:
        repos.reminders.end(reminder.id, now=now)
    else:
        repos.reminders.again(reminder.id, next_at)


class Reminders:
    """The reminders of all people. Methods that take `repos` run within a transaction.

    `account` is Aldis's own account; `locale` has the time zone of a person who has named none.
    """

    def __init__(self, store: Store, clock: Clock, turns: Turns, *, account: str, locale: LocaleSettings) -> None:
        self._store = store
        self._clock = clock
        self._turns = turns
        self._account = account
        self._timezone = locale.timezone
        self._is_zone_known = "timezone" in locale.model_fields_set

    # For the tool

    async def add(self, wish: Wish, context: ToolContext) -> PlannedReminder:
        """Plans one for the person who asks in this turn; repeating the same call after a crash changes nothing.

        Raises:
            BadArguments: the time does not exist, is past or too far away; the message says which.
            RateLimited: the person has as many reminders as allowed.
            Denied: the question was taken back, or a reminder itself asks it.
        """
        conversation, turn = await self._conversation(context), TurnId(context.turn)

        def transact(repos: Repositories) -> PlannedReminder:
            if not repos.journal.is_running(turn):
                raise Denied("the question was taken back")
            if repos.reminders.is_run_by_one(turn):
                raise Denied("a reminder that is being run plans no other; answer without it")
            asker = Asker(
                person=PersonId(context.person),
                chat=ChatId(context.chat),
                conversation=conversation,
                sent_at=SentId(repos.reminders.asked_at(turn)),
                origin=context.call,
                turn=turn,
                scheduled=ScheduledPrompt(labels=labels.load_labels(context.origin), addresses=context.addresses),
            )
            return self.plan(repos, wish, asker)

        with _for_the_model():
            return await self._store.transaction(transact)

    async def check(self, wish: Wish, context: ToolContext) -> None:
        """Raises what `add` would raise about the wish, and plans nothing."""
        with _for_the_model():
            await self._store.read(lambda repos: self._first_plan(repos, wish, PersonId(context.person)))

    async def upcoming(self, context: ToolContext) -> tuple[PlannedReminder, ...]:
        """Returns those of the person who asks, in this conversation, the next one first."""
        conversation = await self._conversation(context)
        return await self._store.read(lambda repos: self.all(repos, PersonId(context.person), conversation))

    async def cancel(self, number: int, context: ToolContext) -> PlannedReminder | None:
        """Cancels one of the person who asks; returns what it was, None if no reminder has this number."""
        conversation, person = await self._conversation(context), PersonId(context.person)
        return await self._store.transaction(lambda repos: self.cancel_within(repos, person, conversation, number))

    async def _conversation(self, context: ToolContext) -> ConversationId:
        return await self._store.conversation(context.chat, now=self._clock.now())

    # For commands

    async def live_in(self, person: PersonId, zone: str) -> bool | None:
        """Sets the person's time zone; None if there is no such zone, and nothing has changed.

        If none was known before, what they planned by the assumed zone moves to their own clock; returns whether that
        changes when anything is due.
        """
        if not is_zone(zone):
            return None
        direct = await self._store.conversation(ChatId.direct(person), now=self._clock.now())

        def keep(repos: Repositories) -> bool:
            is_first = repos.reminders.zone(ChatId.direct(person)) is None
            repos.reminders.keep_zone(direct, zone)
            planned = repos.reminders.of_person(person) if is_first and zone != self._timezone else ()
            return sum(self._move(repos, reminder, zone) for reminder in planned) > 0

        return await self._store.transaction(keep)

    def _move(self, repos: Repositories, reminder: Reminder, zone: str) -> bool:
        """Moves what was planned by the assumed zone to the clock of this one; returns whether its time changes."""
        place = _places.validate_json(reminder.plan) if reminder.plan else None
        if place is None or place.plan.zone != self._timezone or reminder.is_delay:
            return False
        if (moved := schedules.move_plan(place.plan, zone, now=self._clock.wall())) is None:
            return False
        plan, due_at = moved
        repos.reminders.move(reminder, _places.dump_json(replace(place, plan=plan)), due_at)
        return due_at != reminder.due_at

    def zone(self, repos: Repositories, person: PersonId) -> str:
        """Returns the person's time zone as far as known."""
        return repos.reminders.zone(ChatId.direct(person)) or self._timezone

    def plan(self, repos: Repositories, wish: Wish, asker: Asker) -> PlannedReminder:
        """Plans a reminder; what the same origin has planned before is returned unchanged.

        Raises:
            UnfitWish: there is no such time, or not one that can be planned, or the person has too many.
        """
        known = repos.reminders.of_origin(asker.origin)
        if known is not None:
            return self._shown(repos, asker.person, known)
        person, chat, now = asker.person, asker.chat, self._clock.now()
        plan, due_at = self._first_plan(repos, wish, person)
        put = repos.reminders.put(
            asker.conversation,
            person,
            asker.origin,
            plan=_places.dump_json(_Place(person=person, chat=chat, sent_at=asker.sent_at, plan=plan, planned_at=now)),
            words=_words.dump_json(_Words(text=wish.text, prompt=wish.prompt, scheduled=asker.scheduled)),
            due_at=due_at,
            turn=asker.turn,
            expires_at=asker.expires_at,
            is_delay=wish.delay_seconds is not None and wish.repeat is None,
        )
        if chat.is_group:
            repos.members.want(asker.conversation)
        shown = self._shown(repos, person, put)
        if self._is_zone_known or repos.reminders.zone(ChatId.direct(person)) is not None:
            return shown
        # They are asked for it once in each chat.
        is_asked = chat_settings.settings_of(repos, asker.conversation, now).told_zone
        chat_settings.change(repos, asker.conversation, now, lambda settings: replace(settings, told_zone=True))
        return replace(shown, zone_is_known=is_asked)

    def _first_plan(self, repos: Repositories, wish: Wish, person: PersonId) -> tuple[Plan, datetime]:
        plan, due_at = schedules.first_plan(wish, now=self._clock.wall(), zone=self.zone(repos, person))
        if repos.reminders.count(person) >= MAX_REMINDERS:
            raise UnfitWish("many", f"The person has {MAX_REMINDERS} reminders already; one must be cancelled first.")
        return plan, due_at

    def all(self, repos: Repositories, person: PersonId, conversation: ConversationId) -> tuple[PlannedReminder, ...]:
        """Returns what the person has planned in this conversation, the next one first."""
        found = repos.reminders.of_person(person, conversation)
        return tuple(self._shown(repos, person, reminder) for reminder in found)

    def cancel_within(
        self, repos: Repositories, person: PersonId, conversation: ConversationId, number: int
    ) -> PlannedReminder | None:
        """Cancels a reminder of the person; returns what it was, None if there is none."""
        for reminder in repos.reminders.of_person(person, conversation):
            if reminder.number == number:
                repos.reminders.settle(reminder.id, now=self._clock.now())
                return self._shown(repos, person, reminder)
        return None

    def _shown(self, repos: Repositories, person: PersonId, reminder: Reminder) -> PlannedReminder:
        """The reminder as people and models see it."""
        plan = _places.validate_json(reminder.plan).plan if reminder.plan else None
        words = _words.validate_json(reminder.words) if reminder.words is not None else None
        return PlannedReminder(
            number=reminder.number,
            text=words and words.text,
            prompt=words and words.prompt,
            due_at=reminder.due_at,
            in_seconds=round((reminder.due_at - self._clock.wall()).total_seconds()),
            timezone=self.zone(repos, person),
            repeat=plan and plan.repeat,
            loses_words=reminder.expires_at is not None and reminder.expires_at <= reminder.due_at,
            origin="" if words is None else labels.dump_labels(words.scheduled.labels).decode(),
        )

    def react(
        self, repos: Repositories, conversation: ConversationId, person: PersonId, target: SentId, wish: Wished
    ) -> bool:
        """Does what a reaction to our message wants of the person's reminders; False: it is about none."""
        turn = repos.sent_messages.turn_of(conversation, target)
        found = () if turn is None else repos.reminders.of_turn(turn, person)
        for reminder in found:
            place = _places.validate_json(reminder.plan)
            words = _words.validate_json(reminder.words or b"")
            text = as_sentence(words.safe_text)
            with use_language(self._turns.language(repos, conversation)):
                if wish == "later":
                    when = self._postpone(repos, reminder, place)
                    self._tell(repos, reminder, place, say(common_phrases.REMINDER_SET, when=when, text=text))
                elif wish == "cancel" and not reminder.is_over:
                    self._tell(repos, reminder, place, say(common_phrases.REMINDER_CANCELLED, text=text))
            if wish == "cancel" or (wish == "done" and reminder.is_over):
                repos.reminders.settle(reminder.id, now=self._clock.now())
        return bool(found)

    def _postpone(self, repos: Repositories, reminder: Reminder, place: _Place) -> str:
        """Has it come an hour later, or an hour from now if it has come; returns when, in words."""
        now = self._clock.wall()
        is_to_come = not reminder.is_over and place.plan.repeat is None
        due_at = (reminder.due_at if is_to_come else now) + _LATER
        if not is_to_come and not reminder.is_over:
            due_at = min(due_at, reminder.due_at)  # a repeated one comes anyway
        repos.reminders.revive(reminder.id, due_at)
        zone = ZoneInfo(self.zone(repos, place.person))
        at, here = (moment.astimezone(zone).replace(tzinfo=None) for moment in (due_at, now))
        return common_phrases.spoken_time(at, here, tells_how_soon=True)

    # For the loop

    def attend(self, repos: Repositories, reminder: Reminder, *, may_write: Callable[[PersonId, ChatId], bool]) -> bool:
        """Fires it up to its next time or its end; returns whether it was said or asked.

        It is dropped if its person can no longer write there, or has left the group.

        Raises:
            ValueError: a newer version wrote it.
        """
        now = self._clock.now()
        place = _places.validate_json(reminder.plan)
        words = None if reminder.words is None else _words.validate_json(reminder.words)
        since = place.planned_at or datetime.fromtimestamp(0, UTC)
        has_left = place.chat.is_group and repos.members.has_left(place.chat, ChatId.direct(place.person), since=since)
        if has_left or not may_write(place.person, place.chat):
            repos.reminders.settle(reminder.id, now=now)
            return False
        if words is None:
            self._tell(repos, reminder, place, REMINDER_WORDLESS)
            repos.reminders.settle(reminder.id, now=now)
            return True
        late = self._clock.wall() - reminder.due_at
        if words.prompt is not None:
            repos.inbox.put(self._asking(reminder, place, words, is_late=late >= _LATE))
        else:
            with use_language(self._turns.language(repos, reminder.conversation)):
                seconds = common_phrases.duration(late.total_seconds()) if late >= _LATE else ""
                sentence = REMINDER_LATE if seconds else common_phrases.REMINDER
                self._tell(repos, reminder, place, say(sentence, text=words.safe_text, late=seconds))
        _go_on(repos, reminder, schedules.next_after(place.plan, self._clock.settled_now()), now)
        return True

    def _tell(self, repos: Repositories, reminder: Reminder, place: _Place, text: str | Sentence) -> None:
        """Says it in the chat; in a group it quotes the message that asked for it, which notifies its author."""
        message = Incoming(author=place.person, name=None, chat=place.chat, sent_at=place.sent_at, text="⏰")
        self._turns.tell(
            repos, reminder.conversation, message, text, expires_at=reminder.expires_at, origin=reminder.origin
        )

    def _asking(self, reminder: Reminder, place: _Place, words: _Words, *, is_late: bool) -> Arrival:
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


def as_sentence(text: str) -> str:
    """Returns the text with a full stop, unless it has an end of its own."""
    return text if text[-1:] in ".!?…" else f"{text}."


@contextmanager
def _for_the_model() -> Generator[None]:
    """Raises what is unfit about a wish as an answer to the model."""
    try:
        yield
    except UnfitWish as error:
        kind = RateLimited if error.reason == "many" else BadArguments
        raise kind(str(error)) from error
