"""The provider that answers without any model, so that Aldis runs without a key; it is also the models' test double.

    a message that is, as a whole, one of a few English forms --> the tool's call --> its answer in words
    anything else                                             --> one line: what works, and which key to set

It uses the same tool loop as a model, and is deterministic. What is not certain is not answered: 1.500 is another
number in Berlin than in Boston. What tools found is worded in short Markdown; another shape is shown as it is.
"""

import json
import re
from collections.abc import Callable, Mapping, Sequence
from datetime import date, datetime, timedelta
from decimal import Context, Decimal
from typing import Any, cast
from zoneinfo import ZoneInfo

from bot.i18n.catalogues import Sentence, say
from bot.i18n.locale import amount, long_day
from bot.i18n.phrases import KEPT_FACT, REMINDER_SET, spoken_time, tool_failure
from bot.messages import AssistantMessage, AssistantPart, CallId, Text, ToolAnswer, ToolCall, ToolMessage, UserMessage
from bot.models.base import Completion, Request, Stop, Usage
from bot.settings.values import is_zone
from tools import Wish

NAME = "offline"

OFFLINE_WORKS = Sentence(
    "OFFLINE_WORKS",
    "No language model is set up. I can do sums (`17*23`), units (`5 km in miles`), time and weather in a place, "
    "reminders and searches, in English. For more, set `ANTHROPIC_API_KEY` or `OPENAI_API_KEY`.",
)
OFFLINE_TIME = Sentence("OFFLINE_TIME", "It's **{time}** on {day} ({zone}).")
OFFLINE_SEVERAL = Sentence("OFFLINE_SEVERAL", "There are several places called “{place}”:")
OFFLINE_NO_HITS = Sentence("OFFLINE_NO_HITS", "I found nothing about “{query}”; try other words.")
OFFLINE_ANSWERS = Sentence("OFFLINE_ANSWERS", "`{name}` answers: {content}")

_Asked = tuple[str, Mapping[str, object]]
"""A tool and its arguments."""
ReadTime = Callable[[str, datetime], Wish | None]

_MAX_CHARS = 500
_RECALLED = "(A note from Aldis:"
"""The beginning of Aldis's notes from memory, which come before the first message of a request."""
_HEADER = re.compile(r"^\[[^\]\n]{0,20}\d{4}-\d\d-\d\d[^\]\n]{0,200}\] ?", re.MULTILINE)
_STAMP = re.compile(r"^\[\w+ (?P<at>\d{4}-\d\d-\d\d \d\d:\d\d) (?P<zone>[\w+/-]+)", re.MULTILINE)
_NOTE = re.compile(r"^(?:\(in answer to\b.*\)|(?:📎|>) .*)$")

_LEAD = re.compile(r"(?:(?:hi|hello|hey)?[ ,]*aldis[ ,]+|please |(?:can|could|would) you |tell me )+", re.IGNORECASE)
_TAIL = re.compile(r"(?:,? please|,? thanks|[ .!?=])+$", re.IGNORECASE)
_QUESTION = r"(?:what(?:'s| is| are)|calculate|compute|how much (?:is|are))"

_NUMBER = r"(?:\d{4,}|\d{1,3})(?:\.(?!\d{3}(?!\d))\d+|(?<=\b0)\.\d+)?(?![\d.,:'’])"
"""In digits, perhaps with a decimal point; not 1.500, which many people read as 1500, nor 0:30, 1,5 or 5'000."""
_SIGN = r"(?:\+|-|−|\*\*?|×|/|÷|\^|(?<=%) ?of )"
_ATOM = rf"(?:[-−]?(?:sqrt|√)?\(*\s*[-−]?(?:{_NUMBER}|pi)\s*%?\s*\)*)"
_SUM = re.compile(
    rf"(?:{_QUESTION}\s+)?(?P<sum>{_ATOM}(?:\s*{_SIGN}\s*{_ATOM})+|(?:sqrt\(|√\(?)\s*{_NUMBER}\s*\)?)", re.IGNORECASE
)
_RANGE = re.compile(r"\d+(?:-\d+)+")
"""Standing alone, this may be a range or a telephone number as well."""
_DATE = re.compile(r"\d{4}\s*-\s*\d{1,2}\s*-\s*\d{1,2}.*|\d{1,2}/\d{1,2}/\d{2,4}.*")
_DAYS = re.compile(rf"(?:{_QUESTION}\s+)?(?P<sum>\d{{4}}-\d\d-\d\d\s*[-−]\s*\d{{4}}-\d\d-\d\d)", re.IGNORECASE)

