"""The tool `remind`: tells the person something later, or asks a question for them, once or repeatedly.

The model has to work out the time; nothing here guesses what people mean by "next Friday".
"""

from collections.abc import Callable, Mapping
from datetime import date
from typing import Any, Literal, TypeVar

from pydantic import Field

from bot import labels
from bot.events import ChatId, Incoming, PersonId, ScheduledPrompt, SentId
from bot.features.reminders.schedules import MAX_AHEAD, UnfitWish, describe_moment
from bot.features.reminders.service import PlannedReminder, Reminders
from bot.settings.values import is_zone
from store import ConversationId, Repositories, TurnId
from tools import (
    Approval,
    Arguments,
    BadArguments,
    Denied,
    Every,
    Intent,
    NotFound,
    RateLimited,
    Repeat,
    Result,
    ToolContext,
    ToolSpec,
    Weekday,
    Wish,
)

T = TypeVar("T")

_MAX_TEXT_CHARS = 1000
_WARNING = (
    "messages in this conversation disappear before that time: the person will read that there was a reminder, but"
    " not what it said. Tell them so now."
)


class RemindArguments(Arguments):
    """What to do with reminders."""

    rare = frozenset({"interval", "nth", "count", "until", "timezone"})

    action: Literal["set", "list", "cancel", "timezone"] = Field(
        description="set needs text and a time; cancel needs number; timezone saves the person's time zone."
    )
    text: str | None = Field(
        default=None, min_length=1, max_length=_MAX_TEXT_CHARS, description="What to tell the person then."
    )
    prompt: str | None = Field(
        default=None,
        min_length=1,
        max_length=_MAX_TEXT_CHARS,
        description=(
            "Only if there is work to do then (look up the weather): the question to ask you at that time, complete in"
            " itself."
        ),
    )
    local_datetime: str | None = Field(
        default=None,
        pattern=r"^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}$",
        description="YYYY-MM-DDTHH:MM in the person's local time; if it repeats, the first time.",
    )
    delay_seconds: int | None = Field(
        default=None,
        ge=1,
        le=int(MAX_AHEAD.total_seconds()),
        description="Instead: the delay from now, for 'in 10 minutes'.",
    )
    half_of_day_given: bool = Field(
        default=True,
        description=(
            "false if local_datetime is from a bare hour ('at 5', 'um 5'): without morning, evening, am, pm or an hour"
            " above 12. The tool then finds the half of the day."
        ),
    )
    day_given: bool = Field(default=True, description="false if they named no day, only an hour.")
    timezone: str | None = Field(
        default=None, max_length=60, description="An IANA zone; default: the one in the person's message."
    )
    repeat: Every | None = Field(default=None, description="Default: once.")
    interval: int = Field(default=1, ge=1, le=1000, description="2 with week: every other week.")
    weekdays: tuple[Weekday, ...] = Field(default=(), max_length=7, description="mo to fr with week: every weekday.")
    nth: Literal[1, 2, 3, 4, -1] | None = Field(
        default=None, description="With month and one weekday: which one of the month; -1 is the last."
    )
    count: int | None = Field(default=None, ge=1, le=1000, description="How many times in total.")
    until: date | None = Field(default=None, description="The last day, YYYY-MM-DD.")
    number: int | None = Field(default=None, ge=1, description="The number from set or list.")


def _intent(given: RemindArguments) -> Intent:
    if given.action == "set":
        wish = _wish(given)
        kind = "remind" if wish.prompt is None else "remind_ask"
        beside = {} if wish.prompt is None else {"prompt": wish.prompt}
        return Intent(kind, {"when": wish, "text": wish.text, **beside})
    values = {"cancel": {"number": given.number}, "timezone": {"zone": given.timezone}, "list": {}}[given.action]
    return Intent(f"remind_{given.action}", values)


def _approval(given: RemindArguments) -> Approval:
    """Returns when a call asks first: what is done later without the person, or undone, each time."""
    is_plain = given.action in {"set", "list"} and given.prompt is None
    return "by_labels" if is_plain else "each_by_labels"


