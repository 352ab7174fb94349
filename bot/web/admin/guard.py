"""Decides who can ask for the pages, and sets the headers of every answer.

    Host is one of ours? --no--> 421, because a stranger's name may lead here (DNS rebinding)
      '-- sent by one of our own pages? --no--> 403, unless it is a plain visit
            '-- signed in? --no--> the page that says how, or 401
                  '-- second factor given? --no--> the page that asks for it
                        '-- a form: is its token the session's? --no--> 403
                              '-- the handler

Every answer, refusals included, has the same headers.
"""

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass
from urllib.parse import urlsplit

from aiohttp import web
from aiohttp.typedefs import Handler, Middleware

from bot.doctor.machine import is_every_address
from bot.web.admin.sessions import BrowserSession, CurrentFactor, Sessions, is_same

MAX_BODY_BYTES = 256 * 1024
"""Nothing that is typed or pasted is longer."""
_BODY_SECONDS = 10.0
_MAX_FIELDS = 200

SESSION = web.RequestKey("session", BrowserSession)
FORM = web.RequestKey("form", dict[str, str])
"""The fields of a form with the right token."""
LIVE = "X-Live"
"""The header with which a page that is left open looks for changes by itself."""

_FORM_TYPE = "application/x-www-form-urlencoded"
_POLICY = (
    "default-src 'self'; base-uri 'none'; connect-src 'self'; form-action 'self'; frame-ancestors 'none'; "
    "frame-src 'none'; object-src 'none'"
)
_HEADERS = {
    "Cache-Control": "no-store",
    "Content-Security-Policy": _POLICY,
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Permissions-Policy": "camera=(), geolocation=(), microphone=()",
    # Nothing is sent elsewhere. With `no-referrer` browsers would send our own forms with `Origin: null`.
    "Referrer-Policy": "same-origin",
    "Server": "Aldis",
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
}
_PUBLIC = ("/static/", "/enter/")
_CODE = "/code"


@dataclass(frozen=True, kw_only=True, slots=True)
class PagesAddress:
    """Where the pages are: what they listen on, and the addresses that browsers can use."""

    host: str
    port: int
    url: str | None = None
    """Their address elsewhere; None means only on this machine."""

    @property
    def origins(self) -> frozenset[str]:
        """The origins of our own pages."""
        names = {"127.0.0.1", "localhost", "[::1]"}
        if not is_every_address(self.host):
            names.add(f"[{self.host}]" if ":" in self.host else self.host.lower())
        ours = {f"http://{name}:{self.port}" for name in names}
        ours |= {f"http://{name}" for name in names if self.port == _HTTP_PORT}
        return frozenset(ours | ({_origin_of(self.url)} if self.url else set()))

    @property
    def hosts(self) -> frozenset[str]:
        """The allowed values of the header `Host`."""
        return frozenset(origin.partition("://")[2] for origin in self.origins)

    @property
    def address(self) -> str:
        """The address that people open, without a trailing slash."""
        if self.url:
            return self.url
        name = "127.0.0.1" if is_every_address(self.host) else self.host
        return f"http://[{name}]:{self.port}" if ":" in name else f"http://{name}:{self.port}"

    @property
    def is_secure(self) -> bool:
        """Whether browsers come by https."""
        return self.address.startswith("https:")


_HTTP_PORT = 80


