"""Pure: what a tool answered, in the words of an assistant that has no model: Markdown, short, nothing invented.

The shapes are those of the tools' results; what does not fit them is shown as it is, so that no answer is swallowed.
Left to others: which tools are asked (`intents`), what a whole answer consists of (`offline`).
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from bot.messages import ToolAnswer

_SHOWN_HITS = 3
_SHOWN_PLACES = 5
_SHOWN_CHARS = 1_000


def worded(answer: ToolAnswer, arguments: Mapping[str, object]) -> str:
    """One tool's answer in words, an error included; `arguments` are those of its call, empty where unknown."""
    try:
        content = _Content.model_validate_json(answer.content)
        if not content.ok:
            return _failure(answer.name, content.message, arguments)
        return _WORDINGS[answer.name](content.untrusted_data, arguments)
    except (ValidationError, KeyError):
        return f"`{answer.name}` answers: {answer.content[:_SHOWN_CHARS]}"


class _Shape(BaseModel):
    """What we read of a result; whatever else stands there is left alone."""

    model_config = ConfigDict(coerce_numbers_to_str=True)


class _Content(_Shape):
    ok: bool
    untrusted_data: Mapping[str, Any] = {}
    message: str = ""


class _Sum(_Shape):
    expression: str
    result: str


class _Conversion(_Shape):
    """An amount before and after; for money also by which rate."""

    model_config = ConfigDict(coerce_numbers_to_str=True, populate_by_name=True)

    before: str = Field(alias="from")
    to: str
    rate: str = ""
    rate_date: str = ""
    attribution: str = ""


class _Time(_Shape):
    timezone: str
    date: str
    time: str
    weekday: str = ""
    utc_offset: str = ""


class _Place(_Shape):
    name: str | None = None
    region: str | None = None
    country: str | None = None
    latitude: float | None = None
    longitude: float | None = None

    def __str__(self) -> str:
        named = ", ".join(filter(None, (self.name, self.region, self.country)))
        return named or f"{self.latitude}, {self.longitude}"


class _Weather(_Shape):
    """A forecast, or where several places bear the name the question which is meant.

    Where a result was cut to size, a text that says so stands at the end of a list.
    """

    place: _Place = _Place()
    current: Mapping[str, str] = {}
    days: Sequence[Mapping[str, str] | str] = ()
    other_places: Sequence[_Place | str] = ()
    attribution: str = ""
    ambiguous: bool = False
    message: str = ""
    candidates: Sequence[_Place | str] = ()


class _Hit(_Shape):
    title: str
    url: str
    snippet: str = ""
    age: str | None = None


class _Search(_Shape):
    query: str = ""
    source: str = ""
    results: Sequence[_Hit | str]


def _sum(data: Mapping[str, Any], _: Mapping[str, object]) -> str:
    found = _Sum.model_validate(data)
    return f"`{found.expression}` = **{found.result}**"


def _conversion(data: Mapping[str, Any], _: Mapping[str, object]) -> str:
    found = _Conversion.model_validate(data)
    rate = f"{found.rate} on {found.rate_date}. {found.attribution}".strip() if found.rate else ""
    return "\n".join(filter(None, (f"{found.before} = **{found.to}**", rate)))


def _time(data: Mapping[str, Any], arguments: Mapping[str, object]) -> str:
    found = _Time.model_validate(data)
    asked = f" in {arguments['timezone']}" if arguments.get("timezone") else ""
    day, offset = f"{found.weekday} {found.date}".strip(), f", UTC{found.utc_offset}" if found.utc_offset else ""
    return f"It is **{found.time}**{asked} ({day}, {found.timezone}{offset})."


