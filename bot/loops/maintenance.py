"""Maintenance: regular clean-up, and what the bridge says of groups.

Clean-up removes what has expired, puts abandoned claims back, deletes settled rows and old turns, and folds the
write-ahead log into the database, so that what was removed has left the disk.

It also follows the machine's clock where that was set, and stores the time, so that the next start notices it, too
(`bot.clock`). As long as the clock is in doubt, nothing is removed by it.
"""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import KW_ONLY, dataclass
from datetime import timedelta

from bot.access.access import AccessList, accepts
from bot.chat.edits import Revisions
from bot.clock import Clock, is_set_within
from bot.errors import CallRefused, ConfigError, TransportError
from bot.events import ChatId
from bot.logs import RepeatedWarning, describe_error
from bot.signal.protocol import Group, Groups, Transport
from store import Repositories, Store, StoreError, StoreInUse

_log = logging.getLogger(__name__)

_REMEMBERED = timedelta(days=45)
"""How long the ids of settled messages are kept to recognise a redelivery. A linked device that has not fetched for a
month is unlinked, so nothing older arrives. Source: signal-cli-rest-api, issue 552 (2026)."""


@dataclass
class Maintenance:
    """The clean-up loop."""

    every_seconds = 60.0
    expiry_every_seconds = 5.0
    """Signal's shortest timers are a few seconds long; looking for expired items is one index scan."""

    store: Store
    clock: Clock
    revisions: Revisions
    _: KW_ONLY
    retention: timedelta | None = None
    nightly: Callable[[], Awaitable[None]] | None = None
    """Makes last night's copy, if it is missing."""

    def __post_init__(self) -> None:
        self._hindered = RepeatedWarning(_log)

    async def recover(self) -> None:
        """Runs at start: expires, then treats all claims as abandoned, because one process owns the store."""
        await self.expire()

        def transact(repos: Repositories) -> int:
            repos.last_time.keep(self.clock.snapshot())
            return repos.inbox.recover()

        count = await self.store.transaction(transact)
        if count:
            _log.warning("%d messages were being answered when Aldis stopped; resuming them", count)

    async def run(self) -> None:
        """Cleans up regularly; ends only by cancellation."""
        async with asyncio.TaskGroup() as group:
            group.create_task(self._again_and_again(self.tidy, self.every_seconds), name="tidying")
            group.create_task(self._again_and_again(self.expire, self.expiry_every_seconds), name="expiry")

    async def expire(self) -> None:
        """Removes what has expired, from the disk as well.

        Raises:
            StoreError: it failed and is tried again the next time.
        """
        await self._follow_clock()
        now, count = self.clock.now(), 0
        if not self.clock.doubt():
            count = await self.store.erase(lambda repos: repos.forgetting.expire(now))
            while some := await self.revisions.expire():
                count += some
        if count:
            _log.info("%d turns and what came of them have disappeared: their timers ran out", count)
        try:
            await self.store.transaction(lambda repos: repos.inbox.take_up_overdue(now))
        finally:
            if count:
                await self._checkpoint()

    async def _follow_clock(self) -> None:
        """Takes a step of the machine's clock over, in the transaction that moves the queues' deadlines by as much: a
        process that ends right after it would else move them again.
        """
        step, now = self.clock.new_step(), self.clock.now()

        def follow(repos: Repositories) -> None:
            self.clock.follow(step)
            repos.outbox.put_off_all(step, now=now)
            repos.inbox.put_off_all(step)
            repos.last_time.keep(self.clock.snapshot())

        try:
            if step:
                await self.store.transaction(follow)
                words = f"the machine's clock was set by {step.total_seconds():+.0f} s"
                _log.warning("%s", self.clock.doubt_in_words() or words)
        except StoreError as error:
            if not self.clock.new_step():
                self.clock.follow(-step)
            _log.error("the machine's clock was set; this is taken over at the next look: %s", error)

    async def tidy(self) -> None:
        """Cleans up once.

        Raises:
            StoreError: something could not be written; it is done the next time.
        """
        now, is_sure = self.clock.now(), not self.clock.doubt()
        while is_sure and self.retention and await self.revisions.retain(now - self.retention) > 0:
            _log.info("turns older than the retention period were destroyed")
        old = now - _REMEMBERED

        def transact(repos: Repositories) -> int:
            repos.last_time.keep(self.clock.snapshot())
            if is_sure:
                repos.inbox.prune(before=old)
                repos.outbox.prune(before=old)
                repos.people.prune(before=old)
                repos.forgetting.prune(before=old)
            return repos.inbox.requeue(now=self.clock.now())

        count = await self.store.transaction(transact)
        if count:
            _log.warning("%d messages were left behind by their turn; resuming them", count)
        await self._checkpoint()

    async def _checkpoint(self) -> None:
        """Empties the write-ahead log; says now and then that another program keeps it from that."""
        try:
            await self.store.checkpoint()
            self._hindered.end()
        except StoreInUse as error:
            self._hindered.tell(str(error))
        if self.nightly is not None and not self.clock.doubt():
            await self.nightly()

    async def _again_and_again(self, work: Callable[[], Awaitable[None]], every_seconds: float) -> None:
        while True:
            await asyncio.sleep(every_seconds)
            try:
                await work()
            except Exception as error:  # noqa: BLE001  (it is tried again the next time)
                _log.error("maintenance failed: %s", describe_error(error))


