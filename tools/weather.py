"""The tool `get_weather`: the weather now, by hour and for up to sixteen days, air quality, and a chart, by Open-Meteo.

A place is given by coordinates or by name. If several have the name, the clearly largest is used, or else the model
gets the list. The answers are put in words, with the units that they name. Values that are null are left out, and
nothing is guessed. Times are local to the place. Open-Meteo's free hosts accept about one request at a time per
address, so questions wait for each other. It needs no key.

Source: the documentation of open-meteo.com for forecasts, geocoding, air quality and terms, and the server's own
repository open-meteo/open-meteo for the errors, 2026-11-21; open-meteo/geocoding-api 655cd15 for languages and for
regions behind a comma, 2026-11-27. Data CC BY 4.0: every answer needs the attribution.
"""

import asyncio
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import date, datetime, time, timedelta
from http import HTTPStatus
from typing import Any, Literal

from pydantic import BaseModel, Field

from tools.base import Arguments, BaseUrl, Intent, Key, Options, Result, ResultFile, ToolContext, ToolSpec
from tools.chart import PNG, weather_chart
from tools.cities import coordinates, regions_named
from tools.connections import in_time
from tools.errors import BadArguments, NotFound, ToolError
from tools.http import Http, JsonAnswer
from tools.text import clean_text, fold_name, shorten

ATTRIBUTION = "Weather data by Open-Meteo.com (https://open-meteo.com/)"

_SERVICE = "Open-Meteo"
_MAX_NAME_CHARS = 100
_CANDIDATES = 10
_MAX_CANDIDATES = 100
_CLEARLY_LARGER = 3  # times as many people as the next place of that name
_SHOWN_OTHERS = 5
_TIMEOUT_SECONDS = 12.0
_USUAL_DAYS, _MAX_DAYS = 3, 16
_FEWER = f"The forecast reaches {_MAX_DAYS} days, today included; past days and later ones are left out."
_OVER = "That is over at this place, or further ahead than the forecast reaches."
_IMPERIAL = {"temperature_unit": "fahrenheit", "wind_speed_unit": "mph", "precipitation_unit": "inch"}
_A_DAY = timedelta(days=1)

# Open-Meteo's variables, each with its name in our results.
_CODE, _DIRECTION, _DOMINANT_DIRECTION = "weather_code", "wind_direction_10m", "wind_direction_10m_dominant"
_CURRENT = {
    "temperature_2m": "temperature",
    "apparent_temperature": "feels_like",
    "relative_humidity_2m": "humidity",
    "precipitation": "precipitation",
    "wind_speed_10m": "wind",
    "wind_gusts_10m": "gusts",
}
_HOURLY = {
    "temperature_2m": "temperature",
    "precipitation_probability": "chance of rain",
    "precipitation": "rain",
    "wind_speed_10m": "wind",
}
_DAILY = {
    "temperature_2m_min": "temperature_min",
    "temperature_2m_max": "temperature_max",
    "precipitation_sum": "precipitation",
    "precipitation_probability_max": "precipitation_probability",
    "wind_speed_10m_max": "wind_max",
    "uv_index_max": "uv_index_max",
}
_POLLEN = ("alder_pollen", "birch_pollen", "grass_pollen", "mugwort_pollen", "olive_pollen", "ragweed_pollen")
_AIR = {
    "european_aqi": "european_index",
    "us_aqi": "us_index",
    "pm2_5": "fine_particles_pm2_5",
    "pm10": "particles_pm10",
    **{name: name for name in ("ozone", "nitrogen_dioxide", *_POLLEN)},
}
# The WMO's weather codes as Open-Meteo uses them. Source: open-meteo.com/en/docs, 2026-11-21.
_WEATHER = (
    {0: "clear sky", 1: "mainly clear", 2: "partly cloudy", 3: "overcast", 45: "fog", 48: "depositing rime fog"}
    | {51: "light drizzle", 53: "moderate drizzle", 55: "dense drizzle"}
    | {56: "light freezing drizzle", 57: "dense freezing drizzle"}
    | {61: "slight rain", 63: "moderate rain", 65: "heavy rain"}
    | {66: "light freezing rain", 67: "heavy freezing rain"}
    | {71: "slight snowfall", 73: "moderate snowfall", 75: "heavy snowfall", 77: "snow grains"}
    | {80: "slight rain showers", 81: "moderate rain showers", 82: "violent rain showers"}
    | {85: "slight snow showers", 86: "heavy snow showers"}
    | {95: "thunderstorm", 96: "thunderstorm with slight hail", 99: "thunderstorm with heavy hail"}
)
# Upper limits of the European air quality index. Source: open-meteo.com/en/docs, air quality, 2026-11-22.
_AIR_WORDS = {20: "good", 40: "fair", 60: "moderate", 80: "poor", 100: "very poor"}
_COMPASS = ("N", "NE", "E", "SE", "S", "SW", "W", "NW")

