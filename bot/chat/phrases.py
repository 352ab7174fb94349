"""Sentences on the way from a question to its answer: progress, questions to the person, and failures.

The main one is `may_i`, which asks before something is done, with the `DEED_...` that describe it.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from typing import get_args

from bot.errors import (
    BadKey,
    ContextTooLong,
    NoSuchModel,
    Overloaded,
    ProviderError,
    Rejected,
    TooSlow,
    Unavailable,
    Unreadable,
)
from bot.i18n.catalogues import Sentence, say
from bot.i18n.locale import day, weekday
from bot.i18n.phrases import FAILED, money
from bot.invocation import command_line
from bot.labels import Source, SourceKind
from tools import Repeat, Weekday

_MAX_CAUSES = 3
DAYS: tuple[Weekday, ...] = get_args(Weekday)

OVERLOADED = Sentence("OVERLOADED", "The language model is too busy right now. Please ask again in a minute.")
UNAVAILABLE = Sentence("UNAVAILABLE", "I can't reach the language model right now. Please ask again in a few minutes.")
TOO_SLOW = Sentence(
    "TOO_SLOW", "The language model took too long. Please ask again in a moment, perhaps for something shorter."
)
UNREADABLE = Sentence(
    "UNREADABLE",
    "The language model answered twice in a form that its server can't read. Please ask again, perhaps in other words.",
)
BAD_KEY = Sentence(
    "BAD_KEY", "My access to the language model has stopped working. Please tell the person who runs me."
)
NO_SUCH_MODEL = Sentence(
    "NO_SUCH_MODEL",
    "I can't find the language model I'm set up to use. Please tell the person who runs me; your message is fine.",
)
REJECTED = Sentence("REJECTED", "I couldn't get an answer. If it happens again, tell the person who runs me.")
REFUSES_ALL = Sentence(
    "REFUSES_ALL",
    "Something is wrong with my set-up: the model refuses every question. The person who runs me needs to look at it.",
)
TOO_LONG = Sentence(
    "TOO_LONG",
    "That's more text than the language model can take at once. Please send a shorter message, or start "
    "over with `/new`.",
)
REFUSED = Sentence("REFUSED", "The language model declined to answer that.")
NOTHING_SAID = Sentence("NOTHING_SAID", "I have nothing to say to that. Please put it another way.")
FOUND_ALONE = Sentence("FOUND_ALONE", "The language model couldn't put it into words, so here's what I looked up.")
NO_WORDS_LEFT = Sentence(
    "NO_WORDS_LEFT", "The answer was too long for me to send. Please ask for something shorter, or for one part of it."
)
CUT_OFF = Sentence("CUT_OFF", "… (cut off here: the answer got too long)")
REST_IN_FILE = Sentence("REST_IN_FILE", "… (too long for one message: it's all in the file)")
GAVE_UP = Sentence(
    "GAVE_UP", "I tried several times to answer your last message and couldn't. It's been noted; please ask again."
)
ANSWER_EXPIRED = Sentence(
    "ANSWER_EXPIRED",
    "My answer disappeared before it could be sent: the timer of your message ran out. Please ask again.",
)
ANSWER_TAKEN_BACK = Sentence(
    "ANSWER_TAKEN_BACK",
    "My answer went with the message that you took back. What I have done stays done; ask again what you still want to"
    " know.",
)
BUDGET_NONE = Sentence(
    "BUDGET_NONE",
    "There's no budget for this, so I can't ask the language model. The person who runs me can change that.",
)
UNATTENDED = Sentence("UNATTENDED", "You weren't here to say yes, so I haven't done this. Message me if you want it.")
TAKES_PLACE = Sentence("TAKES_PLACE", "(This replaces what I asked you before.)")
WHICH_QUESTION = Sentence(
    "WHICH_QUESTION", "I've asked you several things. Put 👍 or 👎 on the one you mean, or quote it."
)
STILL_OPEN = Sentence("STILL_OPEN", "Did you mean this? I'm still waiting for your answer.")
ASKERS_ADMINS = Sentence("ASKERS_ADMINS", "In this group only my admins can ask me.")
ASKERS_LIST = Sentence("ASKERS_LIST", "In this group only people who can also write to me directly can ask me.")
EDITED_COMMAND = Sentence(
    "EDITED_COMMAND", "I don't carry out commands from edited messages. Please send this as a new one."
)
IS_PAUSED = Sentence("IS_PAUSED", "I'm paused here, so I'm not answering. An admin can write `/resume`.")
_YES_OR_NO = Sentence("YES_OR_NO", "Just say yes or no, or put 👍 or 👎 on this message.")
_CALLS_COST = Sentence("CALLS_COST", "That costs {cost}.")
_MAY_I = Sentence("MAY_I", "May I do this?")
_BECAUSE = Sentence("BECAUSE", "I'm asking because of {causes}.")
_CAUSE_SEARCH = Sentence("CAUSE_SEARCH", "what I found on the web earlier")
_CAUSE_UNKNOWN = Sentence("CAUSE_UNKNOWN", "what I read some time ago")
_FROM_WEB = Sentence("FROM_WEB", "from the web")
_FROM_OTHERS = Sentence("FROM_OTHERS", "from what others wrote")
ANSWERS = Sentence("ANSWERS", "{count} question and its answer", "{count} questions and their answers")
EVERY_DAY = Sentence("EVERY_DAY", "every day", "every {count} days")
DEED_CALCULATE = Sentence("DEED_CALCULATE", "calculate {expression}")
DEED_CLOCK = Sentence("DEED_CLOCK", "look at the clock")
DEED_CONVERT = Sentence("DEED_CONVERT", "convert {amount} {unit} to {to}")
DEED_WEATHER = Sentence("DEED_WEATHER", "look up the weather in {place}")
DEED_SEARCH_WEB = Sentence("DEED_SEARCH_WEB", "search the web for {query}")
DEED_VERIFY = Sentence("DEED_VERIFY", "search the web for evidence on {claim}")
DEED_SEARCH_POSTS = Sentence("DEED_SEARCH_POSTS", "search X (Twitter) for {query}")
DEED_ENCYCLOPAEDIA = Sentence("DEED_ENCYCLOPAEDIA", "look up {article} in Wikipedia")
DEED_SEARCH_MARKETS = Sentence("DEED_SEARCH_MARKETS", "search prediction markets for {query}")
DEED_OPEN_DATA = Sentence("DEED_OPEN_DATA", "look up {query} in public data")
DEED_MARKET = Sentence("DEED_MARKET", "look up the prediction market {market}")
DEED_SEARCH_FEEDS = Sentence("DEED_SEARCH_FEEDS", "search the news feeds for {query}")
DEED_FEEDS = Sentence("DEED_FEEDS", "look through the news feeds")
DEED_PAGE = Sentence("DEED_PAGE", "read the page {url}")
DEED_DRAW = Sentence("DEED_DRAW", "have the image service draw {prompt}")
DEED_ROWS = Sentence("DEED_ROWS", "read the table {table} of the database {database}")
DEED_TABLES = Sentence("DEED_TABLES", "see which tables the databases have")
DEED_PREDICT = Sentence("DEED_PREDICT", "record your prediction, {percent} % likely by {due}: {statement}")
DEED_PREDICTION_CAME_TRUE = Sentence("DEED_PREDICTION_CAME_TRUE", "record that your prediction {number} came true")
DEED_PREDICTION_DID_NOT = Sentence("DEED_PREDICTION_DID_NOT", "record that your prediction {number} did not come true")
DEED_PREDICTION_VOID = Sentence(
    "DEED_PREDICTION_VOID", "record that nobody can tell how your prediction {number} turned out"
)
DEED_PREDICTION_OPEN = Sentence("DEED_PREDICTION_OPEN", "open your prediction {number} again")
DEED_PREDICTION_STRUCK = Sentence("DEED_PREDICTION_STRUCK", "strike your prediction {number} off the record")
DEED_PREDICTIONS = Sentence("DEED_PREDICTIONS", "look through your predictions")
DEED_CALIBRATION = Sentence("DEED_CALIBRATION", "work out how good your predictions were")
DEED_REMIND = Sentence("DEED_REMIND", "remind you {when}: {text}")
DEED_REMIND_ASK = Sentence("DEED_REMIND_ASK", "do this for you {when}: {prompt} (reminder: {text})")
DEED_REMIND_LIST = Sentence("DEED_REMIND_LIST", "look through your reminders")
DEED_REMIND_CANCEL = Sentence("DEED_REMIND_CANCEL", "cancel your reminder {number} (`/remind` shows it)")
DEED_REMIND_TIMEZONE = Sentence("DEED_REMIND_TIMEZONE", "change your time zone to {zone}")
DEED_WATCH = Sentence("DEED_WATCH", "look again and again, and write to you when it happens: {text}")
DEED_REMEMBER = Sentence("DEED_REMEMBER", "remember this about you: {fact}")
DEED_FORGET = Sentence("DEED_FORGET", "delete number {number} of what I remember about you (`/memory` shows it)")
DEED_RECALL = Sentence("DEED_RECALL", "look for {query} in what was said here and in the files")
DEED_TOOL = Sentence("DEED_TOOL", "use {name}")
DEED_TOOL_OF_SERVER = Sentence("DEED_TOOL_OF_SERVER", "use {name} (server: {server})")
WHEN_AT = Sentence("WHEN_AT", "on {day} at {time}")
WHEN_IN = Sentence("WHEN_IN", "in {duration}")
WHEN_ON_DAYS = Sentence("WHEN_ON_DAYS", "every {days} at {time}, from {day}")
WHEN_AGAIN = Sentence("WHEN_AGAIN", "{repeats} at {time}, from {day}")
WHEN_HOURLY = Sentence("WHEN_HOURLY", "{repeats}, from {day} at {time}")
WHEN_AGAIN_IN = Sentence("WHEN_AGAIN_IN", "{repeats}, for the first time in {duration}")
WHEN_COUNTED = Sentence("WHEN_COUNTED", "{when}, {count} times in all")
WHEN_UNTIL = Sentence("WHEN_UNTIL", "{when}, until {day}")
_MAY_I_DO = Sentence("MAY_I_DO", "May I {deed}?")
_YES_NO_ALWAYS = Sentence(
    "YES_NO_ALWAYS",
    "Just say yes, no or always, or put 👍 (once), ✅ (always, for {tool} when you ask here) or 👎 on this message.",
)
ALWAYS_ALLOWED = Sentence(
    "ALWAYS_ALLOWED",
    "(From now on I'll use {tool} without asking when you ask here. `/tools revoke {tool}` ends that.)",
)
_ALLOWED_SINCE = Sentence(
    "ALLOWED_SINCE", "{tool}: allowed without asking when you ask here, since {day}; `/tools revoke {tool}` ends that."
)
STATUS_THINKING = Sentence("STATUS_THINKING", "Thinking …")
_NOTICES: Mapping[str, Sentence] = {
    "key": Sentence(
        "NOTICE_KEY",
        "{subject} no longer accepts the key I was given, or the account is out of credit. Please check "
        "both; `{command}` says which setting it is.",
    ),
    "model": Sentence(
        "NOTICE_MODEL",
        "The model “{subject}” that I am set up to use does not exist at its service. Please correct its "
        "name; `{command}` says what there is.",
    ),
    "refusal": Sentence(
        "NOTICE_REFUSAL",
        "The model “{subject}” refuses every request, so I can't answer people. `{command}` says what it complains "
        "about.",
    ),
    "disk": Sentence(
        "NOTICE_DISK",
        "My disk is nearly full. Please make room: once it is full, I can no longer take in messages. "
        "`{command}` says how much is left.",
    ),
    "deaf": Sentence(
        "NOTICE_DEAF",
        "I have not received any messages for ten minutes, although the bridge to Signal is running. If "
        "people write to me now, I may not see it. Please look at the bridge; `{command}` helps.",
    ),
}


@dataclass(frozen=True, kw_only=True, slots=True)
class Deed:
    """Something a person may be asked about, in the current language."""

    words: str
    """What follows "May I", in Markdown, on one line."""
    details: tuple[str, ...] = ()


_BY_ERROR: tuple[tuple[type[ProviderError], Sentence], ...] = (
    (Overloaded, OVERLOADED),
    (TooSlow, TOO_SLOW),
    (Unreadable, UNREADABLE),
    (Unavailable, UNAVAILABLE),
    (ContextTooLong, TOO_LONG),
    (BadKey, BAD_KEY),
    (NoSuchModel, NO_SUCH_MODEL),
    (Rejected, REJECTED),
)
_TOOL_PREDICTIONS = Sentence("TOOL_PREDICTIONS", "Predictions")
_TOOLS: Mapping[str, Sentence] = {
    "calculate": Sentence("TOOL_CALCULATE", "Calculator"),
    "run_code": Sentence("TOOL_CODE", "Small program"),
    "get_weather": Sentence("TOOL_WEATHER", "Weather"),
    "current_time": Sentence("TOOL_CLOCK", "Clock"),
    "convert": Sentence("TOOL_CONVERT", "Units and currencies"),
    "web_search": Sentence("TOOL_SEARCH", "Web search"),
    "web_fetch": Sentence("TOOL_PAGES", "Web pages"),
    "verify_news": Sentence("TOOL_EVIDENCE", "Fact check"),
    "image_generate": Sentence("TOOL_IMAGES", "Pictures"),
    "remind": Sentence("TOOL_REMINDERS", "Reminders"),
    "remember": Sentence("TOOL_MEMORY", "Memory"),
    "recall": Sentence("TOOL_RECALL", "Finding things again"),
    "watch": Sentence("TOOL_WATCHES", "Watches"),
    "read_skill": Sentence("TOOL_SKILLS", "Skills"),
    **dict.fromkeys(("predict", "resolve_prediction", "list_predictions", "calibration_stats"), _TOOL_PREDICTIONS),
    **dict.fromkeys(("intel_search", "intel_recent"), Sentence("TOOL_FEEDS", "News feeds")),
    **dict.fromkeys(("market_search", "market_get"), Sentence("TOOL_MARKETS", "Prediction markets")),
    "open_data": Sentence("TOOL_OPEN_DATA", "Public data"),
    **dict.fromkeys(("db_query", "db_describe"), Sentence("TOOL_DATABASES", "Databases")),
}
"""What people call a tool, everywhere they read of one; those that belong together are one to them."""
_NAMES = {"wikipedia": "Wikipedia", "twitter_search": "X"}

_CAUSES: Mapping[SourceKind, Sentence] = {
    "page": Sentence("CAUSE_PAGE", "the page at {name} that I read earlier"),
    "search": _CAUSE_SEARCH,
    "tool": Sentence("CAUSE_TOOL", "what {name} told me earlier"),
    "file": Sentence("CAUSE_FILE", "your file {name}"),
    "voice": Sentence("CAUSE_VOICE", "your voice message, which anybody may have recorded"),
    "person": Sentence("CAUSE_PERSON", "what {name} wrote"),
    "talk": Sentence("CAUSE_TALK", "what others said here"),
    "unknown": _CAUSE_UNKNOWN,
}
_UNNAMED_CAUSES: Mapping[SourceKind, Sentence] = {
    "page": _CAUSE_SEARCH,
    "tool": _CAUSE_UNKNOWN,
    "file": Sentence("CAUSE_UNNAMED_FILE", "a file of yours"),
    "person": Sentence("CAUSE_SOMEBODY", "what somebody else wrote"),
}
_ORIGINS: Mapping[SourceKind, Sentence] = {
    "page": _FROM_WEB,
    "search": _FROM_WEB,
    "tool": Sentence("FROM_TOOL", "from {name}"),
    "file": Sentence("FROM_FILE", "from your file"),
    "voice": Sentence("FROM_VOICE", "from a voice message"),
    "person": _FROM_OTHERS,
    "talk": _FROM_OTHERS,
    "unknown": Sentence("FROM_UNKNOWN", "source no longer known"),
}


def tool_name(tool: str) -> str:
    """Returns what people call the tool of this name; a server's tool keeps its own."""
    return say(_TOOLS[tool]) if tool in _TOOLS else _NAMES.get(tool, tool)


