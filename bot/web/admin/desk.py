"""What all rooms of the pages share: showing a page, going back to one, writing down what was done.

Left to others: what the rooms show and do (`overview`, `account`, ...), what is served where (`site`).
"""

import asyncio
import json
from collections.abc import Awaitable, Callable

from aiohttp import web

from bot.web.admin.audit import Audit
from bot.web.admin.guard import SESSION
from bot.web.admin.pages import Pages, words
from bot.web.admin.sessions import Remark
from bot.web.admin.world import World

LIVE_SECONDS = 1.0
"""Between two looks at what has changed."""
_LIVE_FOR_SECONDS = 900.0
"""Then the browser asks anew, and is asked for its cookie."""
_MAX_LIVE = 16

Fragment = Callable[[], Awaitable[tuple[str, dict[str, object]]]]
"""The template of a part of a page that changes by itself, and what is filled in."""


class Desk:
    """What the rooms work with."""

    def __init__(self, world: World, pages: Pages, audit: Audit) -> None:
        self.world = world
        self._pages = pages
        self._audit = audit
        self._fragments: dict[str, Fragment] = {}
        self._live = 0

    def page(self, request: web.Request, template: str, *, status: int = 200, **values: object) -> web.Response:
        """A whole page."""
        return self._pages.response(request, template, status=status, world=self.world, **values)

    def done(self, request: web.Request, path: str, name: str, /, **values: object) -> web.Response:
        """Back to a page, which says that it is done."""
        request[SESSION].remarks.append(Remark("done", words(name, **values)))
        return go_to(path)

    def wrong(self, request: web.Request, path: str, sentence: str) -> web.Response:
        """Back to a page, which says what was wrong."""
        request[SESSION].remarks.append(Remark("wrong", sentence))
        return go_to(path)

    def write_down(self, request: web.Request, what: str, about: str = "") -> None:
        """Write into the audit log what is done by this request."""
        session = request.get(SESSION)
        self._audit.write(what, who=session.name if session else "-", origin=request.remote or "-", about=about)

    @property
    def audit(self) -> Audit:
        """The audit log."""
        return self._audit

    def add_fragment(self, name: str, fragment: Fragment) -> None:
        """A part of a page that changes by itself."""
        self._fragments[name] = fragment

    async def fragment(self, name: str) -> str:
        """A part of a page as it is now."""
        template, values = await self._fragments[name]()
        return self._pages.html(template, world=self.world, **values)

    async def live(self, request: web.Request) -> web.StreamResponse:
        """A part of a page as server-sent events: whenever it has changed, all of it."""
        name = request.match_info["name"]
        if name not in self._fragments:
            raise web.HTTPNotFound(text="There is no such part.\n")
        if self._live >= _MAX_LIVE:
            raise web.HTTPServiceUnavailable(text="Too many pages are open.\n")
        response = web.StreamResponse(headers={"Content-Type": "text/event-stream"})
        self._live += 1
        try:
            await response.prepare(request)
            async with asyncio.timeout(_LIVE_FOR_SECONDS):
                shown = ""
                while True:
                    html = await self.fragment(name)
                    if html != shown:
                        await response.write(f"data: {json.dumps(html)}\n\n".encode())
                    else:
                        await response.write(b":\n\n")
                    shown = html
                    await asyncio.sleep(LIVE_SECONDS)
        except (TimeoutError, ConnectionResetError):
            return response
        finally:
            self._live -= 1


def go_to(path: str) -> web.Response:
    """The answer that leads to another page of ours."""
    return web.Response(status=web.HTTPSeeOther.status_code, headers={"Location": path})
