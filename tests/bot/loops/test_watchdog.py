"""The watchdog: what it takes for deafness; check-ups are rare and bounded, and no failure in them ends anything."""

import asyncio
import logging
from collections.abc import AsyncGenerator, Sequence
from dataclasses import dataclass, field, replace

import pytest

from bot.chat.notices import Admins, Notice, Notices
from bot.clock import SetClock
from bot.doctor.findings import Finding, ok, problem
from bot.doctor.models import ModelTroubles
from bot.errors import BadKey, Disconnected, NoSuchModel, Overloaded, Rejected
from bot.loops.watchdog import CAPTCHA, CLOSED, SILENCE_SECONDS, SILENT, UNLINKED, UNREACHABLE, Watchdog
from bot.models.base import Completion
from bot.signal.protocol import Release, StreamState
from store import Store
from tests.bot.chat.turn_helpers import says
from tests.bot.loops.app_harness import Harness, app_harness
from tests.bot.loops.fake_transport import FakeTransport, watchdog_of
from tests.servers.envelopes import BOB, message
from tests.waiting import eventually, running

Problems = tuple[str, ...]


@dataclass
class Watch:
    transport: FakeTransport = field(
        default_factory=lambda: FakeTransport(stream=StreamState(is_open=True, heard_at=0.0))
    )
    now: float = 0.0

    def __post_init__(self) -> None:
        self.watchdog = watchdog_of(self.transport, seconds=lambda: self.now)

    async def look(self, *, after: float = 60) -> Problems:
        self.now += after
        self.transport.stream.heard_at = self.now
        await self.watchdog.look()
        return self.watchdog.problems()


@pytest.mark.parametrize(
    ("heard_at", "is_open", "problems"),
    [
        (-SILENCE_SECONDS, True, ()),
        (-SILENCE_SECONDS - 1, True, (SILENT,)),
        (None, True, ()),
        (0.0, False, (CLOSED,)),
        (-SILENCE_SECONDS - 1, False, (CLOSED,)),
    ],
)
def test_a_stream_without_a_sign_of_life(heard_at: float | None, is_open: bool, problems: Problems) -> None:
    """Open is not enough: keep-alives have to come. A stream that is known to be closed is told as such alone."""
    watch = Watch(transport=FakeTransport(stream=StreamState(is_open=is_open, heard_at=heard_at)))
    assert watch.watchdog.problems() == problems


async def test_problems_begin_and_end(caplog: pytest.LogCaptureFixture) -> None:
    """Unlinked on the phone, a bridge that cannot be asked, and a captcha whose token is in no line of the log."""
    caplog.set_level(logging.INFO)
    watch = Watch()
    assert (await watch.look(), watch.watchdog.is_linked, caplog.records) == ((), True, [])
    watch.transport.linked = False
    assert await watch.look() == (UNLINKED,)
    watch.transport.linked = Disconnected("no connection to signal-cli")
    assert await watch.look() == (UNREACHABLE,)
    assert watch.watchdog.is_linked is False
    watch.transport.linked, watch.transport.challenge = True, "token-of-the-captcha"
    assert await watch.look() == (CAPTCHA,)
    assert watch.watchdog.challenge == "token-of-the-captcha"
    watch.transport.challenge = None
    assert await watch.look() == ()
    begin_and_end = [line for problem in (UNLINKED, UNREACHABLE, CAPTCHA) for line in (problem, f"over: {problem}")]
    assert sorted(record.getMessage() for record in caplog.records) == sorted(map(str, begin_and_end))


async def test_a_bridge_over_which_nothing_comes_is_called_deaf_after_a_while() -> None:
    """Not before ten minutes, not where nothing could go out to tell it either, and not any more once it is over."""
    watch = Watch(transport=FakeTransport(stream=StreamState(is_open=False)))
    for _ in range(10):
        await watch.look()
        assert not watch.watchdog.is_deaf
    await watch.look()
    assert watch.watchdog.is_deaf
    watch.transport.linked = Disconnected("away")
    await watch.look()
    assert not watch.watchdog.is_deaf
    watch.transport.linked, watch.transport.stream.is_open = True, True
    await watch.look(after=3600)
    assert not watch.watchdog.is_deaf


# The loop


async def test_it_looks_again_and_again_whatever_happens(caplog: pytest.LogCaptureFixture) -> None:
    """A bug in the watching is logged without its words, and does not end what is watched."""
    transport = FakeTransport(linked=RuntimeError("a secret"))
    watchdog = watchdog_of(transport)
    watchdog.look_seconds = 0
    async with running(watchdog.run()):
        await eventually(lambda: "the watchdog failed: RuntimeError" in caplog.text)
        transport.linked = False
        await eventually(lambda: str(UNLINKED) in caplog.text)
    assert "secret" not in caplog.text


