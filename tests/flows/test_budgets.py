"""Money, told whole: a real Aldis with a budget, a model that counts its tokens, and people who ask for more."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path

import pytest

from bot.chat import phrases
from tests.flows.outside import Outside
from tests.flows.processes import Ended, started
from tests.servers.anthropic import AnthropicServer
from tests.servers.envelopes import ALICE, BOB, GROUP, Person, message
from tests.servers.script import Heard, Scripted, Tokens, say
from tests.servers.signal_cli import SignalCli
from tests.waiting import WAIT_SECONDS, eventually

USED_UP = phrases.budget_used_up("person", "day", renews=True)

UNPRICED = "claude-of-next-year"
"""A model whose price only the operator knows."""
ITS_PRICE = {"LLM__ANTHROPIC__MODEL": UNPRICED, "BUDGET__PRICES": f"other=7/7, {UNPRICED}=0.1/0.5"}


def a_cent(heard: Heard) -> Scripted:
    """An answer that costs one cent where a million tokens of output cost 0.50 dollars."""
    return say(f"You said: {heard.text}").using(Tokens(fresh=1, cache_read=0, output=20_000))


def where_it_is_noon() -> str:
    """A time zone in which no midnight falls into the test."""
    return f"Etc/GMT{datetime.now(UTC).hour - 12:+d}"


@dataclass
class World(Outside[SignalCli, AnthropicServer]):
    """The outside of one test, and what is left of the process at its end."""

    ended: list[Ended] = field(default_factory=list[Ended])

    @property
    def settings(self) -> dict[str, str]:
        return {
            **super().settings,
            "ACCESS__ALLOWED": f"{ALICE.uuid},{BOB.uuid}",
            "ACCESS__GROUPS": GROUP,
            "LOCALE__TIMEZONE": where_it_is_noon(),
        }

    async def asked(self, person: Person, text: str = "Well?", *, group: str | None = None) -> str:
        """The answer to somebody."""
        return await self.ask(text, author=person, group=group)


@pytest.fixture
async def world(tmp_path: Path) -> AsyncGenerator[World]:
    async with SignalCli() as signal, AnthropicServer() as model:
        model.reply, model.models = a_cent, (UNPRICED,)
        yield World(signal, model, tmp_path)


@asynccontextmanager
async def running(world: World, **settings: str) -> AsyncGenerator[None]:
    """Aldis, connected; it ends well."""
    async with world.running(**settings) as process:
        yield
    world.ended.append(await process.ended())


async def test_a_used_up_budget_survives_a_restart(world: World) -> None:
    """Refused; others are answered; a new process knows what was spent, by the operator's price."""
    budget = {**ITS_PRICE, "BUDGET__PERSON_DAY_USD": "0.0249"}
    async with running(world, **budget):
        await world.asked(ALICE, "One?")
        assert "budget" not in await world.asked(ALICE, "Two?")
    async with running(world, **budget):
        assert "budget" not in await world.asked(ALICE, "Three?")
        assert await world.asked(ALICE, "Four?") == USED_UP
        assert await world.asked(ALICE, "Aldis, five?", group=GROUP) == phrases.budget_used_up(
            "person", "day", renews=True
        )
        assert "budget" not in await world.asked(BOB, "One?")
    asked = [seen.body.decode() for seen in world.model.requests]
    assert len(asked) == 4
    assert all("BUDGET__PRICES" not in ended.stderr for ended in world.ended)


@pytest.mark.parametrize("how", ["killed", "stopped in good order"])
async def test_a_question_in_which_aldis_dies_is_paid(world: World, how: str) -> None:
    """The vendor bills it, and nobody sees the answer: the next process counts it once, by an estimate, for whoever
    asked, and asks again only if that leaves something.
    """
    world.model.latency_seconds = 10 * WAIT_SECONDS
    budget = {**ITS_PRICE, "BUDGET__PERSON_DAY_USD": "0.00001"}
    async with started("run", settings=world.settings | budget, folder=world.folder) as process:
        await world.signal.connected()
        await world.signal.deliver(message("Well?"))
        await eventually(lambda: len(world.model.requests) == 1)
        await (process.kill() if how == "killed" else process.terminate())
    for _ in range(2):
        async with running(world, **budget):
            await eventually(lambda: is_refused(world))
            assert "\nEstimated: the cost of 1 answer here." in await world.asked(ALICE, "/usage")
    assert len(world.model.requests) == 1


def is_refused(world: World) -> bool:
    """Whether the person has heard that their budget is used up."""
    return any(sent.text == USED_UP for sent in world.signal.sent)
