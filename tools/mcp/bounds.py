"""How much an MCP server may say: what goes beyond it would cost the memory and the time of everybody."""

import math
import time

MAX_ANSWER_BYTES = 12_000_000
"""Of one answer: the largest picture, written as letters."""

MAX_ANSWER_VALUES = 250_000
"""Of one answer: 12 MB of empty lists, or of texts without a letter, take a gigabyte and seven seconds of everybody's
time once they are read (measured 2026-11-24)."""

_VALUES = (b"{", b"[", b'":', b'",')


class Count:
    """At most so many in each span of time."""

    def __init__(self, most: int, seconds: float) -> None:
        self._most = most
        self._seconds = seconds
        self._begun_at = -math.inf
        self._counted = 0

    def admits(self, more: int = 1) -> bool:
        """Whether so many more are not too many."""
        now = time.monotonic()
        if now - self._begun_at > self._seconds:
            self._begun_at, self._counted = now, 0
        self._counted += more
        return self._counted <= self._most


def values_in(data: bytes) -> int:
    """How many values JSON may hold, without reading it: its lists, objects, names and texts."""
    return sum(map(data.count, _VALUES))
