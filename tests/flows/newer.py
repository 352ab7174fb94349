"""A newer Aldis: `python -m tests.flows.newer VERB ...` has one more step of the schema than this one.

With `STEP_FAILS` in the environment the step cannot be carried out.
"""

import os
import sys

from bot.cli.main import main
from store import migrations

_scripts = migrations._scripts
_STEP = "-- What only a newer Aldis knows. Nobody else does.\nCREATE TABLE later (id INTEGER PRIMARY KEY) STRICT;"
_FAILS = "-- What cannot be done.\nCREATE TABLE turns (id INTEGER PRIMARY KEY) STRICT;"


def _more() -> list[tuple[int, str]]:
    known = _scripts()
    return [*known, (known[-1][0] + 1, _FAILS if os.environ.get("STEP_FAILS") else _STEP)]


migrations._scripts = _more
if __name__ == "__main__":  # the process that opens files imports this module, too
    main(sys.argv[1:])
