"""The time of day: the machine's clock, and what happens when it is set.

The clock notices a step by what the machine has counted since boot, asleep or awake, also across a restart of Aldis;
across a reboot it only knows that time does not go back.

 * `now` takes a step over only when `follow` is called, together with the deadlines of the queues, which move by as
   much (`bot.loops.maintenance`, within seconds). So nothing that is to be tried again waits for the old time.
 * A step of more than a day is in doubt (`doubt`) until it is undone or has stood for an hour. As long as it is,
   nothing is expired or deleted by the clock, and no reminder comes. A smaller one is believed at once; so is one
   ahead within ten minutes of a boot, since a machine without a battery does not know how long it was off.

Waits within the process use the event loop's time.
"""

import asyncio
import time
from collections.abc import Callable
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from pathlib import Path

from store import KeptTime

MAX_STEP = timedelta(days=1)
STANDS_AFTER = timedelta(hours=1)
"""How long a step has to stand to be believed in any case: perhaps a virtual machine was paused."""
_FROM_BOOT = timedelta(minutes=10)
_STEP_NS = 1_000_000_000
"""Anything smaller is drift between two clocks, not a step."""
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_BOOT = Path("/proc/sys/kernel/random/boot_id")


class Clock:
    """Tells the time, aware and in UTC."""

    def __init__(
        self,
        *,
        wall_ns: Callable[[], int] = time.time_ns,
        counted_ns: Callable[[], int] | None = None,
        boot: str | None = None,
    ) -> None:
        """The arguments are for tests: the machine's clock, the counted time, and the name of this boot."""
        self._wall_ns = wall_ns
        self._counted_ns = counted_ns or _machine_counted_ns
        self._boot = boot or ""
        with suppress(OSError):
            self._boot = _BOOT.read_text("ascii").strip() if boot is None else boot
        # By how much each is ahead of the counted time.
        self._followed_ns = self._believed_ns = wall_ns() - self._counted_ns()
        self._since_ns = self._counted_ns()
        """Since when `_followed_ns` has been what it is, in counted time."""

    def now(self) -> datetime:
        """The machine's clock, without a step that is not followed yet."""
        wall_ns, even_ns = self._wall_ns(), self._counted_ns() + self._followed_ns
        return _EPOCH + _duration(wall_ns if abs(wall_ns - even_ns) <= _STEP_NS else even_ns)

    def new_step(self) -> timedelta:
        """How far the clock was set since the last step that was followed; zero: it was not."""
        step_ns = self._wall_ns() - self._counted_ns() - self._followed_ns
        return _duration(step_ns) if abs(step_ns) > _STEP_NS else timedelta(0)

    def follow(self, step: timedelta) -> None:
        """Takes a step over."""
        self._followed_ns += _ns(step)
        self._since_ns = self._counted_ns()
        if step > timedelta(0) and self._since_ns < _ns(_FROM_BOOT):
            self._believed_ns = max(self._believed_ns, self._followed_ns)

    def doubt(self) -> timedelta:
        """How far the clock is from where it was believed last, if that is too far to be believed now; else zero."""
        if self._counted_ns() - self._since_ns >= _ns(STANDS_AFTER):
            self._believed_ns = self._followed_ns
        away = _duration(self._followed_ns - self._believed_ns)
        return away if abs(away) > MAX_STEP else timedelta(0)

    def doubt_in_words(self) -> str | None:
        """Says that the clock is in doubt, what that means, and what to do; None: it is not."""
        if not (away := self.doubt()):
            return None
        way = "ahead" if away > timedelta(0) else "back"
        return (
            f"the machine's clock was set {way} by more than a day: until it is right again, or has shown that for an "
            "hour, nothing is deleted by its time and no reminder comes; set it right if it is wrong (`timedatectl`)"
        )

    def snapshot(self) -> KeptTime:
        """What has to be stored for `resume`."""
        counted_ns = self._counted_ns()
        return KeptTime(
            boot=self._boot,
            counted_ns=counted_ns,
            wall_ns=counted_ns + self._followed_ns,
            believed_ns=counted_ns + self._believed_ns,
        )

    def resume(self, kept: KeptTime) -> None:
        """Continues from what an earlier process stored."""
        counted_ns = self._counted_ns()
        if kept.boot and kept.boot == self._boot and counted_ns >= kept.counted_ns:
            self._followed_ns = kept.wall_ns - kept.counted_ns
        else:
            self._followed_ns = max(self._wall_ns(), kept.wall_ns) - counted_ns
        self._believed_ns = self._followed_ns + kept.believed_ns - kept.wall_ns
        self._since_ns = counted_ns


class SetClock(Clock):
    """A clock that stands still until it is moved or set: its double, with the same rules."""

    def __init__(self, at: datetime, machine: dict[str, int] | None = None) -> None:
        machine = self._machine = machine or {"wall_ns": _ns(at - _EPOCH), "counted_ns": _ns(MAX_STEP)}
        super().__init__(wall_ns=lambda: machine["wall_ns"], counted_ns=lambda: machine["counted_ns"], boot="set")

    def another(self) -> "SetClock":
        """The clock of another process on the same machine."""
        return SetClock(self.now(), self._machine)

    def move(self, seconds: float) -> None:
        """Lets this many seconds pass."""
        self._machine["counted_ns"] += round(seconds * 1e9)
        self.step(seconds)

    def step(self, seconds: float) -> None:
        """Sets the clock ahead by this many seconds (back if negative) without any time passing."""
        self._machine["wall_ns"] += round(seconds * 1e9)


async def is_set_within(event: asyncio.Event, seconds: float | None) -> bool:
    """Waits for an event, at most so many seconds (None: for ever); returns whether it is set."""
    with suppress(TimeoutError):
        async with asyncio.timeout(seconds):
            await event.wait()
    return event.is_set()


def _machine_counted_ns() -> int:
    # macOS's monotonic clock includes sleep; Linux has a separate one for that.
    return time.clock_gettime_ns(getattr(time, "CLOCK_BOOTTIME", time.CLOCK_MONOTONIC))


def _ns(duration: timedelta) -> int:
    return duration // timedelta(microseconds=1) * 1000


def _duration(ns: int) -> timedelta:
    return timedelta(microseconds=ns // 1000)
