"""The loop that looks after safety numbers: at the start, when something was noticed, and while something is held."""

import asyncio
import logging

from bot.clock import is_set_within
from bot.errors import Disconnected
from bot.features.safety_numbers.service import Identities
from bot.logs import describe_error
from store import Store

_log = logging.getLogger(__name__)

_SOON_SECONDS = 15.0
"""When the bridge does not know yet what was noticed."""
_AGAIN_SECONDS = 300.0
"""A list of all keys costs the bridge some seconds of work where there are hundreds."""
_PAUSE_SECONDS = 2.0
"""Between two looks, however much is noticed."""


class IdentityWatch:
    """Looks until it is cancelled."""

    def __init__(self, identities: Identities, store: Store) -> None:
        self._identities = identities
        self._wakeup = store.wakeups["identities"]

    async def run(self) -> None:
        """Look again and again; ends only by cancellation."""
        while True:
            self._wakeup.clear()
            seconds = await self._look()
            await asyncio.sleep(_PAUSE_SECONDS)
            await is_set_within(self._wakeup, seconds)

    async def _look(self) -> float | None:
        """Look once; gives the seconds until the next look, None where none is due before it is woken."""
        try:
            suspects = await self._identities.look()
            is_held = await self._identities.holds_anything()
        except Disconnected as error:
            _log.info("safety numbers are not known: %s", error)
            return _AGAIN_SECONDS
        except Exception as error:  # noqa: BLE001  (a bug in the watching must not end what is watched)
            _log.error("looking after safety numbers failed: %s", describe_error(error))
            return _AGAIN_SECONDS
        if self._identities.has_noticed:
            return _SOON_SECONDS
        return _AGAIN_SECONDS if suspects or is_held else None
