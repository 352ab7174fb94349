"""Services' quotas for tools, counted in the store so that they survive restarts."""

from datetime import datetime

from bot.clock import Clock
from store import Store
from tools import Span


class Quotas:
    """Counts the use of services, by calendar days and months in UTC."""

    def __init__(self, store: Store, clock: Clock) -> None:
        self._store = store
        self._clock = clock

    async def take(self, service: str, *, limit: int, amount: int = 1, per: Span = "month") -> bool:
        """See `tools.base.Quotas`.

        Raises:
            StoreError: it could not be stored.
        """
        period = _period(self._clock.settled_now(), per)
        return await self._store.transaction(
            lambda repos: repos.quotas.take(service, period, amount=amount, limit=limit)
        )

    async def give_back(self, service: str, *, amount: int, taken_at: datetime, per: Span = "month") -> None:
        """See `tools.base.Quotas`.

        Raises:
            StoreError: it could not be stored.
        """
        period = _period(taken_at, per)
        await self._store.transaction(lambda repos: repos.quotas.give_back(service, period, amount=amount))


def _period(at: datetime, per: Span) -> str:
    return f"{at:%Y-%m-%d}" if per == "day" else f"{at:%Y-%m}"
