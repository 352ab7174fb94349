"""A search service within a monthly amount: what is used up is not asked, so that the next one stands in for it."""

from decimal import Decimal

from tools.errors import RateLimited
from tools.ports import Quotas
from tools.search.base import Hit, Query, SearchBackend


class CountedBackend:
    """A service that is asked so many times in a month and no more.

    A request is counted before it is sent: one that fails costs a place too, and no crash gives one away.
    """

    def __init__(self, backend: SearchBackend, quotas: Quotas, *, most: int) -> None:
        self._backend = backend
        self._quotas = quotas
        self._most = most

    @property
    def name(self) -> str:
        """See `SearchBackend`."""
        return self._backend.name

    @property
    def cost_usd(self) -> Decimal:
        """See `SearchBackend`."""
        return self._backend.cost_usd

    def takes(self, query: Query) -> bool:
        """See `SearchBackend`."""
        return self._backend.takes(query)

    async def search(self, query: Query) -> tuple[Hit, ...]:
        """See `SearchBackend`.

        Raises:
            RateLimited: the month's amount is used up; it was not asked.
            ToolError: as the service itself.
        """
        if not await self._quotas.take(self.name, most=self._most):
            raise RateLimited(f"{self.name}: the {self._most} searches that it may be asked in a month are used up.")
        return await self._backend.search(query)
