"""Open data, from a double of its services: figures with unit, date and origin, or a sentence that says what to do."""

from typing import Any

import pytest
from aiohttp import web
from pydantic import ValidationError

from tests.servers.base import answer_json
from tests.servers.fixtures import fixture_of
from tests.servers.open_data import ADDRESS, CONFIRMED, CONTACT, JOBS, RECENT, WAITING, OpenDataServer
from tests.tools.conftest import Asked
from tools import BadArguments, Disabled, Http, NotFound, RateLimited, ToolContext, ToolError, Unavailable
from tools.open_data.options import OpenDataOptions
from tools.open_data.tool import OpenData

service = fixture_of(OpenDataServer)
NAMES = OpenDataOptions().addresses


def options_for(url: str, kinds: str = "all") -> OpenDataOptions:
    given: dict[str, Any] = {"kinds": kinds, "addresses": dict.fromkeys(NAMES, url)}
    return OpenDataOptions(**given)


@pytest.fixture
def ask(service: OpenDataServer, http: Http, context: ToolContext) -> Asked:
    return Asked(OpenData(options_for(service.url), http, CONTACT), context)


FIGURES: tuple[tuple[str, str, str, str, str, str], ...] = (
    ("coin", "BTC", "", "67187.3358936566", "USD", "2026-11-28T22:30:00Z"),
    ("coin", "bitcoin", "eur", "61808.123456789", "EUR", "2026-11-28T22:30:00Z"),
    ("coin", "SHIB", "", "0.00000871234", "USD", "2026-11-28T22:30:00Z"),
    ("macro", "GDP Germany", "", "4529300000000.25", "current US$", "2025"),
    ("macro", "population of South Korea", "", "4529300000000.25", "number", "2025"),
    ("macro", "inflation", "USA", "4529300000000.25", "annual %", "2025"),
    ("macro", "GDP of the US", "", "4529300000000.25", "current US$", "2025"),
    ("macro", "SP.POP.TOTL of the World", "", "4529300000000.25", "number", "2025"),
    ("macro", "Equatorial Guinea population", "", "4529300000000.25", "number", "2025"),
    ("macro", "Germany inflation", "", "2.3", "% on the same month of the year before", "2026-10"),
    ("macro", "inflation Eurozone", "", "2.3", "% on the same month of the year before", "2026-10"),
    ("macro", "unemployment in America", "", "4529300000000.25", "% of total labor force", "2025"),
    ("macro", "unemployment in Greece", "", "2.3", "% of the labour force, seasonally adjusted", "2026-10"),
    ("macro", "ECB key rate", "", "2", "% a year", "2026-11-29"),
    ("macro", "interest rate Germany", "", "2", "% a year", "2026-11-29"),
    ("macro", "ECB deposit facility rate", "", "2", "% a year", "2026-11-29"),
    ("chain", "transaction fee", "", "1.203", "sat/vB", "2026-11-21T14:30:15Z"),
    ("chain", "block height", "", "900005", "blocks", "2026-11-28T22:40:00Z"),
    ("chain", "hashrate", "", "1082731849521300000000", "hashes per second", "2026-11-21T14:30:15Z"),
    ("chain", f"bitcoin:{ADDRESS}", "", "1.00000001", "BTC", "2026-11-21T14:30:15Z"),
    ("chain", CONFIRMED.upper(), "", "6", "confirmations", "2026-11-21T14:30:15Z"),
    ("chain", WAITING, "", "0", "confirmations", "2026-11-21T14:30:15Z"),
    ("filings", "lamp", "", "0000320193-26-000079", "accession number of the newest", "2026-11-20"),
    ("filings", "320193", "10-k", "0000320193-26-000071", "accession number of the newest", "2026-10-30"),
    ("jobs", "keeper", "Germany", "22", "open jobs", "2026-11-21T14:30:15Z"),
)


@pytest.mark.parametrize(("kind", "query", "narrowed", "value", "unit", "as_of"), FIGURES)
async def test_a_figure_has_all_digits_its_unit_its_date_and_its_origin(
    ask: Asked, kind: str, query: str, narrowed: str, value: str, unit: str, as_of: str
) -> None:
    """At names that stay the same, for each kind; no value is rounded, none has an exponent."""
    data = await ask(kind, query, narrowed)
    assert (data["value"], data["unit"], data["as_of"]) == (value, unit, as_of)
    assert data["name"]
    assert data["source"]
    assert "https://" in data["attribution"]


