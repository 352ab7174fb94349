"""The verbs `run`, `setup`, `admin` and `restart`: Aldis answers in Signal, in one run after another, until a stop.

    run --> the parts are built from the settings --> they run --stopped--> the end
              ^                                          '-restarted--> new settings, checked --.
              '---------------------------------------------------------------------------------'

A restart ends the parts in the same orderly way as stopping the process. Settings that are refused change nothing; if
settings turn out to be unusable only when the parts are built, the previous run starts again, and the health page says
so.
"""

import argparse
import asyncio
import gc
import logging
import signal
import sys
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Any

from bot import app, logs, settings
from bot.access.pairing import Pairing
from bot.app import transports
from bot.cli import store as upkeep
from bot.errors import ConfigError, Disconnected
from bot.invocation import command_line, spell_commands
from bot.service import until
from bot.settings import Settings
from bot.settings.load import SettingsFile
from bot.shutdown import Restarts, Shutdown
from bot.web.admin.guard import PagesAddress
from bot.web.admin.world import Wait, World
from bot.web.control import ask_running
from bot.web.health import serve
from store import StoreError

_log = logging.getLogger(__name__)

_USUAL_PORT = 8789
"""The port of the pages if `setup` asks for them and no port is set."""
_ASKING_SECONDS = 10.0
"""How many seconds a verb waits for the running Aldis to answer about its pages."""
_FIRST = "Set Aldis up in a browser: {url}\nThis link works once, within ten minutes; `{command}` prints another."
_RESTART_SECONDS = 60.0
"""How many seconds `restart` waits for the next run; a run takes ten at most to end."""
_REFUSALS = (ConfigError, StoreError, Disconnected)


def run(given: Settings, _: argparse.Namespace) -> int:
    """`run`: answers until stopped."""
    logs.set_up(given.log.level.upper(), given.log.format)
    app.check_settings(given)
    asyncio.run(_Runs(given).go())
    return 0


def set_up(given: Settings, options: argparse.Namespace) -> int:
    """`setup`: prints the address that opens the pages of the running Aldis; if none runs, runs one with pages."""
    if asyncio.run(_link(given)) is not None:
        return show_link(given, options)
    if asyncio.run(ask_running(given.store.path, "state", within_seconds=_ASKING_SECONDS)) is not None:
        raise ConfigError(f"WEB__ADMIN_PORT: Aldis runs without pages; set it to {_USUAL_PORT} and start Aldis again")
    port = given.web.admin_port or _USUAL_PORT
    return run(given.model_copy(update={"web": given.web.model_copy(update={"admin_port": port})}), options)


def show_link(given: Settings, _: argparse.Namespace) -> int:
    """`admin`: prints the address that opens the pages of the running Aldis."""
    url = asyncio.run(_link(given))
    if url is None:
        raise ConfigError(
            f"no Aldis with administration pages is running here; set WEB__ADMIN_PORT={_USUAL_PORT} and start it, or "
            f"run: {command_line('setup')}"
        )
    print(url)
    print("It works once, within ten minutes.", file=sys.stderr)
    return 0


async def _link(given: Settings) -> str | None:
    """An address that opens the pages of the running Aldis; None if none runs, or it has no pages."""
    answer = await ask_running(given.store.path, "admin-link", within_seconds=_ASKING_SECONDS)
    return None if answer is None else str(answer["url"])


def restart(given: Settings, _: argparse.Namespace) -> int:
    """`restart`: restarts the running Aldis, and waits until it has started again."""
    return asyncio.run(_restart(given.store.path))


async def _restart(store_path: Path) -> int:
    answer = await ask_running(store_path, "restart")
    if answer is None:
        raise ConfigError(
            f"no Aldis is running here; start it with `{command_line('run')}`. If it is still waiting for Signal, stop "
            "and start it instead"
        )
    state: Mapping[str, Any] = {}
    with suppress(TimeoutError):
        async with asyncio.timeout(_RESTART_SECONDS):
            while state.get("runs", 0) <= answer["run"]:
                await asyncio.sleep(0.2)
                with suppress(StoreError):  # it is stopping
                    state = await ask_running(store_path, "state", within_seconds=_ASKING_SECONDS) or {}
        if why := state.get("refused"):
            raise ConfigError(f"it keeps running with its previous settings; the new ones were refused: {why}")
        print("Aldis has restarted with its current settings.")
        return 0
    print(f"aldis: it has not restarted yet; see its log, or run: {command_line('health')}", file=sys.stderr)
    return 1


