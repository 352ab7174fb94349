"""The weather, from a double of Open-Meteo that refuses what the real one refuses."""

import asyncio
from collections.abc import AsyncIterator
from typing import Any

import pytest
from aiohttp import web
from pydantic import ValidationError

from tests.servers.base import answer_json, hang
from tests.servers.open_meteo import OpenMeteo, place
from tools import (
    BadArguments,
    Disabled,
    Http,
    NotFound,
    RateLimited,
    TimedOut,
    ToolContext,
    ToolError,
    Unavailable,
)
from tools.weather import ATTRIBUTION, Weather, WeatherArguments, WeatherOptions

KEY = "om-key-4711"


@pytest.fixture
async def open_meteo() -> AsyncIterator[OpenMeteo]:
    async with OpenMeteo() as running:
        yield running


class Asked:
    """The tool over the double."""

    def __init__(self, server: OpenMeteo, http: Http, context: ToolContext, **options: Any) -> None:
        urls: dict[str, Any] = {"base_url": server.url, "geocoding_base_url": server.url}
        self.tool = Weather(WeatherOptions(**(urls | options)), http)
        self._context = context

    async def __call__(self, place: str | None = None, **arguments: Any) -> Any:
        return (await self.tool.run(WeatherArguments(place=place, **arguments), self._context)).data


@pytest.fixture
def ask(open_meteo: OpenMeteo, http: Http, context: ToolContext) -> Asked:
    return Asked(open_meteo, http, context)


async def test_the_weather_of_a_place_has_words_units_and_its_source(ask: Asked) -> None:
    """Now and the coming days, in the units that the answer names; what is null is left out."""
    data = await ask("Utopia", days=2)
    assert data["place"] == {
        "name": "Utopia",
        "region": "North",
        "country": "Atlantis",
        "latitude": 52.52437,
        "longitude": 13.41053,
    }
    assert data["timezone"] == "Europe/Berlin (GMT+1)"
    assert data["current"] == {
        "local_time": "2026-11-21T15:45",
        "weather": "slight rain",
        "temperature": "8.13 °C",
        "feels_like": "-0.2 °C",
        "humidity": "87%",
        "precipitation": "0.1 mm",
        "wind": "14.8 km/h",
    }
    assert data["days"] == [
        {
            "date": "Saturday 2026-11-21",
            "weather": "moderate rain",
            "temperature_min": "2.2 °C",
            "temperature_max": "9.1 °C",
            "precipitation": "4.2 mm",
            "precipitation_probability": "78%",
            "wind_max": "31.3 km/h",
            "uv_index_max": "0.55",
            "sunrise": "07:41",
            "sunset": "16:02",
        },
        {
            "date": "Sunday 2026-11-22",
            "weather": "overcast",
            "temperature_min": "0.4 °C",
            "temperature_max": "8.2 °C",
            "precipitation_probability": "12%",
            "wind_max": "20 km/h",
            "uv_index_max": "1",
            "sunrise": "07:42",
            "sunset": "16:01",
        },
    ]
    assert data["attribution"] == ATTRIBUTION
    assert [other["region"] for other in data["other_places"]] == ["South"]


async def test_a_code_that_nobody_knows_is_shown_and_a_missing_one_is_said(ask: Asked) -> None:
    """Weather is never guessed."""
    days = (await ask("Utopia", days=7))["days"]
    assert [day["weather"] for day in days[2:4]] == ["weather code 7", "unknown"]
    assert len(days) == 7


async def test_three_days_are_told_unless_asked_otherwise(ask: Asked) -> None:
    """The default is what people want to know."""
    assert len((await ask("Utopia"))["days"]) == 3


async def test_coordinates_need_no_place(ask: Asked, open_meteo: OpenMeteo) -> None:
    """They are asked for as given; nothing is looked up."""
    data = await ask(latitude=-33.9, longitude=18.4)
    assert data["place"] == {"latitude": -33.9, "longitude": 18.4}
    assert [seen.path for seen in open_meteo.requests] == ["/v1/forecast"]
    assert open_meteo.requests[0].query["latitude"] == "-33.9"


@pytest.mark.parametrize(
    ("setting", "argument", "temperature", "wind"),
    [
        ("metric", "imperial", "8.13 °F", "14.8 mp/h"),
        ("imperial", None, "8.13 °F", "14.8 mp/h"),
        ("imperial", "metric", "8.13 °C", "14.8 km/h"),
    ],
)
async def test_units_come_from_the_argument_else_from_the_setting(
    open_meteo: OpenMeteo,
    http: Http,
    context: ToolContext,
    setting: str,
    argument: str | None,
    temperature: str,
    wind: str,
) -> None:
    """And they are printed as the answer names them."""
    current = (await Asked(open_meteo, http, context, units=setting)("Utopia", units=argument))["current"]
    assert (current["temperature"], current["wind"]) == (temperature, wind)


