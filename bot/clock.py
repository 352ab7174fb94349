"""The time, which the machine's clock alone does not tell: it is set, by people, by the network, after a pause.

    now      own time: passes evenly and never goes back. What waits, is due, expires or is counted goes by it
    wall     what the machine's clock shows: for people, for calendars, and for what others stamp by a clock of theirs
    settled  the same, but a step counts only once it has stood: for what cannot be taken back when its day has come

Own time begins as the clock shows it and goes on by the seconds that the machine has counted since it was started,
asleep or awake; it goes on over restarts (`KeptTime`). What a step of the clock means nobody can know, so this is
decided:

 * A step back changes own time not at all. Nothing waits longer, nobody is mute until the old time comes again, and
   what disappears after five minutes does so after five minutes.
 * A step ahead counts once it has stood for five minutes; own time is ahead by as much from then on. Until then it may
   be a mistake that is corrected, and nothing is destroyed for it, early, never to come back. After that it is taken
   for time that has passed while the machine did not count: a virtual machine that was paused with its computer's lid.
   Words whose time ran out meanwhile go then, at most these five minutes late. What Aldis itself waits for (the proof
   of a send, a person's word) is put off by as much: nobody could give it while nothing passed.
 * Two steps within five minutes that undo each other have never been.
 * Over a restart of Aldis the seconds that the machine counted go on, so a step meanwhile is seen at the start like any
   other. Over a restart of the machine nobody counts: own time is ahead by what the clock shows, and not at all where
   it shows a time before the last one known (a machine without a battery, until the network tells it the time).
 * A time from before this was written is never believed.

Daylight saving moves no clock of a machine, which has UTC; it is the matter of `bot.policy.schedules`.
Left to others: believing a step that stands, and keeping own time (`bot.loops.maintenance`), pulling in what an older
Aldis has put off too far (the loops, at the start).
"""

import asyncio
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Protocol

from store import KeptTime

STANDS_AFTER = timedelta(minutes=5)
"""How long a step of the clock has to stand before it counts: network time corrects a wrong one within that."""
_STEP_NS = 1_000_000_000
"""Less is the pace of two clocks, and no step."""
_WRITTEN = datetime(2026, 11, 1, tzinfo=UTC)
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_BOOT = Path("/proc/sys/kernel/random/boot_id")


class Clock(Protocol):
    """Tells the time, aware and in UTC."""

    def now(self) -> datetime:
        """Own time: even, never back."""
        ...

    def wall(self) -> datetime:
        """What the machine's clock shows."""
        ...

    def settled_now(self) -> datetime:
        """What the machine's clock shows, without a step that has not stood yet."""
        ...

    def snapshot(self) -> KeptTime:
        """How the times stand now."""
        ...

    def standing(self) -> timedelta | None:
        """By how much the machine's clock was set, where that stands long enough to count; None: it was not set."""
        ...

    def believe(self, step: timedelta) -> Callable[[], None]:
        """This step counts from now on; own time is ahead by one that is ahead. Gives what takes it back."""
        ...


