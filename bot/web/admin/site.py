"""The pages for setup and administration, served on a listener of their own, and the way in: one-time links, then a
code where there is a second factor.

    POST /admin-link on the socket beside the store --> {"url": a link that opens the pages once, within ten minutes}

A link is opened by a button and not by itself, so that a program that previews links does not use it up. Like the
control socket, that socket is only for its owner. It is there as soon as the pages are, even while Aldis waits
for its bridge or account.
"""

import logging
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from datetime import datetime
from decimal import Decimal
from functools import partial
from pathlib import Path
from zoneinfo import ZoneInfo

import segno
from aiohttp import web
from aiohttp.typedefs import Handler
from jinja2 import Environment, FileSystemLoader, StrictUndefined

from bot.doctor.machine import is_contained, secret_of
from bot.errors import CallRefused, ConfigError, Disconnected
from bot.i18n.locale import dollars, moment
from bot.invocation import command_line
from bot.logs import describe_error
from bot.settings import SETTINGS_FILE_NAME
from bot.settings.groups import WebSettings
from bot.web.admin import account, model, overview, people, tools, upkeep
from bot.web.admin.forms import AdminPage, Ask, NotDone
from bot.web.admin.guard import LIVE, MAX_BODY_BYTES, SESSION, Remark, RequestGuard, Sessions, address_of
from bot.web.admin.world import World
from bot.web.control import answering, socket_path
from bot.web.listening import on_address, serving
from store import StoreError

_log = logging.getLogger(__name__)

_CENT = Decimal("0.01")
_FOLDER = Path(__file__).parent


