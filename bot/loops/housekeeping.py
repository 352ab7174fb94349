"""Housekeeping: what has to be done now and then. Claims left behind wait again, settled rows go, the log is folded in.

Left to others: the daily work of the queues (`bot.loops.worker`, `bot.loops.courier`).
"""

import asyncio
import logging
from datetime import timedelta

from bot.clock import Clock
from bot.logs import described
from store import Shelves, Store

_log = logging.getLogger(__name__)

_EVERY_SECONDS = 60.0
_REMEMBERED = timedelta(days=45)
"""How long the names of settled messages are kept, to know a redelivery. A linked device that has not fetched for a
month is unlinked, so nothing older comes. Source: signal-cli-rest-api, issue 552 (2026)."""


class Housekeeping:
    """The loop of what is due."""

    def __init__(self, store: Store, clock: Clock, *, every_seconds: float = _EVERY_SECONDS) -> None:
        self._store = store
        self._clock = clock
        self._every_seconds = every_seconds

    async def recover(self) -> None:
        """At start: no claim can be held by anybody, for one process only has the store open."""
        count = await self._store.transaction(lambda shelves: shelves.inbox.requeue(now=None))
        if count:
            _log.warning("%d messages were being answered when Aldis stopped; they are taken up again", count)

    async def run(self) -> None:
        """Do what is due, every minute; ends only by cancellation."""
        while True:
            await asyncio.sleep(self._every_seconds)
            try:
                await self.tidy()
            except Exception as error:  # noqa: BLE001  (it is tried again in a minute)
                _log.error("housekeeping failed: %s", described(error))

    async def tidy(self) -> None:
        """Do once what is due now.

        Raises:
            StoreError: something could not be written; it is done the next time.
        """
        now = self._clock.now()

        def tidy(shelves: Shelves) -> int:
            shelves.inbox.prune(before=now - _REMEMBERED)
            shelves.outbox.prune(before=now - _REMEMBERED)
            return shelves.inbox.requeue(now=now)

        count = await self._store.transaction(tidy)
        if count:
            _log.warning("%d messages were left behind by their turn; they are taken up again", count)
        await self._store.checkpoint()
