"""The tool `convert`: units of measurement, by pint, and currencies.

Units are parsed by a small grammar here, so that pint only sees single names:

    text = part { ( "/" | " per " | "*" ) part }        everything after the first "/" or "per" divides
    part = [ count ] [ "square" | "cubic" ] name [ "^" ] [ power ]

Names that mean different amounts to different people (ton, gallon, cup, horsepower, calories, mb) are not guessed: the
error lists the exact names. All rates are fetched at once and kept for an hour, so Frankfurter never learns what is
converted.

Source: pint 0.25.3, its units (SI, NIST, imperial) and behaviour; importing it takes 0.3 seconds and 3 MB, its table
half a second more, so both wait for the first conversion. frankfurter.dev and lineofflight/frankfurter
(`lib/versions/v2.rb`): `/v2/rates` has one row per currency against the euro, blended from central banks' rates once a
working day. 2026-11-22.
"""

import asyncio
import functools
import logging
import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from decimal import Context, Decimal, DecimalException, localcontext
from typing import Annotated, Any, cast

from pydantic import BaseModel, BeforeValidator, Field

from tools.base import Arguments, Intent, Result, ToolContext, ToolSpec
from tools.errors import BadArguments, NotFound, Unavailable
from tools.http import Http
from tools.text import clean_text

MAX_CHARS = 80
"""The most characters of a unit."""

_DIGITS = 40

_DIVIDING = re.compile(r"\s*/\s*|\s+per\s+", re.IGNORECASE)
_TIMES = re.compile(r"\s*[*·⋅×]\s*")
_PART = re.compile(
    r"(?:(?P<count>[1-9][0-9]{0,3})\s*)?"
    r"(?:(?P<shape>(?:square|cubic|cu)(?=[\s_])|sq(?!uare))[\s_.]*)?"
    r"(?P<name>°?\s?[^\W\d_²³](?:(?:[^\W\d²³]|[\s-])*[^\W\d_²³])?|%)"
    r"(?:\s*\^?\s*(?P<power>-?[1-9])|(?P<raised>[²³]))?",
    re.IGNORECASE,
)
_SHAPED = {"qm": "sq m", "cbm": "cubic m", "ccm": "cubic cm"}
_POWERS = {"square": 2, "sq": 2, "²": 2, "cubic": 3, "cu": 3, "³": 3}

