"""Invitations: joins the groups Aldis is invited to, if the operator's list lets people write there.

    start, a listed group changed, or ten minutes passed --> the bridge is asked for invitations
                                                             '-> those to listed groups are accepted

Somebody who adds an account to a group without knowing its profile only invites it, and nothing of that group arrives
until the invitation is accepted. Left to others: which groups are listed (`bot.access.access`).
"""

import asyncio
import logging

from bot.access.access import EVERYBODY, AccessList, accepts
from bot.clock import is_set_within
from bot.errors import CallRefused, ConfigError, TransportError
from bot.events import ChatId
from bot.logs import describe_error
from bot.signal.protocol import Transport

_log = logging.getLogger(__name__)

_AGAIN_SECONDS = 600.0
"""Between two checks if no group seems to have changed: the message that tells of a change may have been lost."""
_PAUSE_SECONDS = 5.0
"""Between two checks, however many changes there are."""
_MAX_AT_ONCE = 20


class Invitations:
    """The loop that accepts invitations to listed groups."""

    def __init__(self, transport: Transport, allowed: AccessList, *, pause_seconds: float = _PAUSE_SECONDS) -> None:
        self._transport = transport
        self._allowed = allowed
        self._pause_seconds = pause_seconds
        self._changed = asyncio.Event()

    def notice(self, chat: ChatId) -> None:
        """Notes that a group changed: Aldis may have been invited to it."""
        if not self._allowed.groups.isdisjoint({chat.id, EVERYBODY}):
            self._changed.set()

    async def run(self) -> None:
        """Checks repeatedly while there are groups to join; otherwise ends at once."""
        while self._allowed.groups and not self._allowed.note_to_self:
            self._changed.clear()
            try:
                await self.look()
            except Exception as error:  # noqa: BLE001  (it only keeps Aldis out of that group; nothing else fails)
                words = str(error) if isinstance(error, TransportError | ConfigError) else describe_error(error)
                _log.warning("invitations to groups are unknown for now: %s", words)
            await asyncio.sleep(self._pause_seconds)
            await is_set_within(self._changed, _AGAIN_SECONDS)

    async def look(self) -> None:
        """Accepts all acceptable invitations.

        Raises:
            TransportError, ConfigError: the bridge does not tell.
        """
        wanted = [one.id for one in await self._transport.invitations() if accepts(one, self._allowed)]
        for group in wanted[:_MAX_AT_ONCE]:
            try:
                await self._transport.join(group)
                _log.info("accepted an invitation to a group of ACCESS__GROUPS")
            except CallRefused as error:
                _log.warning("an invitation to a group of ACCESS__GROUPS could not be accepted: %s", error)
