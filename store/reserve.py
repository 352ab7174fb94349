"""The disk reserve (ballast): a file that only takes up room, and goes when the disk is full, so that rows can go.

Deleting rows needs room too: it is first written to the log. Without this, words whose time is over would stay for as
long as the disk is full.
"""

import os
from contextlib import suppress
from pathlib import Path


class Ballast:
    """A file of `size_bytes` at `path`; of 0 bytes it is never there."""

    def __init__(self, path: Path, size_bytes: int) -> None:
        self._path = path
        self._size_bytes = size_bytes

    def lay(self) -> None:
        """Makes the file, unless it is there or would leave less room than it takes itself."""
        if self._size_bytes == 0 or (self._path.exists() and self._path.stat().st_size == self._size_bytes):
            return
        room = os.statvfs(self._path.parent)
        if room.f_bavail * room.f_frsize < 2 * self._size_bytes:
            return
        with suppress(OSError):
            descriptor = os.open(self._path, os.O_RDWR | os.O_CREAT, 0o600)
            try:
                # Not a hole: blocks that are really taken.
                os.posix_fallocate(descriptor, 0, self._size_bytes)
            finally:
                os.close(descriptor)

    def drop(self) -> bool:
        """Deletes the file; returns whether it was there."""
        was_there = self._path.exists()
        self._path.unlink(missing_ok=True)
        return was_there
