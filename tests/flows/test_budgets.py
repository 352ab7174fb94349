"""Money, told whole: a real Aldis with a budget, a model that counts its tokens, and people who ask for more."""

import json
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


async def test_a_budget_on_a_model_without_a_price_is_refused(world: World) -> None:
    """It would use up nothing, ever; the operator reads what to set. Without a budget nobody needs a price."""
    unpriced = world.settings | {"LLM__ANTHROPIC__MODEL": UNPRICED}
    refused = unpriced | {"BUDGET__PERSON_DAY_USD": "0.01"}
    async with started("run", settings=refused, folder=world.folder, is_warm=False) as process:
        ended = await process.ended()
    assert ended.status == 2
    assert f"set BUDGET__PRICES={UNPRICED}=input/output" in ended.stderr.splitlines()[-1]
    async with running(world, LLM__ANTHROPIC__MODEL=UNPRICED):
        assert (await world.asked(ALICE)).startswith("You said:")


async def test_a_file_of_newer_prices_counts(world: World, tmp_path: Path) -> None:
    """In the form of the one that Aldis has; one that is none is refused with what is wrong in it."""
    table = tmp_path / "prices.json"
    budget = {"LLM__ANTHROPIC__MODEL": UNPRICED, "BUDGET__PERSON_DAY_USD": "0.005", "BUDGET__PRICES_FILE": str(table)}
    table.write_text(json.dumps({"models": {UNPRICED: {"input": "0.1", "output": "0.5"}}}), "utf-8")
    async with running(world, **budget):
        assert (await world.asked(ALICE, "One?")).startswith("You said:")
        assert await world.asked(ALICE, "Two?") == USED_UP
    table.write_text(json.dumps({"models": {UNPRICED: {"input": "-1", "output": "0.5"}}}), "utf-8")
    settings = world.settings | budget
    async with started("run", settings=settings, folder=world.folder, is_warm=False) as process:
        ended = await process.ended()
    complaint = f"BUDGET__PRICES_FILE is no table of prices: models.{UNPRICED}.input:"
    assert (ended.status, complaint in ended.stderr.splitlines()[-1]) == (2, True)


async def test_a_server_that_does_not_count_uses_a_budget_up(world: World) -> None:
    """It says nothing of what it used: the price is known, so its answers count by an estimate, and people see that."""
    world.model.reply = lambda heard: say(f"You said: {heard.text}").using(None)
    async with running(world, **ITS_PRICE, BUDGET__PERSON_DAY_USD="0.0000001"):
        assert (await world.asked(ALICE, "One?")).startswith("You said:")
        assert await world.asked(ALICE, "Two?") == USED_UP
        assert "\nEstimated: the cost of 1 answer here." in await world.asked(ALICE, "/usage")
    assert "its cost is counted by an estimate" in world.ended[-1].stderr


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