# What people write but pint misreads or does not know: first as written, then in lower case.
_SYMBOLS = (
    {"PS": "metric_horsepower", "Cal": "kilocalorie", "Nm": "newton_meter", "NM": "nautical_mile", "Mt": "Mt"}
    | {"kB": "kB", "KB": "kilobyte", "MB": "MB", "GB": "GB", "TB": "TB"}
    | {"Mb": "megabit", "Gb": "gigabit", "Tb": "terabit", "mbps": "Mbps", "gbps": "Gbps", "kbps": "kbps"}
    | {"mbit": "megabit", "gbit": "gigabit", "kw": "kW", "khz": "kHz", "mhz": "MHz", "ghz": "GHz", "hpa": "hPa"}
    | {"mW": "mW", "MW": "MW", "MM": "mm", "MG": "mg"}
)
_SPOKEN = (
    {"%": "percent", "c": "degree_Celsius", "f": "degree_Fahrenheit", "°k": "kelvin"}
    | {"°c": "degree_Celsius", "degree_celsius": "degree_Celsius", "degrees_celsius": "degree_Celsius"}
    | {"°f": "degree_Fahrenheit", "degree_fahrenheit": "degree_Fahrenheit", "degrees_fahrenheit": "degree_Fahrenheit"}
    | {"centigrade": "degree_Celsius", "kmh": "kilometer_per_hour", "kph": "kilometer_per_hour"}
    | {"rev": "turn", "rps": "revolutions_per_second", "gram_calorie": "calorie"}
    | {"kwh": "kilowatt_hour", "food_calorie": "kilocalorie", "mechanical_horsepower": "horsepower"}
    | {f"us_{name}": name for name in ("gallon", "quart", "pint", "cup", "fluid_ounce", "barrel")}
    | {"us_tablespoon": "tablespoon", "us_teaspoon": "teaspoon", "us_hundredweight": "US_hundredweight"}
    | {f"uk_{name}": f"imperial_{name}" for name in ("gallon", "quart", "pint", "cup", "fluid_ounce")}
    | {"us_ton": "short_ton", "uk_ton": "long_ton", "uk_hundredweight": "UK_hundredweight"}
)
_DEFINITIONS = (
    *("metric_cup = 250 milliliter", "metric_tablespoon = 15 milliliter", "metric_teaspoon = 5 milliliter"),
    # Pint has these by the foot that American surveyors used until 2022.
    *("furlong = 220 * yard", "fathom = 6 * foot", "acre = 4840 * yard ** 2"),
    *("newton_meter = newton * meter", "bit_per_second = bit / second = bps", "byte_per_second = byte / second = Bps"),
)
_AMBIGUOUS = {
    "ton": "metric ton (1000 kg), short ton (US, 907 kg), long ton (UK, 1016 kg)",
    "gallon": "US gallon (3.785 l), imperial gallon (4.546 l)",
    "quart": "US quart (0.946 l), imperial quart (1.137 l)",
    "pint": "US pint (473 ml), imperial pint (568 ml)",
    "cup": "US cup (237 ml), metric cup (250 ml), imperial cup (284 ml)",
    "fluid_ounce": "US fluid ounce (29.57 ml), imperial fluid ounce (28.41 ml)",
    "tablespoon": "US tablespoon (14.79 ml), metric tablespoon (15 ml)",
    "teaspoon": "US teaspoon (4.93 ml), metric teaspoon (5 ml)",
    "barrel": "oil barrel (159 l), US barrel (119 l), beer barrel (117 l)",
    "hundredweight": "US hundredweight (45.4 kg), UK hundredweight (50.8 kg)",
    "horsepower": "metric horsepower (735.5 W), mechanical horsepower (745.7 W)",
    "calorie": "kilocalorie (what food labels mean), gram calorie (a thousandth of it)",
    "kb": "kilobyte (kB), kilobit (kbit)",
    "mb": "megabyte (MB), megabit (Mbit)",
    "gb": "gigabyte (GB), gigabit (Gbit)",
    "tb": "terabyte (TB), terabit (Tbit)",
    "ML": "milliliter (ml), megaliter (a million liters)",
    "mw": "megawatt (MW), milliwatt (a thousandth of a watt)",
    "mt": "metric ton (1000 kg), megaton (a million of them)",
    "degree": "degree Celsius, degree Fahrenheit, arcdegree",
    "mpg": "mile / US gallon, mile / imperial gallon",
}
_SHORT = (
    {"gal": "gallon", "qt": "quart", "pt": "pint", "floz": "fluid_ounce", "fl_oz": "fluid_ounce", "bbl": "barrel"}
    | {"cal": "calorie", "tbsp": "tablespoon", "tsp": "teaspoon", "hp": "horsepower", "cwt": "hundredweight"}
)  # fmt: skip
_TURNS = frozenset(
    {"radian", "turn", "degree", "arcminute", "arcsecond", "grade"}
    | {"revolutions_per_minute", "revolutions_per_second"}
)
_TURN = Decimal("6.2831853071795864769252867665590057684")
_SCALES = frozenset({"degree_Celsius", "degree_Fahrenheit", "degree_Reaumur"})
# pint's names of American measures, which are the bare words.
_EXACT_NAMES = {
    name: f"US {name}" for name in ("gallon", "quart", "pint", "cup", "tablespoon", "teaspoon", "barrel")
} | {"fluid_ounce": "US fluid ounce", "ton": "short ton", "UK_ton": "long ton", "horsepower": "mechanical horsepower"}
_CURRENCY = re.compile(r"[A-Z]{3}")
_MEASURED = Context(prec=10)
_MAX_AMOUNT = 1e30
_TIMEOUT_SECONDS = 8.0
_RATES_URL = "https://api.frankfurter.dev"
_PLAIN_EXPONENTS = range(-8, 16)
_MANY_DECIMALS = Decimal("0.000001")
_DECIMALS = Decimal("0.01")

ATTRIBUTION = "Reference rates of central banks by Frankfurter (https://frankfurter.dev)"
_SERVICE = "Frankfurter"
_BASE = "EUR"
_KEPT_FOR = timedelta(hours=1)


@dataclass(frozen=True, kw_only=True, slots=True)
class Unit:
    """A unit to convert from or to, named in full words, such as `kilometer/hour`, so that a misreading shows."""

    name: str
    count: Decimal
    """How many of `measure` make one unit."""
    measure: Any
    """Pint's own unit."""


class _Rate(BaseModel):
    date: date
    quote: str
    # Via its text, as the exact decimals of a float are longer than what was written.
    rate: Annotated[Decimal, BeforeValidator(str)] = Field(gt=0)


class ConvertArguments(Arguments):
    """The amount, its unit and the unit to convert it to."""

    amount: float = Field(ge=-_MAX_AMOUNT, le=_MAX_AMOUNT, allow_inf_nan=False, description="The amount.")
    unit: str = Field(min_length=1, max_length=MAX_CHARS, description="km/h, square feet, US gallon, °C, or EUR.")
    to: str = Field(min_length=1, max_length=MAX_CHARS, description="The target unit, written in the same way.")


