"""Dates in `calculate`: the days, months and working days between two, and the date some days later."""

import re
from collections.abc import Mapping
from datetime import date, datetime, timedelta
from zoneinfo import ZoneInfo

from dateutil.relativedelta import relativedelta

from tools.errors import BadArguments

_DATE = r"(today|\d{4}-\d{1,2}-\d{1,2})"
_BETWEEN = re.compile(rf"{_DATE} ?- ?{_DATE}")
_LATER = re.compile(rf"{_DATE} ?([+-]) ?(\d{{1,5}}) ?(day|week|month|year|working day)?s?")
_UNITS = {
    "day": relativedelta(days=1),
    "week": relativedelta(weeks=1),
    "month": relativedelta(months=1),
    "year": relativedelta(years=1),
}
_WEEK_DAYS, _WORKING_DAYS = 7, 5
_NOTE = "Working days are Mondays to Fridays without holidays; the earlier day is not counted, the later one is."


def date_expression(text: str, now: datetime, timezone: str) -> Mapping[str, str | int] | None:
    """Returns what the text says of dates, such as `2026-12-24 - today` or `2026-11-27 + 30`; None if it has no such
    form. The text is in lower case with single spaces.

    Raises:
        BadArguments: there is no such date.
    """
    today = now.astimezone(ZoneInfo(timezone)).date()
    if found := _BETWEEN.fullmatch(text):
        return _between(_date(found[2], today), _date(found[1], today))
    if found := _LATER.fullmatch(text):
        count = int(found[3]) * (-1 if found[2] == "-" else 1)
        try:
            return {"result": _spell(_later(_date(found[1], today), count, found[4] or "day"))}
        except (ValueError, OverflowError) as error:
            raise BadArguments("That date is too far away.") from error
    return None


def _date(text: str, today: date) -> date:
    try:
        return today if text == "today" else date(*map(int, text.split("-")))
    except ValueError as error:
        raise BadArguments(f"There is no date {text}: write year, month and day, such as 2026-12-24.") from error


def _between(start: date, end: date) -> Mapping[str, str | int]:
    first, last = sorted((start, end))
    days = (last - first).days
    apart = relativedelta(last, first)
    weeks, weekdays = divmod(days, _WEEK_DAYS)
    working = weeks * _WORKING_DAYS
    working += sum((last - timedelta(number)).weekday() < _WORKING_DAYS for number in range(weekdays))
    return {
        "result": _count((end - start).days, "day"),
        "from": _spell(start),
        "to": _spell(end),
        "in_weeks": f"{_count(weeks, 'week')} and {_count(weekdays, 'day')}",
        "in_months": f"{_count(apart.years * 12 + apart.months, 'month')} and {_count(apart.days, 'day')}",
        "working_days": working,
        "note": _NOTE,
    }


def _later(day: date, count: int, unit: str) -> date:
    """Returns the date so many units later; the last of a month that is too short."""
    if unit in _UNITS:
        return day + count * _UNITS[unit]
    left = abs(count)
    while left:
        day += timedelta(1 if count >= 0 else -1)
        left -= day.weekday() < _WORKING_DAYS
    return day


def _count(number: int, what: str) -> str:
    return f"{number} {what}{'' if abs(number) == 1 else 's'}"


def _spell(day: date) -> str:
    return f"{day:%A} {day.isoformat()}"
