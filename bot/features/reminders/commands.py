"""The commands about time: a person's reminders, and the time zone that they live in."""

import re
from collections.abc import Mapping
from dataclasses import replace
from zoneinfo import ZoneInfo

from bot import labels
from bot.commands import phrases as command_phrases
from bot.commands.base import Call, CommandContext, CommandGroup, WrongWords, command
from bot.features.reminders import phrases
from bot.features.reminders.service import Asker, Reminders
from bot.i18n import phrases as common_phrases
from bot.i18n import time_grammar
from bot.i18n.catalogues import Sentence, say
from bot.policy import zones
from bot.policy.schedules import Reason, UnfitWish
from bot.policy.trust import may_carry_out
from bot.turn import chats
from bot.turn import phrases as turn_phrases
from bot.turn.journal import origin_of
from bot.turn.links import inert
from store import Repositories
from tools import PlannedReminder, Weekday

_CANCEL = re.compile(
    r"(?:cancel|cancle|delete|remove|lösche?n?|abbrechen|annuler?|supprimer?|cancelar?|borrar?|eliminar?)"
    r"(?:\s+(?:n[or]?[.°º]?\s*|#\s*)?(\d{1,9})\.?)?",
    re.IGNORECASE,
)
_DAYS: tuple[Weekday, ...] = ("mo", "tu", "we", "th", "fr", "sa", "su")
_REASONS: Mapping[Reason, Sentence] = {
    "zone": phrases.NO_SUCH_ZONE,
    "form": phrases.NO_SUCH_TIME,
    "over": phrases.TIME_IS_OVER,
    "far": phrases.TIME_TOO_FAR,
    "many": phrases.TOO_MANY_REMINDERS,
}


class ReminderCommands(CommandGroup):
    """Commands about what is to come, for everybody."""

    def __init__(self, context: CommandContext, reminders: Reminders) -> None:
        self._context = context
        self._reminders = reminders

    @command(
        "/remind [WHEN TEXT|cancel N]",
        phrases.ABOUT_REMIND,
        section="later",
        examples=(*phrases.REMIND_EXAMPLES, "/remind cancel 2"),
    )
    async def _remind(self, call: Call) -> None:
        """Reminds of something later, once or repeatedly; without an argument shows what is planned, `cancel N`
        cancels.
        """
        rest = call.command.rest
        if not rest:
            await self._context.answer(call, lambda repos: self._list(repos, call))
        elif match := _CANCEL.fullmatch(rest):
            number = None if match[1] is None else int(match[1])
            await self._context.answer(call, lambda repos: self._cancel(repos, call, number))
        else:
            await self._context.answer(call, lambda repos: self._plan(repos, call, rest))

    def _plan(self, repos: Repositories, call: Call, rest: str) -> str:
        message, now = call.message, self._context.clock.wall()
        zone = self._reminders.zone(repos, message.author)
        # The time is looked for first at the beginning, then at the end, and a bare length last, because "2 hours of
        # yoga tomorrow at 9" has another time.
        wish = (
            time_grammar.read(rest, now=now, zone=zone)
            or time_grammar.find(rest, now=now, zone=zone)
            or (time_grammar.read(f"in {rest}", now=now, zone=zone) if rest[0].isdigit() else None)
        )
        lacks_hour = wish is None
        if wish is None:
            wish = time_grammar.read(rest, now=now, zone=zone, lacks_hour=True)
        if wish is None:
            wish = time_grammar.find(rest, now=now, zone=zone, lacks_hour=True)
        if wish is None:
            raise WrongWords
        asker = Asker(
            person=message.author,
            chat=message.chat,
            conversation=call.conversation,
            sent_at=message.sent_at,
            origin=origin_of(call.urgent_item.item.id),
            expires_at=call.urgent_item.item.expires_at,
        )
        try:
            planned = self._reminders.plan(repos, wish, asker)
        except UnfitWish as error:
            reason = _REASONS[error.reason]
            local = phrases.when(now.astimezone(ZoneInfo(zone)), zone)
            return say(reason, now=local) if error.reason == "over" else say(reason)
        return _reply(planned, lacks_hour=lacks_hour, assumes_zone=self._is_news(repos, call, planned))

    def _is_news(self, repos: Repositories, call: Call, planned: PlannedReminder) -> bool:
        """Whether its time zone is assumed, and nobody was told that here before."""
        now = self._context.clock.now()
        if planned.zone_is_known or chats.settings_of(repos, call.conversation, now).told_zone:
            return False
        chats.change(repos, call.conversation, now, lambda settings: replace(settings, told_zone=True))
        return True

    def _list(self, repos: Repositories, call: Call) -> str:
        planned = self._reminders.all(repos, call.message.author, call.conversation)
        return "\n".join(map(_line, planned)) or say(common_phrases.NO_REMINDERS)

    def _cancel(self, repos: Repositories, call: Call, number: int | None) -> str:
        """Cancels that one; None: asks which."""
        if number is None:
            listed, has_any = (
                self._list(repos, call),
                self._reminders.all(repos, call.message.author, call.conversation),
            )
            return f"{listed}\n\n{say(phrases.WHICH_REMINDER)}" if has_any else listed
        cancelled = self._reminders.cancel_within(repos, call.message.author, call.conversation, number)
        if cancelled is None:
            return say(phrases.NO_SUCH_REMINDER)
        self._context.once(repos, call)  # the next reminder may get the same number
        return say(common_phrases.REMINDER_CANCELLED, text=_words(cancelled))

    @command(
        "/timezone [NAME]",
        phrases.ABOUT_TIMEZONE,
        section="later",
        examples=("/timezone", "/timezone Berlin", "/timezone Europe/Lisbon"),
    )
    async def _timezone(self, call: Call) -> None:
        """Sets this person's time zone: a city, an abbreviation or an offset. What they planned before it was known
        moves to its clock.
        """
        words, person = call.command.rest, call.message.author
        found = zones.zones(words, self._context.clock.wall()) if words else ()
        moved = await self._reminders.live_in(person, found[0]) if len(found) == 1 else None
        if words and moved is None:
            await self._context.answer(
                call, lambda _: command_phrases.which(words, found) if found else say(phrases.NO_SUCH_ZONE)
            )
            return

        def reply(repos: Repositories) -> str:
            zone = self._reminders.zone(repos, person)
            now = phrases.when(self._context.clock.wall().astimezone(ZoneInfo(zone)), zone)
            told = say(phrases.TIMEZONE, zone=zone, now=now)
            return f"{told} {say(phrases.REMINDERS_MOVED)}" if moved else told

        await self._context.answer(call, reply)


