"""The loop: every call answered once and in order, limits that end in an answer, nothing paid twice after a crash."""

import asyncio
import json
from dataclasses import replace
from decimal import Decimal

import pytest

from bot.chat import phrases
from bot.chat.steps import Completed, Spoken, load_step
from bot.clock import SetClock
from bot.errors import BadKey, ContextTooLong, Overloaded, ProviderError, Rejected, Unavailable
from bot.i18n import phrases as common_phrases
from bot.messages import CallId, Opaque, Text, ToolCall
from bot.models.base import Completion, Stop, Usage
from bot.models.prices import Price, PricedModel
from bot.money.ledger import RESERVED
from bot.settings import BudgetSettings
from bot.signal.protocol import ModelAnswered, ToolEnded, ToolStarted
from store import LedgerEntry, Store
from tests.bot.chat.turn_helpers import (
    Desk,
    Echo,
    Scripted,
    calls,
    completion,
    contents,
    says,
    settings_with,
    turn_settings,
)
from tests.bot.money.test_budgets import limits
from tests.invariants import is_sendable
from tests.ledger_sums import ledger_sum, paid_rows
from tests.waiting import DEADLINE_SECONDS, let_pass
from tools import Effects


def desk(
    store: Store,
    clock: SetClock,
    *script: Completion | ProviderError,
    tools: tuple[Echo, ...] = (),
    within: BudgetSettings | None = None,
    **bounds: int,
) -> Desk:
    settings, limits = turn_settings(**bounds), within or BudgetSettings()
    return Desk(store, clock, Scripted(list(script)), tools, settings, limits=limits)


async def test_calls_of_one_completion_run_side_by_side_and_are_answered_in_order(
    store: Store, clock: SetClock
) -> None:
    """The first call waits for the second to begin: one after the other they would never end."""
    second_began = asyncio.Event()

    def work(word: str) -> object:
        return second_began.wait() if word == "first" else second_began.set()

    asked = calls(("echo", {"word": "first"}), ("echo", {"word": "second"}))
    there = desk(store, clock, asked, says("Done."), tools=(Echo(work=work),))
    outcome = await there.kept()
    answers = [json.loads(content) for content in contents(there.provider.requests[1])]
    assert [answer["untrusted_data"]["word"] for answer in answers] == ["first", "second"]
    assert is_sendable(outcome.messages)


async def test_vendor_blocks_stay_within_the_turn(store: Store, clock: SetClock) -> None:
    """Thinking goes back unchanged while the turn runs, and is gone when the next one begins."""
    thought = Opaque(vendor="scripted", data={"thinking": "hm", "signature": "s"})
    asked = completion(thought, ToolCall(id=CallId("x"), name="echo", arguments={"word": "a"}))
    there = desk(store, clock, asked, completion(thought, Text(text="Done.")), says("Next."), tools=(Echo(),))
    await there.kept()
    running = there.provider.requests[1].messages[1]
    assert running.role == "assistant"
    assert running.parts[0] == thought
    await there.kept("and now?")
    kept = there.provider.requests[2].messages
    assert not any(
        isinstance(part, Opaque) for message in kept if message.role == "assistant" for part in message.parts
    )


async def test_at_the_limit_the_model_answers_without_tools(store: Store, clock: SetClock) -> None:
    """Of one round only so many calls run, and after the last round the request switches the tools off."""
    three = calls(*(("echo", {"word": word}) for word in "abc"))
    tool = Echo()
    script = (calls(("echo", {"word": "z"})), three, says("My best."))
    there = desk(store, clock, *script, tools=(tool,), max_rounds=2, max_calls_per_round=2)
    outcome = await there.kept()
    assert sorted(tool.ran) == ["a", "b", "z"]
    last = there.provider.requests[-1]
    assert (last.may_call_tools, len(last.tools)) == (False, 1)
    assert json.loads(contents(last)[-1])["error"] == "rate_limited"
    assert (outcome.text, outcome.ok) == ("My best.", True)


