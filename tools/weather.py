"""The tool `get_weather`: the weather now and for up to seven days, from Open-Meteo.

A place is found by name (the largest of those that bear it, if one clearly is, else the model is told which there are)
or given by coordinates. Open-Meteo's free hosts take about one request at a time from an address, so questions queue.

Source: the documentation of open-meteo.com for forecasts, geocoding and terms, and the server's own repository
open-meteo/open-meteo for the errors, 2026-11-21. Data CC BY 4.0: the attribution goes with every answer.
"""

import asyncio
import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from datetime import date
from http import HTTPStatus
from typing import Annotated, Literal, Self

from pydantic import BaseModel, BeforeValidator, Field, ValidationError, model_validator

from tools.base import Arguments, BaseUrl, Key, Options, Result, ToolContext, ToolSpec
from tools.errors import BadArguments, Disabled, NotFound, RateLimited, TimedOut, ToolError, Unavailable
from tools.http import Http, JsonAnswer, usual_pause
from tools.text import cleaned, shortened

Units = Literal["metric", "imperial"]

ATTRIBUTION = "Weather data by Open-Meteo.com (https://open-meteo.com/)"

_SERVICE = "Open-Meteo"
_CANDIDATES = 5
_CLEARLY_LARGER = 3  # times as many people as the next place of the name
_MAX_REASON_CHARS = 200
_MAX_NAME_CHARS = 100

_CURRENT = {
    "temperature_2m": "temperature",
    "apparent_temperature": "feels_like",
    "relative_humidity_2m": "humidity",
    "precipitation": "precipitation",
    "wind_speed_10m": "wind",
    "wind_gusts_10m": "gusts",
}
_DAILY = {
    "temperature_2m_min": "temperature_min",
    "temperature_2m_max": "temperature_max",
    "precipitation_sum": "precipitation",
    "precipitation_probability_max": "precipitation_probability",
    "wind_speed_10m_max": "wind_max",
    "uv_index_max": "uv_index_max",
    "sunrise": "sunrise",
    "sunset": "sunset",
}
_IMPERIAL = {"temperature_unit": "fahrenheit", "wind_speed_unit": "mph", "precipitation_unit": "inch"}

# The WMO's weather codes as Open-Meteo uses them. Source: open-meteo.com/en/docs, 2026-11-21.
_WEATHER = {
    0: "clear sky",
    1: "mainly clear",
    2: "partly cloudy",
    3: "overcast",
    45: "fog",
    48: "depositing rime fog",
    51: "light drizzle",
    53: "moderate drizzle",
    55: "dense drizzle",
    56: "light freezing drizzle",
    57: "dense freezing drizzle",
    61: "slight rain",
    63: "moderate rain",
    65: "heavy rain",
    66: "light freezing rain",
    67: "heavy freezing rain",
    71: "slight snowfall",
    73: "moderate snowfall",
    75: "heavy snowfall",
    77: "snow grains",
    80: "slight rain showers",
    81: "moderate rain showers",
    82: "violent rain showers",
    85: "slight snow showers",
    86: "heavy snow showers",
    95: "thunderstorm",
    96: "thunderstorm with slight hail",
    99: "thunderstorm with heavy hail",
}


class WeatherOptions(Options):
    """The settings `TOOLS__WEATHER__<FIELD>`."""

    base_url: BaseUrl = "https://api.open-meteo.com"
    """Where forecasts come from; with a key https://customer-api.open-meteo.com."""
    geocoding_base_url: BaseUrl = "https://geocoding-api.open-meteo.com"
    """Where places are looked up; with a key https://customer-geocoding-api.open-meteo.com."""
    api_key: Key | None = None
    """Open-Meteo's key for its customer hosts, which commercial use needs; private use needs none."""
    units: Units = "metric"
    """The units of answers where the question names none."""
    timeout_seconds: float = Field(default=12, gt=0, le=120)
    """For one question: finding the place, the forecast, and the wait for questions asked before."""


class WeatherArguments(Arguments):
    """Where and for how long: a place, or both coordinates."""

    place: str | None = Field(
        default=None,
        max_length=_MAX_NAME_CHARS,
        description="A town, a postal code or an airport, such as Lyon; a country or region may follow: Paris, Texas.",
    )
    latitude: float | None = Field(default=None, ge=-90, le=90, allow_inf_nan=False)
    longitude: float | None = Field(default=None, ge=-180, le=180, allow_inf_nan=False)
    days: int = Field(default=3, ge=1, le=7, description="How many days to forecast, today included.")
    units: Units | None = Field(default=None, description="Left out: what the people here are used to.")

    @model_validator(mode="after")
    def _somewhere(self) -> Self:
        if (self.latitude is None) != (self.longitude is None):
            raise ValueError("give latitude and longitude together")
        if not self.place and self.latitude is None:
            raise ValueError("give a place, or latitude and longitude")
        return self


