"""The profile: name, about text and picture of the account, and the user name by which others find it without its
number.

Aldis asks the bridge for it and keeps nothing but the link of the user name, which is reported only when the name is
taken: if it was taken elsewhere, taking it again shows the link.
"""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

from aiohttp import web

from bot.errors import ConfigError, Disconnected, Unfetchable, UsernameRefused
from bot.events import Account, PersonId
from bot.media.attachments import open_lone_picture
from bot.media.cell import FileRefused
from bot.media.sniff import kind_of
from bot.signal.profiles import (
    MAX_ABOUT_BYTES,
    MAX_NAME_BYTES,
    MAX_PICTURE_BYTES,
    USERNAME,
    AccountProfile,
    ProfileChange,
    ProfileClient,
    ProfilePicture,
    is_line,
)
from bot.web.admin.account import bridge_of, qr_svg
from bot.web.admin.context import AdminContext, NotDone, refusing
from bot.web.admin.guard import form_of, upload_of
from bot.web.admin.world import RunningParts

_PAGE = "/setup/profile"
_ANSWER_SECONDS = 10.0
_SHOWN_TYPES = {"JPEG": "image/jpeg", "PNG": "image/png", "WEBP": "image/webp", "GIF": "image/gif"}
"""The types of pictures set elsewhere that browsers show."""


class ProfilePage:
    """The page of the profile."""

    def __init__(self, context: AdminContext) -> None:
        self._context = context

    def routes(self) -> list[web.RouteDef]:
        """Returns the paths of the page."""
        return [
            web.get(_PAGE, self._show),
            web.get(f"{_PAGE}/picture", self._picture),
            web.get(f"{_PAGE}/link.svg", self._code),
            web.post(_PAGE, self._change),
            web.post(f"{_PAGE}/username", self._take),
            web.post(f"{_PAGE}/username/drop", self._drop),
        ]

    async def _show(self, request: web.Request) -> web.Response:
        profile, running = None, self._context.world.running
        if running is not None:
            try:
                async with asyncio.timeout(_ANSWER_SECONDS), self._client(running) as client:
                    profile = await client.profile()
            except (Disconnected, ConfigError, TimeoutError):
                profile = None
        return self._context.page(
            request,
            "profile",
            profile=profile,
            is_running=running is not None,
            listed=self._listed(profile),
            max_name=MAX_NAME_BYTES,
            max_about=MAX_ABOUT_BYTES,
        )

    def _listed(self, profile: AccountProfile | None) -> str:
        """The user name that the bridge lists and whose link is not known here."""
        world = self._context.world
        return "" if profile is None or world.is_username_known else profile.username or ""

    @asynccontextmanager
    async def _client(self, running: RunningParts) -> AsyncGenerator[ProfileClient]:
        """The way to the profile of Aldis's own account.

        Raises:
            Disconnected, ConfigError: no bridge answers.
        """
        settings, transport = self._context.world.settings, running.transport
        account = Account(
            id=None if transport.account == transport.number else PersonId(transport.account), number=transport.number
        )
        client = self._context.world.deps(settings).profile(await bridge_of(settings), account)
        try:
            yield client
        finally:
            await client.aclose()

    async def _picture(self, _: web.Request) -> web.Response:
        running, data = self._context.world.running, None
        if running is not None:
            try:
                async with asyncio.timeout(_ANSWER_SECONDS), self._client(running) as client:
                    data = await client.picture(max_bytes=MAX_PICTURE_BYTES)
            except (Disconnected, ConfigError, TimeoutError, Unfetchable):
                data = None
        content_type = None if data is None else _SHOWN_TYPES.get(kind_of(data).name)
        if content_type is None:
            raise web.HTTPNotFound(text="There is no picture.\n")
        return web.Response(body=data, content_type=content_type)

    async def _code(self, _: web.Request) -> web.Response:
        username = self._context.world.username
        if username is None or not username.link:
            raise web.HTTPNotFound(text="There is no link.\n")
        return web.Response(body=qr_svg(username.link), content_type="image/svg+xml")

    async def _change(self, request: web.Request) -> web.Response:
        form = form_of(request)
        name, about = " ".join(form.get("name", "").split()), form.get("about", "").strip()
        running = self._context.running(_PAGE)
        if not name or not is_line(name, max_bytes=MAX_NAME_BYTES):
            raise NotDone(_PAGE, "The name is missing or too long.")
        if not is_line(about, max_bytes=MAX_ABOUT_BYTES):
            raise NotDone(_PAGE, "The words below the name are too long.")
        try:
            data = upload_of(request).get("picture")
            made = await open_lone_picture(data) if data else None
        except FileRefused as error:
            raise NotDone(
                _PAGE, ("This file cannot be used as a picture. Choose a JPEG, PNG, WebP or GIF of up to 20 MB.")
            ) from error
        change = ProfileChange(
            name=name,
            about=about,
            picture=ProfilePicture(data=made.data, content_type=made.content_type) if made else None,
            removes_picture=form.get("remove_picture") == "yes",
        )
        self._context.write_down(request, "profile.changed")
        with refusing(_PAGE):
            async with self._client(running) as client:
                await client.change(change)
        return self._context.done(request, _PAGE, "Saved. People will see it soon after the next message.")

    async def _take(self, request: web.Request) -> web.Response:
        running, wanted = self._context.running(_PAGE), form_of(request).get("username", "").strip().removeprefix("@")
        if not USERNAME.fullmatch(wanted):
            raise NotDone(
                _PAGE,
                (
                    "That cannot be a user name. It has 3 to 32 characters, a to z, digits and _, and "
                    "does not start with a digit; a dot and two to nine digits may follow."
                ),
            )
        self._context.write_down(request, "username.taken")
        with refusing(_PAGE):
            async with self._client(running) as client:
                try:
                    username = await client.take_username(wanted)
                except UsernameRefused as error:
                    raise NotDone(
                        _PAGE,
                        (f"Somebody else has the user name {wanted}, or Signal does not allow it. Try another one."),
                    ) from error
        await self._context.world.remember_username(username)
        return self._context.done(request, _PAGE, f"People can now find the account as {username.name}.")

    async def _drop(self, request: web.Request) -> web.Response:
        running = self._context.running(_PAGE)
        self._context.write_down(request, "username.dropped")
        with refusing(_PAGE):
            async with self._client(running) as client:
                await client.drop_username()
        await self._context.world.remember_username(None)
        return self._context.done(
            request, _PAGE, "The account no longer has a user name, and its link no longer works."
        )