def under_way(tool: str | None) -> str:
    """Returns what a long turn is doing: running this tool, or (None) asking the model."""
    name = None if tool is None else tool_name(tool)
    return say(STATUS_THINKING) if name in (None, tool) else f"{name} …"  # a model may have made up the tool


def for_error(error: ProviderError) -> str:
    """Returns what a person reads if no model answered."""
    if isinstance(error, Rejected) and error.is_setup and not isinstance(error, NoSuchModel):
        return say(REFUSES_ALL)
    return say(next((phrase for kind, phrase in _BY_ERROR if isinstance(error, kind)), FAILED))


_BUDGETS: Mapping[tuple[str, str], Sentence] = {
    ("person", "day"): Sentence("BUDGET_PERSON_DAY", "You've used up today's budget. It renews tomorrow."),
    ("person", "month"): Sentence("BUDGET_PERSON_MONTH", "You've used up this month's budget. It renews on the first."),
    ("group", "day"): Sentence("BUDGET_GROUP_DAY", "This group has used up today's budget. It renews tomorrow."),
    ("group", "month"): Sentence(
        "BUDGET_GROUP_MONTH", "This group has used up this month's budget. It renews on the first."
    ),
    ("all", "day"): Sentence("BUDGET_ALL_DAY", "My budget is used up for today. It renews tomorrow."),
    ("all", "month"): Sentence("BUDGET_ALL_MONTH", "My budget for this month is used up. It renews on the first."),
}


