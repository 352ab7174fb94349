"""Places at a database: a few queries at once, of which one person has at most half."""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager


class Places:
    """The places of one database. Further queries of a person wait for that person's own, and for nobody else's."""

    def __init__(self, count: int) -> None:
        """`count` is how many queries the database answers at once, at least two."""
        self._all = asyncio.Semaphore(count)
        self._each = count // 2
        self._own: dict[str, asyncio.Semaphore] = {}
        self._users: dict[str, int] = {}

    @asynccontextmanager
    async def place(self, person: str) -> AsyncGenerator[None]:
        """Holds one place; waits for it as long as the caller does."""
        own = self._own.setdefault(person, asyncio.Semaphore(self._each))
        self._users[person] = self._users.get(person, 0) + 1
        try:
            # The own one first: whoever waits for a place of all could otherwise fill the queue of the others.
            async with own, self._all:
                yield
        finally:
            self._users[person] -= 1
            if not self._users[person]:
                del self._users[person], self._own[person]
