"""Aldis as it runs: its loops side by side, from the first message to a stop that loses nothing.

Left to others: what the parts are (`bot.app`), when to stop (`bot.cli.main`).
"""

import asyncio
import logging
import time
from collections.abc import Callable, Coroutine
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, TypeVar

from bot.features.feeds import FeedPoller
from bot.features.recall import Indexer
from bot.features.reminders.service import Reminders
from bot.features.summaries import Summaries
from bot.features.watches.service import Lookout
from bot.loops.doorkeeper import Doorkeeper
from bot.loops.intake import Intake
from bot.loops.maintenance import Maintenance
from bot.loops.sender import Sender
from bot.loops.watchdog import Watchdog
from bot.loops.worker import Worker
from bot.settings import Settings
from bot.web.admin.world import RunningParts
from bot.web.control import Control, answering, socket_path

T = TypeVar("T")

_log = logging.getLogger(__name__)

_READING_SECONDS, _LAST_READING_SECONDS = 7.0, 2.5
"""How long the stream may take to end alongside turns and sends, and after everything else."""


@dataclass(frozen=True, kw_only=True)
class Service:
    """All running parts, put together."""

    settings: Settings
    worker: Worker
    intake: Intake
    sender: Sender
    doorkeeper: Doorkeeper
    maintenance: Maintenance
    reminders: Reminders
    watches: Lookout
    summaries: Summaries
    indexer: Indexer | None
    feed_poller: FeedPoller | None
    watchdog: Watchdog
    control: Control
    running: RunningParts
    """What the administration pages and the health page show."""

    async def run(self, stop: asyncio.Event, hurry: asyncio.Event) -> None:
        """Answers messages until `stop` is set, then finishes or hands back the work in progress, within bounded time;
        what still runs when `hurry` is set is handed back at once.

        Raises:
            ConfigError: the bridge says that it will never work, or the control socket cannot be created.
        """
        async with answering(self.control.app, socket_path(self.settings.store.path)):
            loops = (self.watchdog, self.running.identities)
            watching = [asyncio.create_task(loop.run(), name=type(loop).__name__) for loop in loops]
            try:
                await self._loop(self.intake.run, stop, hurry)
            finally:
                for task in watching:
                    task.cancel()
                await asyncio.wait(watching)

    async def chat(self, stop: asyncio.Event, hurry: asyncio.Event) -> None:
        """Answers what the transport gives until its stream ends for good or `stop` is set; `hurry` as in `run`."""
        await self._loop(self.intake.read_once, stop, hurry)

    async def _loop(
        self, read: Callable[[], Coroutine[Any, Any, None]], stop: asyncio.Event, hurry: asyncio.Event
    ) -> None:
        await self.maintenance.recover()
        await self.sender.recover()
        async with asyncio.TaskGroup() as group:
            working = group.create_task(self.worker.run(), name="worker")
            sending = group.create_task(self.sender.run(), name="sender")
            asks = (self.reminders, self.watches, self.summaries, *filter(None, (self.indexer, self.feed_poller)))
            asking = [group.create_task(loop.run(), name=type(loop).__name__) for loop in asks]
            tidying = [group.create_task(loop.run()) for loop in (self.maintenance, self.doorkeeper)]
            reading = group.create_task(read(), name="intake")
            await until(stop, asyncio.wait([reading]))
            # What arrives after the end of a stream that keeps nothing is lost, so that one ends last.
            stops_last = not self.running.transport.stream.keeps_messages
            if not stops_last:
                self.intake.stop()
            for task in asking:
                task.cancel()
            # Turns and then sends finish while the stream ends beside them, until time is up or `hurry` is set.
            read_by = time.monotonic() + _READING_SECONDS
            with suppress(TimeoutError):
                async with asyncio.timeout(self.settings.worker.shutdown_seconds):
                    await until(hurry, self._finish(working, sending))
            is_finished = working.done() and sending.done()
            working.cancel()  # its last marks go while the stream ends: one after the other would take too long
            if stops_last:
                read_by = time.monotonic() + _LAST_READING_SECONDS
                self.intake.stop()
            await until(hurry, asyncio.wait([reading], timeout=max(0, read_by - time.monotonic())))
            await self.intake.aclose()
            if not is_finished:
                _log.warning("the time to stop is over; unfinished work resumes at the next start")
            for task in (*tidying, reading, sending):
                task.cancel()

    async def _finish(self, working: asyncio.Task[None], sending: asyncio.Task[None]) -> None:
        self.worker.drain()
        await asyncio.wait([working])
        self.sender.drain()
        await asyncio.wait([sending])


async def until(stop: asyncio.Event, work: Coroutine[Any, Any, T]) -> T | None:
    """The result of `work`, or None if `stop` is set first; `work` is then cancelled."""
    working, stopping = asyncio.ensure_future(work), asyncio.ensure_future(stop.wait())
    try:
        await asyncio.wait((working, stopping), return_when=asyncio.FIRST_COMPLETED)
    finally:
        for task in (working, stopping):
            task.cancel()
        await asyncio.wait((working, stopping))
    return None if working.cancelled() else working.result()
