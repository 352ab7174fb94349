"""The clocks: own time is even whatever is done to the machine's clock, which counts when it has stood."""

from datetime import datetime, timedelta

import pytest

from bot.clock import STANDS_AFTER, Clock
from tests.conftest import NOON

MINUTE, HOUR, DAY = 60.0, 3600.0, 86_400.0
STOOD = STANDS_AFTER.total_seconds() + 1


class Machine:
    """What a machine shows and counts; several processes may live on it, one after the other."""

    def __init__(self, at: datetime = NOON) -> None:
        self.wall_seconds = at.timestamp()
        self.counted_seconds = 1000.0
        self.boot = "first"

    def passes(self, seconds: float) -> None:
        self.counted_seconds += seconds
        self.wall_seconds += seconds

    def restarts(self, seconds: float) -> None:
        """It was off for so long, and its clock went on meanwhile."""
        self.wall_seconds += seconds
        self.counted_seconds, self.boot = 10.0, f"{self.boot}, again"

    def clock(self) -> Clock:
        return Clock(
            wall_ns=lambda: round(self.wall_seconds * 1e9),
            counted_ns=lambda: round(self.counted_seconds * 1e9),
            boot=self.boot,
        )


def believed(clock: Clock) -> timedelta | None:
    """What maintenance does."""
    step = clock.standing()
    if step is not None:
        clock.believe(step)
    return step


@pytest.mark.parametrize("seconds", [-400 * DAY, 20 * MINUTE])
def test_own_time_passes_evenly_over_a_step(seconds: float) -> None:
    """Ahead or back: what waits is neither due at once nor muted; and a step that is undone soon has never been."""
    machine = Machine()
    clock = machine.clock()
    machine.wall_seconds += seconds
    for _ in range(4):
        machine.passes(MINUTE)
        assert clock.standing() is None
    assert clock.now() == NOON + timedelta(minutes=4)
    assert clock.settled_now() == NOON + timedelta(minutes=4)
    assert clock.wall() == NOON + timedelta(minutes=4, seconds=seconds)
    machine.wall_seconds -= seconds
    machine.passes(10 * MINUTE)
    assert believed(clock) is None
    assert clock.now() == clock.wall() == clock.settled_now() == NOON + timedelta(minutes=14)


@pytest.mark.parametrize(("seconds", "ahead"), [(-DAY, 0), (HOUR, HOUR)])
def test_a_step_that_stands_counts(seconds: float, ahead: float) -> None:
    """One ahead is time that has passed; one back brings nothing back. It counts once."""
    machine = Machine()
    clock = machine.clock()
    machine.wall_seconds += seconds
    assert clock.standing() is None
    machine.passes(STOOD)
    step = clock.standing()
    assert step is not None
    assert step == timedelta(seconds=seconds)
    clock.believe(step)
    assert clock.settled_now() == clock.wall()
    assert clock.now() == NOON + timedelta(seconds=STOOD + ahead)
    machine.passes(STOOD)
    assert clock.standing() is None
    assert clock.now() == NOON + timedelta(seconds=2 * STOOD + ahead)


def test_a_step_has_to_stand_as_it_is() -> None:
    """Another one begins the five minutes anew; small differences between two clocks are no step."""
    machine = Machine()
    clock = machine.clock()
    machine.wall_seconds += HOUR
    assert clock.standing() is None
    machine.passes(STOOD - 2)
    machine.wall_seconds += HOUR
    assert clock.standing() is None
    machine.passes(2)
    assert clock.standing() is None
    machine.passes(STOOD)
    machine.wall_seconds += 0.5
    assert believed(clock) == timedelta(hours=2, seconds=0.5)
    machine.wall_seconds -= 0.9
    machine.passes(STOOD)
    assert believed(clock) is None


def test_a_time_before_anything_was_written_is_never_believed() -> None:
    """A machine that lost its battery says 1970 until the network tells it better."""
    machine = Machine()
    clock = machine.clock()
    machine.wall_seconds = 60.0
    assert clock.standing() is None
    machine.passes(10 * HOUR)
    assert clock.standing() is None
    assert clock.settled_now() == NOON + timedelta(hours=10)


@pytest.mark.parametrize("seconds", [-DAY, HOUR])
def test_own_time_goes_on_over_a_restart_of_aldis(seconds: float) -> None:
    """The machine has counted on: a step while nobody looked is a step like any other."""
    machine = Machine()
    kept = machine.clock().snapshot()
    machine.passes(MINUTE)
    machine.wall_seconds += seconds
    clock = machine.clock()
    clock.resume(kept)
    assert clock.now() == clock.settled_now() == NOON + timedelta(minutes=1)
    machine.passes(STOOD)
    assert believed(clock) == timedelta(seconds=seconds)
    assert clock.now() == NOON + timedelta(seconds=MINUTE + STOOD + max(0, seconds))
