"""A double of Open-Meteo: geocoding, forecast and air quality at one address, with places and weather of our own.

Refuses what the real one refuses, with its messages (open-meteo/open-meteo, 2026-11-21): parameters out of range,
unknown variables, a missing or wrong key on the customer host, more than one request at a time. Searches the names at
home and those of one language, answers with the names of that one, and gives the best `count` of the bare name
(open-meteo/geocoding-api 655cd15, `GeocodingapiController.search`, 2026-11-27).
"""

import asyncio
import unicodedata
from collections.abc import Collection
from dataclasses import dataclass, field
from datetime import date, timedelta
from itertools import cycle, islice
from typing import Any

from aiohttp import web

from tests.servers.base import Seen, Server

CURRENT = {
    "temperature_2m": 8.13,
    "relative_humidity_2m": 87,
    "apparent_temperature": -0.2,
    "is_day": 1,
    "precipitation": 0.1,
    "weather_code": 61,
    "wind_speed_10m": 14.8,
    "wind_direction_10m": 251,
    "wind_gusts_10m": None,
}
DAILY = {
    "weather_code": [63, 3, 7, None],
    "temperature_2m_max": [9.1, 8.2, 12.0, 1.0],
    "temperature_2m_min": [2.2, 0.4, -3.0, None],
    "precipitation_sum": [4.2, None, 0.0, 1.0],
    "precipitation_probability_max": [78, 12, 0, 1],
    "sunrise": ["2026-11-21T07:41", "2026-11-22T07:42", "2026-11-23T07:44", None],
    "sunset": ["2026-11-21T16:02", "2026-11-22T16:01", "2026-11-23T16:00", None],
    "wind_speed_10m_max": [31.3, 20.0, 5.0, 1.0],
    "wind_direction_10m_dominant": [251, None, 0, 90],
    "uv_index_max": [0.55, 1.0, 2.0, None],
}
HOURLY: dict[str, list[Any]] = {
    "temperature_2m": [6.5, 6.0, 5.5, None, 4.8, 5.2, 7.1, 8.8],
    "precipitation_probability": [5, 10, 78, 65, None, 30],
    "precipitation": [0.0, 0.0, 1.25, 0.5],
    "weather_code": [3, 3, 61, 61, 80, 2],
    "wind_speed_10m": [12.0, 18.5, 24.0],
    "wind_direction_10m": [250, 270, 338],
}
"""What comes again and again, hour by hour."""
AIR = {"european_aqi": 35, "us_aqi": 41, "pm2_5": 8.3, "pm10": 12.5, "ozone": 61.0, "nitrogen_dioxide": 9.9}
AIR |= {f"{plant}_pollen": None for plant in ("birch", "alder", "mugwort", "olive", "ragweed")}
AIR["grass_pollen"] = 0.4
DATES = [str(date(2026, 11, 21) + timedelta(days=day)) for day in range(16)]
UNITS = {"celsius": "°C", "fahrenheit": "°F", "kmh": "km/h", "mph": "mp/h", "ms": "m/s", "kn": "kn"}
UNITS |= {"mm": "mm", "inch": "inch"}


def place(name: str, country: str, admin1: str, population: int | None = None, **more: Any) -> dict[str, Any]:
    """A place by its name at home; `names` has what it, its region and its country are called in other languages."""
    row: dict[str, Any] = {"name": name, "latitude": 10.5, "longitude": -20.25, "timezone": "Europe/Berlin"}
    row |= {"country": country, "admin1": admin1, "population": population, **more}
    return {key: item for key, item in row.items() if item}


PLACES = [
    place("Utopia", "Atlantis", "North", 2_000_000, latitude=52.52437, longitude=13.41053),
    place("Utopia", "Atlantis", "South", 40_000),
    place("Utopia Airport", "Atlantis", "North", 9_000_000),
    place("Springwell", "Erewhon", "East", 120_000),
    place("Springwell", "Erewhon", "West", 100_000),
    place("Springwell", "Lilliput", "Hills"),
    place("Doppel", "Erewhon", "East", 700),
    place("Doppel", "Erewhon", "East", 600),
    place("Hamlet", "Lilliput", ""),
    place("Köhln", "Erewhon", "East", 900_000),
    place(
        "Kelmark",
        "Elbonia",
        "West",
        700_000,
        names={
            "en": {"name": "Colmark"},
            "de": {"name": "Kelmark", "country": "Elbonien", "admin1": "Westen"},
            "fr": {"name": "Donnemarque", "country": "Elbonie"},
        },
    ),
    place("Colmark", "Lilliput", "Hills", 300),
]


