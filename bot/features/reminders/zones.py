"""Pure: the time zone people mean by a city, an abbreviation or an offset.

    Europe/Berlin, berlin, new york    the zone of that city, in any case, with small misspellings
    Wien, Rom, Londres                 cities whose local names differ from the zone database
    MEZ, CET, PST, UTC+2               what clocks and calendars show; IST is ambiguous, so nobody guesses

Left to others: what the zone is used for (`bot.features.reminders`).
"""

import re
from collections.abc import Mapping
from datetime import datetime, timedelta
from difflib import get_close_matches
from functools import cache
from zoneinfo import ZoneInfo, available_timezones

from tools import ZONES_BY_CITY, fold_name

_ABBREVIATIONS: Mapping[str, tuple[str, ...]] = {
    **dict.fromkeys(("mez", "mesz", "cet", "cest", "hec", "hnec"), ("Europe/Berlin",)),
    **dict.fromkeys(("wez", "wesz", "wet", "west"), ("Europe/Lisbon",)),
    **dict.fromkeys(("oez", "oesz", "eet", "eest"), ("Europe/Helsinki",)),
    **dict.fromkeys(("et", "est", "edt"), ("America/New_York",)),
    **dict.fromkeys(("ct", "cdt"), ("America/Chicago",)),
    **dict.fromkeys(("mt", "mst", "mdt"), ("America/Denver",)),
    **dict.fromkeys(("pt", "pst", "pdt"), ("America/Los_Angeles",)),
    **dict.fromkeys(("aest", "aedt"), ("Australia/Sydney",)),
    "gmt": ("UTC",),
    "utc": ("UTC",),
    "z": ("UTC",),
    "bst": ("Europe/London", "Asia/Dhaka"),
    "cst": ("America/Chicago", "Asia/Shanghai", "America/Havana"),
    "ist": ("Asia/Kolkata", "Europe/Dublin", "Asia/Jerusalem"),
}
_OFFSET = re.compile(r"(?:utc|gmt)?\s*(?P<sign>[+-])\s*(?P<hours>\d{1,2})(?::?00)?", re.IGNORECASE)
_EAST_END, _WEST_END = 14, 12
_CLOSE = 0.82
"""Berlin by Brelin, but not Atlanta by Atlantis."""
_MAX_CHARACTERS = 60


def zones(words: str, now: datetime) -> tuple[str, ...]:
    """The zones somebody may mean; empty if none. Zones that show the same time all year count as one."""
    name = fold_name(words[:_MAX_CHARACTERS])
    if name in _known():
        return (_known()[name],)
    if offset := _OFFSET.fullmatch(words.strip()):
        return _fixed(offset["sign"], int(offset["hours"]))
    if name in _ABBREVIATIONS:
        return _ABBREVIATIONS[name]
    cities = _cities()
    near = [name] if name in cities else get_close_matches(name, cities, n=3, cutoff=_CLOSE)
    return _apart([zone for one in near for zone in cities[one]], now)


@cache
def _known() -> Mapping[str, str]:
    """The zones of the database by their folded names."""
    return {fold_name(name): name for name in sorted(available_timezones()) if "/" in name}


@cache
def _cities() -> Mapping[str, list[str]]:
    """The zones by the last part of their names, and by what else people call a city."""
    cities: dict[str, list[str]] = {}
    for name in (name for name in _known().values() if not name.startswith(("Etc/", "US/", "Canada/"))):
        cities.setdefault(fold_name(name.rpartition("/")[2]), []).append(name)
    return {**cities, **{city: [zone] for city, zone in ZONES_BY_CITY.items()}}


def _fixed(sign: str, hours: int) -> tuple[str, ...]:
    """The zone so many hours before or after UTC, whose sign in the database is inverted (POSIX)."""
    if hours == 0:
        return ("UTC",)
    if hours > (_EAST_END if sign == "+" else _WEST_END):
        return ()
    return (f"Etc/GMT{'-' if sign == '+' else '+'}{hours}",)


def _apart(found: list[str], now: datetime) -> tuple[str, ...]:
    """The first of any zones that show the same time in both halves of the year."""
    seen: dict[tuple[timedelta | None, ...], str] = {}
    for name in found:
        shown = tuple(at.astimezone(ZoneInfo(name)).utcoffset() for at in (now, now + timedelta(days=182)))
        seen.setdefault(shown, name)
    return tuple(seen.values())
