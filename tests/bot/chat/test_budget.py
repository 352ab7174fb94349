"""Money: no call to a model that nobody may pay for, every call counted once, and people told in time, once."""

import asyncio
import logging
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from decimal import Decimal
from functools import cached_property
from pathlib import Path

import pytest

from bot.chat import phrases
from bot.chat.agent import Agent
from bot.chat.budget import Budget
from bot.chat.journal import Outcome, Turn
from bot.chat.ledger_entries import ledger_entries
from bot.chat.turns import Turns
from bot.clock import SetClock
from bot.errors import BadKey, ContextTooLong, ProviderError
from bot.events import PersonId
from bot.models.base import Attempt, Completion, OnText, Request, Stop, Usage
from bot.models.prices import Price, PricedModel
from bot.money.budgets import NearlyUsedUp, UsedUp
from bot.settings import BudgetSettings
from store import Store, StoreError, open_store
from tests.bot.chat.turn_helpers import Desk, Echo, Scripted, agent_of, calls, says, toolbox
from tests.conftest import NOON
from tests.ledger_sums import ledger_sum

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
        return Turns(self.store, self.clock, max_turns=20, timezone=self.timezone)

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


def remark(percent: int, scope: str = "person", span: str = "day") -> str:
    return "\n\n" + phrases.budget_nearly_used_up(scope, span, percent)


@pytest.mark.parametrize(
    ("limit", "sentence"),
    [
        ("person_day", phrases.BUDGET_PERSON_NONE.text),
        ("person_month", phrases.BUDGET_PERSON_NONE.text),
        ("group_day", phrases.BUDGET_GROUP_NONE.text),
        ("all_month", phrases.BUDGET_ALL_NONE.text),
    ],
)
async def test_with_nothing_to_spend_no_model_is_asked(
    store: Store, clock: SetClock, limit: str, sentence: str
) -> None:
    """0 means 0: not one call, a sentence instead, nothing of it in the history."""
    there = purse(store, clock, says("Hi."), within=limits(**{limit: "0"}))
    outcome = await there.told(chat=GROUP)
    assert (outcome.text, outcome.ok, outcome.messages) == (sentence, False, ())
    assert there.provider.requests == []


async def test_until_the_limit_is_reached_people_are_answered(store: Store, clock: SetClock) -> None:
    """The third cent of two is not spent; others have their own two."""
    there = purse(store, clock, *[says("Hi.")] * 5, within=limits(person_day="0.02"))
    assert [(await there.told()).ok for _ in range(4)] == [True, True, False, False]
    assert (await there.told()).text == phrases.BUDGET_PERSON_DAY.text
    assert (await there.told("bob")).ok
    assert len(there.provider.requests) == 3


async def test_a_group_has_its_own_limit(store: Store, clock: SetClock) -> None:
    """Whoever spends it; its people are answered elsewhere."""
    there = purse(store, clock, *[says("Hi.")] * 9, within=limits(group_month="0.02"))
    assert [(await there.told(person, GROUP)).ok for person in ("alice", "bob", "carol")] == [True, True, False]
    assert (await there.told("alice", GROUP)).text == phrases.BUDGET_GROUP_MONTH.text
    assert (await there.told("alice")).ok
    assert (await there.told("alice", "group:H")).ok


async def test_everybody_together_has_a_limit(store: Store, clock: SetClock) -> None:
    """When it is reached nobody is answered, in no chat."""
    there = purse(store, clock, *[says("Hi.")] * 9, within=limits(all_day="0.03"))
    assert [(await there.told(person)).ok for person in ("alice", "bob")] == [True, True]
    assert (await there.told("carol", GROUP)).ok
    assert (await there.told("dave")).text == phrases.BUDGET_ALL_DAY.text


async def test_a_budget_renews(store: Store, clock: SetClock) -> None:
    """The day's at midnight, the month's on the first, by the calendar of the people."""
    there = purse(store, clock, *[says("Hi.")] * 9, within=limits(person_day="0.01", person_month="0.02"))
    there.timezone = "Europe/Berlin"
    clock.move(11 * 3600 - 1)  # a second before midnight
    assert [(await there.told()).ok for _ in range(2)] == [True, False]
    clock.move(1)
    assert [(await there.told()).ok for _ in range(2)] == [True, False]
    clock.move(8 * A_DAY_SECONDS)
    assert (await there.told()).text == phrases.BUDGET_PERSON_MONTH.text
    clock.move(A_DAY_SECONDS)
    assert (await there.told()).ok