_Part = Literal["next_24", "morning", "afternoon", "evening", "night", "all_day"]
# Start and end in hours since midnight of the day.
_PARTS = {"morning": (6, 12), "afternoon": (12, 18), "evening": (18, 23), "night": (22, 30), "all_day": (0, 24)}

Units = Literal["metric", "imperial"]
Value = float | str | None


class WeatherOptions(Options):
    """The settings `TOOLS__WEATHER__<FIELD>`."""

    known_to = ("Open-Meteo: the place",)

    base_url: BaseUrl = "https://api.open-meteo.com"
    """The address for forecasts; with a key https://customer-api.open-meteo.com."""
    geocoding_base_url: BaseUrl = "https://geocoding-api.open-meteo.com"
    """The address for looking up places; with a key https://customer-geocoding-api.open-meteo.com."""
    api_key: Key | None = None
    """The key for Open-Meteo's customer hosts, which commercial use requires; private use needs none."""
    units: Units = "metric"
    """The units of answers, unless the question names some."""


class WeatherArguments(Arguments):
    """The place, the days, and what to include."""

    rare = frozenset({"air_quality", "chart", "units"})

    place: str = Field(
        min_length=1, max_length=100, description="A town, postal code, airport (Paris, Texas), or coordinates (1.5 2)."
    )
    days: int | None = Field(default=None, ge=1, description="At most 16; default: 3, with day 1.")
    hours: _Part | None = Field(default=None, description="Also list hours; night: 22-6.")
    day: date | None = Field(default=None, description="The first one, YYYY-MM-DD.")
    air_quality: bool = Field(default=False, description="Include air quality and, in Europe, pollen.")
    chart: bool = Field(default=False, description="Also send a picture; only if people want one.")
    units: Units | None = Field(default=None, description="Default: what people here are used to.")

    @property
    def day_count(self) -> int:
        """How many days to describe."""
        usual = _USUAL_DAYS if self.day is None and self.hours is None else 1
        return min(self.days or usual, _MAX_DAYS)


class WeatherPlace(BaseModel):
    """A row of the geocoding answer; empty fields are missing."""

    name: str
    latitude: float
    longitude: float
    country: str | None = None
    country_code: str | None = None
    admin1: str | None = None
    admin2: str | None = None
    admin3: str | None = None
    population: int = 0

    @property
    def label(self) -> Mapping[str, str | float]:
        """What distinguishes the place from others with the same name."""
        words = {"name": self.name, "region": self.admin1, "country": self.country}
        named = {key: shorten(clean_text(word), _MAX_NAME_CHARS) for key, word in words.items() if word}
        return {**named, "latitude": self.latitude, "longitude": self.longitude}

    def is_in(self, region: str) -> bool:
        """Whether it is in a region or country, given by its name, the letters of a state or the code of a country."""
        wanted = fold_name(region)
        names = (self.admin1, self.admin2, self.admin3, self.country, self.country_code)
        if wanted.removesuffix(" county") in {fold_name(name) for name in names if name}:
            return True
        return any(
            one.name == self.admin1 if one.is_state else one.code == self.country_code for one in regions_named(region)
        )


class _Places(BaseModel):
    results: tuple[WeatherPlace, ...] = ()
    """Missing if there are none."""


class _Forecast(BaseModel):
    """A forecast: parallel lists by variable, of which any value can be null. Times are local, without a zone."""

    timezone: str
    timezone_abbreviation: str = ""
    current: Mapping[str, Value] = {}
    current_units: Mapping[str, str] = {}
    hourly: Mapping[str, Sequence[Value]] = {}
    hourly_units: Mapping[str, str] = {}
    daily: Mapping[str, Sequence[Value]] = {}
    daily_units: Mapping[str, str] = {}


