"""The operator's pages: `GET /healthz` answers 200 while Aldis works, else 503 with the reasons as JSON; `GET /metrics`
has figures for Prometheus.

Both are for monitoring (docker's health check, for example), and listen on loopback unless set otherwise. A request for
a name that a stranger could point here is refused: otherwise a page in the operator's browser could read them (DNS
rebinding). Until Aldis runs, they say what it waits for.
"""

import asyncio
import logging
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import datetime
from typing import Any, get_args
from urllib.parse import urlsplit

from aiohttp import web
from aiohttp.typedefs import Handler

from bot.chat.notices import Kind
from bot.doctor.findings import wanting
from bot.doctor.machine import words_of_level
from bot.loops.watchdog import Watchdog
from bot.media.confinement import Level
from bot.metrics import CONTENT_TYPE, Counts, sample_name
from bot.signal.protocol import Outside
from bot.version import build
from bot.web.listening import on_address, serving
from store import Repositories, StoreError, Waiting
from tools import clean_line

_log = logging.getLogger(__name__)

_MAX_WAIT_SECONDS = 900.0
"""Longer than any turn with its retries can take: a message that waits longer will not be answered."""

_PRIVATE_NAMES = (".internal", ".local", ".localhost", ".home.arpa", ".lan")
"""Name endings that the public DNS does not have. Source: RFC 6761, 6762 and 8375, ICANN's resolution of July 2024
on `.internal`; `.lan`, which many routers use, is no top-level domain (2026-11)."""


@dataclass
class HealthPage(Outside):
    """What the page reports about a running Aldis."""

    watchdog: Watchdog
    level: Callable[[], Level | None] = lambda: None
    """Returns the layers of the cells in which strangers' files are opened; None if unknown so far."""
    free_bytes: Callable[[], int | None] = lambda: None
    used_share: Callable[[], Awaitable[Mapping[str, float]]] | None = None
    """Returns the share of everybody's common budgets that is used up."""

    async def state(self) -> dict[str, Any]:
        """Returns the present state; if the store fails, only the first two fields.

        `challenge` is the token of the captcha that Signal wants solved, mostly null; `cells` are described by the
        layers that confine them; `findings` are what the operator should fix, and do not change `ok`, because a restart
        does not help against them.
        """
        problems, level = self.watchdog.problems(), self.level()
        try:
            own, (inbox, outbox) = await self.store.read(
                lambda repos: ([*self._overdue(repos), *_held(repos)], _open(repos))
            )
        except StoreError as error:
            return {"ok": False, "problems": [f"the store fails: {error!s}", *problems]}
        return {
            "ok": not (problems or own),
            "problems": [*problems, *own],
            "challenge": self.watchdog.challenge,
            "cells": None if level is None else words_of_level(level),
            "inbox": {"open": inbox.items, "dead": inbox.dead},
            "outbox": {"open": outbox.items, "dead": outbox.dead},
            "counts": self.counts.all(),
            "findings": [
                {"level": one.level, "what": clean_line(one.what), "advice": clean_line(one.advice)}
                for one in wanting(self.watchdog.findings)
            ],
            "tasks": len(asyncio.all_tasks()),
            "build": dict(build()),
        }

    def _overdue(self, repos: Repositories) -> list[str]:
        """What should have been done by now, a sentence each; or that the clock does not tell."""
        if (words := self.clock.doubt_in_words()) is not None:
            return [words]
        waiting = {
            "a message has been waiting for too long": self._seconds_since(repos.inbox.backlog().oldest_at),
            "an answer has been due to be sent for too long": self._seconds_since(repos.outbox.next_due_at()),
            "a reminder has been due for too long": self._seconds_since(repos.reminders.next_due_at()),
        }
        return [words for words, seconds in waiting.items() if seconds > _MAX_WAIT_SECONDS]

    async def metrics(self) -> str:
        """Returns the present figures; if the store fails, its own are left out."""
        watchdog, level = self.watchdog, self.level()
        found = {finding.notice.kind for finding in wanting(self.watchdog.findings) if finding.notice is not None}
        gauges: dict[str, float | None] = {
            **{sample_name("finding", kind=kind): kind in found for kind in get_args(Kind)},
            sample_name("build_info", **build()): 1,
            "ready": 1,
            "disk_free_bytes": self.free_bytes(),
            "cells_hold": level and level.seccomp,
            "stream_open": self.transport.stream.is_open,
            "heard_seconds_ago": watchdog.heard_seconds_ago,
            "linked": watchdog.is_linked,
            "findings": len(wanting(self.watchdog.findings)),
            "captcha_wanted": watchdog.challenge is not None,
            "store_up": 1,
        }
        try:
            used: Mapping[str, float] = await self.used_share() if self.used_share else {}
            gauges |= {sample_name("budget_used_ratio", span=span): share for span, share in used.items()}
            for name, waiting in zip(("inbox", "outbox"), await self.store.read(_open), strict=True):
                gauges |= {f"{name}_open": waiting.items, f"{name}_dead": waiting.dead}
                gauges[f"{name}_oldest_seconds"] = self._seconds_since(waiting.oldest_at)
        except StoreError:
            gauges["store_up"] = 0
        return self.counts.exposition(gauges)

    def _seconds_since(self, at: datetime | None) -> float:
        """How many seconds ago that was; 0 if it is in the future or None."""
        return 0.0 if at is None else max(0.0, (self.clock.now() - at).total_seconds())


