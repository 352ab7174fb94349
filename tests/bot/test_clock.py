"""The clock: a step of the machine's counts once it is followed, and one of more than a day is doubted for a while."""

from datetime import UTC, datetime, timedelta

import pytest

from bot.clock import STANDS_AFTER, Clock, SetClock
from tests.conftest import NOON

MINUTE, HOUR, DAY = 60.0, 3600.0, 86_400.0
NONE = timedelta(0)


class Machine:
    """What a machine shows and counts; several processes may live on it, one after the other."""

    def __init__(self) -> None:
        self.wall_seconds = NOON.timestamp()
        self.counted_seconds = 1000.0
        self.boot = "first"

    def passes(self, seconds: float) -> None:
        self.counted_seconds += seconds
        self.wall_seconds += seconds

    def restarts(self, seconds: float) -> None:
        self.wall_seconds += seconds
        self.counted_seconds, self.boot = 10.0, self.boot and f"{self.boot}, again"

    def clock(self) -> Clock:
        return _ProcessClock(self)


class _ProcessClock(Clock):
    def __init__(self, machine: Machine) -> None:
        self.machine = machine
        super().__init__()
        self.boot = machine.boot

    def wall(self) -> datetime:
        return datetime.fromtimestamp(self.machine.wall_seconds, UTC)

    def uptime(self) -> timedelta:
        return timedelta(seconds=self.machine.counted_seconds)


@pytest.mark.parametrize("seconds", [-400 * DAY, -20 * MINUTE, 20 * MINUTE, 400 * DAY])
def test_a_step_counts_once_it_is_followed(seconds: float) -> None:
    """Until then time passes evenly; a step that is undone has never been."""
    clock = SetClock(NOON)
    clock.step(seconds)
    clock.move(3)
    assert clock.new_step() == timedelta(seconds=seconds)
    assert clock.now() == NOON + timedelta(seconds=3)
    clock.step(-seconds)
    assert (clock.new_step(), clock.now()) == (NONE, NOON + timedelta(seconds=3))
    clock.step(seconds)
    clock.follow(clock.new_step())
    assert (clock.new_step(), clock.now()) == (NONE, NOON + timedelta(seconds=3 + seconds))


def test_small_differences_between_two_clocks_are_no_step() -> None:
    """The time is what the machine's clock shows."""
    clock = SetClock(NOON)
    for seconds in (0.9, -1.8):
        clock.step(seconds)
        assert clock.new_step() == NONE
    assert clock.now() == NOON - timedelta(seconds=0.9)


@pytest.mark.parametrize("seconds", [-DAY - 1, DAY + 1])
def test_a_step_of_more_than_a_day_is_doubted(seconds: float) -> None:
    """Until it has stood for an hour, or is undone; smaller ones are believed, but not a day by bits."""
    clock = SetClock(NOON)

    def steps(by_seconds: float) -> bool:
        clock.step(by_seconds)
        clock.follow(clock.new_step())
        return clock.doubt_in_words() is not None

    assert steps(seconds)
    assert not steps(-seconds)
    assert not steps(seconds / 2)
    assert steps(seconds)
    clock.move(STANDS_AFTER.total_seconds() - 1)
    assert clock.doubt() == timedelta(seconds=seconds * 1.5)
    clock.move(1)
    assert clock.doubt() == NONE
    assert not steps(DAY)


@pytest.mark.parametrize("seconds", [-3 * DAY, HOUR, 3 * DAY])
def test_a_restart_of_aldis_knows_what_was_followed_and_doubted(seconds: float) -> None:
    """The machine has counted on: a step while Aldis did not run is one like any other; another boot has no count."""
    machine = Machine()
    clock = machine.clock()
    kept = clock.snapshot()
    machine.passes(MINUTE)
    machine.wall_seconds += seconds
    clock = machine.clock()
    clock.resume(kept)
    assert clock.now() == NOON + timedelta(minutes=1)
    clock.follow(clock.new_step())
    assert clock.now() == NOON + timedelta(seconds=MINUTE + seconds)
    for restart in (lambda: None, lambda: machine.restarts(HOUR)):
        kept = clock.snapshot()
        restart()
        clock = machine.clock()
        clock.resume(kept)
        assert clock.new_step() == NONE
        assert clock.now().timestamp() == machine.wall_seconds
        assert bool(clock.doubt()) == (abs(seconds) > DAY)


@pytest.mark.parametrize("boot", ["first", ""])
def test_a_machine_without_a_battery_is_set_back_until_it_is_right(boot: str) -> None:
    """Across a reboot time does not go back; forth it may, as the machine was off. Boots may have no name."""
    machine = Machine()
    machine.boot = boot
    kept = machine.clock().snapshot()
    machine.restarts(-30 * DAY)
    clock = machine.clock()
    clock.resume(kept)
    assert (clock.now(), clock.new_step()) == (NOON, timedelta(days=-30))
    machine.wall_seconds += 30 * DAY + HOUR
    assert clock.new_step() == timedelta(hours=1)
    clock.follow(timedelta(days=-30))
    for passes, is_doubted in ((MINUTE, False), (10 * MINUTE, True)):
        machine.wall_seconds += 3 * DAY
        machine.passes(passes)
        clock.follow(clock.new_step())
        assert bool(clock.doubt()) == is_doubted
    machine.restarts(30 * DAY)
    clock = machine.clock()
    clock.resume(kept)
    assert (clock.now().timestamp(), clock.new_step(), clock.doubt()) == (machine.wall_seconds, NONE, NONE)
