"""The tool `open_data`: figures of public services that want no key."""

from collections.abc import Mapping

from pydantic import Field

from tools.base import Arguments, Intent, Result, ToolContext, ToolSpec
from tools.errors import BadArguments, Disabled
from tools.http import Http
from tools.open_data.economies import Economies
from tools.open_data.options import Kind, OpenDataOptions
from tools.open_data.sources import Bitcoin, Coins, DataSource, Filings, Jobs
from tools.text import clean_line


class OpenDataArguments(Arguments):
    """What to look up."""

    kind: Kind = Field(description="Which of the above.")
    query: str = Field(min_length=1, max_length=200, description="Such as Apple, BTC, inflation Germany, fee, python.")
    filter: str = Field(default="", max_length=60, description="filings: form (10-K); coin: currency; jobs: country.")


class OpenData:
    """Looks up filings, coins, countries, Bitcoin and remote jobs."""

    spec = ToolSpec(
        name="open_data",
        seldom="kinds: filings, coin, macro, chain, jobs",
        description=(
            "Looks up current figures at public services. filings: what a company listed in the USA has filed (name,"
            " ticker or CIK). coin: a coin's price. macro: inflation, unemployment, GDP and such of a country, the"
            " ECB's key rate. chain: Bitcoin's fee, height or hashrate, an address or transaction. jobs: remote jobs."
            " No prices of shares, no patents. Give value, unit, date and the attribution."
        ),
        arguments=OpenDataArguments,
        intent=lambda given: Intent("open_data", {"query": f"{given.query} {given.filter}".strip()}),
    )

    def __init__(self, options: OpenDataOptions, http: Http, contact: str) -> None:
        """`contact` is an address of the operator for the SEC; it may be empty."""
        made: Mapping[Kind, DataSource] = {
            "filings": Filings(http, options, contact),
            "coin": Coins(http, options),
            "macro": Economies(http, options),
            "chain": Bitcoin(http, options),
            "jobs": Jobs(http, options),
        }
        self._sources = {kind: made[kind] for kind in options.kinds}

    async def run(self, arguments: OpenDataArguments, context: ToolContext) -> Result:
        """Returns a value with its unit, date and origin, and what belongs to it."""
        source = self._sources.get(arguments.kind)
        if source is None:
            on = ", ".join(self._sources)
            raise Disabled(f"Only {on} can be looked up here; the operator sets that in TOOLS__OPEN_DATA__KINDS.")
        query = clean_line(arguments.query)
        if not query:
            raise BadArguments("The query is empty.")
        found = await source.read(query, clean_line(arguments.filter), context.now)
        value = {"name": found.name, "value": found.value, "unit": found.unit, "as_of": found.as_of}
        return Result(data={**value, "source": source.name, "attribution": source.attribution, **found.details})
