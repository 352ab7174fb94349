"""What all pages share: showing a page, going back to one, recording what was done."""

import asyncio
import json
import re
from collections.abc import Awaitable, Callable, Generator, Mapping
from contextlib import contextmanager, suppress

from aiohttp import web

from bot.errors import CallRefused, ConfigError, Disconnected
from bot.settings import SETTINGS_FILE_NAME, Settings
from bot.web.admin.audit import Audit
from bot.web.admin.guard import FORM, SESSION
from bot.web.admin.pages import PageTemplates
from bot.web.admin.sessions import BrowserSession, Draft, Remark
from bot.web.admin.world import RunningParts, World
from store import StoreError

SAVED = "Saved."
LIVE_SECONDS = 1.0
"""The interval between two looks at what has changed."""
_LIVE_FOR_SECONDS = 900.0
"""Then the browser connects again, and its cookie is checked again."""
_MAX_LIVE = 16
_BEGIN_SECONDS = 15.0
"""How many seconds a page waits for Aldis to start again; a run takes ten at most to end."""
_KEPT = re.compile(
    r"about|address|argument-\d+|days|how|list|name|number|person|url|username|\w+_usd",
    re.ASCII,
)
"""The form fields that are shown again; none of them ever contains a secret."""
_MAX_KEPT_CHARS = 1000

Fragment = Callable[[], Awaitable[tuple[str, dict[str, object]]]]
"""Returns the template of a part of a page that changes by itself, and its values."""
Changes = Mapping[str, str | None]
"""New values of settings by name; None removes one."""
ChangesOf = Callable[[Settings], Changes]
"""Returns the changes for the settings as they are once every earlier change is kept."""


class NotDone(Exception):
    """Nothing was done: back to the page at `path`, which says why with this sentence."""

    def __init__(self, path: str, sentence: str) -> None:
        super().__init__(sentence)
        self.path = path
        self.sentence = sentence


@contextmanager
def refusing(path: str) -> Generator[None]:
    """Turns a refusal within the block into the page at `path`, which quotes it.

    Raises:
        NotDone: the bridge, the store or the settings refused.
    """
    try:
        yield
    except (CallRefused, ConfigError, Disconnected, StoreError) as error:
        # A refused value is not set anywhere yet.
        raise NotDone(
            path,
            "It was refused: {words}".format(words=str(error).replace(f" (it is set in {SETTINGS_FILE_NAME})", "")),
        ) from error


