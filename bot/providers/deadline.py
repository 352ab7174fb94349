"""The time of one completion: a silence ends it, and so does its whole length; a model that goes on writing does not.

    asked --silent too long--> TimeoutError
      '-> a piece --silent too long, or all of its time is over--> TimeoutError
             ^ '-> the next piece --.
             '----------------------'

Left to others: what a piece is (`bot.providers.streams`), what becomes of what was written (the adapters, `fallback`).
"""

import asyncio
from types import TracebackType
from typing import Self

from bot.providers.base import Request


class Deadline:
    """The deadline of a request, as a context that raises TimeoutError; it can be entered again for what is left."""

    def __init__(self, request: Request, *, grace_seconds: float = 0.0) -> None:
        """It begins now; `grace_seconds` is how much later than the request says it ends."""
        self._loop = asyncio.get_running_loop()
        self._silent_seconds = request.timeout_seconds + grace_seconds
        self._total_seconds = grace_seconds + (
            request.timeout_seconds if request.total_seconds is None else request.total_seconds
        )
        self._began_at = self._heard_at = self._loop.time()
        self._timeout: asyncio.Timeout | None = None
        self.has_heard = False
        """Whether any piece has come."""

    @property
    def ends_at(self) -> float:
        """When it ends, on the loop's clock, unless another piece comes."""
        return min(self._heard_at + self._silent_seconds, self._began_at + self._total_seconds)

    @property
    def left_seconds(self) -> float:
        """How long that is from now."""
        return self.ends_at - self._loop.time()

    @property
    def seconds(self) -> float:
        """How long ago it began."""
        return self._loop.time() - self._began_at

    @property
    def story(self) -> str:
        """What the model did not do in which time, for the log."""
        if not self.has_heard:
            return f"gave no answer in {min(self._silent_seconds, self._total_seconds):g} s"
        if self._heard_at + self._silent_seconds < self._began_at + self._total_seconds:
            return f"wrote nothing more for {self._silent_seconds:g} s"
        return f"did not come to an end in {self._total_seconds:g} s"

    def extend(self) -> None:
        """Notes that a piece has come."""
        self.has_heard, self._heard_at = True, self._loop.time()
        if self._timeout is not None and not self._timeout.expired():
            self._timeout.reschedule(self.ends_at)

    async def __aenter__(self) -> Self:
        self._timeout = asyncio.timeout_at(self.ends_at)
        await self._timeout.__aenter__()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        timeout, self._timeout = self._timeout, None
        if timeout is not None:
            await timeout.__aexit__(kind, error, trace)