def _open(repos: Repositories) -> tuple[Waiting, Waiting]:
    """What waits in inbox and outbox."""
    return repos.inbox.backlog(), repos.outbox.backlog()


def _held(repos: Repositories) -> list[str]:
    """What waits until a new safety number is trusted: by label, because the page names no one."""
    labels = list(repos.people.new_identities())
    if not labels and (held := len(repos.outbox.holds())):
        where = "1 conversation" if held == 1 else f"{held} conversations"
        return [f"answers are held in {where}, because of safety numbers that the bridge has not reported yet"]
    return [
        f"the safety number of {label} has changed: nothing from them is read, and answers to them are held, until the "
        f"new one is trusted; ask them, then send /trust {label} in Signal, or look at the administration pages"
        for label in labels
    ]


@asynccontextmanager
async def serve(shown: Callable[[], HealthPage | str], host: str, port: int) -> AsyncGenerator[None]:
    """Serves the pages while the block runs, port 0 none; raises ConfigError if the address cannot be listened on.

    `shown` returns the page of the running Aldis, or what it waits for until it runs.
    """
    if port == 0:
        yield
        return

    @web.middleware
    async def where(request: web.Request, handler: Handler) -> web.StreamResponse:
        if not is_local_name(request.headers.get("Host")):
            raise web.HTTPMisdirectedRequest(text="Not a name of this server.\n")
        return await handler(request)

    async def health(_: web.Request) -> web.Response:
        page = shown()
        state = {"ok": False, "problems": [page]} if isinstance(page, str) else await page.state()
        return web.json_response(state, status=200 if state["ok"] else 503)

    async def metrics(_: web.Request) -> web.Response:
        page = shown()
        figures = Counts().exposition({"ready": 0}) if isinstance(page, str) else await page.metrics()
        return web.Response(text=figures, headers={"Content-Type": CONTENT_TYPE})

    app = web.Application(middlewares=[where])
    app.router.add_get("/healthz", health)
    app.router.add_get("/metrics", metrics)
    async with serving(app, on_address(host, port, "WEB__PORT")):
        _log.info("health page at http://%s:%d/healthz", host, port)
        yield


def is_local_name(header: str | None) -> bool:
    """Whether no stranger can have put this into the header `Host`: an address, a name without a dot (such as a
    container's), or one of a private network. None also passes: every browser names a host.
    """
    try:
        name = "localhost" if header is None else (urlsplit(f"//{header}").hostname or "").removesuffix(".")
    except ValueError:
        return False
    last = name.rpartition(".")[2]  # of no public name a number, as it is of an address
    return bool(name) and (last == name or last.isdecimal() or name.endswith(_PRIVATE_NAMES))
