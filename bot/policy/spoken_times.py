"""Pure: the days, times and durations in somebody's words, and whether they name a moment in a tool call.

    "on January 11th 2025 at 10:00, for an hour"    names 2025-01-11, 2025-01-11T10:00, and 2025-01-11T11:00, its end
                                                    does not name 2026-01-11, nor 2025-01-11T12:00

A day counts only with its year, because any other would be a guess. Two days of a range can share the year ("from
January 11th to January 15th 2025").
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date, datetime, time, timedelta
from itertools import islice, pairwise

from bot.i18n.time_grammar import MONTHS
from tools import fold_name

_MONTHS = {fold_name(name): month for name, month in MONTHS.items()}
_MONTH = rf"(?P<month>{'|'.join(sorted(_MONTHS, key=len, reverse=True))})\b\.?"
_DAY = r"(?<![0-9.:,-])(?P<day>[0-9]{1,2})(?:st|nd|rd|th|er|\.)?"
_YEAR = r"(?:\s*,?\s+(?:del?\s+)?(?P<year>[0-9]{4})(?![0-9:]))?"
_DATES = tuple(
    re.compile(pattern)
    for pattern in (
        r"(?<![0-9-])(?P<year>[0-9]{4})-(?P<month>[0-9]{2})-(?P<day>[0-9]{2})(?![0-9-])",
        r"(?<![0-9.])(?P<day>[0-9]{1,2})\.\s?(?P<month>[0-9]{1,2})\.\s?(?P<year>[0-9]{4})(?![0-9])",
        rf"{_DAY}\s+(?:of\s+|de\s+)?{_MONTH}{_YEAR}",
        rf"\b{_MONTH}\s+{_DAY}(?![0-9:]){_YEAR}",
    )
)
_TIME = re.compile(
    r"(?<![0-9:.,])(?P<hour>[0-9]{1,2})(?:(?::|\s?h\s?)(?P<minute>[0-5][0-9])(?::00)?)?"
    r"(?:\s?(?P<half>[ap])\.?m\b|\s?(?P<sure>uhr|h)\b)?(?![0-9:])"
)
_LENGTH = re.compile(
    r"\b(?P<number>[0-9]{1,3}|an?|one|eine?|une?|una)[\s-]+(?P<unit>hour|stunde|heure|hora|minut)[a-z]*"
)
_MOMENT = re.compile(r"(?P<day>[0-9]{4}-[0-9]{2}-[0-9]{2})(?:[T ](?P<time>[0-9]{2}:[0-9]{2})(?::00(?:\.0+)?)?)?")
_BETWEEN_DAYS = re.compile(r"\s*(?:to|until|till|through|and|bis|und|au|et|al?|hasta|y|-|–)\s+(?:the\s+|zum\s+|el\s+)?")
_NOON = 12
_MAX_CHARACTERS = 20_000
_MAX_OF_EACH = 50


@dataclass(frozen=True, kw_only=True, slots=True)
class Times:
    """The times that words contain."""

    days: frozenset[date]
    times: frozenset[time]
    lengths: frozenset[timedelta]


def times_in(text: str) -> Times:
    """The times in a lower-case text without accents."""
    text = _compact(text)
    lengths = (
        timedelta(**{"minutes" if found["unit"] == "minut" else "hours": _count(found["number"])})
        for found in _LENGTH.finditer(text)
    )
    return Times(
        days=frozenset(islice(_days(text), _MAX_OF_EACH)),
        times=frozenset(islice(_times(text), _MAX_OF_EACH)),
        lengths=frozenset(islice(lengths, _MAX_OF_EACH)),
    )


def without_days(text: str) -> str:
    """The text without its days, whose numbers mean nothing else."""
    text = _compact(text)
    for pattern in _DATES:
        text = pattern.sub(" ", text)
    return text


def is_moment(value: str) -> bool:
    """Whether a call's value is a day, possibly with a time."""
    return _MOMENT.fullmatch(value.strip()) is not None


def is_moment_named(value: str, said: Times) -> bool:
    """Whether it was said: the day and the time, or a moment that was said plus a duration that was said."""
    found = _MOMENT.fullmatch(value.strip())
    if found is None:
        return False
    try:
        day = date.fromisoformat(found["day"])
        at = None if found["time"] is None else time.fromisoformat(found["time"])
    except ValueError:
        return False
    if at is None:
        return day in said.days
    if day in said.days and (at in said.times or (at == time() and not said.times)):
        return True
    begins = (datetime.combine(begin, hour) for begin in said.days for hour in said.times)
    ends = datetime.combine(day, at)
    return any(ends - begin in said.lengths for begin in begins)


def _compact(text: str) -> str:
    """The beginning of the text with single spaces; longer texts would take the patterns quadratic time."""
    return " ".join(text[:_MAX_CHARACTERS].split())


def _days(text: str) -> Iterator[date]:
    found = sorted((match for pattern in _DATES for match in pattern.finditer(text)), key=lambda match: match.start())
    years = {id(match): match["year"] for match in found}
    for first, second in pairwise(found):
        if years[id(first)] is None and _BETWEEN_DAYS.fullmatch(text, first.end(), max(first.end(), second.start())):
            years[id(first)] = second["year"]
    for match in found:
        year, month = years[id(match)], match["month"]
        if year is not None:
            try:
                yield date(int(year), _MONTHS.get(month) or int(month), int(match["day"]))
            except ValueError:
                continue


def _times(text: str) -> Iterator[time]:
    for found in _TIME.finditer(text):
        if found["minute"] is None and found["half"] is None and found["sure"] is None:
            continue  # a number
        hour = int(found["hour"])
        if found["half"] is not None:
            hour = hour % _NOON + (_NOON if found["half"] == "p" else 0)
        try:
            yield time(hour, int(found["minute"] or 0))
        except ValueError:
            continue


def _count(number: str) -> int:
    return int(number) if number.isdigit() else 1