_UNIT = r"[A-Za-zµ°€$£][\w°²³/]*(?: [a-z]+)?"
_CONVERT = re.compile(
    rf"(?:convert |{_QUESTION} )?(?P<amount>[-−]?{_NUMBER})\s?(?P<unit>{_UNIT}) (?:in|into|to) (?P<to>{_UNIT})",
    re.IGNORECASE,
)

_TIME = re.compile(r"(?:what time is it|(?:what(?:'s| is) the |the )?time)(?: in (?P<place>.+))?", re.IGNORECASE)
_WEATHER = re.compile(
    r"(?:(?:what|how)(?:'s| is) the |the )?weather (?:in|for) (?P<place>.+?)(?: (?P<day>today|tomorrow))?",
    re.IGNORECASE,
)
_SEARCH = re.compile(r"(?:search(?: the web)?(?: for)?|look up) (?P<query>.+)", re.IGNORECASE | re.DOTALL)

_REMIND = re.compile(r"remind me (?P<rest>.+)", re.IGNORECASE | re.DOTALL)
_TIME_LAST = re.compile(r" (?=(?:in|at|today|tomorrow) )", re.IGNORECASE)
"""Where the time may begin that stands behind the text."""

_FOUR_DIGITS = Context(prec=4)
_MIN_SHOWN, _MAX_SHOWN = Decimal("0.001"), 10**12
_UNITS = {
    name: f"{kind}-{name}"
    for kind, names in {
        "length": "kilometer meter centimeter millimeter mile yard foot inch",
        "mass": "kilogram gram pound ounce stone",
        "volume": "liter milliliter",
        "temperature": "celsius fahrenheit",
        "speed": "kilometer-per-hour mile-per-hour",
        "duration": "week day hour minute second",
        "digital": "kilobit kilobyte megabit megabyte gigabit gigabyte",
    }.items()
    for name in names.split()
}
"""The units whose names people read in their language, by what CLDR calls them."""

_SHOWN_HITS = 3
_SHOWN_PLACES = 5
_SHOWN_CHARS = 1_000

Data = Mapping[str, Any]


class Offline:
    """Answers a few English forms through the tools, and says plainly to everything else what works without a model."""

    name = NAME

    def __init__(self, read_time: ReadTime = lambda _, __: None) -> None:
        """`read_time` reads what stands in words behind "remind me", at a time in the asker's zone."""
        self._read_time = read_time

    async def complete(self, request: Request) -> Completion:
        """The call of a tool if the newest message is a form whose tool is offered, else words. Never fails."""
        at, question = [(at, one) for at, one in enumerate(request.messages) if isinstance(one, UserMessage)][-1]
        since = request.messages[at + 1 :]
        answers = [answer for message in since if isinstance(message, ToolMessage) for answer in message.answers]
        if answers:
            text = "\n\n".join(map(describe_answer, answers))
        else:
            asked = asked_for(people_words(question.text), asked_at(question.text), self._read_time)
            if asked and request.may_call_tools and asked[0] in {tool.name for tool in request.tools}:
                id_ = CallId(f"{NAME}_{len(request.messages)}")  # new within the request
                return _completion([ToolCall(id=id_, name=asked[0], arguments=asked[1])], Stop.TOOLS)
            text = say(OFFLINE_WORKS)
        return _completion([Text(text=text)], Stop.END)

    async def aclose(self) -> None:
        """Does nothing: there is no connection."""


