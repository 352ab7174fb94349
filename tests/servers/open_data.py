"""A double of all services of open data, with companies, coins and jobs of our own.

Answers and refuses as the real ones (all 2026-11-30): sec.gov, "Accessing EDGAR Data" (403 for an agent without an
e-mail address or with brackets, 404 in XML); docs.coingecko.com (`{}` for an unknown coin, no price in an unknown
currency); datahelpdesk.worldbank.org (failures have status 200); ec.europa.eu/eurostat, API "Statistics" (JSON-stat,
400 for an unknown dimension, nothing for a place that a data set lacks); data.ecb.europa.eu (SDMX-JSON);
mempool.space/docs/api (plain text for what is not there); himalayas.app/docs (429, seconds, names of places).
"""

import re
from dataclasses import dataclass, field
from typing import Any

from aiohttp import web

from tests.servers.base import Seen, Server

Json = dict[str, Any]

ADDRESS = "bc1qar0srrr7xfkvy5l643lydnw9re59gtzzwf5mdq"
CONFIRMED = "a" * 64
WAITING = "b" * 64
CONTACT = "keeper@lamps.example"

COMPANIES = {
    "0": {"cik_str": 320193, "ticker": "LAMP", "title": "Lamp Inc."},
    "1": {"cik_str": 37996, "ticker": "F", "title": "FORD MOTOR CO"},
    "2": {"cik_str": 38264, "ticker": "FORD", "title": "FORWARD INDUSTRIES, INC."},
    "3": {"cik_str": 1418121, "ticker": "LMPH", "title": "Lamp Hospitality REIT, Inc."},
}
RECENT: dict[str, list[Any]] = {
    "accessionNumber": ["0000320193-26-000079", "0000320193-26-000071", "0000320193-25-000123", "0000320193-25-000079"],
    "filingDate": ["2026-11-20", "2026-10-30", "2025-12-01", "2025-10-31"],
    "reportDate": ["2026-11-18", "2026-09-26", "2025-09-27", "2025-09-27"],
    "acceptanceDateTime": ["2026-11-20T21:30:00.000Z"] * 4,
    "form": ["8-K", "10-K", "10-K/A", "10-K"],
    "size": [1, 2, 3, 4],
    "primaryDocument": ["lamp-20261118.htm", "lamp-20260926.htm", "lamp-a.htm", "lamp-20250927.htm"],
}
COINS = [
    {"id": "shiba-inu", "name": "Shiba Inu", "api_symbol": "shiba-inu", "symbol": "SHIB", "market_cap_rank": 24},
    {"id": "shib-copy", "name": "Shib Copy", "api_symbol": "shib-copy", "symbol": "SHIB", "market_cap_rank": None},
    {"id": "baby-shiba", "name": "Baby Shiba", "api_symbol": "baby-shiba", "symbol": "BSHIB", "market_cap_rank": 3100},
]
PRICES = {
    "bitcoin": {"usd": "67187.3358936566", "eur": "61808.123456789"},
    "shiba-inu": {"usd": "0.00000871234"},
}
"""As CoinGecko writes them, so that no digit is lost on the way into the double."""
COUNTRIES = [
    {"id": "DEU", "iso2Code": "DE", "name": "Germany"},
    {"id": "GRC", "iso2Code": "GR", "name": "Greece"},
    {"id": "CHE", "iso2Code": "CH", "name": "Switzerland"},
    {"id": "USA", "iso2Code": "US", "name": "United States"},
    {"id": "KOR", "iso2Code": "KR", "name": "Korea, Rep."},
    {"id": "GIN", "iso2Code": "GN", "name": "Guinea"},
    {"id": "GNQ", "iso2Code": "GQ", "name": "Equatorial Guinea"},
    {"id": "PER", "iso2Code": "PE", "name": "Peru"},
    {"id": "EMU", "iso2Code": "XC", "name": "Euro area"},
    {"id": "WLD", "iso2Code": "1W", "name": "World"},
]
INDICATORS = {
    "FP.CPI.TOTL.ZG": "Inflation, consumer prices (annual %)",
    "NY.GDP.MKTP.CD": "GDP (current US$)",
    "SP.POP.TOTL": "Population, total",
    "SL.UEM.TOTL.ZS": "Unemployment, total (% of total labor force) (modeled ILO estimate)",
}
YEARS = {"2026": None, "2025": 4529300000000.25, "2024": 4.0, "2023": "2.50"}
EUROSTAT: dict[str, tuple[Json, set[str]]] = {
    "prc_hicp_minr": ({"unit": "RCH_A", "coicop18": "TOTAL"}, {"DE", "EL", "EA21", "CH"}),
    "une_rt_m": ({"unit": "PC_ACT", "s_adj": "SA", "age": "TOTAL", "sex": "T"}, {"DE", "EL", "EA21"}),
}
"""The data sets, the values of their dimensions that are asked for, and the places that they have."""
JOBS: list[Json] = [
    {
        "title": "Keeper &amp; <b>signaller</b>",
        "companyName": "Lamps Ltd",
        "employmentType": "Full Time",
        "minSalary": 50000,
        "maxSalary": "62000.50",
        "currency": "EUR",
        "salaryPeriod": "annual",
        "locationRestrictions": ["Germany", {"alpha2": "AT", "name": "Austria", "slug": "austria"}],
        "pubDate": 1795910400,
        "guid": "https://himalayas.app/companies/lamps/jobs/keeper",
        "description": "<p>Long.</p>",
    },
    {
        "title": "Cook",
        "companyName": "Harbour",
        "employmentType": "Contractor",
        "minSalary": None,
        "maxSalary": None,
        "currency": None,
        "locationRestrictions": [],
        "pubDate": 1795910400000,
        "guid": "https://himalayas.app/companies/harbour/jobs/cook",
    },
]


