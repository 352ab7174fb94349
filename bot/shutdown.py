"""Shutdown: the signals that end a process, restarts that end one run of it, and the time limit for both.

a signal -----------------------> requested: nothing new is accepted, running work may finish
time is up, or a second signal -> hurried: running work is abandoned; the next start continues it
MAX_SECONDS after the first ----> the process exits on the spot, as safely as if killed
a restart ----------------------> as after the first signal; then another run begins, unless a signal came, too
"""

import asyncio
import logging
import os
import signal
import threading
from collections.abc import Callable

_log = logging.getLogger(__name__)

MAX_SECONDS = 9.0
"""How long a shutdown may take in all. Docker kills after ten.

Source: https://docs.docker.com/reference/cli/docker/container/stop/ (2026-11).
"""


def leave_at_once() -> None:
    """Exits the process."""
    _log.error("the shutdown took too long and was cut short; the next start continues from here")
    os._exit(1)


class Shutdown:
    """The end of a process, or of one run of it: `leave` is called `max_seconds` after it was requested, in a thread of
    its own, because what hangs may be the event loop.
    """

    def __init__(self, *, max_seconds: float = MAX_SECONDS, leave: Callable[[], None] = leave_at_once) -> None:
        self.requested, self.hurried = asyncio.Event(), asyncio.Event()
        self._max_seconds, self._leave = max_seconds, leave
        self._limit: threading.Timer | None = None
        self._is_final = False

    def request(self) -> None:
        """Requests the end; a second request hurries it."""
        if self._is_final:
            self.hurried.set()
        self._is_final = True
        self.request_restart()

    def request_restart(self) -> None:
        """Requests the end of this run, to start another; does not hurry a run that is already ending."""
        if not self.requested.is_set():
            self.requested.set()
            self._limit = threading.Timer(self._max_seconds, self._leave)
            self._limit.daemon = True
            self._limit.start()

    def begins_again(self) -> bool:
        """Returns, after a run has ended, whether another should begin, and if so resets everything for it."""
        if self._is_final or self._limit is None or not self.requested.is_set():
            return False
        self._limit.cancel()
        self.requested.clear()
        return True

    def listen(self, *numbers: signal.Signals) -> None:
        """Requests the end when one of these signals arrives; an ignored hang-up stays ignored, for `nohup`."""
        for number in numbers:
            if number is not signal.SIGHUP or signal.getsignal(number) is not signal.SIG_IGN:
                asyncio.get_running_loop().add_signal_handler(number, self.request)
