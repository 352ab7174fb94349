"""The pages on a real listener, and a visitor without a browser: every header is the test's own."""

import asyncio
import re
from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path

import aiohttp
import pytest

from bot.app import doctor_deps
from bot.settings import Settings, load_settings
from bot.settings.groups import WebSettings
from bot.settings.load import SettingsFile
from bot.web.admin.guard import Sessions, address_of
from bot.web.admin.site import Site
from bot.web.admin.world import World
from tests.bot.web.test_health import LOOPBACK
from tests.ports import free_port

NOTHING = "http://127.0.0.1:1"
"""Where no server answers."""


@dataclass
class Visitor:
    """Asks the pages; keeps the cookie that it is given, and the token of its forms."""

    site: Site
    pages: WebSettings
    http: aiohttp.ClientSession
    token: str = ""
    cookies: dict[str, str] = field(default_factory=dict[str, str])

    @property
    def origin(self) -> str:
        return f"http://{LOOPBACK}:{self.pages.admin_port}"

    async def get(self, path: str, headers: Mapping[str, str] | None = None) -> "Answer":
        return await self._ask("GET", path, headers or {}, None)

    async def post(
        self, path: str, form: Mapping[str, str] | None = None, headers: Mapping[str, str] | None = None
    ) -> "Answer":
        """Send a form as a browser would: from our own page, with its token unless the form says otherwise."""
        given = {"token": self.token, **(form or {})}
        return await self._ask("POST", path, {"Origin": self.origin, **(headers or {})}, given)

    async def do(self, path: str, button: str, **form: str) -> "Answer":
        answer = await self.post(path, {"do": button, **form})
        return await self.get(answer.headers["Location"]) if answer.status == 303 else answer

    async def enter(self) -> "Answer":
        path = self.site.new_link().removeprefix(address_of(self.pages))
        answer = await self.post(path)
        for shown in ("/", "/code"):
            if found := re.search(r'name="token" value="([^"]+)"', (await self.get(shown)).text):
                self.token = found[1]
        return answer

    async def _ask(
        self, method: str, path: str, headers: Mapping[str, str], form: Mapping[str, str] | None
    ) -> "Answer":
        cookie = "; ".join(f"{name}={value}" for name, value in self.cookies.items())
        sent = {**({"Cookie": cookie} if cookie else {}), **headers}
        async with self.http.request(
            method, self.origin + path, headers=sent, data=form, allow_redirects=False
        ) as response:
            answer = Answer(response.status, dict(response.headers), await response.text())
            for name, morsel in response.cookies.items():
                self.cookies[name] = morsel.value
        return answer


@dataclass(frozen=True)
class Answer:
    status: int
    headers: Mapping[str, str]
    text: str


def settings_of(folder: Path, **more: str) -> Settings:
    given = {"STORE__PATH": str(folder / "aldis.db"), "SIGNAL__URL": NOTHING, **more}
    return load_settings(given, None)


@asynccontextmanager
async def visited(
    folder: Path,
    *,
    url: str | None = None,
    sessions: Sessions | None = None,
    settings: Settings | None = None,
) -> AsyncGenerator[Visitor]:
    given = settings or settings_of(folder)
    pages = WebSettings(admin_host=LOOPBACK, admin_port=free_port(), admin_url=url)
    file = SettingsFile(given.store.path.with_name("settings.env"), environ={}, env_file=None)

    async def restart() -> None:
        loop, newest = asyncio.get_running_loop(), file.preview({})
        loop.call_later(0.01, site.world.begin, newest)  # a run takes its time to end

    site = Site(World(settings=given, deps=doctor_deps, file=file, restart=restart), pages, sessions=sessions)
    jar = aiohttp.DummyCookieJar()
    async with site.serving(), aiohttp.ClientSession(cookie_jar=jar) as http:
        yield Visitor(site, pages, http)


@pytest.fixture
async def visitor(tmp_path: Path) -> AsyncGenerator[Visitor]:
    async with visited(tmp_path) as visitor:
        await visitor.enter()
        yield visitor
