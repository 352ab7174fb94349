"""Open-Meteo: places by their names, forecasts, the quality of the air. Without a key; one request at a time.

Open-Meteo's free hosts take about one request at a time from an address, so a caller holds `queue`.

Source: the documentation of open-meteo.com for forecasts, geocoding, air quality and terms, and the server's own
repository open-meteo/open-meteo for the errors, 2026-11-21. Data CC BY 4.0: the attribution goes with every answer.
"""

import asyncio
from collections.abc import Mapping, Sequence
from http import HTTPStatus
from typing import Annotated

from pydantic import BaseModel, BeforeValidator

from tools.errors import BadArguments, Disabled, NotFound, RateLimited, ToolError
from tools.http import Http, JsonAnswer, usual_pause
from tools.text import clean_text, shorten
from tools.weather.options import WeatherOptions

ATTRIBUTION = "Weather data by Open-Meteo.com (https://open-meteo.com/)"

MAX_NAME_CHARS = 100
"""The longest name of a place, in questions and in answers."""

_SERVICE = "Open-Meteo"
_CANDIDATES = 5
_MAX_REASON_CHARS = 200

Value = float | str | None
_Words = Annotated[Mapping[str, str], BeforeValidator(lambda given: given or {})]


class WeatherPlace(BaseModel):
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
        said = {key: shorten(clean_text(word), MAX_NAME_CHARS) for key, word in words.items() if word}
        return {**said, "latitude": self.latitude, "longitude": self.longitude}


class _Places(BaseModel):
    """The geocoding answer: without a hit it has no `results` at all."""

    results: tuple[WeatherPlace, ...] = ()


class WeatherForecast(BaseModel):
    """A forecast, of the weather or of the air.

    Parallel lists by variable, any value may be null, times are local to the place and without a zone.
    """

    timezone: str
    timezone_abbreviation: str = ""
    current: Mapping[str, Value] = {}
    current_units: _Words = {}
    hourly: Mapping[str, Sequence[Value]] = {}
    hourly_units: _Words = {}
    daily: Mapping[str, Sequence[Value]] = {}
    daily_units: _Words = {}


class OpenMeteo:
    """Asks Open-Meteo. All methods raise what `places` does, but for NotFound."""

    def __init__(self, options: WeatherOptions, http: Http) -> None:
        self.queue = asyncio.Lock()
        """To be held from the first to the last request of a question."""
        self._http = http
        self._options = options
        self._key = options.api_key.get_secret_value() if options.api_key else ""

    async def places(self, name: str) -> tuple[WeatherPlace, ...]:
        """The places whose name begins so, at least one.

        Raises:
            NotFound: no place has that name.
            BadArguments: Open-Meteo refuses the question.
            Disabled: it refuses the key.
            RateLimited, TimedOut, TooLarge, Unavailable: it does not answer, or not in a way that can be read.
        """
        params = {"name": name, "count": str(_CANDIDATES), "language": "en", "format": "json"}
        answer = await self._ask(f"{self._options.geocoding_base_url}/v1/search", params)
        places = answer.parse(_Places, _SERVICE).results
        if not places:
            raise NotFound(f"No place is named {name!r}; try the bare name of a town.")
        return places

    async def forecast(self, params: Mapping[str, str]) -> WeatherForecast:
        """The weather at the coordinates in `params`, which are what `/v1/forecast` takes."""
        return (await self._ask(f"{self._options.base_url}/v1/forecast", params)).parse(WeatherForecast, _SERVICE)

    async def air_quality(self, params: Mapping[str, str]) -> WeatherForecast:
        """The air there, likewise; what is not known at a place, such as pollen outside of Europe, is null."""
        answer = await self._ask(f"{self._options.air_quality_base_url}/v1/air-quality", params)
        return answer.parse(WeatherForecast, _SERVICE)

    async def _ask(self, url: str, params: Mapping[str, str]) -> JsonAnswer:
        answer = await self._http.get_json(
            url,
            service=_SERVICE,
            params={**params, "apikey": self._key} if self._key else params,
            timeout_seconds=self._options.timeout_seconds,
            pause=_pause,
        )
        reason = _reason(answer)
        if not answer.ok or reason:
            raise _refusal(answer, shorten(reason.replace(self._key, "") if self._key else reason, _MAX_REASON_CHARS))
        return answer


def _pause(answer: JsonAnswer) -> float | None:
    """Too many requests at once is over in a moment; too many in a minute, an hour or a day is not."""
    return None if "limit exceeded" in _reason(answer) else usual_pause(answer)


def _reason(answer: JsonAnswer) -> str:
    """Why Open-Meteo refuses; empty where it does not say or does not refuse."""
    match answer.body:
        case {"error": True, "reason": str(reason)}:
            return clean_text(reason)
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
