"""The verb `admin`, and the pages for setup and administration that a run serves.

A link opens the pages once, within ten minutes.
"""

import argparse
import asyncio
import sys
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager
from datetime import UTC, datetime

from bot import app
from bot.doctor.pages import is_contained, secret_of
from bot.invocation import command_line
from bot.settings import Settings
from bot.settings.file import SettingsFile
from bot.web.admin.audit import Audit, audit_path
from bot.web.admin.guard import PagesAddress
from bot.web.admin.world import World
from bot.web.control import ask_running

USUAL_PORT = 8789
"""The port of the pages if `setup` asks for them and no port is set."""

ASKING_SECONDS = 10.0
"""How many seconds a verb waits for the running Aldis to answer about its pages."""

_FIRST = "Set Aldis up in a browser: {url}\nThis link works once, within ten minutes; `{command}` prints another."


def show_link(given: Settings, _: argparse.Namespace) -> int:
    """`admin`: prints the address that opens the pages of the running Aldis."""
    url = asyncio.run(link(given))
    if url is None:
        print(
            f"aldis: no Aldis with administration pages is running here; set WEB__ADMIN_PORT={USUAL_PORT} and"
            f" start it, or run: {command_line('setup')}",
            file=sys.stderr,
        )
        return 1
    print(url)
    print("It works once, within ten minutes.", file=sys.stderr)
    return 0


@asynccontextmanager
async def serve_admin_pages(given: Settings, restart: Callable[[], Awaitable[object]]) -> AsyncGenerator[World]:
    """Serves the pages while the block runs, if they are turned on; yields what they know about Aldis.

    Raises:
        ConfigError: the address cannot be listened on, or pages that others can reach have no second factor.
    """
    world = World(given, app.doctor_deps, file=SettingsFile(), restart=restart)
    if given.web.admin_port == 0:
        yield world
        return
    from bot.web.admin.site import Site

    place = PagesAddress(host=given.web.admin_host, port=given.web.admin_port, url=given.web.admin_url)
    secret_of(given, is_contained=is_contained())
    site = Site(world, place, Audit(audit_path(given.store.path), now=lambda: datetime.now(UTC)))
    async with site.serving():
        if not given.access.admins:
            print(_FIRST.format(url=site.new_link(), command=command_line("admin")), file=sys.stderr, flush=True)
        yield world


async def link(given: Settings) -> str | None:
    """Returns an address that opens the pages of the running Aldis; None if none runs, or it has no pages."""
    answer = await ask_running(given.store.path, "admin-link", within_seconds=ASKING_SECONDS)
    return None if answer is None else str(answer["url"])
