"""Who an author is: whether a listed number is really theirs, whether they were let in, who is in the listed groups.

A phone number is pinned to the account that first wrote under it, because Signal reassigns numbers to other people.
Left to others: what the list says about them (`bot.policy.access`), what happens to strangers (`strangers`).
"""

import asyncio
import logging
from contextlib import suppress
from dataclasses import replace

from bot.clock import Clock
from bot.errors import ConfigError, Disconnected
from bot.events import Envelope, PersonId
from bot.metrics import Counts
from bot.policy.access import AccessList, may_write, members_of
from bot.transports.base import Transport
from store import Store

_log = logging.getLogger(__name__)

MEMBERS_SECONDS = 600.0
"""Between two look-ups of the listed groups' members."""
_MAX_LOOKS = 5
"""How often the groups' members are asked for before the first stream is opened without them."""


class Recognition:
    """Decides who an author is, and whether they may write. `asks_store` False: only the list decides."""

    def __init__(
        self,
        transport: Transport,
        store: Store,
        clock: Clock,
        counts: Counts,
        *,
        allowed: AccessList,
        asks_store: bool,
        members_seconds: float,
    ) -> None:
        self._transport = transport
        self._store = store
        self._clock = clock
        self._counts = counts
        self.allowed = allowed
        """The list, with the members of groups as far as the bridge has told them."""
        self._asks_store = asks_store
        self._members_seconds = members_seconds
        self._numbers = allowed.numbers if asks_store else frozenset[str]()
        self._holders: dict[str, PersonId] = {}
        """The owners of listed numbers, as far as they wrote since the start."""
        self._changed_numbers: set[str] = set()

    async def recognize(self, envelope: Envelope) -> tuple[Envelope, bool]:
        """The envelope with the author's listed number only if it is really theirs, and whether they may write."""
        known, is_approved = await self._recognized(envelope)
        return known, may_write(known, self.allowed, is_approved=is_approved)

    async def keep_members(self) -> None:
        """Updates the members of the listed groups regularly; until the bridge tells, the last known ones apply."""
        while self.allowed.needs_members:
            await asyncio.sleep(self._members_seconds)
            with suppress(Disconnected, ConfigError):
                await self._look_up_members()

    async def learn_members(self) -> None:
        """Learns who is in the listed groups before anything is admitted: a member must not be taken for a stranger.

        Raises:
            Disconnected: the bridge did not tell; if it answers everything but this, that is accepted in the end.
        """
        if not self.allowed.needs_members or self.allowed.members:
            return
        try:
            await self._look_up_members()
        except (Disconnected, ConfigError) as error:
            if self._counts.add("members_unknown") < _MAX_LOOKS:
                raise Disconnected(f"the members of the listed groups are unknown: {error}") from error
            _log.error("the members of the listed groups are unknown (%s); for now they count as strangers", error)

    async def _look_up_members(self) -> None:
        groups = await self._transport.groups()
        self.allowed = replace(self.allowed, members=members_of(groups, self.allowed))

    async def _recognized(self, envelope: Envelope) -> tuple[Envelope, bool]:
        """The envelope with the author's listed number only if it is really theirs, and whether they were let in."""
        author, account, number = envelope.author, envelope.account, envelope.number
        if not self._asks_store or author is None or envelope.from_self:
            return envelope, False
        if number and number in self._numbers:
            if await self._has(number, author):
                return envelope, False
            envelope = replace(envelope, number=None)
        elif not self._numbers and may_write(envelope, self.allowed):
            return envelope, False
        pinned, is_approved = await self._store.read(
            lambda repos: (
                repos.people.number_of(author, self._numbers),
                repos.people.is_allowed(author, account=account),
            )
        )
        return (replace(envelope, number=pinned) if pinned else envelope), is_approved

    async def _has(self, number: str, author: PersonId) -> bool:
        """Whether a listed number is the author's: pinned to them, or to nobody yet, or their uuid is listed, too."""
        if self._holders.get(number) == author:
            return True
        now, is_confirmed = self._clock.wall(), author in self.allowed.persons | self.allowed.admins
        if await self._store.transaction(
            lambda repos: repos.people.pin(number, author, now=now, is_confirmed=is_confirmed)
        ):
            self._holders[number] = author
            return True
        if number not in self._changed_numbers:
            self._changed_numbers.add(number)
            self._counts.add("numbers_changed")
            _log.error(
                "a phone number on the access list now belongs to another account, which is refused; see `python -m "
                "bot doctor`. If that is right, put the account's uuid into the list"
            )
        return False
