"""The health page: `GET /healthz` answers 200 while Aldis works and 503 while it does not, with the reasons as JSON.

For the machine that watches over Aldis (docker's health check); it listens on loopback unless set otherwise.
"""

import logging
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from datetime import datetime

from aiohttp import web

from bot.clock import Clock
from bot.errors import ConfigError
from bot.loops.intake import Intake
from bot.metrics import Counts
from store import Store, StoreError, Waiting

_log = logging.getLogger(__name__)

_LONGEST_WAIT_SECONDS = 900.0
"""Longer than any turn with its retries may take: whoever waits longer waits in vain."""


class HealthPage:
    """What `/healthz` looks at."""

    def __init__(self, store: Store, intake: Intake, clock: Clock, counts: Counts) -> None:
        self._store = store
        self._intake = intake
        self._clock = clock
        self._counts = counts

    async def answer(self, _: web.Request) -> web.Response:
        """The state now: `{"ok": ..., "problems": [...], "inbox": {...}, "outbox": {...}, "counts": {...}}`."""
        try:
            inbox, outbox = await self._store.transaction(
                lambda shelves: (shelves.inbox.backlog(), shelves.outbox.backlog())
            )
        except StoreError as error:
            return web.json_response({"ok": False, "problems": [f"the store fails: {error}"]}, status=503)
        problems = self._problems(inbox)
        body = {
            "ok": not problems,
            "problems": problems,
            "inbox": {"open": inbox.items, "dead": inbox.dead},
            "outbox": {"open": outbox.items, "dead": outbox.dead},
            "counts": self._counts.all(),
        }
        return web.json_response(body, status=503 if problems else 200)

    def _problems(self, inbox: Waiting) -> list[str]:
        problems: list[str] = []
        if not self._intake.is_connected:
            problems.append("the stream of messages is not open")
        if inbox.oldest_at is not None and _seconds(inbox.oldest_at, self._clock.now()) > _LONGEST_WAIT_SECONDS:
            problems.append("a message has been waiting for too long")
        return problems


@asynccontextmanager
async def served(page: HealthPage, host: str, port: int) -> AsyncGenerator[None]:
    """Serve the page while the block runs; port 0 serves nothing.

    Raises:
        ConfigError: the address cannot be listened on.
    """
    if port == 0:
        yield
        return
    app = web.Application()
    app.router.add_get("/healthz", page.answer)
    runner = web.AppRunner(app, access_log=None, handle_signals=False, shutdown_timeout=1.0)
    await runner.setup()
    try:
        try:
            await web.TCPSite(runner, host, port).start()
        except OSError as error:
            raise ConfigError(f"WEB__PORT: {host}:{port} cannot be listened on; set another, or 0 for none") from error
        _log.info("health page at http://%s:%d/healthz", host, port)
        yield
    finally:
        await runner.cleanup()


def _seconds(since: datetime, now: datetime) -> float:
    return (now - since).total_seconds()
