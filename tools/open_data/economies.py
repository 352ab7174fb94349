"""Figures of economies: by month or day where Europe's offices have them, by year everywhere else."""

import re
from collections.abc import Mapping
from datetime import datetime
from decimal import Decimal
from typing import Annotated, Any

from pydantic import AliasPath, BaseModel, Field, RootModel

from tools.errors import BadArguments, NotFound
from tools.open_data.sources import KEPT_FOR, MAX_ROWS, DataSource, Figure, digits, line
from tools.text import fold_name

_INFLATION = "FP.CPI.TOTL.ZG"
_UNEMPLOYMENT = "SL.UEM.TOTL.ZS"
_INDICATORS = (
    {"gdp per capita": "NY.GDP.PCAP.CD", "gdp growth": "NY.GDP.MKTP.KD.ZG", "gdp": "NY.GDP.MKTP.CD"}
    | {"growth": "NY.GDP.MKTP.KD.ZG", "inflation": _INFLATION, "cpi": _INFLATION, "unemployment": _UNEMPLOYMENT}
    | {"population": "SP.POP.TOTL", "life expectancy": "SP.DYN.LE00.IN", "fertility": "SP.DYN.TFRT.IN"}
    | {"exports": "NE.EXP.GNFS.CD", "imports": "NE.IMP.GNFS.CD", "government debt": "GC.DOD.TOTL.GD.ZS"}
    | {"current account": "BN.CAB.XOKA.GD.ZS", "inequality": "SI.POV.GINI", "military": "MS.MIL.XPND.GD.ZS"}
)
"""The World Bank's codes by the words that people use; the first that a question contains is meant."""
_MONTHLY = {
    _INFLATION: ("prc_hicp_minr?unit=RCH_A&coicop18=TOTAL", "% on the same month of the year before"),
    _UNEMPLOYMENT: ("une_rt_m?unit=PC_ACT&s_adj=SA&age=TOTAL&sex=T", "% of the labour force, seasonally adjusted"),
}
"""Eurostat's data sets and their units, by the World Bank's codes."""
_EURO = "AT BE BG CY DE EE ES FI FR GR HR IE IT LT LU LV MT NL PT SI SK XC"
_EUROPE = f"{_EURO} CH CZ DK EU HU IS NO PL RO SE"
"""The World Bank's codes of countries, the euro area and the union."""
_GEO = {"GR": "EL", "XC": "EA21", "EU": "EU27_2020"}
"""Eurostat's codes where they are others."""
_KEY_RATE = re.compile(r"\b(?:key|policy|interest|deposit(?: facility)?) rates?\b")
_CODE = re.compile(r"\b[A-Z]{2}(?:\.[A-Z0-9]{2,5}){1,5}\b")
_UNIT = re.compile(r"\(([^()]+)\)(?: \((?:modeled|national)[^()]*\))?$")
_ALIASES = (
    {"usa": "united states", "america": "united states", "uk": "united kingdom", "britain": "united kingdom"}
    | {"england": "united kingdom", "eurozone": "euro area", "eu": "european union", "fed": "united states"}
    | {"south korea": "korea, rep.", "russia": "russian federation", "turkey": "turkiye", "vietnam": "viet nam"}
    | {"czech republic": "czechia", "slovakia": "slovak republic", "egypt": "egypt, arab rep."}
    | {"iran": "iran, islamic rep.", "venezuela": "venezuela, rb", "hong kong": "hong kong sar, china"}
)
"""What people call countries that the World Bank calls otherwise."""


class _Country(BaseModel):
    id: str
    iso2: str = Field(validation_alias="iso2Code")
    name: str


class _Year(BaseModel):
    indicator: str = Field(validation_alias=AliasPath("indicator", "value"))
    country: str = Field(validation_alias=AliasPath("country", "value"))
    date: str
    value: Decimal | None = None


class _Countries(RootModel[tuple[dict[str, Any], tuple[_Country, ...]]]):
    """The World Bank's form of a list: what is said of it, and its rows."""


class _Years(RootModel[tuple[dict[str, Any], tuple[_Year, ...] | None] | tuple[dict[str, Any]]]):
    """The same for the years of an indicator; of an unknown one there are no rows, but a message."""


class _Months(BaseModel):
    """The JSON-stat of one row of a data set; a month without a value is missing."""

    label: str
    value: dict[int, Decimal | None]
    months: dict[str, int] = Field(validation_alias=AliasPath("dimension", "time", "category", "index"))


class _Rates(BaseModel):
    """The SDMX-JSON of one series."""

    observations: dict[int, Annotated[tuple[Decimal | None, ...], Field(min_length=1)]] = Field(
        validation_alias=AliasPath("dataSets", 0, "series", "0:0:0:0:0:0:0", "observations")
    )
    days: tuple[dict[str, str], ...] = Field(
        validation_alias=AliasPath("structure", "dimensions", "observation", 0, "values")
    )