class Convert:
    """Converts units and currencies."""

    def __init__(self, http: Http, *, rates_url: str = _RATES_URL) -> None:
        self._http = http
        self._rates_url = f"{rates_url}/v2/rates"
        self._kept: tuple[datetime, Mapping[str, _Rate]] | None = None
        self._asking, self._measuring = asyncio.Lock(), asyncio.Lock()

    spec = ToolSpec(
        name="convert",
        seldom="units and currencies, such as 5 miles to km",
        description=(
            "Converts an amount exactly: units of length, area, volume, weight, speed, temperature, pressure, energy,"
            " power, data, time and combinations of them (km/h, l/100km, N*m), and currencies at the central banks'"
            " latest reference rates. Say which ton, gallon, cup or horsepower you mean: for an ambiguous name it lists"
            " the choices. Currencies are three capital letters (EUR, USD); give the rate's date and source with the"
            " answer. No past rates, no cryptocurrencies, no cooking by ingredient (cups to grams)."
        ),
        arguments=ConvertArguments,
        label="computed",
        intent=lambda given: Intent(
            "convert", {"amount": Decimal(str(given.amount)), "unit": given.unit, "to": given.to}
        ),
    )

    async def run(self, arguments: ConvertArguments, context: ToolContext) -> Result:
        """Returns the amount before and after, each with the full name of its unit."""
        amount = Decimal(repr(arguments.amount))
        if _CURRENCY.fullmatch(arguments.unit) and _CURRENCY.fullmatch(arguments.to):
            return await self._convert_currency(amount, arguments, context)
        async with self._measuring:  # the first conversion builds pint's table, which takes half a second
            source, target = await asyncio.to_thread(lambda: (unit(arguments.unit), unit(arguments.to)))
        converted = _MEASURED.plus(convert_amount(amount, source, target))
        return Result(data={"from": f"{_plain(amount)} {source.name}", "to": f"{_plain(converted)} {target.name}"})

    async def _convert_currency(self, amount: Decimal, arguments: ConvertArguments, context: ToolContext) -> Result:
        async with self._asking:  # one request at a time: others wait for its answer
            rates = await self._rates(context.now)
        for code in (arguments.unit, arguments.to):
            if code not in rates:
                raise NotFound(f"There is no rate for {code!r}: give the currency's ISO 4217 code, such as EUR.")
        source, target = rates[arguments.unit], rates[arguments.to]
        rate = target.rate / source.rate
        try:
            rounded = (amount * rate).quantize(_DECIMALS if abs(amount * rate) >= 1 else _MANY_DECIMALS)
        except ArithmeticError as error:
            raise BadArguments("The amount is too large for a currency.") from error
        return Result(
            data={
                "from": f"{_plain(amount)} {arguments.unit}",
                "to": f"{_plain(rounded)} {arguments.to}",
                "rate": f"1 {arguments.unit} = {_plain(_MEASURED.plus(rate))} {arguments.to}",
                "rate_date": min(source.date, target.date).isoformat(),
                "note": "A reference rate: banks and cards charge more.",
                "attribution": ATTRIBUTION,
            }
        )

    async def _rates(self, now: datetime) -> Mapping[str, _Rate]:
        """Returns the newest rates, which are kept for an hour."""
        if self._kept is not None and self._kept[0] <= now < self._kept[0] + _KEPT_FOR:
            return self._kept[1]
        answer = await self._http.get_json(
            self._rates_url, service=_SERVICE, params={"base": _BASE}, timeout_seconds=_TIMEOUT_SECONDS
        )
        if not answer.ok:
            raise answer.refusal(_SERVICE)
        rows = answer.parse(tuple[_Rate, ...], _SERVICE)
        if not rows:
            raise Unavailable(f"{_SERVICE} answers without rates.")
        newest = max(row.date for row in rows)
        rates = {_BASE: _Rate(date=newest, quote=_BASE, rate=Decimal(1))} | {row.quote: row for row in rows}
        self._kept = now, rates
        return rates


def _plain(number: Decimal) -> str:
    """Returns the number without trailing zeros, with an exponent only if it is very large or very small."""
    exact = number.normalize() if number else Decimal(0)
    return f"{exact:f}" if exact.adjusted() in _PLAIN_EXPONENTS else f"{exact:E}"


