"""Room in memory for what is heavy: pictures and documents, as long as somebody may have to show them to a model.

A turn that waits for its model keeps what came with it. Words are light; of what is not, there is room for so much at
the same time, and a turn that needs more waits for others to end. A turn that needs nothing never waits.
"""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager


class MemoryRoom:
    """So many bytes. More than all of them is let in when nothing else is there."""

    def __init__(self, size_bytes: int) -> None:
        self._size_bytes = size_bytes
        self._taken_bytes = 0
        self._freed = asyncio.Event()

    @asynccontextmanager
    async def of(self, size_bytes: int) -> AsyncGenerator[None]:
        """Have so much room until the end of the context; waits until there is, unless nothing is needed."""
        while size_bytes > 0 and not self._has(size_bytes):
            self._freed.clear()
            await self._freed.wait()
        self._taken_bytes += size_bytes
        try:
            yield
        finally:
            self._taken_bytes -= size_bytes
            self._freed.set()

    def _has(self, size_bytes: int) -> bool:
        return self._taken_bytes == 0 or self._taken_bytes + size_bytes <= self._size_bytes
