"""A kill switch: a place in a double. When a request of Aldis reaches it, Aldis is killed while it is under way."""

import asyncio
from dataclasses import dataclass, field

PLACES = ("model asked", "model answered", "tool asked", "send begun", "send out")
"""A request has arrived and nothing has been done; the model's answer was written whole, or the message has gone out to
people, and Aldis has not been told."""


@dataclass
class KillSwitch:
    """Armed at one place at a time."""

    place: str | None = None
    tripped: asyncio.Event = field(default_factory=asyncio.Event)
    _disarmed: asyncio.Event = field(default_factory=asyncio.Event)

    def arm(self, place: str) -> None:
        """Wait for the next request that comes by this place."""
        self.place, self.tripped, self._disarmed = place, asyncio.Event(), asyncio.Event()

    def disarm(self) -> None:
        """Aldis is dead: let go what was held."""
        self.place = None
        self._disarmed.set()

    def is_at(self, place: str) -> bool:
        return self.place == place

    async def passed(self, place: str) -> bool:
        """Whether it was armed here; then this returns only when Aldis is dead."""
        if not self.is_at(place):
            return False
        self.place = None
        self.tripped.set()
        await self._disarmed.wait()
        return True
