"""Aldis, but it dies: `python -m tests.flows.dying before|after N NAME VERB ...` kills itself with SIGKILL at a step.

A step is a transaction of the store that changes something: all that Aldis does for good happens in one. It bears the
name of the function that it runs (`Turns.keep`, `Intake._commit`, ...). `before N NAME` dies when the Nth of this
name has been done and not yet committed, `after N NAME` when it is on the disk and nothing else has happened; an empty
name means any. The last line on standard error names the step.
"""

import os
import signal
import sys
from collections.abc import Callable
from itertools import count
from typing import Any

from bot.cli.main import main
from store import Store, database

_when, _number, _name = sys.argv[1], int(sys.argv[2]), sys.argv[3]
_transaction, _committed, _steps = Store.transaction, database._commit, count(1)


def _die(name: str) -> None:
    sys.stderr.write(f"died at {_when} {name}\n")
    sys.stderr.flush()
    os.kill(os.getpid(), signal.SIGKILL)


async def _named(self: Store, work: Callable[[Any], Any]) -> Any:
    """Mark the unit of work, if it is of the step's name."""
    name = getattr(work, "func", work).__qualname__.partition(".<locals>")[0]

    def marked(repos: Any) -> Any:
        if _name in {"", name}:
            _marked.append(name)
        return work(repos)

    return await _transaction(self, marked)


_marked: list[str] = []
"""The names of the units that have just run, if they are of the step's name."""


def _dying(connection: Any, units: Any) -> None:
    dies: list[str] = []
    for step in units:
        step.work = _watched(step.work, dies)
    _committed(connection, units)
    if dies:
        _die(dies[0])


def _watched(work: Callable[[Any], Any], dies: list[str]) -> Callable[[Any], Any]:
    def watched(connection: Any) -> Any:
        before = connection.total_changes
        _marked.clear()
        result = work(connection)
        if _marked and connection.total_changes != before and next(_steps) == _number:
            dies.append(_marked[0])
            if _when == "before":
                _die(_marked[0])
        return result

    return watched


Store.transaction = _named
database._commit = _dying
main(sys.argv[4:])
