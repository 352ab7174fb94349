"""Behind the port of the tools for quotas: the store, which remembers over all restarts what a month has used."""

from bot.clock import Clock
from store import Store


class Quotas:
    """Counts requests to services, by calendar months in UTC."""

    def __init__(self, store: Store, clock: Clock) -> None:
        self._store = store
        self._clock = clock

    async def take(self, service: str, *, most: int) -> bool:
        """See `tools.ports.Quotas`.

        Raises:
            StoreError: it could not be written down.
        """
        month = f"{self._clock.now():%Y-%m}"
        return await self._store.transaction(lambda shelves: shelves.quotas.take(service, month, most=most))
