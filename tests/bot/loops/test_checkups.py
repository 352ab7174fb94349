"""Check-ups of a running Aldis: rare, bounded, and whatever fails in them ends nothing."""

from collections.abc import AsyncGenerator, Sequence
from dataclasses import dataclass, field, replace

import pytest

from bot.chat.notices import Admins, Notice, Notices
from bot.clock import SetClock
from bot.doctor.findings import Finding, ok, problem
from bot.doctor.models import ModelTroubles
from bot.errors import BadKey, NoSuchModel, Overloaded, Rejected
from bot.loops.watchdog import Checkups
from bot.models.base import Completion
from store import Store
from tests.bot.chat.turn_helpers import says
from tests.bot.loops.app_harness import Harness, app_harness
from tests.servers.envelopes import BOB, message
from tests.waiting import eventually, running

NOTICE = Notice(kind="key", subject="Tavily")
WRONG = problem("search", "Tavily refuses the key", "correct it", notice=NOTICE)
RIGHT = ok("search", "Tavily answers", notice=NOTICE)


@dataclass
class Outside:
    """What is found; how often it was asked for."""

    asked: int = 0
    found: Sequence[Finding] = (RIGHT,)
    looked: list[Finding] = field(default_factory=list[Finding])
    failure: Exception | None = None

    async def ask(self) -> Sequence[Finding]:
        self.asked += 1
        if self.failure is not None:
            raise self.failure
        return self.found

    async def contacts(self) -> None:
        return None


def looking(store: Store, clock: SetClock, outside: Outside, *, first: float = 0.0, ask: float = 3600.0) -> Checkups:
    admins = Admins(clock, listed=lambda: frozenset({BOB.uuid}), language=lambda *_: "en")
    checkups = Checkups(
        Notices(store, clock, admins),
        look=lambda: outside.looked,
        ask=outside.ask,
        contacts=outside.contacts,
    )
    checkups.first_seconds, checkups.ask_seconds = first, ask
    return checkups


@pytest.fixture
async def aldis(store: Store, clock: SetClock) -> AsyncGenerator[Harness]:
    async with app_harness(store, clock, admins=frozenset({BOB.uuid})) as aldis:
        await aldis.deliver(message("hi", author=BOB))
        await aldis.answered(1)
        yield aldis


async def test_what_is_over_is_told_anew_when_it_comes_back(aldis: Harness, store: Store, clock: SetClock) -> None:
    """Nothing is told of what is well."""
    outside = Outside()
    loop = looking(store, clock, outside)
    for found in (RIGHT, WRONG, RIGHT, WRONG):
        outside.found = (found,)
        await loop.ask()
        await loop.tell()
    await aldis.answered(3)
    await aldis.quiet()
    assert len(aldis.transport.sent) == 3


async def test_what_begins_while_it_runs_is_told_soon(aldis: Harness, store: Store, clock: SetClock) -> None:
    """A model that refused a key need not wait for the next round, and asks no server."""
    outside = Outside()
    loop = looking(store, clock, outside, first=3600)
    async with running(loop.run()):
        outside.looked.append(WRONG)
        loop.wake()
        await aldis.answered(2)
    assert outside.asked == 0


async def test_a_failure_of_the_looking_ends_nothing(aldis: Harness, store: Store, clock: SetClock) -> None:
    """What was found before stands; it is looked at again."""
    outside = Outside(found=(WRONG,))
    loop = looking(store, clock, outside, ask=0.0)
    async with running(loop.run()):
        await aldis.answered(2)
        outside.failure = ValueError("a bug")
        asked = outside.asked
        await eventually(lambda: outside.asked > asked + 1)
        assert loop.findings == (WRONG,)


def completion(provider: str, model: str) -> Completion:
    return replace(says("Yes."), provider=provider, model=model)


def test_a_model_that_fails_for_the_operator_stands_until_it_answers() -> None:
    """A refused key, a wrong name, and a second refusal in a row; what passes by itself is none. Each change is told
    of once.
    """
    troubles, changes = ModelTroubles(), list[None]()
    troubles.on_change = lambda: changes.append(None)
    refused = Rejected("anthropic answered 400 invalid_parameters", provider="anthropic", model="a")
    troubles.on_error(Overloaded("anthropic answered 529", provider="anthropic", model="a"))
    troubles.on_error(refused)
    assert (troubles.findings(), changes) == ((), [])
    refused.times = 2
    missing = NoSuchModel("anthropic answered 404 not_found_error", provider="anthropic", model="a")
    bad_key = BadKey("anthropic answered 401", provider="anthropic", model="a")
    expected = (
        (missing, Notice(kind="model", subject="a")),
        (bad_key, Notice(kind="key", subject="anthropic")),
        (refused, Notice(kind="refusal", subject="a")),
    )
    for error, notice in expected:
        changes.clear()
        for _ in range(2):
            troubles.on_error(error)
        [found] = [one for one in troubles.findings() if one.level == "problem"]
        assert (found.notice, len(changes)) == (notice, 1)
        assert ("LLM__ANTHROPIC__MODEL" in found.advice) == (error is not bad_key)
        troubles.on_answer(completion("anthropic", "b"))
        assert any(one.level == "problem" for one in troubles.findings())
        troubles.on_answer(completion("anthropic", "a-20261101"))
        assert all(one.level == "ok" for one in troubles.findings())
