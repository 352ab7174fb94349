"""The files of a store: the database, and beside it files with the same name and a suffix. One of them is a reserve."""

import os
from contextlib import suppress
from pathlib import Path


def beside(path: Path, ending: str) -> Path:
    """Returns the file beside this database with the given suffix, such as `-keys`, `-wal` or `-lock`."""
    return path.with_name(path.name + ending)


def master_key_path(path: Path) -> Path:
    """Returns where the master key is kept when the settings give none."""
    return beside(path, "-master-key")


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