@dataclass
class OpenDataServer(Server):
    """`columns` is what Lamp Inc. has filed lately, `jobs` what each search finds."""

    columns: dict[str, list[Any]] = field(default_factory=lambda: dict(RECENT))
    jobs: list[Json] = field(default_factory=lambda: list(JOBS))
    tip: int = 900_005

    def respond(self, seen: Seen, request: web.Request) -> web.StreamResponse:
        for path, answer in (
            (r"/files/company_tickers\.json|/submissions/CIK(\d{10})\.json", self._sec),
            (r"/api/v3/(simple/price|search)", self._coins),
            (r"/v2/country(?:/(\w+)/indicator/([\w.]+))?", self._world_bank),
            (r"/eurostat/api/dissemination/statistics/1\.0/data/(\w+)", self._eurostat),
            (r"/service/data/FM/D\.U2\.EUR\.4F\.KR\.(\w+)\.LEV", self._ecb),
            (r"/api/(v1/fees/precise|v1/blocks|v1/mining/hashrate/3d|(?:address|tx)/(\w+))", self._mempool),
            (r"/jobs/api/(search)", self._himalayas),
        ):
            if found := re.fullmatch(path, seen.path):
                return answer(seen, *found.groups())
        return web.Response(status=404, text="<html>Not found</html>", content_type="text/html")

    def _sec(self, seen: Seen, cik: str | None) -> web.StreamResponse:
        if not re.fullmatch(r"[\w.]+ [^\s@()]+@[\w.-]+\.\w+", seen.headers["user-agent"]):
            text = "<html>Your Request Originates from an Undeclared Automated Tool</html>"
            return web.Response(status=403, text=text, content_type="text/html")
        if cik is None:
            return web.json_response(COMPANIES)
        if cik != "0000320193":
            return web.Response(
                status=404, text="<Error><Code>NoSuchKey</Code></Error>", content_type="application/xml"
            )
        return web.json_response({"cik": cik, "name": "Lamp Inc.", "filings": {"recent": self.columns, "files": []}})

    def _coins(self, seen: Seen, what: str) -> web.StreamResponse:
        if what == "search":
            words = seen.query["query"].lower()
            found = [coin for coin in COINS if words in f"{coin['name']} {coin['symbol']}".lower()]
            return web.json_response({"coins": found, "exchanges": [], "categories": [], "nfts": []})
        if not {"ids", "vs_currencies"} <= seen.query.keys() or seen.query.get("precision") != "full":
            return web.json_response({"error": "Missing parameter vs_currencies"}, status=422)
        coin = seen.query["ids"]
        currency = seen.query["vs_currencies"]
        if coin not in PRICES:
            return web.json_response({})
        price = PRICES[coin].get(currency)
        priced = f'"{currency}": {price}, "{currency}_24h_change": -3.637278946773539, ' if price else ""
        text = f'{{"{coin}": {{{priced}"last_updated_at": 1795905000}}}}'
        return web.Response(text=text, content_type="application/json")

    def _world_bank(self, seen: Seen, country: str | None, code: str | None) -> web.StreamResponse:
        if seen.query.get("format") != "json":
            return web.Response(text="<wb:countries/>", content_type="text/xml")
        head = {"page": 1, "pages": 1, "per_page": seen.query["per_page"], "total": 4, "lastupdated": "2026-10-07"}
        if country is None:
            return web.json_response([head, COUNTRIES])
        if code not in INDICATORS or country not in {one["id"] for one in COUNTRIES}:
            message = {"id": "120", "key": "Invalid value", "value": "The provided parameter value is not valid"}
            return web.json_response([{"message": [message]}])
        if country == "GIN":
            return web.json_response([{**head, "total": 0}, None])
        name = next(one["name"] for one in COUNTRIES if one["id"] == country)
        rows = [
            {"indicator": {"id": code, "value": INDICATORS[code]}, "country": {"id": "XX", "value": name}}
            | {"countryiso3code": country, "date": year, "value": value, "unit": "", "obs_status": "", "decimal": 0}
            for year, value in YEARS.items()
        ]
        return web.json_response([head, rows])

    def _eurostat(self, seen: Seen, name: str) -> web.StreamResponse:
        if name not in EUROSTAT or not EUROSTAT[name][0].items() <= seen.query.items():
            label = 'INVALID_QUERY_DIMENSION: Dimension "COICOP" is not defined'
            return web.json_response({"error": [{"status": 400, "id": 150, "label": label}]}, status=400)
        geo = seen.query["geo"]
        value = {"0": 2.1, "1": 2.3} if geo in EUROSTAT[name][1] else {}
        time = {"index": {"2026-09": 0, "2026-10": 1, "2026-11": 2}, "label": {}}
        place = {"index": {geo: 0}, "label": {geo: "A place"}}
        body = {"version": "2.0", "class": "dataset", "label": f"All of {name}", "source": "ESTAT"}
        body |= {"updated": "2026-11-18T11:00:00+0100", "value": value, "id": ["geo", "time"], "size": [1, 3]}
        return web.json_response(body | {"dimension": {"geo": {"category": place}, "time": {"category": time}}})

    def _ecb(self, seen: Seen, rate: str) -> web.StreamResponse:
        if rate != "DFR" or seen.query.get("format") != "jsondata":
            return web.Response(status=404, text="No results found.")
        observed = {"0:0:0:0:0:0:0": {"attributes": [0, None], "observations": {"0": [2.0, 0, 0, None, None]}}}
        days = {"id": "TIME_PERIOD", "role": "time", "values": [{"id": "2026-11-29", "name": "2026-11-29"}]}
        structure = {"name": "Financial market data", "dimensions": {"series": [], "observation": [days]}}
        return web.json_response({"dataSets": [{"action": "Replace", "series": observed}], "structure": structure})

    def _mempool(self, seen: Seen, what: str, id_: str | None) -> web.StreamResponse:
        if what == "v1/fees/precise":
            fees = {"fastestFee": 1.203, "halfHourFee": 0.5, "hourFee": 0.25, "economyFee": 0.2, "minimumFee": 0.1}
            return web.json_response(fees)
        if what == "v1/blocks":
            latest = {"id": "0" * 64, "height": self.tip, "timestamp": 1795905600, "tx_count": 3120, "extras": {}}
            return web.json_response([latest, latest | {"height": self.tip - 1}])
        if what == "v1/mining/hashrate/3d":
            now = {"currentHashrate": 1.0827318495213e21, "currentDifficulty": 149301205959699.9}
            return web.json_response({"hashrates": [], "difficulty": [], **now})
        if id_ == ADDRESS:
            stats = {"funded_txo_count": 2, "funded_txo_sum": 150_000_001, "spent_txo_count": 1, "tx_count": 3}
            chain = {**stats, "spent_txo_sum": 50_000_000}
            return web.json_response({"address": id_, "chain_stats": chain, "mempool_stats": stats})
        if what.startswith("address/"):
            return web.Response(status=400, text="Invalid Bitcoin address")
        status: Json = {"confirmed": False}
        if id_ == CONFIRMED:
            status = {"confirmed": True, "block_height": 900_000, "block_hash": "0" * 64, "block_time": 1795900000}
        if id_ not in {CONFIRMED, WAITING}:
            return web.Response(status=404, text="Transaction not found")
        return web.json_response({"txid": id_, "fee": 1234, "vin": [], "vout": [{"value": 5}], "status": status})

    def _himalayas(self, seen: Seen, _: str) -> web.StreamResponse:
        if seen.query.get("country", "Germany") != "Germany":
            return web.json_response({"error": "Invalid country"}, status=400)
        body = {"comments": "Link back.", "updatedAt": 1795905000, "offset": 0, "limit": 20}
        return web.json_response({**body, "totalCount": 20 + len(self.jobs), "jobs": self.jobs})