async def test_every_call_of_a_turn_is_checked(store: Store, clock: SetClock) -> None:
    """What the first completion and its tools cost counts before the second; it is in the ledger, tools and all."""
    tool = Echo()
    there = purse(
        store, clock, calls(("echo", {"word": "a"})), says("A."), tools=(tool,), within=limits(person_day="0.012")
    )
    outcome = await there.told()
    assert (outcome.text, tool.ran, len(there.provider.requests)) == (phrases.BUDGET_PERSON_DAY.text, ["a"], 1)
    spent = await store.read(ledger_sum)
    assert (str(spent.cost_usd), spent.calls) == ("0.012", 2)


async def test_what_was_paid_before_a_crash_is_used_and_counts(store: Store, clock: SetClock) -> None:
    """The journal's completion is free, the next one is not."""
    there = purse(store, clock, calls(("echo", {"word": "a"})), within=limits(person_day="0.012"))
    died = asyncio.Event()

    async def die() -> None:
        died.set()
        await asyncio.Event().wait()

    there.tools = (Echo(work=lambda _: die()),)
    turn = await there.loaded()
    task = asyncio.create_task(there.answer(turn))
    await died.wait()
    task.cancel()
    await asyncio.wait([task])
    there.tools = (tool := Echo(),)
    del there.budget  # a new process knows of no running turn
    outcome = await there.answer(await there.again())
    assert (outcome.text, tool.ran, len(there.provider.requests)) == (phrases.BUDGET_PERSON_DAY.text, ["a"], 1)


@pytest.mark.parametrize(("goes_on", "paid"), [(False, Decimal("0.002")), (True, Decimal(0))])
async def test_a_tool_that_is_broken_off_is_paid(
    store: Store,
    clock: SetClock,
    goes_on: bool,
    paid: Decimal,
) -> None:
    """Nobody knows whether it has happened; where the turn goes on later, the next run of the tool is paid instead."""
    there = purse(store, clock, calls(("echo", {"word": "a"})))
    began = asyncio.Event()

    async def last() -> None:
        began.set()
        await asyncio.Event().wait()

    there.tools = (Echo(work=lambda _: last()),)
    turn = await there.loaded()
    journal = there.turns.journal(turn)
    task = asyncio.create_task(there.agent.answer(turn, journal, there.watch))
    await began.wait()
    task.cancel()
    await asyncio.wait([task])
    assert [run.cost_usd for run in journal.failure("Stopped.").runs] == [Decimal("0.002")]
    if not goes_on:
        await store.transaction(lambda repos: repos.journal.close(turn.id, "ignored", now=NOON))
    await there.turns.charge_broken_off(turn, journal)
    assert (await store.read(ledger_sum)).cost_usd == paid


async def test_a_model_that_is_broken_off_costs_what_it_may_have_cost(store: Store, clock: SetClock) -> None:
    """All of the question, and as much of an answer as is written in that time; nothing where no price is known."""
    priced = PricedModel(provider="p", name="m", price=Price(input=Decimal(2), output=Decimal(10)))
    budget = Budget(store, clock, FREE, timezone="UTC", priced=lambda model: priced if model is None else None)
    for seconds, cost in ((0.0, "0.002"), (1.0, "0.0028"), (1000.0, "0.012")):
        lost = budget.broken_off(None, input_tokens=1000, seconds=seconds, max_output_tokens=1000)
        assert lost is not None
        assert (lost.provider, lost.model, lost.cost_usd) == ("p", "m", Decimal(cost))
    assert budget.broken_off("other/one", input_tokens=1000, seconds=1.0, max_output_tokens=1000) is None


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
    [completion] = told.completions
    [estimated, unknown] = [one.cost_usd for one in completion.attempts]
    assert estimated is not None
    # What is written in a second costs 0.0008 USD, and the question something besides.
    assert estimated > Decimal("0.0008")
    assert unknown is None
    assert [row.cost_usd for row in ledger_entries(told)][:2] == [estimated, None]


