"""Time that passes only when there is nothing left to do: an event loop that jumps from timer to timer."""

import asyncio
import threading
from collections.abc import Coroutine, Generator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from typing import Any, TypeVar

from bot.clock import Clock

T = TypeVar("T")

EPOCH = datetime(2026, 11, 21, 12, 0, tzinfo=UTC)
_UP_SECONDS = 86_400
"""How long the machine has been up by then."""


class _Jumps:
    """Stands where an event loop keeps its selector: there are no files to wait for, so waiting is jumping."""

    def __init__(self, woken: threading.Event) -> None:
        self.now = 0.0
        self.is_patient = False
        self._woken = woken

    def select(self, timeout_seconds: float | None) -> list[Any]:
        if self.is_patient and timeout_seconds != 0:
            self._woken.wait()
            self._woken.clear()
        elif timeout_seconds is None:
            raise RuntimeError("everybody waits, and no timer is set: nothing would ever happen again")
        else:
            self.now += timeout_seconds
        return []


class VirtualLoop(asyncio.BaseEventLoop):
    """An event loop without files and signals, whose time is a number."""

    def __init__(self) -> None:
        super().__init__()
        self.set_by_seconds = 0.0
        """By how much the clock on the wall was set since the story began."""
        self._woken = threading.Event()
        self._selector = _Jumps(self._woken)
        # Sums of floats: a timer that is due in less than this is due.
        self._clock_resolution = 1e-6

    def time(self) -> float:
        return self._selector.now

    def _process_events(self, event_list: list[Any]) -> None:
        """There are none."""

    def _write_to_self(self) -> None:
        self._woken.set()


@contextmanager
def time_standing_still() -> Generator[None]:
    """Time stands still in the running loop, which waits for another thread."""
    selector = _running()._selector
    selector.is_patient = True
    try:
        yield
    finally:
        selector.is_patient = False


class MachineClock(Clock):
    """The clock of that machine, which the operator may have set."""

    def __init__(self) -> None:
        super().__init__()
        self.boot = "story"

    def wall(self) -> datetime:
        return EPOCH + timedelta(seconds=_running().time() + _running().set_by_seconds)

    def uptime(self) -> timedelta:
        return timedelta(seconds=_UP_SECONDS + _running().time())


def set_clock(seconds: float) -> None:
    _running().set_by_seconds += seconds


def millis_now() -> int:
    return round((EPOCH.timestamp() + _running().time() + _running().set_by_seconds) * 1000)


def _running() -> VirtualLoop:
    loop = asyncio.get_running_loop()
    assert isinstance(loop, VirtualLoop)
    return loop


def run(story: Coroutine[Any, Any, T]) -> T:
    loop = VirtualLoop()
    try:
        result = loop.run_until_complete(story)
        loop.run_until_complete(loop.shutdown_asyncgens())
        return result
    finally:
        loop.close()