async def test_a_model_that_wants_more_at_the_end_is_made_to_answer(store: Store, clock: SetClock) -> None:
    """It is told so once, and answers with what it has; what that costs is in the ledger."""
    again = calls(("echo", {"word": "b"}))
    there = desk(store, clock, calls(("echo", {"word": "a"})), again, says("It is a."), tools=(Echo(),), max_rounds=1)
    outcome = await there.kept()
    assert (outcome.text, outcome.ok, len(await paid_rows(store))) == ("It is a.", True, 4)
    asked, last = there.provider.requests[-2:]
    assert [(len(one.tools), one.may_call_tools) for one in (asked, last)] == [(1, False), (0, False)]
    told = last.messages[-1]
    assert told.role == "user"
    assert "in words" in told.text
    assert told not in outcome.messages


def _announcing(words: str, called: Completion) -> Completion:
    assert called.message is not None
    return replace(called, message=replace(called.message, parts=(Text(text=words), *called.message.parts)))


ANNOUNCED = calls(("echo", {"word": "b"}))
"""What follows "none" where a server drops it, as Ollama 0.32 does (its issue 17921), vllm-mlx (162), OGX (2047)."""
LASTS = [
    ANNOUNCED,
    _announcing("Let me check source 6.", ANNOUNCED),
    _announcing("I'll look up one more page, then answer:", ANNOUNCED),
    _announcing("Ich prüfe noch die letzte Quelle.", replace(ANNOUNCED, stop=Stop.LENGTH)),
    completion(),
    completion(stop=Stop.LENGTH),
]


@pytest.mark.parametrize("last", LASTS)
async def test_a_turn_that_found_something_never_says_that_it_found_nothing(
    store: Store, clock: SetClock, last: Completion
) -> None:
    """A model that calls on without end, or says nothing, is asked once more; then people are shown what was found."""
    found = [f"lamp{number}" for number in range(5)]
    looked = calls(*(("echo", {"word": word}) for word in found))
    there = desk(store, clock, looked, last, last, last, tools=(Echo(),), max_rounds=1)
    outcome = await there.kept()
    assert outcome.ok
    assert outcome.text.startswith(phrases.FOUND_ALONE.text)
    assert [word for word in found if word in outcome.text] == found
    assert "source" not in outcome.text
    assert is_sendable(outcome.messages)


@pytest.mark.parametrize(
    "first", [completion(stop=Stop.LENGTH), replace(says("I look."), stop=Stop.LENGTH, is_cut_in_call=True)]
)
async def test_what_was_cut_off_in_a_call_is_asked_again_with_more_room(
    store: Store, clock: SetClock, first: Completion
) -> None:
    """Once, and the call runs; the completion that was of no use is paid."""
    tool = Echo()
    there = desk(store, clock, first, calls(("echo", {"word": "a"})), says("A."), tools=(tool,))
    outcome = await there.kept()
    assert (outcome.text, tool.ran, len(await paid_rows(store))) == ("A.", ["a"], 4)
    small, large, _ = (request.max_output_tokens for request in there.provider.requests)
    assert large == 4 * small
    assert is_sendable(outcome.messages)


async def test_the_same_call_twice_is_answered_from_the_first(store: Store, clock: SetClock) -> None:
    """Within a completion and across completions of a turn a call runs once; another turn runs it again."""
    same = ("echo", {"word": "a"})
    tool = Echo()
    there = desk(store, clock, calls(same, same), calls(same), says("A."), calls(same), says("A!"), tools=(tool,))
    outcome = await there.kept()
    assert tool.ran == ["a"]
    assert is_sendable(outcome.messages)
    assert len(set(contents(there.provider.requests[2]))) == 1
    await there.kept("again")
    assert tool.ran == ["a", "a"]


async def test_what_was_looked_at_is_looked_at_again_once_something_was_done(store: Store, clock: SetClock) -> None:
    """A list before and after an entry is two lists; the entry itself is still made once."""
    looks, does = Echo(name="look", label="computed"), Echo(name="enter", effects="repeatable")
    look, enter = calls(("look", {"word": "a"})), calls(("enter", {"word": "a"}))
    script = (look, look, enter, look, enter, look, says("Done."))
    there = desk(store, clock, *script, tools=(looks, does), max_rounds=9)
    await there.kept()
    assert (looks.ran, does.ran) == (["a", "a"], ["a"])


