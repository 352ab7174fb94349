"""Shutdown: the signals that end a process, restarts that end one run of it, and the bound on how long that may take.

    a signal -------------------------> requested: nothing new is taken in, what runs may end by itself
    its time is over, or a second one -> hurried: what still runs is given up; the next start goes on with it
    MAX_SECONDS after the first -------> whatever hangs: the process ends on the spot, as safely as by a kill
    a restart -------------------------> as by the first signal; then another run begins, unless a signal came, too

Left to others: what ending means (`bot.service`), what is closed (`bot.app`).
"""

import asyncio
import logging
import os
import signal
import threading
from collections.abc import Awaitable, Callable

_log = logging.getLogger(__name__)

MAX_SECONDS = 9.0
"""How long an end may take in all. Docker kills after ten.

Source: https://docs.docker.com/reference/cli/docker/container/stop/ (2026-11).
"""


def leave_at_once() -> None:
    """End the process without another word to anybody."""
    _log.error("the end took too long and is cut short; the next start goes on where this one was")
    os._exit(1)


class Shutdown:
    """The end of a process, or of one run of it.

    `leave` is called `max_seconds` after the end was requested, in a thread of its own: it may be the event loop that
    hangs, or a thread that the interpreter would wait for.
    """

    def __init__(self, *, max_seconds: float = MAX_SECONDS, leave: Callable[[], None] = leave_at_once) -> None:
        self.requested = asyncio.Event()
        self.hurried = asyncio.Event()
        """Set when the end was requested once more."""
        self._max_seconds = max_seconds
        self._leave = leave
        self._limit = self._new_limit()
        self._is_final = False

    def request(self) -> None:
        """Ask for the end; a second time it is hurried up."""
        if self._is_final:
            self.hurried.set()
        self._is_final = True
        self._end_run()

    def request_restart(self) -> None:
        """Ask for the end of this run, so that another begins; one that ends already does so no faster."""
        self._end_run()

    @property
    def is_restarting(self) -> bool:
        """Whether this run ends for another to begin."""
        return self.requested.is_set() and not self._is_final

    def begins_again(self) -> bool:
        """Returns, when a run has ended, whether another is to begin; then everything is as before the first."""
        if not self.is_restarting:
            return False
        self._limit.cancel()
        self._limit = self._new_limit()
        self.requested.clear()
        return True

    def _end_run(self) -> None:
        if not self.requested.is_set():
            self.requested.set()
            self._limit.start()

    def _new_limit(self) -> threading.Timer:
        limit = threading.Timer(self._max_seconds, self._leave)
        limit.daemon = True
        return limit

    def listen(self, *numbers: signal.Signals) -> None:
        """Request the end when one of these signals comes.

        A hang-up that is ignored stays ignored: `nohup` wants it so.
        """
        for number in numbers:
            if number is not signal.SIGHUP or signal.getsignal(number) is not signal.SIG_IGN:
                asyncio.get_running_loop().add_signal_handler(number, self.request)


class Restarts:
    """The runs of a process, one after another.

        request --refresh--> refused: the run goes on as it was
                        '--> the run ends as orderly as by a signal --> another begins with what was refreshed

    `refresh` reads and checks what the next run begins with, and raises where it will not do.
    """

    def __init__(self, shutdown: Shutdown, refresh: Callable[[], Awaitable[None]]) -> None:
        self._shutdown = shutdown
        self._refresh = refresh
        self.runs = 1
        """How many have begun, the present one included."""
        self.refused: str | None = None
        """Why the newest settings are not in use, where a run could not begin with them: a line for the operator."""

    async def request(self) -> int:
        """End the present run and begin another with the settings as they are now; gives the number of the present one.

        It returns at once: the end takes seconds.

        Raises:
            ConfigError: the settings are refused; the present run goes on.
        """
        await self._refresh()
        self._shutdown.request_restart()
        return self.runs
