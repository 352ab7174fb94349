"""The account: finds the bridge, and links Aldis as a device by a code that renews itself.

    start --> a code --scanned--> linked; the start of Aldis goes on by itself
               ^  |-refused by the bridge--> its own message
               '--'-not scanned: a new one, up to MAX_LINK_CODES times

Left to others: waiting for the account (`bot.app.transports`), talking to the bridge (`bot.signal`).
"""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import suppress
from dataclasses import dataclass
from typing import Literal

from bot.doctor.machine import is_contained
from bot.errors import CallRefused, ConfigError, Disconnected, NotScanned
from bot.events import Account
from bot.signal.bridges import bridge_at
from bot.signal.protocol import BRIDGE_NAMES, MAX_LINK_CODES, Linking
from bot.web.admin.forms import AdminPage, Ask, Field, Form

_PAUSE_SECONDS = 1.0
_ANSWER_SECONDS = 5.0
_FORMS = (
    Form(
        name="account",
        title="Which account?",
        fields=(Field("SIGNAL__ACCOUNT", "Id of the account (UUID)", is_required=True),),
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
    """The bridge's message; with `looking`, what is being waited for; with `linked`, the account, see `Linking`."""


async def link_states(linking: Linking, *, pause_seconds: float = _PAUSE_SECONDS) -> AsyncGenerator[LinkState]:
    """Yields codes, numbered from 1, and what went wrong, until a phone has scanned one: then it ends with `linked`.
    Raises `CallRefused` if the bridge does not link it.
    """
    for number in range(1, MAX_LINK_CODES + 1):
        try:
            uri = await linking.start_link()
            yield LinkState(kind="code", uri=uri, number=number)
            name = await linking.finish_link(uri)
        except Disconnected as error:
            yield LinkState(kind="looking", words=str(error))
            if not isinstance(error, NotScanned):
                await asyncio.sleep(pause_seconds)
        else:
            yield LinkState(kind="linked", words=name)
            return


async def _linking(ask: Ask) -> Linking:
    """The way to link an account by the bridge at `SIGNAL__URL`; raises Disconnected or ConfigError if none."""
    return ask.deps.linking(await bridge_at(ask.settings.signal.url))


class AccountPage:
    """The page about the account, and what links one in the background, once at a time."""

    def __init__(self) -> None:
        self._task: asyncio.Task[None] | None = None
        self._state = LinkState()
        self.page = AdminPage(
            path="/setup/account",
            template="account",
            values=self._values,
            actions={"link": self._start, "stop": self._stop, "bridge": _use_bridge},
            forms=_FORMS,
        )

    async def _values(self, ask: Ask) -> dict[str, object]:
        accounts: tuple[Account, ...] | None = None
        with suppress(Disconnected, ConfigError, TimeoutError):
            async with asyncio.timeout(_ANSWER_SECONDS):
                accounts = await (await _linking(ask)).accounts()
        return {
            "link": self._state,
            "is_there": accounts is not None,
            "accounts": [account.name for account in accounts or () if account.name],
            "is_unnamed": ask.world.own_account is None and any(not account.name for account in accounts or ()),
            "is_contained": is_contained(),
        }

    async def _start(self, ask: Ask) -> str:
        ask.write_down("account.link_begun")
        linking = await _linking(ask)
        if self._task is None or self._task.done():
            self._state = LinkState(kind="looking")
            self._task = asyncio.create_task(self._link(linking), name="linking")
        return "The code comes in a moment."

    async def _stop(self, _: Ask) -> str:
        await self.stop()
        return "Stopped."

    async def stop(self) -> None:
        """Stops showing codes."""
        if self._task is not None:
            self._task.cancel()
            await asyncio.wait([self._task])
        self._state = LinkState()

    async def _link(self, linking: Linking) -> None:
        try:
            async for state in link_states(linking):
                self._state = state
            if self._state.kind != "linked":
                self._state = LinkState()
        except CallRefused as error:
            self._state = LinkState(kind="refused", words=str(error))


async def _use_bridge(ask: Ask) -> str:
    change = {"SIGNAL__URL": ask.entry("url")}
    bridge = await bridge_at((await ask.preview(change)).signal.url, timeout_seconds=_ANSWER_SECONDS)
    return await ask.save(change, f"Saved: {BRIDGE_NAMES[bridge]} answers there.")