class Weather:
    """Tells the weather of a place, now, by the hour and by the day, with air and pollen, and draws a chart."""

    def __init__(self, options: WeatherOptions, http: Http, *, timeout_seconds: float = _TIMEOUT_SECONDS) -> None:
        """`timeout_seconds` is for one question: its place, its forecast, and waiting for earlier questions."""
        self._options, self._http = options, http
        self._timeout_seconds = timeout_seconds
        self._key = options.api_key.get_secret_value() if options.api_key else ""
        self._queue = asyncio.Lock()

    spec = ToolSpec(
        name="get_weather",
        description=(
            "Tells the weather of a place for up to 16 days, also by the hour, with air and pollen, or as a picture. If"
            " several places have the name, it lists them: ask which one, or call again with the region. No past"
            " weather and no official warnings: if asked, say so and name the country's weather service. Give the"
            " attribution."
        ),
        arguments=WeatherArguments,
        intent=lambda given: Intent("weather", {"place": given.place}),
    )

    async def run(self, arguments: WeatherArguments, context: ToolContext) -> Result:
        """Returns the weather, or the places that an ambiguous name may mean."""
        ahead = 0 if arguments.day is None else (arguments.day - context.now.date()).days
        if not -1 <= ahead < _MAX_DAYS + 1:
            raise BadArguments("The day must be today or at most 15 days ahead; there is no past weather.")
        asked = shorten(clean_text(arguments.place), _MAX_NAME_CHARS)
        async with in_time(_SERVICE, self._timeout_seconds), self._queue:
            if here := coordinates(asked):
                label = {"latitude": here[0], "longitude": here[1]}
                return await self._answer(label, (), arguments, context)
            chosen, others = _choose(await self._places(asked, context.language), asked)
            if chosen is not None:
                return await self._answer(chosen.label, others, arguments, context)
        message = f"Several places are named {asked!r}: which one is meant?"
        return Result(data={"ambiguous": True, "message": message, "candidates": [place.label for place in others]})

    async def _places(self, name: str, language: str) -> tuple[WeatherPlace, ...]:
        """Returns the places whose names begin like this, at least one; named in English if English knows them.

        English comes first: models call places by English names as well, and in German Cologne is a village in Italy.
        Regions and countries behind commas are compared here: the service knows neither codes nor letters of states,
        and compares only the best few of the bare name.
        """
        town, *regions = (part.strip() for part in name.split(","))
        regions = [region for region in regions if region]
        for one in dict.fromkeys(("en", language)):
            count = _MAX_CANDIDATES if regions else _CANDIDATES
            params = {"name": town, "count": str(count), "language": one, "format": "json"}
            answer = await self._ask(f"{self._options.geocoding_base_url}/v1/search", params)
            places = answer.parse(_Places, _SERVICE).results
            if found := tuple(place for place in places if all(map(place.is_in, regions))):
                return found
        raise NotFound(f"No place is named {name!r}; try the bare name of a town.")

    async def _answer(
        self,
        label: Mapping[str, str | float],
        others: Sequence[WeatherPlace],
        arguments: WeatherArguments,
        context: ToolContext,
    ) -> Result:
        """Returns the weather at the coordinates in the label."""
        here = {"latitude": str(label["latitude"]), "longitude": str(label["longitude"]), "timezone": "auto"}
        params = here | {
            "current": ",".join([*_CURRENT, _DIRECTION, _CODE]),
            "daily": ",".join([*_DAILY, _DOMINANT_DIRECTION, "sunrise", "sunset", _CODE]),
            "forecast_days": str(_MAX_DAYS),
        }
        params |= {"hourly": ",".join([*_HOURLY, _DIRECTION, _CODE])} if arguments.hours or arguments.chart else {}
        params |= _IMPERIAL if (arguments.units or self._options.units) == "imperial" else {}
        forecast = (await self._ask(f"{self._options.base_url}/v1/forecast", params)).parse(_Forecast, _SERVICE)
        by_hour = _hours_within(forecast, arguments)
        daily = _days(forecast, arguments.day, arguments.day_count)
        data: dict[str, Any] = {
            "place": label,
            "timezone": f"{forecast.timezone} ({forecast.timezone_abbreviation})".removesuffix(" ()"),
            "current": {
                "local_time": str(forecast.current.get("time") or "unknown"),
                **_weather_of(forecast.current, forecast.current_units, _CURRENT),
            },
            "hours": _hours(forecast, by_hour) if arguments.hours else {},
            # The hours are long enough, and say the same.
            "days": () if arguments.hours and arguments.days is None else daily,
            "note": _FEWER if len(daily) < (arguments.days or 1) else "",
            "air_quality": await self._air(here) if arguments.air_quality else {},
            "other_places": [
                {name: word for name, word in place.label.items() if isinstance(word, str)} for place in others
            ],
            "attribution": ATTRIBUTION,
        }
        files: tuple[ResultFile, ...] = ()
        if arguments.chart:
            values = [[_number(row.get(name)) for _, row in by_hour] for name in list(_HOURLY)[:3]]
            units = forecast.hourly_units.get("temperature_2m", ""), forecast.hourly_units.get("precipitation", "")
            steps = [at for at, _ in by_hour]
            picture = await asyncio.to_thread(weather_chart, arguments.place, steps, values, units, context.language)
            files = (ResultFile(name="weather.png", content_type=PNG, data=picture),) if picture else ()
            data["chart"] = "" if picture else "There is nothing to draw: say it in words."
        return Result(data={name: item for name, item in data.items() if item}, files=files)

    async def _air(self, here: Mapping[str, str]) -> Mapping[str, str]:
        """Returns the air quality, or why it is unknown, which does not affect the weather."""
        host = self._options.base_url.replace("api.open-meteo.com", "air-quality-api.open-meteo.com")
        wanted = {**here, "current": ",".join(_AIR), "forecast_days": "1"}
        try:
            answer = (await self._ask(f"{host}/v1/air-quality", wanted)).parse(_Forecast, _SERVICE)
        except ToolError as error:
            return {"failed": str(error)}
        index = _number(answer.current.get("european_aqi"))
        words = (word for most, word in _AIR_WORDS.items() if index is not None and index <= most)
        word = "unknown" if index is None else next(words, "extremely poor")
        return {"air": word, **_with_units(answer.current, answer.current_units, _AIR)}

    async def _ask(self, url: str, params: Mapping[str, str]) -> JsonAnswer:
        given = {**params, "apikey": self._key} if self._key else params
        answer = await self._http.get_json(url, service=_SERVICE, params=given, timeout_seconds=self._timeout_seconds)
        if "API key" in str(answer.body):  # with status 400
            answer = replace(answer, status=HTTPStatus.UNAUTHORIZED)
        if not answer.ok:
            raise answer.refusal(_SERVICE, key="TOOLS__WEATHER__API_KEY")
        return answer


