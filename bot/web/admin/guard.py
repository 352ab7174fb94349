"""Decides who can ask for the pages, and sets the headers of every answer; who is signed in.

    new_link --within ten minutes, once--> enter --no second factor--> a session
                                             '-- a session that can only enter its code --confirm--> a session

    Host is one of ours? --no--> 421, because a stranger's name may lead here (DNS rebinding)
      '-- sent by one of our own pages? --no--> 403, unless it is a plain visit
            '-- signed in? --no--> the page that says how, or 401
                  '-- second factor given? --no--> the page that asks for it
                        '-- a form: is its token the session's? --no--> 403
                              '-- the handler

Every answer, refusals included, has the same headers. Sessions live in memory, and secrets only as digests: the end of
the process signs everyone out.
"""

import asyncio
import hashlib
import hmac
import secrets
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Literal
from urllib.parse import urlsplit

from aiohttp import web
from aiohttp.typedefs import Handler
from cryptography.hazmat.primitives.hashes import SHA1
from cryptography.hazmat.primitives.twofactor.totp import TOTP

from bot.doctor.machine import is_every_address
from bot.settings.groups import WebSettings

MAX_BODY_BYTES = 256 * 1024
"""Nothing that is typed or pasted is longer."""
_BODY_SECONDS = 10.0
LIVE = "X-Live"
"""The header with which a page that is left open looks for changes by itself."""

_FORM_TYPE = "application/x-www-form-urlencoded"
_HEADERS = {
    "Content-Security-Policy": (
        "default-src 'self'; base-uri 'none'; connect-src 'self'; form-action 'self'; frame-ancestors 'none'; "
        "frame-src 'none'; object-src 'none'"
    ),
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Permissions-Policy": "camera=(), geolocation=(), microphone=()",
    # Nothing is sent elsewhere. With `no-referrer` browsers would send our own forms with `Origin: null`.
    "Referrer-Policy": "same-origin",
    "Server": "Aldis",
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
}
_PUBLIC, _CODE = ("/static/", "/enter/"), "/code"

LINK_SECONDS, SESSION_SECONDS = 600.0, 8 * 3600.0
_TOKEN_BYTES = 32
_MAX_SESSIONS = 8
"""Open at a time; another one closes the oldest."""
_MAX_TRIES = 5
"""How many wrong codes close a session."""
_STEP_SECONDS, _DIGITS = 30, 6
"""What every authenticator app supports. Source: RFC 6238 (2011) and the key URI format of Google Authenticator."""


@dataclass(frozen=True, slots=True)
class Remark:
    """What a page says once, at its top, about what was just done."""

    kind: Literal["done", "wrong"]
    words: str


@dataclass(kw_only=True, slots=True)
class BrowserSession:
    """A browser that is signed in."""

    name: str
    """Eight hexadecimal digits, which identify it in the log."""
    form_token: str
    """The token that every form of it must carry."""
    began_at: float
    confirmed_for: bytes | None = field(default=None, repr=False)
    """The secret of the second factor that was given; None: none was."""
    is_confirmed: bool = False
    """Whether that is the one in force, or none is needed; looked at with each request."""
    tries: int = 0
    remarks: list[Remark] = field(default_factory=list[Remark])


class Sessions:
    """The open link and the sessions of one listener, and the codes that confirm sessions.

    `secret` returns what the codes of an authenticator app are made of, at least 128 bits; None: no code is needed.
    `seconds` is a clock that never goes back, `wall` the machine's.
    """

    def __init__(
        self,
        secret: Callable[[], bytes | None] = lambda: None,
        *,
        seconds: Callable[[], float] = time.monotonic,
        wall: Callable[[], float] = time.time,
    ) -> None:
        self._secret, self._seconds, self._wall = secret, seconds, wall
        self._link = b"", 0.0
        """The newest link, as a digest, and when it was made."""
        self._sessions: dict[bytes, BrowserSession] = {}
        self._last: tuple[bytes, int] = b"", 0
        """The last code that was used: its secret and its step."""

    def new_link(self) -> str:
        """Returns the token of a link that opens one session; earlier links open nothing any more."""
        token = secrets.token_urlsafe(_TOKEN_BYTES)
        self._link = _digest(token), self._seconds()
        return token

    def is_open(self, token: str) -> bool:
        """Whether a link would still open a session."""
        digest, at = self._link
        return hmac.compare_digest(_digest(token), digest) and self._seconds() - at < LINK_SECONDS

    def enter(self, token: str) -> tuple[str, BrowserSession] | None:
        """Returns a new session and the value of its cookie; None if the link is used up, too old, or unknown."""
        if not self.is_open(token):
            return None
        self._link = b"", 0.0
        while len(self._sessions) >= _MAX_SESSIONS:
            del self._sessions[next(iter(self._sessions))]
        cookie, form_token, now = *(secrets.token_urlsafe(_TOKEN_BYTES) for _ in range(2)), self._seconds()
        session = BrowserSession(name=secrets.token_hex(4), form_token=form_token, began_at=now)
        self._sessions[_digest(cookie)] = session
        return cookie, session

    def find(self, cookie: str) -> BrowserSession | None:
        """Returns the session of a cookie, or None; closes those that are too old or had too many wrong codes."""
        now = self._seconds()
        self._sessions = {
            digest: one
            for digest, one in self._sessions.items()
            if now - one.began_at < SESSION_SECONDS and one.tries < _MAX_TRIES
        }
        session = self._sessions.get(_digest(cookie))
        if session is not None:
            secret = self._secret()
            session.is_confirmed = secret is None or session.confirmed_for == secret
        return session

    def confirm(self, session: BrowserSession, code: str) -> bool:
        """Whether the code opens the session: it is right now, or half a minute earlier or later, and was not used."""
        digits, secret = "".join(code.split()), self._secret() or b""
        now, (known, last) = int(self._wall()) // _STEP_SECONDS, self._last
        for step in (now, now - 1, now + 1):
            if not secret or (secret == known and step <= last):
                continue
            totp = TOTP(secret, _DIGITS, SHA1(), _STEP_SECONDS, enforce_key_length=False)  # noqa: S303 - RFC 6238's
            if is_same(digits, totp.generate(step * _STEP_SECONDS).decode()):
                self._last = secret, step
                session.confirmed_for = secret
                return True
        session.tries += 1
        return False

    def leave(self, session: BrowserSession) -> None:
        """Closes a session."""
        self._sessions = {digest: one for digest, one in self._sessions.items() if one is not session}


