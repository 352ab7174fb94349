"""Aldis later on: `python -m tests.flows.later SECONDS VERB ...` lives so long after now, on the same machine.

The clock on the wall is ahead, and the machine has counted these seconds, too: it was on all the time.
"""

import sys
import time
from typing import Any

from bot import clock
from bot.cli.main import main
from bot.clock import Clock

_ahead_ns = int(sys.argv[1]) * 1_000_000_000
_begin, _counted_ns = Clock.__init__, clock._machine_counted_ns


def _later(self: Clock, *, wall_ns: Any = time.time_ns, counted_ns: Any = None, boot: str | None = None) -> None:
    _begin(
        self,
        wall_ns=lambda: wall_ns() + _ahead_ns,
        counted_ns=lambda: (counted_ns or _counted_ns)() + _ahead_ns,
        boot=boot,
    )


Clock.__init__ = _later
main(sys.argv[2:])
