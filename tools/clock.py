"""The tool `current_time`: date and time in a given time zone, or in that of the people who ask.

Zones are found by IANA name, by the city in such a name ("Tokyo"), by the names in `tools.cities`, and as an offset
("UTC+5:30").
"""

import difflib
import re
from collections.abc import Mapping
from datetime import datetime, timedelta, timezone, tzinfo
from functools import cache
from typing import Any
from zoneinfo import ZoneInfo, available_timezones

from pydantic import Field

from tools.base import Arguments, Intent, Result, ToolContext, ToolSpec
from tools.cities import ZONES_BY_CITY, regions_named
from tools.errors import NotFound
from tools.text import clean_text, fold_name

_OFFSET = re.compile(r"(?:utc|gmt)? ?([+-])(\d{1,2})(?::?([0-5]\d))?")
_MAX_OFFSET = timedelta(hours=14)
_WITH_CITIES = ("Africa/", "America/", "Asia/", "Atlantic/", "Australia/", "Europe/", "Indian/", "Pacific/")


class CurrentTimeArguments(Arguments):
    """The place to tell the time of."""

    timezone: str | None = Field(default=None, max_length=100, description="Europe/Berlin, Tokyo; default: theirs.")


class CurrentTime:
    """Tells the time anywhere."""

    spec = ToolSpec(
        name="current_time",
        seldom="the time in a zone or a large city",
        description=(
            "Returns the current date, weekday, time and UTC offset in a time zone or large city, by default where the"
            " people are. Use it whenever an answer depends on the time of day."
        ),
        arguments=CurrentTimeArguments,
        intent=lambda _given: Intent("clock"),
        label="computed",
    )

    async def run(self, arguments: CurrentTimeArguments, context: ToolContext) -> Result:
        """Returns the local time; raises `NotFound` with similar names for a zone or city that is not known."""
        name, zone = zone_named(arguments.timezone or context.timezone)
        local = context.now.astimezone(zone)
        return Result(
            data={
                "timezone": name,
                "local_time": local.isoformat(timespec="seconds"),
                "date": local.date().isoformat(),
                "time": f"{local:%H:%M}",
                "weekday": f"{local:%A}",
                "utc_offset": local.isoformat()[-6:],
            }
        )


def zone_named(name: str) -> tuple[str, tzinfo]:
    """Returns the zone that a person or model means by a name, and the name to use for it; raises `NotFound`."""
    wanted = fold_name(clean_text(name))
    city, *regions = (part.strip() for part in wanted.split(","))
    found = _zone_of(wanted) or next(filter(None, (_zone_in(city, region) for region in regions)), None)
    if found:
        return found, ZoneInfo(found)
    if match := _OFFSET.fullmatch(wanted):
        offset = timedelta(hours=int(match[2]), minutes=int(match[3] or 0))
        if offset > _MAX_OFFSET:
            raise NotFound("No time zone is more than 14 hours from UTC.")
        zone = timezone(-offset if match[1] == "-" else offset)
        return zone.tzname(None), zone
    zones = _zones()
    near = difflib.get_close_matches(wanted, zones, n=4, cutoff=0.7)
    meant = f" Similar: {', '.join(dict.fromkeys(zones[match] for match in near))}." if near else ""
    raise NotFound(f"There is no time zone or known city named {clean_text(name)[:60]!r}.{meant} Give an IANA name.")


def _zone_in(city: str, region: str) -> str | None:
    """Returns the zone of a city in a country; None if that does not tell it, as with a state."""
    zone = _zone_of(city)
    regions = regions_named(region)
    if any(one.is_state for one in regions) and not any(zone in one.zones for one in regions):
        return None
    possible = frozenset[str]().union(*(one.zones for one in regions), {_zones().get(region, "")}) - {""}
    offsets = {_offsets(other): other for other in (*sorted(possible, reverse=True), *({zone} & possible))}
    only = next(iter(offsets.values())) if len(offsets) == 1 else None
    return offsets.get(_offsets(zone), only) if zone else only


def _offsets(zone: str) -> tuple[timedelta | None, ...]:
    """Returns the offsets from UTC in January and July: zones that share them show the same time."""
    return tuple(datetime(2026, month, 1, tzinfo=ZoneInfo(zone)).utcoffset() for month in (1, 7))


def _zone_of(name: str) -> str:
    """Returns the IANA name of a zone or city by its folded name in any of our languages; empty if it is not known."""
    return _zones().get(name) or next(filter(None, (_cities_in(one).get(name) for one in ("de", "fr", "es"))), "")


@cache
def _cities_in(language: str) -> Mapping[str, str]:
    """Returns IANA names by the folded names that CLDR has for their cities."""
    from babel import Locale  # noqa: PLC0415 - a language takes 2 MB, and few names need one

    locale: Any = Locale(language)
    zones: Mapping[str, Mapping[str, Any]] = locale.time_zones
    return {fold_name(zone["city"]): name for name, zone in zones.items() if "city" in zone and name != "Etc/Unknown"}


@cache
def _zones() -> Mapping[str, str]:
    """Returns IANA names by folded names that people use: the whole name, its city, other cities in the zone."""
    names = sorted(available_timezones(), key=lambda name: (name.count("/"), name), reverse=True)
    # Only these contain cities. Etc/GMT+5 is five hours behind UTC, the opposite of what people mean by it.
    cities = {fold_name(name.rpartition("/")[2]): name for name in names if name.startswith(_WITH_CITIES)}
    whole = {fold_name(name): name for name in names}
    return {**cities, **ZONES_BY_CITY, **whole}
