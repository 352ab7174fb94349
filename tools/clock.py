"""The tool `current_time`: the date and the time in a zone that the model names, else in that of the people who ask.

Zones are found by their IANA name, by a city that stands in one ("Tokyo"), by a few large cities that do not, by what
these are called in the other languages of Aldis ("Wien"), and as an offset ("UTC+5:30"). Left to others: which zone
people live in (a setting).
"""

import difflib
import re
import unicodedata
from collections.abc import Mapping
from datetime import timedelta, timezone, tzinfo
from functools import cache
from zoneinfo import ZoneInfo, available_timezones

from pydantic import Field

from tools.base import Arguments, Intent, Result, ToolContext, ToolSpec
from tools.errors import NotFound
from tools.text import clean_text

_OFFSET = re.compile(r"(?:utc|gmt)? ?([+-])(\d{1,2})(?::?([0-5]\d))?")
_LONGEST_OFFSET = timedelta(hours=14)
_WITH_CITIES = ("Africa/", "America/", "Asia/", "Atlantic/", "Australia/", "Europe/", "Indian/", "Pacific/")

# The largest cities and capitals that people ask for and that IANA, which names one city a zone, leaves out.
_MORE_CITIES: Mapping[str, str] = {
    city: zone
    for zone, cities in {
        "Africa/Johannesburg": "Cape Town, Durban, Pretoria",
        "Africa/Lagos": "Abuja",
        "America/Chicago": "Austin, Dallas, Houston, Minneapolis, New Orleans, San Antonio",
        "America/Los_Angeles": "Las Vegas, Portland, San Diego, San Francisco, Seattle",
        "America/New_York": "Atlanta, Boston, Miami, Philadelphia, Washington, Washington DC",
        "America/Sao_Paulo": "Brasilia, Rio de Janeiro",
        "America/Toronto": "Montreal, Ottawa, Quebec",
        "Asia/Bangkok": "Hanoi",
        "Asia/Dubai": "Abu Dhabi",
        "Asia/Jerusalem": "Tel Aviv",
        "Asia/Karachi": "Islamabad, Lahore",
        "Asia/Kolkata": "Bangalore, Bengaluru, Chennai, Delhi, Hyderabad, Mumbai, New Delhi",
        "Asia/Shanghai": "Beijing, Guangzhou, Shenzhen",
        "Asia/Tokyo": "Hiroshima, Kyoto, Osaka, Sapporo",
        "Australia/Sydney": "Canberra",
        "Europe/Berlin": "Cologne, Frankfurt, Hamburg, Leipzig, Munich, Stuttgart",
        "Europe/Istanbul": "Ankara",
        "Europe/London": "Birmingham, Cardiff, Edinburgh, Glasgow, Liverpool, Manchester",
        "Europe/Madrid": "Barcelona, Seville, Valencia",
        "Europe/Moscow": "Saint Petersburg, St Petersburg",
        "Europe/Paris": "Lyon, Marseille, Nice",
        "Europe/Rome": "Florence, Milan, Naples, Turin, Venice",
        "Europe/Zurich": "Basel, Bern, Geneva, Lausanne",
        "Pacific/Auckland": "Christchurch, Wellington",
    }.items()
    for city in cities.lower().split(", ")
}

