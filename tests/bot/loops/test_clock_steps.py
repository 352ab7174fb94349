"""The operator sets the machine's clock: nothing waits for the old time, and of a jump of days nothing is deleted."""

import asyncio
from copy import copy
from datetime import timedelta

import pytest

from bot.app import resumed_clock
from bot.clock import STANDS_AFTER, SetClock
from bot.errors import NotSent, SendUnknown
from bot.i18n import phrases
from bot.metrics import Counts
from store import Store
from store.repository import millis
from tests.bot.chat.turn_helpers import Echo, calls, says, settings_with
from tests.bot.commands.test_commands import ask
from tests.bot.features.reminders.test_reminders import come, texts
from tests.bot.loops.app_harness import Harness, app_harness
from tests.bot.loops.test_sender import come_to
from tests.bot.web.test_health import page_of
from tests.servers.envelopes import BOB, message, receipt
from tests.store.sends import states

MINUTE, HOUR, DAY = 60.0, 3600.0, 86_400.0
STOOD = STANDS_AFTER.total_seconds() + 1
STEPS = (-20 * MINUTE, -3 * DAY, HOUR, 3 * DAY)


async def passes(aldis: Harness, seconds: float) -> None:
    for _ in range(4):
        aldis.clock.move(seconds / 4)
        await aldis.maintenance.expire()
    aldis.store.wakeups["outbox"].set()


async def set_clock(aldis: Harness, seconds: float) -> None:
    aldis.clock.step(seconds)
    await aldis.maintenance.expire()


# What waits


@pytest.mark.parametrize("seconds", STEPS)
async def test_what_was_refused_does_not_wait_for_the_old_time(store: Store, clock: SetClock, seconds: float) -> None:
    """It goes out after its pause. A step is followed once, also where the process begins anew meanwhile."""
    async with app_harness(store, clock) as aldis:
        await aldis.maintenance.recover()
        aldis.transport.sends = [NotSent("busy"), NotSent("busy")]
        await aldis.deliver(message("hello"))
        await aldis.transport.until(lambda: len(aldis.transport.sends) == 1)
        await come_to(store, "waiting")
        await set_clock(aldis, seconds)
        await passes(aldis, 3)
        await aldis.transport.until(lambda: not aldis.transport.sends)
        await come_to(store, "waiting")
        await set_clock(aldis, seconds)
        due_at = await aldis.count("SELECT due_at FROM outbox")
    other = copy(clock)
    await resumed_clock(store, other)
    assert (other.now(), other.new_step(), other.doubt()) == (clock.now(), timedelta(0), clock.doubt())
    async with app_harness(store, other) as aldis:
        await aldis.maintenance.recover()
        await aldis.sender.recover()
        assert await aldis.count("SELECT due_at FROM outbox") == due_at
        await passes(aldis, 10)
        await come_to(store, "sent")


@pytest.mark.parametrize("seconds", STEPS)
async def test_what_waits_for_an_answer_waits_as_long_as_ever(store: Store, clock: SetClock, seconds: float) -> None:
    """A send in doubt for its proof, or people see it twice; a question for its yes, which no reply makes a no."""
    tools = Echo(name="look"), Echo(name="post", effects="once")
    async with app_harness(store, clock, tools=tools) as aldis:
        aldis.transport.sends = [SendUnknown("silence")]
        await aldis.deliver(message("hello", author=BOB))
        await come_to(store, "unknown")
        aldis.model.script = [*(calls((name, {"word": name})) for name in ("look", "post")), says("Not done.")]
        assert (await ask(aldis, "Read the page.")).startswith("May I use post?")
        await passes(aldis, 20)
        await set_clock(aldis, seconds)
        await passes(aldis, 39)
        await asyncio.sleep(0.05)
        assert [state for state, _ in await store.read(states)] == ["unknown", "sent"]
        await passes(aldis, 2)
        await come_to(store, "sent", "sent")
        await passes(aldis, 535)
        assert len(aldis.transport.sent) == 2
        await passes(aldis, 8)
        await aldis.answered(3)
        assert "did not answer in time" in str(aldis.model.requests[-1].messages[-1])