def _choose(places: Sequence[WeatherPlace], asked: str) -> tuple[WeatherPlace | None, Sequence[WeatherPlace]]:
    """Returns the place with clearly the most people of those of exactly this name, or else of all, and the others."""
    wanted = fold_name(asked.partition(",")[0])
    exact = [place for place in places if fold_name(place.name) == wanted]
    ranked = sorted(exact or places, key=lambda place: -place.population)
    # One place per name, region and country: to people, a town and its district are the same.
    several = {(place.name, place.admin1, place.country): place for place in reversed(ranked)}
    first, *others = sorted(several.values(), key=lambda place: -place.population)
    if not others or first.population >= _CLEARLY_LARGER * max(others[0].population, 1):
        return first, others[:_SHOWN_OTHERS]
    return None, [first, *others][:_SHOWN_OTHERS]


def _days(forecast: _Forecast, first: date | None, count: int) -> Sequence[Mapping[str, str]]:
    """Describes the weather of `count` days, by default from today on; fewer if the forecast ends before.

    Where the sun neither rises nor sets, Open-Meteo says midnight for both: of the same day in the polar night, of the
    next in the polar day (open-meteo/open-meteo#844, 2026-11-27).
    """
    rows: list[Mapping[str, str]] = []
    for day, values in _rows(forecast.daily):
        if first is not None and not first <= day.date() < first + count * _A_DAY:
            continue
        rise, fall = _time(values.get("sunrise")), _time(values.get("sunset"))
        if rise and fall and rise.time() == fall.time() == time.min and fall - rise in {timedelta(), _A_DAY}:
            sun = {"sun": "does not set" if fall > rise else "does not rise"}
        else:
            sun = {
                name: f"{at:%H:%M}" + ("" if at.date() == day.date() else " of the next day")
                for name, at in (("sunrise", rise), ("sunset", fall))
                if at is not None
            }
        rows.append({"date": f"{day:%A %Y-%m-%d}", **_weather_of(values, forecast.daily_units, _DAILY), **sun})
    return rows[:count]


