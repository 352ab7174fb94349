"""Aldis, but it dies: `python -m tests.flows.dying before|after N VERB ...` kills itself with SIGKILL at a step.

A step is a transaction of the store that changes something: all that Aldis does for good happens in one. `before N`
dies when the Nth has been done and not yet committed, `after N` when it is on the disk and nothing else has happened.
"""

import os
import signal
import sys
from collections.abc import Callable
from itertools import count
from typing import Any

from bot.cli import main
from store import database

_steps = count(1)
_when, _number = sys.argv[1], int(sys.argv[2])
_committed = database._committed


def _die() -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def _dying(connection: Any, units: list[Any]) -> None:
    """Commit unit by unit, so that each is a step of its own."""
    for unit in units:
        changed: list[bool] = []
        unit.work = _noting(unit.work, changed)
        _committed(connection, [unit])
        if changed == [True] and next(_steps) == _number:
            _die()


def _noting(work: Callable[[Any], Any], changed: list[bool]) -> Callable[[Any], Any]:
    def noting(connection: Any) -> Any:
        before = connection.total_changes
        result = work(connection)
        changed.append(connection.total_changes != before)
        if changed == [True] and _when == "before" and _peek() == _number:
            _die()
        return result

    return noting


def _peek() -> int:
    """The number of the step under way."""
    return int(repr(_steps)[len("count(") : -1])


database._committed = _dying
main(sys.argv[3:])
