"""Work beside the event loop, and side by side."""

import asyncio
from collections.abc import Callable, Coroutine, Iterable
from typing import Any, ParamSpec, TypeVar

_MAX_CHARACTERS = 8_000
"""The longest text that is processed in the event loop; pure style marks take 35 microseconds per character."""

P = ParamSpec("P")
T = TypeVar("T")


async def work_out(text: str, work: Callable[P, T], *arguments: P.args, **named: P.kwargs) -> T:
    """The result of work on this text; for a long one, a thread does it, so that nothing else has to wait."""
    if len(text) <= _MAX_CHARACTERS:
        return work(*arguments, **named)
    return await asyncio.to_thread(work, *arguments, **named)


async def side_by_side(jobs: Iterable[Coroutine[Any, Any, T]]) -> list[T]:
    """Returns what these give, in their order. When one fails, the others are ended.

    Raises:
        Exception: the first error, as it is: callers that wait for its kind do not look into groups.
    """
    try:
        async with asyncio.TaskGroup() as group:
            tasks = [group.create_task(job) for job in jobs]
    except ExceptionGroup as failed:
        raise failed.exceptions[0] from failed
    return [task.result() for task in tasks]
