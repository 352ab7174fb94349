"""The tool `get_weather`: the weather now, by hour and for up to sixteen days, air quality, and a chart.

A place is given by coordinates or by name. If several have the name, the clearly largest is used, or else the model
gets the list. `tools.weather.open_meteo` queries Open-Meteo, `tools.weather.forecast` describes the answers, and
`tools.chart` draws the chart.
"""

import asyncio
import re
from collections.abc import Mapping, Sequence
from datetime import date, datetime
from typing import Any, Self

from pydantic import Field, model_validator

from tools.base import Arguments, Intent, Result, ResultFile, ToolContext, ToolSpec
from tools.chart import PNG, Panel, drawable, line_chart
from tools.cities import fold_name
from tools.errors import BadArguments, TimedOut, ToolError
from tools.http import Http
from tools.text import clean_text, shorten
from tools.weather.forecast import (
    AIR,
    CHART_WORDS,
    CURRENT,
    DAILY,
    HOURLY,
    ChartWords,
    Part,
    air,
    days,
    hours,
    now,
    panels,
    span,
)
from tools.weather.open_meteo import (
    ATTRIBUTION,
    MAX_NAME_CHARS,
    OpenMeteo,
    Units,
    WeatherOptions,
    WeatherPlace,
)

_CLEARLY_LARGER = 3  # times as many people as the next place of that name
_SHOWN_OTHERS = 5
_TIMEOUT_SECONDS = 12.0
_USUAL_DAYS = 3
_MAX_DAYS = 16
_FEWER = f"The forecast reaches {_MAX_DAYS} days, today included; past days and later ones are left out."
_IMPERIAL = {"temperature_unit": "fahrenheit", "wind_speed_unit": "mph", "precipitation_unit": "inch"}
_LABEL_EVERY_HOURS = 3
_MAX_HOURS_LABELLED = 26  # charts of more hours label the days

_ANGLE = (
    r"(?P<{0}before>[NSEW])?\s*(?P<{0}sign>[-+−])?(?P<{0}degrees>\d{{1,3}}(?:\.\d+)?)\s*°?"
    r"\s*(?:(?P<{0}minutes>\d{{1,2}}(?:\.\d+)?)\s*['′’])?\s*(?:(?P<{0}seconds>\d{{1,2}}(?:\.\d+)?)\s*[\"″”])?"
    r"\s*(?P<{0}behind>[NSEW])?"
)
_COORDINATES = re.compile(rf"\(?{_ANGLE.format('a')}(?:\s*[,;/]\s*|\s+){_ANGLE.format('b')}\)?", re.IGNORECASE)
_MAX_LATITUDE, _MAX_LONGITUDE = 90, 180


class WeatherArguments(Arguments):
    """The place or its coordinates, the days, and what to include."""

    rare = frozenset({"latitude", "longitude", "air_quality", "chart", "units"})

    place: str | None = Field(
        default=None,
        max_length=MAX_NAME_CHARS,
        description="A town, postal code or airport (Paris, Texas), or coordinates.",
    )
    latitude: float | None = Field(default=None, ge=-90, le=90, allow_inf_nan=False)
    longitude: float | None = Field(default=None, ge=-180, le=180, allow_inf_nan=False)
    days: int | None = Field(
        default=None,
        ge=1,
        description="At most 16; default: 3, with day 1.",
    )
    hours: Part | None = Field(default=None, description="Also list hours; night: 22-6.")
    day: date | None = Field(default=None, description="The first one, YYYY-MM-DD.")
    air_quality: bool = Field(default=False, description="Include air quality and, in Europe, pollen.")
    chart: bool = Field(default=False, description="Also send a picture; only if people want one.")
    units: Units | None = Field(default=None, description="Default: what people here are used to.")

    @model_validator(mode="after")
    def _somewhere(self) -> Self:
        if (self.latitude is None) != (self.longitude is None):
            raise ValueError("give latitude and longitude together")
        if not self.place and self.latitude is None:
            raise ValueError("give a place, or latitude and longitude")
        return self

    @property
    def day_count(self) -> int:
        """How many days to describe."""
        usual = _USUAL_DAYS if self.day is None and self.hours is None else 1
        return min(self.days or usual, _MAX_DAYS)


