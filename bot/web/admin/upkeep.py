"""Upkeep: the doctor's findings, backups and the master key, feeds and reminders, the log, what was done, the versions.

Reminders are shown by number and time, the log as it is, since it contains no words of people.
"""

import asyncio
import logging
import re
import sys
from collections import deque
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

from aiohttp import web

from bot.clock import MachineClock
from bot.doctor.checkup import examine
from bot.doctor.findings import Finding
from bot.errors import Disconnected
from bot.logs import escaped_line
from bot.version import described_build
from bot.web.admin.context import AdminContext, NotDone, go_to, refusing
from bot.web.admin.guard import form_of
from bot.web.admin.upgrade import UpgradeCheck
from store import Repositories, StoreError
from tools import canonical_url

_DONE, _UPKEEP = "/setup/done", "/upkeep"
_NUMBER = re.compile(r"[1-9]\d{0,8}", re.ASCII)
_LINES = 200
_ACTIONS = 50


class LogTail(logging.Handler):
    """The newest lines of the log, in memory."""

    def __init__(self) -> None:
        super().__init__()
        self.lines: deque[str] = deque(maxlen=_LINES)

    def emit(self, record: logging.LogRecord) -> None:
        """Keeps a line."""
        self.lines.append(escaped_line(record))

    @contextmanager
    def listening(self) -> Generator[None]:
        """Keeps lines while the block runs."""
        loggers = [logging.getLogger(name) for name in ("bot", "tools", "store")]
        for logger in loggers:
            logger.addHandler(self)
        try:
            yield
        finally:
            for logger in loggers:
                logger.removeHandler(self)