@pytest.mark.parametrize(
    ("limit", "person", "chat", "admitted"),
    [
        ("person_day", "alice", "group:H", False),
        ("person_day", "bob", GROUP, True),
        ("group_day", "bob", GROUP, False),
        ("group_day", "alice", "group:H", True),
        ("group_day", "alice", "direct:alice", True),
        ("all_day", "bob", "direct:bob", False),
    ],
)
async def test_what_running_turns_have_spent_counts(
    store: Store, clock: SetClock, limit: str, person: str, chat: str, admitted: bool
) -> None:
    """Before any of it is in the ledger: for the same person, the same group, or all."""
    there = purse(store, clock, within=limits(**{limit: CENT}))
    running = await there.asked("alice", GROUP)
    assert await there.budget.used_up(running, Decimal(0)) is None
    there.budget.charge(running, says("Hi."), Decimal(CENT))
    other = await there.asked(person, chat)
    assert (await there.budget.used_up(other, Decimal(0)) is None) == admitted


async def test_a_kept_turn_counts_once(store: Store, clock: SetClock) -> None:
    """Its costs move from its bill to the ledger: never both, never neither."""
    there = purse(store, clock, *[says("Hi.")] * 9, within=limits(all_day="0.02"))
    waiting = await there.asked("bob")
    running = await there.asked("alice")
    outcome = await there.answer(running)
    assert await there.budget.used_up(waiting, Decimal("0.01")) is not None
    assert await there.budget.used_up(waiting, Decimal("0.009")) is None
    await there.turns.keep(running, outcome)
    assert await there.budget.used_up(waiting, Decimal("0.01")) is not None
    assert await there.budget.used_up(waiting, Decimal("0.009")) is None


async def test_a_turn_that_ended_otherwise_is_let_go_of(store: Store, clock: SetClock) -> None:
    """What was taken back is not kept, and its bill is not held against anybody for ever."""
    there = purse(store, clock, within=limits(person_day=CENT))
    running = await there.asked()
    assert await there.budget.used_up(running, Decimal(CENT)) is not None
    await store.transaction(lambda repos: repos.journal.close(running.id, "ignored", now=NOON))
    assert await there.budget.used_up(await there.asked(chat=GROUP), Decimal(0)) is None


async def test_without_a_limit_nothing_is_read(path: Path, clock: SetClock) -> None:
    """No limit at all, or none that counts here: the store is not asked, as one that is closed shows."""
    async with open_store(path, realm="signal") as store:
        turn = await purse(store, clock).asked()
    for free in (BudgetSettings(), limits(group_day="0", group_month="5")):
        assert await Budget(store, clock, free, timezone="UTC").used_up(turn, Decimal(99)) is None
    with pytest.raises(StoreError):
        await Budget(store, clock, limits(all_day="5"), timezone="UTC").used_up(turn, Decimal(0))


async def test_people_are_told_once_that_it_is_nearly_used_up(store: Store, clock: SetClock) -> None:
    """Below the answer that takes it there, not in the history, and not again after a restart."""
    there = purse(store, clock, *[says("Hi.")] * 9, within=limits(person_day="0.05"))
    said = [await there.told() for _ in range(4)]
    assert [outcome.text for outcome in said] == ["Hi.", "Hi.", "Hi.", "Hi." + remark(80)]
    assert all(outcome.ok for outcome in said)
    assert "budget" not in str(said[3].messages)
    del there.budget
    assert (await there.told()).text == "Hi."
    assert (await there.told()).text == phrases.BUDGET_PERSON_DAY.text
    clock.move(A_DAY_SECONDS)
    assert (await there.told()).text == "Hi."


async def test_each_limit_is_told_of(store: Store, clock: SetClock) -> None:
    """One at a time, the tightest first."""
    there = purse(store, clock, *[says("Hi.")] * 9, within=limits(person_day="0.02", all_month="0.021"))
    assert [(await there.told()).text for _ in range(3)] == [
        "Hi.",
        "Hi." + remark(100),
        phrases.BUDGET_PERSON_DAY.text,
    ]
    assert (await there.told("bob")).text == "Hi." + remark(100, "all", "month")


async def test_turns_side_by_side_tell_once(store: Store, clock: SetClock) -> None:
    """While the one that tells is not kept yet, another does not tell it, too; one of another month would."""
    there = purse(store, clock, within=limits(all_month="0.1"))
    one, two = await there.asked("alice"), await there.asked("bob")
    assert await there.budget.used_up(one, Decimal("0.09")) is None
    told = there.budget.nearly_used_up(one)
    assert told == NearlyUsedUp(scope="all", span="month", period="2026-11", percent=90)
    assert await there.budget.used_up(two, Decimal(0)) is None
    assert there.budget.nearly_used_up(two) is None
    clock.move(10 * A_DAY_SECONDS)
    assert await there.budget.used_up(two, Decimal(0)) is None
    assert there.budget.nearly_used_up(two) is not None