def budget_used_up(scope: str, span: str, *, renews: bool) -> str:
    """Returns what a person reads if the budget of this scope and span is used up, which `renews` or not."""
    return say(_BUDGETS[scope, span] if renews else BUDGET_NONE)


def may_i(deeds: Sequence[Deed], cost_usd: Decimal, causes: Sequence[Source] = (), *, always: str | None = None) -> str:
    """Asks whether all this may be done, and why; `always` is the tool that can be allowed permanently, if any."""
    asked = [say(_MAY_I), "", *_numbered(deeds)]
    if len(deeds) == 1:
        below = ["", *(f"- {line}" for line in deeds[0].details)] if deeds[0].details else []
        asked = [say(_MAY_I_DO, deed=deeds[0].words), *below]
    why = ["", say(_BECAUSE, causes=_causes(causes))] if causes else []
    cost = ["", say(_CALLS_COST, cost=money(cost_usd))] if cost_usd else []
    hint = say(_YES_OR_NO) if always is None else say(_YES_NO_ALWAYS, tool=tool_name(always))
    return "\n".join([*asked, *why, *cost, "", hint])


def allowed_since(tool: str, at: datetime) -> str:
    """The line in `/tools` and in an export about a tool that is used without asking."""
    return say(_ALLOWED_SINCE, tool=tool_name(tool), day=day(at))


