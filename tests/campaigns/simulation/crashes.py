"""Steps and deaths: at each step Aldis may die, and from that instant on nothing that it does has any effect.

A step is a commit that changes something (about to happen, or just happened), a message on its way out, a completion, a
run of a tool, a receipt. Death is as by SIGKILL: no cleanup reaches the store or the outside.
"""

import asyncio
from collections.abc import Collection
from typing import NoReturn


class Killed(BaseException):
    """Raised inside the store's work at the step at which Aldis dies."""


async def never() -> NoReturn:
    """What somebody waits for whom nobody will answer."""
    await asyncio.get_running_loop().create_future()
    raise AssertionError("nobody resolves this future")


class Steps:
    """All steps of a story, counted over all lives of Aldis; at those of the given numbers it dies."""

    def __init__(self, deadly: Collection[int] = ()) -> None:
        self.deadly = frozenset(deadly)
        self.count = 0
        self.trace: list[str] = []

    def taken(self, what: str) -> bool:
        """Count one more; gives whether Aldis dies at it."""
        self.count += 1
        dies = self.count in self.deadly
        self.note(f"{self.count}. {what}{' *** killed here' if dies else ''}")
        return dies

    def note(self, what: str) -> None:
        self.trace.append(f"{asyncio.get_running_loop().time():9.3f} s  {what}")


class Life:
    def __init__(self, number: int, steps: Steps) -> None:
        self.number = number
        self.started_at = asyncio.get_running_loop().time()
        self.died = asyncio.Event()
        self._steps = steps

    @property
    def is_over(self) -> bool:
        return self.died.is_set()

    def end(self) -> None:
        self.died.set()

    async def step(self, what: str) -> None:
        """A step of something that waits; the dead wait for ever."""
        await self.alive()
        if self._steps.taken(what):
            self.end()
            await never()

    async def alive(self) -> None:
        """Returns at once, to the living."""
        if self.is_over:
            await never()

    def step_of_store(self, what: str) -> None:
        """A step within the store's work; raises `Killed` where it was the last one."""
        if self._steps.taken(what):
            self.end()
            raise Killed
