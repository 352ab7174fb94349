"""An upgrade that is tried first, and the way back as docs/operating.md tells it."""

import re
import sqlite3
from collections.abc import AsyncGenerator
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

import pytest

from store.migrations import NEWEST
from tests.flows.outside import Outside
from tests.servers.envelopes import ALICE
from tests.servers.openai import OpenAIServer
from tests.servers.signal_cli import SignalCli

NEWER = "tests.flows.newer"


@dataclass
class World(Outside[SignalCli, OpenAIServer]):
    @property
    def schema(self) -> int:
        with closing(sqlite3.connect(f"file:{self.folder / 'aldis.db'}?mode=ro", uri=True)) as connection:
            return connection.execute("PRAGMA user_version").fetchone()[0]

    def left(self) -> set[str]:
        return {path.name for path in (self.folder / "backups").iterdir()}


@pytest.fixture
async def world(signal: SignalCli, tmp_path: Path) -> AsyncGenerator[World]:
    async with OpenAIServer(local=True) as model:
        yield World(signal, model, tmp_path, {"SIGNAL__LIVE": "off", "ACCESS__ALLOWED": ALICE.uuid})


async def test_an_upgrade_is_tried_beside_the_running_one_and_taken_back(world: World) -> None:
    """The check changes nothing and asks nobody; after the way back the older one answers, and remembers."""
    async with world.running():
        await world.ask("My cat is called Tabby.")
        asked = len(world.model.requests)
        checked = await world.verb("upgrade-check", module=NEWER)
        assert (checked.status, checked.stderr) == (0, ""), checked.stdout
        lines = checked.stdout.splitlines()
        assert re.fullmatch(r"version  (Aldis 0\.1\.0 \(source [0-9a-f]{16}\)) -> \1", lines[0])
        assert (world.schema, len(world.model.requests)) == (NEWEST, asked)
        backup = lines[1].split()[1]
        assert world.left() == {Path(backup).name, f"{Path(backup).name}-keys"}

    async with world.running(module=NEWER):
        await world.ask("And my dog Rex.")
    assert world.schema == NEWEST + 1
    refused = await world.verb("run")
    assert (refused.status, "start a newer one" in refused.stderr) == (2, True)

    back = await world.verb("restore", backup)
    assert back.status == 0, back.stderr
    assert world.schema == NEWEST
    async with world.running():
        await world.ask("Who is she?")
    assert "Tabby" in world.model.requests[-1].body.decode()
    assert "Rex" not in world.model.requests[-1].body.decode()


async def test_without_a_running_one_the_store_is_not_opened(world: World) -> None:
    """Its files are copied as they lie, also after a kill; a step that fails is told, and nothing has changed."""
    async with world.running() as process:
        await world.ask("My cat is called Tabby.")
        await process.kill()
    before = (world.folder / "aldis.db").read_bytes(), (world.folder / "aldis.db-wal").read_bytes()
    failed = await world.verb("upgrade-check", module=NEWER, STEP_FAILS="1")
    assert (failed.status, failed.stderr.count("\n")) == (2, 1)
    for copy in world.left():
        (world.folder / "backups" / copy).unlink()
    assert (await world.verb("backup", "copies", module=NEWER)).status == 0
    checked = await world.verb("upgrade-check", module=NEWER)
    assert checked.status == 0, checked.stderr
    assert ((world.folder / "aldis.db").read_bytes(), (world.folder / "aldis.db-wal").read_bytes()) == before
    [backup] = [name for name in world.left() if name.endswith(".db")]
    restored = await world.verb("restore", str(world.folder / "backups" / backup))
    assert restored.status == 0, restored.stderr
    told = await world.verb("export", ALICE.uuid)
    assert "Tabby" in told.stdout
