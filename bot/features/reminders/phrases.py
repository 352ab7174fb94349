"""The sentences about reminders."""

from collections.abc import Mapping
from datetime import datetime, timedelta
from zoneinfo import ZoneInfo

from bot.features.reminders.schedules import PlannedReminder, Reason, UnfitWish
from bot.i18n.catalogues import Sentence, say
from bot.i18n.locale import clock_time, join_list, long_day
from bot.i18n.phrases import spoken_time

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
REMINDER_LATE = Sentence("REMINDER_LATE", "⏰ {text}\n\n({late} late: I was offline.)")
REMINDER_WORDLESS = Sentence(
    "REMINDER_WORDLESS", "⏰ You wanted a reminder now. What it was about disappeared with your message."
)
REMINDER_LEFT_GROUP = Sentence(
    "REMINDER_LEFT_GROUP",
    "⏰ You planned this in a group that one of us has left, so it doesn't come there any more: {text}",
)
REMINDER_SET_AGAIN = Sentence("REMINDER_SET_AGAIN", "OK, {repeats}, first {when}: {text}")
QUESTION_SET = Sentence("QUESTION_SET", "OK, I'll answer this {when}: {text}")
QUESTION_SET_AGAIN = Sentence("QUESTION_SET_AGAIN", "OK, I'll answer this {repeats}, first {when}: {text}")
CANCEL_BY_REACTION = Sentence("CANCEL_BY_REACTION", "React ❌ to cancel.")
CANCEL_BY_COMMAND = Sentence("CANCEL_BY_COMMAND", "`/remind cancel {number}` cancels it.")
ASKS_ZONE = Sentence("ASKS_ZONE", "It's {time} where you are, right? If not, write `/timezone` and your city.")
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
REMIND_WHAT = Sentence("REMIND_WHAT", "What about? Please write it behind the time.")
TONIGHT_IS_OVER = Sentence("TONIGHT_IS_OVER", "It's already {now}. When tonight?")
WHICH_HALF = Sentence("WHICH_HALF", "Do you mean {times}? Please write the reminder with that time.")
TIME_NOT_READ = Sentence("TIME_NOT_READ", "I don't understand that time. Try one like these.")
TIME_TOO_FAR = Sentence("TIME_TOO_FAR", "That is more than five years away.")
NO_SUCH_TIME = Sentence("NO_SUCH_TIME", "That time doesn't exist.")
NO_SUCH_ZONE = Sentence(
    "NO_SUCH_ZONE", "I don't know that time zone. Name the nearest big city, like Berlin or New York."
)
TIMEZONE = Sentence("TIMEZONE", "It's {now} where you are ({zone}).")
REMINDERS_MOVED = Sentence("REMINDERS_MOVED", "What you had planned comes by that clock, too.")


_REASONS: Mapping[Reason, Sentence] = {
    "zone": NO_SUCH_ZONE,
    "form": NO_SUCH_TIME,
    "over": TIME_IS_OVER,
    "far": TIME_TOO_FAR,
    "many": TOO_MANY_REMINDERS,
    "half": WHICH_HALF,
}
_EVENING = 17


def when(planned: PlannedReminder, *, tells_how_soon: bool = False) -> str:
    """The next time of a reminder by its person's clock: `tomorrow at 09:00`."""
    at = planned.due_at.astimezone(ZoneInfo(planned.timezone)).replace(tzinfo=None)
    return spoken_time(at, at - timedelta(seconds=planned.in_seconds), tells_how_soon=tells_how_soon)


def as_sentence(text: str) -> str:
    """The text with a full stop, unless it has an end of its own."""
    return text if text[-1:] in ".!?…" else f"{text}."


def not_read() -> str:
    """The refusal of a time that is in no plain form, with examples."""
    return "\n".join([say(TIME_NOT_READ), *(f"- `{say(one)}`" for one in (REMIND_EXAMPLE_IN, REMIND_EXAMPLE_TOMORROW))])


def refusal(error: UnfitWish, now: datetime) -> str:
    """The reason why a wish cannot be planned; `now` is by the person's clock."""
    is_tonight = error.reason == "over" and any(at.date() == now.date() and at.hour >= _EVENING for at in error.times)
    is_past = error.reason == "over" and any(at.date() < now.date() for at in error.times)
    reason = TONIGHT_IS_OVER if is_tonight else DAY_IS_OVER if is_past else _REASONS[error.reason]
    times = join_list([spoken_time(at, now) for at in error.times], "or")
    return say(reason, now=clock_time(now), today=long_day(now), times=times)
