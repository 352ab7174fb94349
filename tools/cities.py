"""Names of cities, and of countries with one time zone, that the IANA database lacks: it names one city per zone.
Includes German, French and Spanish names (CLDR 48).

Also states and countries, which people write behind a city: "Portland, ME", "London, UK".
"""

import unicodedata
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib import resources

ZONES_BY_CITY: Mapping[str, str] = {
    city: zone
    for zone, cities in {
        "Africa/Algiers": "alger, algier, argel",
        "Africa/Cairo": "el cairo, kairo, le caire",
        "Africa/Johannesburg": "cape town, durban, johannesburgo, pretoria",
        "Africa/Lagos": "abuja",
        "Africa/Tunis": "tunez",
        "America/Chicago": "austin, dallas, houston, minneapolis, new orleans, san antonio",
        "America/Havana": "havanna, la habana, la havane",
        "America/Los_Angeles": "las vegas, portland, san diego, san francisco, seattle",
        "America/Mexico_City": "ciudad de mexico, mexico, mexiko, mexiko-stadt",
        "America/New_York": "atlanta, boston, miami, nueva york, philadelphia, washington, washington dc",
        "America/Santiago": "santiago de chile",
        "America/Sao_Paulo": "brasilia, rio, rio de janeiro",
        "America/Toronto": "montreal, ottawa, quebec",
        "Asia/Baghdad": "bagdad",
        "Asia/Bangkok": "hanoi",
        "Asia/Beirut": "beyrouth",
        "Asia/Damascus": "damas, damasco, damaskus",
        "Asia/Dubai": "abu dhabi",
        "Asia/Jakarta": "yakarta",
        "Asia/Jerusalem": "jerusalen, tel aviv",
        "Asia/Kabul": "kaboul",
        "Asia/Karachi": "islamabad, lahore",
        "Asia/Kolkata": """
        bangalore, bengaluru, bombay, calcuta, chennai, delhi, hyderabad, kalkutta, mumbai, neu delhi, neu-delhi, new
        delhi, nueva delhi""",
        "Asia/Manila": "manille",
        "Asia/Riyadh": "riad, riyad",
        "Asia/Seoul": "seul",
        "Asia/Shanghai": "beijing, guangzhou, pekin, peking, schanghai, shenzhen",
        "Asia/Singapore": "singapour, singapur",
        "Asia/Tehran": "teheran",
        "Asia/Tokyo": "hiroshima, kyoto, osaka, sapporo, tokio",
        "Atlantic/Canary": "canarias, iles canaries, kanaren",
        "Australia/Sydney": "canberra, sidney",
        "Europe/Athens": "atenas, athen, athenes",
        "Europe/Belgrade": "belgrad, belgrado",
        "Europe/Berlin": """
        alemania, allemagne, cologne, colonia, deutschland, dresden, francfort, frankfurt, germany, hambourg, hamburg,
        hamburgo, koeln, koln, leipzig, muenchen, munchen, munich, stuttgart""",
        "Europe/Brussels": "bruselas, brussel, bruxelles",
        "Europe/Bucharest": "bucarest, bukarest",
        "Europe/Copenhagen": "copenhague, kopenhagen",
        "Europe/Istanbul": "ankara, estambul",
        "Europe/Kyiv": "kiew, kyiv, kyjiw",
        "Europe/Lisbon": "lisboa, lisbonne, lissabon",
        "Europe/London": "birmingham, cardiff, edinburgh, glasgow, liverpool, londres, manchester",
        "Europe/Luxembourg": "luxemburg, luxemburgo",
        "Europe/Madrid": "barcelona, barcelone, sevilla, seville, valencia",
        "Europe/Moscow": "moscou, moscu, moskau, saint petersburg, st petersburg",
        "Europe/Paris": "bordeaux, france, francia, frankreich, lyon, marseille, nice, nizza, toulouse",
        "Europe/Prague": "prag, praga",
        "Europe/Rome": """
        florence, italia, italie, italien, italy, mailand, milan, milano, naples, napoli, neapel, rom, roma, turin,
        venice""",
        "Europe/Stockholm": "estocolmo",
        "Europe/Vienna": "austria, autriche, oesterreich, osterreich, viena, vienne, wien",
        "Europe/Warsaw": "varsovia, varsovie, warschau",
        "Europe/Zurich": """
        basel, bern, geneva, geneve, genf, ginebra, lausanne, schweiz, suisse, suiza, switzerland, zuerich, zurich""",
        "Pacific/Auckland": "christchurch, wellington",
    }.items()
    for city in " ".join(cities.split()).split(", ")
}
"""IANA zone names by city name, as returned by `fold_name`."""

