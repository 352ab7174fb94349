"""A newer Aldis: `python -m tests.flows.newer VERB ...` has one more table than this one.

With `STEP_FAILS` in the environment its schema cannot be made.
"""

import os
import sys

from bot.cli.main import main
from store import migrations

_MORE = "-- What only a newer Aldis knows. Nobody else does.\nCREATE TABLE later (id INTEGER PRIMARY KEY) STRICT;"
_FAILS = "-- What cannot be done.\nCREATE TABLE turns (id INTEGER PRIMARY KEY) STRICT;"
migrations.NEWEST += 1
migrations.SCRIPT += _FAILS if os.environ.get("STEP_FAILS") else _MORE
if __name__ == "__main__":  # the process that opens files imports this module, too
    main(sys.argv[1:])