class _Place(BaseModel):
    """A row of the geocoding answer; fields without a value are left out there."""

    name: str
    latitude: float
    longitude: float
    country: str | None = None
    admin1: str | None = None
    population: int | None = None

    @property
    def label(self) -> Mapping[str, str | float]:
        """What tells the place from others of its name."""
        words = {"name": self.name, "region": self.admin1, "country": self.country}
        said = {key: shortened(cleaned(word), _MAX_NAME_CHARS) for key, word in words.items() if word}
        return {**said, "latitude": self.latitude, "longitude": self.longitude}


class _Places(BaseModel):
    """The geocoding answer: without a hit it has no `results` at all."""

    results: tuple[_Place, ...] = ()


_Value = float | str | None
_Words = Annotated[Mapping[str, str], BeforeValidator(lambda given: given or {})]


class _Forecast(BaseModel):
    """The forecast: parallel lists by variable, any value may be null, times are local and without a zone."""

    timezone: str
    timezone_abbreviation: str = ""
    current: Mapping[str, _Value] = {}
    current_units: _Words = {}
    daily: Mapping[str, Sequence[_Value]] = {}
    daily_units: _Words = {}


class Weather:
    """Tells the weather."""

    def __init__(self, options: WeatherOptions, http: Http) -> None:
        self._options = options
        self._http = http
        self._queue = asyncio.Lock()

    spec = ToolSpec(
        name="get_weather",
        description=(
            "Tells the current weather and the forecast for 1 to 7 days of a place by its name or by latitude and"
            " longitude. When several places bear the name and none is clearly meant it lists them: ask which one, or"
            " call again with the region or the coordinates. No past weather. Name the attribution when you answer."
        ),
        arguments=WeatherArguments,
    )

    async def run(self, arguments: WeatherArguments, context: ToolContext) -> Result:
        """The weather, or the places that may be meant.

        Raises:
            NotFound: no place has that name.
            BadArguments: Open-Meteo refuses the arguments.
            Disabled: it refuses the key.
            RateLimited, TimedOut, TooLarge, Unavailable: it does not answer, or not in a way that can be read.
        """
        del context
        timeout_seconds = self._options.timeout_seconds
        try:
            async with asyncio.timeout(timeout_seconds), self._queue:
                return await self._weather(arguments)
        except TimeoutError as error:
            raise TimedOut(f"{_SERVICE} did not answer within {timeout_seconds:g} seconds.") from error

    async def _weather(self, arguments: WeatherArguments) -> Result:
        if arguments.latitude is not None and arguments.longitude is not None:
            here = {"latitude": arguments.latitude, "longitude": arguments.longitude}
            return await self._forecast(here, (), arguments)
        asked = shortened(cleaned(arguments.place or ""), _MAX_NAME_CHARS)
        chosen, others = _chosen(await self._places(asked), asked)
        if chosen is None:
            return _question(asked, others)
        return await self._forecast(chosen.label, others, arguments)

    async def _places(self, name: str) -> tuple[_Place, ...]:
        params = {"name": name, "count": str(_CANDIDATES), "language": "en", "format": "json"}
        answer = await self._ask(f"{self._options.geocoding_base_url}/v1/search", params)
        try:
            places = _Places.model_validate(answer.body).results
        except ValidationError as error:
            raise _unreadable() from error
        if not places:
            raise NotFound(f"No place is named {name!r}; try the bare name of a town.")
        return places

    async def _forecast(
        self, label: Mapping[str, str | float], others: Sequence[_Place], arguments: WeatherArguments
    ) -> Result:
        units = arguments.units or self._options.units
        params = {
            "latitude": str(label["latitude"]),
            "longitude": str(label["longitude"]),
            "current": ",".join([*_CURRENT, "weather_code"]),
            "daily": ",".join([*_DAILY, "weather_code"]),
            "forecast_days": str(arguments.days),
            "timezone": "auto",
        }
        answer = await self._ask(
            f"{self._options.base_url}/v1/forecast", params | (_IMPERIAL if units == "imperial" else {})
        )
        try:
            forecast = _Forecast.model_validate(answer.body)
        except ValidationError as error:
            raise _unreadable() from error
        return _result(label, forecast, others)

    async def _ask(self, url: str, params: Mapping[str, str]) -> JsonAnswer:
        key = self._options.api_key.get_secret_value() if self._options.api_key else ""
        answer = await self._http.get_json(
            url,
            service=_SERVICE,
            params={**params, "apikey": key} if key else params,
            timeout_seconds=self._options.timeout_seconds,
            pause=_pause,
        )
        reason = _reason(answer)
        if not answer.ok or reason:
            raise _refusal(answer, shortened(reason.replace(key, "") if key else reason, _MAX_REASON_CHARS))
        return answer


