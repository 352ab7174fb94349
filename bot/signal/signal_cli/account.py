"""The account itself by signal-cli's daemon: linking or registering one, and its profile.

Source: signal-cli 0.14.6, `org.asamk.signal.commands` (2026-11-22); the profile's answers as 0.13.14 gave them on a
mock of Signal's server (2026-11-23).
"""

import base64
import re

from bot.errors import CallRefused, Disconnected, LinkRefused, NotScanned, TransportError, Unfetchable, UsernameRefused
from bot.events import Account
from bot.signal.directory import account_in, profile_in, with_id
from bot.signal.json import Json, as_object, text_in
from bot.signal.profiles import AccountProfile, ProfileChange, Username
from bot.signal.signal_cli.rpc import Rpc, RpcError, not_done

_CALL_SECONDS, _CHANGE_SECONDS = 30.0, 60.0

_USER_ERROR_CODE = -1
_EXPIRED = re.compile(r"timed out|unknown device link uri", re.IGNORECASE)
"""signal-cli's messages about a code that was not scanned, or that it has forgotten in a restart: both have the same
number as a refusal. Source: signal-cli 0.14.6, `FinishLinkCommand` (2026-11-22)."""
_TAKEN = re.compile(r"^Invalid username|\[409\]|\[422\]")
"""Its messages about user names: 0.13 passes on the status of Signal's server."""


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

    async def register(self, number: str, *, captcha: str | None, by_call: bool) -> None:
        """Has a code sent to a number; see `Linking.register`."""
        given = {"account": number, "voice": by_call, **({"captcha": captcha} if captcha else {})}
        await self._rpc.do("register", given, timeout_seconds=self._scan_seconds)

    async def verify(self, number: str, code: str, *, pin: str | None) -> None:
        """Makes the number an account; see `Linking.verify`."""
        given = {"account": number, "verificationCode": code, **({"pin": pin} if pin else {})}
        await self._rpc.do("verify", given, timeout_seconds=self._scan_seconds)

    async def aclose(self) -> None:
        """Does nothing: no connection is kept."""


def _not_linked(error: RpcError) -> TransportError:
    """Returns why the phone was not linked: a code that was not scanned is replaced by another, a refusal is final."""
    if error.code == _USER_ERROR_CODE and not _EXPIRED.search(error.words):
        return LinkRefused(error.line)
    if error.code == _USER_ERROR_CODE:
        return NotScanned("the code was not scanned in time")
    return Disconnected(f"the phone was not linked ({error})")


class SignalCliProfile:
    """`ProfileClient` by the daemon at `url`."""

    def __init__(self, url: str, account: Account) -> None:
        self._rpc = Rpc(url)
        self._account = account

    async def profile(self) -> AccountProfile:
        """Returns the present profile; see `ProfileClient.profile`."""
        given = {"account": self._account.name, "recipient": [self._account.name], "allRecipients": True}
        found = await self._rpc.ask("listContacts", given, timeout_seconds=_CALL_SECONDS)
        return profile_in(found, account=self._account)

    async def picture(self, *, max_bytes: int) -> bytes | None:
        """Returns the picture that the daemon keeps; see `ProfileClient.picture`."""
        try:
            given = {"account": self._account.name, "profile": self._account.name}
            picture = await self._rpc.file("getAvatar", given, timeout_seconds=_CALL_SECONDS, max_bytes=max_bytes)
        except RpcError:
            return None
        except Unfetchable:
            raise
        except TransportError as error:
            raise not_done("getAvatar", error) from error
        return picture or None

    async def change(self, change: ProfileChange) -> None:
        """Changes the profile; a family name that was set elsewhere is removed. See `ProfileClient.change`."""
        picture = change.picture
        await self._do(
            "updateProfile",
            {
                "givenName": change.name,
                "familyName": "",
                **({} if change.about is None else {"about": change.about}),
                **({"removeAvatar": True} if change.removes_picture and picture is None else {}),
                **(
                    {"avatar": f"data:{picture.content_type};base64,{base64.b64encode(picture.data).decode()}"}
                    if picture is not None
                    else {}
                ),
            },
        )

    async def take_username(self, wanted: str) -> Username:
        """Takes a user name; see `ProfileClient.take_username`."""
        answer = as_object(await self._do("updateAccount", {"username": wanted}))
        return Username(name=text_in(answer, "username") or wanted, link=text_in(answer, "usernameLink"))

    async def drop_username(self) -> None:
        """Gives up the user name; see `ProfileClient.drop_username`."""
        await self._do("updateAccount", {"deleteUsername": True})

    async def aclose(self) -> None:
        """Does nothing: no connection is kept."""

    async def _do(self, method: str, params: Json) -> object:
        given = {"account": self._account.name, **params}
        try:
            return await self._rpc.do(method, given, timeout_seconds=_CHANGE_SECONDS)
        except CallRefused as error:
            if "username" in params and _TAKEN.search(str(error)):
                raise UsernameRefused(str(error)) from error
            raise
