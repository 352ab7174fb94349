"""The account: finds the bridge; links Aldis as a device by a code that renews itself, or registers its own number.

    start --no bridge answers--> says so, and looks again
      '--> a code --scanned--> linked; the start of Aldis goes on by itself
            ^  |-refused by the bridge--> its own message
            '--'-nobody scanned it: a new one, up to MAX_LINK_CODES times
    register --a code is sent to the number, which a restart does not forget--> verify --> registered

Left to others: waiting for the account (`bot.app.transports`), talking to the bridge (`bot.signal`).
"""

import asyncio
import io
import logging
import re
import time
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import segno
from aiohttp import web

from bot.chat.captchas import solution_in
from bot.doctor.pages import is_contained
from bot.doctor.servers import without_password
from bot.errors import CallRefused, ConfigError, Disconnected, LinkRefused
from bot.events import Account
from bot.logs import describe_error
from bot.settings import Settings
from bot.settings.file import write_atomically
from bot.signal.accounts import takes_numberless
from bot.signal.bridge_versions import Bridge
from bot.signal.detect import bridge_at
from bot.signal.protocol import MAX_LINK_CODES, NOT_SCANNED, Linking
from bot.web.admin.context import AdminContext, NotDone, go_to, refusing
from bot.web.admin.guard import form_of
from bot.web.admin.world import World

_log = logging.getLogger(__name__)

USUAL_BRIDGES = (
    "unix:///run/signal-cli/socket",
    "tcp://127.0.0.1:7583",
    "http://127.0.0.1:8080",
    "http://signal-cli-rest-api:8080",
)
"""Where bridges are by default: the socket of our compose file, signal-cli's TCP port, and HTTP."""
_ACCOUNT = "/setup/account"
_PAUSE_SECONDS = 1.0
_ANSWER_SECONDS = 5.0
_FINDING_SECONDS = 2.0
_CODE_SECONDS = 86_400.0
"""How long a number waits for its code."""
_NUMBER = re.compile(r"\+[1-9]\d{5,17}", re.ASCII)
_REGISTRATION_PAGE = "https://signalcaptchas.org/registration/generate.html"
"""Source: signal-cli, `RegisterCommand` (2026-11-22)."""

State = Literal["idle", "looking", "code", "linked", "refused"]


@dataclass(frozen=True, kw_only=True, slots=True)
class LinkState:
    """The progress of linking."""

    kind: State = "idle"
    bridge: Bridge | None = None
    uri: str = ""
    number: int = 0
    """Which code it is; each has another number."""
    words: str = ""
    """The bridge's message; with `looking`, what is being waited for."""


async def bridge_of(settings: Settings) -> Bridge:
    """Returns the bridge at `SIGNAL__URL`, as set or as it answers.

    Raises:
        Disconnected: nothing answers there.
        ConfigError: something else does.
    """
    transport = settings.signal.transport
    return transport if transport != "auto" else await bridge_at(settings.signal.url)


async def linking_of(world: World, settings: Settings) -> tuple[Bridge, Linking]:
    """Returns the bridge at `SIGNAL__URL` and the way to link an account by it.

    Raises:
        Disconnected: nothing answers there.
        ConfigError: something else does.
    """
    bridge = await bridge_of(settings)
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
        """Shows codes until one is scanned."""
        if not self.is_running:
            self.state = LinkState(kind="looking")
            self._task = asyncio.create_task(self._run(), name="linking")

    async def stop(self) -> None:
        """Stops showing codes."""
        if self._task is not None:
            self._task.cancel()
            await asyncio.wait([self._task])
        self.state = LinkState()

    async def _run(self) -> None:
        try:
            await self._link()
        except (LinkRefused, ConfigError) as error:
            self.state = LinkState(kind="refused", bridge=self.state.bridge, words=str(error))
        except Exception as error:  # noqa: BLE001  (a bug here must not leave a page waiting for ever)
            _log.error("linking failed: %s", describe_error(error))
            self.state = LinkState(kind="refused", words=type(error).__name__)

    async def _link(self) -> None:
        settings = self._world.settings
        number = 0
        while number < MAX_LINK_CODES:
            try:
                bridge, linking = await linking_of(self._world, settings)
            except Disconnected as error:
                self.state = LinkState(kind="looking", words=str(error))
                await asyncio.sleep(_PAUSE_SECONDS)
                continue
            try:
                while number < MAX_LINK_CODES:
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
    """Returns a QR code as a picture, dark on light with its margin, whatever the theme of the page."""
    out = io.BytesIO()
    segno.make(text).save(out, kind="svg", scale=6, border=4, light="#fff", dark="#000")
    return out.getvalue()


