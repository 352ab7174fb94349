"""The sentences about reminders."""

from datetime import datetime

from bot.i18n.catalogues import Sentence
from bot.i18n.locale import moment

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
REMINDER_SET_AGAIN = Sentence(
    "REMINDER_SET_AGAIN", "I'll remind you {repeats}, next on {when}: {text}\n\n`/remind cancel {number}` cancels it."
)
QUESTION_SET = Sentence("QUESTION_SET", "I'll answer this on {when}: {text}\n\n`/remind cancel {number}` cancels it.")
QUESTION_SET_AGAIN = Sentence(
    "QUESTION_SET_AGAIN", "I'll answer this {repeats}, next on {when}: {text}\n\n`/remind cancel {number}` cancels it."
)
IS_QUESTION = Sentence("IS_QUESTION", "(a question)")
REMINDER_USUAL_HOUR = Sentence("REMINDER_USUAL_HOUR", "(You gave no time of day, so I chose {time}.)")
REMINDER_SHIFTED = Sentence("REMINDER_SHIFTED", "(The clocks skip that hour on that day, so it comes later.)")
REMINDER_LOSES_WORDS = Sentence(
    "REMINDER_LOSES_WORDS", "(Messages here disappear before then: I'll remind you, but won't know what about.)"
)
REMINDER_ZONE = Sentence("REMINDER_ZONE", "(I assumed your time zone is {zone}; `/timezone NAME` changes that.)")
REMINDER_LINE = Sentence("REMINDER_LINE", "- {number}: {when}: {text}")
REMINDER_LINE_AGAIN = Sentence("REMINDER_LINE_AGAIN", "- {number}: {when}, {repeats}: {text}")
REMINDER_NO_WORDS = Sentence("REMINDER_NO_WORDS", "(its text has disappeared)")
NO_SUCH_REMINDER = Sentence(
    "NO_SUCH_REMINDER", "You have no reminder with that number here; `/remind` alone shows them all."
)
WHICH_REMINDER = Sentence("WHICH_REMINDER", "Which one? `/remind cancel` with its number cancels it.")
TOO_MANY_REMINDERS = Sentence(
    "TOO_MANY_REMINDERS", "You have as many reminders as I can keep for one person. Please cancel one first."
)
TIME_IS_OVER = Sentence("TIME_IS_OVER", "That time has already passed: it's {now}.")
TIME_TOO_FAR = Sentence("TIME_TOO_FAR", "That is more than five years away.")
NO_SUCH_TIME = Sentence("NO_SUCH_TIME", "That time doesn't exist.")
NO_SUCH_ZONE = Sentence(
    "NO_SUCH_ZONE", "I don't know that time zone. Name the nearest big city, like Berlin or New York."
)
TIMEZONE = Sentence("TIMEZONE", "Your time zone is {zone}: it's {now}.")
REMINDERS_MOVED = Sentence("REMINDERS_MOVED", "What you had planned comes by that clock, too.")


def when(at: datetime, zone: str) -> str:
    """An instant by somebody's clock: `Mon 2026-11-23 08:00 Europe/Berlin`. `at` is in that zone."""
    return f"{moment(at)} {zone}"
