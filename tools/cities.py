"""Names of cities, and of countries with one time zone, that the IANA database lacks: it names one city per zone.
Those cities' own names in German, French and Spanish are CLDR's.

Also states and countries, which people write behind a city: "Portland, ME", "London, UK"; and coordinates.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib import resources

from tools.text import fold_name

ZONES_BY_CITY: Mapping[str, str] = {
    city: zone
    for zone, cities in {
        "Africa/Johannesburg": "cape town, durban, pretoria",
        "Africa/Lagos": "abuja",
        "America/Chicago": "austin, dallas, houston, minneapolis, new orleans, san antonio",
        "America/Los_Angeles": "las vegas, portland, san diego, san francisco, seattle",
        "America/Mexico_City": "mexico, mexiko",
        "America/New_York": "atlanta, boston, miami, philadelphia, washington, washington dc",
        "America/Sao_Paulo": "brasilia, rio, rio de janeiro",
        "America/Toronto": "montreal, ottawa, quebec",
        "Asia/Bangkok": "hanoi",
        "Asia/Dubai": "abu dhabi",
        "Asia/Jerusalem": "tel aviv",
        "Asia/Karachi": "islamabad, lahore",
        "Asia/Kolkata": """
        bangalore, bengaluru, bombay, calcuta, chennai, delhi, hyderabad, kalkutta, mumbai, neu delhi, neu-delhi, new
        delhi, nueva delhi""",
        "Asia/Shanghai": "beijing, guangzhou, pekin, peking, schanghai, shenzhen",
        "Asia/Tokyo": "hiroshima, kyoto, osaka, sapporo",
        "Australia/Sydney": "canberra",
        "Europe/Berlin": """
        alemania, allemagne, cologne, colonia, deutschland, dresden, francfort, frankfurt, germany, hambourg, hamburg,
        hamburgo, koeln, koln, leipzig, muenchen, munchen, munich, stuttgart""",
        "Europe/Istanbul": "ankara",
        "Europe/Kyiv": "kiew, kyiv, kyjiw",
        "Europe/London": "birmingham, cardiff, edinburgh, glasgow, liverpool, manchester",
        "Europe/Madrid": "barcelona, barcelone, sevilla, seville, valencia",
        "Europe/Moscow": "saint petersburg, st petersburg",
        "Europe/Paris": "bordeaux, france, francia, frankreich, lyon, marseille, nice, nizza, toulouse",
        "Europe/Rome": """
        florence, italia, italie, italien, italy, mailand, milan, milano, naples, napoli, neapel, turin,
        venice""",
        "Europe/Vienna": "austria, autriche, oesterreich, osterreich",
        "Europe/Zurich": """
        basel, bern, geneva, geneve, genf, ginebra, lausanne, schweiz, suisse, suiza, switzerland, zuerich, zurich""",
        "Pacific/Auckland": "christchurch, wellington",
    }.items()
    for city in " ".join(cities.split()).split(", ")
}
"""IANA zone names by city name, as returned by `fold_name`."""

# Postal letters and name. Source: the lists of USPS, Canada Post and Australia Post, 2026-11-27.
_STATES = """
AL Alabama, AK Alaska, AZ Arizona, AR Arkansas, CA California, CO Colorado, CT Connecticut, DE Delaware, DC District of
Columbia, FL Florida, GA Georgia, HI Hawaii, ID Idaho, IL Illinois, IN Indiana, IA Iowa, KS Kansas, KY Kentucky, LA
Louisiana, ME Maine, MD Maryland, MA Massachusetts, MI Michigan, MN Minnesota, MS Mississippi, MO Missouri, MT Montana,
NE Nebraska, NV Nevada, NH New Hampshire, NJ New Jersey, NM New Mexico, NY New York, NC North Carolina, ND North Dakota,
OH Ohio, OK Oklahoma, OR Oregon, PA Pennsylvania, RI Rhode Island, SC South Carolina, SD South Dakota, TN Tennessee, TX
Texas, UT Utah, VT Vermont, VA Virginia, WA Washington, WV West Virginia, WI Wisconsin, WY Wyoming, AB Alberta, BC
British Columbia, MB Manitoba, NB New Brunswick, NL Newfoundland and Labrador, NS Nova Scotia, ON Ontario, QC Quebec, SK
Saskatchewan, NSW New South Wales, VIC Victoria, QLD Queensland, TAS Tasmania, WA Western Australia, SA South Australia,
NT Northern Territory"""
_COUNTRY_NAMES = {
    "GB": "uk, united kingdom, great britain, england, scotland, wales, northern ireland",
    "US": "usa, u.s., u.s.a., united states of america, america",
    "AE": "uae",
    "CZ": "czechia",
    "KR": "south korea, korea",
    "NL": "holland",
    "TR": "turkiye",
}

_MINUTES = r"(?:\s*°\s*([0-5]?\d(?:\.\d+)?)\s*['’′](?:\s*([0-5]?\d(?:\.\d+)?)\s*(?:[\"”″]|''|’’|′′))?)?"
_COORDINATES = re.compile(
    rf"\(?\s*([-−]?\d{{1,2}}(?:\.\d+)?){_MINUTES}\s*°?\s*([NS])?"
    rf"(?:\s*[,;/]\s*|\s+)([-−]?\d{{1,3}}(?:\.\d+)?){_MINUTES}\s*°?\s*([EW])?\s*\)?",
    re.IGNORECASE,
)
_MAX_LATITUDE, _MAX_LONGITUDE = 90, 180


@dataclass(frozen=True, slots=True)
class Region:
    """A state, or a country with its time zones."""

    code: str
    """Its postal letters, or its code by ISO 3166."""
    name: str
    """As it is written in English."""
    is_state: bool
    zones: frozenset[str] = frozenset()
    """The IANA time zones of a country."""


@cache
def _regions() -> Mapping[str, tuple[Region, ...]]:
    found: dict[str, list[Region]] = {}
    states = [Region(*row.split(" ", 1), is_state=True) for row in " ".join(_STATES.split()).split(", ")]
    folder = resources.files("tzdata.zoneinfo")
    names, zones = (
        [line.split("\t") for line in (folder / name).read_text(encoding="utf-8").splitlines() if line[:1] != "#"]
        for name in ("iso3166.tab", "zone.tab")
    )
    for code, name in names:
        states.append(Region(code, name, is_state=False, zones=frozenset(row[2] for row in zones if row[0] == code)))
    for region in states:
        others = _COUNTRY_NAMES.get(region.code, "").split(", ") if not region.is_state else []
        for name in {fold_name(region.code), fold_name(region.name), *filter(None, others)}:
            found.setdefault(name, []).append(region)
    return {name: tuple(regions) for name, regions in found.items()}


def regions_named(name: str) -> tuple[Region, ...]:
    """Returns the states and countries that people mean by a name or by letters: California and Canada by CA."""
    return _regions().get(fold_name(name).removeprefix("the "), ())


def coordinates(text: str) -> tuple[float, float] | None:
    """Returns latitude and longitude of `52.52 13.41`, `33.9 S, 18.4 E` or `52°31'12"N 13°24'18"E`; None if the text
    has no such form.
    """
    found = _COORDINATES.fullmatch(text.strip())
    if found is None:
        return None
    latitude = _degrees(*found.groups()[:4])
    longitude = _degrees(*found.groups()[4:])
    return (latitude, longitude) if abs(latitude) <= _MAX_LATITUDE and abs(longitude) <= _MAX_LONGITUDE else None


def _degrees(degrees: str, minutes: str | None, seconds: str | None, side: str | None) -> float:
    """The number of degrees, negative in the south and west."""
    is_negative = degrees[0] in "-−" or (side or "").upper() in {"S", "W"}
    size = round(float(degrees.lstrip("-−")) + float(minutes or 0) / 60 + float(seconds or 0) / 3600, 5)
    return -size if is_negative else size
