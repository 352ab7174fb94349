"""Sentences of Aldis itself, in plain words that say what to do: those that several rooms use.

A room's own sentences are in its own `phrases.py`. The functions here use the current language; `say` translates a
constant (`bot.i18n.catalogues`).
"""

from collections.abc import Mapping
from datetime import datetime
from decimal import Decimal

from bot.i18n.catalogues import Sentence, say
from bot.i18n.locale import amount, dollars, long_day, weekday

CUT_PARTS = Sentence("CUT_PARTS", "… (cut: the answer was too long for a chat; ask for the rest)")
FILES_NOT_SENT = Sentence("FILES_NOT_SENT", "(There was a file to go with this, but Signal wouldn't take it.)")
MESSAGE_NOT_SENT = Sentence(
    "MESSAGE_NOT_SENT", "A message of mine may not have arrived here. If you miss an answer, please ask again."
)
TOOK_TOO_LONG = Sentence(
    "TOOK_TOO_LONG", "That was taking too long, so I stopped. Please try again, or ask for a smaller step."
)
STOPPED = Sentence("STOPPED", "Stopped.")
NO_SUCH_PERSONA = Sentence("NO_SUCH_PERSONA", "There's no such persona here; `/persona` shows them all.")
FAILED = Sentence("FAILED", "Something went wrong on my end and I couldn't answer. It's been noted; please ask again.")
MESSAGE_EXPIRED = Sentence(
    "MESSAGE_EXPIRED", "Your message disappeared before I could answer it: its timer ran out. Please ask again."
)
TOO_OLD = Sentence(
    "TOO_OLD",
    "I was offline when you wrote this, and it's too old now to answer as if it were new. Please send it "
    "again if it still matters.",
)
TOO_MANY = Sentence(
    "TOO_MANY",
    "That's more messages in a minute than I can take from you. I'm skipping the next ones; please wait a minute.",
)
QUEUE_FULL = Sentence(
    "QUEUE_FULL", "Too many messages are waiting here already. I'm skipping the next ones until I've caught up."
)
GREETING = Sentence("GREETING", "Hello! I'm {name}, your assistant here. `/help` shows what I can do.")
_LESS_THAN_A_CENT = Sentence("LESS_THAN_A_CENT", "less than a cent")
INVITATION = Sentence(
    "INVITATION",
    "Hi! I only answer people I know. Give this code to the person who runs me: {code} (valid for an hour).",
)
KEPT_FACT = Sentence("KEPT_FACT", "I remember: {fact}")
REMINDER = Sentence("REMINDER", "⏰ {text}")
REMINDER_SET = Sentence("REMINDER_SET", "OK, {when}: {text}")
_AT_TODAY = Sentence("AT_TODAY", "today at {time}")
_AT_SOON = Sentence("AT_SOON", "at {time} (in {duration})")
_AT_TOMORROW = Sentence("AT_TOMORROW", "tomorrow at {time}")
_AT_WEEKDAY = Sentence("AT_WEEKDAY", "on {day} at {time}")
_AT_DATE = Sentence("AT_DATE", "on {day} at {time}")
REMINDER_CANCELLED = Sentence("REMINDER_CANCELLED", "Cancelled: {text}")
NO_REMINDERS = Sentence("NO_REMINDERS", "You have no reminders here.")

NOT_DONE = Sentence("NOT_DONE", "OK, I'll leave it.")
_TOOL_FAILURES: Mapping[str, Sentence] = {
    "timeout": Sentence("TOOL_FAILED_TIMEOUT", "It took too long; please try again later."),
    "invalid_arguments": Sentence(
        "TOOL_FAILED_ARGUMENTS", "That can't be done as it was asked; please put it another way."
    ),
    "rate_limited": Sentence("TOOL_FAILED_BUSY", "That's enough for the moment; please try again later."),
    "not_found": Sentence("TOOL_FAILED_NOT_FOUND", "There's nothing by that name; check the spelling, please."),
    "disabled": Sentence("TOOL_FAILED_DISABLED", "It is switched off here."),
    "denied": Sentence("TOOL_FAILED_DENIED", "That isn't allowed here."),
    "unavailable": Sentence("TOOL_FAILED_UNAVAILABLE", "The service can't be reached at the moment."),
    "too_large": Sentence("TOOL_FAILED_TOO_LARGE", "That's too much at once."),
    "unknown_outcome": Sentence("TOOL_FAILED_UNKNOWN", "Whether it was done after all, I can't tell."),
    "convert unavailable": Sentence("RATES_UNAVAILABLE", "I can't get exchange rates right now."),
    "the person said no to this: it was not done; do not ask again": NOT_DONE,
    "the budget is used up": Sentence("TOOL_FAILED_BUDGET", "The budget for it is used up."),
    "Division by zero.": Sentence("DIVIDED_BY_ZERO", "You can't divide by zero."),
}
"""Why a tool failed, by its error code, alone or behind its name, or by its message, which models read in English."""


def duration(seconds: float, *, is_long: bool = False) -> str:
    """A length of time, in its two largest units: `2 h 5 min`, or `2 hours 5 minutes`."""
    total = max(1, round(seconds / 60))
    parts = ((total // 1440, "duration-day"), (total // 60 % 24, "duration-hour"), (total % 60, "duration-minute"))
    return " ".join([amount(count, unit, is_long=is_long) for count, unit in parts if count][:2])


def spoken_time(at: datetime, now: datetime, *, tells_how_soon: bool = False) -> str:
    """A time to come by the person's clock: `tomorrow at 09:00`; with `tells_how_soon`, `at 20:14 (in 10 minutes)`."""
    clock, ahead, seconds = at.strftime("%H:%M"), (at.date() - now.date()).days, (at - now).total_seconds()
    if tells_how_soon and ahead == 0 and seconds >= 60:  # noqa: PLR2004  (a minute)
        return say(_AT_SOON, time=clock, duration=duration(seconds, is_long=True))
    if ahead in {0, 1}:
        return say(_AT_TOMORROW if ahead else _AT_TODAY, time=clock)
    if 1 < ahead < 7:  # noqa: PLR2004  (within a week)
        return say(_AT_WEEKDAY, day=weekday(at.weekday()), time=clock)
    return say(_AT_DATE, day=long_day(at, has_year=at.year != now.year), time=clock)


def money(usd: Decimal) -> str:
    """Returns an amount of US dollars as people say it, without fractions of a cent."""
    cents = usd.quantize(Decimal("0.01"))
    return say(_LESS_THAN_A_CENT) if usd > 0 and not cents else dollars(cents)


def tool_failure(error: str, *details: str) -> str:
    """Why a tool failed, for people, by the most telling key; empty for an unknown code, as a newer tool might give."""
    reason = next((_TOOL_FAILURES[key] for key in (*details, error) if key in _TOOL_FAILURES), None)
    return say(reason) if reason else ""
