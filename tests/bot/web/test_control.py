"""The control socket: the running Aldis does what the command line asks; nobody waits in vain."""

import asyncio
import socket
import stat
from collections.abc import AsyncGenerator, Mapping
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from aiohttp import web

from bot.chat.captchas import Captchas
from bot.chat.notices import Admins
from bot.clock import SetClock
from bot.errors import CallRefused, ConfigError, Disconnected
from bot.events import PersonId
from bot.features.safety_numbers import SafetyNumbers
from bot.metrics import Counts
from bot.signal.protocol import Identity
from bot.web.control import Control, State, answering, ask_running, socket_path
from bot.web.listening import MAX_CONNECTIONS
from store import NOT_INCLUDED, Store, StoreError, open_store
from tests.bot.loops.fake_transport import FakeTransport
from tests.conftest import NOON
from tests.waiting import WAIT_SECONDS


def control_of(store: Store, clock: SetClock, state: State, transport: FakeTransport | None = None) -> Control:
    transport, counts = transport or FakeTransport(), Counts()
    admins = Admins(clock, listed=frozenset, language=lambda *_: "en")
    identities = SafetyNumbers(transport, store, clock, counts, may_write=lambda *_: True, admins=admins, accepts=False)
    captchas = Captchas(transport, store, clock, counts)
    return Control(store=store, clock=clock, state=state, transport=transport, identities=identities, captchas=captchas)


async def well() -> Mapping[str, Any]:
    return {"ok": True}


def listening(control: Control, path: Path) -> AbstractAsyncContextManager[None]:
    """Answer beside the store."""
    return answering(control.app, socket_path(path))


@pytest.fixture
async def running(store: Store, path: Path, clock: SetClock) -> AsyncGenerator[Path]:
    """The path of a store that an Aldis with a control socket has open."""
    async with listening(control_of(store, clock, well), path):
        yield path


@asynccontextmanager
async def use_language(path: Path, answer: web.StreamResponse | None) -> AsyncGenerator[None]:
    """Somebody on the socket of this store who gives one answer to everything; None: never any."""

    async def handle(_: web.Request) -> web.StreamResponse:
        if answer is None:
            await asyncio.Event().wait()
        assert answer is not None
        return answer

    app = web.Application()
    app.router.add_route("*", "/{verb}", handle)
    runner = web.AppRunner(app, handle_signals=False, shutdown_timeout=0.01)
    await runner.setup()
    await web.UnixSite(runner, str(socket_path(path))).start()
    yield
    await runner.cleanup()


async def test_the_running_one_makes_the_backup(running: Path, tmp_path: Path) -> None:
    """It says where the copy is, and that the master key is not in it."""
    folder = tmp_path / "backups"
    answer = await ask_running(running, "backup", {"folder": str(folder)})
    assert answer == {"file": str(folder / "aldis-20261121T120000Z.db"), "note": NOT_INCLUDED}
    assert len(names(folder)) == 2


async def test_the_running_one_rotates_the_key(running: Path) -> None:
    """It tells how many keys were re-encrypted with it, and its key file is another one then."""
    master = running.with_name("aldis.db-master-key")
    former = text(master)
    assert await ask_running(running, "rotate-key") == {"keys": 1}
    assert text(master) != former


HALF = b"POST /trust HTTP/1.1\r\nHost: aldis\r\nContent-Length: 99\r\n\r\n{"


async def test_there_is_room_for_so_many_who_ask_by_halves_and_for_no_more(running: Path) -> None:
    """Each takes a descriptor, and without any left Aldis could reach nobody; once they have gone a verb is heard."""
    there = [await asyncio.open_unix_connection(str(socket_path(running))) for _ in range(MAX_CONNECTIONS)]
    for _, writer in there:
        writer.write(HALF)
    with pytest.raises(StoreError, match="no answer that can be understood"):
        await ask_running(running, "state")
    for _, writer in there:
        writer.close()

    async def is_heard() -> bool:
        try:
            return await ask_running(running, "state") == {"ok": True}
        except StoreError:
            return False

    async with asyncio.timeout(WAIT_SECONDS):
        while not await is_heard():
            await asyncio.sleep(0)


async def test_where_nobody_runs_the_verb_is_told_so(path: Path) -> None:
    """No folder, no socket, or one that a killed process left: all the same, nobody is there."""
    assert await ask_running(path, "state") is None
    path.parent.mkdir()
    assert await ask_running(path, "state") is None
    leave_behind(socket_path(path))
    assert await ask_running(path, "state") is None


async def test_a_socket_that_was_left_behind_is_replaced(store: Store, path: Path, clock: SetClock) -> None:
    """Only one process can have the store open, so what stands there is nobody's."""
    leave_behind(socket_path(path))
    async with listening(control_of(store, clock, well), path):
        assert await ask_running(path, "state") == {"ok": True}
    assert not is_there(socket_path(path))
    assert await ask_running(path, "state") is None


