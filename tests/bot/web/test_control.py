"""The control socket: the running Aldis does what the command line asks; no verb waits in vain."""

import asyncio
import socket
import stat
from collections.abc import Mapping
from contextlib import AbstractAsyncContextManager
from pathlib import Path
from typing import Any

import aiohttp
import pytest
from aiohttp import web

from bot.chat.captchas import Captchas
from bot.clock import SetClock
from bot.errors import ConfigError
from bot.metrics import Counts
from bot.web.control import Control, answering, ask_running, socket_path
from store import Store, StoreError
from tests.bot.loops.fake_transport import FakeTransport
from tests.conftest import NOON
from tests.waiting import eventually


def listening(store: Store, clock: SetClock, path: Path) -> AbstractAsyncContextManager[None]:
    async def state() -> Mapping[str, Any]:
        return {"ok": True}

    transport = FakeTransport()
    captchas = Captchas(transport, store, clock, Counts())
    control = Control(transport, store, clock, Counts(), captchas, state, None)
    return answering(control.app, socket_path(path))


async def test_where_no_aldis_runs_the_verb_is_told_so(path: Path) -> None:
    """No folder, no socket, one that a killed process left, or a path that none can have."""
    assert await ask_running(path, "state") is None
    path.parent.mkdir()
    assert await ask_running(path, "state") is None
    leave_behind(socket_path(path))
    assert await ask_running(path, "state") is None
    assert await ask_running(path.with_name("x" * 200), "state") is None


async def test_it_is_the_owners_alone(store: Store, path: Path, clock: SetClock) -> None:
    """What a killed process left is replaced; who may not read the store may not ask, and a refusal is a sentence."""
    leave_behind(socket_path(path))
    async with listening(store, clock, path):
        assert await ask_running(path, "state") == {"ok": True}
        assert socket_path(path).stat().st_mode == stat.S_IFSOCK | 0o600
        with pytest.raises(StoreError, match="no Aldis that can be restarted"):
            await ask_running(path, "restart")
    with pytest.raises(ConfigError, match=r"STORE__PATH: the control socket .* cannot be made"):
        async with listening(store, clock, path.with_name("x" * 200)):
            pass


async def test_versions_agree_on_how_the_state_is_asked_for(store: Store, path: Path, clock: SetClock) -> None:
    """`upgrade-check` asks the Aldis that runs: an earlier version takes GET alone, and sends no body itself."""

    async def state(_: web.Request) -> web.Response:
        return web.json_response({"build": {}})

    app = web.Application()
    app.router.add_get("/state", state)
    async with answering(app, socket_path(path)):
        assert await ask_running(path, "state") == {"build": {}}
    async with (
        listening(store, clock, path),
        aiohttp.ClientSession(connector=aiohttp.UnixConnector(str(socket_path(path)))) as http,
        http.get("http://aldis/state") as answer,
    ):
        assert (answer.status, await answer.json()) == (200, {"ok": True})


async def test_a_backup_that_was_begun_is_finished_when_it_stops(store: Store, path: Path, tmp_path: Path) -> None:
    """Stopping leaves no half of a copy behind."""
    folder = tmp_path / "backups"
    async with listening(store, SetClock(NOON), path):
        asking = asyncio.create_task(ask_running(path, "backup", {"folder": str(folder)}))
        await eventually(folder.exists)
    await asyncio.gather(asking, return_exceptions=True)
    assert {file.name.removesuffix("-keys") for file in folder.iterdir()} == {"aldis-20261121T120000Z.db"}


def leave_behind(path: Path) -> None:
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as endpoint:
        endpoint.bind(str(path))
