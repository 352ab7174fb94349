"""The seam of open data, and services for filings, coins, Bitcoin and jobs. None needs a key.

    words, narrowed --> DataSource.read --> Figure: name, value, unit and date, and what belongs to them
                            '---------> ToolError: what to give instead, or why there is no answer

Numbers are not rounded: pydantic makes decimals of the digits that a service wrote. Instants are in UTC.
"""

import re
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from http import HTTPStatus
from typing import Annotated, Any, ClassVar, TypeVar

from pydantic import AliasPath, BaseModel, ConfigDict, Field, FiniteFloat, RootModel
from pydantic.alias_generators import to_camel

from tools.errors import BadArguments, Disabled, NotFound
from tools.http import Http
from tools.open_data.options import OpenDataOptions
from tools.text import fold_name, plain, shorten

MAX_ROWS = 10
KEPT_FOR = timedelta(days=1)
"""How long lists of names are kept in memory."""
_TIMEOUT_SECONDS = 10.0
_MAX_NEAR = 5
_MAX_LINE_CHARS = 200
_MAX_READ_CHARS = 2_000
_MAX_DIGITS = 60
_MAX_SECONDS = 1e11
"""More than any Unix time in seconds: a larger one is in milliseconds."""
_MISSING = frozenset({HTTPStatus.BAD_REQUEST, HTTPStatus.NOT_FOUND, HTTPStatus.UNPROCESSABLE_ENTITY})
_USUAL_COINS = {"bitcoin": "btc", "ethereum": "eth", "solana": "sol", "ripple": "xrp", "dogecoin": "doge"}
"""CoinGecko's ids of coins that need no search, and their symbols."""
_SATOSHI = Decimal("0.00000001")
_TRANSACTION = re.compile(r"\b[0-9a-fA-F]{64}\b")
_ADDRESS = re.compile(r"\b(?:bc1[a-z0-9]{11,71}|[13][1-9A-HJ-NP-Za-km-z]{25,34})\b")

_Read = TypeVar("_Read", bound=BaseModel)


class _Camel(BaseModel):
    model_config = ConfigDict(alias_generator=to_camel)


@dataclass(frozen=True, slots=True)
class Figure:
    """What a source answers: one value, and what belongs to it."""

    name: str
    """What has this value, in the service's words, so that a misreading shows."""
    value: str
    """A decimal without an exponent; of filings the number of the newest."""
    unit: str
    as_of: str
    """The day, month, year or instant of the value, by ISO 8601."""
    details: Mapping[str, Any] = field(default_factory=dict[str, Any])


class DataSource(ABC):
    """A service that answers one kind of question."""

    name: ClassVar[str]
    attribution: ClassVar[str]
    """What every answer has to say about its origin."""
    headers: Mapping[str, str] = {}

    def __init__(self, http: Http, options: OpenDataOptions) -> None:
        self._http = http
        self._options = options

    @abstractmethod
    async def read(self, words: str, narrowed: str, now: datetime) -> Figure:
        """Returns what is asked for; `narrowed` is the form, currency or country, or empty. Raises a `ToolError`."""

    async def _ask(self, kind: type[_Read], url: str, *, missing: str = "", service: str = "", **params: str) -> _Read:
        """Returns a success; raises `NotFound` with the sentence `missing`, if given, where there is no such thing."""
        name = service or self.name
        answer = await self._http.get_json(  # once: some ban an address that goes on after a 429
            url, service=name, params=params, headers=self.headers, timeout_seconds=_TIMEOUT_SECONDS, retries=False
        )
        if missing and answer.status in _MISSING:
            raise NotFound(missing)
        if not answer.ok:
            raise answer.refusal(name)
        return answer.parse(kind, name)


def line(text: str) -> str:
    """Returns a service's words as plain text on one short line."""
    return shorten(plain(text[:_MAX_READ_CHARS]), _MAX_LINE_CHARS)


def digits(number: Decimal) -> str:
    """Returns all digits of a number, without zeros at the end of its fraction; with an exponent if it is absurd."""
    text = f"{number:f}" if abs(number.adjusted()) < _MAX_DIGITS else str(number)
    return text.rstrip("0").rstrip(".") if "." in text else text


def _instant(unix_time: float) -> str:
    number = min(max(unix_time, 0), 1000 * _MAX_SECONDS)
    at = datetime.fromtimestamp(number / 1000 if number > _MAX_SECONDS else number, UTC)
    return at.strftime("%Y-%m-%dT%H:%M:%SZ")


