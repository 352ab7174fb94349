"""What people take back, change, or let disappear in Signal, told by a real process."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.flows.outside import Outside
from tests.servers.envelopes import ALICE, BOB, delete, edit, message
from tests.servers.openai import OpenAIServer
from tests.servers.script import call, say
from tests.servers.signal_cli import SignalCli


@dataclass
class World(Outside[SignalCli, OpenAIServer]):
    @property
    def settings(self) -> dict[str, str]:
        return {
            **super().settings,
            "SIGNAL__DELETE_ANSWERS": "true",
            "ACCESS__ALLOWED": f"{ALICE.uuid},{BOB.uuid}",
        }

    def on_disk(self, words: str) -> bool:
        """Whether the words stand in any file of the store."""
        return any(words.encode() in file.read_bytes() for file in self.folder.iterdir() if file.is_file())


@pytest.fixture
async def world(signal: SignalCli, tmp_path: Path) -> AsyncGenerator[World]:
    async with OpenAIServer(local=True) as model:
        yield World(signal, model, tmp_path)


HOUR = 3600


@asynccontextmanager
async def running(world: World, *, ahead_seconds: int = 0) -> AsyncGenerator[None]:
    """Aldis, connected; its clock is so far ahead of the machine's."""
    async with world.running(str(ahead_seconds), "run", module="tests.flows.later"):
        yield


async def test_a_day_of_second_thoughts(world: World) -> None:
    """An edit edits the answer, a deletion deletes it, /forget forgets; other people notice nothing."""
    world.model.scripted(call("calculate", {"expression": "6*7"}), say("It is 42."), say("It is 56."))
    async with running(world):
        asked = message("What is 6*7?")
        await world.signal.deliver(asked)
        await world.signal.sent_count(1)
        await world.signal.deliver(edit("What is 7*8?", asked["envelope"]["timestamp"]))
        await world.signal.sent_count(2)
        assert [sent.text for sent in world.signal.visible(ALICE.chat)] == ["It is 56."]

        await world.signal.deliver(delete(asked["envelope"]["timestamp"]))
        await world.signal.removed_count(1)
        assert world.signal.visible(ALICE.chat) == []

        await world.signal.deliver(message("What do you know of me?"))
        await world.signal.sent_count(3)
        await world.signal.deliver(message("hello", author=BOB))
        await world.signal.sent_count(4)
        await world.signal.deliver(message("/forget yes"))
        await world.signal.sent_count(5)
        assert world.signal.visible(ALICE.chat)[-1].text.startswith("Deleted for good: 1 question")
        await world.signal.deliver(message("And now?"), message("and tulips", author=BOB))
        await world.signal.sent_count(7)
    assert "6*7" not in world.model.requests[3].body.decode()
    alices = next(seen for seen in world.model.requests[-2:] if "And now?" in seen.body.decode())
    bobs = next(seen for seen in world.model.requests[-2:] if "and tulips" in seen.body.decode())
    assert "What do you know" not in alices.body.decode()
    assert "hello" in bobs.body.decode()
    assert world.model.refused == []


async def test_a_timer_that_runs_out_while_aldis_is_down(world: World) -> None:
    """At the next start nothing of it is left, for the model neither."""
    async with running(world):
        await world.signal.deliver(message("the safe is behind the tapestry", expires_in_seconds=HOUR))
        await world.signal.sent_count(1)
    async with running(world, ahead_seconds=HOUR):
        await world.signal.deliver(message("Where is the safe?"))
        await world.signal.sent_count(2)
    assert "tapestry" not in world.model.requests[-1].body.decode()
    assert not world.on_disk("tapestry")
