"""Pure: describes tools' answers in words, for an assistant without a model: Markdown, short, nothing invented.

The shapes are those of the tools' results; anything else is shown as it is, so that no answer is lost.
Left to others: which tools are asked (`bot.models.offline.provider`).
"""

import re
from collections.abc import Callable, Mapping, Sequence
from datetime import date, datetime, timedelta
from decimal import Decimal
from typing import Any

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from bot.i18n import phrases as common_phrases
from bot.i18n.catalogues import Sentence, say
from bot.i18n.locale import decimal_point, long_day, measure, number
from bot.i18n.phrases import spoken_time
from bot.messages import ToolAnswer
from bot.models.offline import phrases

_SHOWN_HITS = 3
_SHOWN_PLACES = 5
_SHOWN_CHARS = 1_000
_MOMENT = re.compile(r"[A-Za-z]+ (?P<at>\d{4}-\d\d-\d\d \d\d:\d\d) (?P<zone>\S+)")
"""A weekday, the date, the time and the zone, as tools report them to models."""
_PLAIN_NUMBER = re.compile(r"-?\d+(?:\.\d+)?")
_DECIMALS = re.compile(r"(?<=\d)\.(?=\d)")


def describe_answer(answer: ToolAnswer, arguments: Mapping[str, object]) -> str:
    """One tool's answer in words, errors included; `arguments` are those of its call, empty if unknown."""
    try:
        content = _Content.model_validate_json(answer.content)
        if not content.ok:
            return _failure(answer.name, content, arguments)
        return _WORDINGS[answer.name](content.untrusted_data, arguments)
    except (ValidationError, KeyError):
        return say(phrases.OFFLINE_ANSWERS, name=answer.name, content=answer.content[:_SHOWN_CHARS])


class _Shape(BaseModel):
    """The parts of a result that are read; others are ignored."""

    model_config = ConfigDict(coerce_numbers_to_str=True)


class _Content(_Shape):
    ok: bool
    untrusted_data: Mapping[str, Any] = {}
    error: str = ""


class _Sum(_Shape):
    expression: str
    result: str