def is_same(given: str, expected: str) -> bool:
    """Whether two secrets are equal, in a time that does not reveal how far they agree."""
    return hmac.compare_digest(given.encode(), expected.encode())


def _digest(token: str) -> bytes:
    return hashlib.sha256(token.encode()).digest()


SESSION = web.RequestKey("session", BrowserSession)
FORM = web.RequestKey("form", dict[str, str])
"""The fields of a form with the right token."""


def address_of(pages: WebSettings) -> str:
    """Returns the address that people open, without a trailing slash."""
    return pages.admin_url or f"http://{_host_of(pages)}:{pages.admin_port}"


def origins_of(pages: WebSettings) -> frozenset[str]:
    """Returns the origins of our own pages."""
    hosts = {"127.0.0.1", "localhost", "[::1]", _host_of(pages)}
    here = {f"http://{host}:{pages.admin_port}".removesuffix(":80") for host in hosts}  # which browsers leave out
    parts = urlsplit(address_of(pages))
    return frozenset(here | {f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}".lower()})


def _host_of(pages: WebSettings) -> str:
    host = "127.0.0.1" if is_every_address(pages.admin_host) else pages.admin_host.lower()
    return f"[{host}]" if ":" in host else host


class RequestGuard:
    """Stands before every page."""

    def __init__(self, pages: WebSettings, sessions: Sessions) -> None:
        self._sessions = sessions
        self._origins = origins_of(pages)
        self._hosts = {origin.partition("://")[2] for origin in self._origins}
        self._is_secure = address_of(pages).startswith("https:")
        # The prefix makes browsers accept it only over https, for this host alone and for all of it.
        self.cookie_name = "__Host-aldis" if self._is_secure else "aldis-session"

    async def on_prepare(self, _: web.Request, response: web.StreamResponse) -> None:
        """Sets the headers of an answer."""
        response.headers.setdefault("Cache-Control", "no-store")
        response.headers.update(_HEADERS)
        if self._is_secure:
            response.headers["Strict-Transport-Security"] = "max-age=31536000"

    def set_cookie(self, response: web.Response, cookie: str) -> None:
        """Gives out the session's cookie; if it is empty, takes it back."""
        age = None if cookie else 0
        response.set_cookie(
            self.cookie_name, cookie, max_age=age, httponly=True, samesite="Strict", secure=self._is_secure, path="/"
        )

    @web.middleware
    async def check(self, request: web.Request, handler: Handler) -> web.StreamResponse:
        """What every request passes through."""
        names = request.headers.getall("Host", [])
        origin = request.headers.get("Origin")
        if len(names) != 1 or names[0].lower() not in self._hosts:
            raise web.HTTPMisdirectedRequest(text="Not a name of this server.\n")
        if origin is not None and origin.lower() not in self._origins:
            raise web.HTTPForbidden(text="Sent by another site.\n")
        if request.method == "POST" and origin is None:
            raise web.HTTPForbidden(text="A form says where it comes from.\n")
        session = self._sessions.find(request.cookies.get(self.cookie_name, ""))
        if session is not None:
            request[SESSION] = session
        if request.method == "POST":
            request[FORM] = await _read_form(request)
        if request.path.startswith(_PUBLIC):
            return await handler(request)
        if session is None:
            raise web.HTTPUnauthorized(text="Signed out.")
        if not session.is_confirmed and request.path not in {_CODE, "/leave"}:
            raise web.HTTPSeeOther(_CODE)
        if request.method == "POST" and not is_same(request[FORM].get("token", ""), session.form_token):
            raise web.HTTPForbidden(text="This form belongs to another session. Go back and reload the page.\n")
        return await handler(request)


async def _read_form(request: web.Request) -> dict[str, str]:
    """The fields of a form; refuses what is no form, too large, or takes too long to arrive."""
    if request.content_type != _FORM_TYPE or (request.charset or "utf-8").lower() != "utf-8":
        raise web.HTTPUnsupportedMediaType(text="Only plain forms in UTF-8 are taken.\n")
    try:
        async with asyncio.timeout(_BODY_SECONDS):
            found = await request.post()
    except TimeoutError as error:
        raise web.HTTPRequestTimeout(text="The form took too long.\n") from error
    except ValueError as error:
        raise web.HTTPBadRequest(text="That is no form.\n") from error
    return {name: value for name, value in found.items() if isinstance(value, str)}