def asked_for(words: str, now: datetime | None, read_time: ReadTime) -> _Asked | None:
    """The tool for this message and its arguments; None if it is none of the forms. No `now`: no reminders."""
    plain = _TAIL.sub("", _LEAD.sub("", " ".join(words[:_MAX_CHARS].split()).replace("’", "'"), count=1))
    if len(words) > _MAX_CHARS or not plain:
        return None
    return _sum(plain) or _looked_up(plain) or _reminder(plain, now, read_time)


def people_words(text: str) -> str:
    """The people's own words in a user message, without the headers and notes that Aldis adds."""
    if text.startswith(_RECALLED) and (header := _HEADER.search(text)):
        text = text[header.start() :]
    lines = (_HEADER.sub("", line) for line in text.splitlines())
    return "\n".join(line for line in lines if not _NOTE.match(line)).strip()


def asked_at(text: str) -> datetime | None:
    """Returns when and in which zone a user message was written, according to its header; None without one."""
    if not (found := _STAMP.search(text)) or not is_zone(found["zone"]):
        return None
    try:
        return datetime.fromisoformat(found["at"]).replace(tzinfo=ZoneInfo(found["zone"]))
    except ValueError:
        return None


def _sum(text: str) -> _Asked | None:
    found = _DAYS.fullmatch(text) or _SUM.fullmatch(text)
    if found is None or found["sum"].count("(") != found["sum"].count(")"):
        return None
    if found.re is _SUM and (_RANGE.fullmatch(text) or _DATE.fullmatch(found["sum"])):
        return None
    signs = str.maketrans({"−": "-", "×": "*", "÷": "/"})
    return "calculate", {"expression": found["sum"].strip().translate(signs)}


def _looked_up(text: str) -> _Asked | None:
    if found := _CONVERT.fullmatch(text):
        amount = float(found["amount"].replace("−", "-"))
        return "convert", {"amount": amount, "unit": found["unit"], "to": found["to"]}
    if found := _TIME.fullmatch(text):
        return "current_time", {"timezone": found["place"]} if found["place"] else {}
    if found := _WEATHER.fullmatch(text):
        days = {"today": {"days": 1}, "tomorrow": {"days": 2}}.get((found["day"] or "").lower(), {})
        return "get_weather", {"place": found["place"], **days}
    found = _SEARCH.fullmatch(text)
    return found and ("web_search", {"query": found["query"]})


def _reminder(text: str, now: datetime | None, read_time: ReadTime) -> _Asked | None:
    """A reminder, with its time before its text or behind it."""
    if not (found := _REMIND.fullmatch(text)) or now is None:
        return None
    rest = found["rest"]
    turned = (f"{rest[gap.end() :]} {rest[: gap.start()]}" for gap in _TIME_LAST.finditer(rest))
    wish = next((wish for words in (rest, *turned) if (wish := read_time(words, now))), None)
    if wish is None or wish.prompt is not None or wish.repeat is not None:
        return None
    planned: dict[str, object] = {"action": "set", "text": wish.text}
    if wish.delay_seconds is not None:
        return "remind", planned | {"delay_seconds": wish.delay_seconds}
    named = {"half_of_day_given": wish.names_half, "day_given": wish.names_day}
    return "remind", planned | {"local_datetime": wish.local, **named}


def describe_answer(answer: ToolAnswer) -> str:
    """One tool's answer in words, failures included."""
    try:
        if not answer.ok:
            failed = json.loads(answer.content)
            if (answer.name, failed["error"]) == ("convert", "invalid_arguments"):
                return failed["message"]  # it says what is wrong with which unit
            return tool_failure(failed["error"], failed["message"], f"{answer.name} {failed['error']}")
        return _WORDINGS[answer.name](answer.data)
    except (KeyError, TypeError, ValueError, AttributeError):
        return say(OFFLINE_ANSWERS, name=answer.name, content=answer.content[:_SHOWN_CHARS])


