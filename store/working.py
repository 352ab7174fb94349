"""What the process is working on and asks of models, in a small file beside the database that survives a kill.

    begin --written, not synced--> the number is in the file --end--> it is not
    ask   --likewise-------------> the question is in it -----answer-> it is not

A killed process leaves the numbers of what it was working on; everything else only waited and cannot have killed it.
It also leaves the questions to models that nobody will get an answer to: their vendors bill them all the same.
The kernel keeps what a killed process has written. No turn is to blame for a power cut, so the file starts with the
boot id of the machine and is ignored after a reboot. A number is a turn id, or the negative id of an urgent item.
"""

import os
import struct
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path

_HEAD_BYTES = 64
_FORMAT = b"2"
"""Changes with the records: those of another version of Aldis are ignored."""
_RECORD = struct.Struct("<qq48s64s")
"""The number; of a question also what it costs in billionths of a dollar, the provider and the model."""
_NANO = Decimal("1e9")
_BOOT = Path("/proc/sys/kernel/random/boot_id")


@dataclass(frozen=True, kw_only=True, slots=True)
class OpenCall:
    """A question to a model whose answer is waited for."""

    turn: int
    provider: str
    model: str
    """Names that are too long are cut off."""
    cost_usd: Decimal
    """Of the question alone."""


class Working:
    """The file of this process; `left` is what the previous one was working on when it died, `unanswered` what it was
    asking models.
    """

    def __init__(self, path: Path) -> None:
        """Takes the file over from the previous process.

        Raises:
            OSError: it cannot be written.
        """
        self._head = (_FORMAT + _boot().encode("ascii"))[:_HEAD_BYTES].ljust(_HEAD_BYTES, b"\0")
        self._descriptor = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
        found = os.pread(self._descriptor, 1 << 20, 0)
        head, records = found[:_HEAD_BYTES], found[_HEAD_BYTES:]
        whole = len(records) // _RECORD.size * _RECORD.size if head == self._head else 0
        given = [record for record in _RECORD.iter_unpack(records[:whole]) if record[0]]
        self.left: frozenset[int] = frozenset(number for number, nano, *_ in given if not nano)
        self.unanswered: tuple[OpenCall, ...] = tuple(_call(*record) for record in given if record[1])
        self._places: dict[int, int] = {}
        self._records: dict[int, bytes] = {}
        self._free: list[int] = []
        if not self.left and not self.unanswered:
            self.settle()

    def begin(self, number: int) -> None:
        """Notes that work on it begins; repeating that changes nothing."""
        if number not in self._places:
            self._places[number] = self._put(_RECORD.pack(number, 0, b"", b""))

    def end(self, number: int) -> None:
        """Notes that work on it has paused or ended; does nothing if there was none."""
        place = self._places.pop(number, None)
        if place is not None:
            self._clear(place)

    def ask(self, call: OpenCall) -> int:
        """Notes that a model is asked; returns what names the question to `answer`."""
        nano, provider, model = max(1, round(call.cost_usd * _NANO)), call.provider.encode(), call.model.encode()
        return self._put(_RECORD.pack(call.turn, nano, provider, model))

    def answer(self, question: int) -> None:
        """Notes that nobody waits for the answer to this question any longer."""
        self._clear(question)

    def settle_calls(self) -> None:
        """Clears `unanswered`, once that is recorded elsewhere; `left` stays, in the file as well."""
        self.unanswered = ()
        self._rewrite(_RECORD.pack(number, 0, b"", b"") for number in self.left)

    def settle(self) -> None:
        """Clears `left` and `unanswered`, once both are recorded elsewhere; from now on the file is about this
        process.
        """
        self.left, self.unanswered = frozenset(), ()
        self._rewrite(())

    def close(self) -> None:
        """Ends all work and closes the file."""
        if not self.left and not self.unanswered:
            with suppress(OSError):
                os.ftruncate(self._descriptor, 0)
        os.close(self._descriptor)

    def _put(self, record: bytes) -> int:
        place = self._free.pop() if self._free else len(self._records)
        self._records[place] = record
        self._write(place, record)
        return place

    def _clear(self, place: int) -> None:
        del self._records[place]
        self._free.append(place)
        self._write(place, bytes(_RECORD.size))

    def _rewrite(self, others: Iterable[bytes]) -> None:
        """Writes the file anew: the records of this process, and behind them these others."""
        with suppress(OSError):
            os.ftruncate(self._descriptor, 0)
            os.pwrite(self._descriptor, self._head, 0)
            for place, record in self._records.items():
                self._write(place, record)
            for place, record in enumerate(others, len(self._records) + len(self._free)):
                self._write(place, record)

    def _write(self, place: int, record: bytes) -> None:
        # If the disk is full, a turn that kills the process only shows by its lack of progress.
        with suppress(OSError):
            os.pwrite(self._descriptor, record, _HEAD_BYTES + place * _RECORD.size)


def _call(turn: int, nano: int, provider: bytes, model: bytes) -> OpenCall:
    named = [name.rstrip(b"\0").decode(errors="ignore") for name in (provider, model)]
    return OpenCall(turn=turn, provider=named[0], model=named[1], cost_usd=nano / _NANO)


def _boot() -> str:
    with suppress(OSError):
        return _BOOT.read_text("ascii").strip()
    return ""
