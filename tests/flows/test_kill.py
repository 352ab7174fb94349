"""Killed between any two steps of a turn and started again: answered once, nothing paid twice, no tool run twice.

The steps are the transactions of the store (see `dying`), and what the outside sees: a request arriving, an answer
going out. Each story kills a real process with SIGKILL and starts it again until everything has been answered.
"""

from collections.abc import AsyncGenerator
from dataclasses import dataclass
from pathlib import Path

import pytest

from store import open_store
from tests.flows.processes import started
from tests.servers.envelopes import ALICE, message
from tests.servers.open_meteo import OpenMeteo
from tests.servers.openai import OpenAIServer
from tests.servers.script import Heard, Scripted, call, say
from tests.servers.signal_cli import SignalCli

STEPS = {
    "arrival": ("Intake._commit", 1),
    "completion": ("Journal._write", 2),
    "tool": ("Journal._write", 3),
    "kept": ("Turns.keep", 1),
    "send begun": ("Sender._begin", 1),
    "sent": ("Sender._deliver", 1),
}
"""What changes the store on the way from a first message to its answer: the function that does it, and which of its
changes it is. The simulation (`tests/campaigns/simulation`) kills at every other."""

LOST_WITH_ITS_COMMIT = {"tool": (4, 3), "kept": (5, 2)}
"""Completions and tool runs in all when Aldis dies between getting something and writing it down: that one is gone, and
got once more. Four completions and two tool runs is what two questions take."""


def model_that_looks_up(heard: Heard) -> Scripted:
    """Asks for the weather once, then tells it."""
    return say("It is 3 degrees.") if heard.answers else call("get_weather", {"place": "Hamlet"})


@dataclass
class World:
    signal: SignalCli
    model: OpenAIServer
    weather: OpenMeteo
    folder: Path
    grace_seconds: int = 1
    """How long Aldis waits for the proof of a send in doubt; long where the proof is on its way."""

    @property
    def settings(self) -> dict[str, str]:
        return {
            "SIGNAL__URL": self.signal.url,
            "SIGNAL__UNKNOWN_GRACE_SECONDS": str(self.grace_seconds),
            "ACCESS__ALLOWED": ALICE.uuid,
            "OPENAI_BASE_URL": self.model.base_url,
            "OPENAI_API_KEY": self.model.key or "",
            "LLM__OPENAI__MODEL": "llama",
            "TOOLS__WEATHER__BASE_URL": self.weather.url,
            "TOOLS__WEATHER__GEOCODING_BASE_URL": self.weather.url,
        }

    async def finish(self) -> None:
        """Start Aldis again and let it come to rest: everything answered, nothing open."""
        streams = self.signal.streams_opened
        async with started("run", settings=self.settings, folder=self.folder) as process:
            await self.signal.connected(streams + 1)
            await self.signal.sent_count(1)
            # Another message proves that nothing else is on its way before it.
            await self.signal.deliver(message("thanks", author=ALICE))
            await self.signal.sent_count(2)
            ended = await process.terminate()
        assert ended.status == 0, ended.stderr

    async def audit(self, *, completions: int = 4, tool_runs: int = 2) -> None:
        """What must hold in the end, seen from outside and in the store."""
        assert [sent.text for sent in self.signal.sent] == ["It is 3 degrees.", "It is 3 degrees."]
        about_weather = [seen for seen in self.weather.requests if "forecast" in seen.path]
        assert len(about_weather) == tool_runs
        assert len(self.model.completed) == completions
        assert self.model.refused == []
        async with open_store(self.folder / "aldis.db", realm="signal") as store:
            inbox, outbox = await store.read(lambda repos: (repos.inbox.backlog(), repos.outbox.backlog()))
        assert (inbox.items, inbox.dead, outbox.items, outbox.dead) == (0, 0, 0, 0)


@pytest.fixture
async def world(tmp_path: Path) -> AsyncGenerator[World]:
    async with (
        SignalCli() as signal,
        OpenAIServer(local=True, reply=model_that_looks_up) as model,
        OpenMeteo() as weather,
    ):
        yield World(signal, model, weather, tmp_path)


@pytest.mark.parametrize(
    ("when", "step"),
    [
        *(("after", step) for step in ("arrival", "completion", "kept", "send begun")),
        *(("before", step) for step in ("tool", "sent")),
    ],
)
async def test_killed_at_a_step_of_the_store(world: World, when: str, step: str) -> None:
    """Whatever was committed is not done again; what was about to be is done at the next start."""
    name, number = STEPS[step]
    arguments = (when, str(number), name, "run")
    world.grace_seconds = 600 if (when, step) == ("before", "sent") else 1
    await world.signal.deliver(message("How cold is it?", author=ALICE))
    world.signal.receipts_mode = "on_call"
    async with started(*arguments, settings=world.settings, folder=world.folder, module="tests.flows.dying") as process:
        assert (await process.ended()).status == -9
    # A receipt that comes while Aldis is down waits at Signal's server, as everything does; one that comes before
    # signal-cli has seen the connection end is lost with it.
    await world.signal.disconnected()
    await world.signal.confirm()
    world.signal.receipts_mode = "at_once"
    await world.finish()
    completions, tool_runs = LOST_WITH_ITS_COMMIT.get(step, (4, 2)) if when == "before" else (4, 2)
    await world.audit(completions=completions, tool_runs=tool_runs)
