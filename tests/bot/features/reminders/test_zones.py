"""Time zones as people write them: a city, an abbreviation, an offset; what may be several is nobody's guess."""

from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest

from bot.features.reminders.zones import zones

NOW = datetime(2026, 11, 22, 12, tzinfo=UTC)


@pytest.mark.parametrize(
    ("words", "zone"),
    [
        ("Berlin", "Europe/Berlin"),
        ("europe/berlin", "Europe/Berlin"),
        ("MEZ", "Europe/Berlin"),
        ("CEST", "Europe/Berlin"),
        ("new york", "America/New_York"),
        ("Nueva York", "America/New_York"),
        ("Wien", "Europe/Vienna"),
        ("Zürich", "Europe/Zurich"),
        ("München", "Europe/Berlin"),
        ("são paulo", "America/Sao_Paulo"),
        ("Sydny", "Australia/Sydney"),
        ("UTC", "UTC"),
        ("Etc/UTC", "Etc/UTC"),
        ("Deutschland", "Europe/Berlin"),
        ("Indianapolis", "America/Indiana/Indianapolis"),
    ],
)
def test_a_zone_is_known_by_what_people_call_it(words: str, zone: str) -> None:
    """Whatever the case, the accents, and nearly the letters."""
    assert zones(words, NOW) == (zone,)


@pytest.mark.parametrize(("words", "hours"), [("UTC+2", 2), ("-5", -5), ("gmt +05:00", 5), ("+0", 0), ("UTC-12", -12)])
def test_an_offset_is_a_zone_of_its_own(words: str, hours: int) -> None:
    """Its sign is the one that people mean."""
    [zone] = zones(words, NOW)
    assert NOW.astimezone(ZoneInfo(zone)).utcoffset() == timedelta(hours=hours)


@pytest.mark.parametrize("words", ["IST", "BST", "cst"])
def test_what_is_several_zones_is_told_as_several(words: str) -> None:
    """Each of them shows another time."""
    found = zones(words, NOW)
    assert len({NOW.astimezone(ZoneInfo(zone)).utcoffset() for zone in found}) == len(found) > 1


@pytest.mark.parametrize("words", ["", "nowhere", "UTC+99", "+15", "Europe/Atlantis", "../etc/passwd", "a" * 10_000])
def test_what_is_no_zone_is_none(words: str) -> None:
    """Nothing is guessed."""
    assert zones(words, NOW) == ()
