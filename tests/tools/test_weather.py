"""The weather, from a double of Open-Meteo that refuses what the real one refuses."""

import asyncio
import io
import json
from dataclasses import replace
from typing import Any

import pytest
from PIL import Image
from pydantic import ValidationError

from bot.i18n.language import LANGUAGES
from tests.servers.base import answer_json, hang
from tests.servers.fixtures import fixture_of
from tests.servers.open_meteo import OpenMeteo, place
from tests.tools.conftest import Asked, Opened
from tools import BadArguments, Disabled, Http, NotFound, RateLimited, TimedOut, ToolContext, ToolError, Unavailable
from tools.chart import CHART_WORDS, Panel, line_chart
from tools.weather import ATTRIBUTION, Weather, WeatherOptions

KEY = "om-key-4711"

open_meteo = fixture_of(OpenMeteo)


@pytest.fixture
def opened(open_meteo: OpenMeteo, http: Http, context: ToolContext) -> Opened:
    def tool(language: str = "en", **options: Any) -> Asked:
        limit: Any = {"timeout_seconds": options.pop("timeout_seconds")} if "timeout_seconds" in options else {}
        urls: dict[str, Any] = {"base_url": open_meteo.url, "geocoding_base_url": open_meteo.url}
        return Asked(Weather(WeatherOptions(**(urls | options)), http, **limit), replace(context, language=language))

    return tool


async def test_the_weather_of_a_place_has_words_units_and_its_source(ask: Asked) -> None:
    """Now and the coming days, in the units that the answer names; what is null is left out."""
    data = await ask("Utopia", days=2)
    where = {"latitude": 52.52437, "longitude": 13.41053}
    assert data["place"] == {"name": "Utopia", "region": "North", "country": "Atlantis", **where}
    assert data["timezone"] == "Europe/Berlin (GMT+1)"
    assert data["current"] == {
        "local_time": "2026-11-21T15:45",
        "weather": "slight rain",
        "temperature": "8.13 °C",
        "feels_like": "-0.2 °C",
        "humidity": "87%",
        "precipitation": "0.1 mm",
        "wind": "14.8 km/h from W",
    }
    first, second = data["days"]
    assert first == {
        "date": "Saturday 2026-11-21",
        "weather": "moderate rain",
        "temperature_min": "2.2 °C",
        "temperature_max": "9.1 °C",
        "precipitation": "4.2 mm",
        "precipitation_probability": "78%",
        "wind_max": "31.3 km/h from W",
        "uv_index_max": "0.55",
        "sunrise": "07:41",
        "sunset": "16:02",
    }
    assert ("precipitation" in second, second["wind_max"]) == (False, "20 km/h")
    assert data["attribution"] == ATTRIBUTION
    assert data["other_places"] == [{"name": "Utopia", "region": "South", "country": "Atlantis"}]


async def test_units_come_from_the_argument_else_from_the_setting(opened: Opened) -> None:
    """And they are printed as the answer names them."""
    for setting, argument, temperature, wind in (
        ("metric", "imperial", "8.13 °F", "14.8 mp/h from W"),
        ("imperial", None, "8.13 °F", "14.8 mp/h from W"),
        ("imperial", "metric", "8.13 °C", "14.8 km/h from W"),
    ):
        current = (await opened(units=setting)("Utopia", units=argument))["current"]
        assert (current["temperature"], current["wind"]) == (temperature, wind)


async def test_the_place_that_is_clearly_meant_is_taken(opened: Opened, open_meteo: OpenMeteo) -> None:
    """The much larger one of a name, the qualified, doubled or only one; English first, else a village elsewhere."""
    open_meteo.places.append(place("Kohln", "Erewhon", "West", 3))
    for language, asked, region in (
        ("en", "utopia", "North"),
        ("en", "Springwell, Lilliput", "Hills"),
        ("en", "Doppel", "East"),
        ("en", "Hamlet", None),
        ("en", "kohln", "East"),
        ("en", "Utopia A", "North"),
        ("en", "Colmark", "West"),
        ("de", "Colmark", "West"),
        ("fr", "Donnemarque", "West"),
    ):
        found = (await opened(language)(asked))["place"]
        assert found.get("region") == region, asked
        assert region != "West" or found["country"].startswith("Elboni")


