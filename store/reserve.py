"""The disk reserve, the file `<name>-ballast`: a file that only takes up space and is deleted when the disk is full.

Deleting rows needs space, as it is first written to the log. Without the reserve, expired words would stay for as long
as the disk is full.
"""

import os
from contextlib import suppress
from pathlib import Path


class DiskReserve:
    """A file of `size_bytes` at `path`; 0 bytes means no file."""

    def __init__(self, path: Path, size_bytes: int) -> None:
        self._path = path
        self._size_bytes = size_bytes

    def create(self) -> None:
        """Creates the file, unless it exists or would leave less space than it takes."""
        if self._size_bytes == 0 or (self._path.exists() and self._path.stat().st_size == self._size_bytes):
            return
        room = os.statvfs(self._path.parent)
        if room.f_bavail * room.f_frsize < 2 * self._size_bytes:
            return
        with suppress(OSError):
            descriptor = os.open(self._path, os.O_RDWR | os.O_CREAT, 0o600)
            try:
                # Not a sparse file: the blocks are really taken.
                os.posix_fallocate(descriptor, 0, self._size_bytes)
            finally:
                os.close(descriptor)

    def release(self) -> bool:
        """Deletes the file; returns whether it existed."""
        was_there = self._path.exists()
        self._path.unlink(missing_ok=True)
        return was_there
