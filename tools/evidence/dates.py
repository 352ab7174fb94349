"""Parses the age of a page as search services give it: a date in any spelling, or "2 days ago". Pure functions."""

import re
import unicodedata
from collections.abc import Mapping
from datetime import UTC, date, datetime, timedelta
from email.utils import parsedate_to_datetime

_DAY = timedelta(days=1)
# The beginnings of words for time spans in English, German, French and Spanish, without accents; longer ones first.
_SPANS: Mapping[str, timedelta] = {
    "min": timedelta(minutes=1),
    **dict.fromkeys(("hour", "stunde", "heure", "hora"), timedelta(hours=1)),
    **dict.fromkeys(("day", "tag", "jour", "dia"), _DAY),
    **dict.fromkeys(("week", "woche", "semain", "seman"), 7 * _DAY),
    **dict.fromkeys(("month", "monat", "mois", "mes"), 30 * _DAY),
    **dict.fromkeys(("year", "jahr", "an"), 365 * _DAY),
}
_AGO = re.compile(
    r"(?:\b(?:vor|il y a|hace)\s+)?(\d{1,3}|an?|one|einem|einer|une?|una?)\s+("
    + "|".join(_SPANS)
    + r")[a-z]*(\s+ago)?\b"
)
_INTRODUCED = re.compile(r"\b(?:vor|il y a|hace)\s")
_MONTH_NAMES = (
    "jan ene, feb fev, mar maer mrz, apr avr abr, may mai, jun juin, jul juil, aug aou ago, sep, oct okt, nov,"
    " dec dez dic"
)
_MONTHS = {name: number for number, names in enumerate(_MONTH_NAMES.split(","), start=1) for name in names.split()}
_ISO = re.compile(r"(\d{4})-(\d{2})-(\d{2})")
_SLASHED = re.compile(r"\b(\d{1,2})/(\d{1,2})/(\d{4})\b")  # month first: the one service that writes so is American
_MONTH_FIRST = re.compile(r"\b([a-z]{3,10})\.?\s+(\d{1,2}),?\s+(\d{4})\b")
_DAY_FIRST = re.compile(r"\b(\d{1,2})\.?\s+(?:de\s+)?([a-z]{3,10})\.?,?\s+(?:de\s+)?(\d{4})\b")


def parse_age(age: str | None, now: datetime) -> date | None:
    """Returns the day in UTC; None if the words contain none, or one in the future.

    An age in weeks, months or years gives an equally rough day.
    """
    if not age:
        return None
    words = "".join(c for c in unicodedata.normalize("NFKD", age.lower()) if not unicodedata.combining(c))
    iso, slashed = _ISO.search(words), _SLASHED.search(words)
    day = (
        (_day(iso[1], iso[2], iso[3]) if iso else None)
        or _by_age(words, now)
        or (_day(slashed[3], slashed[1], slashed[2]) if slashed else None)
        or _by_month(words)
        or _by_mail(words)
    )
    return None if day is None or day > now.astimezone(UTC).date() + _DAY else day


def _by_mail(words: str) -> date | None:
    try:
        return parsedate_to_datetime(words).date()
    except (ValueError, OverflowError):
        return None


def _by_age(words: str, now: datetime) -> date | None:
    found = _AGO.search(words)
    if found is None or not (found[3] or _INTRODUCED.search(words)):
        return None
    count = int(found[1]) if found[1].isdigit() else 1
    return (now - count * _SPANS[found[2]]).astimezone(UTC).date()


def _by_month(words: str) -> date | None:
    if (found := _MONTH_FIRST.search(words)) and (month := _month(found[1])):
        return _day(found[3], month, found[2])
    if (found := _DAY_FIRST.search(words)) and (month := _month(found[2])):
        return _day(found[3], month, found[1])
    return None


def _month(word: str) -> int | None:
    return _MONTHS.get(word[:4]) or _MONTHS.get(word[:3])


def _day(year: str, month: str | int, day: str) -> date | None:
    try:
        return date(int(year), int(month), int(day))
    except ValueError:
        return None