# What cities are called in German, French and Spanish, without accents, where that is another name (CLDR 48).
_CITIES_ABROAD: Mapping[str, str] = {
    city: zone
    for zone, cities in {
        "Africa/Algiers": "alger, algier, argel",
        "Africa/Cairo": "el cairo, kairo, le caire",
        "Africa/Johannesburg": "johannesburgo",
        "Africa/Tunis": "tunez",
        "America/Havana": "havanna, la habana, la havane",
        "America/Mexico_City": "ciudad de mexico, mexico, mexiko-stadt",
        "America/New_York": "nueva york",
        "America/Santiago": "santiago de chile",
        "Asia/Baghdad": "bagdad",
        "Asia/Beirut": "beyrouth",
        "Asia/Damascus": "damas, damasco, damaskus",
        "Asia/Jakarta": "yakarta",
        "Asia/Jerusalem": "jerusalen",
        "Asia/Kabul": "kaboul",
        "Asia/Kolkata": "kalkutta, calcuta, nueva delhi, neu-delhi",
        "Asia/Manila": "manille",
        "Asia/Riyadh": "riad, riyad",
        "Asia/Seoul": "seul",
        "Asia/Shanghai": "pekin, peking, schanghai",
        "Asia/Singapore": "singapour, singapur",
        "Asia/Tehran": "teheran",
        "Asia/Tokyo": "tokio",
        "Atlantic/Canary": "canarias, iles canaries, kanaren",
        "Australia/Sydney": "sidney",
        "Europe/Athens": "atenas, athen, athenes",
        "Europe/Belgrade": "belgrad, belgrado",
        "Europe/Berlin": "colonia, francfort, hambourg, hamburgo, koln, munchen, munich",
        "Europe/Brussels": "bruselas, brussel, bruxelles",
        "Europe/Bucharest": "bucarest, bukarest",
        "Europe/Copenhagen": "copenhague, kopenhagen",
        "Europe/Istanbul": "estambul",
        "Europe/Kiev": "kiew",
        "Europe/Lisbon": "lisboa, lisbonne, lissabon",
        "Europe/London": "londres",
        "Europe/Luxembourg": "luxemburg, luxemburgo",
        "Europe/Madrid": "barcelone, sevilla",
        "Europe/Moscow": "moscou, moscu, moskau",
        "Europe/Prague": "prag, praga",
        "Europe/Rome": "rom, roma, mailand, milano, neapel",
        "Europe/Stockholm": "estocolmo",
        "Europe/Vienna": "viena, vienne, wien",
        "Europe/Warsaw": "varsovia, varsovie, warschau",
        "Europe/Zurich": "geneve, genf, ginebra",
    }.items()
    for city in cities.split(", ")
}


class CurrentTimeArguments(Arguments):
    """Where the time is asked for."""

    timezone: str | None = Field(
        default=None,
        max_length=100,
        description="An IANA zone such as Europe/Berlin, or a large city such as Tokyo; left out: the people's own.",
    )


class CurrentTime:
    """Tells the time anywhere."""

    spec = ToolSpec(
        name="current_time",
        seldom="the time in a zone or a large city",
        description=(
            "Tells the current date, weekday and time, with the offset from UTC, in a time zone or a large city, or"
            " where the people are when neither is named. Use it whenever an answer depends on the time of day."
        ),
        arguments=CurrentTimeArguments,
        intent=lambda _given: Intent("clock"),
        computes_only=True,
    )

    async def run(self, arguments: CurrentTimeArguments, context: ToolContext) -> Result:
        """The local time.

        Raises:
            NotFound: no zone or known city has that name; the message names those that come close.
        """
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
    """The zone that a person or a model means by the name, and what to call it.

    Raises:
        NotFound: there is none.
    """
    wanted = _folded(clean_text(name))
    zones = _zones()
    for candidate in (wanted, wanted.partition(",")[0].strip()):
        if candidate in zones:
            return zones[candidate], ZoneInfo(zones[candidate])
    if match := _OFFSET.fullmatch(wanted):
        return _fixed(match)
    near = difflib.get_close_matches(wanted, zones, n=4, cutoff=0.7)
    meant = f" Close are: {', '.join(dict.fromkeys(zones[match] for match in near))}." if near else ""
    raise NotFound(f"There is no time zone or known city named {clean_text(name)[:60]!r}.{meant} Give an IANA name.")


def _fixed(match: re.Match[str]) -> tuple[str, tzinfo]:
    offset = timedelta(hours=int(match[2]), minutes=int(match[3] or 0))
    if offset > _LONGEST_OFFSET:
        raise NotFound("No time zone is more than 14 hours from UTC.")
    zone = timezone(-offset if match[1] == "-" else offset)
    return zone.tzname(None), zone


@cache
def _zones() -> Mapping[str, str]:
    """The IANA name of every zone by what people may call it, folded: its whole name, its city, a city within it."""
    names = sorted(available_timezones(), key=lambda name: (name.count("/"), name), reverse=True)
    # Only these hold cities: Etc/GMT+5 is five hours behind UTC, the reverse of what people mean by it.
    cities = {_folded(name.rpartition("/")[2]): name for name in names if name.startswith(_WITH_CITIES)}
    whole = {_folded(name): name for name in names}
    return {**cities, **_CITIES_ABROAD, **_MORE_CITIES, **whole}


def _folded(name: str) -> str:
    """The name without case, accents, underscores and double spaces."""
    bare = "".join(mark for mark in unicodedata.normalize("NFKD", name) if not unicodedata.combining(mark))
    return " ".join(bare.casefold().replace("_", " ").split())
