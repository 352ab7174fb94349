"""The time in a zone, a city, at an offset."""

from dataclasses import replace
from datetime import UTC, datetime
from zoneinfo import available_timezones

import pytest

from tests.tools.conftest import Asked
from tools import NotFound, ToolContext
from tools.clock import CurrentTime, zone_named


async def test_the_time_is_that_of_the_people_who_ask(context: ToolContext) -> None:
    """Without an argument the zone of the surroundings counts, with the offset of the day."""
    july = replace(context, now=datetime(2026, 7, 1, 12, tzinfo=UTC))
    assert (await Asked(CurrentTime(), july)())["utc_offset"] == "+02:00"
    assert await Asked(CurrentTime(), context)() == {
        "timezone": "Europe/Berlin",
        "local_time": "2026-11-21T15:30:15+01:00",
        "date": "2026-11-21",
        "time": "15:30",
        "weekday": "Saturday",
        "utc_offset": "+01:00",
    }


async def test_a_zone_is_found_by_what_people_call_it(context: ToolContext) -> None:
    """By IANA names, cities with countries, offsets as people mean them; an unknown one by what comes close."""
    for asked, zone, local_time in (
        ("tokyo", "Asia/Tokyo", "2026-11-21T23:30:15+09:00"),
        ("Buenos Aires", "America/Buenos_Aires", "2026-11-21T11:30:15-03:00"),
        ("Wien", "Europe/Vienna", "2026-11-21T15:30:15+01:00"),
        ("Athènes", "Europe/Athens", "2026-11-21T16:30:15+02:00"),
        ("El Cairo", "Africa/Cairo", "2026-11-21T16:30:15+02:00"),
        ("Mumbai", "Asia/Kolkata", "2026-11-21T20:00:15+05:30"),
        ("GMT-3", "UTC-03:00", "2026-11-21T11:30:15-03:00"),
        # A country behind a comma decides, and a state is not guessed. Reports: kevinroberts/city-timezones#8,
        # mattermost-plugin-walltime#37.
        ("Birmingham, UK", "Europe/London", "2026-11-21T14:30:15+00:00"),
        ("Bielefeld, Germany", "Europe/Berlin", "2026-11-21T15:30:15+01:00"),
        ("München, Deutschland", "Europe/Berlin", "2026-11-21T15:30:15+01:00"),
        ("Buenos Aires, Argentina", "America/Argentina/Buenos_Aires", "2026-11-21T11:30:15-03:00"),
        ("Tbilisi, Georgia", "Asia/Tbilisi", "2026-11-21T18:30:15+04:00"),  # a state has the same name
        ("GMT+5:30", "UTC+05:30", "2026-11-21T20:00:15+05:30"),  # victrme/Bonjourr#601
    ):
        data = await Asked(CurrentTime(), context)(asked)
        assert (data["timezone"], data["local_time"]) == (zone, local_time), asked
    for asked, words in (
        ("Tokyoo", "Asia/Tokyo"),
        ("qqqqqq", "no time zone or known city named 'qqqqqq'"),
        ("../../etc/passwd", "no time zone"),
        ("Unbekannt", "no time zone"),  # CLDR has a city of this name
        ("UTC+25", "14 hours"),
        ("\u202e", "no time zone"),
        ("Paris, TX", "Give an IANA name"),
        ("Athens, Georgia", "Give an IANA name"),
        ("UK/London", "Give an IANA name"),  # md-arif-shaikh/tzc#5
    ):
        with pytest.raises(NotFound, match=words):
            await Asked(CurrentTime(), context)(asked)


def test_every_zone_of_the_database_is_found_by_its_name() -> None:
    """Nothing that people call a zone hides one that IANA calls so."""
    assert {zone_named(name)[0] for name in available_timezones()} == available_timezones()
