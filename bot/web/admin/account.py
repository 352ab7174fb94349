"""The account: finds the bridge; links Aldis as a device by a code that renews itself, or registers its own number.

    start --no bridge answers--> says so, and looks again
      '--> a code --scanned--> linked; the start of Aldis goes on by itself
            ^  |-refused by the bridge--> its own message
            '--'-not scanned: a new one, up to MAX_LINK_CODES times
    register --a code is sent to the number--> verify --> registered

Left to others: waiting for the account (`bot.app.transports`), talking to the bridge (`bot.signal`).
"""

import asyncio
import logging
import re
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from typing import Literal

from bot.chat.captchas import solution_in
from bot.doctor.machine import is_contained
from bot.doctor.servers import without_password
from bot.errors import CallRefused, ConfigError, Disconnected, LinkRefused, NotScanned
from bot.events import Account
from bot.logs import describe_error
from bot.signal.bridges import bridge_at
from bot.signal.directory import takes_numberless
from bot.signal.protocol import MAX_LINK_CODES, Bridge, Linking
from bot.web.admin.forms import AdminPage, Ask, Field, Form, NotDone
from bot.web.admin.world import World

_log = logging.getLogger(__name__)

_NAMES: dict[Bridge, str] = {"signal_cli": "signal-cli", "rest_api": "signal-cli-rest-api"}
_PAUSE_SECONDS = 1.0
_ANSWER_SECONDS = 5.0
_SILENT = (Disconnected, ConfigError, TimeoutError)
_NUMBER = re.compile(r"\+[1-9]\d{5,17}", re.ASCII)
_REGISTRATION_PAGE = "https://signalcaptchas.org/registration/generate.html"
"""Source: signal-cli, `RegisterCommand` (2026-11-22)."""
_NO_CAPTCHA = "That is not a solved captcha. Copy the whole link behind “Open Signal”; it begins with signalcaptcha://"

_FORMS = (
    Form(
        name="account",
        title="Which account?",
        fields=(Field(setting="SIGNAL__ACCOUNT", label="Id of the account (UUID)", is_required=True),),
        button="Use this",
    ),
    Form(
        name="note-to-self",
        title="Your own account",
        fixed={"SIGNAL__NOTE_TO_SELF": "true"},
        button="Answer only my Note to Self",
    ),
    Form(
        name="everyone",
        title="Your own account",
        fixed={"SIGNAL__NOTE_TO_SELF": None},
        button="Answer other people, too",
    ),
)


@dataclass(frozen=True, kw_only=True, slots=True)
class LinkState:
    """The progress of linking."""

    kind: Literal["idle", "looking", "code", "linked", "refused"] = "idle"
    uri: str = ""
    number: int = 0
    """Which code it is; each has another number."""
    words: str = ""
    """The bridge's message; with `looking`, what is being waited for."""


@asynccontextmanager
async def _linking(world: World) -> AsyncGenerator[Linking]:
    """Yields the way to link an account by the bridge at `SIGNAL__URL`.

    Raises:
        Disconnected, ConfigError: nothing answers there, or something else.
    """
    linking = world.deps(world.settings).linking(await bridge_at(world.settings.signal.url))
    try:
        yield linking
    finally:
        await linking.aclose()


class LinkJob:
    """Links an account in the background, once at a time."""

    def __init__(self, world: World) -> None:
        self._world = world
        self._task: asyncio.Task[None] | None = None
        self.state = LinkState()

    def start(self) -> None:
        """Shows codes until one is scanned."""
        if self._task is None or self._task.done():
            self.state = LinkState(kind="looking")
            self._task = asyncio.create_task(self._run(), name="linking")

    async def stop(self) -> None:
        """Stops showing codes."""
        if self._task is not None:
            self._task.cancel()
            await asyncio.wait([self._task])
        self.state = LinkState()

    async def _run(self) -> None:
        device, number = self._world.settings.signal.device_name, 0
        try:
            while number < MAX_LINK_CODES and self.state.kind != "linked":
                try:
                    async with _linking(self._world) as linking:
                        number += 1
                        uri = await linking.start_link(device)
                        self.state = LinkState(kind="code", uri=uri, number=number)
                        with suppress(NotScanned):
                            self.state = LinkState(kind="linked", words=await linking.finish_link(uri, device))
                except Disconnected as error:
                    self.state = LinkState(kind="looking", words=str(error))
                    await asyncio.sleep(_PAUSE_SECONDS)
        except (LinkRefused, ConfigError) as error:
            self.state = LinkState(kind="refused", words=str(error))
        except Exception as error:  # noqa: BLE001  (a bug here must not leave a page waiting for ever)
            _log.error("linking failed: %s", describe_error(error))
            self.state = LinkState(kind="refused", words=type(error).__name__)


