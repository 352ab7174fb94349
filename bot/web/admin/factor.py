"""The second factor: the page on which an authenticator app learns its secret.

    off --set up--> a secret of this browser alone, as a QR code    --its first code--> on
     ^                          '-- left, or cancelled: forgotten                           |
     '------------------- turned off with a code, or at the shell --------------------------'

When it is turned on, every other session has to enter a code. If the pages can be reached from other machines, it
cannot be turned off.
"""

import asyncio
import base64
import secrets
from urllib.parse import quote, urlencode, urlsplit

from aiohttp import web

from bot.doctor.pages import is_contained, is_published
from bot.web.admin.account import qr_svg
from bot.web.admin.context import AdminContext, NotDone, go_to
from bot.web.admin.guard import SESSION, PagesAddress, form_of
from bot.web.admin.sessions import CurrentFactor, SecondFactor, Sessions

_FACTOR = "/upkeep/factor"
_SETTING = "WEB__ADMIN_TOTP"
_SECRET_BYTES = 20
"""As long as the digest of the codes. Source: RFC 4226, section 4 (2005)."""


class FactorPage:
    """The page of the second factor."""

    def __init__(self, context: AdminContext, sessions: Sessions, factor: CurrentFactor, place: PagesAddress) -> None:
        self._context = context
        self._sessions = sessions
        self._factor = factor
        self._place = place

    def routes(self) -> list[web.RouteDef]:
        """Returns the paths of the page."""
        return [
            web.get(_FACTOR, self._show),
            web.get("/upkeep/factor/code.svg", self._code),
            web.post("/upkeep/factor/begin", self._begin),
            web.post("/upkeep/factor/cancel", self._cancel),
            web.post("/upkeep/factor/confirm", self._confirm),
            web.post("/upkeep/factor/off", self._switch_off),
        ]

    async def _show(self, request: web.Request) -> web.Response:
        secret, world = request[SESSION].new_secret, self._context.world
        return self._context.page(
            request,
            "factor",
            secret=None if secret is None else _in_groups(_in_base32(secret)),
            is_on=self._factor() is not None,
            is_published=is_published(world.settings, is_contained=is_contained()),
            setting=_SETTING,
            origin=await asyncio.to_thread(world.file.winner, _SETTING),
        )

    async def _code(self, request: web.Request) -> web.Response:
        secret = request[SESSION].new_secret
        if secret is None:
            raise web.HTTPNotFound(text="This code is not shown any more.\n")
        return web.Response(body=qr_svg(self._address(secret)), content_type="image/svg+xml")

    def _address(self, secret: bytes) -> str:
        """The address that authenticator apps read. Source: Google Authenticator's key URI format (2026-11)."""
        label = quote(f"Aldis:{urlsplit(self._place.address).hostname}")
        return f"otpauth://totp/{label}?{urlencode({'secret': _in_base32(secret), 'issuer': 'Aldis'})}"

    async def _begin(self, request: web.Request) -> web.Response:
        if request[SESSION].new_secret is None:  # another page of this browser may show the code already
            request[SESSION].new_secret = secrets.token_bytes(_SECRET_BYTES)
            self._context.write_down(request, "factor.begun")
        return go_to(_FACTOR)

    async def _cancel(self, request: web.Request) -> web.Response:
        request[SESSION].new_secret = None
        return go_to(_FACTOR)

    async def _confirm(self, request: web.Request) -> web.Response:
        """Keeps the secret once a code proves that the app has it too."""
        session = request[SESSION]
        secret = session.new_secret
        if secret is None:
            return go_to(_FACTOR)
        factor = SecondFactor(secret)
        if not factor.takes(form_of(request).get("code", "")):
            raise NotDone(_FACTOR, "That code is wrong or was already used. Wait for the next one.")
        await self._context.keep(request, _FACTOR, {_SETTING: _in_base32(secret)})
        self._factor.adopt(secret, factor)
        session.new_secret, session.confirmed_by = None, factor
        return self._context.done(
            request,
            _FACTOR,
            ("The second factor is on. Every new link asks for a code, and so do all other open sessions."),
        )

    async def _switch_off(self, request: web.Request) -> web.Response:
        """Removes the secret, with one of its codes: a browser that was left open is not enough."""
        factor = self._factor()
        if factor is None:
            return go_to(_FACTOR)
        if not self._sessions.confirm(request[SESSION], factor, form_of(request).get("code", "")):
            self._context.write_down(request, "code.wrong")
            raise NotDone(_FACTOR, "That code is wrong or was already used. Wait for the next one.")
        if is_published(self._context.world.settings, is_contained=is_contained()):
            raise NotDone(
                _FACTOR,
                (
                    "It is required here, because WEB__ADMIN_URL or WEB__ADMIN_HOST makes the pages "
                    "reachable from other machines."
                ),
            )
        return await self._context.save(request, _FACTOR, {_SETTING: None}, "The second factor is off.")


def _in_base32(secret: bytes) -> str:
    return base64.b32encode(secret).decode().rstrip("=")


def _in_groups(letters: str) -> str:
    """Four letters at a time, as people type them."""
    return " ".join(letters[at : at + 4] for at in range(0, len(letters), 4))
