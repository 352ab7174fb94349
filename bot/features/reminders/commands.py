"""The commands about time: a person's reminders, and the time zone that they live in."""

import re
from datetime import datetime
from zoneinfo import ZoneInfo

from bot import labels
from bot.chat import phrases as turn_phrases
from bot.chat.journal import origin_of
from bot.commands.base import Answer, Call, CommandContext, CommandGroup, command
from bot.features.reminders import phrases, time_grammar
from bot.features.reminders.schedules import PlannedReminder, UnfitWish, zone_meant
from bot.features.reminders.service import Asker, Reminders
from bot.i18n import phrases as common_phrases
from bot.i18n.catalogues import say
from bot.i18n.language import use_language
from bot.trust.links import inert
from bot.trust.rules import may_carry_out
from store import Repositories
from tools import Weekday

_CANCEL = re.compile(
    r"(?:cancel|cancle|delete|remove|lösche?n?|abbrechen|annuler?|supprimer?|cancelar?|borrar?|eliminar?)"
    r"(?:\s+(?:(?P<all>all|alle|alles|tou[ts]|tout|todos?)|(?:n[or]?[.°º]?\s*|#\s*)?(?P<number>\d{1,9})\.?|\S+))?",
    re.IGNORECASE,
)
_LIST = re.compile(r"(?:list|show|liste|zeige?n?|lister|montrer?|lista|mostrar?)?", re.IGNORECASE)
_ANY_TEXT = "tea"
_DAYS: tuple[Weekday, ...] = ("mo", "tu", "we", "th", "fr", "sa", "su")