class Site:
    """All pages, over one `World`."""

    def __init__(self, world: World, place: WebSettings, *, sessions: Sessions | None = None) -> None:
        self.world = world
        self._place = place
        self._sessions = sessions or Sessions(lambda: secret_of(world.settings, is_contained=is_contained()))
        self._jinja = _environment(ZoneInfo(world.settings.locale.timezone))
        self._guard = RequestGuard(place, self._sessions)
        self._account = account.AccountPage()
        self.pages: tuple[AdminPage, ...] = (
            overview.PAGE,
            self._account.page,
            model.PAGE,
            people.YOU,
            people.PAGE,
            tools.PAGE,
            overview.USAGE,
            upkeep.DONE,
            upkeep.PAGE,
            AdminPage(path="/code", template="code", values=self._ask_code, actions={"open": self._open}),
        )

    def new_link(self) -> str:
        """Returns the address that opens the pages, once and within ten minutes."""
        return f"{address_of(self._place)}/enter/{self._sessions.new_link()}"

    @property
    def app(self) -> web.Application:
        """The application for browsers."""
        app = web.Application(client_max_size=MAX_BODY_BYTES, middlewares=(self._tell, self._guard.check))
        app.on_response_prepare.append(self._guard.on_prepare)
        app.router.add_static("/static", _FOLDER / "static")
        app.router.add_get("/enter/{token}", self._enter)
        app.router.add_post("/enter/{token}", self._enter)
        app.router.add_post("/leave", self._leave)
        for page in self.pages:
            app.router.add_get(page.path, partial(self._do, page))
            app.router.add_post(page.path, partial(self._do, page))
        return app

    @asynccontextmanager
    async def serving(self) -> AsyncGenerator[None]:
        """Serves the pages while the block runs; raises ConfigError if address or socket cannot be listened on."""
        store_path, place = self.world.settings.store.path, self._place
        store_path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        address = on_address(place.admin_host, place.admin_port, "WEB__ADMIN_PORT")
        control = web.Application()
        control.router.add_post("/admin-link", self._link)
        try:
            async with serving(self.app, address), answering(control, socket_path(store_path, "admin")):
                at = address_of(place)
                opens = command_line("admin")
                _log.info("set-up and administration at %s; `%s` prints a link that opens them", at, opens)
                yield
        finally:
            await self._account.stop()

    async def _link(self, _: web.Request) -> web.Response:
        return web.json_response({"url": self.new_link()})

    async def _enter(self, request: web.Request) -> web.Response:
        token, go_on = request.match_info["token"], web.HTTPSeeOther("/")
        if request.method != "POST" and self._sessions.is_open(token):
            return self._page(request, "enter")
        entered = self._sessions.enter(token) if request.method == "POST" else None
        if entered is None and SESSION in request:  # the button was pressed twice, or no link is needed
            raise go_on
        if entered is None:
            return self._page(request, "signed_out", status=web.HTTPGone.status_code)
        cookie, session = entered
        request[SESSION] = session
        Ask(request, self.world).write_down("link.used")
        self._guard.set_cookie(go_on, cookie)
        raise go_on

    async def _leave(self, request: web.Request) -> web.Response:
        self._sessions.leave(request[SESSION])
        response = web.HTTPSeeOther("/")
        self._guard.set_cookie(response, "")
        raise response

    async def _ask_code(self, ask: Ask) -> dict[str, object]:
        if ask.session.is_confirmed:
            raise web.HTTPSeeOther("/")
        return {}

    async def _open(self, ask: Ask) -> str:
        if not ask.session.is_confirmed:
            is_right = self._sessions.confirm(ask.session, ask.entry("code"))
            ask.write_down("code.right" if is_right else "code.wrong")
            if not is_right:
                raise NotDone("That code is wrong or was already used. Wait for the next one.")
        raise web.HTTPSeeOther("/")

    async def _do(self, page: AdminPage, request: web.Request) -> web.StreamResponse:
        """Answers a request for a page, or does what one of its buttons does."""
        ask = Ask(request, self.world)
        if request.method != "POST":
            return await self._shown(page, ask)
        act = page.buttons.get(ask.form.get("do", ""))
        if act is None:
            raise web.HTTPNotFound(text="There is no such button.\n")
        try:
            done = await act(ask)
        except (NotDone, CallRefused, ConfigError, Disconnected, StoreError) as error:
            # A value that was refused is not set anywhere yet.
            refusal = f"It was refused: {error}".replace(f" (it is set in {SETTINGS_FILE_NAME})", "")
            ask.session.remarks.append(Remark("wrong", str(error) if isinstance(error, NotDone) else refusal))
            ask.typed = ask.form
            return await self._shown(page, ask, status=web.HTTPUnprocessableEntity.status_code)
        if isinstance(done, web.Response):
            return done
        ask.session.remarks.append(Remark("done", done))
        raise web.HTTPSeeOther(page.path)

    async def _shown(self, page: AdminPage, ask: Ask, *, status: int = 200) -> web.Response:
        # As long as there is no admin, people who write in the meantime are offered the role.
        if ask.session.is_confirmed and not ask.settings.access.admins:
            self.world.pairing.listen()
        forms = {form.name: form for form in page.forms}
        values = await page.values(ask)
        return self._page(ask.request, page.template, status=status, ask=ask, page_forms=forms, **values)

    def _page(self, request: web.Request, template: str, *, status: int = 200, **values: object) -> web.Response:
        """A whole page; it shows the remarks of its session once."""
        session, remarks = request.get(SESSION), list[Remark]()
        if session and LIVE not in request.headers:
            remarks, session.remarks = session.remarks, []
        given = {"session": session, "remarks": remarks, "path": request.path, "world": self.world, **values}
        text = self._jinja.get_template(f"{template}.html").render(given)
        return web.Response(text=text, content_type="text/html", status=status)

    @web.middleware
    async def _tell(self, request: web.Request, handler: Handler) -> web.StreamResponse:
        """Answers with refusals as pages, and bugs without their message."""
        try:
            return await handler(request)
        except web.HTTPException as error:
            if error.status < web.HTTPBadRequest.status_code:
                raise
            return self._refused(request, error.status, error.text or "")
        except (Disconnected, StoreError) as error:
            status = web.HTTPServiceUnavailable.status_code
            return self._refused(request, status, f"Something does not answer: {error}")
        except Exception as error:  # noqa: BLE001  (a bug in a page must end only that page)
            _log.error("a page failed: %s", describe_error(error))
            return self._refused(request, web.HTTPInternalServerError.status_code, "")

    def _refused(self, request: web.Request, status: int, text: str) -> web.Response:
        if status == web.HTTPUnauthorized.status_code:
            return self._page(request, "signed_out", status=status, is_lost=request.method == "POST")
        if status == web.HTTPMisdirectedRequest.status_code or SESSION not in request:
            return web.Response(text=text or f"{status}\n", status=status)
        why = f"Nothing was changed (error {status}). {text or 'Go back, reload the page, and try again.'}"
        if status == web.HTTPNotFound.status_code:
            why = f"There is nothing at this address (error {status})."
        return self._page(request, "refused", status=status, why=why)


def _environment(zone: ZoneInfo) -> Environment:
    """The templates, in which everything is escaped except what they themselves contain."""
    jinja = Environment(
        loader=FileSystemLoader(_FOLDER / "templates"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )

    def time(at: datetime) -> str:
        return moment(at.astimezone(zone))

    def usd(amount: Decimal) -> str:
        return dollars(amount.quantize(Decimal("0.0001") if 0 < amount < _CENT else _CENT))

    def qr(text: str) -> str:
        """A QR code as a picture, dark on light with its margin, whatever the theme of the page."""
        return segno.make(text).svg_inline(border=4, light="#fff", dark="#000", omitsize=True)

    names = {"command": command_line, "qr": qr}
    jinja.globals.update(names)  # pyright: ignore[reportUnknownMemberType]
    filters = {"count": "{:,}".format, "time": time, "usd": usd}
    jinja.filters.update(filters)  # pyright: ignore[reportUnknownMemberType]
    return jinja
