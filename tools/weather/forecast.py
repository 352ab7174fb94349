"""Describes a forecast in words and with units: now, by day, by hour, and the air. Pure functions.

    now, days, hours, air (WeatherForecast) -> rows of a result;   panels (WeatherForecast, words) -> content of a chart

Null values are left out, and nothing is guessed. Times are local to the place.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime, time, timedelta
from typing import Any, Literal

from tools.chart import Panel
from tools.text import clean_text
from tools.weather.open_meteo import Value, WeatherForecast

Part = Literal["next_24", "morning", "afternoon", "evening", "night", "all_day"]
"""The hours to list: the next 24, or a part of a day."""

_CODE = "weather_code"
_WIND, _DIRECTION = "wind_speed_10m", "wind_direction_10m"
_CURRENT = {
    "temperature_2m": "temperature",
    "apparent_temperature": "feels_like",
    "relative_humidity_2m": "humidity",
    "precipitation": "precipitation",
    _WIND: "wind",
    "wind_gusts_10m": "gusts",
}
_HOURLY = ("temperature_2m", "precipitation_probability", "precipitation", _WIND)
_DAILY = {
    "temperature_2m_min": "temperature_min",
    "temperature_2m_max": "temperature_max",
    "precipitation_sum": "precipitation",
    "precipitation_probability_max": "precipitation_probability",
    "wind_speed_10m_max": "wind_max",
    "uv_index_max": "uv_index_max",
}
_MAIN_DIRECTION, _SUNRISE, _SUNSET = "wind_direction_10m_dominant", "sunrise", "sunset"
_POLLEN = ("alder_pollen", "birch_pollen", "grass_pollen", "mugwort_pollen", "olive_pollen", "ragweed_pollen")
_AIR = {
    "european_aqi": "european_index",
    "us_aqi": "us_index",
    "pm2_5": "fine_particles_pm2_5",
    "pm10": "particles_pm10",
    **{name: name for name in ("ozone", "nitrogen_dioxide", *_POLLEN)},
}

CURRENT = ",".join([*_CURRENT, _DIRECTION, _CODE])
"""The variables to request of the present weather, as Open-Meteo names them; those below likewise."""
HOURLY = ",".join([*_HOURLY, _DIRECTION, _CODE])
DAILY = ",".join([*_DAILY, _MAIN_DIRECTION, _SUNRISE, _SUNSET, _CODE])
AIR = ",".join(_AIR)

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
# Start and end in hours since midnight of the day.
_PARTS: Mapping[str, tuple[int, int]] = {
    "morning": (6, 12),
    "afternoon": (12, 18),
    "evening": (18, 23),
    "night": (22, 30),
    "all_day": (0, 24),
}
# Upper limits of the European air quality index. Source: open-meteo.com/en/docs, air quality, 2026-11-22.
_AIR_WORDS = {20: "good", 40: "fair", 60: "moderate", 80: "poor", 100: "very poor"}
_COMPASS = ("N", "NE", "E", "SE", "S", "SW", "W", "NW")
_A_DAY = timedelta(days=1)
_LITTLE_RAIN = {"mm": 1.0, "inch": 0.05}
_OVER = "That is over at this place, or further ahead than the forecast reaches."


@dataclass(frozen=True, kw_only=True, slots=True)
class ChartWords:
    """The words, dates and decimal point of the chart in one language."""

    temperature: str
    chance: str
    amount: str
    """Of rain and snow; has a place for its `unit`."""
    now: str
    weekdays: str
    """In short, from Monday on."""
    date: str
    decimal_point: str = ","

    def day(self, at: datetime, form: str) -> str:
        """Returns a day as it stands below the chart (`{at:%d}`) or in the title (`date`): `Sat 21`."""
        return f"{self.weekdays.split()[at.weekday()]} {form.format(at=at)}"


CHART_WORDS: Mapping[str, ChartWords] = {
    "en": ChartWords(
        temperature="Temperature",
        chance="Chance of rain",
        amount="Rain and snow ({unit} an hour)",
        now="now",
        weekdays="Mon Tue Wed Thu Fri Sat Sun",
        date="{at:%d %b}",
        decimal_point=".",
    ),
    "de": ChartWords(
        temperature="Temperatur",
        chance="Regenwahrscheinlichkeit",
        amount="Regen und Schnee ({unit} pro Stunde)",
        now="jetzt",
        weekdays="Mo Di Mi Do Fr Sa So",
        date="{at.day}.{at.month}.",
    ),
    "fr": ChartWords(
        temperature="Température",
        chance="Risque de pluie",
        amount="Pluie et neige ({unit} par heure)",
        now="maintenant",
        weekdays="lun. mar. mer. jeu. ven. sam. dim.",
        date="{at:%d/%m}",
    ),
    "es": ChartWords(
        temperature="Temperatura",
        chance="Probabilidad de lluvia",
        amount="Lluvia y nieve ({unit} por hora)",
        now="ahora",
        weekdays="lun mar mié jue vie sáb dom",
        date="{at.day}/{at.month}",
    ),
}
"""By ISO code of the language."""


ForecastSpan = tuple[datetime, datetime]
"""A range of hours at a place, local and without a zone, like Open-Meteo's times: the first, and the end of the last,
which is not after the first if all of it is past."""


def span(forecast: WeatherForecast, part: Part | None, day: date | None, count: int) -> ForecastSpan:
    """Returns the hours of a part of a day, by default today at the place, without those that are past; None: of
    `count` whole days.
    """
    now = _time(forecast.current.get("time")) or _time(next(iter(forecast.hourly.get("time", ())), None))
    this_hour = (now or datetime.min).replace(minute=0)  # noqa: DTZ901 - local times of the place, all without a zone
    if part == "next_24" and day is None:
        return this_hour, this_hour + _A_DAY
    midnight = datetime.combine(day or this_hour.date(), time.min)
    if part is None:
        return midnight, midnight + count * _A_DAY
    first, last = (midnight + timedelta(hours=hour) for hour in _PARTS["all_day" if part == "next_24" else part])
    return max(first, this_hour), last


def now(forecast: WeatherForecast) -> Mapping[str, str]:
    """Describes the present weather."""
    values, units = forecast.current, forecast.current_units
    return {
        "local_time": str(values.get("time") or "unknown"),
        "weather": _in_words(values.get(_CODE)),
        **_with_units(values, units, _CURRENT, wind=(_WIND, _DIRECTION)),
    }


def days(forecast: WeatherForecast, first: date | None, count: int) -> Sequence[Mapping[str, str]]:
    """Describes the weather of `count` days, by default from today on; fewer if the forecast ends before."""
    rows: list[Mapping[str, str]] = []
    for said, values in _rows(forecast.daily):
        day = _time(said)
        if day is None or (first is not None and not first <= day.date() < first + count * _A_DAY):
            continue
        rows.append(
            {
                "date": f"{day:%A} {said}",
                "weather": _in_words(values.get(_CODE)),
                **_with_units(values, forecast.daily_units, _DAILY, wind=("wind_speed_10m_max", _MAIN_DIRECTION)),
                **_sun(said, values),
            }
        )
    return rows[:count]


def _sun(day: str, values: Mapping[str, Value]) -> Mapping[str, str]:
    """Describes when the sun rises and sets. Where it does neither, Open-Meteo says midnight for both: of the same day
    in the polar night, of the next in the polar day (open-meteo/open-meteo#844, 2026-11-27).
    """
    rise, fall = _time(values.get(_SUNRISE)), _time(values.get(_SUNSET))
    if rise and fall and rise.time() == fall.time() == time.min and fall - rise in {timedelta(), _A_DAY}:
        return {"sun": "does not set" if fall > rise else "does not rise"}
    return {
        name: f"{at:%H:%M}" + ("" if at.date().isoformat() == day else " of the next day")
        for name, at in ((_SUNRISE, rise), (_SUNSET, fall))
        if at is not None
    }


def hours(forecast: WeatherForecast, wanted: ForecastSpan) -> Mapping[str, Any]:
    """Describes the weather of each hour of a span, one line each, with a summary."""
    rows = list(_within(forecast, wanted))
    if not rows:
        return {"message": _OVER, "hours": []}
    units = [clean_text(forecast.hourly_units.get(name, "")) for name in _HOURLY]
    columns = ("temperature", "chance of rain", "rain", "wind")
    named = [f"{name} {unit}".strip() for name, unit in zip(columns, units, strict=True)]
    return {
        "from": f"{rows[0][0]:%A %Y-%m-%d %H:%M}",
        "until": f"{rows[-1][0] + timedelta(hours=1):%A %Y-%m-%d %H:%M}",
        "in_short": _in_short([values for _, values in rows], forecast.hourly_units),
        "columns": f"hour, weather, {', '.join(named)} and from where",
        "hours": [_line(at, values) for at, values in rows],
    }


def _line(at: datetime, values: Mapping[str, Value]) -> str:
    """Returns an hour in as few characters as can be read, as there are many: `15 overcast, 6.5, 10, 0, 12 W`."""
    numbers = ["-" if (value := _number(values.get(name))) is None else f"{value:g}" for name in _HOURLY]
    return f"{at:%H} {_in_words(values.get(_CODE))}, {', '.join(numbers)} {_direction(values.get(_DIRECTION))}".strip()


def air(forecast: WeatherForecast) -> Mapping[str, str]:
    """Describes the present air quality."""
    values = forecast.current
    index = values.get("european_aqi")
    word = "unknown"
    if isinstance(index, float):
        word = next((word for most, word in _AIR_WORDS.items() if index <= most), "extremely poor")
    return {"air": word, **_with_units(values, forecast.current_units, _AIR)}


def panels(
    forecast: WeatherForecast, wanted: ForecastSpan, words: ChartWords
) -> tuple[Sequence[datetime], tuple[Panel, ...]]:
    """Returns the hours of a span, and panels with temperature, chance of rain and, as bars, its amount."""
    rows = list(_within(forecast, wanted))
    units = forecast.hourly_units
    temperature, chance, amount = ([_number(values.get(name)) for _, values in rows] for name in _HOURLY[:3])
    warmth, wet = units.get("temperature_2m", ""), units.get("precipitation", "")
    present = forecast.current.get("temperature_2m")
    unit = forecast.current_units.get("temperature_2m", "")
    said = "" if present is None else _with_unit(present, unit).replace(".", words.decimal_point)
    current = f", {words.now} {said}" if said else ""
    hourly = words.amount.format(unit=wet)
    return [at for at, _ in rows], (
        Panel(name=f"{words.temperature} ({warmth}){current}", values=temperature),
        Panel(name=f"{words.chance} (%)", values=chance, lowest=0, highest=100),
        # A tenth of a millimetre must not look like a flood.
        Panel(name=hourly, values=amount, lowest=0, highest=_LITTLE_RAIN.get(wet), bars=True),
    )


def _within(forecast: WeatherForecast, wanted: ForecastSpan) -> Iterator[tuple[datetime, Mapping[str, Value]]]:
    for said, values in _rows(forecast.hourly):
        at = _time(said)
        if at is not None and wanted[0] <= at < wanted[1]:
            yield at, values


def _rows(lists: Mapping[str, Sequence[Value]]) -> Iterator[tuple[str, Mapping[str, Value]]]:
    """Turns parallel lists by variable into one row of values for each time."""
    for number, at in enumerate(lists.get("time", ())):
        yield str(at), {name: row[number] for name, row in lists.items() if number < len(row)}


def _in_short(rows: Sequence[Mapping[str, Value]], units: Mapping[str, str]) -> str:
    warmth, chances, rain, wind = (
        [number for values in rows if (number := _number(values.get(name))) is not None] for name in _HOURLY
    )
    warm, wet, windy = (units.get(name, "") for name in ("temperature_2m", "precipitation", _WIND))
    said = (
        f"{min(warmth):g} to {_with_unit(max(warmth), warm)}" if warmth else "",
        f"chance of rain up to {max(chances):g}%" if chances else "",
        f"{_with_unit(round(sum(rain), 3), wet)} in all" if rain else "",
        f"wind up to {_with_unit(max(wind), windy)}" if wind else "",
    )
    return ", ".join(filter(None, said))


def _number(value: Value) -> float | None:
    """Returns a number that can be drawn and added up; None for anything else."""
    return value if isinstance(value, float) else None


def _time(said: Value) -> datetime | None:
    """Parses a local time without a zone; None if unreadable."""
    try:
        return datetime.fromisoformat(str(said))
    except ValueError:
        return None


def _with_units(
    values: Mapping[str, Value],
    units: Mapping[str, str],
    names: Mapping[str, str],
    wind: tuple[str, str] = ("", ""),
) -> Mapping[str, str]:
    """Returns the values by our names with the units of the answer, leaving out null; `wind` are the variables of its
    speed and of where it comes from.
    """
    origin = _direction(values.get(wind[1]))
    return {
        ours: _with_unit(value, units.get(theirs, "")) + (f" from {origin}" if origin and theirs == wind[0] else "")
        for theirs, ours in names.items()
        if (value := values.get(theirs)) is not None
    }


def _with_unit(value: float | str, unit: str) -> str:
    if isinstance(value, str):
        return clean_text(value)
    return f"{value:g}{'' if unit in {'%', '°'} else ' '}{clean_text(unit)}".strip()


def _direction(degrees: Value) -> str:
    """Returns the point of the compass that a wind comes from; empty if unknown."""
    number = _number(degrees)
    return "" if number is None else _COMPASS[round(number / 45) % len(_COMPASS)]


def _in_words(code: Value) -> str:
    return _WEATHER.get(int(code), f"weather code {code:g}") if isinstance(code, float) else "unknown"
