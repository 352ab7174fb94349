"""The commands about time: a person's reminders, and the time zone that they live in."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from zoneinfo import ZoneInfo

from bot.chat import phrases as turn_phrases
from bot.chat.journal import origin_of
from bot.commands.base import Answer, Call, CommandGroup, command
from bot.events import ScheduledPrompt
from bot.features.reminders import time_grammar
from bot.features.reminders.schedules import Reason, UnfitWish, zone_meant
from bot.features.reminders.service import PlannedReminder, Reminders, as_sentence
from bot.i18n import phrases as common_phrases
from bot.i18n.catalogues import Sentence, say
from bot.i18n.locale import join_list, long_day
from bot.i18n.phrases import spoken_time
from bot.labels import Labels
from store import Repositories

ABOUT_REMIND = Sentence(
    "ABOUT_REMIND",
    "reminds you later; on its own it shows your reminders. A TEXT that starts with `ask:` is asked as a "
    "question then.",
)
REMIND_EXAMPLE_IN = Sentence("REMIND_EXAMPLE_IN", "/remind in 20 minutes TEXT")
REMIND_EXAMPLE_TOMORROW = Sentence("REMIND_EXAMPLE_TOMORROW", "/remind tomorrow 9:00 TEXT")
REMIND_EXAMPLE_WEEKDAYS = Sentence("REMIND_EXAMPLE_WEEKDAYS", "/remind every weekday at 8 TEXT")
REMIND_EXAMPLE_ASK = Sentence("REMIND_EXAMPLE_ASK", "/remind every day at 7 ask: TEXT")
REMIND_EXAMPLES = (REMIND_EXAMPLE_IN, REMIND_EXAMPLE_TOMORROW, REMIND_EXAMPLE_WEEKDAYS, REMIND_EXAMPLE_ASK)
ABOUT_TIMEZONE = Sentence("ABOUT_TIMEZONE", "shows which time zone I use for you, or changes it.")
REMINDER_SET_AGAIN = Sentence("REMINDER_SET_AGAIN", "OK, {repeats}, first {when}: {text}")
QUESTION_SET = Sentence("QUESTION_SET", "OK, I'll answer this {when}: {text}")
QUESTION_SET_AGAIN = Sentence("QUESTION_SET_AGAIN", "OK, I'll answer this {repeats}, first {when}: {text}")
CANCEL_BY_REACTION = Sentence("CANCEL_BY_REACTION", "React ❌ to cancel.")
CANCEL_BY_COMMAND = Sentence("CANCEL_BY_COMMAND", "`/remind cancel {number}` cancels it.")
ASKS_ZONE = Sentence(
    "ASKS_ZONE",
    "It's {time} where you are, right? If not, cancel this, write `/timezone` and your city, and ask me again.",
)
IS_QUESTION = Sentence("IS_QUESTION", "(a question)")
REMINDER_LOSES_WORDS = Sentence(
    "REMINDER_LOSES_WORDS", "(Messages here disappear before then: I'll remind you, but won't know what about.)"
)
REMINDER_LINE = Sentence("REMINDER_LINE", "- {number}: {when}: {text}")
REMINDER_LINE_AGAIN = Sentence("REMINDER_LINE_AGAIN", "- {number}: {when}, {repeats}: {text}")
REMINDER_NO_WORDS = Sentence("REMINDER_NO_WORDS", "(its text has disappeared)")
NO_SUCH_REMINDER = Sentence("NO_SUCH_REMINDER", "There's no reminder {number} here. `/remind list` shows yours.")
ALL_CANCELLED = Sentence("ALL_CANCELLED", "One reminder cancelled.", "{count} reminders cancelled.")
WHICH_REMINDER = Sentence("WHICH_REMINDER", "Which one? `/remind cancel` with its number cancels it.")
TOO_MANY_REMINDERS = Sentence(
    "TOO_MANY_REMINDERS", "You have as many reminders as I can keep for one person. Please cancel one first."
)
TIME_IS_OVER = Sentence("TIME_IS_OVER", "It's already {now}. When do you mean?")
DAY_IS_OVER = Sentence("DAY_IS_OVER", "That day is over: it's {today} already. When do you mean?")
TONIGHT_IS_OVER = Sentence("TONIGHT_IS_OVER", "It's already {now}. When tonight?")
WHICH_HALF = Sentence("WHICH_HALF", "Do you mean {times}? Please write the reminder with that time.")
TIME_NOT_READ = Sentence("TIME_NOT_READ", "I don't understand that time. Try one like these.")
TIME_TOO_FAR = Sentence("TIME_TOO_FAR", "That is more than five years away.")
NO_SUCH_TIME = Sentence("NO_SUCH_TIME", "That time doesn't exist.")
NO_SUCH_ZONE = Sentence(
    "NO_SUCH_ZONE", "I don't know that time zone. Name the nearest big city, like Berlin or New York."
)
TIMEZONE = Sentence("TIMEZONE", "It's {now} where you are ({zone}).")

_REASONS: Mapping[Reason, Sentence] = {
    "zone": NO_SUCH_ZONE,
    "form": NO_SUCH_TIME,
    "over": TIME_IS_OVER,
    "far": TIME_TOO_FAR,
    "many": TOO_MANY_REMINDERS,
    "half": WHICH_HALF,
}
_EVENING = 17
_CANCEL = re.compile(
    r"(?:cancel|cancle|delete|remove|lösche?n?|abbrechen|annuler?|supprimer?|cancelar?|borrar?|eliminar?)"
    r"(?:\s+(?:(?P<all>all|alle|alles|tou[ts]|tout|todos?)|(?:n[or]?[.°º]?\s*|#\s*)?(?P<number>\d{1,9})\.?|\S+))?",
    re.IGNORECASE,
)
_LIST = re.compile(r"(?:list|show|liste|zeige?n?|lister|montrer?|lista|mostrar?)?", re.IGNORECASE)


@dataclass
class ReminderCommands(CommandGroup):
    """Commands about what is to come, for everybody."""

    reminders: Reminders
    has_model: bool
    """What is not understood here becomes a question to it."""
    has_reactions: bool

    @command(
        "/remind [WHEN TEXT|list|cancel N|cancel all]",
        ABOUT_REMIND,
        section="later",
        examples=(*REMIND_EXAMPLES, "/remind list", "/remind cancel 2"),
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
        return await self.context.store.transaction(lambda repos: self._plan(repos, call, rest))

    def _plan(self, repos: Repositories, call: Call, rest: str) -> None:
        """Plans it and says so; what is not understood is asked, if there is a model to answer."""
        message = call.message
        item = call.urgent_item
        now = self.context.clock.now()
        zone = self.reminders.zone(repos, message.author)
        local = now.astimezone(ZoneInfo(zone)).replace(tzinfo=None)
        wish = time_grammar.read(rest, now=now, zone=zone)
        scheduled = ScheduledPrompt(labels=Labels(), is_own=True)
        examples = (f"- `{say(example)}`" for example in REMIND_EXAMPLES[:2])
        reply = None if self.has_model else "\n".join([say(TIME_NOT_READ), *examples])
        try:
            if wish is not None:
                planned = self.reminders.plan(
                    repos,
                    wish,
                    call.conversation,
                    message,
                    scheduled,
                    origin=origin_of(item.id),
                    expires_at=item.expires_at,
                )
                reply = self._reply(planned, local)
        except UnfitWish as error:
            reply = reply if error.reason == "half" and self.has_model else _refusal(error, local)
        if reply is None:
            repos.inbox.as_question(item.id, None)
        else:
            self.context.say(repos, call, reply)

    def _list(self, repos: Repositories, call: Call) -> str:
        planned = self.reminders.all(repos, call.message.author, call.conversation)
        return "\n".join(map(_line, planned)) or say(common_phrases.NO_REMINDERS)

    def _cancel(self, repos: Repositories, call: Call, match: re.Match[str]) -> str:
        """Cancels one or all; without a number asks which."""
        person, conversation = call.message.author, call.conversation
        if number := match["number"]:
            for one in self.reminders.cancel(repos, person, conversation, int(number)):
                return say(common_phrases.REMINDER_CANCELLED, text=as_sentence(_words(one)))
            return say(NO_SUCH_REMINDER, number=number)
        if not match["all"] and self.reminders.all(repos, person, conversation):
            return f"{self._list(repos, call)}\n\n{say(WHICH_REMINDER)}"
        cancelled = self.reminders.cancel(repos, person, conversation)
        return say(ALL_CANCELLED, count=len(cancelled)) if cancelled else say(common_phrases.NO_REMINDERS)

    def _reply(self, planned: PlannedReminder, now: datetime) -> str:
        """The reply to a new reminder, with the time as it was understood; `now` is by the person's clock."""
        is_once = planned.repeat is None
        repeats = "" if planned.repeat is None else turn_phrases.repeats(planned.repeat)
        if planned.words is None or planned.words.prompt is None:
            what = common_phrases.REMINDER_SET if is_once else REMINDER_SET_AGAIN
        else:
            what = QUESTION_SET if is_once else QUESTION_SET_AGAIN
        when = planned.spoken_time(tells_how_soon=is_once)
        lines = [say(what, when=when, repeats=repeats, text=as_sentence(_words(planned)))]
        lines.append(say(CANCEL_BY_REACTION if self.has_reactions else CANCEL_BY_COMMAND, number=planned.row.number))
        lines += [say(REMINDER_LOSES_WORDS)] if planned.loses_words else []
        lines += [] if planned.zone_is_known else [say(ASKS_ZONE, time=f"{now:%H:%M}")]
        return "\n\n".join(lines)

    @command(
        "/timezone [NAME]",
        ABOUT_TIMEZONE,
        section="later",
        examples=("/timezone", "/timezone Berlin", "/timezone Europe/Lisbon"),
    )
    async def _timezone(self, call: Call) -> Answer:
        """Sets this person's time zone, by a city or its name."""
        words, person = call.command.rest, call.message.author
        zone = zone_meant(words) if words else None
        if words and zone is None:
            return NO_SUCH_ZONE
        if zone is not None:
            await self.reminders.live_in(person, zone)

        def reply(repos: Repositories) -> str:
            zone = self.reminders.zone(repos, person)
            return say(TIMEZONE, zone=zone, now=f"{self.context.clock.now().astimezone(ZoneInfo(zone)):%H:%M}")

        return reply


def _line(planned: PlannedReminder) -> str:
    line = say(
        REMINDER_LINE if planned.repeat is None else REMINDER_LINE_AGAIN,
        number=planned.row.number,
        when=planned.spoken_time(),
        repeats="" if planned.repeat is None else turn_phrases.repeats(planned.repeat),
        text=_words(planned),
    )
    return f"{line} {say(IS_QUESTION)}" if planned.words and planned.words.prompt else line


def _words(planned: PlannedReminder) -> str:
    return say(REMINDER_NO_WORDS) if planned.words is None else planned.words.shown


def _refusal(error: UnfitWish, now: datetime) -> str:
    """The reason why a wish cannot be planned; `now` is by the person's clock."""
    reason = _REASONS[error.reason]
    if error.reason == "over":
        [at] = error.times
        is_tonight = at.date() == now.date() and at.hour >= _EVENING
        reason = DAY_IS_OVER if at.date() < now.date() else TONIGHT_IS_OVER if is_tonight else reason
    times = join_list([spoken_time(at, now) for at in error.times], "or")
    return say(reason, now=now.strftime("%H:%M"), today=long_day(now), times=times)
