"""The settings of the tool `get_weather`."""

from typing import Literal

from tools.base import BaseUrl, Key, Options

Units = Literal["metric", "imperial"]


class WeatherOptions(Options):
    """The settings `TOOLS__WEATHER__<FIELD>`."""

    base_url: BaseUrl = "https://api.open-meteo.com"
    """The address for forecasts; with a key https://customer-api.open-meteo.com."""
    geocoding_base_url: BaseUrl = "https://geocoding-api.open-meteo.com"
    """The address for looking up places; with a key https://customer-geocoding-api.open-meteo.com."""
    api_key: Key | None = None
    """The key for Open-Meteo's customer hosts, which commercial use requires; private use needs none."""
    units: Units = "metric"
    """The units of answers, unless the question names some."""

    def seen_by(self) -> tuple[str, ...]:
        """See `Options`."""
        return ("Open-Meteo: the place",)
