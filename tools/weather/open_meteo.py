"""Open-Meteo: places by name, forecasts and air quality. Needs no key.

Open-Meteo's free hosts accept about one request at a time per address, so callers hold `queue`.

Source: the documentation of open-meteo.com for forecasts, geocoding, air quality and terms, and the server's own
repository open-meteo/open-meteo for the errors, 2026-11-21; open-meteo/geocoding-api 655cd15 for languages and for
regions behind a comma, 2026-11-27. Data CC BY 4.0: every answer needs the attribution.
"""

import asyncio
from collections.abc import Mapping, Sequence
from http import HTTPStatus
from typing import Literal

from pydantic import BaseModel

from tools.base import BaseUrl, Key, Options
from tools.cities import fold_name, regions_named
from tools.errors import BadArguments, Disabled, NotFound, RateLimited
from tools.http import Http, JsonAnswer
from tools.text import clean_text, shorten

ATTRIBUTION = "Weather data by Open-Meteo.com (https://open-meteo.com/)"

MAX_NAME_CHARS = 100
"""The longest name of a place, in questions and in answers."""

_SERVICE = "Open-Meteo"
_CANDIDATES = 10
_MAX_CANDIDATES = 100
_SHOWN_REGIONS = 8
_MAX_REASON_CHARS = 200
_ENGLISH = "en"

Units = Literal["metric", "imperial"]
Value = float | str | None


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
        return {**self.name_and_region, "latitude": self.latitude, "longitude": self.longitude}

    @property
    def name_and_region(self) -> Mapping[str, str]:
        """The same in words alone."""
        words = {"name": self.name, "region": self.admin1, "country": self.country}
        return {key: shorten(clean_text(word), MAX_NAME_CHARS) for key, word in words.items() if word}

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


class WeatherForecast(BaseModel):
    """A forecast of the weather or the air.

    Has parallel lists by variable; any value can be null; times are local to the place and without a zone.
    """

    timezone: str
    timezone_abbreviation: str = ""
    current: Mapping[str, Value] = {}
    current_units: Mapping[str, str] = {}
    hourly: Mapping[str, Sequence[Value]] = {}
    hourly_units: Mapping[str, str] = {}
    daily: Mapping[str, Sequence[Value]] = {}
    daily_units: Mapping[str, str] = {}


class OpenMeteo:
    """Queries Open-Meteo. All methods raise the errors of `places` except NotFound."""

    def __init__(self, options: WeatherOptions, http: Http, timeout_seconds: float) -> None:
        self.queue = asyncio.Lock()
        """Hold it from the first to the last request of a question."""
        self._http = http
        self._options = options
        self.timeout_seconds = timeout_seconds
        """The time limit for one question: looking up the place, the forecast, and waiting for earlier questions."""
        self._key = options.api_key.get_secret_value() if options.api_key else ""

    async def places(self, name: str, language: str) -> tuple[WeatherPlace, ...]:
        """Returns the places whose names begin like this, at least one; named in English if English knows them.

        A search knows the names that a place has at home, and those of one language. English comes first: models call
        places by English names as well, and in German Cologne is a village in Italy. Regions and countries may follow
        behind commas. They are compared here: the service knows neither codes nor letters of states, and compares only
        the best few of the bare name.

        Raises:
            NotFound: no place has that name, or none in that region; the message names those where there is one.
            BadArguments: Open-Meteo refuses the question.
            Disabled: it refuses the key.
            RateLimited, TimedOut, TooLarge, Unavailable: there is no readable answer.
        """
        town, *regions = (part.strip() for part in name.split(","))
        regions = list(filter(None, regions))
        elsewhere: dict[str, None] = {}
        for one in dict.fromkeys((_ENGLISH, language)):
            count = _MAX_CANDIDATES if regions else _CANDIDATES
            params = {"name": town, "count": str(count), "language": one, "format": "json"}
            answer = await self._ask(f"{self._options.geocoding_base_url}/v1/search", params)
            places = answer.parse(_Places, _SERVICE).results
            if found := tuple(place for place in places if all(map(place.is_in, regions))):
                return found
            elsewhere |= dict.fromkeys(", ".join(filter(None, (place.admin1, place.country))) for place in places)
        known = "; ".join(list(elsewhere)[:_SHOWN_REGIONS])
        there = f"there is one in {clean_text(known)}" if known else "try the bare name of a town"
        raise NotFound(f"No place is named {name!r}; {there}.")

    async def forecast(self, params: Mapping[str, str], *, of_air: bool = False) -> WeatherForecast:
        """Returns the weather at the coordinates in `params`, which are those of `/v1/forecast`, or the air quality;
        what is unknown at a place, such as pollen outside Europe, is null.
        """
        host, path = self._options.base_url, "forecast"
        if of_air:
            host, path = host.replace("api.open-meteo.com", "air-quality-api.open-meteo.com"), "air-quality"
        return (await self._ask(f"{host}/v1/{path}", params)).parse(WeatherForecast, _SERVICE)

    async def _ask(self, url: str, params: Mapping[str, str]) -> JsonAnswer:
        given = {**params, "apikey": self._key} if self._key else params
        answer = await self._http.get_json(url, service=_SERVICE, params=given, timeout_seconds=self.timeout_seconds)
        reason = ""
        match answer.body:
            case {"error": True, "reason": str(said)}:
                reason = shorten(clean_text(said.replace(self._key or "apikey=", "")), _MAX_REASON_CHARS)
            case _ if answer.ok:
                return answer
            case _:
                pass
        if answer.status == HTTPStatus.TOO_MANY_REQUESTS:
            raise RateLimited(f"{_SERVICE} wants fewer requests. {reason}".strip())
        if answer.status in {HTTPStatus.UNAUTHORIZED, HTTPStatus.FORBIDDEN} or "API key" in reason:
            raise Disabled(f"{_SERVICE} refuses the key: the operator must check TOOLS__WEATHER__API_KEY.")
        if reason and answer.status < HTTPStatus.INTERNAL_SERVER_ERROR:
            raise BadArguments(reason)
        raise answer.refusal(_SERVICE)
