"""The loop that watches safety numbers: at the start, after a notice, and while something is held."""

import asyncio
import logging

from bot.clock import is_set_within
from bot.errors import Disconnected
from bot.features.safety_numbers.service import Identities
from bot.logs import describe_error
from store import Store

_log = logging.getLogger(__name__)

_SOON_SECONDS = 15.0
"""The interval while the bridge does not know yet what was noticed."""
_AGAIN_SECONDS = 300.0
"""Listing all keys costs the bridge some seconds of work if there are hundreds."""
_PAUSE_SECONDS = 2.0
"""The shortest time between two looks, however much is noticed."""


class IdentityWatch:
    """Looks until it is cancelled."""

    def __init__(self, identities: Identities, store: Store) -> None:
        self._identities = identities
        self._wakeup = store.wakeups["identities"]

    async def run(self) -> None:
        """Looks again and again; ends only by cancellation."""
        while True:
            self._wakeup.clear()
            seconds = await self._look()
            await asyncio.sleep(_PAUSE_SECONDS)
            await is_set_within(self._wakeup, seconds)

    async def _look(self) -> float | None:
        """Looks once; returns the seconds until the next look, None if none is due before a wake-up."""
        try:
            suspects = await self._identities.look()
            is_held = await self._identities.holds_anything()
        except Disconnected as error:
            _log.info("safety numbers are unknown: %s", error)
            return _AGAIN_SECONDS
        except Exception as error:  # noqa: BLE001  (a bug while watching must not end the watching)
            _log.error("checking safety numbers failed: %s", describe_error(error))
            return _AGAIN_SECONDS
        if self._identities.has_noticed:
            return _SOON_SECONDS
        return _AGAIN_SECONDS if suspects or is_held else None