def _said(details: Mapping[str, Any]) -> dict[str, Any]:
    """Leaves out what is empty."""
    return {key: item for key, item in details.items() if item}


class _Company(BaseModel):
    cik: int = Field(validation_alias="cik_str")
    ticker: str
    title: str


class _Companies(RootModel[dict[str, _Company]]):
    """The listed companies, the largest first."""


class _Submissions(BaseModel):
    """The latest thousand filings or more, newest first, as parallel columns."""

    name: str
    columns: Mapping[str, tuple[Any, ...]] = Field(validation_alias=AliasPath("filings", "recent"))


class Filings(DataSource):
    """What companies have filed with the US Securities and Exchange Commission.

    The list of companies has 0.8 MB and is kept for a day. Recent filings of more than 2 MB, as a few large banks have,
    are `TooLarge`.

    Source: sec.gov, "Accessing EDGAR Data", "EDGAR APIs": no key, ten requests a second, public domain, an agent like
    `Company contact@company.com`. One without an e-mail address, with brackets or an address of the web gets 403
    (issues of sec-edgar/sec-edgar and kdr/overcast; all 2026-11-30).
    """

    name = "SEC EDGAR"
    attribution = "U.S. Securities and Exchange Commission, EDGAR (https://www.sec.gov/edgar)"
    _listed: tuple[datetime, Sequence[_Company]] | None = None

    def __init__(self, http: Http, options: OpenDataOptions, contact: str) -> None:
        """`contact` is an e-mail address of the operator; without one, nothing is asked."""
        super().__init__(http, options)
        self.headers = {"User-Agent": f"Aldis {contact}"}

    async def read(self, words: str, narrowed: str, now: datetime) -> Figure:
        """Returns the latest filings of a company, by name, ticker or CIK; `narrowed` is a form, such as 10-K."""
        if "@" not in self.headers["User-Agent"]:
            raise Disabled("The SEC wants to know whom to write to: the operator has to set TOOLS__CONTACT, an e-mail.")
        form = narrowed.upper()
        cik = int(words) if words.isdecimal() else await self._company(words, now)
        url = f"{self._options.addresses['edgar']}/submissions/CIK{cik:010}.json"
        found = await self._ask(_Submissions, url, missing=f"The SEC knows no company with the number {cik}.")
        rows = [row for row in _rows(found.columns, cik) if form in {"", row["form"], row["form"].removesuffix("/A")}]
        what = f"filings on the form {form}" if form else "filings"
        if not rows:
            raise NotFound(f"{line(found.name)} has no recent {what}; filter takes one such as 10-K or 8-K.")
        name = f"{line(found.name)}: {what}, newest first"
        details = {"cik": str(cik), "filings": rows[:MAX_ROWS]}
        return Figure(name, rows[0]["number"], "accession number of the newest", rows[0]["filed"], details)

    async def _company(self, asked: str, now: datetime) -> int:
        """Returns the number of the company with the ticker, or of the largest whose name begins like this."""
        if self._listed is None or self._listed[0] <= now - KEPT_FOR:
            url = f"{self._options.addresses['sec']}/files/company_tickers.json"
            self._listed = (now, tuple((await self._ask(_Companies, url)).root.values()))
        ticker = asked.upper().replace(".", "-")
        words = _words(asked)
        by_ticker = [company for company in self._listed[1] if company.ticker == ticker]
        by_name = [company for company in self._listed[1] if _words(company.title).startswith(words)]
        # Capitals are a ticker first: FORD is that of another company than Ford.
        found = by_ticker + by_name if asked.isupper() else by_name + by_ticker
        if not found:
            raise NotFound(f"The SEC lists no company called {asked!r}: give how its name begins or its ticker alone.")
        return found[0].cik


def _words(name: str) -> str:
    """Returns a name without case and punctuation, and a space at its end."""
    return re.sub(r"[^\w&]+", " ", name.casefold()).strip() + " "


def _rows(columns: Mapping[str, tuple[Any, ...]], cik: int) -> Iterator[dict[str, str]]:
    """Yields the filings, each with the address of its main document."""
    names = ("accessionNumber", "form", "filingDate", "reportDate", "primaryDocument")
    for number, form, filed, period, document in zip(*(columns.get(name, ()) for name in names), strict=False):
        url = f"https://www.sec.gov/Archives/edgar/data/{cik}/{str(number).replace('-', '')}/{document}"
        row = {"form": form, "filed": filed, "period": period, "number": number, "url": url}
        yield {key: line(str(item)) for key, item in row.items()}


