"""Aldis on a machine whose clock somebody sets: `python -m tests.flows.set_clock FILE VERB ...`.

The file says by how many seconds the clock is ahead of the right time (back where negative); `set_hands` writes it.
"""

import sys
import time
from pathlib import Path

from bot.cli.main import main
from bot.clock import Clock


def set_hands(file: Path, seconds: int) -> None:
    """Set the clock. The file is replaced: one that is written over is empty for a moment, and a process reads it."""
    new = file.with_suffix(".new")
    new.write_text(str(seconds), "ascii")
    new.replace(file)


if __name__ == "__main__":
    _file = Path(sys.argv[1])

    def _wall_ns() -> int:
        return time.time_ns() + int(_file.read_text("ascii")) * 1_000_000_000

    assert Clock.__init__.__kwdefaults__ is not None
    Clock.__init__.__kwdefaults__["wall_ns"] = _wall_ns
    main(sys.argv[2:])