def left_undone(deeds: Sequence[Deed], causes: Sequence[Source]) -> str:
    """Returns what a scheduled run left undone."""
    why = ["", say(_BECAUSE, causes=_causes(causes))] if causes else []
    return "\n".join([say(UNATTENDED), "", *_numbered(deeds), *why])


def _numbered(deeds: Sequence[Deed]) -> list[str]:
    lines: list[str] = []
    for place, deed in enumerate(deeds, 1):
        lines.append(f"{place}. {deed.words[:1].upper()}{deed.words[1:]}")
        lines += [f"   - {line}" for line in deed.details]
    return lines


def origin(sources: Sequence[Source]) -> str:
    """Returns where something stored comes from, in a few words; empty: from the person."""
    return ", ".join(dict.fromkeys(say(_ORIGINS[one.kind], name=_source_name(one)) for one in _newest(sources)))


def _causes(sources: Sequence[Source]) -> str:
    causes = ((source, _CAUSES if source.name else {**_CAUSES, **_UNNAMED_CAUSES}) for source in _newest(sources))
    named = [say(known[source.kind], name=_source_name(source)) for source, known in causes]
    left_out = len(sources) > len(named)
    return ", ".join(dict.fromkeys(named)) + (", …" if left_out else "")


def _source_name(source: Source) -> str:
    return tool_name(source.name) if source.kind == "tool" else source.name


