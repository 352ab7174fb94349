"""The tool `convert`, for units of measurement (`tools.conversion.units`) and currencies.

All rates are fetched at once and kept in memory for an hour, so Frankfurter, which needs no key, never learns what is
converted.

Source: frankfurter.dev and the repository lineofflight/frankfurter (`lib/versions/v2.rb`), 2026-11-22: `/v2/rates`
gives one row per currency against the euro, blended from the reference rates of central banks, once a working day.
"""

import asyncio
import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from decimal import Context, Decimal
from typing import Annotated

from pydantic import BaseModel, BeforeValidator, Field

from tools.base import Arguments, Intent, Result, ToolContext, ToolSpec
from tools.conversion.units import MAX_CHARS, Unit, convert_amount, unit
from tools.errors import BadArguments, NotFound, ToolError, Unavailable
from tools.http import Http

_CURRENCY = re.compile(r"[A-Z]{3}")
_MEASURED = Context(prec=10)
_MAX_AMOUNT = 1e30
_TIMEOUT_SECONDS = 8.0
_RATES_URL = "https://api.frankfurter.dev"
_PLAIN_EXPONENTS = range(-8, 16)
_MANY_DECIMALS = Decimal("0.000001")
_DECIMALS = Decimal("0.01")


class ConvertArguments(Arguments):
    """The amount, its unit and the unit to convert it to."""

    amount: float = Field(ge=-_MAX_AMOUNT, le=_MAX_AMOUNT, allow_inf_nan=False, description="The amount.")
    unit: str = Field(
        min_length=1,
        max_length=MAX_CHARS,
        description="Its unit: km/h, square feet, US gallon, °C, ... or a currency code: EUR.",
    )
    to: str = Field(min_length=1, max_length=MAX_CHARS, description="The target unit, written in the same way.")