def _pause(answer: JsonAnswer) -> float | None:
    """Too many requests at once is over in a moment; too many in a minute, an hour or a day is not."""
    is_used_up = "limit exceeded" in _reason(answer)
    return None if is_used_up else usual_pause(answer)


def _reason(answer: JsonAnswer) -> str:
    """Why Open-Meteo refuses; empty where it does not say or does not refuse."""
    match answer.body:
        case {"error": True, "reason": str(reason)}:
            return cleaned(reason)
        case _:
            return ""


def _refusal(answer: JsonAnswer, reason: str) -> ToolError:
    if answer.status == HTTPStatus.TOO_MANY_REQUESTS:
        return RateLimited(f"{_SERVICE} wants fewer requests. {reason}".strip())
    if answer.status in {HTTPStatus.UNAUTHORIZED, HTTPStatus.FORBIDDEN} or "API key" in reason:
        return Disabled(f"{_SERVICE} refuses the key: the operator must check TOOLS__WEATHER__API_KEY.")
    if reason and answer.status < HTTPStatus.INTERNAL_SERVER_ERROR:
        return BadArguments(reason)
    return answer.refusal(_SERVICE)


def _unreadable() -> Unavailable:
    return Unavailable(f"{_SERVICE} answers something that cannot be read.")


def _chosen(places: Sequence[_Place], asked: str) -> tuple[_Place | None, tuple[_Place, ...]]:
    """The place that is clearly meant, or None, and the others of the same name.

    Of places that bear exactly the name (else of all) the one with clearly the most people.
    """
    wanted = _folded(asked.partition(",")[0])
    exact = [place for place in places if _folded(place.name) == wanted]
    ranked = sorted(_distinct(exact or places), key=_people, reverse=True)
    if len(ranked) == 1 or _people(ranked[0]) >= _CLEARLY_LARGER * max(_people(ranked[1]), 1):
        return ranked[0], tuple(ranked[1:])
    return None, tuple(ranked)


def _distinct(places: Sequence[_Place]) -> Sequence[_Place]:
    """One place of each name, region and country: a town and its own district are one to people."""
    largest: dict[tuple[str, str | None, str | None], _Place] = {}
    for place in sorted(places, key=_people):
        largest[place.name, place.admin1, place.country] = place
    return tuple(largest.values())


def _people(place: _Place) -> int:
    return place.population or 0


def _folded(name: str) -> str:
    bare = "".join(mark for mark in unicodedata.normalize("NFKD", name) if not unicodedata.combining(mark))
    return " ".join(bare.casefold().split())


def _question(asked: str, candidates: Sequence[_Place]) -> Result:
    return Result(
        data={
            "ambiguous": True,
            "message": f"Several places are named {asked!r}: which one is meant?",
            "candidates": [place.label for place in candidates],
        }
    )


def _result(label: Mapping[str, str | float], forecast: _Forecast, others: Sequence[_Place]) -> Result:
    data = {
        "place": label,
        "timezone": f"{forecast.timezone} ({forecast.timezone_abbreviation})".removesuffix(" ()"),
        "current": _now(forecast),
        "days": list(_days(forecast)),
        "other_places": [place.label for place in others],
        "attribution": ATTRIBUTION,
    }
    return Result(data={name: item for name, item in data.items() if item})


def _now(forecast: _Forecast) -> Mapping[str, str]:
    values = forecast.current
    return {
        "local_time": str(values.get("time") or "unknown"),
        "weather": _in_words(values.get("weather_code")),
        **_measured(values, forecast.current_units, _CURRENT),
    }


def _days(forecast: _Forecast) -> Iterator[Mapping[str, str]]:
    for number, day in enumerate(forecast.daily.get("time", ())):
        values = {name: row[number] for name, row in forecast.daily.items() if number < len(row)}
        yield {
            "date": _with_weekday(str(day)),
            "weather": _in_words(values.get("weather_code")),
            **_measured(values, forecast.daily_units, _DAILY),
        }


def _measured(values: Mapping[str, _Value], units: Mapping[str, str], names: Mapping[str, str]) -> Mapping[str, str]:
    """The values by our names, each with its unit as the answer gives it; what is null is left out."""
    return {
        ours: _with_unit(value, units.get(theirs, ""))
        for theirs, ours in names.items()
        if (value := values.get(theirs)) is not None
    }


def _with_unit(value: float | str, unit: str) -> str:
    if isinstance(value, str):  # sunrise and sunset: a local time, whose date is the day's
        return cleaned(value).rpartition("T")[2]
    return f"{value:g}{'' if unit in {'%', '°'} else ' '}{cleaned(unit)}".strip()


def _in_words(code: _Value) -> str:
    if code is None:
        return "unknown"
    return _WEATHER.get(int(code), f"weather code {code:g}") if isinstance(code, float) else "unknown"


def _with_weekday(day: str) -> str:
    try:
        return f"{date.fromisoformat(day):%A} {day}"
    except ValueError:
        return cleaned(day)