class PendingNumber:
    """The number that a registration code was sent to, for a day; in a file, so that a restart does not lose it."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self.number = self._kept()
        """Empty if there is none."""

    def put(self, number: str) -> None:
        """Notes that a code was sent to this number."""
        self.number = number
        try:
            write_atomically(self._path, number)
        except ConfigError as error:
            _log.warning("a restart would forget which number is being registered: %s", error)

    def clear(self) -> None:
        """Forgets the number: it is registered."""
        self.number = ""
        with suppress(OSError):
            self._path.unlink()

    def _kept(self) -> str:
        with suppress(OSError, UnicodeError):
            number = self._path.read_text("ascii")
            if time.time() - self._path.stat().st_mtime < _CODE_SECONDS and _NUMBER.fullmatch(number):
                return number
            self._path.unlink()
        return ""


class AccountPage:
    """The pages about the account."""

    def __init__(self, context: AdminContext) -> None:
        self._context = context
        self.link = LinkJob(context.world)
        store_path = context.world.settings.store.path
        self._pending = PendingNumber(store_path.with_name(store_path.name + "-registering"))
        self._is_registered = False
        """Whether the last number has become an account."""
        self._verifying = asyncio.Lock()
        context.add_fragment("account", self._live)

    def routes(self) -> list[web.RouteDef]:
        """Returns the paths of the pages."""
        return [
            web.get(_ACCOUNT, self._show),
            web.get("/setup/account/code-{number}.svg", self._code),
            web.post("/setup/account/link", self._start),
            web.post("/setup/account/stop", self._stop),
            web.post("/setup/account/bridge", self._use_bridge),
            web.post("/setup/account/choose", self._choose),
            web.post("/setup/account/own", self._own_account),
            web.post("/setup/account/register", self._register),
            web.post("/setup/account/verify", self._verify),
        ]

    async def _show(self, request: web.Request) -> web.Response:
        bridge, accounts = await self._look()
        elsewhere = () if bridge else await self._find_bridges()
        return self._context.page(
            request,
            "account",
            live=await self._context.fragment(request, "account"),
            bridge=bridge,
            accounts=[account for account in accounts if account.name],
            is_unnamed=self._own() is None and any(not account.name for account in accounts),
            elsewhere=elsewhere,
            is_contained=is_contained(),
            registering=self._pending.number,
            captcha_page=_REGISTRATION_PAGE,
        )

    async def _live(self) -> tuple[str, dict[str, object]]:
        state = self.link.state
        return "part_account", {
            "link": state,
            "account": self._own(),
            "takes_numberless": takes_numberless(state.uri),
        }

    async def _look(self) -> tuple[Bridge | None, tuple[Account, ...]]:
        """The bridge at `SIGNAL__URL` and its accounts; None if none answers there."""
        try:
            async with asyncio.timeout(_ANSWER_SECONDS), self._linking() as (bridge, linking):
                return bridge, await linking.accounts()
        except (Disconnected, ConfigError, TimeoutError):
            return None, ()

    @staticmethod
    async def _find_bridges() -> tuple[str, ...]:
        """Other usual addresses at which a bridge answers."""

        async def look(url: str) -> str | None:
            try:
                async with asyncio.timeout(_FINDING_SECONDS):
                    await bridge_at(url, timeout_seconds=_FINDING_SECONDS)
            except (Disconnected, ConfigError, TimeoutError):
                return None
            return url

        found = await asyncio.gather(*map(look, USUAL_BRIDGES))
        return tuple(url for url in found if url is not None)

    @asynccontextmanager
    async def _linking(self) -> AsyncGenerator[tuple[Bridge, Linking]]:
        bridge, linking = await linking_of(self._context.world, self._context.world.settings)
        try:
            yield bridge, linking
        finally:
            await linking.aclose()

    def _own(self) -> str | None:
        """Aldis's own account, while it runs."""
        running = self._context.world.running
        return None if running is None else running.transport.number or running.transport.account

    async def _code(self, request: web.Request) -> web.Response:
        state = self.link.state
        if state.kind != "code" or request.match_info["number"] != str(state.number):
            raise web.HTTPNotFound(text="This code is not shown any more.\n")
        return web.Response(body=qr_svg(state.uri), content_type="image/svg+xml")

    async def _start(self, request: web.Request) -> web.Response:
        self._context.write_down(request, "account.link_begun")
        self.link.start()
        return go_to(_ACCOUNT)

    async def _stop(self, request: web.Request) -> web.Response:
        self._context.write_down(request, "account.link_stopped")
        await self.link.stop()
        return go_to(_ACCOUNT)

    async def _use_bridge(self, request: web.Request) -> web.Response:
        await self._context.keep(request, _ACCOUNT, {"SIGNAL__URL": form_of(request).get("url", "")})
        url = self._context.world.settings.signal.url
        try:
            async with asyncio.timeout(_ANSWER_SECONDS):
                bridge = await bridge_at(url, timeout_seconds=_ANSWER_SECONDS)
        except (Disconnected, ConfigError, TimeoutError) as error:
            raise NotDone(_ACCOUNT, f"Saved, but no bridge can be used there: {str(error) or 'no answer'}.") from error
        name = {"signal_cli": "signal-cli", "rest_api": "signal-cli-rest-api"}[bridge]
        return self._context.done(request, _ACCOUNT, f"Saved: {name} answers at {without_password(url)}.")

    async def _choose(self, request: web.Request) -> web.Response:
        return await self._context.save(request, _ACCOUNT, {"SIGNAL__ACCOUNT": form_of(request).get("account", "")})

    async def _own_account(self, request: web.Request) -> web.Response:
        is_own = form_of(request).get("own") == "yes"
        return await self._context.save(request, _ACCOUNT, {"SIGNAL__NOTE_TO_SELF": "true" if is_own else None})

    async def _register(self, request: web.Request) -> web.Response:
        form = form_of(request)
        number, pasted = "".join(form.get("number", "").split()), form.get("captcha", "").strip()
        captcha = solution_in(pasted) if pasted else None
        if not _NUMBER.fullmatch(number):
            raise NotDone(_ACCOUNT, "That is not a phone number with its country code.")
        if pasted and captcha is None:
            raise NotDone(
                _ACCOUNT,
                (
                    "That is not a solved captcha. Copy the whole link behind “Open Signal”; it begins "
                    "with signalcaptcha://"
                ),
            )
        self._context.write_down(request, "account.code_wanted")
        with refusing(_ACCOUNT):
            async with self._linking() as (_, linking):
                try:
                    await linking.register(number, captcha=captcha, by_call=form.get("how") == "call")
                except CallRefused as error:
                    if "captcha" not in str(error).lower():
                        raise
                    raise NotDone(
                        _ACCOUNT,
                        (
                            "Signal wants a freshly solved captcha: open the page below, and paste the link "
                            f"behind “Open Signal”. The bridge says: {error!s}"
                        ),
                    ) from error
        await asyncio.to_thread(self._pending.put, number)
        self._is_registered = False
        return self._context.done(request, _ACCOUNT, f"Signal is sending a code to {number}. Type it in here.")

    async def _verify(self, request: web.Request) -> web.Response:
        async with self._verifying:
            return await self._verify_code(request)

    async def _verify_code(self, request: web.Request) -> web.Response:
        form = form_of(request)
        code = "".join(sign for sign in form.get("code", "") if sign.isdecimal())
        if self._is_registered:  # another page has submitted the code
            return self._context.done(request, _ACCOUNT, "The number is registered. Aldis is starting.")
        if not self._pending.number or not code:
            raise NotDone(_ACCOUNT, "There is no code to check yet: have one sent first.")
        self._context.write_down(request, "account.verified")
        with refusing(_ACCOUNT):
            async with self._linking() as (_, linking):
                try:
                    await linking.verify(self._pending.number, code, pin=form.get("pin", "").strip() or None)
                except CallRefused as error:
                    raise NotDone(
                        _ACCOUNT,
                        (
                            "Signal did not accept this code. Check it and the PIN, or have another one sent. "
                            f"The bridge says: {error!s}"
                        ),
                    ) from error
        self._pending.clear()
        self._is_registered = True
        return self._context.done(request, _ACCOUNT, "The number is registered. Aldis is starting.")
