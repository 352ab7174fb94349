"""The account's own profile by signal-cli-rest-api; see `bot.signal.profiles.ProfileClient`.

    PUT of a profile --204, whatever came of it--> the picture and the text are read back --different--> refused

This makes up for three quirks of that bridge: it also answers 204 if signal-cli has refused, it deletes a picture that
is not sent along, and it does not say why a user name is refused.

Source: signal-cli-rest-api, commit a08db23, `UpdateProfile` and `SetUsername` in `src/client/client.go`, and the same
run in front of signal-cli 0.13.14 (2026-11-23).
"""

import asyncio
import base64
from collections.abc import Awaitable
from typing import TypeVar
from urllib.parse import quote

from bot.errors import CallRefused, ConfigError, Disconnected, UsernameRefused
from bot.events import Account
from bot.signal.directory import profile_in
from bot.signal.json import as_object, text_in
from bot.signal.profiles import MAX_PICTURE_BYTES, AccountProfile, ProfileChange, Username
from bot.signal.rest_api.clients import CONNECT_SECONDS, BridgeRefusal, Clients, as_disconnected, refusal_words

T = TypeVar("T")

UNCHANGED = "signal-cli-rest-api took it, and the profile is not as it should be; its log says why"
_ABOUT_A_USERNAME = "invalid signal-cli response"
"""Its message if signal-cli has refused a user name."""
_CALL_SECONDS, _CHANGE_SECONDS = 30.0, 60.0


class RestApiProfile:
    """`ProfileClient` by the bridge at `url`."""

    def __init__(self, url: str, account: Account) -> None:
        self._clients = Clients(url, account.name, CONNECT_SECONDS)
        self._account = account
        self._path = quote(account.name, safe="")

    async def profile(self) -> AccountProfile:
        """Returns the present profile; see `ProfileClient.profile`."""
        path = f"/v1/contacts/{self._path}?all_recipients=true"
        return profile_in(await self._asked(self._clients.plain.get(path)), account=self._account)

    async def picture(self, *, max_bytes: int) -> bytes | None:
        """Returns the picture that signal-cli keeps; see `ProfileClient.picture`."""
        who = quote(self._account.id or self._account.name, safe="")
        try:
            data = await self._asked(
                self._clients.plain.bytes_at(f"/v1/contacts/{self._path}/{who}/avatar", max_bytes=max_bytes)
            )
        except Disconnected as error:
            if isinstance(error.__cause__, BridgeRefusal):
                return None
            raise
        return data or None

    async def change(self, change: ProfileChange) -> None:
        """Changes the profile, and checks that it has changed; see `ProfileClient.change`."""
        data = change.picture.data if change.picture is not None else None
        if data is None and not change.removes_picture:
            data = await self._kept_picture()
        body = {
            "name": change.name,
            **({} if change.about is None else {"about": change.about}),
            **({} if data is None else {"base64_avatar": base64.b64encode(data).decode()}),
        }
        await self._done(self._clients.plain.do("put", f"/v1/profiles/{self._path}", body))
        # The picture first: reading the text has signal-cli ask Signal's server for the profile again.
        if data is not None and await self.picture(max_bytes=MAX_PICTURE_BYTES) != data:
            raise CallRefused(UNCHANGED)
        profile = await self.profile()
        if not profile.name.startswith(change.name) or change.about not in {None, profile.about}:
            raise CallRefused(UNCHANGED)

    async def take_username(self, wanted: str) -> Username:
        """Takes a user name; see `ProfileClient.take_username`."""
        path = f"/v1/accounts/{self._path}/username"
        try:
            answer = as_object(await self._done(self._clients.plain.post(path, {"username": wanted})))
        except CallRefused as error:
            if _ABOUT_A_USERNAME in str(error):
                raise UsernameRefused(str(error)) from error
            raise
        return Username(name=text_in(answer, "username") or wanted, link=text_in(answer, "username_link"))

    async def drop_username(self) -> None:
        """Gives up the user name; see `ProfileClient.drop_username`."""
        await self._done(self._clients.plain.do("delete", f"/v1/accounts/{self._path}/username", {}))

    async def aclose(self) -> None:
        """Closes the connections."""
        await self._clients.sessions.close()

    async def _kept_picture(self) -> bytes | None:
        """The present picture, which must be sent along, or it would be deleted.

        Raises:
            CallRefused: there is one that the bridge does not give.
        """
        data = await self.picture(max_bytes=MAX_PICTURE_BYTES)
        if data is None and (await self.profile()).has_picture:
            raise CallRefused("the bridge does not have the picture and would delete it; give one, or remove it")
        return data

    async def _asked(self, answer: Awaitable[T]) -> T:
        with as_disconnected():
            async with asyncio.timeout(_CALL_SECONDS):
                return await answer

    async def _done(self, work: Awaitable[T]) -> T:
        try:
            with as_disconnected():
                async with asyncio.timeout(_CHANGE_SECONDS):
                    return await work
        except (Disconnected, ConfigError) as error:
            if (words := refusal_words(error)) is not None:
                raise CallRefused(words) from error
            raise Disconnected(str(error)) from error
