"""A backup that is put back: nothing of the past is answered or sent."""

import asyncio
import shutil
from collections.abc import AsyncGenerator
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.flows.gates import Hanging
from tests.flows.outside import Outside
from tests.flows.processes import started
from tests.servers.envelopes import ALICE, BOB, message
from tests.servers.openai import OpenAIServer
from tests.servers.signal_cli import SignalCli
from tests.servers.signal_server import Plan
from tests.waiting import WAIT_SECONDS


@dataclass
class World(Outside[SignalCli, OpenAIServer]):
    @property
    def settings(self) -> dict[str, str]:
        return {
            **super().settings,
            "SIGNAL__LIVE": "off",
            "SIGNAL__UNKNOWN_GRACE_SECONDS": "1",
            "ACCESS__ALLOWED": f"{ALICE.uuid},{BOB.uuid}",
        }

    async def copy(self) -> str:
        """A backup of a moment at which Alice's message is answered and Bob's answer sent; then Aldis dies."""
        sending, asking = Hanging(), Hanging()
        self.signal.plans.append(Plan(answer=sending, goes_out=False))
        async with started("run", settings=self.settings, folder=self.folder) as process, asyncio.timeout(WAIT_SECONDS):
            await self.signal.connected()
            await self.signal.deliver(message("to Bob", author=BOB))
            await sending.reached.wait()
            self.model.faults.append(asking)
            await self.signal.deliver(message("to Alice", author=ALICE))
            await asking.reached.wait()
            kept = await self.verb("backup", "copies")
            await process.kill()
        assert kept.status == 0, kept.stderr
        return kept.stdout.strip()

    async def heard(self, *arguments: str, sent: int) -> list[str]:
        """What people read once Aldis runs, to the answer for somebody who writes anew."""
        async with self.running(*arguments):
            await self.signal.sent_count(sent)
            await self.signal.deliver(message("anew", author=ALICE))
            await self.signal.sent_count(sent + 1)
        return sorted(seen.text.split()[-1] for seen in self.signal.sent)


@pytest.fixture
async def world(tmp_path: Path) -> AsyncGenerator[World]:
    async with SignalCli() as signal, OpenAIServer(local=True) as model:
        yield World(signal, model, tmp_path)


@pytest.mark.parametrize("how", ["by the verb", "by hand"])
async def test_what_was_open_is_closed(world: World, how: str) -> None:
    """Only what comes anew is answered."""
    kept = await world.copy()
    if how == "by hand":
        put_in_place(Path(kept), world.folder / "aldis.db")
    else:
        restored = await world.verb("restore", kept)
        assert restored.status == 0, restored.stderr
        assert "Messages that arrived\nafter the backup are gone" in restored.stderr
    assert await world.heard("run", sent=0) == ["anew"]


def put_in_place(copy: Path, path: Path) -> None:
    """As somebody does who has not read the docs."""
    for file in path.parent.glob(f"{path.name}-*"):
        if file.name.endswith(("-wal", "-shm")):
            file.unlink()
    for suffix in ("", "-keys"):
        shutil.copyfile(copy.with_name(copy.name + suffix), path.with_name(path.name + suffix))