@pytest.mark.parametrize(
    ("asked", "region"),
    [
        ("utopia", "North"),
        ("Springwell, Lilliput", "Hills"),
        ("Springwell, East", "East"),
        ("Doppel", "East"),
        ("Hamlet", None),
        ("kohln", "East"),
        ("Utopia A", "North"),
    ],
)
async def test_the_place_that_is_clearly_meant_is_taken(
    ask: Asked, open_meteo: OpenMeteo, asked: str, region: str | None
) -> None:
    """The much larger one of a name, the qualified one, one that is listed twice, the only one; accents aside."""
    open_meteo.places.append(place("Kohln", "Erewhon", "West", 3))
    assert (await ask(asked))["place"].get("region") == region


async def test_a_place_that_may_be_several_is_asked_back(ask: Asked, open_meteo: OpenMeteo) -> None:
    """The candidates are named, largest first, and no weather is asked for."""
    data = await ask("Springwell")
    assert data["ambiguous"] is True
    assert "'Springwell'" in data["message"]
    assert [(row["region"], row["country"]) for row in data["candidates"]] == [
        ("East", "Erewhon"),
        ("West", "Erewhon"),
        ("Hills", "Lilliput"),
    ]
    assert [seen.path for seen in open_meteo.requests] == ["/v1/search"]


@pytest.mark.parametrize("asked", ["Nowhere", "X", "\u200b"])
async def test_a_place_that_is_not_there_is_said(ask: Asked, asked: str) -> None:
    """Open-Meteo answers 200 without results."""
    with pytest.raises(NotFound, match="No place is named"):
        await ask(asked)


@pytest.mark.parametrize(
    "arguments",
    [
        {},
        {"place": ""},
        {"latitude": 1.0},
        {"place": "Utopia", "longitude": 1.0},
        {"latitude": 91.0, "longitude": 0.0},
        {"latitude": 0.0, "longitude": float("inf")},
        {"place": "Utopia", "days": 8},
        {"place": "Utopia", "days": 0},
        {"place": "x" * 101},
        {"place": "Utopia", "units": "kelvin"},
    ],
)
def test_arguments_that_make_no_sense_are_refused_before_anything_is_asked(arguments: dict[str, Any]) -> None:
    """The toolbox hands the reason to the model."""
    with pytest.raises(ValidationError):
        WeatherArguments(**arguments)


@pytest.mark.parametrize(
    ("status", "reason", "kind", "words"),
    [
        (429, "Minutely API request limit exceeded. Please try again in one minute.", RateLimited, "in one minute"),
        (429, "Daily API request limit exceeded. Please try again tomorrow.", RateLimited, "tomorrow"),
        (401, "API key required. Please add &apikey= to the URL.", Disabled, "TOOLS__WEATHER__API_KEY"),
        (400, "The supplied API key is invalid.", Disabled, "TOOLS__WEATHER__API_KEY"),
        (403, "This API endpoint requires the API Professional or Enterprise plan", Disabled, "operator"),
        (400, "Latitude must be in range of -90 to 90°. Given: 123.0.", BadArguments, "Latitude must be in range"),
        (400, "r" * 900, BadArguments, "r" * 150),
        (200, "Something is wrong", BadArguments, "Something is wrong"),
        (500, "Internal", Unavailable, "status 500"),
    ],
)
async def test_a_refusal_is_told_by_its_reason(
    ask: Asked, open_meteo: OpenMeteo, status: int, reason: str, kind: type[ToolError], words: str
) -> None:
    """Who must act follows from the reason more than from the status; asking again would change nothing."""
    open_meteo.faults.append(answer_json({"error": True, "reason": reason}, status=status))
    with pytest.raises(kind, match=words) as caught:
        await ask("Utopia")
    assert len(str(caught.value)) < 300
    assert len(open_meteo.requests) == 1


@pytest.mark.parametrize(
    ("status", "reason"), [(429, "Too many concurrent requests"), (503, "The service is overloaded")]
)
async def test_a_crowd_is_waited_out_once(ask: Asked, open_meteo: OpenMeteo, status: int, reason: str) -> None:
    """Both are over in a moment."""
    open_meteo.faults.append(answer_json({"error": True, "reason": reason}, status=status))
    assert (await ask("Utopia"))["place"]["name"] == "Utopia"


