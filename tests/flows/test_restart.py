"""Restarted within its process: new settings count, nothing is lost, and refused ones change nothing."""

import asyncio
from collections.abc import AsyncGenerator
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from bot.settings.load import SettingsFile
from tests.flows.gates import Gate
from tests.flows.outside import Outside
from tests.flows.test_health import page
from tests.ports import free_port
from tests.servers.envelopes import ALICE, BOB, message
from tests.servers.openai import OpenAIServer
from tests.servers.script import say
from tests.servers.signal_cli import SignalCli


@dataclass
class World(Outside[SignalCli, OpenAIServer]):
    port: int = field(default_factory=free_port)

    @property
    def settings(self) -> dict[str, str]:
        return {**super().settings, "SIGNAL__LIVE": "off", "WEB__PORT": str(self.port)}

    @property
    def store(self) -> Path:
        return self.folder / "aldis.db"

    @property
    def file(self) -> SettingsFile:
        return SettingsFile(self.folder / "settings.env", environ=self.settings, env_file=None)


@pytest.fixture
async def world(signal: SignalCli, tmp_path: Path) -> AsyncGenerator[World]:
    async with OpenAIServer(local=True) as model:
        yield World(signal, model, tmp_path)


async def test_what_was_changed_counts_from_then_on(world: World) -> None:
    """The answer that runs is sent first; then somebody new may write, without the process having ended."""
    world.file.write({"ACCESS__ALLOWED": ALICE.uuid})
    gate = Gate(world.model, say("Just in time."))
    world.model.script.append(gate)
    async with world.running() as process:
        await world.signal.deliver(message("Anybody?", author=BOB), message("How long?", author=ALICE))
        await gate.arrived()
        world.file.write({"ACCESS__ALLOWED": f"{ALICE.uuid},{BOB.uuid}"})
        restarting = asyncio.create_task(world.verb("restart"))
        await world.signal.disconnected()
        gate.opened.set()
        done = await restarting
        assert (done.status, done.stdout) == (0, "Aldis has restarted with its current settings.\n")
        await world.signal.connected(world.signal.streams_opened)
        world.model.scripted(say("Welcome."))
        await world.signal.deliver(message("Me, too?", author=BOB))
        await world.signal.sent_count(2)
        assert process.is_running
    assert [(sent.text, sent.chat) for sent in world.signal.sent] == [
        ("Just in time.", ALICE.chat),
        ("Welcome.", BOB.chat),
    ]


async def test_settings_that_turn_out_useless_give_way_to_the_former(world: World) -> None:
    """A misspelt one begins no run. With a key that does not open the store the next run cannot begin: the former ones
    count again.
    """
    world.file.write({"ACCESS__ALLOWED": ALICE.uuid})
    async with world.running():
        await world.signal.deliver(message("Hello?", author=ALICE))
        await world.signal.sent_count(1)
        kept = world.file.path.read_text()
        world.file.path.write_text("ACCESS__ALOWED=*\n")
        refused = await world.verb("restart")
        assert (refused.status, refused.stderr.count("\n")) == (2, 1)
        assert (await page(world.port, until=200))["runs"] == 1
        world.file.path.write_text(kept)
        world.file.write({"STORE__KEY": "ab" * 32})
        done = await world.verb("restart")
        assert (done.status, "it keeps running with its previous settings" in done.stderr) == (2, True)
        state = await page(world.port, until=200)
        assert (state["runs"], "key" in state["refused"]) == (3, True)
        assert any("the previous ones are still in use" in finding["what"] for finding in state["findings"])
        await world.signal.deliver(message("Still there?", author=ALICE))
        await world.signal.sent_count(2)
        world.file.write({"STORE__KEY": None})
        assert (await world.verb("restart")).status == 0
        assert (await page(world.port, until=200))["refused"] is None
