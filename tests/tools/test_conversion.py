"""Units and currencies: exact where it can be, told where it cannot."""

import asyncio
import re
from dataclasses import replace
from datetime import timedelta
from decimal import Decimal
from typing import Any

import pytest

from tests.servers.base import answer_json
from tests.servers.fixtures import fixture_of
from tests.servers.frankfurter import Frankfurter
from tests.tools.conftest import Asked
from tools import BadArguments, Disabled, Http, NotFound, RateLimited, ToolContext, ToolError, Unavailable
from tools.conversion import ATTRIBUTION, Convert, convert_amount, unit

frankfurter = fixture_of(Frankfurter)


@pytest.fixture
def ask(frankfurter: Frankfurter, http: Http, context: ToolContext) -> Asked:
    return Asked(Convert(http, rates_url=frankfurter.url), context)


async def test_amounts_are_carried_over_exactly_and_units_named_in_full(ask: Asked, frankfurter: Frankfurter) -> None:
    """Ten digits, decimal throughout; how a unit was read shows in its name, and no service is asked."""
    for amount, source, target, before, after in (
        (60, "miles per hour", "m/s", "60 mile/hour", "26.8224 meter/second"),
        (100, "°C", "F", "100 degree Celsius", "212 degree Fahrenheit"),
        (100, "square feet", "m²", "100 foot²", "9.290304 meter²"),
        (1, "imperial gallon", "US gallon", "1 imperial gallon", "1.200949926 US gallon"),
        (6, "l/100km", "mile / US gallon", "6 l/100km", "39.20243056 mile/US gallon"),
        (40, "mile per imperial gallon", "l / 100 km", "40 mile/imperial gallon", "7.062023408 l / 100 km"),
        (100, "Mb/s", "MB/s", "100 megabit/second", "12.5 megabyte/second"),
        (250, "Cal", "kJ", "250 kilocalorie", "1046 kilojoule"),
        (50, "1/s", "Hz", "50 1/second", "50 hertz"),
        (-0.0, "KG", "lb", "0 kilogram", "0 pound"),
        # A turn is counted. Reports: hgrecco/pint#531, #1540; r-quantities/units#318.
        (3000, "rpm", "Hz", "3000 revolutions per minute", "50 hertz"),
        (100, "revolutions per minute", "rad/s", "100 turn/minute", "10.47197551 radian/second"),
        (1, "turn", "arcdegree", "1 turn", "360 degree"),
        # Small letters of rates and frequencies. Reports: kind of nikolaeu/numi#129, sharkdp/insect#263.
        (100, "mbps", "MB/s", "100 megabit per second", "12.5 megabyte/second"),
        (5, "mW", "W", "5 milliwatt", "0.005 watt"),
        (3, "Nm", "J", "3 newton meter", "3 joule"),
        (3, "NM", "km", "3 nautical mile", "5.556 kilometer"),
        (3, "nm", "m", "3 nanometer", "3E-9 meter"),
        (100, "sqm", "sqft", "100 meter²", "1076.391042 foot²"),
    ):
        assert await ask(amount, source, target) == {"from": before, "to": after}, source
    assert frankfurter.requests == []


async def test_an_ambiguous_name_is_answered_with_exact_ones(ask: Asked) -> None:
    """The model asks the person, or knows from where they are; a guess would be wrong for half of them."""
    for name, choice in (
        ("Gallons", "imperial gallon"),
        ("mpg", "mile / US gallon"),
        ("degrees", "degree Celsius"),
        ("mb", "megabyte (MB), megabit"),
        ("ML", "milliliter (ml), megaliter"),
        ("mw", "megawatt (MW), milliwatt"),
    ):
        with pytest.raises(BadArguments, match="several meanings") as caught:
            await ask(1, "kg", name)
        assert choice in str(caught.value), name


def test_every_exact_name_that_is_offered_is_understood() -> None:
    """Whoever picks one of the choices is not asked again, and they are as large as the message says."""
    sizes = {"kg": "kg", "l": "l", "ml": "ml", "W": "W"}
    for name in ("ton", "gallon", "quart", "pint", "cup", "fl oz", "tbsp", "tsp", "barrel", "cwt", "hp"):
        with pytest.raises(BadArguments) as caught:
            unit(name)
        for choice, told in re.findall(r"([A-Za-z ]+?) \((?:U[SK], )?([\d.]+ \w+)\)", str(caught.value).split(": ")[1]):
            size, measure = told.split()
            exact = convert_amount(Decimal(1), unit(choice.strip()), unit(sizes[measure]))
            assert float(exact) == pytest.approx(float(size), rel=0.005), choice


