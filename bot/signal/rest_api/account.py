"""The account itself by signal-cli-rest-api: linking or registering one, and its profile.

This makes up for three quirks of that bridge: it links in the background without saying so, it answers a change of the
profile with 204 although signal-cli has refused it, and it deletes a picture that is not sent along.

Source: signal-cli-rest-api, commit a08db23, `UpdateProfile` and `SetUsername` in `src/client/client.go`, and the same
run in front of signal-cli 0.13.14 (2026-11-23, 2026-11-26).
"""

import asyncio
import base64
from urllib.parse import quote

from bot.errors import CallRefused, ConfigError, Disconnected, NotScanned, Unfetchable, UsernameRefused
from bot.events import Account
from bot.signal.directory import accounts_in, profile_in, with_id
from bot.signal.json import as_object, text_in
from bot.signal.profiles import MAX_PICTURE_BYTES, AccountProfile, ProfileChange, Username
from bot.signal.rest_api.client import BridgeRefusal, Client, refusal_words

UNCHANGED = "signal-cli-rest-api took it, and the profile is not as it should be; its log says why"
_ABOUT_A_USERNAME = "invalid signal-cli response"
"""Its message if signal-cli has refused a user name."""
_CALL_SECONDS, _CHANGE_SECONDS = 30.0, 60.0
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
        self._scan_seconds = scan_seconds
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
            return with_id(account, await self._client.ask(path, timeout_seconds=_CALL_SECONDS))
        except Disconnected as error:
            if (words := refusal_words(error)) is not None:
                raise Disconnected(f"{error}: {words}") from error
            raise

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
            async with asyncio.timeout(self._scan_seconds):
                while True:
                    try:
                        if new := set(await self.accounts()) - set(self._before or ()):
                            return new.pop().name
                    except Disconnected as error:
                        if not isinstance(error.__cause__, TimeoutError):
                            raise
                    await asyncio.sleep(self._poll_seconds)
        except TimeoutError as error:
            raise NotScanned("the code was not scanned in time") from error

    async def register(self, number: str, *, captcha: str | None, by_call: bool) -> None:
        """Has a code sent to a number; see `Linking.register`."""
        body = {"use_voice": by_call, **({"captcha": captcha} if captcha else {})}
        await self._client.do(
            "POST", f"/v1/register/{quote(number, safe='')}", body, timeout_seconds=self._scan_seconds
        )

    async def verify(self, number: str, code: str, *, pin: str | None) -> None:
        """Makes the number an account; see `Linking.verify`."""
        path = f"/v1/register/{quote(number, safe='')}/verify/{quote(code, safe='')}"
        await self._client.do("POST", path, {"pin": pin} if pin else {}, timeout_seconds=self._scan_seconds)

    async def aclose(self) -> None:
        """Closes the connections."""
        await self._client.aclose()


class RestApiProfile:
    """`ProfileClient` by the bridge at `url`."""

    def __init__(self, url: str, account: Account) -> None:
        self._client = Client(url)
        self._account = account
        self._path = quote(account.name, safe="")

    async def profile(self) -> AccountProfile:
        """Returns the present profile; see `ProfileClient.profile`."""
        try:
            path = f"/v1/contacts/{self._path}?all_recipients=true"
            found = await self._client.ask(path, timeout_seconds=_CALL_SECONDS)
        except ConfigError as error:
            raise Disconnected(str(error)) from error
        return profile_in(found, account=self._account)

    async def picture(self, *, max_bytes: int) -> bytes | None:
        """Returns the picture that signal-cli keeps; see `ProfileClient.picture`."""
        path = f"/v1/contacts/{self._path}/{quote(self._account.id or self._account.name, safe='')}/avatar"
        try:
            data = await self._client.file(path, timeout_seconds=_CALL_SECONDS, max_bytes=max_bytes)
        except (Disconnected, Unfetchable) as error:
            cause = error.__cause__
            if isinstance(cause, BridgeRefusal) or isinstance(cause and cause.__cause__, BridgeRefusal):
                return None
            raise
        return data or None

    async def change(self, change: ProfileChange) -> None:
        """Changes the profile, and checks that it has changed; see `ProfileClient.change`."""
        data = change.picture.data if change.picture is not None else None
        if data is None and not change.removes_picture:
            data = await self.picture(max_bytes=MAX_PICTURE_BYTES)
            if data is None and (await self.profile()).has_picture:
                raise CallRefused("the bridge does not have the picture and would delete it; give one, or remove it")
        body = {
            "name": change.name,
            **({} if change.about is None else {"about": change.about}),
            **({} if data is None else {"base64_avatar": base64.b64encode(data).decode()}),
        }
        await self._client.do("PUT", f"/v1/profiles/{self._path}", body, timeout_seconds=_CHANGE_SECONDS)
        # The picture first: reading the text has signal-cli ask Signal's server for the profile again.
        if data is not None and await self.picture(max_bytes=MAX_PICTURE_BYTES) != data:
            raise CallRefused(UNCHANGED)
        profile = await self.profile()
        if not profile.name.startswith(change.name) or change.about not in {None, profile.about}:
            raise CallRefused(UNCHANGED)

    async def take_username(self, wanted: str) -> Username:
        """Takes a user name; see `ProfileClient.take_username`."""
        path, body = f"/v1/accounts/{self._path}/username", {"username": wanted}
        try:
            answer = as_object(await self._client.do("POST", path, body, timeout_seconds=_CHANGE_SECONDS))
        except CallRefused as error:
            if _ABOUT_A_USERNAME in str(error):
                raise UsernameRefused(str(error)) from error
            raise
        return Username(name=text_in(answer, "username") or wanted, link=text_in(answer, "username_link"))

    async def drop_username(self) -> None:
        """Gives up the user name; see `ProfileClient.drop_username`."""
        path = f"/v1/accounts/{self._path}/username"
        await self._client.do("DELETE", path, {}, timeout_seconds=_CHANGE_SECONDS)

    async def aclose(self) -> None:
        """Closes the connections."""
        await self._client.aclose()