def unit(text: str) -> Unit:
    """Parses the name of a unit; the message of `BadArguments` lists the meanings of an ambiguous one."""
    first, *divisors = _DIVIDING.split(text.replace("º", "°").strip())
    above = _TIMES.split(first) if first != "1" or not divisors else []
    parts = [(part, 1) for part in above]
    parts += [(part, -1) for divisor in divisors for part in _TIMES.split(divisor)]
    count, measure = Decimal(1), _table().Unit("")
    for part, sign in parts:
        factor, part_measure = _read_part(part, text, is_alone=len(parts) == 1)
        count *= factor**sign
        measure *= part_measure**sign
    words = re.sub(r"\w+", lambda word: _EXACT_NAMES.get(word[0], word[0].replace("_", " ")), f"{measure:P}")
    name = words.replace("1 1/", "1/") if count == 1 else clean_text(text)
    return Unit(name=name, count=count, measure=measure)


def _read_part(part: str, text: str, *, is_alone: bool) -> tuple[Decimal, Any]:
    found = _PART.fullmatch(_SHAPED.get(part.lower(), part))
    name = _pint_name(found["name"]) if found else ""
    try:
        if found is None or not name:
            raise _pint().UndefinedUnitError(part)
        power = int(found["power"] or 1) * _POWERS.get((found["shape"] or found["raised"] or "").lower(), 1)
        if name in _SCALES and (power != 1 or found["count"] or not is_alone):
            raise BadArguments("Within another unit, write temperature differences as delta_degC or delta_degF.")
        return Decimal(found["count"] or 1), _table().Unit(name) ** power
    except _pint().PintError as error:  # also for a prefix before a unit that takes none
        raise BadArguments(
            f"No unit is named {clean_text(text)!r}. Write it in words or by its symbol, such as km/h, square meter or"
            " US gallon; a currency by its three capital letters, and convert it only into another currency."
        ) from error


def _pint_name(name: str) -> str:
    """Returns pint's name for a unit as people call it; empty if it knows none."""
    written = re.sub(r"[\s-]+", "_", name.strip())
    key = written.lower()
    singular = key.removesuffix("s")
    choices = _AMBIGUOUS.get(written) or _AMBIGUOUS.get(_SHORT.get(key, key)) or _AMBIGUOUS.get(singular)
    if choices and written not in _SYMBOLS:
        raise BadArguments(f"{clean_text(name)!r} has several meanings; name one: {choices}.")
    for tried in (_SYMBOLS.get(written), _SPOKEN.get(key), _SPOKEN.get(singular), written, _SYMBOLS.get(key), key):
        if tried and (reading := _reading(tried)) != ("", ""):
            return "".join(reading)
    return ""


def _reading(name: str) -> tuple[str, str]:
    """Returns pint's prefix and unit for a name written exactly like this; both empty if there is none."""
    readings: tuple[tuple[str, str, str], ...] = _table().parse_unit_name(name)
    return readings[0][:2] if readings else ("", "")


def convert_amount(amount: Decimal, source: Unit, target: Unit) -> Decimal:
    """Converts an amount; distance per volume and volume per distance (fuel) convert into each other, too."""
    lengths = dict(source.measure.dimensionality), dict(target.measure.dimensionality)
    try:
        with localcontext(Context(prec=_DIGITS)):
            quantity = _table().Quantity(amount * source.count, source.measure)
            if source.measure.is_compatible_with("kelvin") and quantity.to("kelvin").magnitude < 0:
                raise BadArguments("That is below absolute zero; write temperature differences as delta_degC.")
            if lengths in (({"[length]": -2}, {"[length]": 2}), ({"[length]": 2}, {"[length]": -2})):  # fuel
                if amount <= 0:
                    raise BadArguments("Fuel consumption must be above zero.")
                quantity = 1 / quantity
            if lengths[0] == lengths[1] == {"[time]": -1}:
                # To pint a turn is no unit but 2 pi, so that a frequency would be 6.28 times too large.
                quantity *= _TURN ** (_turns(target.measure) - _turns(source.measure))
            return cast("Decimal", quantity.to(target.measure).magnitude) / target.count
    # TypeError: logarithmic units know no Decimal.
    except (_pint().PintError, DecimalException, TypeError) as error:
        words = f"{source.name} and {target.name} measure different things: one cannot be converted into the other."
        hint = f" For a volume, name the fluid ounce: {_AMBIGUOUS['fluid_ounce']}."
        raise BadArguments(words + (hint if "ounce" in {source.name, target.name} else "")) from error


def _turns(measure: Any) -> int:
    return sum(int(power) for name, power in measure._units.items() if _reading(name)[1] in _TURNS)  # noqa: SLF001


@functools.cache
def _pint() -> Any:
    """Imports pint with the first conversion, which saves a third of a second at the start."""
    import pint  # noqa: PLC0415 - see above

    return pint


@functools.cache
def _table() -> Any:
    table = _pint().UnitRegistry(non_int_type=Decimal)
    logging.getLogger("pint.util").setLevel(logging.ERROR)  # it warns that bps is no longer a baud
    for definition in _DEFINITIONS:
        table.define(definition)
    return table