# Check-ups

NOTICE = Notice(kind="key", subject="Tavily")
WRONG = problem("search", "Tavily refuses the key", "correct it", notice=NOTICE)
RIGHT = ok("search", "Tavily answers", notice=NOTICE)


@dataclass
class Outside:
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


def looking(store: Store, clock: SetClock, outside: Outside, *, first: float = 0.0, ask: float = 3600.0) -> Watchdog:
    admins = Admins(clock, listed=lambda: frozenset({BOB.uuid}), language=lambda *_: "en")
    notices = Notices(store, clock, admins)
    watchdog = Watchdog(FakeTransport(), notices, lambda: outside.looked, outside.ask, outside.contacts)
    watchdog.first_seconds, watchdog.ask_seconds, watchdog.check_seconds = first, ask, 0.01
    return watchdog


@pytest.fixture
async def aldis(store: Store, clock: SetClock) -> AsyncGenerator[Harness]:
    async with app_harness(store, clock, admins=frozenset({BOB.uuid})) as aldis:
        await aldis.deliver(message("hi", author=BOB))
        await aldis.answered(1)
        yield aldis


async def test_what_is_over_is_told_anew_when_it_comes_back(aldis: Harness, store: Store, clock: SetClock) -> None:
    """The admins read nothing of what is well."""
    outside = Outside()
    loop = looking(store, clock, outside)
    for found in (RIGHT, WRONG, RIGHT, WRONG):
        outside.found = (found,)
        await loop.ask()
        await loop.tell()
    await aldis.answered(3)
    await aldis.quiet()
    assert len(aldis.transport.sent) == 3


async def test_what_begins_while_it_runs_is_told_once(aldis: Harness, store: Store, clock: SetClock) -> None:
    """A model that refused a key need not wait for the next round, and asks no server."""
    outside = Outside()
    loop = looking(store, clock, outside, first=3600)
    async with running(loop.run()):
        outside.looked.append(WRONG)
        await aldis.answered(2)
        await asyncio.sleep(0.05)
    assert (outside.asked, len(aldis.transport.sent)) == (0, 2)


async def test_a_failure_of_the_looking_ends_nothing(aldis: Harness, store: Store, clock: SetClock) -> None:
    """What was found before stands; it is looked at again."""
    outside = Outside(found=(WRONG,))
    loop = looking(store, clock, outside, ask=0.0)
    async with running(loop.run()):
        await aldis.answered(2)
        outside.failure = ValueError("a bug")
        asked = outside.asked
        await eventually(lambda: outside.asked > asked + 1)
        assert WRONG in loop.findings


async def test_an_old_bridge_is_a_finding_of_a_running_aldis(aldis: Harness) -> None:
    """Signal may drop it: that stands on the health page and the overview, without a notice."""
    await aldis.watchdog.ask()
    assert not [one for one in aldis.watchdog.findings if "signal-cli" in one.words]
    aldis.transport.known_release = Release(bridge="signal_cli", version="0.14.6")
    await aldis.watchdog.ask()
    [found] = [one for one in aldis.watchdog.findings if "signal-cli 0.14.6" in one.words]
    assert (found.level, found.notice) == ("problem", None)


def completion(provider: str, model: str) -> Completion:
    return replace(says("Yes."), provider=provider, model=model)


def test_a_model_that_fails_for_the_operator_stands_until_it_answers() -> None:
    """A refused key, a wrong name, and a second refusal in a row; what passes by itself is none."""
    troubles = ModelTroubles()
    refused = Rejected("anthropic answered 400 invalid_parameters", provider="anthropic", model="a")
    troubles.on_error(Overloaded("anthropic answered 529", provider="anthropic", model="a"))
    troubles.on_error(refused)
    assert troubles.findings() == ()
    refused.is_setup = True
    missing = NoSuchModel("anthropic answered 404 not_found_error", provider="anthropic", model="a")
    bad_key = BadKey("anthropic answered 401", provider="anthropic", model="a")
    expected = (
        (missing, Notice(kind="model", subject="a")),
        (bad_key, Notice(kind="key", subject="anthropic")),
        (refused, Notice(kind="refusal", subject="a")),
    )
    for error, notice in expected:
        troubles.on_error(error)
        [found] = [one for one in troubles.findings() if one.level == "problem"]
        assert found.notice == notice
        assert ("LLM__ANTHROPIC__MODEL" in found.advice) == (error is not bad_key)
        troubles.on_answer(completion("anthropic", "b"))
        assert any(one.level == "problem" for one in troubles.findings())
        troubles.on_answer(completion("anthropic", "a-20261101"))
        assert all(one.level == "ok" for one in troubles.findings())
