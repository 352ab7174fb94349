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
from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from urllib.parse import urlsplit

from aiohttp import BodyPartReader, web
from aiohttp.typedefs import Handler, Middleware

from bot.doctor.pages import is_every_address
from bot.web.admin.sessions import BrowserSession, CurrentFactor, Sessions, is_same

Form = Mapping[str, str]

MAX_BODY_BYTES = 256 * 1024
"""Nothing that is typed or pasted is longer."""
BODY_SECONDS = 10.0
_MAX_FIELDS = 200

SESSION = web.RequestKey("session", BrowserSession)
FORM = web.RequestKey("form", dict[str, str])
"""The fields of a form with the right token."""
UPLOAD = web.RequestKey("upload", dict[str, bytes])
"""The files that came with it."""

MAX_UPLOAD_BYTES = 20 * 1024 * 1024
"""For a form with files: a phone's photograph fits. A longer one is cut off, and then no whole file."""
UPLOAD_SECONDS = 120.0
_MAX_DROPPED_BYTES = 100 * 1024 * 1024
"""How much of a larger one is read and discarded, because a browser shows no answer before it has sent everything."""
_UPLOADS = frozenset({"/setup/profile"})
"""The paths whose forms carry files."""

_FORM_TYPE = "application/x-www-form-urlencoded"
_UPLOAD_TYPE = "multipart/form-data"
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
_SECURE_HEADERS = {"Strict-Transport-Security": "max-age=31536000"}

_PUBLIC = ("/static/", "/enter/")
LIVE = "/live/"
"""The beginning of the paths of parts that change by themselves."""
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
        response.headers.update(_HEADERS | (_SECURE_HEADERS if self._place.is_secure else {}))
        if response.headers.get("X-Lasting"):
            del response.headers["X-Lasting"]
            response.headers["Cache-Control"] = "public, max-age=31536000, immutable"

    def is_in(self, session: BrowserSession) -> bool:
        """Whether the session would still be let in: asked repeatedly by what keeps being shown."""
        self._factor.check(session)
        return session.is_confirmed and self._sessions.holds(session)

    def sign_in(self, response: web.StreamResponse, cookie: str) -> None:
        """Gives out the session's cookie."""
        response.set_cookie(
            self.cookie_name, cookie, httponly=True, samesite="Strict", secure=self._place.is_secure, path="/"
        )

    def sign_out(self, response: web.StreamResponse) -> None:
        """Takes the cookie back."""
        response.del_cookie(self.cookie_name, path="/", secure=self._place.is_secure, httponly=True, samesite="Strict")

    @web.middleware
    async def _where(self, request: web.Request, handler: Handler) -> web.StreamResponse:
        if request.headers.get("Host", "").lower() not in self._place.hosts or len(request.headers.getall("Host")) != 1:
            raise web.HTTPMisdirectedRequest(text="Not a name of this server.\n")
        origin = request.headers.get("Origin")
        if origin is not None and origin.lower() not in self._place.origins:
            raise web.HTTPForbidden(text="Sent by a page of somebody else.\n")
        if request.method in {"GET", "HEAD"}:
            if not self._is_visit(request):
                raise web.HTTPForbidden(text="Asked for by a page of somebody else.\n")
        elif request.method != "POST":
            raise web.HTTPMethodNotAllowed(request.method, ["GET", "HEAD", "POST"], text="Not this way.\n")
        elif origin is None:
            raise web.HTTPForbidden(text="A form tells where it comes from.\n")
        return await handler(request)

    @staticmethod
    def _is_visit(request: web.Request) -> bool:
        """Whether our own pages ask, or a person who followed a link: not an image or a script of another page."""
        site = request.headers.get("Sec-Fetch-Site", "none")
        return site in {"none", "same-origin"} or request.headers.get("Sec-Fetch-Mode") == "navigate"

    @web.middleware
    async def _who(self, request: web.Request, handler: Handler) -> web.StreamResponse:
        # A page that was left open asks for changes by itself: nobody need be looking at it.
        session = self._sessions.find(
            request.cookies.get(self.cookie_name, ""), is_visit=not request.path.startswith(LIVE)
        )
        if session is not None:
            self._factor.check(session)
            request[SESSION] = session
        if request.method == "POST":
            is_in = session is not None and session.is_confirmed
            takes_files = is_in and request.path in _UPLOADS and request.content_type == _UPLOAD_TYPE
            request[FORM] = await (self._upload if takes_files else self._form)(request)
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
    async def _upload(request: web.Request) -> dict[str, str]:
        """The fields of a form with files, which are kept aside: in memory, and cut off at `MAX_UPLOAD_BYTES`."""
        fields: dict[str, str] = {}
        files: dict[str, bytes] = {}
        size = 0
        async with _reading_form(UPLOAD_SECONDS):
            async for part in await request.multipart():
                if not isinstance(part, BodyPartReader) or not part.name or len(fields) + len(files) >= _MAX_FIELDS:
                    raise ValueError("no form")
                data = bytearray()
                while chunk := await part.read_chunk():
                    size += len(chunk)
                    if size > _MAX_DROPPED_BYTES:
                        raise web.HTTPRequestEntityTooLarge(MAX_UPLOAD_BYTES, size, text="Too large.\n")
                    data += chunk[: max(0, MAX_UPLOAD_BYTES - (size - len(chunk)))]
                if part.filename is None:
                    fields[part.name] = data.decode("utf-8", "replace")
                else:
                    files[part.name] = bytes(data)
        request[UPLOAD] = files
        return fields

    @staticmethod
    async def _form(request: web.Request) -> dict[str, str]:
        if request.content_type != _FORM_TYPE or (request.charset or "utf-8").lower() != "utf-8":
            raise web.HTTPUnsupportedMediaType(text="Only plain forms are taken.\n")
        async with _reading_form(BODY_SECONDS):
            found = await request.post()
        if len(found) > _MAX_FIELDS:
            raise web.HTTPBadRequest(text="Too many fields.\n")
        return {name: value for name, value in found.items() if isinstance(value, str)}


@asynccontextmanager
async def _reading_form(seconds: float) -> AsyncGenerator[None]:
    """Refuses what is no form, or takes longer than that to arrive."""
    try:
        async with asyncio.timeout(seconds):
            yield
    except TimeoutError as error:
        raise web.HTTPRequestTimeout(text="The form took too long.\n") from error
    except ValueError as error:
        raise web.HTTPBadRequest(text="That is no form.\n") from error


def form_of(request: web.Request) -> Form:
    """Returns the fields of the submitted form."""
    return request[FORM]


def upload_of(request: web.Request) -> Mapping[str, bytes]:
    """Returns the files that came with the form; none if it was a plain one."""
    return request.get(UPLOAD, {})


def _origin_of(url: str) -> str:
    parts = urlsplit(url)
    return f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}".lower()