class Remind:
    """Plans, lists and cancels a person's reminders in the conversation."""

    spec = ToolSpec(
        name="remind",
        description=(
            "Reminds the person in this conversation, once or repeatedly, or asks you a question for them then; lists"
            " and cancels reminders. A message that begins with /remind asks for one. Work out the local time"
            " from the date and zone at the start of their message; never guess an hour that they did not give: ask"
            " (tonight, said in the evening, is in an hour)."
            " Confirm the time that it returns as people say it: OK, at 20:14 (in 10 minutes): take the pizza out. If"
            " zone_is_known is false, ask once whether it is that time where they are; if not, save their zone with"
            " action timezone, cancel this one and set it again."
        ),
        arguments=RemindArguments,
        intent=_intent,
        effects="repeatable",
        label="kept",
        only_reads=frozenset({"action=list"}),
        approval=_approval,
    )

    def __init__(self, reminders: Reminders) -> None:
        self._reminders = reminders

    async def check(self, arguments: RemindArguments, context: ToolContext) -> None:
        """Refuses times that cannot be planned, and numbers of no reminder.

        Raises:
            ToolError: as `run`.
        """
        person = PersonId(context.person)
        if arguments.action == "set":
            wish = _wish(arguments)
            await self._within(context, lambda repos, _: self._reminders.first_plan(repos, wish, person))
        elif arguments.action == "cancel" and arguments.number is not None:
            planned = await self._within(context, lambda repos, here: self._reminders.all(repos, person, here))
            numbers = [reminder.row.number for reminder in planned]
            if arguments.number not in numbers:
                raise NotFound(f"there is no reminder {arguments.number} here; there are {numbers}")

    async def run(self, arguments: RemindArguments, context: ToolContext) -> Result:
        """Returns the reminders that the action is about; the same call after a crash plans nothing more.

        Raises:
            BadArguments: the action lacks an argument, or its time does not exist, is past or too far away.
            RateLimited: the person has as many reminders as allowed.
            Denied: the question was taken back, or a reminder itself asks it.
            NotFound: there is no such reminder.
        """
        person, number, zone = PersonId(context.person), arguments.number, arguments.timezone
        if arguments.action == "set":
            wish = _wish(arguments)
            added = await self._within(context, lambda repos, here: self._plan(repos, here, wish, context))
            return Result(data=_data(added), origins=(added.origin,))
        if arguments.action == "list":
            planned = await self._within(context, lambda repos, here: self._reminders.all(repos, person, here))
            origins = tuple(reminder.origin for reminder in planned)
            return Result(data={"reminders": [_data(reminder) for reminder in planned]}, origins=origins)
        if arguments.action == "cancel":
            if number is None:
                raise BadArguments("number: which one? Action list shows the numbers")
            cancelled = await self._within(
                context, lambda repos, here: self._reminders.cancel(repos, person, here, number)
            )
            if not cancelled:
                raise NotFound(f"there is no reminder {number} here; action list shows those that there are")
            return Result(data={"cancelled": _data(cancelled[0])}, origins=(cancelled[0].origin,))
        if zone is None:
            raise BadArguments("timezone: which zone?")
        if not is_zone(zone):
            raise BadArguments(f"there is no time zone {zone!r}; use an IANA name such as Europe/Berlin")
        await self._reminders.live_in(person, zone)
        return Result(data={"timezone": zone})

    async def _within(self, context: ToolContext, work: Callable[[Repositories, ConversationId], T]) -> T:
        """Does the work in the conversation of the call; what is unfit about a wish is raised for the model."""
        store = self._reminders.store
        here = await store.conversation(context.chat, now=self._reminders.clock.now())
        try:
            return await store.transaction(lambda repos: work(repos, here))
        except UnfitWish as error:
            kind = RateLimited if error.reason == "many" else BadArguments
            raise kind(str(error)) from error

    def _plan(
        self, repos: Repositories, conversation: ConversationId, wish: Wish, context: ToolContext
    ) -> PlannedReminder:
        turn = TurnId(context.turn)
        if not repos.journal.is_running(turn):
            raise Denied("the question was taken back")
        if repos.reminders.is_run_by_one(turn):
            raise Denied("a reminder that is being run plans no other; answer without it")
        message = Incoming(
            author=PersonId(context.person),
            name=None,
            chat=ChatId(context.chat),
            sent_at=SentId(repos.reminders.asked_at(turn)),
            text="",
        )
        scheduled = ScheduledPrompt(labels=labels.load_labels(context.origin), addresses=context.addresses)
        return self._reminders.plan(repos, wish, conversation, message, scheduled, origin=context.call, turn=turn)


def _wish(given: RemindArguments) -> Wish:
    if given.text is None:
        raise BadArguments("text: what should the person be told?")
    if given.repeat is None and (given.weekdays or given.nth or given.count or given.until):
        raise BadArguments("repeat: needed by weekdays, nth, count and until")
    repeat = given.repeat and Repeat(
        every=given.repeat,
        interval=given.interval,
        weekdays=given.weekdays,
        nth=given.nth,
        count=given.count,
        until=given.until,
    )
    return Wish(
        text=given.text,
        prompt=given.prompt,
        local=given.local_datetime,
        delay_seconds=given.delay_seconds,
        timezone=given.timezone,
        repeat=repeat,
        names_half=given.half_of_day_given,
        names_day=given.day_given,
    )


def _data(planned: PlannedReminder) -> Mapping[str, Any]:
    repeat, words = planned.repeat, planned.words
    shown = {
        "number": planned.row.number,
        "when": describe_moment(planned.row.due_at, planned.timezone),
        "in_seconds": planned.in_seconds,
        "text": words and words.text,
        "prompt": words and words.prompt,
        "repeats": repeat and {"every": repeat.every, "interval": repeat.interval, "weekdays": list(repeat.weekdays)},
        "warning": _WARNING if planned.loses_words else None,
        "zone_is_known": None if planned.zone_is_known else False,
    }
    return {name: value for name, value in shown.items() if value is not None or name == "text"}
