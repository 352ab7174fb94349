"""Set-up in a browser, as a real process: the link is printed, opens once, and the pages outlast what they mend."""

import re
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path

import aiohttp
import pytest

from tests.bot.web.test_health import free_port
from tests.flows.consoles import Console, watched
from tests.servers.envelopes import ACCOUNT
from tests.servers.signal_cli import SignalCli
from tests.servers.signal_rest_api import SignalRestApi
from tests.servers.signal_server import SignalServer
from tests.waiting import eventually_found

LINK = re.compile(r"http://127\.0\.0\.1:\d+/enter/[\w-]{43}")


@asynccontextmanager
async def entered(link: str) -> AsyncGenerator[tuple[aiohttp.ClientSession, str, str]]:
    """Somebody signed in by a link; gives the way, the address of the pages and the token of their forms."""
    origin = link.partition("/enter/")[0]
    jar = aiohttp.CookieJar(unsafe=True)
    async with aiohttp.ClientSession(cookie_jar=jar, headers={"Origin": origin}) as http:
        async with http.post(link, data={}) as response:
            page = await response.text()
            assert response.status == 200
        found = re.search(r'name="token" value="([^"]+)"', page)
        assert found is not None
        yield http, origin, found[1]


async def link_in(console: Console) -> str:
    await console.err.until("prints another")
    found = LINK.search(console.err.text)
    assert found is not None
    return found[0]


@pytest.mark.parametrize("bridge", [SignalCli, SignalRestApi])
async def test_an_account_is_linked_in_the_browser(bridge: type[SignalServer], tmp_path: Path) -> None:
    """From an empty folder: `setup` prints the link, the page shows a code, and Aldis runs when it was scanned."""
    async with bridge(accounts=[]) as server:
        settings = {"SIGNAL__URL": server.url, "WEB__ADMIN_PORT": str(free_port())}
        async with (
            watched("setup", settings=settings, folder=tmp_path) as console,
            entered(await link_in(console)) as (http, origin, token),
        ):
            async with http.post(f"{origin}/setup/account/link", data={"token": token}) as response:
                assert response.status == 200
            await server.until(lambda: server.links_begun > 0)

            async def shows(words: str) -> bool:
                async with http.get(f"{origin}/setup/account") as response:
                    return words in await response.text()

            await eventually_found(lambda: shows("code-1.svg"))
            async with http.get(f"{origin}/setup/account/code-1.svg") as response:
                assert (response.status, response.content_type) == (200, "image/svg+xml")
            await server.scan(ACCOUNT)
            await eventually_found(lambda: shows(f"Aldis answers for {ACCOUNT}"))


async def test_a_link_is_asked_for_again(tmp_path: Path) -> None:
    """`admin` and `setup` print one of the Aldis that runs already; without one they say what to do."""
    async with SignalCli(accounts=[]) as server:
        settings = {"SIGNAL__URL": server.url, "WEB__ADMIN_PORT": str(free_port())}
        async with watched("admin", settings=settings, folder=tmp_path) as alone:
            ended = await alone.ended()
            assert (ended.status, ended.stdout) == (1, "")
            assert "aldis setup" in ended.stderr
        async with watched("run", settings=settings, folder=tmp_path) as console:
            first = await link_in(console)
            for verb in ("admin", "setup"):
                async with watched(verb, settings=settings, folder=tmp_path) as asking:
                    ended = await asking.ended()
                assert ended.status == 0
                assert LINK.fullmatch(ended.stdout.strip())
                assert ended.stdout.strip() != first
                async with entered(ended.stdout.strip()):
                    pass


async def test_pages_are_off_unless_asked_for(tmp_path: Path) -> None:
    """`run` alone has none; and where such an Aldis runs, `setup` says what to set."""
    async with SignalCli() as server:
        settings = {"SIGNAL__URL": server.url, "ACCESS__ALLOWED": "*"}
        async with watched("run", settings=settings, folder=tmp_path) as console:
            await server.connected()
            async with watched("setup", settings=settings, folder=tmp_path) as asking:
                ended = await asking.ended()
            assert ended.status == 2
            assert "WEB__ADMIN_PORT: Aldis runs without pages" in ended.stderr
            assert "/enter/" not in console.err.text


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"WEB__ADMIN_URL": "https://aldis.example.org"}, "WEB__ADMIN_TOTP: must be set"),
        ({"WEB__ADMIN_TOTP": "not!base32"}, "WEB__ADMIN_TOTP: must be base32"),
        ({"WEB__ADMIN_TOTP": "GEZDGNBV"}, "WEB__ADMIN_TOTP: must be longer"),
        ({"WEB__ADMIN_HOST": "192.0.2.1"}, "WEB__ADMIN_PORT: 192.0.2.1:"),
    ],
)
async def test_pages_that_would_not_be_safe(settings: dict[str, str], words: str, tmp_path: Path) -> None:
    """They are refused at the start, in a line that says what to do."""
    given = {"SIGNAL__URL": "http://127.0.0.1:1", "WEB__ADMIN_PORT": str(free_port()), **settings}
    async with watched("run", settings=given, folder=tmp_path) as console:
        ended = await console.ended()
    assert ended.status == 2
    assert words in ended.stderr
