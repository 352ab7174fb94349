"""The verbs `run`, `setup`, `admin` and `restart`: Aldis answers in Signal, in one run after another, until a stop.

    run --> the parts are built from the settings --> they run --stopped--> the end
              ^                                          '-restarted--> new settings, checked --.
              '---------------------------------------------------------------------------------'

A restart ends the parts in the same orderly way as stopping the process; settings that are refused change nothing.
What turns out to be unusable only when the parts are built ends Aldis; with the pages on, which can mend it, they say
so, and it is tried again.
"""

import argparse
import asyncio
import gc
import logging
import signal
import sys
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager

from bot import app, logs, settings
from bot.app import models, transports
from bot.cli import store as upkeep
from bot.errors import ConfigError, Disconnected
from bot.invocation import command_line, spell_commands
from bot.service import until
from bot.settings import Settings
from bot.settings.load import SettingsFile
from bot.shutdown import Shutdown
from bot.web.admin.world import Wait, World
from bot.web.control import ask_running
from bot.web.health import serve
from store import StoreError

_log = logging.getLogger(__name__)

_USUAL_PORT = 8789
"""The port of the pages if `setup` asks for them and no port is set."""
_AGAIN_SECONDS = 10.0
_ASKING_SECONDS = 10.0
"""How many seconds a verb waits for the running Aldis to answer about its pages."""
_FIRST = "Set Aldis up in a browser: {url}\nThis link works once, within ten minutes; `{command}` prints another."


def run(given: Settings, _: argparse.Namespace) -> int:
    """`run`: answers until stopped."""
    logs.set_up(given.log.level.upper(), given.log.format)
    app.check_settings(given)
    asyncio.run(_answer(given))
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
    """`restart`: restarts the running Aldis with its current settings."""
    if asyncio.run(ask_running(given.store.path, "restart")) is None:
        raise ConfigError(
            f"no Aldis is running here; start it with `{command_line('run')}`. If it is still waiting for Signal, stop "
            "and start it instead"
        )
    print(f"Aldis restarts with its current settings; {command_line('health')} says how it is in a few seconds.")
    return 0


@asynccontextmanager
async def _serve_pages(given: Settings, restart: Callable[[], Awaitable[None]]) -> AsyncGenerator[World]:
    """Serves the pages while the block runs, if they are turned on; yields what they know about Aldis."""
    world = World(settings=given, deps=app.doctor_deps, file=SettingsFile(), restart=restart)
    if given.web.admin_port == 0:
        yield world
        return
    from bot.web.admin.site import Site

    site = Site(world, given.web)
    async with site.serving():
        if not given.access.admins:
            print(_FIRST.format(url=site.new_link(), command=command_line("admin")), file=sys.stderr, flush=True)
        yield world


async def _answer(given: Settings) -> None:
    """Answers until stopped, each run with the settings of its time; the administration pages outlast the runs."""
    app.widen()
    shutdown = Shutdown()
    shutdown.listen(signal.SIGINT, signal.SIGTERM, signal.SIGHUP)

    async def restart() -> None:
        nonlocal given
        fresh = await asyncio.to_thread(settings.load_settings)
        app.check_settings(fresh)
        given = fresh
        shutdown.request_restart()

    has_pages = given.web.admin_port > 0
    async with _serve_pages(given, restart) as world:
        while True:
            try:
                await _run_once(given, shutdown, world, has_pages=has_pages)
            except* (ConfigError, StoreError, Disconnected) as failures:
                if not has_pages:
                    raise
                world.waits = Wait(spell_commands("; ".join(map(str, logs.leaves(failures)))))
                _log.error("Aldis cannot run, and tries again: %s", world.waits.words)
                await until(shutdown.requested, asyncio.sleep(_AGAIN_SECONDS))
            if shutdown.requested.is_set() and not shutdown.begins_again():
                return
            # What the previous run left behind was exempt from garbage collection.
            gc.unfreeze()
            gc.collect()
            logs.set_up(given.log.level.upper(), given.log.format)
            _log.info("Aldis is starting again")


async def _run_once(given: Settings, stop: Shutdown, world: World, *, has_pages: bool) -> None:
    """One run, with everything closed at its end."""
    world.begin(given)
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
        # Meanwhile, because `build_service` needs them.
        importing = asyncio.create_task(asyncio.to_thread(models.import_sdks, given), name="sdks")
        finding = transports.signal_transport(given, on_wait, is_being_set_up=has_pages)
        transport = await until(stop.requested, finding)
        if transport is None:
            importing.cancel()
            return
        async with app.build_service(given, transport, realm="signal", world=world) as aldis:
            with world.showing(aldis.running):
                await aldis.run(stop.requested, stop.hurried)