async def test_questions_queue_for_a_host_that_takes_one_at_a_time(ask: Asked, open_meteo: OpenMeteo) -> None:
    """Five at once are all answered, and never did two requests meet."""
    answers = await asyncio.gather(*(ask("Utopia") for _ in range(5)))
    assert len(answers) == 5
    assert len(open_meteo.requests) == 10


@pytest.mark.parametrize(
    "body",
    [
        [],
        "weather",
        {"results": {"name": "x"}},
        {"results": [{"name": "Utopia", "latitude": "north", "longitude": 1}]},
    ],
)
async def test_a_geocoding_answer_of_another_shape_is_a_failure(ask: Asked, open_meteo: OpenMeteo, body: Any) -> None:
    """It is not taken for "no such place"."""
    open_meteo.faults.append(answer_json(body))
    with pytest.raises(Unavailable, match="cannot be read"):
        await ask("Utopia")


@pytest.mark.parametrize("body", [[{}], {}, {"timezone": "UTC", "daily": [1]}, {"timezone": 5}])
async def test_a_forecast_of_another_shape_is_a_failure(ask: Asked, open_meteo: OpenMeteo, body: Any) -> None:
    """Half an answer is none."""
    open_meteo.faults.append(answer_json(body))
    with pytest.raises(Unavailable, match="cannot be read"):
        await ask(latitude=1.0, longitude=1.0)


async def test_a_forecast_with_holes_is_told_as_far_as_it_goes(ask: Asked, open_meteo: OpenMeteo) -> None:
    """Nulls, short lists, missing units and odd dates are left out or shown as they are."""
    daily = {"time": ["2026-11-21", "soon"], "weather_code": ["x", 0], "temperature_2m_max": [1.5], "sunset": [None, 3]}
    body = {"timezone": "UTC", "daily": daily, "daily_units": None, "current": {"time": None}}
    open_meteo.faults.append(answer_json(body))
    data = await ask(latitude=1.0, longitude=1.0)
    assert data["days"] == [
        {"date": "Saturday 2026-11-21", "weather": "unknown", "temperature_max": "1.5"},
        {"date": "soon", "weather": "clear sky", "sunset": "3"},
    ]
    assert data["current"] == {"local_time": "unknown", "weather": "unknown"}
    assert data["timezone"] == "UTC"


async def test_the_deadline_covers_both_requests_and_the_queue(
    open_meteo: OpenMeteo, http: Http, context: ToolContext
) -> None:
    """A question behind one that hangs is told in its own time."""
    ask = Asked(open_meteo, http, context, timeout_seconds=0.1)
    open_meteo.faults += [hang, hang]
    answers = await asyncio.gather(ask("Utopia"), ask("Utopia"), return_exceptions=True)
    assert [type(answer) for answer in answers] == [TimedOut, TimedOut]


async def test_the_customer_host_gets_the_key(http: Http, context: ToolContext) -> None:
    """With both requests, as a parameter: it knows no header."""
    async with OpenMeteo(key=KEY) as customer_host:
        await Asked(customer_host, http, context, api_key=KEY)("Utopia")
        assert {seen.query["apikey"] for seen in customer_host.requests} == {KEY}
        with pytest.raises(Disabled):
            await Asked(customer_host, http, context)("Utopia")


async def test_the_key_is_in_no_error_even_where_the_service_repeats_it(
    open_meteo: OpenMeteo, http: Http, context: ToolContext
) -> None:
    """What is said to a model may reach a person."""
    open_meteo.faults.append(answer_json({"error": True, "reason": f"Bad request ?apikey={KEY}"}, status=400))
    with pytest.raises(BadArguments) as caught:
        await Asked(open_meteo, http, context, api_key=KEY)("Utopia")
    assert KEY not in str(caught.value)


async def test_words_of_the_service_are_cleaned(ask: Asked, open_meteo: OpenMeteo) -> None:
    """A name in the database is a stranger's text."""
    open_meteo.places = [place("Evil\u202e\U000e0041town" + "!" * 200, "X", "Y")]
    name = (await ask("Evil"))["place"]["name"]
    assert name.startswith("Eviltown!")
    assert len(name) == 100


async def test_a_host_that_is_gone_is_a_failure(http: Http, context: ToolContext) -> None:
    """Connection refused, a page in place of JSON: unavailable."""
    async with OpenMeteo() as gone:
        ask = Asked(gone, http, context)
        gone.faults.append(lambda _: web.Response(text="<html>", content_type="text/html"))
        with pytest.raises(Unavailable):
            await ask("Utopia")
    with pytest.raises(Unavailable, match="cannot be reached"):
        await ask("Utopia")