class Weather:
    """Tells the weather of a place, now, by the hour and by the day, with air and pollen, and draws a chart."""

    def __init__(self, options: WeatherOptions, http: Http, *, timeout_seconds: float = _TIMEOUT_SECONDS) -> None:
        self._options = options
        self._service = OpenMeteo(options, http, timeout_seconds)

    spec = ToolSpec(
        name="get_weather",
        description=(
            "Returns the weather of a place now and for up to 16 days; on request by the hour, with air and pollen, or"
            " as a picture. If several places have the name, it lists them: ask which one, or call again with the"
            " region. No past weather and no official warnings: if asked, say so and name the country's weather"
            " service. Give the attribution."
        ),
        arguments=WeatherArguments,
        intent=lambda given: Intent("weather", {"place": given.place or f"{given.latitude}, {given.longitude}"}),
    )

    async def run(self, arguments: WeatherArguments, context: ToolContext) -> Result:
        """Returns the weather, or the places that an ambiguous name may mean.

        Raises:
            NotFound: no place has that name.
            BadArguments: Open-Meteo refuses the arguments, or the day is too far away.
            Disabled: it refuses the key.
            RateLimited, TimedOut, TooLarge, Unavailable: there is no readable answer.
        """
        _needed_days(arguments, context.now)
        timeout_seconds = self._service.timeout_seconds
        try:
            async with asyncio.timeout(timeout_seconds), self._service.queue:
                return await self._weather(arguments, context)
        except TimeoutError as error:
            raise TimedOut(f"Open-Meteo did not answer within {timeout_seconds:g} seconds.") from error

    async def _weather(self, arguments: WeatherArguments, context: ToolContext) -> Result:
        here = (arguments.latitude, arguments.longitude)
        asked = shorten(clean_text(arguments.place or ""), MAX_NAME_CHARS)
        latitude, longitude = here if None not in here else coordinates(asked) or (None, None)
        if latitude is not None and longitude is not None:
            return await self._answer({"latitude": latitude, "longitude": longitude}, (), arguments, context)
        chosen, others = _choose(await self._service.places(asked, context.language), asked)
        if chosen is not None:
            return await self._answer(chosen.label, others, arguments, context)
        message = f"Several places are named {asked!r}: which one is meant?"
        return Result(data={"ambiguous": True, "message": message, "candidates": [place.label for place in others]})

    async def _answer(
        self,
        label: Mapping[str, str | float],
        others: Sequence[WeatherPlace],
        arguments: WeatherArguments,
        context: ToolContext,
    ) -> Result:
        here = {"latitude": str(label["latitude"]), "longitude": str(label["longitude"]), "timezone": "auto"}
        wanted = {
            "current": CURRENT,
            "daily": DAILY,
            "forecast_days": str(_needed_days(arguments, context.now)),
            **({"hourly": HOURLY} if arguments.hours or arguments.chart else {}),
            **(_IMPERIAL if (arguments.units or self._options.units) == "imperial" else {}),
        }
        forecast = await self._service.forecast(here | wanted)
        hourly = span(forecast, arguments.hours, arguments.day, arguments.day_count)
        daily = days(forecast, arguments.day, arguments.day_count)
        data: dict[str, Any] = {
            "place": label,
            "timezone": f"{forecast.timezone} ({forecast.timezone_abbreviation})".removesuffix(" ()"),
            "current": now(forecast),
            "hours": hours(forecast, hourly) if arguments.hours else {},
            # The hours are long enough, and say the same.
            "days": () if arguments.hours and arguments.days is None else daily,
            "note": _FEWER if len(daily) < (arguments.days or 1) else "",
            "air_quality": await self._air(here) if arguments.air_quality else {},
            "other_places": [place.name_and_region for place in others],
            "attribution": ATTRIBUTION,
        }
        files: tuple[ResultFile, ...] = ()
        if arguments.chart:
            words = CHART_WORDS.get(context.language, CHART_WORDS["en"])
            steps, curves = panels(forecast, hourly, words)
            title = arguments.place or f"{label['latitude']}, {label['longitude']}"
            files = await asyncio.to_thread(_chart, title, steps, curves, words)
            if not files:
                data["chart"] = "There is nothing to draw, or no picture can be made here: say it in words."
        return Result(data={name: item for name, item in data.items() if item}, files=files)

    async def _air(self, here: Mapping[str, str]) -> Mapping[str, str]:
        """Returns the air quality, or why it is unknown, which does not affect the weather."""
        try:
            return air(await self._service.air_quality({**here, "current": AIR, "forecast_days": "1"}))
        except ToolError as error:
            return {"failed": str(error)}


