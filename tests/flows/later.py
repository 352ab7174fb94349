"""Aldis later on: `python -m tests.flows.later SECONDS VERB ...` has a clock that is so far ahead of the machine's."""

import sys
from datetime import datetime, timedelta

from bot.cli import main
from bot.clock import MachineClock

_now, _ahead = MachineClock.now, timedelta(seconds=float(sys.argv[1]))


def _later(self: MachineClock) -> datetime:
    return _now(self) + _ahead


MachineClock.now = _later
main(sys.argv[2:])
