"""The way in: one-time links, the code of the second factor, signing out; and the page that sets up that factor.

    off --set up--> a secret of this browser alone, as a QR code    --its first code--> on
     ^                          '-- left, or cancelled: forgotten                           |
     '------------------- turned off with a code, or at the shell --------------------------'

A link is opened by a button and not by itself, so that a program that previews links does not use it up. When the
second factor is turned on, every other session has to enter a code. If the pages can be reached from other machines, it
cannot be turned off.
"""

import asyncio
import base64
import secrets
from urllib.parse import quote, urlencode, urlsplit

from aiohttp import web

from bot.doctor.pages import is_contained, is_published
from bot.web.admin.forms import AdminPage, Ask, NotDone, log_action
from bot.web.admin.guard import SESSION, PagesAddress, RequestGuard
from bot.web.admin.sessions import CurrentFactor, SecondFactor, Sessions

_MAX_TOKEN_CHARS = 100
_SETTING = "WEB__ADMIN_TOTP"
_SECRET_BYTES = 20
"""As long as the digest of the codes. Source: RFC 4226, section 4 (2005)."""
_WRONG_CODE = "That code is wrong or was already used. Wait for the next one."
_REQUIRED = "It is required here, because WEB__ADMIN_URL or WEB__ADMIN_HOST makes the pages reachable from elsewhere."


class SignIn:
    """The pages before all others, and the one about the second factor."""

    def __init__(self, guard: RequestGuard, sessions: Sessions, factor: CurrentFactor, place: PagesAddress) -> None:
        self._guard = guard
        self._sessions = sessions
        self._factor = factor
        self._place = place
        actions = {"begin": self._begin, "cancel": self._cancel, "on": self._switch_on, "off": self._switch_off}
        self.pages = (
            AdminPage(path="/code", template="code", values=self._ask_code, actions={"open": self._open}),
            AdminPage(path="/upkeep/factor", template="factor", values=self._factor_values, actions=actions),
        )

    def enter(self, request: web.Request) -> tuple[str, int, web.Response | None]:
        """Opens a link: returns the page that is shown and its status, or where to go on."""
        token, go_on = request.match_info["token"][:_MAX_TOKEN_CHARS], web.HTTPSeeOther("/")
        if request.method != "POST" and self._sessions.is_open(token):
            return "enter", 200, None
        entered = self._sessions.enter(token, is_confirmed=self._factor() is None) if request.method == "POST" else None
        if entered is None and SESSION in request:  # the button was pressed twice, or no link is needed
            raise go_on
        if entered is None:
            return "signed_out", web.HTTPGone.status_code, None
        cookie, session = entered
        log_action(request, session, "link.used")
        self._guard.sign_in(go_on, cookie)
        raise go_on

    async def leave(self, request: web.Request) -> web.Response:
        """Signs out."""
        self._sessions.leave(request[SESSION])
        response = web.HTTPSeeOther("/")
        self._guard.sign_out(response)
        raise response

    async def _ask_code(self, ask: Ask) -> dict[str, object]:
        if self._factor() is None:  # it has been turned off since
            ask.session.is_confirmed = True
        if ask.session.is_confirmed:
            raise web.HTTPSeeOther("/")
        return {}

    async def _open(self, ask: Ask) -> str:
        factor = self._factor()
        if factor is not None and not ask.session.is_confirmed:
            self._check(ask, factor)
            ask.write_down("code.right")
        raise web.HTTPSeeOther("/")

    def _check(self, ask: Ask, factor: SecondFactor) -> None:
        if not self._sessions.confirm(ask.session, factor, ask.entry("code")):
            ask.write_down("code.wrong")
            raise NotDone(_WRONG_CODE)

    async def _factor_values(self, ask: Ask) -> dict[str, object]:
        secret = ask.session.new_secret
        letters = "" if secret is None else _in_base32(secret)
        return {
            "secret": " ".join(letters[at : at + 4] for at in range(0, len(letters), 4)),
            "address": self._address(letters),
            "is_on": self._factor() is not None,
            "is_published": is_published(ask.settings, is_contained=is_contained()),
            "required": _REQUIRED,
            "setting": _SETTING,
            "origin": await asyncio.to_thread(ask.world.file.winner, _SETTING),
        }

    def _address(self, secret: str) -> str:
        """The address that authenticator apps read. Source: Google Authenticator's key URI format (2026-11)."""
        label = quote(f"Aldis:{urlsplit(self._place.address).hostname}")
        return f"otpauth://totp/{label}?{urlencode({'secret': secret, 'issuer': 'Aldis'})}"

    async def _begin(self, ask: Ask) -> str:
        ask.session.new_secret = ask.session.new_secret or secrets.token_bytes(_SECRET_BYTES)
        return "Scan the code, then type in what the app shows."

    async def _cancel(self, ask: Ask) -> str:
        ask.session.new_secret = None
        return "Cancelled."

    async def _switch_on(self, ask: Ask) -> str:
        """Keeps the secret once a code proves that the app has it too."""
        secret = ask.session.new_secret
        factor = SecondFactor(secret or b"")
        if secret is None or not factor.takes(ask.entry("code")):
            raise NotDone(_WRONG_CODE)
        await ask.keep({_SETTING: _in_base32(secret)})
        self._factor.adopt(secret, factor)
        ask.session.new_secret, ask.session.confirmed_by = None, factor
        return "The second factor is on. Every new link asks for a code, and so do all other open sessions."

    async def _switch_off(self, ask: Ask) -> str:
        """Removes the secret, with one of its codes: a browser that was left open is not enough."""
        if (factor := self._factor()) is not None:
            self._check(ask, factor)
        if is_published(ask.settings, is_contained=is_contained()):
            raise NotDone(_REQUIRED)
        return await ask.save({_SETTING: None}, "The second factor is off.")


def _in_base32(secret: bytes) -> str:
    return base64.b32encode(secret).decode().rstrip("=")