async def test_what_may_have_happened_is_not_done_again_in_the_turn(store: Store, clock: SetClock) -> None:
    """However often the model asks for it; when the person asks once more, it is."""
    tool = Echo(effects="once", work=lambda _: asyncio.Event().wait(), timeout_seconds=0.01)
    same = ("echo", {"word": "a"})
    there = desk(store, clock, calls(same), calls(same), says("Who knows?"), calls(same), says("?"), tools=(tool,))
    await there.kept()
    answers = [json.loads(content) for content in contents(there.provider.requests[2])]
    assert [answer["error"] for answer in answers] == ["unknown_outcome"] * 2
    assert tool.ran == ["a"]
    await there.kept("again")
    assert tool.ran == ["a", "a"]


@pytest.mark.parametrize(
    ("error", "phrase"),
    [
        (Overloaded("busy", provider="p"), phrases.OVERLOADED.text),
        (Unavailable("gone", provider="p"), phrases.UNAVAILABLE.text),
        (BadKey("no", provider="p"), phrases.BAD_KEY.text),
        (Rejected("what", provider="p"), phrases.REJECTED.text),
        (ProviderError("odd", provider="p"), common_phrases.FAILED.text),
    ],
    ids=lambda value: type(value).__name__ if isinstance(value, Exception) else "",
)
async def test_a_failed_model_is_told_in_a_sentence(
    store: Store, clock: SetClock, error: ProviderError, phrase: str
) -> None:
    """Each kind of failure has its words; nothing of it enters the history; the ledger knows the tries."""
    error.attempts = (LedgerEntry(provider="p", name="m", outcome=type(error).__name__, cost_usd=Decimal(0)),)
    there = desk(store, clock, error, says("Fine again."))
    outcome = await there.kept("first")
    assert (outcome.text, outcome.ok, outcome.messages) == (phrase, False, ())
    assert [row[:2] for row in await paid_rows(store)] == [("m", type(error).__name__)]
    assert (await there.kept("second")).text == "Fine again."
    assert "first" not in str(there.provider.requests[-1].messages)


@pytest.mark.parametrize(
    ("last", "text", "ok"),
    [
        (completion(), phrases.NOTHING_SAID.text, False),
        (completion(stop=Stop.REFUSAL), phrases.REFUSED.text, False),
        (says("I would rather", Stop.REFUSAL), phrases.REFUSED.text, False),
        (completion(stop=Stop.LENGTH), phrases.NO_WORDS_LEFT.text, False),
        (says("Half an ans", Stop.LENGTH), f"Half an ans\n\n{phrases.CUT_OFF.text}", True),
        (calls(("echo", {"word": "a"}), stop=Stop.LENGTH), phrases.NO_WORDS_LEFT.text, False),
    ],
    ids=["empty", "bare refusal", "refusal with words", "all thought", "cut off", "cut off in a call"],
)
async def test_odd_ends_have_an_outcome(store: Store, clock: SetClock, last: Completion, text: str, ok: bool) -> None:
    """Refused, empty and cut-off answers: a sentence for the person, nothing empty in the history, no half call run."""
    tool = Echo()
    outcome = await desk(store, clock, last, last, tools=(tool,)).kept()
    assert (outcome.text, outcome.ok, tool.ran) == (text, ok, [])
    assert not outcome.messages or is_sendable(outcome.messages)
    assert "cut off here" not in str(outcome.messages)


async def test_models_have_the_rest_of_the_turns_time(store: Store, clock: SetClock) -> None:
    """They may be silent for as long as the settings say, and for no longer than the turn still lasts."""
    tool = Echo(work=lambda _: let_pass(DEADLINE_SECONDS / 2))
    there = desk(store, clock, calls(("echo", {"word": "a"})), says("A."), says("B."), tools=(tool,))
    await there.kept()
    first, second = ((one.timeout_seconds, one.total_seconds or 0.0) for one in there.provider.requests)
    assert first == (DEADLINE_SECONDS, pytest.approx(900, abs=DEADLINE_SECONDS))
    assert second[1] <= first[1] - DEADLINE_SECONDS / 2
    turn, agent = await there.loaded(), there.agent
    short = settings_with(agent.models.settings, worker={"turn_timeout_seconds": 7})
    agent = replace(agent, models=replace(agent.models, settings=short))
    await agent.answer(there.turns.journal(turn, there.watch))
    assert there.provider.requests[-1].timeout_seconds <= 6.3  # the rest is for keeping the answer