async def test_what_belongs_to_a_figure_is_told(ask: Asked, service: OpenDataServer) -> None:
    """The change of a price, earlier months and years, and the origin that is another office's."""
    data = await ask("coin", "btc")
    assert data["name"] == "Bitcoin (BTC)"
    assert (data["change_in_24_hours"], data["url"]) == ("-3.64 %", "https://www.coingecko.com/en/coins/bitcoin")
    await ask("coin", "shiba inu")
    assert service.requests[-2].query == {"query": "shiba inu"}
    data = await ask("macro", "inflation germany")
    assert (data["source"], data["by_month"]) == ("Eurostat", {"2026-10": "2.3", "2026-09": "2.1"})
    assert (data["name"], "prc_hicp_minr" in data["attribution"]) == ("Germany: All of prc_hicp_minr", True)
    data = await ask("macro", "unemployment Switzerland")  # Eurostat has none
    assert (data["source"], data["by_year"]) == (
        "The World Bank",
        {"2025": "4529300000000.25", "2024": "4", "2023": "2.5"},
    )
    data = await ask("chain", f"what is on {ADDRESS}?")
    assert (data["received"], data["transactions"]) == ("1.50000001 BTC", "3")
    data = await ask("chain", CONFIRMED)
    assert data["fee"] == "0.00001234 BTC"
    assert (await ask("chain", "fee"))["within_an_hour"] == "0.25"


async def test_filings_have_their_addresses_and_say_who_is_meant(ask: Asked, service: OpenDataServer) -> None:
    """The SEC reads whom to write to; capitals are a ticker first, words a name; the list is fetched once a day."""
    data = await ask("filings", "Lamp")
    assert data["name"] == "Lamp Inc.: filings, newest first"
    assert data["filings"][0] == {
        "form": "8-K",
        "filed": "2026-11-20",
        "period": "2026-11-18",
        "number": "0000320193-26-000079",
        "url": "https://www.sec.gov/Archives/edgar/data/320193/000032019326000079/lamp-20261118.htm",
    }
    assert [row["form"] for row in (await ask("filings", "lamp", "10-K"))["filings"]] == ["10-K", "10-K/A", "10-K"]
    assert (await ask("filings", "LAMP"))["cik"] == "320193"
    assert {seen.headers["user-agent"] for seen in service.requests} == {f"Aldis {CONTACT}"}
    assert [seen.path for seen in service.requests].count("/files/company_tickers.json") == 1
    for name, cik in (("Ford", "37996"), ("FORD", "38264"), ("f", "37996"), ("lamp hospitality", "1418121")):
        with pytest.raises(NotFound, match=cik):
            await ask("filings", name)
    service.columns = {name: column * 20 for name, column in RECENT.items()}
    assert len((await ask("filings", "lamp"))["filings"]) == 10


async def test_jobs_link_to_their_pages(ask: Asked, service: OpenDataServer) -> None:
    """As the terms want; places, dates and sums in every form that the service writes, plain text only."""
    first, second = (await ask("jobs", "python", "Germany"))["jobs"]
    assert first == {
        "title": "Keeper & signaller",
        "company": "Lamps Ltd",
        "where": "Germany, Austria",
        "salary": "50000 to 62000.5 EUR annual",
        "posted": "2026-11-29",
        "url": "https://himalayas.app/companies/lamps/jobs/keeper",
    }
    assert (second["where"], second["posted"], "salary" in second) == ("anywhere", "2026-11-29", False)
    assert service.requests[-1].query == {"q": "python", "sort": "recent", "country": "Germany"}
    service.jobs = JOBS * 9
    assert len((await ask("jobs", "python"))["jobs"]) == 10


REFUSALS: tuple[tuple[str, str, str, type[ToolError], str], ...] = (
    ("coin", "shib", "zzz", NotFound, "no price of Shiba Inu .SHIB. in 'zzz'"),
    ("coin", "btc", "last_updated_at", NotFound, "no price of Bitcoin"),
    ("coin", "shiba", "", NotFound, "alone, such as Shiba Inu .SHIB., Baby Shiba"),
    ("coin", "zeppelin", "", NotFound, "knows no 'zeppelin': give a name or symbol alone.$"),
    ("coin", "eth", "", NotFound, "no price"),
    ("macro", "Germany", "", BadArguments, r"key rate, gdp per capita, .*inflation"),
    ("macro", "inflation", "", BadArguments, "Name the country"),
    ("macro", "gdp per capita and population of Atlantis", "", BadArguments, "Name the country"),
    ("macro", "AB.CDE.FGH Germany", "", NotFound, "no values of AB.CDE.FGH for Germany"),
    ("macro", "population Guinea", "", NotFound, "for Guinea"),
    ("macro", "Fed key rate", "", NotFound, "not of United States"),
    ("chain", "ethereum gas", "", BadArguments, "fee, height or hashrate of Bitcoin"),
    ("chain", "1" + "B" * 30, "", NotFound, "no Bitcoin address"),
    ("chain", "c" * 64, "", NotFound, "knows no transaction"),
    ("filings", "Zeppelin", "", NotFound, "how its name begins or its ticker alone"),
    ("filings", "7", "", NotFound, "number 7"),
    ("filings", "lamp", "S-1", NotFound, "Lamp Inc. has no recent filings on the form S-1"),
    ("jobs", "python", "Atlantis", NotFound, "a country in English"),
    ("coin", "\u200b", "", BadArguments, "empty"),
)


