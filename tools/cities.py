"""Names of cities, and of countries with one time zone, that the IANA database lacks: it names one city per zone.

Includes German, French and Spanish names (CLDR 48).
"""

import unicodedata
from collections.abc import Mapping

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


def fold_name(name: str) -> str:
    """Returns the name of a city or zone without case, accents, underscores and double spaces."""
    bare = "".join(mark for mark in unicodedata.normalize("NFKD", name) if not unicodedata.combining(mark))
    return " ".join(bare.casefold().replace("_", " ").split())
