"""Shutdown: the signals that end a run, and the bound on how long an orderly end may take.

    a signal -------------------------> requested: nothing new is taken in, what runs may end by itself
    its time is over, or a second one -> hurried: what still runs is given up; the next start goes on with it
    MAX_SECONDS after the first -------> whatever hangs: the process ends on the spot, as safely as by a kill

Left to others: what ending means (`bot.service`), what is closed (`bot.app`).
"""

import asyncio
import logging
import os
import signal
import threading
from collections.abc import Callable

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
    """The end of one run.

    `leave` is called `max_seconds` after the end was requested, in a thread of its own: it may be the event loop that
    hangs, or a thread that the interpreter would wait for.
    """

    def __init__(self, *, max_seconds: float = MAX_SECONDS, leave: Callable[[], None] = leave_at_once) -> None:
        self.requested = asyncio.Event()
        self.hurried = asyncio.Event()
        """Set when the end was requested once more."""
        self._limit = threading.Timer(max_seconds, leave)
        self._limit.daemon = True

    def request(self) -> None:
        """Ask for the end; a second time it is hurried up."""
        if self.requested.is_set():
            self.hurried.set()
        else:
            self.requested.set()
            self._limit.start()

    def listen(self, *numbers: signal.Signals) -> None:
        """Request the end when one of these signals comes.

        A hang-up that is ignored stays ignored: `nohup` wants it so.
        """
        for number in numbers:
            if number is not signal.SIGHUP or signal.getsignal(number) is not signal.SIG_IGN:
                asyncio.get_running_loop().add_signal_handler(number, self.request)
