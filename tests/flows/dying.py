"""Aldis, but it dies: `python -m tests.flows.dying before|after N NAME VERB ...` kills itself with SIGKILL at a step.

A step is a transaction of the store that changes something: all that Aldis does for good happens in one. It bears the
name of the function that it runs (`Turns.keep`, `Intake._write`, ...). `before N NAME` dies when the Nth of this name
has been done and not yet committed, `after N NAME` when it is on the disk and nothing else has happened.
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
_transaction, _committed, _steps = Store._transaction, database._committed, count(1)


def _die() -> None:
    os.kill(os.getpid(), signal.SIGKILL)


async def _named(self: Store, work: Callable[[Any], Any], kept: Callable[[Any], None]) -> Any:
    """Mark the unit of work, if it is of the step's name."""
    if work.__qualname__.partition(".<locals>")[0] != _name:
        return await _transaction(self, work, kept)

    def marked(repos: Any) -> Any:
        _marked.append(True)
        return work(repos)

    return await _transaction(self, marked, kept)


_marked: list[bool] = []
"""One more for each unit of the name in the commit under way."""


def _dying(connection: Any, units: list[Any]) -> None:
    """Commit unit by unit, so that each is a step of its own."""
    for unit in units:
        dies: list[bool] = []
        unit.work = _noting(unit.work, dies)
        _committed(connection, [unit])
        if dies:
            _die()


def _noting(work: Callable[[Any], Any], dies: list[bool]) -> Callable[[Any], Any]:
    def noting(connection: Any) -> Any:
        before = connection.total_changes
        _marked.clear()
        result = work(connection)
        if _marked and connection.total_changes != before and next(_steps) == _number:
            dies.append(True)
            if _when == "before":
                _die()
        return result

    return noting


Store._transaction = _named
database._committed = _dying
main(sys.argv[4:])