def _hours_within(forecast: _Forecast, wanted: WeatherArguments) -> Sequence[tuple[datetime, Mapping[str, Value]]]:
    """Returns the hours of the part of a day, by default today, that are not past; of whole days if none is wanted."""
    rows = list(_rows(forecast.hourly))
    present = _time(forecast.current.get("time")) or (rows[0][0] if rows else datetime.min)  # noqa: DTZ901 - local, all without a zone
    this_hour = present.replace(minute=0)
    midnight = datetime.combine(wanted.day or present.date(), time.min)
    if wanted.hours is None:
        first, last = midnight, midnight + wanted.day_count * _A_DAY
    elif wanted.hours == "next_24" and wanted.day is None:
        first, last = this_hour, this_hour + _A_DAY
    else:
        start, end = _PARTS.get(wanted.hours, _PARTS["all_day"])
        first, last = max(midnight + timedelta(hours=start), this_hour), midnight + timedelta(hours=end)
    return [(at, values) for at, values in rows if first <= at < last]


def _hours(forecast: _Forecast, rows: Sequence[tuple[datetime, Mapping[str, Value]]]) -> Mapping[str, Any]:
    """Describes each hour in as few characters as can be read, as there are many: `15 overcast, 6.5, 10, 0, 12 W`."""
    if not rows:
        return {"message": _OVER, "hours": []}
    columns = [f"{ours} {clean_text(forecast.hourly_units.get(name, ''))}".strip() for name, ours in _HOURLY.items()]
    lines: list[str] = []
    for at, values in rows:
        numbers = ["-" if (value := _number(values.get(name))) is None else f"{value:g}" for name in _HOURLY]
        line = f"{at:%H} {_in_words(values.get(_CODE))}, {', '.join(numbers)} {_direction(values.get(_DIRECTION))}"
        lines.append(line.strip())
    return {
        "from": f"{rows[0][0]:%A %Y-%m-%d %H:%M}",
        "until": f"{rows[-1][0] + timedelta(hours=1):%A %Y-%m-%d %H:%M}",
        "columns": f"hour, weather, {', '.join(columns)} and from where",
        "hours": lines,
    }


def _rows(lists: Mapping[str, Sequence[Value]]) -> Iterator[tuple[datetime, Mapping[str, Value]]]:
    """Turns parallel lists by variable into one row of values for each readable time."""
    for number, said in enumerate(lists.get("time", ())):
        if (at := _time(said)) is not None:
            yield at, {name: row[number] for name, row in lists.items() if number < len(row)}


def _number(value: Value) -> float | None:
    return value if isinstance(value, float) else None


def _time(said: Value) -> datetime | None:
    try:
        return datetime.fromisoformat(str(said))
    except ValueError:
        return None


def _weather_of(values: Mapping[str, Value], units: Mapping[str, str], names: Mapping[str, str]) -> Mapping[str, str]:
    """Returns the weather of a moment or a day in words, and where the wind comes from."""
    measured = _with_units(values, units, names)
    wind_from = _direction(values.get(_DIRECTION, values.get(_DOMINANT_DIRECTION)))
    for name in {"wind", "wind_max"} & measured.keys() if wind_from else ():
        measured[name] += f" from {wind_from}"
    return {"weather": _in_words(values.get(_CODE)), **measured}


def _with_units(values: Mapping[str, Value], units: Mapping[str, str], names: Mapping[str, str]) -> dict[str, str]:
    """Returns the values by our names with the units of the answer, leaving out null."""
    found: dict[str, str] = {}
    for theirs, ours in names.items():
        value, unit = values.get(theirs), clean_text(units.get(theirs, ""))
        if isinstance(value, str):
            found[ours] = clean_text(value)
        elif value is not None:
            found[ours] = f"{value:g}{'' if unit == '%' else ' '}{unit}".strip()
    return found


def _direction(degrees: Value) -> str:
    """Returns the point of the compass that a wind comes from; empty if unknown."""
    number = _number(degrees)
    return "" if number is None else _COMPASS[round(number / 45) % len(_COMPASS)]


def _in_words(code: Value) -> str:
    return _WEATHER.get(int(code), f"weather code {code:g}") if isinstance(code, float) else "unknown"
