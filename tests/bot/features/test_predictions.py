"""Predictions: recorded, resolved and scored where they were made, by who made them, and gone when they have to be."""

import json
from collections.abc import Mapping
from contextlib import AbstractAsyncContextManager
from datetime import timedelta
from typing import Any

import pytest

from bot.clock import SetClock
from bot.features.predictions import (
    MAX_KEPT,
    Predict,
    PredictArguments,
    ResolveArguments,
    ResolvePrediction,
    prediction_tools,
)
from store import Repositories, Store
from tests.bot.chat.turn_helpers import calls, contents, says
from tests.bot.commands.test_commands import ask
from tests.bot.loops.app_harness import Harness, app_harness
from tests.conftest import NOON
from tests.servers.envelopes import ALICE, BOB, GROUP
from tools import RateLimited, ToolContext

WORDS = "canary-4711 sings"


def haven(store: Store, clock: SetClock) -> AbstractAsyncContextManager[Harness]:
    return app_harness(store, clock, tools=prediction_tools(store, clock))


def predicting(due: str = "2026-12-31", **given: Any) -> Any:
    return calls(("predict", {"statement": WORDS, "probability": 0.8, "due": due, **given}))


def resolving(number: int = 1, outcome: str = "came_true") -> Any:
    return calls(("resolve_prediction", {"number": number, "outcome": outcome}))


async def answer(aldis: Harness, completion: Any, **more: Any) -> Mapping[str, Any]:
    aldis.model.script = [completion, says("Done.")]
    predicted = f"Aldis, I predict that {WORDS}, with 0.8 by 2026-12-31"
    asked = f"{predicted}; of my predictions 1, 2, 3 and {2**63} each came true, or is struck"
    assert await ask(aldis, asked, **more) == "Done."
    return json.loads(contents(aldis.model.requests[-1])[-1])


async def found(aldis: Harness, **more: Any) -> list[Mapping[str, Any]]:
    listed = await answer(aldis, calls(("list_predictions", {"status": "all"})), **more)
    return listed["untrusted_data"]["predictions"]


async def test_a_prediction_is_recorded_resolved_and_scored(store: Store, clock: SetClock) -> None:
    """Its number is told; it is overdue from the day after its day on, and comes first then."""
    async with haven(store, clock) as aldis:
        assert (await answer(aldis, predicting("2026-12-31")))["untrusted_data"]["number"] == 1
        assert (await answer(aldis, predicting("2026-11-22")))["untrusted_data"]["number"] == 2
        assert [(one["number"], one["status"]) for one in await found(aldis)] == [(2, "open"), (1, "open")]
        clock.move(timedelta(days=1).total_seconds())
        assert [(one["number"], one["status"]) for one in await found(aldis)] == [(2, "open"), (1, "open")]
        clock.move(timedelta(days=1).total_seconds())
        assert [(one["number"], one["status"]) for one in await found(aldis)] == [(2, "overdue"), (1, "open")]
        resolved = (await answer(aldis, resolving(2, "did_not")))["untrusted_data"]
        assert (resolved["statement"], resolved["status"]) == (WORDS, "did_not")
        assert [(one["number"], one["status"]) for one in await found(aldis)] == [(1, "open"), (2, "did_not")]
        aldis.model.script = [calls(("calibration_stats", {})), says("So it is.")]
        await ask(aldis, "how good am I?")
        scores = json.loads(contents(aldis.model.requests[-1])[-1])["untrusted_data"]
        assert (scores["resolved"], scores["brier_score"]) == (1, 0.64)