class ReminderCommands(CommandGroup):
    """Commands about what is to come, for everybody."""

    def __init__(self, context: CommandContext, reminders: Reminders, *, has_model: bool, has_reactions: bool) -> None:
        """`has_model`: what is not understood here becomes a question to it."""
        self._context = context
        self._reminders = reminders
        self._has_model = has_model
        self._has_reactions = has_reactions
        self.on_reaction = reminders.react

    @command(
        "/remind [WHEN TEXT|list|cancel N|cancel all]",
        phrases.ABOUT_REMIND,
        section="later",
        examples=(*phrases.REMIND_EXAMPLES, "/remind list", "/remind cancel 2"),
    )
    async def _remind(self, call: Call) -> Answer | None:
        """Reminds of something later, once or repeatedly; `list` shows what is planned, `cancel N` cancels one of them
        and `cancel all` all. A time that is not in a plain form becomes a question to the model.
        """
        rest = call.command.rest
        if _LIST.fullmatch(rest):
            return lambda repos: self._list(repos, call)
        if match := _CANCEL.fullmatch(rest):
            return lambda repos: self._cancel(repos, call, match)
        language = await self._context.language(call)

        def plan(repos: Repositories) -> None:
            with use_language(language):
                self._plan(repos, call, rest)

        return await self._context.store.transaction(plan)

    def _plan(self, repos: Repositories, call: Call, rest: str) -> None:
        """Plans it and says so; what is not understood is asked, if there is a model to answer."""
        message, now = call.message, self._context.clock.wall()
        zone = self._reminders.zone(repos, message.author)
        local = now.astimezone(ZoneInfo(zone)).replace(tzinfo=None)
        wish = time_grammar.read(rest, now=now, zone=zone)
        lacks_text = wish is None and time_grammar.read(f"{rest} {_ANY_TEXT}", now=now, zone=zone) is not None
        asker = Asker(
            person=message.author,
            chat=message.chat,
            conversation=call.conversation,
            sent_at=message.sent_at,
            origin=origin_of(call.urgent_item.item.id),
            expires_at=call.urgent_item.item.expires_at,
        )
        try:
            planned = None if wish is None else self._reminders.plan(repos, wish, asker)
            reply = say(phrases.REMIND_WHAT) if lacks_text else None
            reply = reply if planned is None else self._reply(planned, local)
        except UnfitWish as error:
            reply = None if error.reason == "half" and self._has_model else phrases.refusal(error, local)
        if reply is not None:
            self._context.say(repos, call, call.conversation, reply)
        elif self._has_model:
            repos.inbox.as_question(call.urgent_item.item.id, None)
        else:
            self._context.say(repos, call, call.conversation, phrases.not_read())

    def _list(self, repos: Repositories, call: Call) -> str:
        planned = self._reminders.all(repos, call.message.author, call.conversation)
        return "\n".join(map(self._line, planned)) or say(common_phrases.NO_REMINDERS)

    def _cancel(self, repos: Repositories, call: Call, match: re.Match[str]) -> str:
        """Cancels one or all; without a number asks which."""
        person, conversation = call.message.author, call.conversation
        if match["number"]:
            cancelled = self._reminders.cancel_within(repos, person, conversation, int(match["number"]))
            if cancelled is None:
                return say(phrases.NO_SUCH_REMINDER, number=match["number"])
            self._context.once(repos, call)  # the next reminder may get the same number
            return say(common_phrases.REMINDER_CANCELLED, text=phrases.as_sentence(_words(cancelled)))
        planned = self._reminders.all(repos, person, conversation)
        if not planned or not match["all"]:
            listed = self._list(repos, call)
            return f"{listed}\n\n{say(phrases.WHICH_REMINDER)}" if planned else listed
        for one in planned:
            self._reminders.cancel_within(repos, person, conversation, one.number)
        self._context.once(repos, call)
        return say(phrases.ALL_CANCELLED, count=len(planned))

    def _reply(self, planned: PlannedReminder, now: datetime) -> str:
        """The reply to a new reminder, with the time as it was understood; `now` is by the person's clock."""
        what = (
            (common_phrases.REMINDER_SET if planned.repeat is None else phrases.REMINDER_SET_AGAIN)
            if planned.prompt is None
            else (phrases.QUESTION_SET if planned.repeat is None else phrases.QUESTION_SET_AGAIN)
        )
        remarks = [
            say(sentence, time=f"{now:%H:%M}", number=planned.number)
            for sentence, holds in (
                (phrases.CANCEL_BY_REACTION, self._has_reactions),
                (phrases.CANCEL_BY_COMMAND, not self._has_reactions),
                (phrases.REMINDER_LOSES_WORDS, planned.loses_words),
                (phrases.ASKS_ZONE, not planned.zone_is_known),
            )
            if holds
        ]
        when = phrases.when(planned, tells_how_soon=planned.repeat is None)
        return "\n\n".join(
            [say(what, when=when, repeats=_repeats(planned), text=phrases.as_sentence(_words(planned))), *remarks]
        )

    @staticmethod
    def _line(planned: PlannedReminder) -> str:
        sentence = phrases.REMINDER_LINE if planned.repeat is None else phrases.REMINDER_LINE_AGAIN
        line = say(
            sentence,
            number=planned.number,
            when=phrases.when(planned),
            repeats=_repeats(planned),
            text=_words(planned),
        )
        return line if planned.prompt is None else f"{line} {say(phrases.IS_QUESTION)}"

    @command(
        "/timezone [NAME]",
        phrases.ABOUT_TIMEZONE,
        section="later",
        examples=("/timezone", "/timezone Berlin", "/timezone Europe/Lisbon"),
    )
    async def _timezone(self, call: Call) -> Answer:
        """Sets this person's time zone, by a city or its name. What they planned before it was known moves to its
        clock.
        """
        words, person = call.command.rest, call.message.author
        zone = zone_meant(words) if words else None
        if words and zone is None:
            return phrases.NO_SUCH_ZONE
        moved = zone is not None and await self._reminders.live_in(person, zone)

        def reply(repos: Repositories) -> str:
            zone = self._reminders.zone(repos, person)
            now = f"{self._context.clock.wall().astimezone(ZoneInfo(zone)):%H:%M}"
            shown = say(phrases.TIMEZONE, zone=zone, now=now)
            return f"{shown} {say(phrases.REMINDERS_MOVED)}" if moved else shown

        return reply


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
