"""Membership: learns who is in a group, if a receipt can prove a send to it only with that knowledge.

    a receipt may be for an unproven send to a group --> the bridge is asked for its groups --> the store knows
                                                         (again each hour, to notice who has left)

Until the bridge tells, receipts of people who may be strangers prove no such send. Left to others: what a receipt
proves (`store.attempts`), who may write (`bot.loops.intake`).
"""

import asyncio
import logging
from datetime import datetime, timedelta

from bot.clock import Clock, is_set_within
from bot.errors import ConfigError, TransportError
from bot.events import ChatId
from bot.logs import describe_error
from bot.signal.protocol import Group, Transport
from store import Repositories, Store

_log = logging.getLogger(__name__)

_EVERY = timedelta(hours=1)
_MIN_PAUSE_SECONDS = 2.0
_MAX_PAUSE_SECONDS = 60.0
_MAX_GROUPS = 500


class Membership:
    """The loop that learns who is in which group."""

    def __init__(self, transport: Transport, store: Store, clock: Clock) -> None:
        self._transport = transport
        self._store = store
        self._clock = clock

    async def run(self) -> None:
        """Asks whenever something depends on it; ends only by cancellation."""
        wakeup = self._store.wakeups["members"]
        looks = 0
        while True:
            wakeup.clear()
            try:
                seconds = await self._seconds_to_wait()
                if seconds <= 0:
                    await asyncio.sleep(min(_MIN_PAUSE_SECONDS * 2 ** (looks - 1), _MAX_PAUSE_SECONDS) if looks else 0)
                    looks = min(looks + 1, 10)
                    await self.look()
                    continue
            except Exception as error:  # noqa: BLE001  (it only leaves some sends in doubt; nothing else fails)
                self._tell(error)
                seconds = _MIN_PAUSE_SECONDS
            else:
                looks = 0
            await is_set_within(wakeup, seconds)

    async def look(self) -> None:
        """Asks the bridge who is in its groups, and stores that for the groups with conversations.

        Nobody is left in a group that Aldis was removed from.

        Raises:
            TransportError, ConfigError: it does not tell.
            StoreError: it could not be stored.
        """
        asked_at = self._clock.now()
        groups = await self._transport.groups()
        for group in groups[:_MAX_GROUPS]:
            if group.is_complete:
                await self._store.transaction(lambda repos, group=group: self._keep(repos, group, asked_at))
        left = [ChatId.group(group) for group in await self._transport.former_groups()]
        if left:
            await self._store.transaction(lambda repos: repos.members.leave(left, listed_at=asked_at))

    def _keep(self, repos: Repositories, group: Group, asked_at: datetime) -> None:
        people = [ChatId.direct(person) for person in group.members]
        if repos.members.keep(ChatId.group(group.id), people, listed_at=asked_at):
            repos.attempts.reconcile(now=self._clock.now())

    async def _seconds_to_wait(self) -> float:
        """Seconds until the bridge should be asked; 0 or less means now."""
        now = self._clock.now()
        wanted_at, listed_at = await self._store.read(
            lambda repos: (repos.members.wanted_at(), repos.members.listed_at())
        )
        again_at = now + _EVERY if listed_at is None else listed_at + _EVERY
        return (min(again_at, wanted_at or again_at) - now).total_seconds()

    def _tell(self, error: Exception) -> None:
        words = str(error) if isinstance(error, TransportError | ConfigError) else describe_error(error)
        _log.warning("the members of the groups are unknown (%s); their receipts prove nothing for now", words)
