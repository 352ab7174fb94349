"""A life that ends at a step: the process kills itself with SIGKILL at one of its transactions.

A step is a call of `Store.transaction`: all that Aldis does for good happens in one. It bears the name of the function
that it runs (`Turns.keep`, `Intake._put`, ...). `before` dies when its work is done and not yet committed, `after` when
it is on the disk and its caller has not been told.
"""

import os
import signal
import sys
from collections.abc import Callable
from dataclasses import dataclass
from itertools import count
from typing import Any, Literal

from store import Store

SAID = "died at"
"""Stands before the name of the step in the last line that such a life writes."""


@dataclass(frozen=True, kw_only=True)
class Step:
    """The `number`th step of this name, from 1; without a name the `number`th of all."""

    when: Literal["before", "after"]
    number: int
    name: str = ""


def arm(step: Step) -> None:
    """Let this process die at the step."""
    transaction, steps = Store.transaction, count(1)

    async def mortal(self: Store, work: Callable[[Any], Any]) -> Any:
        name = work.__qualname__.partition(".<locals>")[0]
        if step.name not in {"", name} or next(steps) != step.number:
            return await transaction(self, work)
        if step.when == "before":
            return await transaction(self, lambda repos: (work(repos), _die(step, name)))
        await transaction(self, work)
        return _die(step, name)

    Store.transaction = mortal


def _die(step: Step, name: str) -> None:
    sys.stderr.write(f"{SAID} {step.when} {name}\n")
    sys.stderr.flush()
    os.kill(os.getpid(), signal.SIGKILL)
