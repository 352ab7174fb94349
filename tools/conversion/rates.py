"""Exchange rates from Frankfurter, which needs no key.

All rates are fetched at once and kept in memory for an hour, so Frankfurter never learns what is converted.

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
