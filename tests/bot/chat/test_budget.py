"""Money: no call to a model that nobody may pay for, every call counted once, and people told in time, once."""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from decimal import Decimal
from functools import cached_property

import pytest

from bot.chat import phrases
from bot.chat.agent import Agent
from bot.chat.journal import Outcome, Turn
from bot.chat.turns import Turns
from bot.clock import SetClock
from bot.errors import ProviderError
from bot.events import PersonId
from bot.models.base import Attempt, Completion
from bot.models.prices import Price, PricedModel
from bot.money.budgets import Budget
from bot.money.ledger import RESERVED
from bot.settings import BudgetSettings
from store import Store
from tests.bot.chat.turn_helpers import Desk, Echo, Scripted, agent_of, calls, says, toolbox
from tests.ledger_sums import ledger_sum, paid_rows

USED_UP = phrases.budget_used_up("person", "day", renews=True)

GROUP = "group:G"
CENT = "0.01"
"""What a completion of the scripted model costs."""
A_DAY_SECONDS = 24 * 3600
FREE = BudgetSettings()


def limits(**limit_usd: str) -> BudgetSettings:
    """The limits by the first part of their names: `person_day="1.50"`."""
    return BudgetSettings.model_validate({f"{name}_usd": usd for name, usd in limit_usd.items()})


@dataclass
class Purse(Desk):
    """A desk whose agent has a budget."""

    limits: BudgetSettings = field(default_factory=BudgetSettings)
    timezone: str = "UTC"
    priced: Callable[[str | None], PricedModel | None] = lambda _: None

    def started_anew(self) -> Turns:
        return Turns(self.store, self.clock, max_turns=20, timezone=self.timezone, budget=self.budget)

    @cached_property
    def budget(self) -> Budget:
        return Budget(self.store, self.clock, self.limits, timezone=self.timezone, priced=self.priced)

    @property
    def agent(self) -> Agent:
        box = toolbox(self.clock, *self.tools)
        return agent_of(self.provider, box, self.budget)

    async def asked(self, person: str = "alice", chat: str | None = None) -> Turn:
        """A new message of the person, claimed and loaded."""
        turn = await self.loaded(chat=chat or f"direct:{person}")
        return replace(turn, incoming=tuple(replace(one, author=PersonId(person)) for one in turn.incoming))

    async def told(self, person: str = "alice", chat: str | None = None) -> Outcome:
        """A whole turn, kept."""
        turn = await self.asked(person, chat)
        outcome = await self.answer(turn)
        await self.turns.keep(turn, outcome)
        return outcome


def purse(
    store: Store,
    clock: SetClock,
    *script: Completion | ProviderError,
    tools: tuple[Echo, ...] = (),
    within: BudgetSettings = FREE,
) -> Purse:
    return Purse(store, clock, Scripted(list(script)), tools, limits=within)


@pytest.mark.parametrize("limit", ["person_day", "person_month", "group_day", "all_month"])
async def test_with_nothing_to_spend_no_model_is_asked(store: Store, clock: SetClock, limit: str) -> None:
    """0 means 0: not one call, a sentence instead, nothing of it in the history."""
    there = purse(store, clock, says("Hi."), within=limits(**{limit: "0"}))
    outcome = await there.told(chat=GROUP)
    assert (outcome.text, outcome.ok, outcome.messages) == (phrases.BUDGET_NONE.text, False, ())
    assert there.provider.requests == []


async def test_until_the_limit_is_reached_people_are_answered(store: Store, clock: SetClock) -> None:
    """The third cent of two is not spent; others have their own two."""
    there = purse(store, clock, *[says("Hi.")] * 5, within=limits(person_day="0.02"))
    assert [(await there.told()).ok for _ in range(4)] == [True, True, False, False]
    assert (await there.told()).text == USED_UP
    assert (await there.told("bob")).ok
    assert len(there.provider.requests) == 3


async def test_a_budget_renews(store: Store, clock: SetClock) -> None:
    """The day's at midnight, the month's on the first, by the calendar of the people."""
    there = purse(store, clock, *[says("Hi.")] * 9, within=limits(person_day="0.01", person_month="0.02"))
    there.timezone = "Europe/Berlin"
    clock.move(11 * 3600 - 1)  # a second before midnight
    assert [(await there.told()).ok for _ in range(2)] == [True, False]
    clock.move(1)
    assert [(await there.told()).ok for _ in range(2)] == [True, False]
    clock.move(8 * A_DAY_SECONDS)
    assert (await there.told()).text == phrases.budget_used_up("person", "month", renews=True)
    clock.move(A_DAY_SECONDS)
    assert (await there.told()).ok


async def test_every_call_of_a_turn_is_checked(store: Store, clock: SetClock) -> None:
    """What the first completion and its tools cost counts before the second; it is in the ledger, tools and all."""
    tool = Echo()
    there = purse(
        store, clock, calls(("echo", {"word": "a"})), says("A."), tools=(tool,), within=limits(person_day="0.012")
    )
    outcome = await there.told()
    assert (outcome.text, tool.ran, len(there.provider.requests)) == (USED_UP, ["a"], 1)
    spent = await store.read(ledger_sum)
    assert spent == (2, Decimal("0.012"), 0)


async def test_a_stream_that_broke_costs_what_it_may_have_cost(store: Store, clock: SetClock) -> None:
    """Of a try that failed in the middle nobody tells the cost; the ledger has an estimate where the price is known."""
    tries = tuple(
        Attempt(provider="p", model=model, error="Unavailable", latency_seconds=1.0, cost_usd=None)
        for model in ("known", "other")
    )
    known = PricedModel(provider="p", name="known", price=Price(input=Decimal(2), output=Decimal(10)))
    there = purse(store, clock, replace(says("Hi."), attempts=tries))
    there.priced = lambda model: known if model == "p/known" else None
    told = await there.told()
    assert told.ok
    [estimated, unknown, _] = [cost for *_, cost in await paid_rows(store)]
    # An answer of the usual length costs 0.01 USD, and the question something besides.
    assert Decimal(estimated or 0) > Decimal("0.01")
    assert unknown is None


async def test_what_is_stopped_or_killed_costs_its_estimate(store: Store, clock: SetClock) -> None:
    """A question to a model as well as a tool; where the turn goes on later, the next try is paid, too."""
    priced = PricedModel(provider="p", name="m", price=Price(input=Decimal(2), output=Decimal(10)))
    began = asyncio.Event()

    async def last() -> None:
        began.set()
        await asyncio.Event().wait()

    there = purse(store, clock, calls(("echo", {"word": "a"})), tools=(Echo(work=lambda _: last()),))
    there.priced = lambda model: priced if model is None else None
    task = asyncio.create_task(there.answer(await there.loaded()))
    await began.wait()
    task.cancel()
    await asyncio.wait([task])
    assert await paid_rows(store) == [("model-1", "ok", CENT), ("echo", RESERVED, "0.002")]
    there.tools = (Echo(),)
    with pytest.raises(IndexError):  # the script ends here, and with it this attempt
        await there.answer(await there.again())
    *_, ran, asked = await paid_rows(store)
    assert (ran, asked[:2]) == (("echo", "ok", "0.002"), ("m", RESERVED))
    # A thousand tokens of answer at most.
    assert Decimal("0.01") < Decimal(asked[2] or 0) < Decimal("0.011")