def _newest(sources: Sequence[Source]) -> Sequence[Source]:
    return list(reversed(sources))[:_MAX_CAUSES]


def repeats(repeat: Repeat) -> str:
    """Returns how often something repeats, and on which days."""
    words = say(_REPEATS[repeat.every], count=repeat.interval)
    days = list(map(DAYS.index, repeat.weekdays))
    if repeat.nth is not None:
        return say(_NTH[repeat.nth], repeats=words, weekday=weekday(*days))
    return f"{words} ({', '.join(weekday(each, is_short=True) for each in days)})" if days else words


def notice(kind: str, subject: str) -> str:
    """Returns what admins read without asking: about a refused key, a model that does not exist, and the like."""
    return say(_NOTICES[kind], subject=subject, command=command_line("doctor"))


_NTH: Mapping[int, Sentence] = {
    1: Sentence("EVERY_FIRST", "{repeats} (the first {weekday})"),
    2: Sentence("EVERY_SECOND", "{repeats} (the second {weekday})"),
    3: Sentence("EVERY_THIRD", "{repeats} (the third {weekday})"),
    4: Sentence("EVERY_FOURTH", "{repeats} (the fourth {weekday})"),
    -1: Sentence("EVERY_LAST", "{repeats} (the last {weekday})"),
}

_REPEATS: Mapping[str, Sentence] = {
    "hour": Sentence("EVERY_HOUR", "every hour", "every {count} hours"),
    "day": EVERY_DAY,
    "week": Sentence("EVERY_WEEK", "every week", "every {count} weeks"),
    "month": Sentence("EVERY_MONTH", "every month", "every {count} months"),
    "year": Sentence("EVERY_YEAR", "every year", "every {count} years"),
}
