"""Work: tells turns that compute from those that only wait; the store knows it at any moment, even that of a kill.

    async with work.on(turn):            computes: it may be the cause if the process dies now
        ...
        async with waiting():            waits for a model, a tool, the bridge: not the cause if the process dies now
            ...

A turn that may have killed a process before computes only while no other such turn does, so that the next death tells
which of them it was; while waiting they run side by side like all others.
"""

import asyncio
from collections.abc import AsyncGenerator, Callable, Coroutine, Iterable
from contextlib import asynccontextmanager
from contextvars import ContextVar
from typing import Any, ParamSpec, TypeVar

from store import Store

_MAX_CHARACTERS = 8_000
"""The longest text that is processed in the event loop; pure style marks take 35 microseconds per character."""

P = ParamSpec("P")
T = TypeVar("T")


class _Place:
    """One turn, computing or waiting."""

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
        """Ends it for good, including anything it started and left running."""
        self._is_over = True
        self.end()

    def wait(self) -> None:
        """Marks the beginning of a wait, possibly beside another one of the same turn."""
        self._waits += 1
        self.end()

    async def go_on(self) -> None:
        """Marks the end of a wait; the turn computes again when its last wait has ended."""
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
        """Marks this turn (or urgent item, see `store.working`) as computing until the end of the context."""
        place = _Place(self._store, number, self._alone if is_suspect else None)
        token = _place.set(place)
        try:
            await place.begin()
            yield
        finally:
            place.finish()
            _place.reset(token)


async def work_out(text: str, work: Callable[P, T], *arguments: P.args, **named: P.kwargs) -> T:
    """The result of work on this text; for a long one, a thread does it, so that nothing else has to wait."""
    if len(text) <= _MAX_CHARACTERS:
        return work(*arguments, **named)
    return await asyncio.to_thread(work, *arguments, **named)


async def side_by_side(jobs: Iterable[Coroutine[Any, Any, T]]) -> list[T]:
    """Returns what these give, in their order. When one fails, the others are ended.

    Raises:
        Exception: the first error, as it is: whoever waits for its kind does not look into groups.
    """
    try:
        async with asyncio.TaskGroup() as group:
            tasks = [group.create_task(job) for job in jobs]
    except ExceptionGroup as failed:
        raise failed.exceptions[0] from failed
    return [task.result() for task in tasks]


def waiting() -> "OpenWork":
    """Marks what is awaited inside this context as happening elsewhere; has no effect outside of a turn."""
    return OpenWork()


class OpenWork:
    """The context of `waiting`: a class, because a turn waits a dozen times, and a generator costs three times more."""

    def __init__(self) -> None:
        self._place = _place.get()

    async def __aenter__(self) -> None:
        if self._place is not None:
            self._place.wait()

    async def __aexit__(self, *_: object) -> None:
        if self._place is not None:
            await self._place.go_on()
