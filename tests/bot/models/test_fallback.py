"""Several providers as one: who is asked when, what is waited for, and what the ledger hears of the failures."""

import asyncio
import logging
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import pytest

from bot.errors import BadKey, ContextTooLong, Overloaded, ProviderError, Rejected, TooSlow, Unavailable, Unreadable
from bot.messages import UserMessage
from bot.models.base import Completion, Provider, Request
from bot.models.fallback import Fallback
from store import LedgerEntry
from tests.bot.chat.turn_helpers import says

REQUEST = Request(
    system="",
    messages=(UserMessage(text="[Sat 2026-11-21 22:40 UTC] my secret question"),),
    tools=(),
    may_call_tools=True,
    max_output_tokens=100,
    timeout_seconds=60,
    conversation="c",
)

ANSWER = "answer"
Step = type[ProviderError] | tuple[type[ProviderError], float | None] | str


@dataclass
class Machine:
    """A monotonic clock that only pauses and scripted providers move."""

    now: float = 1000.0
    pauses: list[float] = field(default_factory=list)

    def __call__(self) -> float:
        return self.now

    async def pause(self, seconds: float) -> None:
        self.pauses.append(seconds)
        self.now += seconds


@dataclass
class Scripted:
    """A provider that does what its script says, then answers for ever; each try takes `seconds`."""

    name: str
    machine: Machine
    script: list[Step]
    seconds: float = 0.0
    offered_seconds: list[float] = field(default_factory=list)
    total_seconds: list[float | None] = field(default_factory=list)

    async def complete(self, request: Request) -> Completion:
        self.offered_seconds.append(request.timeout_seconds)
        self.total_seconds.append(request.total_seconds)
        self.machine.now += self.seconds
        step = self.script.pop(0) if self.script else ANSWER
        if isinstance(step, str):
            return replace(says("Well."), provider=self.name, model=f"{self.name}-1")
        error, retry_after = step if isinstance(step, tuple) else (step, None)
        raise error("refused", provider=self.name, model=f"{self.name}-1", retry_after_seconds=retry_after)

    async def aclose(self) -> None:
        pass

    @property
    def asked(self) -> int:
        return len(self.offered_seconds)


@dataclass
class Hanging(Scripted):
    begun: asyncio.Event = field(default_factory=asyncio.Event)

    async def complete(self, request: Request) -> Completion:
        self.begun.set()
        await asyncio.Event().wait()
        raise AssertionError


def chain(*scripts: Sequence[Step], fraction: float = 0.5) -> tuple[Machine, Fallback, list[Scripted]]:
    machine = Machine()
    providers = [Scripted(name, machine, list(script)) for name, script in zip("abcdef", scripts, strict=False)]
    return machine, fallback_of(providers, machine, fraction=fraction), providers


def named(*providers: Scripted) -> dict[str, Provider]:
    return {f"{provider.name}/{provider.name}-1": provider for provider in providers}


def fallback_of(providers: Sequence[Scripted], machine: Machine, *others: Scripted, fraction: float = 0.5) -> Fallback:
    named_others = named(*others)
    return Fallback(named(*providers), named_others, monotonic=machine, pause=machine.pause, fraction=lambda: fraction)


def kinds(attempts: Sequence[LedgerEntry]) -> list[tuple[str | None, str]]:
    return [(attempt.provider, attempt.outcome) for attempt in attempts]


async def test_a_failed_provider_is_passed_over_while_it_cools_down() -> None:
    """No pause in a round, the ledger learns of the try, and the next one answers until the cool-down is over."""
    rows: tuple[tuple[type[ProviderError], float | None, float], ...] = (
        (Overloaded, None, 30),
        (Unavailable, None, 30),
        (Overloaded, 4, 4),
        (Overloaded, 86_400, 300),
        (BadKey, None, 300),
        (Rejected, None, 0),
        (Unreadable, None, 0),
    )
    for error, retry_after, cool_seconds in rows:
        machine, fallback, (a, _b) = chain([(error, retry_after)], [])
        a.seconds = 1.5
        completion = await fallback.complete(REQUEST)
        assert completion.provider == "b"
        assert [(one.provider, one.name, one.outcome) for one in completion.attempts] == [("a", "a-1", error.__name__)]
        assert machine.pauses == []
        machine.now += max(0, cool_seconds - 0.001)
        a.seconds = 0
        assert (await fallback.complete(REQUEST)).provider == ("b" if cool_seconds else "a")
        machine.now += 0.002
        assert (await fallback.complete(REQUEST)).provider == "a"