async def test_a_sentence_of_failure_carries_no_remark(store: Store, clock: SetClock) -> None:
    """It is told with the next answer."""
    refused = says("I would rather not.", Stop.REFUSAL)
    there = purse(store, clock, refused, refused, says("Hi."), within=limits(person_month="0.025"))
    assert [(await there.told()).text for _ in range(3)] == [
        phrases.REFUSED.text,
        phrases.REFUSED.text,
        "Hi." + remark(100, span="month"),
    ]


async def test_asking_again_with_less_history_is_checked_too(store: Store, clock: SetClock) -> None:
    """Another turn has used the money up in the meantime."""

    @dataclass
    class Meanwhile(Scripted):
        happens: Callable[[], None] = lambda: None

        async def complete(self, request: Request, on_text: OnText | None = None) -> Completion:
            self.happens()
            return await super().complete(request)

    there = purse(store, clock, within=limits(all_day="0.05"))
    there.provider = Meanwhile([says("Hi.")])
    await there.told()
    other = await there.asked("bob")
    assert await there.budget.used_up(other, Decimal(0)) is None
    long = ContextTooLong("long", provider="p")
    there.provider = Meanwhile(
        [long, says("Hi.")], happens=lambda: there.budget.charge(other, says("Hi."), Decimal("0.05"))
    )
    assert (await there.told()).text == phrases.BUDGET_ALL_DAY.text
    assert len(there.provider.requests) == 1


@pytest.mark.parametrize("limit_usd", [{}, {"person_day": CENT}], ids=["unlimited", "limited"])
async def test_an_unknown_cost_is_loud_and_does_not_block(
    store: Store, clock: SetClock, caplog: pytest.LogCaptureFixture, limit_usd: dict[str, str]
) -> None:
    """One warning for each model, however often it is asked, also where there is no limit; people are answered."""
    unpriced = replace(says("Hi."), cost_usd=None)
    there = purse(
        store, clock, unpriced, unpriced, replace(unpriced, model="model-2"), unpriced, within=limits(**limit_usd)
    )
    assert [(await there.told()).ok for _ in range(4)] == [True] * 4
    warnings = [record.getMessage() for record in caplog.records if record.levelno == logging.WARNING]
    assert len(warnings) == 2
    assert "model-1 is unknown" in warnings[0]
    assert "BUDGET__PRICES=model-2=input/output" in warnings[1]
    [total, *_] = await store.read(lambda repos: repos.ledger.totals("alice", None, ("2026-11-21",)))
    assert (total.spending.cost_usd, total.spending.unknown_costs) == (Decimal(0), 4)


async def test_a_server_that_does_not_count_is_named(
    store: Store, clock: SetClock, caplog: pytest.LogCaptureFixture
) -> None:
    """A price would not help: the operator hears what is missing."""
    await purse(store, clock, replace(says("Hi."), cost_usd=None, usage=Usage())).told()
    assert "does not tell how many tokens model model-1 used" in caplog.text
    assert "BUDGET__PRICES" not in caplog.text


@pytest.mark.parametrize(
    ("usage", "seconds", "cost"),
    [
        # 1,000 tokens of answer at most, by the time; all prices in the table below.
        (Usage(), 60.0, "0.01"),
        (Usage(), 1.0, "0.0008"),
        (Usage(input_tokens=1_000_000), 60.0, "2.01"),
        (Usage(output_tokens=1_000_000), 60.0, "10"),
    ],
    ids=["nothing told", "nothing told, and soon there", "no answer counted", "no question counted"],
)
async def test_what_a_server_does_not_count_is_paid_by_an_estimate(
    store: Store, clock: SetClock, caplog: pytest.LogCaptureFixture, usage: Usage, seconds: float, cost: str
) -> None:
    """By the length of the question, and of the answer or the time that it took; the ledger says so, the log once."""
    uncounted = replace(says("Hi."), cost_usd=None, usage=usage, latency_seconds=seconds)
    there = purse(store, clock, uncounted, uncounted, uncounted, within=limits(person_day="0.0001"))
    known = PricedModel(provider="p", name="model-1", price=Price(input=Decimal(2), output=Decimal(10)))
    there.priced = lambda model: known if model == "scripted/model-1" else None
    told = await there.told()
    [completion] = told.completions
    assert completion.cost_usd is not None
    # The question is some dozens of tokens.
    assert Decimal(cost) <= completion.cost_usd < Decimal(cost) + Decimal("0.001")
    assert [(row.outcome, row.cost_usd) for row in ledger_entries(told)] == [("estimated", completion.cost_usd)]
    assert (await there.told()).text == phrases.BUDGET_PERSON_DAY.text
    assert [record.getMessage() for record in caplog.records if record.levelno == logging.WARNING] == [
        "the server does not tell how many tokens model model-1 used: its cost is counted by an estimate"
    ]


