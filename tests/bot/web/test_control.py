"""The control socket: the running Aldis does what the command line asks; nobody waits in vain."""

import asyncio
import socket
import stat
from collections.abc import AsyncGenerator, Mapping
from contextlib import AbstractAsyncContextManager
from pathlib import Path
from typing import Any

import pytest

from bot.chat.captchas import Captchas
from bot.clock import SetClock
from bot.metrics import Counts
from bot.web.control import Control, State, answering, ask_running, socket_path
from store import Store
from tests.bot.loops.fake_transport import FakeTransport
from tests.conftest import NOON


def control_of(store: Store, clock: SetClock, state: State, transport: FakeTransport | None = None) -> Control:
    transport = transport or FakeTransport()
    captchas = Captchas(transport, store, clock, Counts())
    return Control(store=store, clock=clock, state=state, transport=transport, captchas=captchas)


async def well() -> Mapping[str, Any]:
    return {"ok": True}


def listening(control: Control, path: Path) -> AbstractAsyncContextManager[None]:
    """Answer beside the store."""
    return answering(control.app, socket_path(path))


@pytest.fixture
async def running(store: Store, path: Path, clock: SetClock) -> AsyncGenerator[Path]:
    """The path of a store that an Aldis with a control socket has open."""
    leave_behind(socket_path(path))  # it is replaced: only one process can have the store open
    async with listening(control_of(store, clock, well), path):
        assert await ask_running(path, "state") == {"ok": True}
        yield path


async def test_where_nobody_runs_the_verb_is_told_so(path: Path) -> None:
    """No folder, no socket, or one that a killed process left: all the same, nobody is there."""
    assert await ask_running(path, "state") is None
    path.parent.mkdir()
    assert await ask_running(path, "state") is None
    leave_behind(socket_path(path))
    assert await ask_running(path, "state") is None


async def test_it_is_the_owners_alone(running: Path) -> None:
    """Whoever may not read the store may not ask either."""
    assert stat.S_ISSOCK(mode(socket_path(running)))
    assert stat.S_IMODE(mode(socket_path(running))) == 0o600


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


def mode(path: Path) -> int:
    return path.stat().st_mode


def is_there(path: Path) -> bool:
    return path.exists()
