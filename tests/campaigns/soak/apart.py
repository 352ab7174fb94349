"""`python -m tests.campaigns.soak.apart FILE run`: Aldis in a process group of its own, which tells how its loop turns.

Ctrl-C in a terminal interrupts the whole group, and it is the soak that it is meant for: Aldis is asked to stop by that
afterwards, when what was still under way has come to its end.

The file gets a line for every second (`beats`), and where every thread was when the loop had not turned for half a
second.
"""

import asyncio
import faulthandler
import os
import sys
import threading
import time
from pathlib import Path
from typing import IO

from bot.cli.main import main
from tests.campaigns.soak.beats import Beat, cpu_seconds, stall_line

_BEAT_SECONDS = 0.1
_STALL_SECONDS = 0.5
_BEATS = 10
"""So many are told together."""


class _Watch:
    """Beats on a loop and tells how late; a thread beside it shows where all threads are when a beat does not come."""

    def __init__(self, loop: asyncio.AbstractEventLoop, file: IO[str]) -> None:
        self._loop = loop
        self._file = file
        self._beats = 0
        self._late_seconds = 0.0
        self._due_at = time.monotonic()
        self._has_beaten = threading.Event()

    def start(self) -> None:
        threading.Thread(target=self._show_stalls, name="stalls", daemon=True).start()
        self._beat()

    def _beat(self) -> None:
        now = time.monotonic()
        self._late_seconds = max(self._late_seconds, now - self._due_at)
        self._has_beaten.set()
        self._beats += 1
        if self._beats % _BEATS == 0:
            ran, waited = cpu_seconds(threading.get_native_id())
            beat = Beat(at_seconds=now, late_seconds=self._late_seconds, ran_seconds=ran, waited_seconds=waited)
            self._file.write(f"{beat.line}\n")
            self._file.flush()
            self._late_seconds = 0.0
        self._due_at = time.monotonic() + _BEAT_SECONDS
        self._loop.call_at(self._due_at, self._beat)

    def _show_stalls(self) -> None:
        while True:
            self._has_beaten.clear()
            if not self._has_beaten.wait(_BEAT_SECONDS + _STALL_SECONDS):
                self._file.write(f"{stall_line(time.monotonic())}\n")
                self._file.flush()
                faulthandler.dump_traceback(file=self._file)
                self._has_beaten.wait()


class Watched(asyncio.DefaultEventLoopPolicy):
    """Every loop is watched."""

    def __init__(self, file: IO[str]) -> None:
        super().__init__()
        self._file = file

    def new_event_loop(self) -> asyncio.AbstractEventLoop:
        loop = super().new_event_loop()
        loop.call_soon(_Watch(loop, self._file).start)
        return loop


if __name__ == "__main__":
    os.setpgid(0, 0)
    asyncio.set_event_loop_policy(Watched(Path(sys.argv[1]).open("a", encoding="utf-8")))  # noqa: SIM115
    main(sys.argv[2:])
