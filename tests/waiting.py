"""How tests wait: until a condition holds, so that the speed of the machine does not matter.

A deadline in a test is one of three things: it ends a test that hangs (`WAIT_SECONDS`); Aldis needs one
(`DEADLINE_SECONDS`); or it is what the test is about. Then it is short, and runs against somebody who never answers, so
that a slow machine changes nothing.
"""

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable, Coroutine
from contextlib import asynccontextmanager
from typing import Any, TypeVar

T = TypeVar("T")

WAIT_SECONDS = 300.0
"""The end of a test that hangs. No machine is so slow that it ends another."""

DEADLINE_SECONDS = 60.0
"""A deadline that no answer of a double comes near: the longest that the settings of tools take."""

_LOOK_SECONDS = 0.005
_FIRST_SECONDS = 0.25


async def eventually(holds: Callable[[], object]) -> None:
    """Wait until something holds that nobody announces."""
    async with asyncio.timeout(WAIT_SECONDS):
        while not holds():
            await asyncio.sleep(_LOOK_SECONDS)


async def eventually_found(look: Callable[[], Awaitable[object]]) -> None:
    """Wait until a look that takes time, at a store or a service, finds something."""
    async with asyncio.timeout(WAIT_SECONDS):
        while not await look():
            await asyncio.sleep(_LOOK_SECONDS)


async def all_begun() -> None:
    """Let the loop begin whatever it has taken on: a connection that was accepted has its task a few turns later."""
    for _ in range(10):
        await asyncio.sleep(0)


def let_pass(seconds: float) -> None:
    """Set the running loop's clock ahead, so that whatever is due in this time is due now; its files take no time."""
    loop = asyncio.get_running_loop()
    before = loop.time
    loop.time = lambda: before() + seconds


async def with_enough_time(attempt: Callable[[float], Awaitable[T]], *, is_enough: Callable[[T], object]) -> T:
    """What comes of an attempt whose deadline (in seconds) is to strike when some of the work has been done: the
    deadline is doubled until this machine was fast enough for that.
    """
    seconds = _FIRST_SECONDS
    while not is_enough(found := await attempt(seconds)) and seconds < WAIT_SECONDS:
        seconds *= 2
    return found


@asynccontextmanager
async def running(loop: Coroutine[Any, Any, None]) -> AsyncGenerator[asyncio.Task[None]]:
    task = asyncio.create_task(loop)
    try:
        yield task
    finally:
        task.cancel()
        await asyncio.wait([task])
