"""Work: which turns compute, and which only wait; the store knows it at every moment, also that of a kill.

    async with work.on(turn):            computes: whoever dies now may have been killed by it
        ...
        async with waiting():            waits for a model, a tool, the bridge: whoever dies now was killed by others
            ...

A turn that may have killed a process before is alone among its kind while it computes, so that the next death says
which of them it was; they wait side by side like all others.
"""

import asyncio
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from contextvars import ContextVar
from typing import ParamSpec, TypeVar

from store import Store

_MAX_CHARACTERS = 8_000
"""Of a text that is worked on at once: one of nothing but signs of style takes 35 microseconds for each."""

P = ParamSpec("P")
T = TypeVar("T")


class _Place:
    """One turn at work, or waiting."""

    def __init__(self, store: Store, number: int, alone: asyncio.Lock | None) -> None:
        self._store = store
        self._number = number
        self._alone = alone
        self._has_lock = False
        self._waits = 0
        self._is_over = False

    async def begin(self) -> None:
        if self._is_over:
            return
        if self._alone is not None:
            await self._alone.acquire()
            self._has_lock = True
        self._store.working.begin(self._number)

    def end(self) -> None:
        self._store.working.end(self._number)
        if self._alone is not None and self._has_lock:
            self._has_lock = False
            self._alone.release()

    def finish(self) -> None:
        """It is over, also for what it has begun and left to itself."""
        self._is_over = True
        self.end()

    def wait(self) -> None:
        """Whoever of it waits first, or beside another one."""
        self._waits += 1
        self.end()

    async def go_on(self) -> None:
        """Nothing of it computes before the last one who waited does."""
        self._waits -= 1
        if self._waits == 0:
            await self.begin()


_place: ContextVar[_Place | None] = ContextVar("place", default=None)


class Work:
    """The turns of one store."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._alone = asyncio.Lock()

    @asynccontextmanager
    async def on(self, number: int, *, is_suspect: bool = False) -> AsyncGenerator[None]:
        """This turn (or urgent item, see `store.working`) is worked at until the end of the context."""
        place = _Place(self._store, number, self._alone if is_suspect else None)
        token = _place.set(place)
        try:
            await place.begin()
            yield
        finally:
            place.finish()
            _place.reset(token)


async def work_out(text: str, work: Callable[P, T], *arguments: P.args, **named: P.kwargs) -> T:
    """What the work on this text gives; on a long one it is done in a thread, for nobody else is to wait for it."""
    if len(text) <= _MAX_CHARACTERS:
        return work(*arguments, **named)
    return await asyncio.to_thread(work, *arguments, **named)


def waiting() -> "OpenWork":
    """What is awaited inside this context happens elsewhere; beside a turn it changes nothing."""
    return OpenWork()


class OpenWork:
    """As `waiting` says: a class, for a turn waits a dozen times, and a generator costs three times as much."""

    def __init__(self) -> None:
        self._place = _place.get()

    async def __aenter__(self) -> None:
        if self._place is not None:
            self._place.wait()

    async def __aexit__(self, *_: object) -> None:
        if self._place is not None:
            await self._place.go_on()
