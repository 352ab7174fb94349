"""Who an author is: whether a listed number is really theirs, whether they were let in, who is in the listed groups.

A phone number is pinned to the account that first wrote under it, because Signal reassigns numbers to other people.
Left to others: what the list says about them (`bot.access.access`), what happens to strangers (`strangers`).
"""

import asyncio
import logging
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace

from bot.access.access import AccessList, may_write, members_of
from bot.clock import Clock
from bot.errors import ConfigError, Disconnected
from bot.events import Envelope, PersonId
from bot.metrics import Counts
from bot.signal.protocol import Transport
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

    async def recognize(self, *envelopes: Envelope) -> list[tuple[Envelope, bool]]:
        """Each with the author's listed number only if it is really theirs, and whether they may write.

        The store is asked at most twice for all of them, so that a burst does not wait once for each.
        """
        if not self._asks_store:
            return [(envelope, may_write(envelope, self.allowed)) for envelope in envelopes]
        await self._pin([envelope for envelope in envelopes if envelope.number in self._numbers])
        asked = [envelope for envelope in envelopes if self._is_unsettled(envelope)]
        told = dict(zip(map(id, asked), await self._look_up(asked) if asked else [], strict=True))
        return [self._recognized(envelope, *told.get(id(envelope), (None, False))) for envelope in envelopes]

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

    def _is_unsettled(self, envelope: Envelope) -> bool:
        """Whether only the store knows if the author was let in or has a listed number."""
        if envelope.author is None or envelope.from_self or self._is_holder(envelope):
            return False
        return bool(self._numbers) or not may_write(envelope, self.allowed)

    async def _look_up(self, envelopes: Sequence[Envelope]) -> list[tuple[str | None, bool]]:
        """The listed number that is pinned to each author, None if none is, and whether they were let in."""
        return await self._store.read(
            lambda repos: [
                (
                    repos.people.number_of(str(one.author), self._numbers),
                    repos.people.is_allowed(str(one.author), account=one.account),
                )
                for one in envelopes
            ]
        )

    def _recognized(self, envelope: Envelope, pinned: str | None, is_approved: bool) -> tuple[Envelope, bool]:  # noqa: FBT001
        if envelope.author is not None and not envelope.from_self and not self._is_holder(envelope):
            number = None if envelope.number in self._numbers else envelope.number
            envelope = replace(envelope, number=pinned or number)
        return envelope, may_write(envelope, self.allowed, is_approved=is_approved)

    def _is_holder(self, envelope: Envelope) -> bool:
        """Whether the author is known to have the listed number that the frame shows."""
        return envelope.number is not None and self._holders.get(envelope.number) == envelope.author

    async def _pin(self, envelopes: Sequence[Envelope]) -> None:
        """Finds out whose the listed numbers are: pinned to their authors, or free, or their UUID is listed, too."""
        sure = self.allowed.persons | self.allowed.admins
        claims = dict.fromkeys(
            (str(one.number), one.author)
            for one in envelopes
            if one.author is not None and not one.from_self and not self._is_holder(one)
        )
        if not claims:
            return
        now = self._clock.wall()
        theirs = await self._store.transaction(
            lambda repos: [
                (number, author)
                for number, author in claims
                if repos.people.pin(number, author, now=now, is_confirmed=author in sure)
            ]
        )
        self._holders.update(theirs)
        for number in {number for number, _ in claims.keys() - set(theirs)} - self._changed_numbers:
            self._changed_numbers.add(number)
            self._counts.add("numbers_changed")
            _log.error(
                "a phone number on the access list now belongs to another account, which is refused; see `python -m "
                "bot doctor`. If that is right, put the account's uuid into the list"
            )