async def test_what_makes_no_sense_is_refused(ask: Asked, open_meteo: OpenMeteo) -> None:
    """Before anything is asked; a place that is not there is said, and one that may be several is asked back."""
    wrong: tuple[dict[str, Any], ...] = ({}, {"place": "Utopia", "days": 0}, {"place": "Utopia", "hours": "noon"})
    for arguments in wrong:
        with pytest.raises(ValidationError):
            await ask(**arguments)
    for day in ("2026-11-19", "2026-12-09", "9999-12-31", "0001-01-01"):
        with pytest.raises(BadArguments, match="15 days ahead"):
            await ask("Utopia", hours="morning", day=day)
    assert open_meteo.requests == []
    for asked in ("Nowhere", "X", "\u200b"):
        with pytest.raises(NotFound, match="No place is named"):
            await ask(asked)
    open_meteo.requests.clear()
    data = await ask("Springwell")
    assert data["ambiguous"] is True
    assert "'Springwell'" in data["message"]
    assert [row["region"] for row in data["candidates"]] == ["East", "West", "Hills"]
    assert [seen.path for seen in open_meteo.requests] == ["/v1/search"]


async def test_a_refusal_is_told_by_its_reason(ask: Asked, open_meteo: OpenMeteo) -> None:
    """By who must act; a refusal for the moment is asked again."""
    refusals: tuple[tuple[int, str, type[ToolError], str], ...] = (
        (429, "Daily API request limit exceeded. Please try again tomorrow.", RateLimited, "fewer requests"),
        (401, "API key required. Please add &apikey= to the URL.", Disabled, "TOOLS__WEATHER__API_KEY"),
        (400, "The supplied API key is invalid.", Disabled, "TOOLS__WEATHER__API_KEY"),
        (500, "Internal", Unavailable, "status 500"),
    )
    for status, reason, kind, words in refusals:
        open_meteo.faults[:] = [answer_json({"error": True, "reason": reason}, status, {"Retry-After": "60"})]
        with pytest.raises(kind, match=words):
            await ask("Utopia")
    open_meteo.faults[:] = [answer_json({"error": True}, 429, {"Retry-After": "0"})]
    assert (await ask("Utopia"))["place"]["name"] == "Utopia"


async def test_a_forecast_of_another_shape_is_a_failure(ask: Asked, open_meteo: OpenMeteo) -> None:
    """Half an answer is none; nulls, short lists, missing units and odd dates are left out of one."""
    for body in ([{}], {}, {"timezone": "UTC", "daily": [1]}):
        open_meteo.faults.append(answer_json(body))
        with pytest.raises(Unavailable, match="cannot be read"):
            await ask("1, 1")
    daily = {"time": ["2026-11-21", "soon"], "weather_code": ["x", 0], "temperature_2m_max": [1.5], "sunset": [None, 3]}
    open_meteo.faults.append(answer_json({"timezone": "UTC", "daily": daily, "current": {"time": None}}))
    data = await ask("1, 1")
    assert data["days"] == [{"date": "Saturday 2026-11-21", "weather": "unknown", "temperature_max": "1.5"}]
    assert data["current"] == {"local_time": "unknown", "weather": "unknown"}


async def test_the_deadline_covers_both_requests_and_the_queue(opened: Opened, open_meteo: OpenMeteo) -> None:
    """A question behind one that hangs, as the host takes one at a time, ends in its own time, too."""
    ask = opened(timeout_seconds=0.1)
    open_meteo.faults += [hang, hang]
    answers = await asyncio.gather(ask("Utopia"), ask("Utopia"), return_exceptions=True)
    assert [type(answer) for answer in answers] == [TimedOut, TimedOut]
    open_meteo.faults.clear()
    open_meteo.requests.clear()
    ask = opened()
    await asyncio.gather(*(ask("Utopia") for _ in range(5)))
    assert len(open_meteo.requests) == 10  # none was refused and asked again


async def test_the_customer_host_gets_the_key(opened: Opened) -> None:
    """With both requests, as a parameter: it knows no header."""
    async with OpenMeteo(key=KEY) as customer_host:
        urls = dict.fromkeys(("base_url", "geocoding_base_url"), customer_host.url)
        ask = opened(**urls, api_key=KEY)
        await ask("Utopia")
        assert {seen.query["apikey"] for seen in customer_host.requests} == {KEY}
        with pytest.raises(Disabled):
            await opened(**urls)("Utopia")