class _Coin(BaseModel):
    id: str
    name: str
    symbol: str
    market_cap_rank: int | None = None


class _Coins(BaseModel):
    coins: tuple[_Coin, ...]


class _Prices(RootModel[dict[str, dict[str, Decimal | None]]]):
    """By coin, and by name of the value."""


class Coins(DataSource):
    """Prices of coins.

    Source: docs.coingecko.com, "Keyless Public API", "Errors & Rate Limits", `/simple/price`, `/search`: no key, some 5
    to 15 requests a minute and IP address (429, Retry-After); what is unknown is left out, a coin or a price in some
    currency. brand.coingecko.com, "Attribution Guide": a visible text with a link (2026-11-30).
    """

    name = "CoinGecko"
    attribution = "Price data by CoinGecko (https://www.coingecko.com)"

    async def read(self, words: str, narrowed: str, now: datetime) -> Figure:  # noqa: ARG002 - the service says when
        """Returns the price of one coin in the currency `narrowed`, the dollar if empty."""
        coin = await self._coin(words)
        currency = (narrowed or "usd").lower()
        wanted = dict.fromkeys(("include_24hr_change", "include_last_updated_at"), "true")
        url = f"{self._options.addresses['coingecko']}/api/v3/simple/price"
        prices = await self._ask(_Prices, url, ids=coin.id, vs_currencies=currency, precision="full", **wanted)
        known = prices.root.get(coin.id, {})
        price = known.get(currency) if currency.isalpha() else None
        at = known.get("last_updated_at")
        name = f"{line(coin.name)} ({line(coin.symbol).upper()})"
        if price is None or at is None:
            raise NotFound(f"{self.name} has no price of {name} in {currency!r}; filter takes a currency such as EUR.")
        change = known.get(f"{currency}_24h_change")
        details = {
            "change_in_24_hours": f"{float(change):+.2f} %" if change is not None else "",
            "url": f"https://www.coingecko.com/en/coins/{coin.id}",
        }
        return Figure(name, digits(price), currency.upper(), _instant(float(at)), _said(details))

    async def _coin(self, asked: str) -> _Coin:
        """Returns the largest coin with the name or symbol."""
        wanted = fold_name(asked)
        for id_, symbol in _USUAL_COINS.items():
            if wanted in {id_, symbol}:
                return _Coin(id=id_, name=id_.capitalize(), symbol=symbol)
        found = (await self._ask(_Coins, f"{self._options.addresses['coingecko']}/api/v3/search", query=asked)).coins
        named = [coin for coin in found if wanted in map(fold_name, (coin.name, coin.symbol, coin.id))]
        if not named:
            near = ", ".join(f"{line(coin.name)} ({line(coin.symbol)})" for coin in found[:_MAX_NEAR])
            such = near and f", such as {near}"
            raise NotFound(f"{self.name} knows no {asked!r}: give a name or symbol alone{such}.")
        return min(named, key=lambda coin: coin.market_cap_rank or 10**9)


class _Fees(_Camel):
    fastest_fee: Decimal
    hour_fee: Decimal


class _Block(BaseModel):
    height: int
    timestamp: int


class _Blocks(RootModel[Annotated[tuple[_Block, ...], Field(min_length=1)]]):
    """The latest blocks, newest first."""


class _Mining(_Camel):
    current_hashrate: Decimal


class _Address(BaseModel):
    received: int = Field(validation_alias=AliasPath("chain_stats", "funded_txo_sum"))
    spent: int = Field(validation_alias=AliasPath("chain_stats", "spent_txo_sum"))
    count: int = Field(validation_alias=AliasPath("chain_stats", "tx_count"))


class _Transaction(BaseModel):
    fee: int
    height: int | None = Field(default=None, validation_alias=AliasPath("status", "block_height"))