def _needed_days(arguments: WeatherArguments, present: datetime) -> int:
    """Returns how many days to request so that they include the wanted ones wherever the place is.

    Raises:
        BadArguments: the forecast does not reach that far.
    """
    if arguments.hours is None and arguments.day is None:
        return arguments.day_count
    ahead = 0 if arguments.day is None else (arguments.day - present.date()).days
    if not -1 <= ahead < _MAX_DAYS + 1:
        raise BadArguments("The day must be today or at most 15 days ahead; there is no past weather.")
    # Two more: it may still be yesterday at the place, and a night reaches into the next day.
    return min(ahead + arguments.day_count + 2, _MAX_DAYS)


def _chart(name: str, steps: Sequence[datetime], curves: Sequence[Panel], words: ChartWords) -> tuple[ResultFile, ...]:
    """Returns the picture; none without values to draw. A place whose name cannot be drawn is left out of its title."""
    period = " - ".join(dict.fromkeys(words.day(at, words.date) for at in (*steps[:1], *steps[-1:])))
    title = ": ".join(filter(None, (drawable(name), period)))
    picture = line_chart(title, _labels(steps, words), curves, decimal_point=words.decimal_point)
    return (ResultFile(name="weather.png", content_type=PNG, data=picture),) if picture else ()


def _labels(steps: Sequence[datetime], words: ChartWords) -> Mapping[int, str]:
    """Returns the labels of the hours: every third one, or each day at midnight."""
    if len(steps) <= _MAX_HOURS_LABELLED:
        every = 1 if len(steps) <= _LABEL_EVERY_HOURS * 3 else _LABEL_EVERY_HOURS
        return {number: f"{at:%H:%M}" for number, at in enumerate(steps) if at.hour % every == 0}
    return {number: words.day(at, "{at:%d}") for number, at in enumerate(steps) if at.hour == 0}


def _choose(places: Sequence[WeatherPlace], asked: str) -> tuple[WeatherPlace | None, tuple[WeatherPlace, ...]]:
    """Returns the place that is clearly meant, or None, and the others.

    That is the one with clearly the most people among those with exactly this name, or else among all.
    """
    wanted = fold_name(asked.partition(",")[0])
    exact = [place for place in places if fold_name(place.name) == wanted]
    # One place per name, region and country: to people, a town and its district are the same.
    largest = {(place.name, place.admin1, place.country): place for place in sorted(exact or places, key=_people)}
    ranked = sorted(largest.values(), key=_people, reverse=True)
    if len(ranked) == 1 or _people(ranked[0]) >= _CLEARLY_LARGER * max(_people(ranked[1]), 1):
        return ranked[0], tuple(ranked[1 : _SHOWN_OTHERS + 1])
    return None, tuple(ranked[:_SHOWN_OTHERS])


def _people(place: WeatherPlace) -> int:
    return place.population or 0


def coordinates(text: str) -> tuple[float, float] | None:
    """Returns latitude and longitude by a text such as `52.52 13.41`, `33.9 S, 18.4 E` or `48°51'24" N 2°21'08" E`;
    None if it has no such form.
    """
    found = _COORDINATES.fullmatch(text.strip())
    if found is None:
        return None
    angles: list[tuple[str, float]] = []
    for which in "ab":
        letter = (found[f"{which}before"] or found[f"{which}behind"] or "").upper()
        degrees, minutes, seconds = (float(found[f"{which}{part}"] or 0) for part in ("degrees", "minutes", "seconds"))
        is_negative = (found[f"{which}sign"] or "+") != "+" or letter in {"S", "W"}
        angles.append((letter, (degrees + minutes / 60 + seconds / 3600) * (-1 if is_negative else 1)))
    (first, latitude), (second, longitude) = angles
    if first in {"E", "W"} and second in {"N", "S"}:
        latitude, longitude = longitude, latitude
    elif first in {"E", "W"} or second in {"N", "S"}:
        return None
    is_on_earth = abs(latitude) <= _MAX_LATITUDE and abs(longitude) <= _MAX_LONGITUDE
    return (round(latitude, 6), round(longitude, 6)) if is_on_earth else None