async def test_the_rain_of_this_afternoon_is_told_by_the_hour(ask: Asked, open_meteo: OpenMeteo) -> None:
    """Without what is over at the place (it is 15:45 there); a night reaches into the next day."""
    hours = (await ask("Utopia", hours="afternoon", days=1))["hours"]
    assert (hours["from"], hours["until"]) == ("Saturday 2026-11-21 15:00", "Saturday 2026-11-21 18:00")
    assert hours["columns"] == "hour, weather, temperature °C, chance of rain %, rain mm, wind km/h and from where"
    assert hours["hours"] == [
        "15 slight rain, 8.8, 65, 0.5, 12 W",
        "16 slight rain showers, 6.5, -, 0, 18.5 W",
        "17 partly cloudy, 6, 30, 0, 24 N",
    ]
    assert len(json.dumps(await ask("Utopia", hours="next_24"), ensure_ascii=False)) <= 1_700
    for part, day, first, last, count in (
        ("next_24", None, "15", "14", 24),
        ("all_day", None, "15", "23", 9),
        ("morning", "2026-11-22", "06", "11", 6),
        ("night", "2026-11-27", "22", "05", 8),
    ):
        rows = (await ask("Utopia", hours=part, day=day, days=2))["hours"]["hours"]
        assert (rows[0][:2], rows[-1][:2], len(rows)) == (first, last, count)


async def test_days_can_begin_later(ask: Asked) -> None:
    """A day, or several from it on, with or without hours; as far as the forecast reaches, and that is said."""
    wishes: tuple[tuple[dict[str, Any], int, str, bool], ...] = (
        ({"day": "2026-11-28"}, 1, "Saturday 2026-11-28", False),
        ({"day": "2026-11-28", "days": 2}, 2, "Sunday 2026-11-29", False),
        ({"days": 20}, 16, "Sunday 2026-12-06", True),
        ({"days": 16}, 16, "Sunday 2026-12-06", False),
        ({"day": "2026-12-05", "days": 4}, 2, "Sunday 2026-12-06", True),
    )
    for wish, count, last, is_short in wishes:
        data = await ask("Utopia", **wish)
        assert (len(data["days"]), data["days"][-1]["date"]) == (count, last)
        assert ("reaches 16 days" in data.get("note", "")) is is_short
    data = await ask("Utopia", day="2026-11-22", hours="next_24")
    assert data["hours"]["from"] == "Sunday 2026-11-22 00:00"


async def test_where_the_sun_does_not_set_or_rise_it_is_said(ask: Asked, open_meteo: OpenMeteo) -> None:
    """Midnight for both means neither. Reports: open-meteo/open-meteo#840, #844."""
    for rise, fall, sun in (
        ("2026-06-12T00:00", "2026-06-13T00:00", {"sun": "does not set"}),
        ("2026-06-12T00:00", "2026-06-12T00:00", {"sun": "does not rise"}),
        ("2026-06-12T02:10", "2026-06-13T00:20", {"sunrise": "02:10", "sunset": "00:20 of the next day"}),
    ):
        daily = {"time": ["2026-06-12"], "sunrise": [rise], "sunset": [fall]}
        open_meteo.faults.append(answer_json({"timezone": "UTC", "daily": daily}))
        (day,) = (await ask("69.6, 18.9", days=1))["days"]
        assert day == {"date": "Friday 2026-06-12", "weather": "unknown", **sun}


async def test_a_region_or_a_country_behind_a_comma_decides(ask: Asked, open_meteo: OpenMeteo) -> None:
    """By name, letters or code. Reports: glanceapp/glance#7, and the kind of home-assistant/core#93411."""
    american = {"country_code": "US", "admin2": "Sangamon"}
    states = [("Illinois", 116_565), ("Ohio", 59_357), *((f"State {n}", 9_000) for n in range(12)), ("Vermont", 3_979)]
    open_meteo.places = [place("Springfield", "United States", name, count, **american) for name, count in states]
    open_meteo.places += [
        place("London", "United Kingdom", "England", 8_961_989, country_code="GB"),
        place("London", "Canada", "Ontario", 422_324, country_code="CA"),
        place("Paris", "France", "Île-de-France", 2_138_551, country_code="FR"),
        place("Paris", "United States", "Texas", 24_782, country_code="US"),
        place("Chicago", "United States", "Illinois", 2_720_546, country_code="US"),
    ]
    for asked, region in (
        ("Springfield, Vermont", "Vermont"),
        ("Springfield, Illinois", "Illinois"),
        ("springfield, il", "Illinois"),
        ("Springfield, Ohio, USA", "Ohio"),
        ("London, UK", "England"),
        ("Paris, TX", "Texas"),
        ("Paris, ile-de-france", "Île-de-France"),
        ("Paris,FR", "Île-de-France"),
        ("Chicago, U.S.A.", "Illinois"),
    ):
        assert (await ask(asked))["place"]["region"] == region, asked
    with pytest.raises(NotFound, match="bare name"):
        await ask("Chicago, France")