async def test_it_is_the_owners_alone(running: Path) -> None:
    """Whoever may not read the store may not ask either."""
    assert stat.S_ISSOCK(mode(socket_path(running)))
    assert stat.S_IMODE(mode(socket_path(running))) == 0o600


async def test_a_path_that_is_too_long_for_a_socket_is_refused(tmp_path: Path, clock: SetClock) -> None:
    """The address of a socket has 108 bytes, and the sentence names the setting."""
    path = tmp_path / ("deep" * 20) / ("deeper" * 20) / "aldis.db"
    async with open_store(path, realm="signal") as store:
        with pytest.raises(ConfigError, match=r"STORE__PATH: .* is too long for a socket"):
            async with listening(control_of(store, clock, well), path):
                pass


async def test_a_backup_that_was_begun_is_finished_when_it_stops(store: Store, path: Path, tmp_path: Path) -> None:
    """Stopping leaves no half of a copy behind."""
    clock = SetClock(NOON)
    async with listening(control_of(store, clock, well), path):
        asking = asyncio.create_task(ask_running(path, "backup", {"folder": str(tmp_path / "backups")}))
        while not is_there(tmp_path / "backups"):
            await asyncio.sleep(0.001)
    await asyncio.gather(asking, return_exceptions=True)
    assert {name.removesuffix("-keys") for name in names(tmp_path / "backups")} == {"aldis-20261121T120000Z.db"}


def leave_behind(path: Path) -> None:
    """What a process that is killed leaves of its socket."""
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as endpoint:
        endpoint.bind(str(path))
    assert stat.S_ISSOCK(path.stat().st_mode)


def names(folder: Path) -> list[str]:
    return [file.name for file in folder.iterdir()]


def text(path: Path) -> str:
    return path.read_text()


def mode(path: Path) -> int:
    return path.stat().st_mode


def is_there(path: Path) -> bool:
    return path.exists()


ALICE = PersonId("a11ce000-0000-4000-8000-0000000000a1")


async def test_a_new_safety_number_is_listed_and_trusted(store: Store, path: Path, clock: SetClock) -> None:
    """By label or uuid; what is not done is told in a sentence that says what to do."""
    await store.conversation(f"direct:{ALICE}", now=NOON)
    label = await store.read(lambda repos: repos.people.label(ALICE, account=FakeTransport.account))
    transport = FakeTransport(
        known_identities=[Identity(person=ALICE, is_trusted=False, key="2", safety_number="11111 22222")]
    )
    async with listening(control_of(store, clock, well, transport), path):
        with pytest.raises(StoreError, match="has changed since you saw it"):
            await ask_running(path, "trust", {"name": label, "safety_number": None})
        [suspect] = (await ask_running(path, "trust", {"name": None}) or {})["suspects"]
        assert suspect == {
            "label": label,
            "person": ALICE,
            "name": None,
            "safety_number": "11111 22222",
            "since": NOON.isoformat(timespec="seconds"),
        }
        with pytest.raises(StoreError, match="no one with this label or uuid"):
            await ask_running(path, "trust", {"name": "beef1234", "safety_number": None})
        transport.refuses = CallRefused("make sure the number is correct")
        with pytest.raises(StoreError, match="make sure the number is correct"):
            await ask_running(path, "trust", {"name": label, "safety_number": "1"})
        transport.refuses = None
        assert await ask_running(path, "trust", {"name": ALICE, "safety_number": "11111 22222"}) == {"trusted": label}
        assert transport.trusted == [(ALICE, "11111 22222")]
        transport.directory_fails = Disconnected("the bridge is down")
        with pytest.raises(StoreError, match="the bridge is down"):
            await ask_running(path, "trust", {"name": None})


async def test_a_captcha_is_handed_in(store: Store, path: Path, clock: SetClock) -> None:
    """What is none is told as such, and what Signal says of it is handed on."""
    transport = FakeTransport(challenge="token")
    async with listening(control_of(store, clock, well, transport), path):
        with pytest.raises(StoreError, match="no solved captcha"):
            await ask_running(path, "captcha", {"captcha": "https://example.org"})
        transport.refuses = CallRefused("Captcha rejected")
        with pytest.raises(StoreError, match="Captcha rejected"):
            await ask_running(path, "captcha", {"captcha": "signalcaptcha://a.b"})
        transport.refuses = None
        assert await ask_running(path, "captcha", {"captcha": "signalcaptcha://a.b"}) == {}
        assert (transport.captchas, transport.challenge) == (["a.b"], None)
        with pytest.raises(StoreError, match="is it of another version"):
            await ask_running(path, "captcha", {"token": "x"})
