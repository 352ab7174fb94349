"""The account itself by signal-cli-rest-api: linking or registering one. It links in the background without saying so.

Source: signal-cli-rest-api, commit a08db23, and the same run in front of signal-cli 0.13.14 (2026-11-23, 2026-11-26).
"""

import asyncio
from contextlib import suppress
from urllib.parse import quote

from bot.errors import CallRefused, Disconnected, NotScanned
from bot.events import Account
from bot.signal.directory import accounts_in, with_id
from bot.signal.json import as_object, text_in
from bot.signal.rest_api.client import Client

_CALL_SECONDS = 30.0
_ACCOUNTS_SECONDS = 5.0
"""For the list of accounts: the bridge hangs for ever if signal-cli answers at once, so it is soon asked again
(`getRaw` in `src/client/jsonrpc2.go` waits for the answer only after it has written the request)."""


class RestApiLinking:
    """`Linking` by the bridge at `url`; `scan_seconds` is how long the phone can take."""

    def __init__(
        self,
        url: str,
        *,
        scan_seconds: float = 60,
        poll_seconds: float = 1,
        accounts_seconds: float = _ACCOUNTS_SECONDS,
    ) -> None:
        self._client = Client(url)
        self.scan_seconds = scan_seconds
        self._poll_seconds = poll_seconds
        self._accounts_seconds = accounts_seconds
        self._before: tuple[Account, ...] | None = None
        """What was linked before the first code, so that a scan of an outdated code is noticed as well."""

    async def accounts(self) -> tuple[Account, ...]:
        """Returns the accounts that are already linked; see `Linking.accounts`."""
        return accounts_in(await self._client.ask("/v1/accounts", timeout_seconds=self._accounts_seconds))

    async def identify(self, account: Account) -> Account:
        """Asks for the id of an account; see `Linking.identify`."""
        if account.id is not None and account.number is not None:
            return account
        try:
            path = f"/v1/contacts/{account.name}?all_recipients=true"
            return with_id(account, await self._client.do("GET", path, timeout_seconds=_CALL_SECONDS))
        except CallRefused as error:
            raise Disconnected(str(error)) from error

    async def start_link(self, device_name: str) -> str:
        """Returns the address for the QR code; see `Linking.start_link`."""
        if self._before is None:
            self._before = await self.accounts()
        path = f"/v1/qrcodelink/raw?device_name={quote(device_name, safe='')}"
        uri = text_in(as_object(await self._client.ask(path, timeout_seconds=_CALL_SECONDS)), "device_link_uri")
        if not uri:
            raise Disconnected("signal-cli-rest-api gave no address to link by; try again")
        return uri

    async def finish_link(self, uri: str, device_name: str) -> str:  # noqa: ARG002 - the other bridge wants both
        """Waits for the phone and returns its account, polling the list of accounts; see `Linking.finish_link`.

        While it links, signal-cli may answer nothing else for seconds, and the code that is shown stays good.
        """
        try:
            async with asyncio.timeout(self.scan_seconds):
                while True:
                    with suppress(Disconnected):
                        if new := set(await self.accounts()) - set(self._before or ()):
                            return new.pop().name
                    await asyncio.sleep(self._poll_seconds)
        except TimeoutError as error:
            raise NotScanned("the code was not scanned in time") from error

    async def aclose(self) -> None:
        """Closes the connections."""
        await self._client.aclose()
