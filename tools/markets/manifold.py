"""Manifold: play money, read without a key.

Source: docs.manifold.markets/api, 2026-11-21: 500 requests a minute from an address, any use allowed, "alpha"; times
are milliseconds since 1970; a list leaves out the answers of questions with several.
"""

from collections.abc import Sequence

from pydantic import BaseModel, TypeAdapter, ValidationError

from tools.errors import NotFound, Unavailable
from tools.http import Http, JsonAnswer
from tools.markets.base import Instant, Market, MarketOutcome, Number, Status, is_missing, line, paragraph

_MAX_OUTCOMES = 12
_UNREADABLE = "Manifold answers something that cannot be read."
_RESOLUTIONS = {"YES": "Yes", "NO": "No", "MKT": "in parts", "CANCEL": "called off"}


class _Answer(BaseModel):
    """One of the answers to a question with several."""

    id: str = ""
    text: str
    probability: Number = None


class _Contract(BaseModel):
    """A question; what a kind of question does not have is missing."""

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


_CONTRACTS = TypeAdapter(tuple[_Contract, ...])


class Manifold:
    """Asks Manifold's API."""

    name = "Manifold"
    money = "play money"

    def __init__(self, *, http: Http, base_url: str, timeout_seconds: float) -> None:
        self._http = http
        self._base_url = base_url
        self._timeout_seconds = timeout_seconds

    async def search(self, query: str, count: int, *, also_closed: bool) -> Sequence[Market]:
        """See `Exchange`."""
        params = {"term": query, "filter": "all" if also_closed else "open", "sort": "score", "limit": str(count)}
        answer = await self._ask("/v0/search-markets", params)
        if not answer.ok:
            raise answer.refusal(self.name)
        try:
            contracts = _CONTRACTS.validate_python(answer.body)
        except ValidationError as error:
            raise Unavailable(_UNREADABLE) from error
        return [_market(contract) for contract in contracts[:count]]

    async def market(self, key: str) -> Market:
        """See `Exchange`; `key` is the id, or `slug/` and the last part of its address."""
        answer = await self._ask(f"/v0/{key}" if key.startswith("slug/") else f"/v0/market/{key}", {})
        if is_missing(answer):
            raise NotFound(f"{self.name} has no market {key!r}; look for it with market_search.")
        if not answer.ok:
            raise answer.refusal(self.name)
        try:
            contract = _Contract.model_validate(answer.body)
        except ValidationError as error:
            raise Unavailable(_UNREADABLE) from error
        return _market(contract, description=paragraph(contract.textDescription or ""))

    async def _ask(self, path: str, params: dict[str, str]) -> JsonAnswer:
        return await self._http.get_json(
            f"{self._base_url}{path}", service=self.name, params=params, timeout_seconds=self._timeout_seconds
        )


def _market(contract: _Contract, description: str = "") -> Market:
    return Market(
        id=f"manifold:{line(contract.id)}",
        question=line(contract.question),
        url=line(contract.url),
        status=_status(contract),
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
    return [MarketOutcome(name=line(answer.text), probability=answer.probability) for answer in answers[:_MAX_OUTCOMES]]


def _resolution(contract: _Contract) -> str:
    """How it came out: a word of Manifold's, or one of the answers by its id."""
    if not contract.isResolved or not contract.resolution:
        return ""
    texts = {answer.id: answer.text for answer in contract.answers}
    said = contract.resolution
    return line(_RESOLUTIONS.get(said) or texts.get(said) or said)


def _status(contract: _Contract) -> Status:
    if contract.isResolved:
        return "resolved"
    return "open"