# Postal letters, name, and the time zones by their cities in America or Australia. Source: tzdata 2026b's zone1970.tab
# and the lists of USPS, Canada Post and Australia Post, 2026-11-27.
_STATES = """
AL Alabama: Chicago; AK Alaska: Anchorage Adak; AZ Arizona: Phoenix Denver; AR Arkansas: Chicago; CA California:
Los_Angeles; CO Colorado: Denver; CT Connecticut: New_York; DE Delaware: New_York; DC District of Columbia: New_York;
FL Florida: New_York Chicago; GA Georgia: New_York; ID Idaho: Boise Los_Angeles; IL Illinois: Chicago; IN Indiana:
Indiana/Indianapolis Chicago; IA Iowa: Chicago; KS Kansas: Chicago Denver; KY Kentucky: New_York Chicago; LA Louisiana:
Chicago; ME Maine: New_York; MD Maryland: New_York; MA Massachusetts: New_York; MI Michigan: Detroit Menominee; MN
Minnesota: Chicago; MS Mississippi: Chicago; MO Missouri: Chicago; MT Montana: Denver; NE Nebraska: Chicago Denver; NV
Nevada: Los_Angeles; NH New Hampshire: New_York; NJ New Jersey: New_York; NM New Mexico: Denver; NY New York: New_York;
NC North Carolina: New_York; ND North Dakota: Chicago Denver; OH Ohio: New_York; OK Oklahoma: Chicago; OR Oregon:
Los_Angeles Boise; PA Pennsylvania: New_York; RI Rhode Island: New_York; SC South Carolina: New_York; SD South Dakota:
Chicago Denver; TN Tennessee: Chicago New_York; TX Texas: Chicago Denver; UT Utah: Denver; VT Vermont: New_York; VA
Virginia: New_York; WA Washington: Los_Angeles; WV West Virginia: New_York; WI Wisconsin: Chicago; WY Wyoming: Denver;
AB Alberta: Edmonton; BC British Columbia: Vancouver Edmonton; MB Manitoba: Winnipeg; NB New Brunswick: Moncton; NL
Newfoundland and Labrador: St_Johns Goose_Bay; NS Nova Scotia: Halifax; ON Ontario: Toronto Winnipeg; QC Quebec:
Toronto Blanc-Sablon; SK Saskatchewan: Regina; NSW New South Wales: Sydney; VIC Victoria: Melbourne; QLD Queensland:
Brisbane; TAS Tasmania: Hobart; WA Western Australia: Perth; SA South Australia: Adelaide; NT Northern Territory: Darwin
"""
_HAWAII = "Pacific/Honolulu"
_AUSTRALIAN = frozenset({"Sydney", "Melbourne", "Brisbane", "Hobart", "Perth", "Adelaide", "Darwin"})
_COUNTRY_NAMES = {
    "GB": "uk, united kingdom, great britain, england, scotland, wales, northern ireland",
    "US": "usa, u.s., u.s.a., united states of america, america",
    "AE": "uae",
    "CZ": "czechia",
    "KR": "south korea, korea",
    "NL": "holland",
    "TR": "turkiye",
}


@dataclass(frozen=True, slots=True)
class Region:
    """A state or a country."""

    code: str
    """Its postal letters, or its code by ISO 3166."""
    name: str
    """As it is written in English."""
    is_state: bool
    zones: frozenset[str] = frozenset()
    """Its IANA time zones."""


@cache
def _regions() -> Mapping[str, tuple[Region, ...]]:
    found: dict[str, list[Region]] = {}
    states = [Region("HI", "Hawaii", is_state=True, zones=frozenset({_HAWAII}))]
    for row in " ".join(_STATES.split()).split("; "):
        code, name = row.partition(":")[0].split(" ", 1)
        cities = row.partition(": ")[2].split()
        zones = frozenset(f"{'Australia' if city in _AUSTRALIAN else 'America'}/{city}" for city in cities)
        states.append(Region(code, name, is_state=True, zones=zones))
    for region in (*states, *_countries()):
        others = _COUNTRY_NAMES.get(region.code, "").split(", ") if not region.is_state else []
        for name in {fold_name(region.code), fold_name(region.name), *filter(None, others)}:
            found.setdefault(name, []).append(region)
    return {name: tuple(regions) for name, regions in found.items()}


def _countries() -> list[Region]:
    """Returns the countries of the time zone database."""
    folder = resources.files("tzdata.zoneinfo")
    names, zones = (
        [line.split("\t") for line in (folder / name).read_text(encoding="utf-8").splitlines() if line[:1] != "#"]
        for name in ("iso3166.tab", "zone.tab")
    )
    return [
        Region(code, name, is_state=False, zones=frozenset(row[2] for row in zones if row[0] == code))
        for code, name in names
    ]


def regions_named(name: str) -> tuple[Region, ...]:
    """Returns the states and countries that people mean by a name or by letters: California and Canada by CA."""
    return _regions().get(fold_name(name).removeprefix("the "), ())


def fold_name(name: str) -> str:
    """Returns the name of a city or zone without case, accents, underscores and double spaces."""
    bare = "".join(mark for mark in unicodedata.normalize("NFKD", name) if not unicodedata.combining(mark))
    return " ".join(bare.casefold().replace("_", " ").split())