@asynccontextmanager
async def _serve_pages(given: Settings, restart: Callable[[], Awaitable[object]]) -> AsyncGenerator[World]:
    """Serves the pages while the block runs, if they are turned on; yields what they know about Aldis.

    Raises:
        ConfigError: the address cannot be listened on.
    """
    world = World(given, app.doctor_deps, file=SettingsFile(), restart=restart)
    if given.web.admin_port == 0:
        yield world
        return
    from bot.web.admin.site import Site

    place = PagesAddress(host=given.web.admin_host, port=given.web.admin_port, url=given.web.admin_url)
    site = Site(world, place)
    async with site.serving():
        if not given.access.admins:
            print(_FIRST.format(url=site.new_link(), command=command_line("admin")), file=sys.stderr, flush=True)
        yield world


class _Runs:
    """The runs of this process, each with the newest settings that were not refused."""

    def __init__(self, given: Settings) -> None:
        self._now = given
        self._next = given
        self._former: Settings | None = None
        """The settings to return to until the newest ones are known to work."""
        self._shutdown = Shutdown()
        self._restarts = Restarts(self._shutdown, self._refresh)
        self._pairing = Pairing()

    async def go(self) -> None:
        """Runs until stopped.

        Raises:
            ConfigError, StoreError: it cannot run, and there are no earlier settings with which it ran.
        """
        app.widen()
        self._shutdown.listen(signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
        async with _serve_pages(self._now, self._restarts.request) as world:
            while True:
                try:
                    await self._run_once(world)
                except (*_REFUSALS, ExceptionGroup) as failure:
                    if not self._return_to_former(failure):
                        raise
                else:
                    if not self._shutdown.begins_again():
                        return
                    self._former, self._now = self._now, self._next
                    self._restarts.refused = None
                # What the previous run left behind was exempt from garbage collection.
                gc.unfreeze()
                gc.collect()
                self._restarts.runs += 1
                logs.set_up(self._now.log.level.upper(), self._now.log.format)
                _log.info("Aldis is restarting")

    async def _run_once(self, world: World) -> None:
        """One run, with everything closed at its end; the administration pages outlast it."""
        world.begin(self._now)
        given, stop = self._now, self._shutdown
        log = transports.log_waits()

        def on_wait(what: Wait) -> None:
            log(what)
            world.waits = what

        async with serve(lambda: world.health, given.web.host, given.web.port):
            if world.restoring is not None:
                copy, done = world.restoring
                try:
                    await asyncio.to_thread(upkeep.replace_store, given, copy)
                    done.set_result(None)
                except StoreError as error:
                    done.set_exception(error)
            async with app.opened_store(given, "signal"):
                pass  # what is wrong with the store is reported before Aldis waits for the bridge; this takes 10 ms
            # If the account is ambiguous, a page asks for it; a wrong choice is rolled back like any other setting.
            asks = given.web.admin_port > 0 and self._former is None
            importing = app.import_sdks(given)
            transport = await until(stop.requested, transports.signal_transport(given, on_wait, is_being_set_up=asks))
            if transport is None:
                importing.cancel()
                return
            process = app.ProcessParts(restarts=self._restarts, pairing=self._pairing, callers=world.callers)
            async with app.build_service(given, transport, realm="signal", process=process) as aldis:
                with world.showing(aldis.running):
                    try:
                        await aldis.run(stop.requested, stop.hurried)
                    finally:
                        if transport.stream.heard_at is not None:
                            self._former = None  # however this run ends, its settings work

    async def _refresh(self) -> None:
        given = await asyncio.to_thread(settings.load_settings)
        app.check_settings(given)
        self._next = given

    def _return_to_former(self, failure: Exception) -> bool:
        """Returns whether the failed run was the first with its settings, so that the previous ones apply again."""
        found = logs.leaves(failure)
        if self._former is None or not all(isinstance(one, _REFUSALS) for one in found):
            return False
        self._now, self._former = self._former, None
        self._restarts.refused = spell_commands(str(found[0]))
        _log.error("the new settings were refused; the previous ones apply again: %s", self._restarts.refused)
        return True
