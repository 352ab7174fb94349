"""The way in: the page behind a one-time link, the code of the second factor, signing out.

A link is opened by a button and not by itself, so that a program that previews links does not use it up.
"""

from aiohttp import web

from bot.web.admin.context import AdminContext, NotDone, go_to
from bot.web.admin.guard import SESSION, RequestGuard, form_of
from bot.web.admin.sessions import CurrentFactor, Sessions

_MAX_TOKEN_CHARS = 100


class SignIn:
    """The pages before all others."""

    def __init__(self, context: AdminContext, guard: RequestGuard, sessions: Sessions, factor: CurrentFactor) -> None:
        self._context = context
        self._guard = guard
        self._sessions = sessions
        self._factor = factor

    def routes(self) -> list[web.RouteDef]:
        """Returns the paths of the pages."""
        return [
            web.get("/enter/{token}", self._knock),
            web.post("/enter/{token}", self._enter),
            web.get("/code", self._ask),
            web.post("/code", self._confirm),
            web.post("/leave", self._leave),
        ]

    async def _knock(self, request: web.Request) -> web.Response:
        is_open = self._sessions.is_open(request.match_info["token"][:_MAX_TOKEN_CHARS])
        if not is_open and SESSION in request:  # anybody already signed in needs no link
            return go_to("/")
        return self._context.page(request, "enter" if is_open else "signed_out", status=200 if is_open else 410)

    async def _enter(self, request: web.Request) -> web.Response:
        entered = self._sessions.enter(
            request.match_info["token"][:_MAX_TOKEN_CHARS], is_confirmed=self._factor() is None
        )
        if entered is None and SESSION in request:  # the button was pressed twice
            return go_to("/")
        if entered is None:
            if count := self._sessions.note_refusal():
                self._context.write_down(request, "link.refused", f"{count} times" if count > 1 else "")
            return self._context.page(request, "signed_out", status=410)
        cookie, request[SESSION] = entered
        self._context.write_down(request, "link.used")
        response = go_to("/")
        self._guard.sign_in(response, cookie)
        return response

    async def _ask(self, request: web.Request) -> web.Response:
        if self._factor() is None:  # it has been turned off since
            request[SESSION].is_confirmed = True
        if request[SESSION].is_confirmed:
            raise web.HTTPSeeOther("/")
        return self._context.page(request, "code")

    async def _confirm(self, request: web.Request) -> web.Response:
        session, factor = request[SESSION], self._factor()
        if factor is None or session.is_confirmed:
            raise web.HTTPSeeOther("/code")
        if self._sessions.confirm(session, factor, form_of(request).get("code", "")):
            self._context.write_down(request, "code.right")
            return go_to("/")
        self._context.write_down(request, "code.wrong")
        raise NotDone("/code", "That code is wrong or was already used. Wait for the next one.")

    async def _leave(self, request: web.Request) -> web.Response:
        self._context.write_down(request, "signed_out")
        self._sessions.leave(request[SESSION])
        response = go_to("/")
        self._guard.sign_out(response)
        return response