@pytest.mark.parametrize(("kind", "query", "narrowed", "error", "words"), REFUSALS)
async def test_what_is_not_there_is_said_with_what_to_give(
    ask: Asked, kind: str, query: str, narrowed: str, error: type[ToolError], words: str
) -> None:
    """So that the next call succeeds."""
    with pytest.raises(error, match=words):
        await ask(kind, query, narrowed)


@pytest.mark.parametrize(
    ("kind", "query", "name"),
    [
        ("coin", "btc", "CoinGecko"),
        ("macro", "gdp germany", "The World Bank"),
        ("chain", "fee", "mempool.space"),
        ("filings", "320193", "SEC EDGAR"),
        ("jobs", "cook", "Himalayas"),
    ],
)
async def test_a_service_that_fails_is_named(
    ask: Asked, service: OpenDataServer, kind: str, query: str, name: str
) -> None:
    """Too many requests, nonsense, or an answer that is none; never taken for "not found"."""
    busy = {"status": {"error_code": 429, "error_message": "You've exceeded the Rate Limit."}}
    for fault, error in (
        (answer_json(busy, 429), RateLimited),
        (answer_json({}, status=500), Unavailable),
        (answer_json(["odd"]), Unavailable),
        (lambda _: web.Response(text="<html></html>", content_type="text/html"), Unavailable),
    ):
        service.faults[:] = [fault]
        with pytest.raises(error, match=name):
            await ask(kind, query)


async def test_absurd_numbers_are_shown_and_stop_nothing(ask: Asked, service: OpenDataServer) -> None:
    """A service may send a number of a hundred million digits, a time that no calendar has, or a day without a rate."""
    price = {"usd": "1e99999999", "usd_24h_change": "1e99999999", "last_updated_at": "1e300"}
    service.faults += [answer_json({"bitcoin": price})]
    data = await ask("coin", "btc")
    assert (data["value"], data["as_of"]) == ("1E+99999999", "5138-11-16T09:46:40Z")
    assert data["change_in_24_hours"] == "+inf %"
    service.faults += [answer_json([{"height": 1, "timestamp": 10**400}])]
    assert (await ask("chain", "height"))["as_of"] == "5138-11-16T09:46:40Z"
    service.jobs = [JOBS[0] | {"pubDate": -1e300}]
    assert (await ask("jobs", "cook"))["jobs"][0]["posted"] == "1970-01-01"
    service.jobs = [JOBS[0] | {"pubDate": "NaN"}]
    with pytest.raises(Unavailable, match="cannot be read"):
        await ask("jobs", "cook")
    await ask("macro", "gdp germany")  # which fetches the countries
    no_rate = {"series": {"0:0:0:0:0:0:0": {"observations": {"0": []}}}}
    service.faults += [
        answer_json({"dataSets": [no_rate], "structure": {"dimensions": {"observation": [{"values": []}]}}})
    ]
    with pytest.raises(Unavailable, match="The ECB answers something that cannot be read"):
        await ask("macro", "ecb key rate")


async def test_the_other_offices_are_named_too(ask: Asked, service: OpenDataServer) -> None:
    """Eurostat and the ECB fail under their own names."""
    await ask("macro", "gdp germany")  # which fetches the countries
    for query, name in (("inflation germany", "Eurostat"), ("ecb key rate", "The ECB")):
        service.faults[:] = [answer_json({}, status=500)]
        with pytest.raises(Unavailable, match=name):
            await ask("macro", query)


async def test_only_what_is_switched_on_is_asked(service: OpenDataServer, http: Http, context: ToolContext) -> None:
    """And without an e-mail address nothing goes to the SEC; an unknown kind is refused at the start."""
    tool = Asked(OpenData(options_for(service.url, "coin, FILINGS"), http, "https://lamps.example"), context)
    with pytest.raises(Disabled, match=r"Only coin, filings.*TOOLS__OPEN_DATA__KINDS"):
        await tool("jobs", "cook")
    with pytest.raises(Disabled, match="TOOLS__CONTACT"):
        await tool("filings", "lamp")
    assert service.requests == []
    assert OpenDataOptions().missing_settings() == "KINDS"
    assert options_for("http://x", "coin").seen_by() == ("CoinGecko: the coin",)
    assert len(options_for("http://x", "coin, all").seen_by()) == 5
    with pytest.raises(ValidationError):
        options_for("http://x", "coins")
