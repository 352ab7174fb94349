"""Set-up in a browser, as a real process: the link is printed, opens once, and the pages outlast what they mend."""

import re
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path

import aiohttp
import pytest

from tests.flows.consoles import Console, watched
from tests.ports import free_port
from tests.servers.envelopes import ACCOUNT, ALDIS, ALICE, BOB, MALLORY, Person, delete, message
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


async def link_in(console: Console) -> str:
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
            watched("setup", settings=settings, folder=tmp_path) as console,
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


async def test_one_of_several_accounts_is_chosen(tmp_path: Path) -> None:
    """Aldis waits for the choice, and the page asks for it."""
    async with SignalCli(accounts=["+15550100077", ACCOUNT]) as server:
        settings = {"SIGNAL__URL": server.url, "WEB__ADMIN_PORT": str(free_port())}
        async with (
            watched("setup", settings=settings, folder=tmp_path) as console,
            entered(await link_in(console)) as (http, origin, token),
        ):

            async def shows(words: str) -> bool:
                async with http.get(f"{origin}/setup/account") as response:
                    return words in await response.text()

            await eventually_found(lambda: shows("name the one that Aldis answers for"))
            chosen = {"token": token, "do": "account", "SIGNAL__ACCOUNT": ACCOUNT}
            async with http.post(f"{origin}/setup/account", data=chosen) as response:
                assert response.status == 200
            await eventually_found(lambda: shows(f"Aldis answers for {ACCOUNT}"))


@pytest.mark.parametrize("bridge", [SignalCli, SignalRestApi])
async def test_who_is_let_in_is_answered_what_they_wrote_while_they_waited(
    bridge: type[SignalServer], tmp_path: Path
) -> None:
    """A person says "this is me" on the page, then lets another in by their code: both are answered, once, and no one
    else; what was written stands nowhere before, and what a person wrote who was not let in never does.
    """
    async with bridge() as server:
        settings = {"SIGNAL__URL": server.url, "WEB__ADMIN_PORT": str(free_port()), "ACCESS__STRANGERS": "pair"}

        def heard_by(person: Person) -> list[str]:
            return [sent.text for sent in server.sent if sent.recipient == person.uuid]

        def files() -> bytes:
            return b"".join(file.read_bytes() for file in tmp_path.iterdir() if file.is_file())

        async with (
            watched("setup", settings=settings, folder=tmp_path) as console,
            entered(await link_in(console)) as (http, origin, token),
        ):
            await server.connected()
            async with http.get(f"{origin}/setup/you") as response:
                assert "No one has written yet" in await response.text()
            gone = message("never mind", author=ALICE)
            await server.deliver(gone, delete(gone["envelope"]["timestamp"], author=ALICE))
            for person, words in (
                (ALICE, "17011*3"),
                (BOB, "17012*3"),
                (MALLORY, "a word of Mallory"),
            ):
                await server.deliver(message(words, author=person))
            await server.until(lambda: all(heard_by(person) for person in (ALICE, BOB, MALLORY)))
            assert not any(words in files() for words in (b"17011", b"17012", b"Mallory"))
            chosen = {"token": token, "do": "me", "person": ALICE.uuid}
            async with http.post(f"{origin}/setup/you", data=chosen) as response:
                assert "what you have just written" in await response.text()
            await server.until(lambda: len(heard_by(ALICE)) == 2)
            code = heard_by(BOB)[0].partition(": ")[2].partition(" (")[0]
            await server.deliver(message(f"/allow {code}", author=ALICE))
            await server.until(lambda: len(heard_by(BOB)) == 2)
            await server.deliver(message("and now", author=BOB))
            await server.until(lambda: len(heard_by(BOB)) == 3)
        assert [index for index, text in enumerate(heard_by(ALICE)) if "51033" in text] == [1]
        assert ["51036" in text for text in heard_by(BOB)] == [False, True, False]
        assert len(heard_by(MALLORY)) == 1
        assert b"word of Mallory" not in files() + console.err.text.encode()
        assert not any("never mind" in sent.text for sent in server.sent)


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
            watched("setup", settings=settings, folder=tmp_path) as console,
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
    """`admin` and `setup` print one of the Aldis that runs already; without one they say what to do."""
    async with SignalCli(accounts=[]) as server:
        settings = {"SIGNAL__URL": server.url, "WEB__ADMIN_PORT": str(free_port())}
        async with watched("admin", settings=settings, folder=tmp_path) as alone:
            ended = await alone.ended()
            assert (ended.status, ended.stdout) == (1, "")
            assert "-m bot setup" in ended.stderr
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
        ({"WEB__ADMIN_HOST": "192.0.2.1", "WEB__ADMIN_TOTP": "GEZDGNBV" * 4}, "WEB__ADMIN_PORT: 192.0.2.1:"),
    ],
)
async def test_pages_that_would_not_be_safe(settings: dict[str, str], words: str, tmp_path: Path) -> None:
    """They are refused at the start, in a line that says what to do."""
    given = {"SIGNAL__URL": "http://127.0.0.1:1", "WEB__ADMIN_PORT": str(free_port()), **settings}
    async with watched("run", settings=given, folder=tmp_path) as console:
        ended = await console.ended()
    assert ended.status == 2
    assert words in ended.stderr
