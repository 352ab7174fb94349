"""The account: which bridge there is, and linking Aldis as a device by a code that renews itself.

    start --no bridge answers--> says so, and looks again
      '--> a code --scanned--> linked; the start of Aldis goes on by itself
            ^  |-refused by the bridge--> its own sentence
            '--'-nobody scanned it: a new one, as often as MAX_CODES

Left to others: waiting for the account (`bot.app.transports`), talking to the bridge (`bot.transports`).
"""

import asyncio
import io
import logging
from contextlib import suppress
from dataclasses import dataclass
from typing import Literal

import segno
from aiohttp import web

from bot.errors import ConfigError, Disconnected, LinkRefused
from bot.events import Account
from bot.logs import described
from bot.settings import Settings
from bot.transports.base import NOT_SCANNED, Linking
from bot.transports.bridge_versions import Bridge
from bot.transports.detect import bridge_at
from bot.web.admin.desk import Desk, go_to
from bot.web.admin.world import World

_log = logging.getLogger(__name__)

MAX_CODES = 15
"""Each is good for about a minute: whoever has not scanned one by then has gone away."""
_PAUSE_SECONDS = 1.0
_ACCOUNT = "/setup/account"

State = Literal["idle", "looking", "code", "linked", "refused"]


@dataclass(frozen=True, kw_only=True, slots=True)
class LinkState:
    """How far linking has come."""

    kind: State = "idle"
    bridge: Bridge | None = None
    uri: str = ""
    number: int = 0
    """Which code it is; each has another one."""
    words: str = ""
    """What the bridge says; with `looking` what is waited for."""


async def linking_of(world: World, settings: Settings) -> tuple[Bridge, Linking]:
    """The bridge at `SIGNAL__URL` and the way to link an account by it.

    Raises:
        Disconnected: nothing answers there.
        ConfigError: something else does.
    """
    transport = settings.signal.transport
    bridge = transport if transport != "auto" else await bridge_at(settings.signal.url)
    return bridge, world.deps(settings).linking(bridge)


class LinkJob:
    """Links an account in the background, once at a time."""

    def __init__(self, world: World) -> None:
        self._world = world
        self._task: asyncio.Task[None] | None = None
        self.state = LinkState()

    @property
    def is_running(self) -> bool:
        """Whether a code waits for a phone, or will soon."""
        return self._task is not None and not self._task.done()

    def start(self) -> None:
        """Show codes until one is scanned."""
        if not self.is_running:
            self.state = LinkState(kind="looking")
            self._task = asyncio.create_task(self._run(), name="linking")

    async def stop(self) -> None:
        """Show none any more."""
        if self._task is not None:
            self._task.cancel()
            with suppress(asyncio.CancelledError):
                await self._task
        self.state = LinkState()

    async def _run(self) -> None:
        try:
            await self._link()
        except (LinkRefused, ConfigError) as error:
            self.state = LinkState(kind="refused", bridge=self.state.bridge, words=str(error))
        except Exception as error:  # noqa: BLE001  (a bug in here must not leave a page that waits for ever)
            _log.error("linking failed: %s", described(error))
            self.state = LinkState(kind="refused", words=type(error).__name__)

    async def _link(self) -> None:
        settings = self._world.settings
        number = 0
        while number < MAX_CODES:
            try:
                bridge, linking = await linking_of(self._world, settings)
            except Disconnected as error:
                self.state = LinkState(kind="looking", words=str(error))
                await asyncio.sleep(_PAUSE_SECONDS)
                continue
            try:
                while number < MAX_CODES:
                    number += 1
                    uri = await linking.start_link(settings.signal.device_name)
                    self.state = LinkState(kind="code", bridge=bridge, uri=uri, number=number)
                    try:
                        name = await linking.finish_link(uri, settings.signal.device_name)
                    except Disconnected as error:
                        if str(error) != NOT_SCANNED:
                            raise
                    else:
                        self.state = LinkState(kind="linked", bridge=bridge, words=name)
                        return
            except Disconnected as error:
                self.state = LinkState(kind="looking", bridge=bridge, words=str(error))
                await asyncio.sleep(_PAUSE_SECONDS)
            finally:
                await linking.aclose()
        self.state = LinkState()


def qr_svg(text: str) -> bytes:
    """A QR code as a picture, dark on light with its margin, whatever the theme of the page."""
    out = io.BytesIO()
    segno.make(text).save(out, kind="svg", scale=6, border=4, light="#fff", dark="#000")
    return out.getvalue()


class AccountRoom:
    """The pages of the account."""

    def __init__(self, desk: Desk) -> None:
        self._desk = desk
        self.link = LinkJob(desk.world)
        desk.add_fragment("account", self._live)

    def routes(self) -> list[web.RouteDef]:
        """Its paths."""
        return [
            web.get(_ACCOUNT, self._show),
            web.get("/setup/account/code-{number}.svg", self._code),
            web.post("/setup/account/link", self._start),
            web.post("/setup/account/stop", self._stop),
        ]

    async def _show(self, request: web.Request) -> web.Response:
        return self._desk.page(
            request, "account", live=await self._desk.fragment("account"), accounts=await self._accounts()
        )

    async def _live(self) -> tuple[str, dict[str, object]]:
        return "part_account", {"link": self.link.state, "account": self._own()}

    async def _accounts(self) -> tuple[Account, ...] | None:
        """What the bridge has; None: it does not answer."""
        try:
            async with asyncio.timeout(_ANSWER_SECONDS):
                _, linking = await linking_of(self._desk.world, self._desk.world.settings)
                try:
                    return await linking.accounts()
                finally:
                    await linking.aclose()
        except (Disconnected, ConfigError, TimeoutError):
            return None

    def _own(self) -> str | None:
        """The account that Aldis answers for, while it runs."""
        running = self._desk.world.running
        return None if running is None else running.transport.number or running.transport.account

    async def _code(self, request: web.Request) -> web.Response:
        state = self.link.state
        if state.kind != "code" or request.match_info["number"] != str(state.number):
            raise web.HTTPNotFound(text="This code is not shown any more.\n")
        return web.Response(body=qr_svg(state.uri), content_type="image/svg+xml")

    async def _start(self, request: web.Request) -> web.Response:
        self._desk.write_down(request, "account.link_begun")
        self.link.start()
        return go_to(_ACCOUNT)

    async def _stop(self, request: web.Request) -> web.Response:
        self._desk.write_down(request, "account.link_stopped")
        await self.link.stop()
        return go_to(_ACCOUNT)


_ANSWER_SECONDS = 5.0