class UpkeepPage:
    """The pages of upkeep, and the last page of setup."""

    def __init__(self, context: AdminContext, log: LogTail) -> None:
        self._context = context
        self._log = log
        self.check = UpgradeCheck()
        context.add_fragment("upgrade", self._upgrade)
        self._findings: tuple[Finding, ...] | None = None

    def routes(self) -> list[web.RouteDef]:
        """Returns the paths of the pages."""
        return [
            web.get(_DONE, self._show_done),
            web.get(_UPKEEP, self._show),
            web.post("/upkeep/examine", self._examine),
            web.post("/upkeep/backup", self._back_up),
            web.post("/upkeep/backup/file", self._hand_backup_over),
            web.post("/upkeep/backup/days", self._set_backup_days),
            web.post("/upkeep/key", self._hand_key_over),
            web.post("/upkeep/upgrade", self._check_upgrade),
            web.post("/upkeep/feed/add", self._add_feed),
            web.post("/upkeep/feed/remove", self._remove_feed),
        ]

    async def _show_done(self, request: web.Request) -> web.Response:
        world = self._context.world
        return self._context.page(
            request,
            "done",
            findings=self._findings,
            has_key=world.settings.store.key_path.is_file(),
            number=world.running.transport.number if world.running else None,
        )

    async def _show(self, request: web.Request) -> web.Response:
        running = self._context.world.running
        feeds, reminders, release = (), (), None
        if running is not None:
            try:
                feeds, reminders = await running.store.read(
                    lambda repos: (repos.feeds.all(), repos.reminders.due_times())
                )
                release = await running.transport.release()
            except (StoreError, Disconnected):
                pass
        return self._context.page(
            request,
            "upkeep",
            upgrade=await self._context.fragment(request, "upgrade"),
            has_news=self._has_news(),
            feeds=feeds,
            reminders=reminders,
            release=release.name if release else None,
            version=described_build(),
            python=sys.version.partition(" ")[0],
            findings=self._findings,
            has_key=self._context.world.settings.store.key_path.is_file(),
            backups=[path.name for path in self._backups()],
            backup_days=self._context.world.settings.store.backup_days,
            key_file=self._context.world.settings.store.key_path.name,
            lines=list(self._log.lines)[::-1],
            actions=self._context.audit.newest(_ACTIONS),
        )

    async def _examine(self, request: web.Request) -> web.Response:
        settings = self._context.world.settings
        self._context.write_down(request, "examined")
        running, deps = self._context.world.running, self._context.world.deps(settings)
        state = await running.health.running_state() if running else None
        self._findings = await examine(settings, deps, MachineClock(), running=state)
        back = _DONE if form_of(request).get("back") == "done" else _UPKEEP
        return self._context.done(request, back, "Checked.")

    async def _back_up(self, request: web.Request) -> web.Response:
        running = self._context.running(_UPKEEP)
        with refusing(_UPKEEP):
            await running.store.backup(self._folder(), now=running.clock.wall())
        self._context.write_down(request, "backup.made")
        return self._context.done(request, _UPKEEP, "Backup made.")

    async def _hand_key_over(self, request: web.Request) -> web.Response:
        """Sends the file with the master key: nobody can read a backup without it, and no backup contains it."""
        path = self._context.world.settings.store.key_path
        if not path.is_file():
            raise NotDone(
                _UPKEEP, ("The key is not in a file here: it comes from the settings, or nothing has been kept yet.")
            )
        self._context.write_down(request, "key.downloaded")
        headers = {"Content-Disposition": f'attachment; filename="{path.name}"'}
        return web.Response(body=path.read_bytes(), content_type="application/octet-stream", headers=headers)

    async def _upgrade(self) -> tuple[str, dict[str, object]]:
        return "part_upgrade", {"check": self.check}

    async def _check_upgrade(self, request: web.Request) -> web.Response:
        if self.check.start():
            self._context.write_down(request, "upgrade.checked")
        return go_to(f"{_UPKEEP}#upgrade-title")

    def _has_news(self) -> bool:
        settings = self._context.world.settings.tools
        return settings.enabled and settings.options_by_name["news"].enabled

    async def _add_feed(self, request: web.Request) -> web.Response:
        running, url = self._context.running(_UPKEEP), canonical_url(form_of(request).get("address", "").strip())
        if not self._has_news():
            raise NotDone(_UPKEEP, "The news tool is switched off.")
        if url is None:
            raise NotDone(
                _UPKEEP, ("That is not a web address. It has to begin with https:// and must not contain a password.")
            )
        now = running.clock.now()
        with refusing(_UPKEEP):
            feed = await running.store.transaction(
                lambda repos: repos.feeds.add(url, now=now) if repos.feeds.can_search() else None
            )
        if feed is None:
            raise NotDone(_UPKEEP, "That feed is already there, or there is no room for more.")
        self._context.write_down(request, "feed.added", str(feed.id))
        return self._context.done(request, _UPKEEP, "Feed added. Aldis reads it from now on.")

    async def _remove_feed(self, request: web.Request) -> web.Response:
        running, number = self._context.running(_UPKEEP), form_of(request).get("number", "")
        if not _NUMBER.fullmatch(number):
            raise NotDone(_UPKEEP, "That feed is no longer there.")

        def remove(repos: Repositories) -> None:
            feed = next((feed for feed in repos.feeds.all() if feed.id == int(number)), None)
            if feed is None:
                raise NotDone(_UPKEEP, "That feed is no longer there.")
            if feed.is_set:  # it would come back at the next start
                raise NotDone(_UPKEEP, "It is set by TOOLS__NEWS__FEEDS; remove it there.")
            repos.feeds.remove(feed.id)

        with refusing(_UPKEEP):
            await running.store.transaction(remove)
        self._context.write_down(request, "feed.removed", number)
        return self._context.done(request, _UPKEEP, "Feed removed, and its articles deleted.")

    def _folder(self) -> Path:
        return self._context.world.settings.store.path.absolute().parent / "backups"

    def _backups(self) -> list[Path]:
        """The newest copies, made here and nightly."""
        found = [*self._folder().glob("aldis-*.db"), *self._folder().glob("nightly/aldis-*.db")]
        return sorted(found, key=lambda path: path.name, reverse=True)[:20]

    async def _hand_backup_over(self, request: web.Request) -> web.Response:
        """Sends one of the two files of a copy."""
        name = form_of(request).get("file", "")
        files = [file for path in self._backups() for file in (path, path.with_name(f"{path.name}-keys"))]
        file = next((file for file in files if file.name == name and file.is_file()), None)
        if file is None:
            raise NotDone(_UPKEEP, "That copy is no longer there.")
        self._context.write_down(request, "backup.downloaded", file.name)
        return web.Response(
            body=await asyncio.to_thread(file.read_bytes),
            content_type="application/octet-stream",
            headers={"Content-Disposition": f'attachment; filename="{file.name}"'},
        )

    async def _set_backup_days(self, request: web.Request) -> web.Response:
        days = form_of(request).get("days", "").strip() or None
        return await self._context.save(request, _UPKEEP, {"STORE__BACKUP_DAYS": days})
