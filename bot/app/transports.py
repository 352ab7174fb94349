"""Access to Signal: which bridge answers at `SIGNAL__URL`, its account, the transport over it.

A bridge's own library is imported with the transport that needs it. Left to others: talking (`bot.signal`).
"""

import asyncio
import logging
from collections.abc import Callable

from bot.errors import ConfigError, Disconnected
from bot.events import Account
from bot.logs import RepeatedWarning
from bot.settings import Settings
from bot.signal.bridges import bridge_at
from bot.signal.directory import NO_ACCOUNT, account_meant
from bot.signal.protocol import Bridge, Linking, SignalTransport
from bot.web.admin.world import Wait

_log = logging.getLogger(__name__)

_PAUSE_SECONDS = 0.8
"""The pause between two attempts to reach the bridge: some drop messages until Aldis has found them."""
_MAX_UNNAMED = 3
"""How often a bridge that answers may fail to tell the account's id before Aldis continues without it."""


OnWait = Callable[[Wait], None]
"""Called with what is awaited, after each attempt in vain."""


def log_waits() -> OnWait:
    """Logs what is awaited, repeated each minute."""
    warning = RepeatedWarning(_log)
    return lambda wait: warning.tell(wait.words)


async def signal_transport(
    settings: Settings, on_wait: OnWait | None = None, *, is_being_set_up: bool = False
) -> SignalTransport:
    """The transport to Signal; waits until the bridge answers and has an account.

    While Aldis `is_being_set_up`, it also waits until a page has mended an address or an account that cannot be used.

    Raises:
        ConfigError: what answers at `SIGNAL__URL` is not a bridge, or the account that is meant is not there or not
            clear.
    """
    on_wait = on_wait or log_waits()
    unnamed = 0
    while True:
        try:
            bridge = await bridge_at(settings.signal.url)
            found = await account_meant(linking_over(settings, bridge), settings.signal.account)
        except Disconnected as error:
            on_wait(Wait(f"waiting for Signal: {error}"))
        except ConfigError as error:
            if not is_being_set_up:
                raise
            on_wait(Wait(str(error), "choice"))
        else:
            if found is None:
                on_wait(Wait(NO_ACCOUNT, "link"))
            elif found.id is not None:
                return transport(settings, bridge, found)
            elif (unnamed := unnamed + 1) == _MAX_UNNAMED:
                _log.warning("the bridge does not tell the account's id; Aldis uses its number until it does")
                return transport(settings, bridge, found)
        await asyncio.sleep(_PAUSE_SECONDS)


async def linking_ready(settings: Settings, on_wait: OnWait) -> tuple[Linking, tuple[Account, ...]]:
    """Links an account once the bridge answers, together with those it has; raises ConfigError if that is no bridge."""
    while True:
        try:
            link = linking_over(settings, await bridge_at(settings.signal.url))
            return link, await link.accounts()
        except Disconnected as error:
            on_wait(Wait(f"waiting for Signal: {error}"))
        await asyncio.sleep(_PAUSE_SECONDS)


def transport(settings: Settings, bridge: Bridge, account: Account) -> SignalTransport:
    """The transport for an account over this bridge."""
    signal = settings.signal
    name, notes, seconds = signal.name, signal.note_to_self, signal.send_timeout_seconds
    if bridge == "signal_cli":
        from bot.signal.signal_cli.transport import SignalCli

        files = signal.attachments
        return SignalCli(signal.url, account, name=name, attachments=files, takes_notes=notes, send_seconds=seconds)
    from bot.signal.rest_api.transport import RestApi

    return RestApi(signal.url, account, name=name, takes_notes=notes, send_seconds=seconds)


def linking_over(settings: Settings, bridge: Bridge) -> Linking:
    """Links an account through this bridge."""
    if bridge == "signal_cli":
        from bot.signal.signal_cli.transport import SignalCliLinking

        return SignalCliLinking(settings.signal.url)
    from bot.signal.rest_api.transport import RestApiLinking

    return RestApiLinking(settings.signal.url)
