"""The account's own profile by signal-cli's daemon; see `bot.signal.profiles.ProfileClient`.

Source: signal-cli 0.14.6; the answers as 0.13.14 gave them on a mock of Signal's server (2026-11-23).
"""

import base64
import re
from collections.abc import Mapping

from bot.errors import CallRefused, TransportError, Unfetchable, UsernameRefused
from bot.events import Account
from bot.signal.directory import profile_in
from bot.signal.json import as_object, text_in
from bot.signal.profiles import AccountProfile, ProfileChange, Username
from bot.signal.signal_cli.rpc import Rpc, not_done
from bot.signal.signal_cli.send_results import RpcError

_TAKEN = re.compile(r"^Invalid username|\[409\]|\[422\]")
"""Its messages about user names: 0.13 passes on the status of Signal's server."""
_CALL_SECONDS, _CHANGE_SECONDS = 30.0, 60.0


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

    async def _do(self, method: str, params: Mapping[str, object]) -> object:
        given = {"account": self._account.name, **params}
        try:
            return await self._rpc.do(method, given, timeout_seconds=_CHANGE_SECONDS)
        except CallRefused as error:
            if "username" in params and _TAKEN.search(str(error)):
                raise UsernameRefused(str(error)) from error
            raise
