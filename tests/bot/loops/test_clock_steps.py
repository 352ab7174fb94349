"""Somebody sets the machine's clock: nothing waits longer, nothing goes early, and nobody is told nonsense."""

import asyncio
from datetime import timedelta

import pytest

from bot.app import own_clock
from bot.clock import STANDS_AFTER, SetClock
from bot.errors import NotSent, SendUnknown
from bot.i18n import phrases
from store import Store
from tests.bot.commands.test_commands import ask
from tests.bot.features.reminders.test_reminders import come, texts
from tests.bot.loops.app_harness import Harness, app_harness
from tests.bot.loops.test_sender import come_to, states
from tests.servers.envelopes import message

MINUTE, HOUR, DAY = 60.0, 3600.0, 86_400.0
STOOD = STANDS_AFTER.total_seconds() + 1
STEPS = (-20 * MINUTE, -DAY, HOUR, DAY)


async def passes(aldis: Harness, seconds: float) -> None:
    """Let time pass, with the loops looking now and then, as they do."""
    for _ in range(4):
        aldis.clock.move(seconds / 4)
        await aldis.maintenance.expire()
    aldis.store.wakeups["outbox"].set()


async def set_clock(aldis: Harness, seconds: float) -> None:
    """Set the clock, and let the loops see it."""
    aldis.clock.step(seconds)
    await aldis.maintenance.expire()


# What waits


@pytest.mark.parametrize("seconds", STEPS)
async def test_what_was_refused_does_not_wait_for_the_old_time(store: Store, clock: SetClock, seconds: float) -> None:
    """It goes out after its pause, whatever the clock shows by then; also where the process begins anew meanwhile."""
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
    clock = clock.another()
    await own_clock(store, clock)
    async with app_harness(store, clock) as aldis:
        await aldis.maintenance.recover()
        await aldis.sender.recover()
        await passes(aldis, 10)
        await come_to(store, "sent")


@pytest.mark.parametrize("seconds", STEPS)
async def test_a_send_in_doubt_waits_for_its_proof_as_long_as_ever(
    store: Store, clock: SetClock, seconds: float
) -> None:
    """Not shorter, or people see it twice; not longer, or they wait. Also where the step begins to count meanwhile."""
    async with app_harness(store, clock) as aldis:
        await set_clock(aldis, seconds)
        await passes(aldis, STOOD - 30)
        aldis.transport.sends = [SendUnknown("silence")]
        await aldis.deliver(message("hello"))
        await come_to(store, "unknown")
        for _ in range(59):
            clock.move(1)
            await aldis.maintenance.expire()
        assert clock.settled_now() == clock.wall()
        store.wakeups["outbox"].set()
        await asyncio.sleep(0.05)
        assert await states(store) == ["unknown"]
        await passes(aldis, 1)
        await come_to(store, "sent")


@pytest.mark.parametrize("seconds", STEPS)
async def test_a_step_that_counts_does_so_in_the_next_process_at_once(
    store: Store, clock: SetClock, seconds: float
) -> None:
    """Own time does not go back if this one is killed right after, and nothing is put off a second time."""
    async with app_harness(store, clock) as aldis:
        await aldis.maintenance.recover()
        await set_clock(aldis, seconds)
        await passes(aldis, STOOD)
    other = clock.another()
    await own_clock(store, other)
    assert (other.now(), other.settled_now()) == (clock.now(), clock.wall())
    assert other.standing() is None


# What disappears


@pytest.mark.parametrize("seconds", STEPS)
async def test_what_disappears_does_so_in_its_time(store: Store, clock: SetClock, seconds: float) -> None:
    """Neither later for a clock set back, nor at once for one that is set ahead and soon back again."""
    async with app_harness(store, clock) as aldis:
        await aldis.deliver(message("secret", expires_in_seconds=240))
        await aldis.answered(1)
        await aldis.quiet()
        await set_clock(aldis, seconds)
        await passes(aldis, 120)
        assert await aldis.count("SELECT count(*) FROM history")
        await set_clock(aldis, -seconds)
        await passes(aldis, 119)
        assert await aldis.count("SELECT count(*) FROM history")
        await set_clock(aldis, seconds)
        await passes(aldis, 2)
        assert not await aldis.count("SELECT count(*) FROM history")


# Calendars


async def test_reminders_do_not_come_for_a_clock_that_is_corrected(store: Store, clock: SetClock) -> None:
    """They would come at once, and never again; a clock that stays ahead is right, and they are late."""
    async with app_harness(store, clock) as aldis:
        await ask(aldis, "/remind at 20:00 tea")
        await set_clock(aldis, DAY)
        await passes(aldis, 200)
        await come(aldis)
        await set_clock(aldis, -DAY)
        await passes(aldis, 200)
        await come(aldis)
        assert len(aldis.transport.sent) == 1
        await set_clock(aldis, 8 * HOUR)
        await passes(aldis, STOOD)
        await come(aldis)
        assert "tea" in texts(aldis, 1)[0]


# Too old


@pytest.mark.parametrize("seconds", STEPS)
async def test_a_fresh_message_is_fresh_by_any_clock(store: Store, clock: SetClock, seconds: float) -> None:
    """How long it waited at Signal is told by Signal's clock, how long it waited here by own time."""
    async with app_harness(store, clock, settings={"intake": {"max_age": 600}}) as aldis:
        await set_clock(aldis, seconds)
        await passes(aldis, STOOD)
        sent_at = int((clock.wall() - timedelta(seconds=seconds)).timestamp() * 1000)
        await aldis.deliver(message("hello", sent_at=sent_at))
        await aldis.answered(1)
        assert aldis.transport.sent[0].content.text != phrases.TOO_OLD.text


# Health, and a store that fails
