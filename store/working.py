"""What the process is working on, in a small file beside the database that survives a kill.

    begin --written, not synced--> the number is in the file --end--> it is not

A killed process leaves the numbers of what it was working on; everything else only waited and cannot have killed it.
The kernel keeps what a killed process has written. No turn is to blame for a power cut, so the file starts with the
boot id of the machine and is ignored after a reboot. A number is a turn id, or the negative id of an urgent item.
"""

import os
import struct
from contextlib import suppress
from pathlib import Path

_HEAD_BYTES = 64
_NUMBER = struct.Struct("<q")
_BOOT = Path("/proc/sys/kernel/random/boot_id")


class Working:
    """The file of this process; `left` is what the previous one was working on when it died."""

    def __init__(self, path: Path) -> None:
        """Takes the file over from the previous process.

        Raises:
            OSError: it cannot be written.
        """
        self._head = _boot().encode("ascii")[:_HEAD_BYTES].ljust(_HEAD_BYTES, b"\0")
        self._descriptor = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
        found = os.pread(self._descriptor, 1 << 20, 0)
        head, numbers = found[:_HEAD_BYTES], found[_HEAD_BYTES:]
        whole = len(numbers) // _NUMBER.size * _NUMBER.size
        given: list[int] = [number for (number,) in _NUMBER.iter_unpack(numbers[:whole])]
        self.left: frozenset[int] = frozenset(filter(None, given)) if head == self._head else frozenset()
        self._places: dict[int, int] = {}
        self._free: list[int] = []
        if not self.left:
            self.settle()

    def begin(self, number: int) -> None:
        """Notes that work on it begins; repeating that changes nothing."""
        if number not in self._places:
            place = self._free.pop() if self._free else len(self._places)
            self._places[number] = place
            self._write(place, number)

    def end(self, number: int) -> None:
        """Notes that work on it has paused or ended; does nothing if there was none."""
        place = self._places.pop(number, None)
        if place is not None:
            self._free.append(place)
            self._write(place, 0)

    def settle(self) -> None:
        """Clears `left`, once it is recorded elsewhere; from now on the file is about this process."""
        self.left = frozenset()
        with suppress(OSError):
            os.ftruncate(self._descriptor, 0)
            os.pwrite(self._descriptor, self._head, 0)
            for number, place in self._places.items():
                self._write(place, number)

    def close(self) -> None:
        """Ends all work and closes the file."""
        if not self.left:
            with suppress(OSError):
                os.ftruncate(self._descriptor, 0)
        os.close(self._descriptor)

    def _write(self, place: int, number: int) -> None:
        # If the disk is full, a turn that kills the process only shows by its lack of progress.
        with suppress(OSError):
            os.pwrite(self._descriptor, _NUMBER.pack(number), _HEAD_BYTES + place * _NUMBER.size)


def _boot() -> str:
    with suppress(OSError):
        return _BOOT.read_text("ascii").strip()
    return ""