async def test_scores_are_what_one_reckons_by_hand(store: Store, clock: SetClock) -> None:
    """Void and open ones do not count; each tenth has its own row, and a domain can be scored alone."""
    said = (
        (0.9, "came_true", "Sports"),  # 0.01, a hit
        (0.6, "did_not", "sports"),  # 0.36, a miss
        (0.2, "did_not", "work"),  # 0.04, a hit
        (0.3, "came_true", None),  # 0.49, a miss
        (0.99, "void", "sports"),
        (0.01, None, "sports"),
    )
    async with haven(store, clock) as aldis:
        for number, (probability, verdict, domain) in enumerate(said, 1):
            await answer(aldis, predicting(probability=probability, domain=domain))
            await answer(aldis, resolving(number, "void"))  # by mistake
            await answer(aldis, resolving(number, verdict or "open"))
        told = (await answer(aldis, calls(("calibration_stats", {}))))["untrusted_data"]
        counts = {"resolved": 4, "void": 1, "open": 1, "overdue": 0, "count": 4}
        figures = {"accuracy": 0.5, "brier_score": 0.225, "mean_said": 0.5, "came_true": 0.5}
        assert told.items() >= (counts | figures).items()  # (0.01 + 0.36 + 0.04 + 0.49) / 4
        assert [(row["from"], row["to"], row["count"], row["came_true"]) for row in told["reliability"]] == [
            ("20 %", "30 %", 1, 0.0),
            ("30 %", "40 %", 1, 1.0),
            ("60 %", "70 %", 1, 0.0),
            ("90 %", "100 %", 1, 1.0),
        ]
        alone = (await answer(aldis, calls(("calibration_stats", {"domain": "Sports"}))))["untrusted_data"]
        assert (alone["resolved"], alone["brier_score"], alone["void"]) == (2, 0.185, 1)
        for status, numbers in {"open": [6], "resolved": [1, 2, 3, 4, 5]}.items():
            shown = (await answer(aldis, calls(("list_predictions", {"status": status}))))["untrusted_data"]
            assert (sorted(one["number"] for one in shown["predictions"]), shown["matching"]) == (numbers, len(numbers))
        few = calls(("list_predictions", {"status": "all", "domain": "SPORTS"}))
        shown = (await answer(aldis, few))["untrusted_data"]
        assert (len(shown["predictions"]), shown["void"]) == (4, 1)
        one = shown["predictions"][0]
        assert (one["due"], one["made"], one["domain"]) == ("Thursday 2026-12-31", "2026-11-21", "sports")
        strange = predicting(statement="\u202e?!")
        assert (await answer(aldis, strange))["error"] == "invalid_arguments"


async def test_each_conversation_has_its_own_and_each_person_theirs(store: Store, clock: SetClock) -> None:
    """What was said directly stays there; in a group nobody sees or resolves another one's."""
    async with haven(store, clock) as aldis:
        await answer(aldis, predicting())
        assert await found(aldis, group=GROUP) == []
        assert await found(aldis, author=BOB) == []
        assert (await answer(aldis, predicting(), group=GROUP))["untrusted_data"]["number"] == 1
        await answer(aldis, resolving(1), group=GROUP)
        assert (await answer(aldis, predicting(), group=GROUP, author=BOB))["untrusted_data"]["number"] == 2
        assert [one["number"] for one in await found(aldis, group=GROUP, author=BOB)] == [2]
        assert (await answer(aldis, resolving(1), author=BOB))["error"] == "not_found"
        assert (await answer(aldis, resolving(1, "struck"), author=BOB))["error"] == "not_found"
        assert (await answer(aldis, resolving(3)))["error"] == "not_found"
        assert (await answer(aldis, resolving(2**63)))["error"] == "not_found"


async def test_a_call_that_is_repeated_after_a_crash_records_nothing_more(store: Store, clock: SetClock) -> None:
    """It gives what the first one gave, also when the day is over meanwhile or as many are kept as may be."""
    here = await store.conversation(ALICE.chat, now=NOON)
    turn = await store.transaction(lambda repos: repos.turns.begin(here, now=NOON))

    def call(name: str) -> ToolContext:
        return ToolContext(
            now=clock.now(), timezone="UTC", person=ALICE.uuid, chat=ALICE.chat, turn=turn, call=f"call_{name}"
        )

    def fill(repos: Repositories) -> None:
        [first] = repos.predictions.all(here, ALICE.uuid, now=NOON)
        for number in range(1, MAX_KEPT):
            repos.predictions.put(here, ALICE.uuid, f"call {number}", first.words or b"", due_at=NOON, turn=turn)

    predict, resolve = Predict(store, clock), ResolvePrediction(store, clock)
    given = PredictArguments(statement=WORDS, probability=0.8, due=NOON.date())
    first = await predict.run(given, call("a"))
    await store.transaction(fill)
    with pytest.raises(RateLimited):
        await predict.run(given, call("b"))
    clock.move(timedelta(days=1).total_seconds())
    again = await predict.run(given, call("a"))
    assert (again.data["number"], again.data["made"]) == (1, first.data["made"])
    assert await store.read(lambda repos: repos.predictions.count(ALICE.uuid)) == MAX_KEPT
    for _ in range(2):
        resolved = await resolve.run(ResolveArguments(number=1, outcome="did_not"), call("c"))
        assert resolved.data["status"] == "did_not"


async def test_what_was_known_long_ago_is_not_retained(store: Store, clock: SetClock) -> None:
    """So many days after its day; before that a prediction waits, however old it is."""
    tools, given = prediction_tools(store, clock), {"history": {"retention_days": 10}}
    async with app_harness(store, clock, tools=tools, settings=given) as aldis:
        await answer(aldis, predicting("2026-12-05"))
        for days, numbers in ((20, [1]), (6, [])):
            clock.move(days * 86_400)
            await aldis.maintenance.tidy()
            assert [one["number"] for one in await found(aldis)] == numbers
