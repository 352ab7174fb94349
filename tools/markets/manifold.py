"""Manifold, an exchange with play money; needs no key.

Source: docs.manifold.markets/api, 2026-11-21: 500 requests a minute per address, any use allowed, "alpha"; times are
milliseconds since 1970; lists leave out the answers of questions with several.
"""

from collections.abc import Sequence

from pydantic import BaseModel

from tools.http import JsonAnswer
from tools.markets.base import MAX_OUTCOMES, Exchange, Instant, Market, MarketOutcome, Number, line, paragraph

_RESOLUTIONS = {"YES": "Yes", "NO": "No", "MKT": "in parts", "CANCEL": "called off"}


class _Answer(BaseModel):
    """One of several answers to a question."""

    id: str = ""
    text: str
    probability: Number = None


class _Contract(BaseModel):
    """A question of any kind; fields that a kind does not have are missing."""

    id: str
    question: str
    url: str = ""
    probability: Number = None
    closeTime: Instant = None  # noqa: N815 - Manifold's own name; so below
    isResolved: bool = False  # noqa: N815
    resolution: str | None = None
    volume: Number = None
    volume24Hours: Number = None  # noqa: N815
    totalLiquidity: Number = None  # noqa: N815
    textDescription: str | None = None  # noqa: N815
    answers: tuple[_Answer, ...] = ()


class Manifold(Exchange):
    """Queries Manifold's API."""

    name = "Manifold"
    money = "play money"

    async def search(self, query: str, count: int, *, also_closed: bool) -> Sequence[Market]:
        """See `Exchange`."""
        params = {"term": query, "filter": "all" if also_closed else "open", "sort": "score", "limit": str(count)}
        answer = self._success(await self._ask("/v0/search-markets", params))
        return [_market(contract) for contract in answer.parse(tuple[_Contract, ...], self.name)[:count]]

    def _path(self, key: str) -> str:
        """See `Exchange`. The key is the id, or `slug/` and the last part of the address."""
        return f"/v0/{key}" if key.startswith("slug/") else f"/v0/market/{key}"

    def _market(self, answer: JsonAnswer) -> Market:
        contract = answer.parse(_Contract, self.name)
        return _market(contract, description=paragraph(contract.textDescription or ""))


def _market(contract: _Contract, description: str = "") -> Market:
    return Market(
        id=f"manifold:{line(contract.id)}",
        question=line(contract.question),
        url=line(contract.url),
        status="resolved" if contract.isResolved else "open",
        outcomes=_outcomes(contract),
        resolution=_resolution(contract),
        ends_at=contract.closeTime,
        volume=contract.volume,
        volume_24h=contract.volume24Hours,
        liquidity=contract.totalLiquidity,
        description=description,
    )


def _outcomes(contract: _Contract) -> Sequence[MarketOutcome]:
    if contract.probability is not None:
        chance = min(max(contract.probability, 0), 1)
        return [MarketOutcome(name="Yes", probability=chance), MarketOutcome(name="No", probability=1 - chance)]
    answers = sorted(contract.answers, key=lambda answer: -(answer.probability or 0))
    return [MarketOutcome(name=line(answer.text), probability=answer.probability) for answer in answers[:MAX_OUTCOMES]]


def _resolution(contract: _Contract) -> str:
    """Returns the outcome, which Manifold gives as a word of its own or as the id of an answer."""
    if not contract.isResolved or not contract.resolution:
        return ""
    texts = {answer.id: answer.text for answer in contract.answers}
    said = contract.resolution
    return line(_RESOLUTIONS.get(said) or texts.get(said) or said)
