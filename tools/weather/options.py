"""The settings of the tool `get_weather`."""

from typing import Literal

from pydantic import Field

from tools.base import BaseUrl, Key, Options

Units = Literal["metric", "imperial"]


class WeatherOptions(Options):
    """The settings `TOOLS__WEATHER__<FIELD>`."""

    base_url: BaseUrl = "https://api.open-meteo.com"
    """Where forecasts come from; with a key https://customer-api.open-meteo.com."""
    geocoding_base_url: BaseUrl = "https://geocoding-api.open-meteo.com"
    """Where places are looked up; with a key https://customer-geocoding-api.open-meteo.com."""
    air_quality_base_url: BaseUrl = "https://air-quality-api.open-meteo.com"
    """Where the air is asked for; with a key https://customer-air-quality-api.open-meteo.com."""
    api_key: Key | None = None
    """Open-Meteo's key for its customer hosts, which commercial use needs; private use needs none."""
    units: Units = "metric"
    """The units of answers where the question names none."""
    timeout_seconds: float = Field(default=12, gt=0, le=120)
    """For one question: finding the place, the forecast, and the wait for questions asked before."""

    def seen_by(self) -> tuple[str, ...]:
        """See `Options`."""
        return ("Open-Meteo: the place",)