def _conversion_words(data: Data) -> str:
    if "rate" in data:
        return f"{data['from']} = **{data['to']}**\n{data['rate']} ({data['rate_date']}). {data['attribution']}"
    return f"{_measured(data['from'], is_long=True)} = **{_measured(data['to'])}**"


def _measured(text: str, *, is_long: bool = False) -> str:
    """An amount as people write it, `16.09 km` for `16.09344 kilometer`; as it is with a unit that CLDR lacks."""
    number, _, name = text.replace("/", " per ").partition(" ")
    rate = " per second" if name.endswith(" per second") else ""
    code = _UNITS.get(name.removeprefix("degree ").removesuffix(rate).lower().replace(" ", "-"))
    value = Decimal() if code is None else _FOUR_DIGITS.plus(Decimal(number))
    if code is None or (value and not _MIN_SHOWN < abs(value) < _MAX_SHOWN):
        return text
    return amount(value, code, is_long=is_long or bool(rate)) + rate


def _time_words(data: Data) -> str:
    day = long_day(date.fromisoformat(data["date"]), with_weekday="weekday" in data)
    return say(OFFLINE_TIME, time=data["time"], day=day, zone=data["timezone"])


def _weather_words(data: Data) -> str:
    """Now and by day; the places to choose from if the name has several. A list that was cut ends with a text."""
    if data.get("ambiguous"):
        places = [f"- {_place_words(place)}" for place in data["candidates"][:_SHOWN_PLACES]]
        return "\n".join([say(OFFLINE_SEVERAL, place=data["candidates"][0]["name"]), *places])
    days: list[object] = data["days"]
    lines: list[str] = []
    for day in (cast("Data", day) for day in days if isinstance(day, dict)):
        at = date.fromisoformat(day["date"].rpartition(" ")[2])
        lines.append(f"- {long_day(at, with_weekday=True)}: {_sky(day)}")
    return "\n".join([f"**{_place_words(data['place'])}**: {_sky(data['current'])}", *lines, data["attribution"]])


def _place_words(place: Data | str) -> str:
    if isinstance(place, str):
        return place
    return ", ".join(str(place[part]) for part in ("name", "region", "country") if place.get(part))


def _sky(measured: Data) -> str:
    range_ = [measured[name] for name in ("temperature_min", "temperature_max") if name in measured]
    return ", ".join(filter(None, [measured.get("weather"), measured.get("temperature"), " – ".join(range_)]))


def _search_words(data: Data) -> str:
    found: list[object] = data["results"]
    hits = [cast("Data", hit) for hit in found if isinstance(hit, dict)][:_SHOWN_HITS]
    if not hits:
        return say(OFFLINE_NO_HITS, query=data["query"])
    lines = [f"{place}. **{hit['title']}**: {hit['snippet']} {hit['url']}" for place, hit in enumerate(hits, start=1)]
    return "\n".join(filter(None, [data.get("source"), *lines]))


def _reminder_words(data: Data) -> str:
    at = datetime.fromisoformat(" ".join(data["when"].split()[1:3]))
    when = spoken_time(at, at - timedelta(seconds=data["in_seconds"]), tells_how_soon=True)
    return say(REMINDER_SET, when=when, text=re.sub(r"(?<![.!?…])$", ".", data["text"]))


_WORDINGS: Mapping[str, Callable[[Data], str]] = {
    "calculate": lambda data: f"`{data['expression']}` = **{data['result']}**",
    "convert": _conversion_words,
    "current_time": _time_words,
    "get_weather": _weather_words,
    "web_search": _search_words,
    "remind": _reminder_words,
    "remember": lambda data: say(KEPT_FACT, fact=data["fact"]),
}


def _completion(parts: Sequence[AssistantPart], stop: Stop) -> Completion:
    message = AssistantMessage(parts=tuple(parts))
    return Completion(message=message, stop=stop, usage=Usage(), provider=NAME, model=NAME, cost_usd=Decimal(0))