class Bitcoin(DataSource):
    """Figures from Bitcoin's chain.

    Source: mempool.space/docs/api, github.com/mempool/mempool: no key; there are limits, which it does not name (429 in
    HTML, and a ban for going on); `fees/precise` has fees below one sat/vB, which `fees/recommended` rounds up; what is
    no address is 400, an unknown transaction 404, both in plain text (2026-11-30).
    """

    name = "mempool.space"
    attribution = "Bitcoin data by mempool.space (https://mempool.space)"

    async def read(self, words: str, narrowed: str, now: datetime) -> Figure:  # noqa: ARG002 - there is one chain
        """Returns the fee, height or hashrate, or what the chain holds of an address or a transaction."""
        url = f"{self._options.addresses['mempool']}/api"
        as_of = _instant(now.timestamp())
        if found := _TRANSACTION.search(words):
            return await self._transaction(url, found[0].lower(), as_of)
        if found := _ADDRESS.search(words):
            return await self._address(url, found[0], as_of)
        if re.search(r"\bfees?\b", words, re.IGNORECASE):
            fees = await self._ask(_Fees, f"{url}/v1/fees/precise")
            details = {"within_an_hour": digits(fees.hour_fee)}
            return Figure("Bitcoin: fee for the next block", digits(fees.fastest_fee), "sat/vB", as_of, details)
        if re.search(r"\b(?:height|blocks?)\b", words, re.IGNORECASE):
            block = await self._tip(url)
            return Figure("Bitcoin: height of the chain", str(block.height), "blocks", _instant(block.timestamp))
        if re.search(r"\bhash ?rate\b", words, re.IGNORECASE):
            value = digits((await self._ask(_Mining, f"{url}/v1/mining/hashrate/3d")).current_hashrate)
            return Figure("Bitcoin: hashrate", value, "hashes per second", as_of)
        raise BadArguments("Ask for fee, height or hashrate of Bitcoin, or give an address or a transaction's id.")

    async def _tip(self, url: str) -> _Block:
        return (await self._ask(_Blocks, f"{url}/v1/blocks")).root[0]

    async def _address(self, url: str, address: str, as_of: str) -> Figure:
        found = await self._ask(_Address, f"{url}/address/{address}", missing=f"{address!r} is no Bitcoin address.")
        balance = digits((found.received - found.spent) * _SATOSHI)
        details = {"received": f"{digits(found.received * _SATOSHI)} BTC", "transactions": str(found.count)}
        return Figure(f"Bitcoin: confirmed balance of {address}", balance, "BTC", as_of, details)

    async def _transaction(self, url: str, id_: str, as_of: str) -> Figure:
        found = await self._ask(_Transaction, f"{url}/tx/{id_}", missing=f"{self.name} knows no transaction {id_}.")
        count = 0 if found.height is None else (await self._tip(url)).height - found.height + 1
        details = {"fee": f"{digits(found.fee * _SATOSHI)} BTC"}
        return Figure(f"Bitcoin: confirmations of {id_}", str(count), "confirmations", as_of, details)


class _Job(_Camel):
    title: str
    company_name: str
    guid: str
    pub_date: FiniteFloat
    min_salary: Decimal | None = None
    max_salary: Decimal | None = None
    currency: str | None = None
    salary_period: str | None = None
    location_restrictions: tuple[dict[str, Any] | str, ...] | None = None

    @property
    def row(self) -> dict[str, str]:
        """What people want to know first, without what is not said."""
        given = self.location_restrictions or ()
        places = [place if isinstance(place, str) else str(place.get("name")) for place in given]
        pay = " to ".join(digits(amount) for amount in (self.min_salary, self.max_salary) if amount)
        said = {
            "title": self.title,
            "company": self.company_name,
            "where": ", ".join(places) or "anywhere",
            "salary": pay and f"{pay} {self.currency or ''} {self.salary_period or ''}",
            "posted": _instant(self.pub_date)[:10],
            "url": self.guid,
        }
        return {key: line(item) for key, item in _said(said).items()}


class _Jobs(_Camel):
    jobs: tuple[_Job, ...]
    total_count: int


class Jobs(DataSource):
    """Open jobs that are done remotely.

    Source: himalayas.app/docs, "Remote Jobs API", "Data dictionary": no key, 20 rows, 429, a link to its page for each;
    dates are seconds, not the dictionary's milliseconds, and some places names, not its objects (2026-11-30).
    """

    name = "Himalayas"
    attribution = "Remote jobs by Himalayas (https://himalayas.app): link each job to its page there"

    async def read(self, words: str, narrowed: str, now: datetime) -> Figure:
        """Returns how many remote jobs the words find, for people in the country `narrowed`, and the newest of them."""
        url = f"{self._options.addresses['himalayas']}/jobs/api/search"
        place = {"country": narrowed} if narrowed else {}
        missing = f"{self.name} cannot search like that; filter takes a country in English, such as Germany."
        found = await self._ask(_Jobs, url, missing=missing, q=words, sort="recent", **place)
        name = f"Remote jobs for {words!r}" + (f" in {narrowed}" if narrowed else "")
        jobs = [job.row for job in found.jobs[:MAX_ROWS]]
        return Figure(name, str(found.total_count), "open jobs", _instant(now.timestamp()), {"jobs": jobs})
