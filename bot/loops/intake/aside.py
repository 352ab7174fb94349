"""Work beside the stream that nobody waits for: read receipts, codes for strangers, files that nobody will read."""

import asyncio
from collections.abc import Coroutine
from typing import Any

_MAX_ASIDE = 64
"""Under way at once; beyond that they are left out, for nothing depends on them."""


class Aside:
    """What is done beside the stream."""

    def __init__(self) -> None:
        self.tasks: set[asyncio.Task[None]] = set()
        """What is under way."""

    def begin(self, work: Coroutine[Any, Any, None], name: str) -> None:
        """Do something that nobody waits for, if there is room for it."""
        if len(self.tasks) >= _MAX_ASIDE:
            work.close()
            return
        task = asyncio.create_task(work, name=name)
        self.tasks.add(task)
        task.add_done_callback(self.tasks.discard)

    async def aclose(self) -> None:
        """Give up what is under way."""
        for task in self.tasks:
            task.cancel()
        await asyncio.gather(*self.tasks, return_exceptions=True)