class Convert:
    """Converts units and currencies."""

    def __init__(self, http: Http, *, rates_url: str = _RATES_URL, timeout_seconds: float = _TIMEOUT_SECONDS) -> None:
        self._rates = ExchangeRates(http=http, base_url=rates_url, timeout_seconds=timeout_seconds)
        self._measuring = asyncio.Lock()

    spec = ToolSpec(
        name="convert",
        seldom="units of all kinds and currencies, such as 5 miles to km or 20 EUR to USD",
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
        """Returns the amount before and after, each with the full name of its unit.

        Raises:
            BadArguments: a unit is unknown or ambiguous, or the two measure different things.
            NotFound: there is no rate for a currency.
            RateLimited, TimedOut, TooLarge, Disabled, Unavailable: there are no rates.
        """
        amount = Decimal(repr(arguments.amount))
        if _CURRENCY.fullmatch(arguments.unit) and _CURRENCY.fullmatch(arguments.to):
            return await self._convert_currency(amount, arguments, context)
        async with self._measuring:  # the first conversion builds pint's table, which takes half a second
            source, target, carried_amount = await asyncio.to_thread(_convert_units, amount, arguments)
        return Result(
            data={"from": _spell_amount(amount, source.name), "to": _spell_amount(carried_amount, target.name)}
        )

    async def _convert_currency(self, amount: Decimal, arguments: ConvertArguments, context: ToolContext) -> Result:
        rate = await self._rates.rate(arguments.unit, arguments.to, context.now)
        exchanged = amount * rate.value
        try:
            rounded = exchanged.quantize(_DECIMALS if abs(exchanged) >= 1 else _MANY_DECIMALS)
        except ArithmeticError as error:
            raise BadArguments("The amount is too large for a currency.") from error
        return Result(
            data={
                "from": _spell_amount(amount, arguments.unit),
                "to": _spell_amount(rounded, arguments.to),
                "rate": f"1 {arguments.unit} = {_plain(_MEASURED.plus(rate.value))} {arguments.to}",
                "rate_date": rate.day.isoformat(),
                "note": "A reference rate: banks and cards charge more.",
                "attribution": ATTRIBUTION,
            }
        )


def _convert_units(amount: Decimal, arguments: ConvertArguments) -> tuple[Unit, Unit, Decimal]:
    source, target = unit(arguments.unit), unit(arguments.to)
    return source, target, _MEASURED.plus(convert_amount(amount, source, target))


def _spell_amount(amount: Decimal, name: str) -> str:
    return f"{_plain(amount)} {name}"


def _plain(number: Decimal) -> str:
    """Returns the number without trailing zeros, with an exponent only if it is very large or very small."""
    if not number:
        return "0"
    exact = number.normalize()
    return f"{exact:f}" if exact.adjusted() in _PLAIN_EXPONENTS else f"{exact:E}"


ATTRIBUTION = "Reference rates of central banks by Frankfurter (https://frankfurter.dev)"

_SERVICE = "Frankfurter"
_BASE = "EUR"
_KEPT_FOR = timedelta(hours=1)
_PAUSE = timedelta(minutes=1)  # after a failure

# Via its text, as the exact decimals of a float are longer than what was written.
_Written = Annotated[Decimal, BeforeValidator(lambda given: str(given) if isinstance(given, float) else given)]


class _Row(BaseModel):
    """The value of one euro in a currency on a day."""

    date: date
    base: str
    quote: str = Field(min_length=1, max_length=10)
    rate: _Written = Field(gt=0)


@dataclass(frozen=True, kw_only=True, slots=True)
class ExchangeRate:
    """The value of one unit of a currency in another."""

    value: Decimal
    day: date
    """The day it is valid for; the earlier of the two currencies' days."""


class ExchangeRates:
    """Provides exchange rates. Only one request is made at a time; other callers wait for its answer."""

    def __init__(self, *, http: Http, base_url: str, timeout_seconds: float) -> None:
        self._http = http
        self._url = f"{base_url}/v2/rates"
        self._timeout_seconds = timeout_seconds
        self._kept: tuple[datetime, Mapping[str, _Row]] | None = None
        """All rates, and when they were fetched."""
        self._asking = asyncio.Lock()

    async def rate(self, source: str, target: str, now: datetime) -> ExchangeRate:
        """Returns the newest rate between two ISO 4217 codes in capital letters.

        While Frankfurter does not answer, returns earlier rates; their day tells how old they are. It is asked again
        after a minute.

        Raises:
            NotFound: there is no rate for one of the codes; the message names it.
            RateLimited, TimedOut, TooLarge, Disabled, Unavailable: there are no rates at all.
        """
        async with self._asking:
            if self._kept is None or not self._kept[0] <= now < self._kept[0] + _KEPT_FOR:
                try:
                    self._kept = now, await self._fetch()
                except ToolError:
                    if self._kept is None:
                        raise
                    # Nobody else waits for a service that is down.
                    self._kept = now - _KEPT_FOR + _PAUSE, self._kept[1]
            rows = self._kept[1]
        for code in (source, target):
            if code not in rows:
                raise NotFound(f"There is no rate for {code!r}: give the currency's ISO 4217 code, such as EUR.")
        first, second = rows[source], rows[target]
        return ExchangeRate(value=second.rate / first.rate, day=min(first.date, second.date))

    async def _fetch(self) -> Mapping[str, _Row]:
        answer = await self._http.get_json(
            self._url, service=_SERVICE, params={"base": _BASE}, timeout_seconds=self._timeout_seconds
        )
        if not answer.ok:
            raise answer.refusal(_SERVICE)
        rows = answer.parse(tuple[_Row, ...], _SERVICE)
        if not rows or any(row.base != _BASE for row in rows):
            raise Unavailable(f"{_SERVICE} answers without rates against {_BASE}.")
        newest = max(row.date for row in rows)
        return {_BASE: _Row(date=newest, base=_BASE, quote=_BASE, rate=Decimal(1))} | {row.quote: row for row in rows}