class RequestGuard:
    """Stands before every page."""

    def __init__(self, place: PagesAddress, sessions: Sessions, factor: CurrentFactor) -> None:
        self._place = place
        self._sessions = sessions
        self._factor = factor
        # The prefix makes browsers accept it only over https, for this host alone and for all of it.
        self.cookie_name = "__Host-aldis" if place.is_secure else "aldis-session"

    @property
    def middlewares(self) -> tuple[Middleware, ...]:
        """What every request passes through, in order."""
        return (self._where, self._who)

    async def on_prepare(self, _: web.Request, response: web.StreamResponse) -> None:
        """Sets the headers of an answer."""
        is_lasting = "immutable" in response.headers.get("Cache-Control", "")
        response.headers.update({name: value for name, value in _HEADERS.items() if name != "Cache-Control"})
        if not is_lasting:
            response.headers["Cache-Control"] = _HEADERS["Cache-Control"]
        if self._place.is_secure:
            response.headers["Strict-Transport-Security"] = "max-age=31536000"

    def sign_in(self, response: web.Response, cookie: str) -> None:
        """Gives out the session's cookie."""
        response.set_cookie(
            self.cookie_name, cookie, httponly=True, samesite="Strict", secure=self._place.is_secure, path="/"
        )

    def sign_out(self, response: web.Response) -> None:
        """Takes the cookie back."""
        response.del_cookie(self.cookie_name, path="/", secure=self._place.is_secure, httponly=True, samesite="Strict")

    @web.middleware
    async def _where(self, request: web.Request, handler: Handler) -> web.StreamResponse:
        if request.headers.get("Host", "").lower() not in self._place.hosts or len(request.headers.getall("Host")) != 1:
            raise web.HTTPMisdirectedRequest(text="Not a name of this server.\n")
        origin = request.headers.get("Origin")
        if origin is not None and origin.lower() not in self._place.origins:
            raise web.HTTPForbidden(text="Sent by another site.\n")
        if request.method in {"GET", "HEAD"}:
            # Our own pages ask, or a person who followed a link: not an image or a script of another page.
            site = request.headers.get("Sec-Fetch-Site", "none")
            if site not in {"none", "same-origin"} and request.headers.get("Sec-Fetch-Mode") != "navigate":
                raise web.HTTPForbidden(text="Asked for by another site.\n")
        elif request.method != "POST":
            raise web.HTTPMethodNotAllowed(request.method, ["GET", "HEAD", "POST"], text="Not this way.\n")
        elif origin is None:
            raise web.HTTPForbidden(text="A form says where it comes from.\n")
        return await handler(request)

    @web.middleware
    async def _who(self, request: web.Request, handler: Handler) -> web.StreamResponse:
        # A page that was left open asks for changes by itself, which is no sign that a person is there.
        session = self._sessions.find(request.cookies.get(self.cookie_name, ""), is_visit=LIVE not in request.headers)
        if session is not None:
            self._factor.check(session)
            request[SESSION] = session
        if request.method == "POST":
            await self._read_form(request)
        if request.path.startswith(_PUBLIC):
            return await handler(request)
        if session is None:
            raise web.HTTPUnauthorized(text="Signed out.")
        if not session.is_confirmed and request.path not in {_CODE, "/leave"}:
            raise web.HTTPSeeOther(_CODE)
        if request.method == "POST" and not is_same(form_of(request).get("token", ""), session.form_token):
            raise web.HTTPForbidden(text="This form belongs to another session. Go back and reload the page.\n")
        return await handler(request)

    @staticmethod
    async def _read_form(request: web.Request) -> None:
        """Reads a form into `FORM`; refuses what is no form, too large, or takes too long to arrive."""
        if request.content_type != _FORM_TYPE:
            raise web.HTTPUnsupportedMediaType(text="Only plain forms are taken.\n")
        if (request.charset or "utf-8").lower() != "utf-8":
            raise web.HTTPUnsupportedMediaType(text="Only forms in UTF-8 are taken.\n")
        try:
            async with asyncio.timeout(_BODY_SECONDS):
                found = await request.post()
        except TimeoutError as error:
            raise web.HTTPRequestTimeout(text="The form took too long.\n") from error
        except ValueError as error:
            raise web.HTTPBadRequest(text="That is no form.\n") from error
        if len(found) > _MAX_FIELDS:
            raise web.HTTPBadRequest(text="Too many fields.\n")
        request[FORM] = {name: value for name, value in found.items() if isinstance(value, str)}


def form_of(request: web.Request) -> Mapping[str, str]:
    """Returns the fields of the submitted form."""
    return request[FORM]


def _origin_of(url: str) -> str:
    parts = urlsplit(url)
    return f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}".lower()
