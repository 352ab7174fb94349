"""A tripwire: a place in a double. When a request of Aldis reaches it, Aldis is killed with the request under way."""

import asyncio
from dataclasses import dataclass, field

PLACES = ("model asked", "model answered", "tool asked", "send begun", "send out")
"""A request has arrived and nothing has been done; the model's answer was written whole, or the message has gone out to
people, and Aldis has not been told."""


@dataclass
class Tripwire:
    """One wire, stretched at one place at a time."""

    place: str | None = None
    tripped: asyncio.Event = field(default_factory=asyncio.Event)
    _cut: asyncio.Event = field(default_factory=asyncio.Event)

    def stretch(self, place: str) -> None:
        """Wait for the next request that comes by this place."""
        self.place, self.tripped, self._cut = place, asyncio.Event(), asyncio.Event()

    def cut(self) -> None:
        """Aldis is dead: let go what was held."""
        self.place = None
        self._cut.set()

    def is_at(self, place: str) -> bool:
        return self.place == place

    async def passed(self, place: str) -> bool:
        """Whether the wire was here; then this returns only when Aldis is dead."""
        if not self.is_at(place):
            return False
        self.place = None
        self.tripped.set()
        await self._cut.wait()
        return True