async def test_coordinates_are_read_as_people_write_them(ask: Asked, open_meteo: OpenMeteo) -> None:
    """With spaces, commas and letters, in degrees and minutes as map programs copy them; no pair of postal codes."""
    for asked, here in (
        ("52.52 13.41", (52.52, 13.41)),
        ("(-33.9; 18.4)", (-33.9, 18.4)),
        ("52.52° N, 13.41° w", (52.52, -13.41)),
        ("52°31'12.0\"N 13°24'18.0\"E", (52.52, 13.405)),
        ("-0°30′ 151° 12′ 36″ w", (-0.5, -151.21)),
    ):
        assert (await ask(asked))["place"] == {"latitude": here[0], "longitude": here[1]}, asked
    assert {seen.path for seen in open_meteo.requests} == {"/v1/forecast"}
    for asked in ("101 17", "52.52 N 13.41 S", "10115 10117", "52°71'N 13°E"):
        with pytest.raises(NotFound):
            await ask(asked)


async def test_the_air_is_told_on_request(ask: Asked, open_meteo: OpenMeteo) -> None:
    """In a word, units and pollen, if asked for; the weather comes though the air is not known."""
    assert (await ask("Utopia", air_quality=True))["air_quality"] == {
        "air": "fair",
        "european_index": "35 EAQI",
        "us_index": "41 USAQI",
        "fine_particles_pm2_5": "8.3 μg/m³",
        "particles_pm10": "12.5 μg/m³",
        "ozone": "61 μg/m³",
        "nitrogen_dioxide": "9.9 μg/m³",
        "grass_pollen": "0.4 grains/m³",
    }
    forecast = {"timezone": "UTC"}
    for index, word in ((0, "good"), (20.5, "fair"), (101, "extremely poor"), (None, "unknown")):
        open_meteo.faults += [answer_json(forecast), answer_json(forecast | {"current": {"european_aqi": index}})]
        assert (await ask("1, 1", air_quality=True))["air_quality"]["air"] == word
    asked = len(open_meteo.requests)
    assert "air_quality" not in await ask("Utopia")
    assert len(open_meteo.requests) == asked + 2
    open_meteo.faults += [answer_json(forecast), answer_json({}, 429, {"Retry-After": "60"})]
    data = await ask("1, 1", air_quality=True)
    assert "fewer requests" in data["air_quality"]["failed"]
    assert data["timezone"] == "UTC"


async def test_a_chart_is_a_picture_in_the_language_of_the_person(opened: Opened, open_meteo: OpenMeteo) -> None:
    """The same for the same weather; the place as it was asked for; what the model reads stays English."""
    wishes: tuple[dict[str, Any], ...] = ({}, {"hours": "evening"}, {"days": 7, "units": "imperial"})
    for more in wishes:
        first, again = [await opened().result("Utopia", chart=True, **more) for _ in range(2)]
        (file,) = first.files
        assert (file.name, file.content_type, file.data[:4]) == ("weather.png", "image/png", b"\x89PNG")
        assert (again.files, "chart" in first.data) == (first.files, False)
    assert set(CHART_WORDS) == set(LANGUAGES)
    for language, name, title in (
        ("de", "Köln", "Köln: Sa., 21. Nov. - So., 22. Nov."),
        ("es", "Málaga", "Málaga: sáb, 21 nov - dom, 22 nov"),
        ("fr", "東京", "sam. 21 nov. - dim. 22 nov."),
        ("xx", "Łódź", "Łódź: Sat 21 Nov - Sun 22 Nov"),
    ):
        open_meteo.places.append(place(name, "Erewhon", "West", 3_000_000))
        result = await opened(language).result(name, chart=True, days=2)
        told, meant = (
            Image.open(io.BytesIO(png)).crop((0, 0, 900, 56)).tobytes()  # the head of the chart
            for png in (result.files[0].data, line_chart(title, {}, [Panel(name="A", values=[1])]))
        )
        assert told == meant
        assert (result.data["place"]["name"], result.data["current"]["weather"]) == (name, "slight rain")
