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
import logging
import time
from collections.abc import Awaitable, Callable
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from pathlib import Path

from bot.logs import describe_error
from store import KeptTime

MAX_STEP = timedelta(days=1)
STANDS_AFTER = timedelta(hours=1)
"""How long a step has to stand to be believed in any case: perhaps a virtual machine was paused."""
_FROM_BOOT = timedelta(minutes=10)
_STEP = timedelta(seconds=1)
"""Anything smaller is drift between two clocks, not a step."""
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_BOOT = Path("/proc/sys/kernel/random/boot_id")


class Clock:
    """Tells the time, aware and in UTC."""

    def __init__(self) -> None:
        self.boot = _BOOT.read_text("ascii").strip() if _BOOT.exists() else ""
        self._followed = self._believed = self.wall() - self.uptime()
        """When the machine was started, by the time that is followed, and by the one believed last."""
        self._since = self.uptime()
        """Since when `_followed` has been what it is, in counted time."""

    def wall(self) -> datetime:
        """The machine's clock."""
        return datetime.now(UTC)

    def uptime(self) -> timedelta:
        """What the machine has counted since boot, asleep or awake."""
        # macOS's monotonic clock includes sleep; Linux has a separate one for that.
        return timedelta(seconds=time.clock_gettime(getattr(time, "CLOCK_BOOTTIME", time.CLOCK_MONOTONIC)))

    def now(self) -> datetime:
        """The machine's clock, without a step that is not followed yet."""
        wall = self.wall()
        even = self._followed + self.uptime()
        return wall if abs(wall - even) <= _STEP else even

    def new_step(self) -> timedelta:
        """How far the clock was set since the last step that was followed; zero: it was not."""
        step = self.wall() - self.uptime() - self._followed
        return step if abs(step) > _STEP else timedelta(0)

    def follow(self, step: timedelta) -> None:
        """Takes a step over."""
        self._followed += step
        self._since = self.uptime()
        if step > timedelta(0) and self._since < _FROM_BOOT:
            self._believed = max(self._believed, self._followed)

    def doubt(self) -> timedelta:
        """How far the clock is from where it was believed last, if that is too far to be believed now; else zero."""
        if self.uptime() - self._since >= STANDS_AFTER:
            self._believed = self._followed
        away = self._followed - self._believed
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
        uptime = self.uptime()
        wall_ns, believed_ns = (_ns(boot_at + uptime - _EPOCH) for boot_at in (self._followed, self._believed))
        return KeptTime(boot=self.boot, counted_ns=_ns(uptime), wall_ns=wall_ns, believed_ns=believed_ns)

    def resume(self, kept: KeptTime) -> None:
        """Continues from what an earlier process stored."""
        before = _duration(kept.counted_ns)
        self._since = self.uptime()
        then = _EPOCH + _duration(kept.wall_ns)
        is_same_boot = kept.boot and kept.boot == self.boot and self._since >= before
        self._followed = then - before if is_same_boot else max(self.wall(), then) - self._since
        self._believed = self._followed + _duration(kept.believed_ns - kept.wall_ns)


class SetClock(Clock):
    """A clock that stands still until it is moved or set: its double, with the same rules."""

    def __init__(self, at: datetime) -> None:
        self._wall = at
        self._counted = MAX_STEP
        super().__init__()

    def wall(self) -> datetime:
        """What it was set to."""
        return self._wall

    def uptime(self) -> timedelta:
        """What was let pass."""
        return self._counted

    def move(self, seconds: float) -> None:
        """Lets this many seconds pass."""
        self._counted += timedelta(seconds=seconds)
        self.step(seconds)

    def step(self, seconds: float) -> None:
        """Sets the clock ahead by this many seconds (back if negative) without any time passing."""
        self._wall += timedelta(seconds=seconds)


async def is_set_within(event: asyncio.Event, seconds: float | None) -> bool:
    """Waits for an event, at most so many seconds (None: for ever); returns whether it is set."""
    with suppress(TimeoutError):
        async with asyncio.timeout(seconds):
            await event.wait()
    return event.is_set()


async def again_and_again(
    work: Callable[[], Awaitable[object]], seconds: Callable[[], float], log: logging.Logger, name: str
) -> None:
    """Does the work for ever, each time after so many seconds; a failure is logged and ends nothing."""
    while True:
        await asyncio.sleep(seconds())
        try:
            await work()
        except Exception as error:  # noqa: BLE001  (a bug in what is done beside the messages must not end Aldis)
            log.error("%s failed: %s", name, describe_error(error))  # noqa: TRY400  (its message may quote people)


def _ns(duration: timedelta) -> int:
    return duration // timedelta(microseconds=1) * 1000


def _duration(ns: int) -> timedelta:
    return timedelta(microseconds=ns // 1000)
