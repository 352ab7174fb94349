"""Work beside the stream that nobody waits for: read receipts, codes for strangers, deleting files nobody will read."""

import asyncio
from collections.abc import Coroutine
from typing import Any

_MAX_ASIDE = 64
"""The limit of simultaneous tasks; beyond it work is dropped, because nothing depends on it."""


class Aside:
    """Tasks beside the stream."""

    def __init__(self) -> None:
        self.tasks: set[asyncio.Task[None]] = set()
        """The running tasks."""

    def begin(self, work: Coroutine[Any, Any, None], name: str) -> None:
        """Starts work that nobody waits for, if there is room."""
        if len(self.tasks) >= _MAX_ASIDE:
            work.close()
            return
        task = asyncio.create_task(work, name=name)
        self.tasks.add(task)
        task.add_done_callback(self.tasks.discard)

    async def aclose(self) -> None:
        """Cancels the running tasks."""
        for task in self.tasks:
            task.cancel()
        await asyncio.gather(*self.tasks, return_exceptions=True)
