"""Aldis later on: `python -m tests.flows.later SECONDS VERB ...` lives so long after now, on the same machine.

The clock on the wall is ahead, and the machine has counted these seconds, too: it was on all the time.
"""

import sys
from datetime import datetime, timedelta

from bot.cli.main import main
from bot.clock import Clock

_AHEAD = timedelta(seconds=int(sys.argv[1]))
_wall, _uptime = Clock.wall, Clock.uptime


def wall(self: Clock) -> datetime:
    return _wall(self) + _AHEAD


def uptime(self: Clock) -> timedelta:
    return _uptime(self) + _AHEAD


Clock.wall, Clock.uptime = wall, uptime
main(sys.argv[2:])