async def test_all_cooling_down_are_asked_anyway() -> None:
    """A late answer is better than none: with nobody ready the providers are asked in their order."""
    _, fallback, (_a, b) = chain([(Overloaded, 200)], [(Overloaded, 200)])
    with pytest.raises(Overloaded):
        await fallback.complete(REQUEST)
    completion = await fallback.complete(REQUEST)
    assert (completion.provider, b.asked) == ("a", 1)


async def test_three_rounds_with_growing_pauses_then_the_last_error() -> None:
    """Transient failures are tried three times with back-off between, and the error carries every try."""
    machine, fallback, _ = chain([Unavailable] * 9, [Unavailable] * 9)
    with pytest.raises(Unavailable) as caught:
        await fallback.complete(REQUEST)
    assert machine.pauses == [0.5, 2.0]
    assert kinds(caught.value.attempts) == [("a", "Unavailable"), ("b", "Unavailable")] * 3


async def test_a_busy_model_is_asked_as_long_as_the_turn_may_last() -> None:
    """First the others; then those that are merely busy, also beyond the time in which a model may be silent."""
    rows: tuple[tuple[Step, str, list[float]], ...] = (
        (Overloaded, "b", [0.5, 2.0, *[10.0] * 7]),
        ((Overloaded, 3), "b", [0.5, 2.0, *[3.0] * 7]),
        ((Overloaded, 45), "b", [0.5, 2.0, *[45.0] * 7]),
    )
    for busy, answers, pauses in rows:
        machine, fallback, (a, _b) = chain([Unavailable] * 9, [busy] * 9)
        completion = await fallback.complete(replace(REQUEST, timeout_seconds=60, total_seconds=600))
        assert (completion.provider, machine.pauses) == (answers, pauses)
        assert a.asked == 3
    machine, fallback, _ = chain([Overloaded] * 99)
    with pytest.raises(Overloaded):
        await fallback.complete(replace(REQUEST, timeout_seconds=60, total_seconds=600))
    assert 580 < sum(machine.pauses) < 600


async def test_refusals_in_a_row_are_counted() -> None:
    """By model, over requests; an answer ends the row."""
    _, fallback, _ = chain([Rejected, Rejected, ANSWER, Rejected])
    told = list[bool]()
    for _ in range(4):
        try:
            await fallback.complete(REQUEST)
        except Rejected as error:
            told.append(error.is_setup)
    assert told == [False, True, False]


async def test_the_back_off_is_jittered() -> None:
    """Many turns that fail at once do not all come back at once."""
    for fraction, pause in ((0.0, 0.25), (1.0, 0.75)):
        machine, fallback, _ = chain([Overloaded], fraction=fraction)
        await fallback.complete(REQUEST)
        assert machine.pauses == [pause]


async def test_an_absurd_pause_is_not_waited_for() -> None:
    """Not an hour, nor more than a moment after a failure; else the shortest of the round replaces the back-off."""
    machine, fallback, (a, _b) = chain([(Overloaded, 3600)], [Unavailable])
    assert (await fallback.complete(REQUEST)).provider == "b"
    assert (a.asked, machine.pauses) == (1, [0.5])
    for step in ((Overloaded, 61), (Unavailable, 11)):
        _, fallback, (lone,) = chain([step])
        with pytest.raises(step[0]):
            await fallback.complete(REQUEST)
        assert lone.asked == 1
    machine, fallback, _ = chain([(Overloaded, 9)], [(Overloaded, 4)])
    completion = await fallback.complete(REQUEST)
    assert (completion.provider, machine.pauses) == ("b", [4])


