"""Maintenance: regular clean-up.

It removes what has expired, puts abandoned claims back, deletes settled rows and old turns, and folds the
write-ahead log into the database, so that what was removed has left the disk.

It also follows the machine's clock where that was set, and stores the time, so that the next start notices it, too
(`bot.clock`). As long as the clock is in doubt, nothing is removed by it.
"""

import asyncio
import logging
from dataclasses import dataclass
from datetime import timedelta

from bot.chat.edits import Revisions
from bot.clock import Clock, again_and_again
from bot.logs import RepeatedWarning
from bot.settings import Settings
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
    settings: Settings

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
            group.create_task(again_and_again(self.tidy, lambda: self.every_seconds, _log, "maintenance"))
            group.create_task(again_and_again(self.expire, lambda: self.expiry_every_seconds, _log, "maintenance"))

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
        days = self.settings.history.retention_days
        while is_sure and days and await self.revisions.retain(now - timedelta(days=days)) > 0:
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
        """Empties the write-ahead log; says now and then that another program keeps it from that. Makes last night's
        backup, if it is missing and wanted.
        """
        try:
            await self.store.checkpoint()
            self._hindered.end()
        except StoreInUse as error:
            self._hindered.tell(str(error))
        if (days := self.settings.store.backup_days) and not self.clock.doubt():
            folder = self.settings.store.path.absolute().parent / "backups/nightly"
            zone = self.settings.locale.timezone
            kept = timedelta(days=days)
            await self.store.back_up_nightly(folder, now=self.clock.now(), timezone=zone, kept=kept)