def _reply(planned: PlannedReminder, *, lacks_hour: bool, assumes_zone: bool) -> str:
    """The reply to a new reminder, with the time as it was understood; `lacks_hour`: its hour was chosen here, and
    `assumes_zone`: its zone, which is told.
    """
    if planned.prompt is None:
        what = common_phrases.REMINDER_SET if planned.repeat is None else phrases.REMINDER_SET_AGAIN
    else:
        what = phrases.QUESTION_SET if planned.repeat is None else phrases.QUESTION_SET_AGAIN
    remarks = [
        say(phrase, time=f"{planned.due_at.astimezone(ZoneInfo(planned.timezone)):%H:%M}")
        for phrase, holds in (
            (phrases.REMINDER_USUAL_HOUR, lacks_hour),
            (phrases.REMINDER_SHIFTED, planned.is_shifted),
            (phrases.REMINDER_LOSES_WORDS, planned.loses_words),
        )
        if holds
    ]
    if assumes_zone:
        remarks.append(say(phrases.REMINDER_ZONE, zone=planned.timezone))
    return "\n\n".join([_filled(what, planned), *remarks])


def _line(planned: PlannedReminder) -> str:
    line = _filled(phrases.REMINDER_LINE if planned.repeat is None else phrases.REMINDER_LINE_AGAIN, planned)
    return line if planned.prompt is None else f"{line} {say(phrases.IS_QUESTION)}"


def _filled(phrase: Sentence, planned: PlannedReminder) -> str:
    return say(
        phrase,
        number=planned.number,
        when=phrases.when(planned.due_at.astimezone(ZoneInfo(planned.timezone)), planned.timezone),
        repeats=_repeats(planned),
        text=_words(planned),
    )


def _repeats(planned: PlannedReminder) -> str:
    repeat = planned.repeat
    if repeat is None:
        return ""
    days = [_DAYS.index(day) for day in repeat.weekdays]
    return turn_phrases.repeats(repeat.every, repeat.interval, days, repeat.nth)


def _words(planned: PlannedReminder) -> str:
    if planned.text is None:
        return say(phrases.REMINDER_NO_WORDS)
    return inert(planned.text) if may_carry_out(labels.load_labels(planned.origin)) else planned.text