async def test_an_empty_answer_is_asked_for_once_more(store: Store, clock: SetClock) -> None:
    """As small models often have something to say then; both are paid, and of the empty one nothing is kept."""
    there = desk(
        store, clock, completion(), says("Here I am."), completion(), calls(("echo", {"word": "a"})), says("A.")
    )
    there.tools = (Echo(),)
    first = await there.kept("first")
    assert (first.text, first.ok, len(await paid_rows(store))) == ("Here I am.", True, 2)
    *same, note = there.provider.requests[1].messages
    assert (tuple(same), "was empty" in str(note)) == (there.provider.requests[0].messages, True)
    assert is_sendable(first.messages)
    assert ((await there.kept("second")).text, len(there.provider.requests)) == ("A.", 5)
    assert "was empty" not in str(there.provider.requests[4].messages)


async def test_a_context_too_long_is_cut_until_it_fits(store: Store, clock: SetClock) -> None:
    """Half of the turns, a quarter, none; when nothing is left to leave out it is told, with the way out."""
    there = desk(store, clock, *(says(f"answer {number}") for number in range(8)))
    for number in range(8):
        await there.kept(f"question {number}")
    too_long = ContextTooLong("long", provider="p")
    there.provider.script = [*[too_long] * 3, says("Shorter.")]
    assert (await there.kept()).text == "Shorter."
    assert [len(request.messages) for request in there.provider.requests[-4:]] == [17, 9, 5, 1]
    assert is_sendable(there.provider.requests[-1].messages)
    there.provider.script = [too_long] * 9
    assert (await there.kept()).text == phrases.TOO_LONG.text
    assert "/new" in phrases.TOO_LONG.text


async def test_without_tools_none_are_offered_and_old_calls_are_left_out(store: Store, clock: SetClock) -> None:
    """Switched off means not described, not called, and no call of the past in the request."""
    there = desk(store, clock, calls(("echo", {"word": "a"})), says("A."), tools=(Echo(),))
    await there.kept()
    there.tools = ()
    there.provider.script = [calls(("echo", {"word": "b"})), says("unasked")]
    outcome = await there.kept("again")
    request = there.provider.requests[2]
    assert (request.tools, request.may_call_tools) == ((), False)
    assert [message.role for message in request.messages] == ["user", "assistant", "user"]
    assert outcome.text == "unasked"


async def test_every_step_is_shown(store: Store, clock: SetClock) -> None:
    """Who watches hears of each completion, each tool's start and end."""
    there = desk(store, clock, calls(("echo", {"word": "a" * 300})), says("A."), tools=(Echo(),))
    await there.kept()
    kinds = [type(progress) for progress in there.shown]
    assert kinds == [ModelAnswered, ToolStarted, ToolEnded, ModelAnswered]
    started = there.shown[1]
    assert isinstance(started, ToolStarted)
    assert len(started.arguments) < 130


def test_the_steps_of_an_earlier_aldis_are_read() -> None:
    """Fees and failed tries were no rows of the ledger until 29 November 2026."""
    fee = b'{"name":"tts-1","outcome":"ok","cost_usd":"0.01","provider":"audio"}'
    row = LedgerEntry(name="tts-1", outcome="ok", provider="audio", cost_usd=Decimal("0.01"))
    assert load_step(b'{"step":"spoken","file":null,"fee":%b}' % fee) == Spoken(file=None, fee=row)
    tried = b'[{"provider":"openai","model":"m","error":"Overloaded","cost_usd":"0"}]'
    said = b'{"message":null,"stop":"tools","usage":{},"attempts":%b}' % tried
    asked = Completed(completion=Completion(message=None, stop=Stop.TOOLS, usage=Usage()))
    assert load_step(b'{"step":"completed","completion":%b}' % said) == asked


@pytest.mark.parametrize("effects", ["none", "once"])
async def test_after_a_crash_no_completion_is_paid_again(store: Store, clock: SetClock, effects: Effects) -> None:
    """Only the open request is made; the tool that had not ended runs, unless it must not run twice."""
    began = asyncio.Event()

    async def last() -> None:
        began.set()
        await asyncio.Event().wait()

    there = desk(store, clock, calls(("echo", {"word": "a"})), tools=(Echo(effects=effects, work=lambda _: last()),))
    turn = await there.loaded()
    task = asyncio.create_task(there.answer(turn))
    await began.wait()
    task.cancel()
    await asyncio.wait([task])
    there.clock.move(3600)
    there.tools = (tool := Echo(effects=effects),)
    there.provider.script = [says("A, at last.")]
    again = await there.again()
    outcome = await there.answer(again)
    assert again.question == turn.question  # with the date it had when the model was first asked
    assert (outcome.text, len(there.provider.requests)) == ("A, at last.", 2)
    assert tool.ran == ([] if effects == "once" else ["a"])
    error = json.loads(contents(there.provider.requests[-1])[0]).get("error")
    assert error == ("unknown_outcome" if effects == "once" else None)