@dataclass
class Membership:
    """The loop that asks the bridge for groups, every minute, and when a receipt depends on it.

    Who is in a group decides who may write (`on_groups`), and which receipts can prove a send to it. An account that
    was added to a group without a shared profile is only invited, and nothing of that group arrives until it accepts;
    it does where the operator's list lets people write.
    """

    every_seconds = 60.0
    pause_seconds = 5.0
    """Between two looks, however many receipts want one."""

    transport: Transport
    store: Store
    clock: Clock
    allowed: AccessList
    on_groups: Callable[[Sequence[Group]], None] = lambda _: None
    """Called with the groups of the account whenever the bridge has given them."""

    def __post_init__(self) -> None:
        self._bridge = self.transport if isinstance(self.transport, Groups) else None

    async def run(self) -> None:
        """Looks regularly; ends only by cancellation, or at once where there are no groups."""
        wakeup = self.store.wakeups["members"]
        while self._bridge is not None:
            wakeup.clear()
            try:
                await self.look()
            except Exception as error:  # noqa: BLE001  (it only leaves some sends in doubt; nothing else fails)
                words = str(error) if isinstance(error, TransportError | ConfigError) else describe_error(error)
                _log.warning("until the bridge names the groups, receipts of their members prove nothing (%s)", words)
            await asyncio.sleep(self.pause_seconds)
            await is_set_within(wakeup, self.every_seconds)

    async def look(self) -> None:
        """Accepts invitations to listed groups, and stores who is in the groups with conversations.

        Raises:
            TransportError, ConfigError: the bridge does not answer.
            StoreError: it could not be stored.
        """
        bridge, allowed = self._bridge, self.allowed
        if bridge is None:
            return
        invitations = await bridge.invitations() if allowed.groups and not allowed.note_to_self else ()
        for invitation in invitations:
            if accepts(invitation, allowed):
                try:
                    await bridge.join(invitation.id)
                    _log.info("accepted an invitation to a group of ACCESS__GROUPS")
                except CallRefused as error:
                    _log.warning("an invitation to a group of ACCESS__GROUPS could not be accepted: %s", error)
        asked_at = self.clock.now()
        groups = await bridge.groups()
        self.on_groups(groups)
        left = [ChatId.group(group) for group in await bridge.former_groups()]

        def keep(repos: Repositories) -> None:
            for group in groups:
                if group.is_complete:
                    people = [ChatId.direct(person) for person in group.members]
                    repos.members.keep(ChatId.group(group.id), people, listed_at=asked_at)
            # What was planned in a group that Aldis has left neither comes nor costs.
            repos.members.leave(left, listed_at=asked_at)
            repos.attempts.reconcile(now=self.clock.now())

        await self.store.transaction(keep)
