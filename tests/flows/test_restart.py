"""Restarted within its process: new settings count, nothing is lost, and refused ones change nothing."""

from collections.abc import AsyncGenerator
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from bot.settings.load import SettingsFile
from tests.flows.gates import Gate
from tests.flows.outside import Outside
from tests.flows.processes import started
from tests.ports import free_port
from tests.servers.envelopes import ALICE, BOB, message
from tests.servers.openai import OpenAIServer
from tests.servers.script import say
from tests.servers.signal_cli import SignalCli
from tests.waiting import eventually_found


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
        done = await world.verb("restart")
        assert (done.status, done.stdout.startswith("Aldis restarts with its current settings;")) == (0, True)
        await world.signal.disconnected()
        gate.opened.set()
        await world.signal.connected(world.signal.streams_opened)
        world.model.scripted(say("Welcome."))
        await world.signal.deliver(message("Me, too?", author=BOB))
        await world.signal.sent_count(2)
        assert process.is_running
    assert [(sent.text, sent.chat) for sent in world.signal.sent] == [
        ("Just in time.", ALICE.chat),
        ("Welcome.", BOB.chat),
    ]


async def test_wrong_settings_restart_nothing_and_useless_ones_end_it(world: World) -> None:
    """A misspelt one begins no run. With a key that does not open the store it ends, as at any start; where there are
    pages, they stay, and say why.
    """
    world.file.write({"ACCESS__ALLOWED": ALICE.uuid})
    async with world.running() as process:
        await world.signal.deliver(message("Hello?", author=ALICE))
        await world.signal.sent_count(1)
        kept = world.file.path.read_text()
        for wrong in ("ACCESS__ALOWED=*\n", "TOOLS__APPROVE=rememeber\n"):
            world.file.path.write_text(kept + wrong)
            refused = await world.verb("restart")
            assert (refused.status, refused.stderr.count("\n")) == (2, 1), wrong
        await world.signal.deliver(message("Still there?", author=ALICE))
        await world.signal.sent_count(2)
        assert world.signal.streams_opened == 1
        world.file.path.write_text(kept)
        world.file.write({"STORE__KEY": "ab" * 32})
        assert (await world.verb("restart")).status == 0
        ended = await process.ended()
        assert (ended.status, "aldis: " in ended.stderr and "key" in ended.stderr) == (2, True)
    given = {**world.settings, "WEB__ADMIN_PORT": str(free_port())}
    async with started("run", settings=given, folder=world.folder) as process:
        await eventually_found(lambda: has_link(world))
        ended = await process.terminate()
        assert (ended.status, "Aldis cannot run, and tries again: " in ended.stderr) == (0, True)


async def has_link(world: World) -> bool:
    return (await world.verb("admin")).status == 0