class Economies(DataSource):
    """Figures of countries: monthly inflation and unemployment in Europe, the ECB's key rate, and yearly ones anywhere.

    Source: datahelpdesk.worldbank.org, "Indicators API", "API error codes": failures have status 200, units stand
    behind names; CC BY 4.0. ec.europa.eu/eurostat, data.ecb.europa.eu, "API", "Copyright": free with the source named.
    None wants a key or names a limit. Eurostat's `prc_hicp_manr` and the ECB's `ICP` end in 2025-12 without a word of
    it in their answers; `prc_hicp_minr` has the dimension `coicop18`. The euro has 21 countries (all 2026-11-30).
    """

    name = "The World Bank"
    attribution = "World Bank Open Data, CC BY 4.0 (https://data.worldbank.org)"
    _kept: tuple[datetime, Mapping[str, _Country]] | None = None

    async def read(self, words: str, narrowed: str, now: datetime) -> Figure:
        """Returns a figure of a country, both in the words, such as inflation Germany, or the country in `narrowed`."""
        asked = f"{words} {narrowed}"
        code = self._indicator(asked)
        country = await self._country(asked.replace(code, ""), now)
        if not code:
            return await self._key_rate(country)
        if country is None:
            raise BadArguments("Name the country in English as well, such as: inflation Germany. World is one, too.")
        return await self._monthly(code, country) or await self._yearly(code, country)

    def _indicator(self, asked: str) -> str:
        """Returns the code of the figure that is asked for; empty for the key rate."""
        if code := _CODE.search(asked):
            return code[0]
        folded = fold_name(asked)
        for name, known in _INDICATORS.items():
            if re.search(rf"\b{name}\b", folded):
                return known
        if _KEY_RATE.search(folded):
            return ""
        raise BadArguments(f"Name one of key rate, {', '.join(_INDICATORS)}, or a code such as NY.GDP.MKTP.CD.")

    async def _country(self, asked: str, now: datetime) -> _Country | None:
        """Returns the country with the longest name in the words; None if they name none."""
        if self._kept is None or self._kept[0] <= now - KEPT_FOR:
            url = f"{self._options.addresses['world_bank']}/v2/country"
            listed = (await self._ask(_Countries, url, format="json", per_page="400")).root[1]
            by_name = {fold_name(country.name): country for country in listed}
            by_name |= {alias: by_name[name] for alias, name in _ALIASES.items() if name in by_name}
            # In capitals, as "per" and "and" are codes of Peru and Andorra.
            self._kept = (now, by_name | {code: one for one in listed for code in (one.id, one.iso2)})
        known = self._kept[1]
        words = f"{fold_name(asked)} {asked}"
        named = [name for name in known if name in words and re.search(rf"(?<!\w){re.escape(name)}(?!\w)", words)]
        return known[max(named, key=len)] if named else None

    async def _yearly(self, code: str, country: _Country) -> Figure:
        url = f"{self._options.addresses['world_bank']}/v2/country/{country.id}/indicator/{code}"
        _, *given = (await self._ask(_Years, url, format="json", per_page="200")).root
        rows = (given[0] if given else None) or ()
        known = sorted(((row.date, row.value, row) for row in rows if row.value is not None), reverse=True)
        if not known:
            raise NotFound(f"{self.name} has no values of {code} for {country.name}.")
        year, value, latest = known[0]
        unit = _UNIT.search(latest.indicator)
        by_year = {line(date): digits(number) for date, number, _ in known[:MAX_ROWS]}
        details = {"by_year": by_year, "indicator": code}
        name = line(f"{latest.country}: {latest.indicator}")
        return Figure(name, digits(value), line(unit[1]) if unit else "number", line(year), details)

    async def _monthly(self, code: str, country: _Country) -> Figure | None:
        """Returns the figure of the latest month; None if Eurostat has none."""
        if code not in _MONTHLY or country.iso2 not in _EUROPE.split():
            return None
        query, unit = _MONTHLY[code]
        name, _, chosen = query.partition("?")
        url = f"{self._options.addresses['eurostat']}/eurostat/api/dissemination/statistics/1.0/data/{name}"
        params = dict(pair.split("=") for pair in chosen.split("&")) | {"geo": _GEO.get(country.iso2, country.iso2)}
        params |= {"format": "JSON", "lastTimePeriod": "13"}
        try:
            found = await self._ask(_Months, url, service="Eurostat", missing="It has no such place.", **params)
        except NotFound:
            return None
        values = ((month, found.value.get(at)) for month, at in found.months.items())
        by_month = {line(month): digits(value) for month, value in sorted(values, reverse=True) if value is not None}
        if not by_month:
            return None
        month, value = next(iter(by_month.items()))
        origin = {"source": "Eurostat", "attribution": f"Source: Eurostat, {name} (https://ec.europa.eu/eurostat)"}
        details = {"by_month": dict([*by_month.items()][:MAX_ROWS]), **origin}
        return Figure(f"{country.name}: {line(found.label)}", value, unit, month, details)

    async def _key_rate(self, country: _Country | None) -> Figure:
        """Returns the ECB's; raises `NotFound` for another country's."""
        if country is not None and country.iso2 not in _EURO.split():
            raise NotFound(f"Of key rates only that of the euro area is known here, not of {country.name}.")
        url = f"{self._options.addresses['ecb']}/service/data/FM/D.U2.EUR.4F.KR.DFR.LEV"
        found = await self._ask(_Rates, url, service="The ECB", format="jsondata", lastNObservations="1")
        for at, (rate, *_) in found.observations.items():
            if rate is not None and at < len(found.days):
                day = line(found.days[at].get("id", ""))
                details = {"source": "ECB", "attribution": "Source: ECB statistics (https://data.ecb.europa.eu)"}
                return Figure("Euro area: the ECB's deposit facility rate", digits(rate), "% a year", day, details)
        raise NotFound("The ECB shows no key rate.")