def _weather(data: Mapping[str, Any], _: Mapping[str, object]) -> str:
    found = _Weather.model_validate(data)
    if found.ambiguous:
        places = [f"- {place}" for place in found.candidates[:_SHOWN_PLACES]]
        return "\n".join([found.message, *places, "Ask again with the region or the country behind the name."])
    lines = [f"**{found.place}** now: {_conditions(found.current)}"]
    lines += [f"- {day}" if isinstance(day, str) else f"- {_day(day)}" for day in found.days]
    if found.other_places:
        lines.append(f"Other places of that name: {'; '.join(map(str, found.other_places[:_SHOWN_PLACES]))}.")
    return "\n".join(filter(None, [*lines, found.attribution]))


def _conditions(now: Mapping[str, str]) -> str:
    felt = f" (feels like {now['feels_like']})" if "feels_like" in now else ""
    parts = (
        now.get("weather", "unknown"),
        f"{now['temperature']}{felt}" if "temperature" in now else "",
        f"humidity {now['humidity']}" if "humidity" in now else "",
        f"wind {now['wind']}" if "wind" in now else "",
    )
    return ", ".join(filter(None, parts))


def _day(day: Mapping[str, str]) -> str:
    low, high = day.get("temperature_min", ""), day.get("temperature_max", "")
    parts = (
        day.get("weather", "unknown"),
        f"{low} to {high}" if low and high else low or high,
        f"{day['precipitation']} of precipitation" if "precipitation" in day else "",
        f"{day['precipitation_probability']} likely" if "precipitation_probability" in day else "",
    )
    return f"{day.get('date', 'later')}: {', '.join(filter(None, parts))}"


def _search(data: Mapping[str, Any], _: Mapping[str, object]) -> str:
    found = _Search.model_validate(data)
    hits = [hit for hit in found.results if isinstance(hit, _Hit)]
    if not hits:
        return f"I found nothing about “{found.query}”; try other words."
    lines = [f"{found.source or 'The search'} on “{found.query}”:"]
    lines += [f"{number}. {_hit(hit)}" for number, hit in enumerate(hits[:_SHOWN_HITS], start=1)]
    return "\n".join(lines)


def _hit(hit: _Hit) -> str:
    age = f" ({hit.age})" if hit.age else ""
    snippet = f": {hit.snippet}" if hit.snippet else ""
    return f"**{hit.title}**{age}{snippet} {hit.url}"


class _Reminder(_Shape):
    number: str
    when: str
    text: str | None = None

    def __str__(self) -> str:
        return f"{self.number}: {self.when}: {self.text or '?'}"


def _reminders(data: Mapping[str, Any], _: Mapping[str, object]) -> str:
    if "reminders" in data:
        planned = [_Reminder.model_validate(one) for one in data["reminders"]]
        return "\n".join(f"- {one}" for one in planned) or "You have planned no reminders here."
    planned = _Reminder.model_validate(data)
    return f"I will remind you on {planned.when}: {planned.text}\n\n`/remind cancel {planned.number}` cancels it."


def _fact(data: Mapping[str, Any], _: Mapping[str, object]) -> str:
    return f"I remember: {data['fact']}" if "fact" in data else "Forgotten."


_WORDINGS: Mapping[str, Callable[[Mapping[str, Any], Mapping[str, object]], str]] = {
    "calculate": _sum,
    "convert": _conversion,
    "current_time": _time,
    "get_weather": _weather,
    "web_search": _search,
    "remind": _reminders,
    "remember": _fact,
}

_FAILURES: Mapping[str, tuple[str, str]] = {
    "calculate": ("I cannot calculate `{}`.", "expression"),
    "convert": ("I cannot convert {}.", "unit"),
    "current_time": ("I cannot tell the time in {}.", "timezone"),
    "get_weather": ("I have no weather for {}.", "place"),
    "web_search": ("The search for “{}” failed.", "query"),
}


def _failure(name: str, message: str, arguments: Mapping[str, object]) -> str:
    sentence, argument = _FAILURES.get(name, ("", ""))
    lead = sentence.format(arguments[argument]) if arguments.get(argument) else f"`{name}` failed."
    return f"{lead} {message}".strip()
