"""Memory for what is heavy: pictures and documents, kept as long as a model may have to be shown them.

A turn that waits for its model keeps what came with it. Words are light; for the rest there is a limited amount of
memory, and a turn that needs more than is left waits for others to end. A turn that needs none never waits. One person
can fill the memory, but their next turn waits aside: those of others need not wait behind it.
"""

import asyncio
from collections import Counter
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager


class MemoryLimit:
    """A number of bytes. A request for more than all of them is granted when nothing else is there."""

    def __init__(self, size_bytes: int) -> None:
        self._size_bytes = size_bytes
        self._taken_bytes = 0
        self._held_by = Counter[str]()
        """How many turns of each person have taken some of it."""
        self._freed = asyncio.Event()
        self._queue = asyncio.Lock()  # lets those that wait in one after the other, in the order in which they came

    @asynccontextmanager
    async def of(self, size_bytes: int, *, person: str) -> AsyncGenerator[None]:
        """Reserves this much memory for a person until the end of the block; waits until it is free, unless none is
        needed.
        """
        if size_bytes <= 0:
            yield
            return
        while not await self._take(size_bytes, person):
            pass
        try:
            yield
        finally:
            self._taken_bytes -= size_bytes
            self._held_by -= Counter((person,))
            self._freed.set()

    async def _take(self, size_bytes: int, person: str) -> bool:
        """Takes it once it is free; False if a turn of the same person has taken some first."""
        while self._held_by[person] and not self._has(size_bytes):
            await self._change()
        async with self._queue:
            while not self._has(size_bytes):
                if self._held_by[person]:
                    return False
                await self._change()
            self._taken_bytes += size_bytes
            self._held_by[person] += 1
        return True

    async def _change(self) -> None:
        self._freed.clear()
        await self._freed.wait()

    def _has(self, size_bytes: int) -> bool:
        return self._taken_bytes == 0 or self._taken_bytes + size_bytes <= self._size_bytes
