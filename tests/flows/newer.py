"""A newer Aldis: `python -m tests.flows.newer VERB ...` has one more table than this one.

With `STEP_FAILS` in the environment its schema cannot be made.
"""

import os
import sys

from bot.cli.main import main
from store import migrations

_newest = migrations._newest
_MORE = "-- What only a newer Aldis knows. Nobody else does.\nCREATE TABLE later (id INTEGER PRIMARY KEY) STRICT;"
_FAILS = "-- What cannot be done.\nCREATE TABLE turns (id INTEGER PRIMARY KEY) STRICT;"


def _later() -> tuple[int, str]:
    number, script = _newest()
    return number + 1, script + (_FAILS if os.environ.get("STEP_FAILS") else _MORE)


migrations._newest = _later
if __name__ == "__main__":  # the process that opens files imports this module, too
    main(sys.argv[1:])
