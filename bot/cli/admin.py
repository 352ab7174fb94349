"""The verbs `setup` and `admin`, and the pages that a run serves: set-up and administration in a browser.

    setup --an Aldis with pages runs--> its link
      '-- none runs --> `run`, with pages

A link opens the pages once, within ten minutes. Left to others: the pages (`bot.web.admin`), running (`bot.cli.main`).
"""

import argparse
import asyncio
import sys
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager
from datetime import UTC, datetime

from bot import app
from bot.doctor.pages import secret_of
from bot.errors import ConfigError
from bot.invocation import command_line
from bot.settings import Settings
from bot.settings.file import SettingsFile
from bot.web.admin.audit import Audit, audit_path
from bot.web.admin.guard import PagesAddress
from bot.web.admin.site import Site, serving
from bot.web.admin.world import World
from bot.web.control import ask_running

Verb = Callable[[Settings, argparse.Namespace], int]

USUAL_PORT = 8789
"""Where the pages are if they are asked for by `setup`, and no port is set."""

_ASKING_SECONDS = 10.0

_FIRST = "Set Aldis up in a browser: {url}\nThis link works once and for ten minutes; `{command}` prints another."


def show_link(given: Settings, _: argparse.Namespace) -> int:
    """`admin`: the address that opens the pages of the running Aldis."""
    url = asyncio.run(_link(given))
    if url is None:
        print(
            f"aldis: no Aldis with pages runs here; set WEB__ADMIN_PORT={USUAL_PORT} and start it, or:"
            f" {command_line('setup')}",
            file=sys.stderr,
        )
        return 1
    print(url)
    print("It works once and for ten minutes.", file=sys.stderr)
    return 0


def set_up(run: Verb, given: Settings, options: argparse.Namespace) -> int:
    """`setup`: the address that opens the pages; where none runs, `run`, with pages."""
    if asyncio.run(_link(given)) is not None:
        return show_link(given, options)
    if asyncio.run(ask_running(given.store.path, "state", within_seconds=_ASKING_SECONDS)) is not None:
        raise ConfigError(f"WEB__ADMIN_PORT: Aldis runs without pages; set it to {USUAL_PORT} and start Aldis again")
    return run(_with_pages(given), options)


def _with_pages(given: Settings) -> Settings:
    """The settings, with a port for the pages where none is set."""
    port = given.web.admin_port or USUAL_PORT
    return given.model_copy(update={"web": given.web.model_copy(update={"admin_port": port})})


@asynccontextmanager
async def serve_admin_pages(given: Settings, restart: Callable[[], Awaitable[object]]) -> AsyncGenerator[World]:
    """Serve the pages while the block runs, where they are asked for; gives what they know of Aldis.

    Raises:
        ConfigError: the address cannot be listened on, or pages that others reach have no second factor.
    """
    world = World(given, app.doctor_deps, file=SettingsFile(), restart=restart)
    if given.web.admin_port == 0:
        yield world
        return
    place = PagesAddress(host=given.web.admin_host, port=given.web.admin_port, url=given.web.admin_url)
    secret_of(given)
    audit = Audit(audit_path(given.store.path), now=lambda: datetime.now(UTC))
    site = Site(world, place, audit)
    async with serving(site, place, audit):
        if not given.access.admins:
            print(_FIRST.format(url=site.new_link(), command=command_line("admin")), file=sys.stderr, flush=True)
        yield world


async def _link(given: Settings) -> str | None:
    answer = await ask_running(given.store.path, "admin-link", within_seconds=_ASKING_SECONDS)
    return None if answer is None else str(answer["url"])