class AdminContext:
    """What the pages work with."""

    def __init__(
        self, world: World, pages: PageTemplates, audit: Audit, *, is_in: Callable[[BrowserSession], bool]
    ) -> None:
        """`is_in` returns whether the owner of a session can still see pages."""
        self.world = world
        self._is_in = is_in
        self._pages = pages
        self.audit = audit
        self._fragments: dict[str, Fragment] = {}
        self._live = 0
        self._keeping = asyncio.Lock()

    def page(self, request: web.Request, template: str, *, status: int = 200, **values: object) -> web.Response:
        """Returns a whole page. As long as there is no admin, people who write in the meantime are offered the role."""
        if SESSION in request and not self.world.settings.access.admins:
            self.world.callers.listen()
        draft = self._draft(request)
        return self._pages.response(
            request, template, status=status, world=self.world, steps=self.steps(), draft=draft, **values
        )

    @staticmethod
    def _draft(request: web.Request) -> Mapping[str, str]:
        """What was typed into a form of this page that was refused; returned once."""
        session = request.get(SESSION)
        if session is None or session.draft is None or session.draft.path != request.path:
            return {}
        draft, session.draft = session.draft, None
        return draft.fields

    @staticmethod
    def keep_draft(request: web.Request, path: str) -> None:
        """Has the page at `path` show again what was typed into its form."""
        typed = request.get(FORM, {}).items()
        fields = {name: value.strip()[:_MAX_KEPT_CHARS] for name, value in typed if _KEPT.fullmatch(name)}
        request[SESSION].draft = Draft(path, fields)

    def steps(self) -> tuple[tuple[str, str, bool], ...]:
        """Returns the steps of setup: path, title, and whether it is done."""
        settings, is_there = self.world.settings, self.world.has_account
        has_model = bool(settings.llm.providers) or settings.llm.providers_in_order != ("offline",)
        has_admin = bool(settings.access.admins) or settings.signal.note_to_self
        return (
            ("/setup/account", "The account", is_there),
            ("/setup/model", "The model", has_model),
            ("/setup/you", "Who you are", has_admin),
            (
                "/setup/tools",
                "What it may do",
                bool(settings.tools.model_fields_set or settings.budget.model_fields_set),
            ),
            ("/setup/done", "Finish", is_there and has_model and has_admin),
        )

    def done(self, request: web.Request, path: str, sentence: str) -> web.Response:
        """Returns to a page, which says that it is done."""
        request[SESSION].remarks.append(Remark("done", sentence))
        return go_to(path)

    def running(self, path: str) -> RunningParts:
        """Returns the running Aldis.

        Raises:
            NotDone: none runs.
        """
        if self.world.running is None:
            raise NotDone(path, "Aldis is not running yet: it has no account, or is waiting for the bridge to Signal.")
        return self.world.running

    def wrong(self, request: web.Request, path: str, sentence: str) -> web.Response:
        """Returns to a page, which says what was wrong, and shows what was typed."""
        self.keep_draft(request, path)
        request[SESSION].remarks.append(Remark("wrong", sentence))
        return go_to(path)

    def write_down(self, request: web.Request, what: str, about: str = "") -> None:
        """Records what this request does in the audit log."""
        session = request.get(SESSION)
        self.audit.write(what, who=session.name if session else "-", origin=request.remote or "-", about=about)

    def add_fragment(self, name: str, fragment: Fragment) -> None:
        """Adds a part of a page that changes by itself."""
        self._fragments[name] = fragment

    async def fragment(self, request: web.Request, name: str) -> str:
        """Returns the present state of a part of a page."""
        template, values = await self._fragments[name]()
        return self._pages.html(template, world=self.world, session=request[SESSION], **values)

    async def save(
        self, request: web.Request, back: str, changes: Changes | ChangesOf, done: str = SAVED
    ) -> web.Response:
        """Writes settings into the file and restarts Aldis with them; None removes one from the file.

        Raises:
            NotDone: as `keep`.
        """
        was_running = self.world.running is not None
        await self.keep(request, back, changes)
        if was_running and self.world.running is None:
            raise NotDone(back, f"Saved, but Aldis is not running again yet: {self.world.waits_for}.")
        return self.done(request, back, f"{done} Aldis uses it now." if was_running else done)

    async def keep(self, request: web.Request, back: str, changes: Changes | ChangesOf) -> None:
        """Like `save`, without an answer to the browser; one at a time, because several pages may be open.

        Raises:
            NotDone: they are refused, and everything is as before; or one is set in the environment, which would win.
        """
        async with self._keeping:
            with refusing(back):
                file = self.world.file
                given = changes(await asyncio.to_thread(file.preview, {})) if callable(changes) else changes
                await self._keep(back, given)
        self.write_down(request, "settings.changed", ", ".join(given))

    async def _keep(self, back: str, changes: Changes) -> None:
        file = self.world.file
        for name in changes:
            if winner := await asyncio.to_thread(file.winner, name):
                where = "the environment" if winner == "environment" else winner
                why = f"{name} is set in {where}. That takes precedence over this page; change it there."
                raise NotDone(back, why)
        before = await asyncio.to_thread(file.read)
        await asyncio.to_thread(file.write, changes)
        run, was_running = self.world.runs, self.world.running is not None
        try:
            await self.world.restart()
        except ConfigError:
            await asyncio.to_thread(file.write, {name: before.get(name) for name in changes})
            raise
        # Until it has started again, which takes seconds, the run that is ending still decides by the old settings:
        # somebody who was just let in would be turned away.
        with suppress(TimeoutError):
            async with asyncio.timeout(_BEGIN_SECONDS):
                await self.world.begun_again(run, runs=was_running)

    async def live(self, request: web.Request) -> web.StreamResponse:
        """Streams a part of a page as server-sent events: all of it whenever it has changed, until the session ends."""
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
                while self._is_in(request[SESSION]):
                    html = await self.fragment(request, name)
                    if html != shown:
                        await response.write(f"data: {json.dumps(html)}\n\n".encode())
                    else:
                        await response.write(b":\n\n")
                    shown = html
                    await asyncio.sleep(LIVE_SECONDS)
        except (TimeoutError, ConnectionResetError):
            pass
        finally:
            self._live -= 1
        return response


def go_to(path: str) -> web.Response:
    """Returns the answer that leads to another page of ours."""
    return web.Response(status=web.HTTPSeeOther.status_code, headers={"Location": path})
