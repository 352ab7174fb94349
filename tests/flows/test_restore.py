"""A backup that is put back: nothing of the past is answered or sent before somebody has said what becomes of it."""

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

REFUSED = "the store was restored from a backup or is an older copy, and nobody has decided"
LISTED = ("1 message would be answered, 1 min ago", "1 answer would be sent, 1 min ago")


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


async def test_what_was_open_is_closed(world: World) -> None:
    """What is open is listed, and Aldis does not start until it is closed; then only what comes anew is answered."""
    kept = await world.copy()
    restored = await world.verb("restore", kept)
    assert restored.status == 0, restored.stderr
    for line in (*LISTED, "Messages that arrived after it are gone", "Nothing is decided yet"):
        assert line in restored.stderr
    for verb in (("run",), ("chat", "--once", "hello")):
        refused = await world.verb(*verb)
        assert (refused.status, refused.stdout) == (2, "")
        assert f"aldis: {REFUSED}" in refused.stderr
    examined = await world.verb("doctor")
    assert "problem  store: it was restored" in examined.stdout
    assert (await world.verb("restore", "--settle")).status == 0
    assert await world.heard("run", sent=0) == ["anew"]
    nothing = await world.verb("restore", "--settle")
    assert (nothing.status, nothing.stderr.count("\n"), "is not waiting for a decision" in nothing.stderr) == (
        2,
        1,
        True,
    )


@pytest.mark.parametrize("how", ["with the restoring", "put in place by hand"])
async def test_all_of_it_is_done_again_where_that_is_wanted(world: World, how: str) -> None:
    """By a flag; the answer that may have gone out before goes out, the message that was open is answered."""
    kept = await world.copy()
    if how == "with the restoring":
        assert (await world.verb("restore", kept, "--replay")).status == 0
    else:
        put_in_place(Path(kept), world.folder / "aldis.db")
        assert (await world.verb("run", SIGNAL__URL="http://127.0.0.1:9")).status == 2  # before it waits for the bridge
        assert (await world.verb("restore", "--replay")).status == 0
    assert await world.heard("run", sent=2) == ["Alice", "Bob", "anew"]


async def test_where_nothing_was_open_nothing_is_asked(world: World) -> None:
    """A backup of a quiet moment is the store at once."""
    assert await world.heard("run", sent=0) == ["anew"]
    kept = await world.verb("backup", "copies")
    restored = await world.verb("restore", kept.stdout.strip())
    assert (restored.status, "there is nothing to decide" in restored.stderr) == (0, True)
    assert await world.heard("run", sent=1) == ["anew", "anew"]


def put_in_place(copy: Path, path: Path) -> None:
    """As somebody does who has not read the docs."""
    for file in path.parent.glob(f"{path.name}-*"):
        if file.name.endswith(("-wal", "-shm")):
            file.unlink()
    for suffix in ("", "-keys"):
        shutil.copyfile(copy.with_name(copy.name + suffix), path.with_name(path.name + suffix))