async def test_a_step_that_cannot_be_stored_is_followed_later(aldis: Harness, store: Store, clock: SetClock) -> None:
    """The deadlines and the time move together or not at all."""
    before = clock.now()
    clock.step(HOUR)
    await store.transaction(lambda repos: repos.turns.execute("ALTER TABLE last_time RENAME TO gone"))
    await aldis.maintenance.expire()
    assert clock.now() == before
    await store.transaction(lambda repos: repos.turns.execute("ALTER TABLE gone RENAME TO last_time"))
    await aldis.maintenance.expire()
    assert clock.now() == before + timedelta(hours=1)


async def test_receipts_prove_nothing_until_a_step_is_followed(aldis: Harness, store: Store, clock: SetClock) -> None:
    """What is confirmed then may have been named before the step or after."""
    aldis.transport.sends = [SendUnknown("silence")]
    await aldis.deliver(message("hello"))
    await come_to(store, "unknown")
    clock.step(-30)
    name = millis(clock.now())
    await aldis.deliver(receipt([name]))
    await asyncio.sleep(0.05)
    assert [state for state, _ in await store.read(states)] == ["unknown"]
    await aldis.maintenance.expire()
    await aldis.deliver(receipt([name]))
    await come_to(store, "sent")


# What disappears


@pytest.mark.parametrize("seconds", [-3 * DAY, 3 * DAY])
async def test_nothing_disappears_as_long_as_the_clock_is_in_doubt(
    aldis: Harness, store: Store, clock: SetClock, seconds: float
) -> None:
    """Nor does anything grow too old; the health page says why. What is over by the right time goes once it is set."""
    aldis.maintenance.settings = settings_with(history={"retention_days": 1})
    await aldis.process(message("fleeting", expires_in_seconds=60))
    await set_clock(aldis, 61)  # which is believed
    assert not await aldis.count("SELECT count(*) FROM history")
    await set_clock(aldis, -61)
    await aldis.process(message("secret", expires_in_seconds=240))
    await set_clock(aldis, seconds)
    await passes(aldis, STOOD - 60)
    await aldis.maintenance.tidy()
    assert await aldis.count("SELECT count(*) FROM history")
    page = page_of(store, clock, Counts())
    [words] = [one for one in (await page.state())["problems"] if "clock" in one]
    assert f"set {'ahead' if seconds > 0 else 'back'} by more than a day" in words
    await set_clock(aldis, -seconds)
    assert not [one for one in (await page.state())["problems"] if "clock" in one]
    assert not await aldis.count("SELECT count(*) FROM history")


async def test_a_question_from_before_a_jump_of_days_is_answered(aldis: Harness) -> None:
    """It is neither expired nor too old, and it is remembered."""
    await aldis.held("slow")
    await aldis.deliver(message("fast", expires_in_seconds=240))
    await set_clock(aldis, 3 * DAY)
    aldis.model.gates["slow"].set()
    await aldis.answered(2)
    assert [reply.content.text for reply in aldis.transport.sent] == ["re: slow", "re: fast"]
    assert await aldis.count("SELECT count(DISTINCT turn_id) FROM history") == 2


# Calendars


async def test_reminders_wait_until_a_jump_of_days_is_believed(aldis: Harness) -> None:
    """They would come at once, and never again; a clock that stays ahead is right, and they are late."""
    await ask(aldis, "/remind at 20:00 tea")
    await set_clock(aldis, 3 * DAY)
    await passes(aldis, 200)
    await come(aldis)
    await set_clock(aldis, -3 * DAY)
    await come(aldis)
    assert len(aldis.transport.sent) == 1
    await set_clock(aldis, 3 * DAY)
    await passes(aldis, STOOD)
    await come(aldis)
    assert "tea" in texts(aldis, 1)[0]


# Too old


@pytest.mark.parametrize("seconds", STEPS)
async def test_a_fresh_message_is_fresh_by_any_clock(store: Store, clock: SetClock, seconds: float) -> None:
    """Signal's clock says how long it waited there, ours how long it waited here."""
    async with app_harness(store, clock, settings={"intake": {"max_age": 600}}) as aldis:
        await set_clock(aldis, seconds)
        await passes(aldis, STOOD)
        sent_at = int((clock.now() - timedelta(seconds=seconds)).timestamp() * 1000)
        await aldis.deliver(message("hello", sent_at=sent_at))
        await aldis.answered(1)
        assert aldis.transport.sent[0].content.text != phrases.TOO_OLD.text