@dataclass
class OpenMeteo(Server):
    """`key` makes it the customer host; `busy` counts requests under way, of which the free host takes one."""

    key: str = ""
    busy: int = 0
    places: list[dict[str, Any]] = field(default_factory=lambda: list(PLACES))

    async def respond(self, seen: Seen, request: web.Request) -> web.StreamResponse:
        self.busy += 1
        try:
            if self.busy > 1:
                return _refused(429, "Too many concurrent requests")
            await asyncio.sleep(0.01)
            return self._answer(seen)
        finally:
            self.busy -= 1

    def _answer(self, seen: Seen) -> web.StreamResponse:
        if self.key and "apikey" not in seen.query:
            return _refused(401, "API key required. Please add &apikey= to the URL.")
        if self.key and seen.query["apikey"] != self.key:
            return _refused(400, "The supplied API key is invalid.")
        match seen.path:
            case "/v1/search":
                return self._places(seen.query)
            case "/v1/forecast":
                return _forecast(seen.query)
            case "/v1/air-quality":
                return _air(seen.query)
            case _:
                return _refused(404, "Not Found")

    def _places(self, query: dict[str, str]) -> web.StreamResponse:
        count = int(query.get("count", "10"))
        if not 1 <= count <= 100:
            return _refused(400, "Parameter count must be between 1 and 100.")
        name = _folded(query["name"].strip())
        known = {number: self._called(number, query) for number in range(len(self.places))}
        found = [
            row
            for number, row in known.items()
            if len(name) > 1 and any(_folded(one["name"]).startswith(name) for one in (row, self.places[number]))
        ]
        found = sorted(found, key=lambda row: -row.get("population", 0))[:count]
        return web.json_response({"generationtime_ms": 0.5} | ({"results": found} if found else {}))

    def _called(self, number: int, query: dict[str, str]) -> dict[str, Any]:
        """A row in the language that is asked for; where that has no name, by the name at home."""
        row: dict[str, Any] = dict(self.places[number])
        return row | row.pop("names", {}).get(query.get("language", "en"), {})


def _folded(name: str) -> str:
    return "".join(mark for mark in unicodedata.normalize("NFKD", name.casefold()) if not unicodedata.combining(mark))


def _forecast(query: dict[str, str]) -> web.StreamResponse:
    days = int(query["forecast_days"])
    if not 0 <= days <= 16:
        return _refused(400, f"Forecast days is invalid. Allowed range 0 to 16. Given {days}.")
    if "timezone" not in query:
        return _refused(400, "Timezone is required")
    for key, known in (("current", CURRENT), ("daily", DAILY), ("hourly", HOURLY)):
        if unknown := _unknown(query, key, known):
            return unknown
    return web.json_response(_weather(query, days))


def _air(query: dict[str, str]) -> web.StreamResponse:
    if not 0 <= (days := int(query.get("forecast_days", "5"))) <= 7:
        return _refused(400, f"Forecast days is invalid. Allowed range 0 to 7. Given {days}.")
    if unknown := _unknown(query, "current", AIR):
        return unknown
    names = query["current"].split(",")
    units = {"european_aqi": "EAQI", "us_aqi": "USAQI"}
    said = {name: units.get(name, "grains/m³" if name.endswith("pollen") else "μg/m³") for name in names}
    current = {"time": "2026-11-21T15:00", "interval": 3600} | {name: AIR[name] for name in names}
    return web.json_response(
        {"timezone": "Europe/Berlin", "current_units": {"time": "iso8601"} | said, "current": current}
    )


def _unknown(query: dict[str, str], key: str, known: Collection[str]) -> web.StreamResponse | None:
    for name in query[key].split(",") if key in query else ():
        if name not in known:
            return _refused(400, f"Cannot initialize WeatherVariable from invalid String value {name} for key {key}")
    return None


def _weather(query: dict[str, str], days: int) -> dict[str, Any]:
    current, daily = query["current"].split(","), query["daily"].split(",")
    padded = {name: [*DAILY[name], *[1.0] * 16][:days] for name in daily}
    hourly = query["hourly"].split(",") if "hourly" in query else []
    by_hour = {
        "hourly_units": {"time": "iso8601"} | {name: _unit(name, query) for name in hourly},
        "hourly": {"time": [f"{day}T{hour:02}:00" for day in DATES[:days] for hour in range(24)]}
        | {name: list(islice(cycle(HOURLY[name]), 24 * days)) for name in hourly},
    }
    return (by_hour if hourly else {}) | {
        "latitude": 52.52,
        "longitude": 13.419998,
        "utc_offset_seconds": 3600,
        "timezone": "Europe/Berlin",
        "timezone_abbreviation": "GMT+1",
        "current_units": {"time": "iso8601"} | {name: _unit(name, query) for name in current},
        "current": {"time": "2026-11-21T15:45", "interval": 900} | {name: CURRENT[name] for name in current},
        "daily_units": {"time": "iso8601"} | {name: _unit(name, query) for name in daily},
        "daily": {"time": DATES[:days]} | padded,
    }


def _unit(name: str, query: dict[str, str]) -> str:
    if "temperature" in name:
        return UNITS[query.get("temperature_unit", "celsius")]
    if "wind_direction" in name:
        return "°"
    if "wind" in name:
        return UNITS[query.get("wind_speed_unit", "kmh")]
    if "probability" in name or "humidity" in name:
        return "%"
    if "precipitation" in name:
        return UNITS[query.get("precipitation_unit", "mm")]
    return {"weather_code": "wmo code", "sunrise": "iso8601", "sunset": "iso8601"}.get(name, "")


def _refused(status: int, reason: str) -> web.StreamResponse:
    return web.json_response({"error": True, "reason": reason}, status=status)
