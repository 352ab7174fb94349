"""Server-sent events: bytes go in as they arrive, the data of whole events comes out.

Accepts lines that end in LF, CR or CRLF, chunks that are cut anywhere, and data of several lines. Left to others: the
connection and its silence (`signal_cli`); names, ids and retry times, which signal-cli's stream does not use.

Source: WHATWG HTML, "Server-sent events", 9.2.6 (2026-11-21).
"""

import re
from collections.abc import Iterator

MAX_EVENT_BYTES = 4 * 1024 * 1024
"""Longer events are skipped: nothing that Signal carries comes near."""

_LINE_END = re.compile(rb"\r\n|\n|\r")


class EventParser:
    """Puts events together; one for each connection."""

    def __init__(self, max_event_bytes: int = MAX_EVENT_BYTES) -> None:
        self._max_event_bytes = max_event_bytes
        self._line = bytearray()
        self._data: list[bytes] = []
        self._size_bytes = 0
        self._after_cr = False
        self._too_long = 0
        self._comments = 0

    def taken_comments(self) -> int:
        """Returns how many comments, such as signal-cli's keep-alives, have come since the last call."""
        count, self._comments = self._comments, 0
        return count

    def taken_too_long(self) -> int:
        """Returns how many events were skipped for being too long since the last call."""
        count, self._too_long = self._too_long, 0
        return count

    def feed(self, chunk: bytes) -> Iterator[str]:
        """Yields the data of the events that this chunk completes, in order; invalid UTF-8 is replaced."""
        for line in self._lines(chunk):
            if line:
                self._take(line)
            elif (data := self._completed()) is not None:
                yield data

    def _lines(self, chunk: bytes) -> Iterator[bytes]:
        if self._after_cr and chunk.startswith(b"\n"):
            chunk = chunk[1:]  # The second half of a CRLF that was cut in two.
        self._after_cr = chunk.endswith(b"\r")
        *ended, rest = _LINE_END.split(chunk)
        for part in ended:
            self._grow(part)
            line, self._line = bytes(self._line), bytearray()
            yield line
        self._grow(rest)

    def _grow(self, part: bytes) -> None:
        """Adds to the line; an event that has become too long is counted, but no longer kept."""
        self._size_bytes += len(part)
        if part and self._size_bytes > self._max_event_bytes:
            # One byte stands for the line, so that it does not pass for the blank line that ends an event.
            part, self._line = b":", bytearray()
            self._data.clear()
        self._line += part

    def _take(self, line: bytes) -> None:
        if self._size_bytes > self._max_event_bytes:
            return
        field, _, value = line.partition(b":")
        self._comments += not field
        if field == b"data":
            self._data.append(value.removeprefix(b" "))
        else:
            self._size_bytes -= len(line)  # Keep-alives come for ever and belong to no event.

    def _completed(self) -> str | None:
        data, too_long = self._data, self._size_bytes > self._max_event_bytes
        self._data, self._size_bytes = [], 0
        self._too_long += too_long
        return b"\n".join(data).decode("utf-8", "replace") if data and not too_long else None