async def test_what_makes_no_sense_is_told_in_words(ask: Asked) -> None:
    """Unknown names, different things, and whatever looks like code: pint's own expressions are never evaluated."""
    for amount, source, target, words in (
        (1, "mile", "kg", "mile and kilogram measure different things"),
        (1, "oz", "ml", "name the fluid ounce: US fluid ounce"),
        (1, "smoot", "m", "No unit is named 'smoot'"),
        (1, "m", "EUR", "three capital letters"),
        (1, "dBm", "W", "cannot be converted"),
        (1, "m.__class__", "m", "No unit"),
        (1, "m^99", "m", "No unit"),
        (1, "m)(", "m", "No unit"),
        (-300, "°C", "degC", "absolute zero"),
        (0, "l/100km", "mile / US gallon", "above zero"),
    ):
        with pytest.raises(BadArguments, match=re.escape(words)):
            await ask(amount, source, target)


async def test_currencies_have_rate_day_and_source(ask: Asked) -> None:
    """Against the euro and across it, rounded to cents; of two days the earlier is named; CUP is money of Cuba."""
    assert await ask(20, "EUR", "USD") == {
        "from": "20 EUR",
        "to": "22.83 USD",
        "rate": "1 EUR = 1.1416 USD",
        "rate_date": "2026-11-20",
        "note": "A reference rate: banks and cards charge more.",
        "attribution": ATTRIBUTION,
    }
    across = await ask(0.1, "GBP", "JPY")
    assert (across["to"], across["rate"]) == ("20.49 JPY", "1 GBP = 204.9418605 JPY")
    assert across["rate_date"] == "2026-11-19"
    assert (await ask(1, "EUR", "CUP"))["to"] == "25 CUP"


async def test_rates_are_asked_for_once_an_hour_and_all_at_once(ask: Asked, frankfurter: Frankfurter) -> None:
    """So Frankfurter learns neither sums nor currencies."""
    broken = answer_json({"status": 500, "message": "x"}, status=500)
    frankfurter.faults.append(broken)
    with pytest.raises(Unavailable, match="Frankfurter fails"):
        await ask(1, "EUR", "USD")
    frankfurter.requests.clear()
    await asyncio.gather(ask(1, "EUR", "USD"), ask(2, "GBP", "CHF"))
    assert [(seen.path, seen.query) for seen in frankfurter.requests] == [("/v2/rates", {"base": "EUR"})]
    frankfurter.rates["USD"] = 2
    ask.context = replace(ask.context, now=ask.context.now + timedelta(minutes=59))
    assert (await ask(1, "EUR", "USD"))["to"] == "1.14 USD"
    ask.context = replace(ask.context, now=ask.context.now + timedelta(minutes=1))
    assert (await ask(1, "EUR", "USD"))["to"] == "2 USD"


async def test_an_answer_without_rates_is_a_failure(ask: Asked, frankfurter: Frankfurter) -> None:
    """Never a wrong sum; of two currencies it is said which has no rate."""
    row = {"date": "2026-11-20", "base": "EUR", "quote": "USD", "rate": 1}
    answers: tuple[tuple[int, Any, type[ToolError]], ...] = (
        (429, {}, RateLimited),
        (403, {}, Disabled),
        (200, {"base": "EUR", "rates": {"USD": 1}}, Unavailable),
        (200, [], Unavailable),
        (200, [row | {"rate": 0}], Unavailable),
        (200, [row | {"date": "soon"}], Unavailable),
    )
    for status, body, kind in answers:
        frankfurter.faults[:] = [answer_json(body, status, {"Retry-After": "60"})]
        with pytest.raises(kind):
            await ask(1, "EUR", "USD")
    frankfurter.faults.clear()
    for source, target, unknown in (("XXX", "EUR", "XXX"), ("EUR", "BTC", "BTC")):
        with pytest.raises(NotFound, match=unknown):
            await ask(1, source, target)