class _Conversion(_Shape):
    """An amount before and after conversion; for money also the rate."""

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
    """A forecast, or, if several places have that name, the question which one is meant.

    If a result was cut to size, its lists end with a text that says so.
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
    is_decimal = re.fullmatch(r"-?\d+\.\d+", found.result) is not None
    result = found.result.replace(".", decimal_point()) if is_decimal else found.result
    return f"`{found.expression}` = **{result}**"


def _conversion(data: Mapping[str, Any], _: Mapping[str, object]) -> str:
    found = _Conversion.model_validate(data)
    before, to = map(_amount, (found.before, found.to))
    lines = [f"{before} = **{to}**"]
    if found.rate:
        rate = " = ".join(map(_amount, found.rate.split(" = ")))
        lines.append(say(phrases.OFFLINE_RATE, rate=rate, day=_date(found.rate_date), source=found.attribution).strip())
    return "\n".join(lines)


def _amount(said: str) -> str:
    """An amount with its unit in everyday form; the unit stays as it is, such as a currency code, if the language has
    no word for it, and all of it stays if the number has a power of ten.
    """
    written, _, unit = said.partition(" ")
    if not _PLAIN_NUMBER.fullmatch(written):
        return said
    try:
        return measure(Decimal(written), unit)
    except LookupError:
        return f"{number(Decimal(written))} {unit}"


def _figures(said: str) -> str:
    """A measured value, `12.5 °C`, with the decimal point of the language."""
    return _DECIMALS.sub(decimal_point(), said)


def _time(data: Mapping[str, Any], arguments: Mapping[str, object]) -> str:
    found = _Time.model_validate(data)
    place = arguments.get("timezone")
    return say(
        phrases.OFFLINE_TIME if place else phrases.OFFLINE_TIME_HERE,
        time=found.time,
        place=place,
        day=_date(found.date, with_weekday=bool(found.weekday)),
        zone=found.timezone,
    )


def _date(written: str, *, with_weekday: bool = False) -> str:
    """The day in the current language; unchanged if it is not a date."""
    try:
        return long_day(date.fromisoformat(written), with_weekday=with_weekday)
    except ValueError:
        return written


def _weather(data: Mapping[str, Any], arguments: Mapping[str, object]) -> str:
    found = _Weather.model_validate(data)
    if found.ambiguous:
        places = [f"- {place}" for place in found.candidates[:_SHOWN_PLACES]]
        several = say(phrases.OFFLINE_SEVERAL, place=arguments.get("place", "?"))
        return "\n".join([several, *places, say(phrases.OFFLINE_REGION)])
    lines = [say(phrases.OFFLINE_NOW, place=found.place, conditions=_conditions(found.current))]
    lines += [f"- {day}" if isinstance(day, str) else f"- {_day(day)}" for day in found.days]
    if found.other_places:
        others = "; ".join(map(str, found.other_places[:_SHOWN_PLACES]))
        lines.append(say(phrases.OFFLINE_OTHER_PLACES, places=others))
    return "\n".join(filter(None, [*lines, found.attribution]))


def _conditions(measured: Mapping[str, str]) -> str:
    now = {kind: _figures(value) for kind, value in measured.items()}
    temperature = now.get("temperature", "")
    if temperature and "feels_like" in now:
        temperature = say(phrases.OFFLINE_FEELS, temperature=temperature, felt=now["feels_like"])
    parts = (
        phrases.sky(now.get("weather", "unknown")),
        temperature,
        say(phrases.OFFLINE_HUMIDITY, value=now["humidity"]) if "humidity" in now else "",
        say(phrases.OFFLINE_WIND, value=now["wind"]) if "wind" in now else "",
    )
    return ", ".join(filter(None, parts))


def _day(measured: Mapping[str, str]) -> str:
    day = {kind: _figures(value) for kind, value in measured.items()}
    low, high = day.get("temperature_min", ""), day.get("temperature_max", "")
    parts = (
        phrases.sky(day.get("weather", "unknown")),
        say(phrases.OFFLINE_RANGE, low=low, high=high) if low and high else low or high,
        say(phrases.OFFLINE_RAIN, value=day["precipitation"]) if "precipitation" in day else "",
        say(phrases.OFFLINE_LIKELY, value=day["precipitation_probability"])
        if "precipitation_probability" in day
        else "",
    )
    written = day.get("date", "").rpartition(" ")[2]
    return f"{_date(written, with_weekday=True) or '?'}: {', '.join(filter(None, parts))}"


def _search(data: Mapping[str, Any], _: Mapping[str, object]) -> str:
    found = _Search.model_validate(data)
    hits = [hit for hit in found.results if isinstance(hit, _Hit)]
    if not hits:
        return say(phrases.OFFLINE_NO_HITS, query=found.query)
    lines = [say(phrases.OFFLINE_FOUND, source=found.source or phrases.the_search(), query=found.query)]
    lines += [f"{number}. {_hit(hit)}" for number, hit in enumerate(hits[:_SHOWN_HITS], start=1)]
    return "\n".join(lines)


def _hit(hit: _Hit) -> str:
    age = f" ({hit.age})" if hit.age else ""
    snippet = f": {hit.snippet}" if hit.snippet else ""
    return f"**{hit.title}**{age}{snippet} {hit.url}"


class _Reminder(_Shape):
    number: str
    when: str
    in_seconds: int = 0
    text: str | None = None

    def due(self, *, tells_how_soon: bool = False) -> str:
        """The time in the current language; unchanged if it is not a moment."""
        match = _MOMENT.fullmatch(self.when)
        if match is None:
            return self.when
        at = datetime.fromisoformat(match["at"])
        return spoken_time(at, at - timedelta(seconds=self.in_seconds), tells_how_soon=tells_how_soon)

    def __str__(self) -> str:
        return f"{self.number}: {self.due()}: {self.text or '?'}"


def _reminders(data: Mapping[str, Any], _: Mapping[str, object]) -> str:
    if "reminders" in data:
        planned = [_Reminder.model_validate(one) for one in data["reminders"]]
        return "\n".join(f"- {one}" for one in planned) or say(common_phrases.NO_REMINDERS)
    if "cancelled" in data:
        cancelled = _Reminder.model_validate(data["cancelled"])
        return say(common_phrases.REMINDER_CANCELLED, text=cancelled.text or cancelled.due())
    planned = _Reminder.model_validate(data)
    return say(common_phrases.REMINDER_SET, when=planned.due(tells_how_soon=True), text=planned.text)


def _fact(data: Mapping[str, Any], _: Mapping[str, object]) -> str:
    return say(common_phrases.KEPT_FACT, fact=data["fact"]) if "fact" in data else say(phrases.OFFLINE_FORGOTTEN)


_WORDINGS: Mapping[str, Callable[[Mapping[str, Any], Mapping[str, object]], str]] = {
    "calculate": _sum,
    "convert": _conversion,
    "current_time": _time,
    "get_weather": _weather,
    "web_search": _search,
    "remind": _reminders,
    "remember": _fact,
}

_FAILURES: Mapping[str, tuple[Sentence, str]] = {
    "calculate": (phrases.OFFLINE_NO_SUM, "expression"),
    "convert": (phrases.OFFLINE_NO_CONVERSION, "unit"),
    "current_time": (phrases.OFFLINE_NO_TIME, "timezone"),
    "get_weather": (phrases.OFFLINE_NO_WEATHER, "place"),
    "web_search": (phrases.OFFLINE_NO_SEARCH, "query"),
    "remind": (phrases.OFFLINE_NO_REMINDER, "text"),
    "remember": (phrases.OFFLINE_NO_FACT, "fact"),
}


_REASONS: Mapping[tuple[str, str], Sentence] = {("remind", "invalid_arguments"): phrases.OFFLINE_UNFIT_TIME}
"""Reasons with more to tell people than the general one."""


def _failure(name: str, content: _Content, arguments: Mapping[str, object]) -> str:
    """Describes what failed and why, in sentences for people, because the tool's own words are for models."""
    sentence, argument = _FAILURES.get(name, (phrases.OFFLINE_FAILED, ""))
    value = arguments.get(argument)
    lead = say(sentence, value=value) if value else say(phrases.OFFLINE_FAILED, value=name)
    own = _REASONS.get((name, content.error))
    return f"{lead} {say(own) if own else common_phrases.tool_failure(content.error)}".strip()
