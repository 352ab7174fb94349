"""Rates between currencies, from Frankfurter, without a key.

All rates are asked for at once and kept in memory for an hour, so Frankfurter never learns who converts what.

Source: frankfurter.dev and the repository lineofflight/frankfurter (`lib/versions/v2.rb`), 2026-11-22: `/v2/rates`
gives one row per currency against the euro, blended from the reference rates of central banks, once a working day.
"""

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from decimal import Decimal
from typing import Annotated

from pydantic import BaseModel, BeforeValidator, Field

from tools.errors import NotFound, ToolError, Unavailable
from tools.http import Http

ATTRIBUTION = "Reference rates of central banks by Frankfurter (https://frankfurter.dev)"

_SERVICE = "Frankfurter"
_BASE = "EUR"
_KEPT_FOR = timedelta(hours=1)

# By way of its text: a float's own decimals are longer than what was written.
_Written = Annotated[Decimal, BeforeValidator(lambda given: str(given) if isinstance(given, float) else given)]


class _Row(BaseModel):
    """What one euro was worth in a currency on a day."""

    date: date
    base: str
    quote: str = Field(min_length=1, max_length=10)
    rate: _Written = Field(gt=0)


@dataclass(frozen=True, kw_only=True, slots=True)
class ExchangeRate:
    """What one unit of a currency is worth in another."""

    value: Decimal
    day: date
    """The day that it holds for; of two days the earlier."""


class ExchangeRates:
    """Knows what currencies are worth; one question under way at a time, the others wait for its answer."""

    def __init__(self, *, http: Http, base_url: str, timeout_seconds: float) -> None:
        self._http = http
        self._url = f"{base_url}/v2/rates"
        self._timeout_seconds = timeout_seconds
        self._kept: tuple[datetime, Mapping[str, _Row]] | None = None
        """All rates, and when they were asked for."""
        self._asking = asyncio.Lock()

    async def rate(self, source: str, target: str, now: datetime) -> ExchangeRate:
        """The newest rate between two codes of ISO 4217 in capital letters.

        While Frankfurter does not answer, the rates of before are given: their day says how old they are.

        Raises:
            NotFound: there is no rate for one of them; the message names it.
            RateLimited, TimedOut, TooLarge, Disabled, Unavailable: no rates at all.
        """
        async with self._asking:
            if self._kept is None or not self._kept[0] <= now < self._kept[0] + _KEPT_FOR:
                try:
                    self._kept = now, await self._fetch()
                except ToolError:
                    if self._kept is None:
                        raise
            rows = self._kept[1]
        for code in (source, target):
            if code not in rows:
                raise NotFound(
                    f"There is no rate for {code!r}: write the currency by its code of ISO 4217, such as EUR."
                )
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
