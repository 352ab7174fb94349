"""The account itself by signal-cli's daemon: linking or registering one.

Source: signal-cli 0.14.6, `org.asamk.signal.commands` (2026-11-22).
"""

import re

from bot.errors import Disconnected, LinkRefused, NotScanned, TransportError
from bot.events import Account
from bot.signal.directory import account_in, with_id
from bot.signal.json import as_object, text_in
from bot.signal.signal_cli.rpc import Rpc, RpcError, not_done

_CALL_SECONDS = 30.0

_USER_ERROR_CODE = -1
_EXPIRED = re.compile(r"timed out|unknown device link uri", re.IGNORECASE)
"""signal-cli's messages about a code that was not scanned, or that it has forgotten in a restart: both have the same
number as a refusal. Source: signal-cli 0.14.6, `FinishLinkCommand` (2026-11-22)."""


class SignalCliLinking:
    """`Linking` by the daemon at `url`; `scan_seconds` is how long the phone can take."""

    def __init__(self, url: str, *, scan_seconds: float = 180) -> None:
        self._rpc = Rpc(url)
        self._scan_seconds = scan_seconds

    async def accounts(self) -> tuple[Account, ...]:
        """Returns the accounts that are already linked; see `Linking.accounts`."""
        return await self._rpc.accounts(timeout_seconds=_CALL_SECONDS)

    async def identify(self, account: Account) -> Account:
        """Asks for the id of an account; see `Linking.identify`."""
        if account.id is not None:
            return account
        params = {"account": account.name, "recipient": [account.name], "allRecipients": True}
        return with_id(account, await self._rpc.ask("listContacts", params, timeout_seconds=_CALL_SECONDS))

    async def start_link(self, device_name: str) -> str:  # noqa: ARG002 - only the other bridge wants it now
        """Returns the address for the QR code; see `Linking.start_link`."""
        started = await self._rpc.ask("startLink", {}, timeout_seconds=_CALL_SECONDS)
        uri = text_in(as_object(started), "deviceLinkUri")
        if not uri:
            raise Disconnected("signal-cli gave no address to link by; try again")
        return uri

    async def finish_link(self, uri: str, device_name: str) -> str:
        """Waits for the phone and returns its account; see `Linking.finish_link`."""
        before = await self.accounts()  # because the answer need not name one without a number
        params = {"deviceLinkUri": uri, "deviceName": device_name}
        try:
            finished = account_in(await self._rpc.call("finishLink", params, timeout_seconds=self._scan_seconds))
        except RpcError as error:
            raise _not_linked(error) from error
        except TransportError as error:
            raise not_done("finishLink", error) from error
        new = [finished] if finished.name else [one for one in await self.accounts() if one.name and one not in before]
        if len(new) != 1:
            raise Disconnected("signal-cli did not say which account was linked; look at its list of accounts")
        return new[0].name

    async def aclose(self) -> None:
        """Does nothing: no connection is kept."""


def _not_linked(error: RpcError) -> TransportError:
    """Returns why the phone was not linked: a code that was not scanned is replaced by another, a refusal is final."""
    if error.code == _USER_ERROR_CODE and not _EXPIRED.search(error.words):
        return LinkRefused(error.line)
    if error.code == _USER_ERROR_CODE:
        return NotScanned("the code was not scanned in time")
    return Disconnected(f"the phone was not linked ({error})")
