"""The settings of open data: which kinds people may ask for, and so which services see what is asked."""

from collections.abc import Mapping
from typing import Annotated, Literal, get_args

from pydantic import BeforeValidator

from tools.base import FIXED, BaseUrl, CommaList, Lowered, Options

Kind = Literal["filings", "coin", "macro", "chain", "jobs"]
"""What can be asked for."""

_SEEN_BY: Mapping[Kind, str] = {
    "filings": "the SEC: the company, and your address",
    "coin": "CoinGecko: the coin",
    "macro": "the World Bank, Eurostat, the ECB: country and figure",
    "chain": "mempool.space: what is asked about Bitcoin",
    "jobs": "Himalayas: words and country",
}


def _every(given: tuple[str, ...]) -> tuple[str, ...]:
    return get_args(Kind) if "all" in given else given


class OpenDataOptions(Options):
    """The settings `TOOLS__OPEN_DATA__<FIELD>`."""

    kinds: Annotated[tuple[Kind, ...], BeforeValidator(_every), CommaList, Lowered] = ()
    """What people may look up at keyless public services: all, or a comma-separated list of filings, coin, macro, chain
    and jobs. Empty: nothing, and no service is asked. Filings need an e-mail address in TOOLS__CONTACT."""
    addresses: Annotated[Mapping[str, BaseUrl], FIXED] = {
        "sec": "https://www.sec.gov",
        "edgar": "https://data.sec.gov",
        "coingecko": "https://api.coingecko.com",
        "world_bank": "https://api.worldbank.org",
        "eurostat": "https://ec.europa.eu",
        "ecb": "https://data-api.ecb.europa.eu",
        "himalayas": "https://himalayas.app",
        "mempool": "https://mempool.space",
    }
    """Where the services answer."""

    def missing_settings(self) -> str | None:
        """See `Options`: a kind."""
        return None if self.kinds else "KINDS"

    def seen_by(self) -> tuple[str, ...]:
        """See `Options`: the services behind the kinds that are on."""
        return tuple(_SEEN_BY[kind] for kind in self.kinds)