async def test_a_tool_that_only_computes_shares_a_commit_with_its_completion(store: Store, clock: SetClock) -> None:
    """Nothing is written until it has answered; then both are, and a call answered from memory is written down too."""
    written: list[int] = []

    async def look(_: str) -> None:
        rows = await store.read(lambda repos: repos.journal.rows("SELECT count(*) FROM journal"))
        written.append(rows[0][0])

    same = ("echo", {"word": "a"})
    tool = Echo(work=look, label="computed", cost_usd=Decimal(0))
    there = desk(store, clock, calls(same), calls(same), Unavailable("gone", provider="p"), tools=(tool,))
    turn = await there.loaded()
    await there.answer(turn)
    assert written == [0]
    steps = [type(step).__name__ for step in (await there.again()).steps]
    assert steps == ["Asked", "Completed", "ToolRun", "Completed"]


# Money: no call beyond a budget, every call counted once, and people hear of a limit in time, once


CENT = "0.01"
A_DAY_SECONDS = 24 * 3600


@pytest.mark.parametrize("limit", ["person_day", "person_month", "group_day", "all_month"])
async def test_with_nothing_to_spend_no_model_is_asked(store: Store, clock: SetClock, limit: str) -> None:
    """0 means 0: not one call, a sentence instead, nothing of it in the history."""
    there = desk(store, clock, says("Hi."), within=limits(**{limit: "0"}))
    outcome = await there.kept(chat="group:G")
    assert (outcome.text, outcome.ok, outcome.messages) == (phrases.BUDGET_NONE.text, False, ())
    assert there.provider.requests == []


async def test_a_budget_renews(store: Store, clock: SetClock) -> None:
    """The day's at midnight, the month's on the first, by the calendar of the people."""
    there = desk(store, clock, *[says("Hi.")] * 9, within=limits(person_day="0.01", person_month="0.02"))
    there.timezone = "Europe/Berlin"
    clock.move(11 * 3600 - 2)  # the first is kept two seconds before midnight, the second one
    assert [(await there.kept()).ok for _ in range(2)] == [True, False]
    assert [(await there.kept()).ok for _ in range(2)] == [True, False]
    clock.move(8 * A_DAY_SECONDS)
    assert (await there.kept()).text == phrases.budget_used_up("person", "month", renews=True)
    clock.move(A_DAY_SECONDS)
    assert (await there.kept()).ok


async def test_every_call_of_a_turn_is_checked(store: Store, clock: SetClock) -> None:
    """What the first completion and its tools cost counts before the second; it is in the ledger, tools and all."""
    tool = Echo()
    there = desk(
        store, clock, calls(("echo", {"word": "a"})), says("A."), tools=(tool,), within=limits(person_day="0.012")
    )
    outcome = await there.kept()
    assert outcome.text == phrases.budget_used_up("person", "day", renews=True)
    assert (tool.ran, len(there.provider.requests)) == (["a"], 1)
    spent = await store.read(ledger_sum)
    assert spent == (2, Decimal("0.012"), 0)


async def test_a_stream_that_broke_costs_what_it_may_have_cost(store: Store, clock: SetClock) -> None:
    """No service says what a try that failed midway costs; the ledger has an estimate where the price is known."""
    tries = tuple(LedgerEntry(provider="p", name=model, outcome="Unavailable") for model in ("known", "other"))
    known = PricedModel(provider="p", name="known", price=Price(input=Decimal(2), output=Decimal(10)))
    there = desk(store, clock, replace(says("Hi."), attempts=tries))
    there.priced = lambda model: known if model == "p/known" else None
    told = await there.kept()
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

    there = desk(store, clock, calls(("echo", {"word": "a"})), tools=(Echo(work=lambda _: last()),))
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
