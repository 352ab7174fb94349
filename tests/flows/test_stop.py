"""Stopped in the middle of something that hangs: the end comes in order, and the next start goes on where it was.

What hangs is given hardly any time to end by itself; nothing here waits for a clock.
"""

import asyncio
import signal as signals
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

import pytest

from store import open_store
from tests.flows.consoles import seated
from tests.flows.gates import Hanging
from tests.flows.processes import Ended, started
from tests.servers.envelopes import ALICE, message
from tests.servers.open_meteo import OpenMeteo
from tests.servers.openai import OpenAIServer
from tests.servers.script import Heard, Scripted, call, say
from tests.servers.signal_cli import SignalCli
from tests.servers.signal_server import Plan
from tests.waiting import WAIT_SECONDS

HANDED_BACK = "unfinished work resumes at the next start"
CUT_SHORT = "cut short"
NO_TIME = {"WORKER__SHUTDOWN_SECONDS": "0.2"}


@dataclass
class World:
    """The outside of one test."""

    signal: SignalCli
    model: OpenAIServer
    weather: OpenMeteo
    folder: Path

    @property
    def settings(self) -> dict[str, str]:
        return {
            "SIGNAL__URL": self.signal.url,
            "SIGNAL__UNKNOWN_GRACE_SECONDS": "3",
            "ACCESS__ALLOWED": ALICE.uuid,
            "OPENAI_BASE_URL": self.model.base_url,
            "OPENAI_API_KEY": self.model.key or "",
            "LLM__OPENAI__MODEL": "llama",
            "TOOLS__WEATHER__BASE_URL": self.weather.url,
            "TOOLS__WEATHER__GEOCODING_BASE_URL": self.weather.url,
            "SIGNAL__LIVE": "off",
        }

    async def run(
        self,
        until: Callable[[], Awaitable[object]],
        settings: Mapping[str, str] | None = None,
        *,
        asked: str | None = None,
        number: signals.Signals = signals.SIGTERM,
    ) -> Ended:
        """Aldis from its start to its end by this signal, once it is asked and that has come about."""
        streams = self.signal.streams_opened
        async with started("run", settings={**self.settings, **(settings or {})}, folder=self.folder) as process:
            await self.signal.connected(streams + 1)
            if asked is not None:  # only now: signal-cli-rest-api keeps nothing for who is not there
                await self.signal.deliver(message(asked, author=ALICE))
            async with asyncio.timeout(WAIT_SECONDS):
                await until()
            process.signal(number)
            ended = await process.ended()
        assert ended.status == 0, ended.stderr
        assert CUT_SHORT not in ended.stderr
        return ended

    async def finish(self, sent: int = 1) -> None:
        """The next start: what was under way comes to its end, and nothing else is on its way behind it."""

        async def thanked() -> None:
            await self.signal.sent_count(sent)
            await self.signal.deliver(message("thanks", author=ALICE))
            await self.signal.sent_count(sent + 1)

        await self.run(thanked)
        async with open_store(self.folder / "aldis.db", realm="signal") as store:
            inbox, outbox = await store.read(lambda repos: (repos.inbox.backlog(), repos.outbox.backlog()))
        assert (inbox.items, inbox.dead, outbox.items, outbox.dead) == (0, 0, 0, 0)

    def heard(self) -> list[str]:
        return [sent.text for sent in self.signal.visible(ALICE.chat)]


def model_that_looks_up(heard: Heard) -> Scripted:
    """Asks a tool once, where the question names one, then tells what it found."""
    if heard.answers or "thanks" in heard.text:
        return say("At your service." if "thanks" in heard.text else "It is 3 degrees.")
    if "club" in heard.text:
        return call("club_echo", {"text": "Is it cold?"})
    return call("get_weather", {"place": "Hamlet"})


@pytest.fixture
async def world(signal: SignalCli, tmp_path: Path) -> AsyncGenerator[World]:
    async with OpenAIServer(local=True, reply=model_that_looks_up) as model, OpenMeteo() as weather:
        yield World(signal, model, weather, tmp_path)


async def test_while_a_model_hangs(world: World) -> None:
    """However it is asked to stop: status 0; a later start asks the model again and answers, once."""
    for number in (signals.SIGTERM, signals.SIGINT, signals.SIGHUP):
        hanging = Hanging()
        world.model.faults.append(hanging)
        asked = None if number is not signals.SIGTERM else "How cold is it?"
        ended = await world.run(hanging.reached.wait, NO_TIME, asked=asked, number=number)
        assert HANDED_BACK in ended.stderr
    await world.finish()
    assert world.heard() == ["It is 3 degrees.", "At your service."]


async def test_while_a_tool_hangs(world: World) -> None:
    """The completion that asked for it is paid once: it is the tool alone that is asked again."""
    hanging = Hanging()
    world.weather.faults.append(hanging)
    await world.run(hanging.reached.wait, NO_TIME, asked="How cold is it?")
    assert len(world.model.completed) == 1
    await world.finish()
    assert world.heard() == ["It is 3 degrees.", "At your service."]
    assert len(world.model.completed) == 3


@pytest.mark.parametrize("goes_out", [True, False])
async def test_while_a_send_hangs(world: World, *, goes_out: bool) -> None:
    """Nobody knows whether it went out: a receipt that came meanwhile proves it; without one it is sent again."""
    hanging = Hanging()
    world.signal.plans.append(Plan(answer=hanging, goes_out=goes_out))
    world.signal.receipts_mode = "on_call"
    # However slow the machine is, a proof comes in time.
    grace = {"SIGNAL__UNKNOWN_GRACE_SECONDS": "600" if goes_out else "1"}
    await world.run(hanging.reached.wait, {**NO_TIME, **grace}, asked="How cold is it?")
    assert world.heard() == (["It is 3 degrees."] if goes_out else [])
    world.signal.receipts_mode = "at_once"

    async def proved() -> None:
        await world.signal.confirm()
        await world.signal.sent_count(1)
        await world.signal.deliver(message("thanks", author=ALICE))
        await world.signal.sent_count(2)

    await world.run(proved, grace)
    assert world.heard() == ["It is 3 degrees.", "At your service."]
    assert len(world.model.completed) == 3


async def test_a_terminal_that_is_closed_ends_a_chat(tmp_path: Path) -> None:
    """In order: the next one finds the store as it should be, and whoever sat there is told nothing twice."""
    async with OpenAIServer(local=True) as model:
        hanging = Hanging()
        model.faults.append(hanging)
        settings = {
            "OPENAI_BASE_URL": model.base_url,
            "OPENAI_API_KEY": model.key or "",
            "LLM__OPENAI__MODEL": "llama",
            **NO_TIME,
        }
        async with seated("chat", settings=settings, folder=tmp_path) as console:
            await console.out.until("/help lists commands")
            console.type("How long?\r")
            async with asyncio.timeout(WAIT_SECONDS):
                await hanging.reached.wait()
            console.send(signals.SIGHUP)
            ended = await console.ended()
    assert ended.status == 0, ended.stdout
    async with open_store(tmp_path / "aldis.db", realm="terminal") as store:
        inbox = await store.read(lambda repos: repos.inbox.backlog())
    assert inbox.items == 1