async def test_a_model_that_costs_nothing_is_not_estimated(store: Store, clock: SetClock) -> None:
    """One of the operator's own that counts nothing."""
    there = purse(store, clock, replace(says("Hi."), cost_usd=Decimal(0), usage=Usage()))
    free = PricedModel(provider="p", name="model-1", price=Price(input=Decimal(0), output=Decimal(0)))
    there.priced = lambda _: free
    [row] = ledger_entries(await there.told())
    assert (row.outcome, row.cost_usd) == ("ok", 0)


@pytest.mark.parametrize("then", ["stopped", "used up", "refused"])
async def test_what_was_tried_before_a_question_was_too_long_is_paid(store: Store, clock: SetClock, then: str) -> None:
    """One model broke off and the next wanted less: whatever becomes of the shorter question, that is paid."""
    too_long = ContextTooLong("long", provider="p")
    too_long.attempts = (
        Attempt(provider="p", model="m", error="Unavailable", latency_seconds=1.0, cost_usd=Decimal("0.03")),
    )
    began = asyncio.Event()

    @dataclass
    class Then(Scripted):
        async def complete(self, request: Request, on_text: OnText | None = None) -> Completion:
            if self.requests and then == "stopped":
                began.set()
                await asyncio.Event().wait()
            if then == "used up":
                there.budget.charge(other, says("Hi."), Decimal(1))
            return await super().complete(request)

    there = purse(store, clock, within=limits(all_day="1"))
    there.provider = Scripted([says("Hi.")])
    await there.told()
    other = await there.asked("bob")
    assert await there.budget.used_up(other, Decimal(0)) is None
    there.provider = Then([too_long, BadKey("no", provider="p")])
    turn = await there.asked()
    journal = there.turns.journal(turn)
    task = asyncio.create_task(there.agent.answer(turn, journal, there.watch))
    if then == "stopped":
        await began.wait()
        task.cancel()
    await asyncio.wait([task])
    outcome = journal.failure("Stopped.") if then == "stopped" else task.result()
    assert isinstance(outcome, Outcome)
    assert [attempt.cost_usd for attempt in outcome.failures if attempt.cost_usd] == [Decimal("0.03")]


async def test_the_cost_of_a_turn_is_summed_up_for_all_three(store: Store, clock: SetClock) -> None:
    """Model and tools, for the person, the group and everybody; what is left is known to the last digit."""
    there = purse(
        store, clock, calls(("echo", {"word": "a"})), says("A."), tools=(Echo(),), within=limits(group_day="1")
    )
    assert (await there.told(chat=GROUP)).text == "A."
    totals = await store.read(lambda repos: repos.ledger.totals("alice", GROUP, ("2026-11-21",)))
    assert [str(total.spending.cost_usd) for total in totals] == ["0.022"] * 3
    last = await there.budget.used_up(await there.asked(chat=GROUP), Decimal("0.978"))
    assert last == UsedUp(scope="group", span="day", renews=True)


@pytest.mark.parametrize(
    ("scope", "span", "percent", "words"),
    [
        ("person", "day", 80, "(You've used 80 % of today's budget.)"),
        ("group", "month", 99, "(This group has used 99 % of this month's budget.)"),
        ("all", "day", 155, "(I've used 100 % of today's budget.)"),
    ],
)
def test_the_remark_is_plain(scope: str, span: str, percent: int, words: str) -> None:
    """Whose budget, how much of it, for how long; nobody is told of more than all of it."""
    assert phrases.budget_nearly_used_up(scope, span, percent) == words


def test_every_limit_has_its_sentence() -> None:
    """What ran out and when it renews: no two limits sound the same, but those that never renew."""
    every = [(scope, span) for scope in ("person", "group", "all") for span in ("day", "month")]
    assert len({phrases.budget_used_up(scope, span, renews=True) for scope, span in every}) == 6
    assert len({phrases.budget_used_up(scope, span, renews=False) for scope, span in every}) == 3