async def test_failures_for_good_are_not_repeated() -> None:
    """Each is asked once but the one that is busy; when all reject, the first reason counts, else the last."""
    for first, second, failed in ((Rejected, Rejected, "a"), (Rejected, BadKey, "b")):
        machine, fallback, (a, b) = chain([first], [second])
        with pytest.raises(ProviderError) as caught:
            await fallback.complete(REQUEST)
        assert (caught.value.provider, machine.pauses, a.asked, b.asked) == (failed, [], 1, 1)
        assert kinds(caught.value.attempts) == [("a", first.__name__), ("b", second.__name__)]
    _, fallback, (a, b) = chain([BadKey], [Overloaded])
    assert (await fallback.complete(REQUEST)).provider == "b"
    assert (a.asked, b.asked) == (1, 2)


async def test_too_long_a_context_is_raised_at_once() -> None:
    """Only the caller can cut the history, so no other provider is asked; earlier tries are attached."""
    machine, fallback, (_a, _b, c) = chain([Overloaded], [ContextTooLong], [])
    with pytest.raises(ContextTooLong) as caught:
        await fallback.complete(REQUEST)
    assert c.asked == 0
    assert kinds(caught.value.attempts) == [("a", "Overloaded"), ("b", "ContextTooLong")]
    machine.now += 1  # what was too long is no reason to pass over
    assert (await fallback.complete(REQUEST)).provider == "b"


async def test_the_time_that_is_left_is_handed_down() -> None:
    """Half of what is left as long as another comes, the last one all; when it is over, no try and no pause begins."""
    _, fallback, (a, b, c) = chain([Overloaded], [Overloaded], [])
    a.seconds = 20
    await fallback.complete(REQUEST)
    assert (a.offered_seconds, b.offered_seconds, c.offered_seconds) == ([30], [20], [40])
    machine, fallback, (a, b) = chain([Unavailable], [])
    a.seconds = 60
    with pytest.raises(Unavailable):
        await fallback.complete(REQUEST)
    assert (b.asked, machine.pauses) == (0, [])


async def test_a_silent_model_leaves_the_others_their_time() -> None:
    """It is not asked again for this request; one at home has half of all that is left, not only of its own time."""
    _, fallback, (a, b) = chain([TooSlow], [Unavailable])
    a.seconds = 30
    completion = await fallback.complete(replace(REQUEST, total_seconds=600))
    assert (completion.provider, a.asked, b.asked) == ("b", 1, 2)
    assert (a.offered_seconds, b.offered_seconds) == ([30], [60, 60])
    assert (a.total_seconds, b.total_seconds) == ([300], [570, 569.5])


async def test_cancelling_stops_the_try_and_blames_nobody() -> None:
    """A stopped turn is no failure of the provider: the next request asks it again."""
    machine = Machine()
    a, b = Hanging("a", machine, []), Scripted("b", machine, [])
    fallback = fallback_of([a, b], machine)
    for _ in range(2):
        a.begun.clear()
        task = asyncio.create_task(fallback.complete(REQUEST))
        await a.begun.wait()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
    assert b.asked == 0


async def test_the_operator_reads_one_line_for_each_failed_try(caplog: pytest.LogCaptureFixture) -> None:
    """Provider, model and kind of error, a refused key as an error, and no word of the request or the service."""
    caplog.set_level(logging.DEBUG)
    _, fallback, _ = chain([BadKey], [Overloaded], [])
    await fallback.complete(REQUEST)
    lines = [(record.levelname, record.getMessage()) for record in caplog.records if record.name.startswith("bot.")]
    assert lines == [
        ("ERROR", "a (model a-1) did not answer: BadKey (refused)"),
        ("WARNING", "b (model b-1) did not answer: Overloaded (refused)"),
    ]


async def test_the_chosen_model_is_asked_first() -> None:
    """The others stand in for it in their order, each once; a choice that is no longer there is as none."""
    for model, order in (("b/b-1", "ba"), ("d/d-1", "dab"), ("gone/gone-1", "ab"), (None, "ab")):
        machine = Machine()
        a, b, d = (Scripted(name, machine, [Rejected]) for name in "abd")
        fallback = fallback_of([a, b], machine, a, b, d)
        with pytest.raises(Rejected) as caught:
            await fallback.complete(replace(REQUEST, model=model))
        assert [provider for provider, _ in kinds(caught.value.attempts)] == list(order)
