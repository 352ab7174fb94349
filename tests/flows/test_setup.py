"""Set-up in a browser, as a real process: the link is printed, opens once, and the pages outlast what they mend."""

import re
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path

import aiohttp
import pytest

from tests.flows.processes import Process, run_to_end, started
from tests.ports import free_port
from tests.servers.envelopes import ACCOUNT, ALDIS, ALICE, message
from tests.servers.openai import OpenAIServer
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


async def link_in(console: Process) -> str:
    await console.err.until("prints another")
    found = LINK.search(console.err.text)
    assert found is not None
    return found[0]


@pytest.mark.parametrize("bridge", [SignalCli, SignalRestApi])
async def test_an_account_is_linked_in_the_browser(bridge: type[SignalServer], tmp_path: Path) -> None:
    """From an empty folder: `setup` prints the link, the page shows a code, and Aldis runs when it was scanned; by an
    account without a number, too, that the bridge does not name.
    """
    async with bridge(accounts=[], own=replace(ALDIS, number=None)) as server:
        settings = {"SIGNAL__URL": server.url, "WEB__ADMIN_PORT": str(free_port())}
        async with (
            started("setup", settings=settings, folder=tmp_path) as console,
            entered(await link_in(console)) as (http, origin, token),
        ):

            async def shows(words: str, path: str = "/setup/account") -> bool:
                async with http.get(f"{origin}{path}") as response:
                    return words in await response.text()

            async def push(button: str, **given: str) -> None:
                form = {"token": token, "do": button, **given}
                async with http.post(f"{origin}/setup/account", data=form) as response:
                    assert response.status == 200

            await eventually_found(lambda: shows('href="/setup/account">The account', "/"))
            assert not await shows('value="stop"')
            await push("link")
            await eventually_found(lambda: shows("Scan this code"))
            assert await shows('value="stop"')
            await push("stop")
            await push("link")
            await server.until(lambda: server.links_begun == 2)
            await eventually_found(lambda: shows("Scan this code"))
            await server.scan(ALDIS.uuid)
            if bridge is SignalRestApi:
                await eventually_found(lambda: shows("Id of the account"))
                await push("account", SIGNAL__ACCOUNT=ALDIS.uuid)
            await eventually_found(lambda: shows(f"Aldis answers for {ALDIS.uuid}"))


async def test_a_copy_is_put_back_on_the_page(tmp_path: Path) -> None:
    """Aldis restarts with it and remembers what was said before it; one that is damaged changes nothing."""
    async with SignalCli() as server, OpenAIServer(local=True) as model:
        settings = {
            "SIGNAL__URL": server.url,
            "WEB__ADMIN_PORT": str(free_port()),
            "ACCESS__ALLOWED": ALICE.uuid,
            "OPENAI_BASE_URL": model.base_url,
        }
        async with (
            started("setup", settings=settings, folder=tmp_path) as console,
            entered(await link_in(console)) as (http, origin, token),
        ):

            async def push(button: str, **given: str) -> str:
                form = {"token": token, "do": button, **given}
                async with http.post(f"{origin}/upkeep", data=form) as response:
                    return await response.text()

            async def say(words: str, sent: int) -> str:
                await server.deliver(message(words))
                await server.sent_count(sent)
                return model.requests[-1].body.decode()

            await server.connected()
            await say("My cat is called Tabby.", 1)
            assert "Backup made." in await push("backup")
            copy = next((tmp_path / "backups").glob("aldis-*.db"))
            assert "Tabby" in await say("My dog is called Rex.", 2)
            assert f"Restored: Aldis goes on from {copy.name}" in await push("restore", file=copy.name)
            asked = await say("Who are they?", 3)
            assert ("Tabby" in asked, "Rex" in asked) == (True, False)
            copy.with_name(f"{copy.name}-keys").write_bytes(b"no keys")
            refused = await push("restore", file=copy.name)
            assert "It was refused" in refused
            assert "Tabby" in await say("And now?", 4)
            assert "backup.restored by session" in console.err.text


async def test_a_link_is_asked_for_again(tmp_path: Path) -> None:
    """`admin` and `setup` print one of the Aldis that runs already; without one they say what to do. It runs although
    the bridge has several accounts: a page asks which one is meant.
    """
    async with SignalCli(accounts=["+15550100077", ACCOUNT]) as server:
        settings = {"SIGNAL__URL": server.url, "WEB__ADMIN_PORT": str(free_port())}
        alone = await run_to_end("admin", settings=settings, folder=tmp_path)
        assert (alone.status, alone.stdout, "-m bot setup" in alone.stderr) == (2, "", True)
        async with started("run", settings=settings, folder=tmp_path) as console:
            first = await link_in(console)
            for verb in ("admin", "setup"):
                ended = await run_to_end(verb, settings=settings, folder=tmp_path)
                assert ended.status == 0
                assert LINK.fullmatch(ended.stdout.strip())
                assert ended.stdout.strip() != first
                async with entered(ended.stdout.strip()) as (http, origin, token):

                    async def shows(words: str, http: aiohttp.ClientSession = http, origin: str = origin) -> bool:
                        async with http.get(f"{origin}/setup/account") as response:
                            return words in await response.text()

                    await eventually_found(lambda: shows("name the one that Aldis answers for"))
                    if verb == "setup":
                        chosen = {"token": token, "do": "account", "SIGNAL__ACCOUNT": ACCOUNT}
                        async with http.post(f"{origin}/setup/account", data=chosen) as response:
                            assert response.status == 200
                        await eventually_found(lambda: shows(f"Aldis answers for {ACCOUNT}"))
