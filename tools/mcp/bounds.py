"""Limits on what an MCP server may send, as excess would cost everybody's memory and time."""

import math
import time
from typing import Any

MAX_ANSWER_BYTES = 12_000_000
"""Per answer: the largest picture, in base64."""

MAX_ANSWER_VALUES = 100_000
"""Per answer: reading 12 MB of empty lists or texts takes a gigabyte and seven seconds, which everybody waits (measured
2026-11-24). Models are never shown that much of an answer."""

MAX_PARTS = 100
"""The limit of parts read per answer: 240,000 empty texts took sixteen seconds (measured 2026-11-24)."""

MAX_LISTED = 1_000
"""The limit of tools read per page."""

_MAX_LARGEST = 5
"""The limit of largest answers per minute: each blocks the event loop for some tenths of a second."""


class Count:
    """Allows a number of things per period."""

    def __init__(self, limit: int, seconds: float) -> None:
        self._limit = limit
        self._seconds = seconds
        self._begun_at = -math.inf
        self._counted = 0

    def admits(self, more: int = 1) -> bool:
        """Whether this many more are allowed now."""
        now = time.monotonic()
        if now - self._begun_at > self._seconds:
            self._begun_at, self._counted = now, 0
        self._counted += more
        return self._counted <= self._limit


class Volume:
    """The limits of one server."""

    def __init__(self) -> None:
        self._bytes = Count(_MAX_LARGEST * MAX_ANSWER_BYTES, 60.0)
        self._values = Count(_MAX_LARGEST * MAX_ANSWER_VALUES, 60.0)

    def admits(self, size_bytes: int, values: int) -> bool:
        """Whether this much more can be read."""
        is_one_answer = size_bytes <= MAX_ANSWER_BYTES and values <= MAX_ANSWER_VALUES
        return is_one_answer and self._bytes.admits(size_bytes) and self._values.admits(values)


def values_in(data: bytes) -> int:
    """Counts the values in a JSON text without parsing it: each begins a list or an object, or follows a comma. Text in
    quotation marks, which never continues on another line, is skipped. Each line, and each empty list or object, counts
    as one more.

    What stands in quotation marks is passed over, which no line leaves open. Each line, and each list or object that is
    empty, is one more.
    """
    bare = data.replace(rb"\\", b"").replace(rb"\"", b"")
    # A value is one text, and may have a name.
    at_least = bare.count(b'"') // 4 + bare.count(b"\n") + bare.count(b"\r")
    if at_least > MAX_ANSWER_VALUES:
        return at_least
    lines = bare.splitlines()
    outside = b"".join(part for line in lines for part in line.split(b'"')[::2])
    return len(lines) + sum(map(outside.count, (b",", b"[", b"{")))


def cut_lists(result: dict[str, Any]) -> None:
    """Shortens lists of an answer's parts or of tools to what is looked at, before each item becomes an object."""
    for name, limit in (("content", MAX_PARTS + 1), ("tools", MAX_LISTED)):
        if isinstance(found := result.get(name), list):
            del found[limit:]
