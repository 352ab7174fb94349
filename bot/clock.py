"""Time that passes evenly, whatever happens to the machine's clock: people set it, the network corrects it, it pauses.

    now      own time: passes evenly and never goes back; used for everything that waits, expires or is counted
    wall     the machine's clock: for people, for calendars, and to compare with timestamps that others made
    settled  the wall clock, but a step counts only once it has settled: for effects that cannot be undone

Own time starts at the wall clock and advances by the seconds the machine has counted since boot, asleep or awake; it
continues across restarts (`KeptTime`). No program can know what a step of the clock means, so these are the rules:

 * A step back does not change own time: nothing waits longer, and what disappears after five minutes does so.
 * A step ahead counts after it has stood for five minutes, during which it may be a mistake that gets corrected. After
   that it is taken for time that passed while the machine did not count (a virtual machine that was paused): messages
   that expired meanwhile go then, and whatever Aldis itself waits for is extended by as much.
 * The machine's count continues across a restart of Aldis, so a step in between is noticed at the start like any other.
   Across a reboot own time advances by what the clock shows, or not at all if that is before the last known time (a
   machine without a battery). A time before this module was written is never believed.

Daylight saving does not move a machine's clock, which runs in UTC; see `bot.features.reminders.schedules`.
Left to others: believing a settled step and storing own time (`bot.loops.maintenance`).
"""

import asyncio
import threading
import time
import zoneinfo
from collections.abc import Callable
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from pathlib import Path

import tzdata

from store import KeptTime

STANDS_AFTER = timedelta(minutes=5)
"""How long a step of the clock must stand before it counts; network time corrects a wrong one within that."""
_STEP_NS = 1_000_000_000
"""Anything smaller is drift between two clocks, not a step."""
_WRITTEN = datetime(2026, 11, 1, tzinfo=UTC)
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_BOOT = Path("/proc/sys/kernel/random/boot_id")


class Clock:
    """Tells the time by the machine's clock, aware and in UTC; safe to use from several threads."""

    def __init__(
        self,
        *,
        wall_ns: Callable[[], int] = time.time_ns,
        counted_ns: Callable[[], int] | None = None,
        boot: str | None = None,
    ) -> None:
        """The arguments are for tests: the wall clock, the counted time, and the name of this boot."""
        self._wall_ns = wall_ns
        self._counted_ns = counted_ns or _machine_counted_ns
        self._boot = _machine_boot() if boot is None else boot
        self._lock = threading.Lock()
        # Offsets to the counted time.
        self._to_own = self._to_settled = self._wall_ns() - self._counted_ns()
        self._step: tuple[int, int] | None = None
        """A step that does not count yet: its offset, and the counted time since which it has stood."""

    def now(self) -> datetime:
        """Own time: even, never back."""
        return _moment(self._looked() + self._to_own)

    def wall(self) -> datetime:
        """The time the machine's clock shows."""
        return _moment(self._wall_ns())

    def settled_now(self) -> datetime:
        """The wall clock, ignoring a step that has not settled yet."""
        counted_ns = self._looked()
        return self.wall() if self._step is None else _moment(counted_ns + self._to_settled)

    def snapshot(self, step: timedelta = timedelta(0)) -> KeptTime:
        """All of these times at this moment, to be stored, as they are once `step` is believed."""
        counted_ns = self._looked()
        return KeptTime(
            boot=self._boot,
            counted_ns=counted_ns,
            wall_ns=counted_ns + self._to_settled + _duration_ns(step),
            own_ns=counted_ns + self._to_own + max(0, _duration_ns(step)),
        )

    def resume(self, kept: KeptTime) -> None:
        """Continues from where an earlier process stopped."""
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
        """How far the machine's clock was moved, once the step has settled; None without a settled step."""
        counted_ns, step = self._looked(), self._step
        if step is None or counted_ns - step[1] < _duration_ns(STANDS_AFTER) or self.wall() < _WRITTEN:
            return None
        return self.wall() - _moment(counted_ns + self._to_settled)

    def believe(self, step: timedelta) -> None:
        """Accepts a step: own time advances by it if it is ahead."""
        with self._lock:
            self._to_settled += _duration_ns(step)
            self._to_own += max(0, _duration_ns(step))
            self._step = None

    def _looked(self) -> int:
        """Checks whether the clock was set; returns the counted time."""
        with self._lock:
            counted_ns = self._counted_ns()
            to_wall = self._wall_ns() - counted_ns
            if abs(to_wall - self._to_settled) <= _STEP_NS:
                self._step = None
            elif self._step is None or abs(to_wall - self._step[0]) > _STEP_NS:
                self._step = to_wall, counted_ns
            return counted_ns


class _SetHands:
    """The wall clock and the counted time of a machine where time passes only when a test moves it."""

    def __init__(self, at: datetime) -> None:
        self.at_ns = _ns(at)
        self.passed_ns = 0


class SetClock(Clock):
    """A clock that stands still until it is moved or set: its double, with the same rules."""

    def __init__(self, at: datetime, hands: _SetHands | None = None) -> None:
        hands = self._hands = hands or _SetHands(at)
        super().__init__(wall_ns=lambda: hands.at_ns, counted_ns=lambda: hands.passed_ns, boot="set")

    def another(self) -> "SetClock":
        """The clock of another process on the same machine."""
        return SetClock(self.wall(), self._hands)

    def move(self, seconds: float) -> None:
        """Lets this many seconds pass."""
        self._hands.passed_ns += round(seconds * 1e9)
        self.step(seconds)

    def step(self, seconds: float) -> None:
        """Sets the clock ahead by this many seconds (back if negative) without any time passing."""
        self._hands.at_ns += round(seconds * 1e9)


async def is_set_within(event: asyncio.Event, seconds: float | None) -> bool:
    """Waits for an event, at most this many seconds (None: for ever); returns whether it is set."""
    with suppress(TimeoutError):
        async with asyncio.timeout(seconds):
            await event.wait()
    return event.is_set()


def _machine_counted_ns() -> int:
    # macOS's monotonic clock includes sleep; Linux has a separate one for that.
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


def use_newest_time_zones() -> None:
    """Makes `zoneinfo`, which prefers the machine's files, read the package `tzdata` unless they are as new.

    With the files of Debian 12 (2025b) it is an hour too early in Vancouver, Winnipeg and Casablanca since autumn 2026.
    """
    for folder in zoneinfo.TZPATH:
        with suppress(OSError), Path(folder, "tzdata.zi").open(encoding="ascii") as file:
            if file.readline().removeprefix("# version ").strip() >= tzdata.IANA_VERSION:
                return
    zoneinfo.reset_tzpath(to=())
