"""Memory for what is heavy: pictures and documents, kept as long as a model may have to be shown them.

A turn that waits for its model keeps what came with it. Words are light; for the rest there is a limited amount of
memory, and a turn that needs more than is left waits for others to end. A turn that needs none never waits.
"""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager


class MemoryRoom:
    """A number of bytes. A request for more than all of them is granted when nothing else is there."""

    def __init__(self, size_bytes: int) -> None:
        self._size_bytes = size_bytes
        self._taken_bytes = 0
        self._freed = asyncio.Event()
        self._queue = asyncio.Lock()  # lets those that wait in one after the other, in the order in which they came

    @asynccontextmanager
    async def of(self, size_bytes: int) -> AsyncGenerator[None]:
        """Reserves this much memory until the end of the block; waits until it is free, unless none is needed."""
        if size_bytes > 0:
            async with self._queue:
                while not self._has(size_bytes):
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
