"""Working: what computes at this moment, in a small file beside the database that outlives a kill.

    begin --written, not synced--> the number stands in the file --end--> it does not

A process that was killed leaves the numbers of what it was just working at; all others only waited, and cannot have
killed it. The kernel keeps what a killed process has written; what only a power cut loses was nobody's fault, so the
file begins with the name of the machine's run, and says nothing after another one. A number is a turn's, or with a
minus that of an urgent item of the inbox.
"""

import os
import struct
from contextlib import suppress
from pathlib import Path

_HEAD_BYTES = 64
_NUMBER = struct.Struct("<q")
_BOOT = Path("/proc/sys/kernel/random/boot_id")


class Working:
    """The file of one process; `left` is what the one before was working at when it died."""

    def __init__(self, path: Path) -> None:
        """Take the file over from the process before.

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
        """It is worked at from now on; once more changes nothing."""
        if number not in self._places:
            place = self._free.pop() if self._free else len(self._places)
            self._places[number] = place
            self._write(place, number)

    def end(self, number: int) -> None:
        """It waits, or is over; where it was not worked at, nothing changes."""
        place = self._places.pop(number, None)
        if place is not None:
            self._free.append(place)
            self._write(place, 0)

    def settle(self) -> None:
        """What the process before has left is written down elsewhere; from now on it is about this one."""
        self.left = frozenset()
        with suppress(OSError):
            os.ftruncate(self._descriptor, 0)
            os.pwrite(self._descriptor, self._head, 0)
            for number, place in self._places.items():
                self._write(place, number)

    def close(self) -> None:
        """Nothing is worked at any more."""
        if not self.left:
            with suppress(OSError):
                os.ftruncate(self._descriptor, 0)
        os.close(self._descriptor)

    def _write(self, place: int, number: int) -> None:
        # On a full disk a turn that kills the process is known only by coming no further.
        with suppress(OSError):
            os.pwrite(self._descriptor, _NUMBER.pack(number), _HEAD_BYTES + place * _NUMBER.size)


def _boot() -> str:
    with suppress(OSError):
        return _BOOT.read_text("ascii").strip()
    return ""