class MachineClock:
    """The machine's own clock. Safe to be asked from several threads."""

    def __init__(
        self,
        *,
        wall_ns: Callable[[], int] = time.time_ns,
        counted_ns: Callable[[], int] | None = None,
        boot: str | None = None,
    ) -> None:
        """The arguments are what a test replaces: the clock on the wall, what is counted, the name of the run."""
        self._wall_ns = wall_ns
        self._counted_ns = counted_ns or _machine_counted_ns
        self._boot = _machine_boot() if boot is None else boot
        self._lock = threading.Lock()
        # What has to be added to the seconds counted.
        self._to_own = self._to_settled = self._wall_ns() - self._counted_ns()
        self._step: tuple[int, int] | None = None
        """A step that does not count yet: what would have to be added, and since when (counted) that stands."""

    def now(self) -> datetime:
        """Own time: even, never back."""
        return _moment(self._looked() + self._to_own)

    def wall(self) -> datetime:
        """What the machine's clock shows."""
        return _moment(self._wall_ns())

    def settled_now(self) -> datetime:
        """What the machine's clock shows, without a step that has not stood yet."""
        counted_ns = self._looked()
        return self.wall() if self._step is None else _moment(counted_ns + self._to_settled)

    def snapshot(self) -> KeptTime:
        """How the times stand now."""
        counted_ns = self._looked()
        return KeptTime(
            boot=self._boot,
            counted_ns=counted_ns,
            wall_ns=counted_ns + self._to_settled,
            own_ns=counted_ns + self._to_own,
        )

    def resume(self, kept: KeptTime) -> None:
        """Go on from where an earlier process stood."""
        with self._lock:
            counted_ns, wall_ns = self._counted_ns(), self._wall_ns()
            if kept.boot and kept.boot == self._boot and counted_ns >= kept.counted_ns:
                self._to_own, self._to_settled = kept.own_ns - kept.counted_ns, kept.wall_ns - kept.counted_ns
            else:
                wall_ns = max(wall_ns, kept.wall_ns)
                self._to_own = kept.own_ns + wall_ns - kept.wall_ns - counted_ns
                self._to_settled = wall_ns - counted_ns
            self._step = None

    def standing(self) -> timedelta | None:
        """By how much the machine's clock was set, where that stands long enough to count; None: it was not set."""
        counted_ns, step = self._looked(), self._step
        if step is None or counted_ns - step[1] < _duration_ns(STANDS_AFTER) or self.wall() < _WRITTEN:
            return None
        return self.wall() - _moment(counted_ns + self._to_settled)

    def believe(self, step: timedelta) -> Callable[[], None]:
        """This step counts from now on; own time is ahead by one that is ahead. Gives what takes it back."""
        before = self._to_settled, self._to_own

        def take_back() -> None:
            self._to_settled, self._to_own = before

        with self._lock:
            self._to_settled += _duration_ns(step)
            self._to_own += max(0, _duration_ns(step))
            self._step = None
        return take_back

    def begin_after(self, at: datetime) -> None:
        """Own time is not before `at`: so late was it once, as far as is known."""
        self._to_own = max(self._to_own, _ns(at) - self._counted_ns())

    def _looked(self) -> int:
        """Look whether the clock was set; gives the seconds counted."""
        with self._lock:
            counted_ns = self._counted_ns()
            to_wall = self._wall_ns() - counted_ns
            if abs(to_wall - self._to_settled) <= _STEP_NS:
                self._step = None
            elif self._step is None or abs(to_wall - self._step[0]) > _STEP_NS:
                self._step = to_wall, counted_ns
            return counted_ns


class _SetHands:
    """What a machine shows and counts where nothing passes by itself."""

    def __init__(self, at: datetime) -> None:
        self.at_ns = _ns(at)
        self.passed_ns = 0


class SetClock(MachineClock):
    """A clock that stands still until time passes or it is set: the double of the machine's, with the same rules."""

    def __init__(self, at: datetime, hands: _SetHands | None = None) -> None:
        hands = self._hands = hands or _SetHands(at)
        super().__init__(wall_ns=lambda: hands.at_ns, counted_ns=lambda: hands.passed_ns, boot="set")

    def another(self) -> "SetClock":
        """The clock of another process on the same machine."""
        return SetClock(self.wall(), self._hands)

    def move(self, seconds: float) -> None:
        """Let so many seconds pass."""
        self._hands.passed_ns += round(seconds * 1e9)
        self.step(seconds)

    def step(self, seconds: float) -> None:
        """Set the clock ahead by so many seconds (back where negative), in no time."""
        self._hands.at_ns += round(seconds * 1e9)


async def is_set_within(event: asyncio.Event, seconds: float | None) -> bool:
    """Wait for an event, at most so many seconds, None: for ever; gives whether it is set."""
    with suppress(TimeoutError):
        async with asyncio.timeout(seconds):
            await event.wait()
    return event.is_set()


def _machine_counted_ns() -> int:
    # What macOS calls monotonic goes on while the machine sleeps; Linux has another one for that.
    return time.clock_gettime_ns(getattr(time, "CLOCK_BOOTTIME", time.CLOCK_MONOTONIC))


def _machine_boot() -> str:
    with suppress(OSError):
        return _BOOT.read_text("ascii").strip()
    return ""


def _moment(ns: int) -> datetime:
    return _EPOCH + timedelta(microseconds=ns // 1000)


def _ns(at: datetime) -> int:
    return _duration_ns(at - _EPOCH)


def _duration_ns(duration: timedelta) -> int:
    return duration // timedelta(microseconds=1) * 1000
