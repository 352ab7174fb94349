"""Aldis on a machine whose clock somebody sets: `python -m tests.flows.set_clock FILE VERB ...`.

The file says by how many seconds the clock is ahead of the right time (back where negative).
"""

import sys
import time
from pathlib import Path

from bot.cli.main import main
from bot.clock import MachineClock

_file = Path(sys.argv[1])


def _wall_ns() -> int:
    return time.time_ns() + int(_file.read_text("ascii")) * 1_000_000_000


assert MachineClock.__init__.__kwdefaults__ is not None
MachineClock.__init__.__kwdefaults__["wall_ns"] = _wall_ns
main(sys.argv[2:])