class AccountPage:
    """The page about the account, with its job in the background."""

    def __init__(self, world: World) -> None:
        self.link = LinkJob(world)
        self._code_sent_to = ""
        self.page = AdminPage(
            path="/setup/account",
            template="account",
            values=self._values,
            actions={
                "link": self._start,
                "stop": self._stop,
                "bridge": _use_bridge,
                "register": self._register,
                "verify": self._verify,
            },
            forms=_FORMS,
        )

    async def _values(self, ask: Ask) -> dict[str, object]:
        bridge, accounts = await _look(ask.world)
        state = self.link.state
        return {
            "link": state,
            "takes_numberless": takes_numberless(state.uri),
            "is_there": bridge is not None,
            "accounts": [account.name for account in accounts if account.name],
            "is_unnamed": ask.world.own_account is None and any(not account.name for account in accounts),
            "is_contained": is_contained(),
            "code_sent_to": self._code_sent_to,
            "captcha_page": _REGISTRATION_PAGE,
        }

    async def _start(self, ask: Ask) -> str:
        ask.write_down("account.link_begun")
        self.link.start()
        return "The code comes in a moment."

    async def _stop(self, _: Ask) -> str:
        await self.link.stop()
        return "Stopped."

    async def _register(self, ask: Ask) -> str:
        number, pasted = "".join(ask.entry("number").split()), ask.entry("captcha")
        captcha = solution_in(pasted) if pasted else None
        if not _NUMBER.fullmatch(number):
            raise NotDone("That is not a phone number with its country code.")
        if pasted and captcha is None:
            raise NotDone(_NO_CAPTCHA)
        ask.write_down("account.code_wanted")
        async with _linking(ask.world) as linking:
            try:
                await linking.register(number, captcha=captcha, by_call=ask.entry("how") == "call")
            except CallRefused as error:
                if not error.wants_captcha:
                    raise
                why = "Signal wants a freshly solved captcha: solve it at the page below, and paste its link."
                raise NotDone(f"{why} The bridge says: {error}") from error
        self._code_sent_to = number
        return f"Signal is sending a code to {number}. Type it in below."

    async def _verify(self, ask: Ask) -> str:
        number = "".join(ask.entry("number").split())
        code = "".join(sign for sign in ask.entry("code") if sign.isdecimal())
        if not _NUMBER.fullmatch(number) or not code:
            raise NotDone("Something is missing: the number, or the code that came for it.")
        async with _linking(ask.world) as linking:
            try:
                await linking.verify(number, code, pin=ask.entry("pin") or None)
            except CallRefused as error:
                why = "Signal did not accept this code. Check it and the PIN, or have another one sent."
                raise NotDone(f"{why} The bridge says: {error}") from error
        self._code_sent_to = ""
        ask.write_down("account.verified")
        how = f"signal-cli -a {number} updateProfile --given-name {ask.settings.signal.name}"
        return f"The number is registered, and Aldis is starting. For a name that people see, run: {how}"


async def _look(world: World) -> tuple[Bridge | None, tuple[Account, ...]]:
    """The bridge at `SIGNAL__URL` and its accounts; None if none answers there."""
    try:
        async with asyncio.timeout(_ANSWER_SECONDS), _linking(world) as linking:
            return await bridge_at(world.settings.signal.url), await linking.accounts()
    except _SILENT:
        return None, ()


async def _use_bridge(ask: Ask) -> str:
    await ask.keep({"SIGNAL__URL": ask.entry("url")})
    url = ask.settings.signal.url
    try:
        async with asyncio.timeout(_ANSWER_SECONDS):
            bridge = await bridge_at(url, timeout_seconds=_ANSWER_SECONDS)
    except _SILENT as error:
        raise NotDone(f"Saved, but no bridge can be used there: {str(error) or 'no answer'}.") from error
    return f"Saved: {_NAMES[bridge]} answers at {without_password(url)}."
