"""What the process is working on and what it pays for, in a small file beside the database that survives a kill.

    begin --written, not synced--> the number is in the file ----------------------------> end: it is not
    open  --likewise-------------> the call is in it ---update: with its real cost-------> close: it is not

A killed process leaves the numbers of what it was working on; everything else only waited and cannot have killed it.
It also leaves the paid calls whose cost is recorded nowhere else: their services bill them all the same.
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
from typing import Literal

_HEAD_BYTES = 64
_FORMAT = b"3"
"""Changes with the records: those of another version of Aldis are ignored."""
_RECORD = struct.Struct("<qq5s16s16s48s64s64s")
"""The number; of a paid call also its cost in billionths of a dollar and the fields of `OpenCall`, in their order."""
_WORK = (b"",) * 6
_NANO = Decimal("1e9")
_BOOT = Path("/proc/sys/kernel/random/boot_id")


@dataclass(frozen=True, kw_only=True, slots=True)
class OpenCall:
    """A paid call whose cost is not recorded yet. Names that are too long are cut off."""

    turn: int
    kind: Literal["model", "tool"]
    person: bytes
    """Who pays, as a handle of the ledger."""
    group: bytes
    """The group in which that counts, likewise; empty: none."""
    provider: str
    name: str
    step: str
    """What names it in the turn (`bot.chat.paid_calls`)."""
    cost_usd: Decimal
    """By what is known so far."""


class Working:
    """The file of this process; `left` is what the previous one was working on when it died, `unpaid` the paid calls
    whose cost it had not recorded.
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
        self.unpaid: tuple[OpenCall, ...] = tuple(_call(*record) for record in given if record[1])
        self._places: dict[int, int] = {}
        self._records: dict[int, bytes] = {}
        self._free: list[int] = []
        if not self.left and not self.unpaid:
            self.settle()

    def begin(self, number: int) -> None:
        """Notes that work on it begins; repeating that changes nothing."""
        if number not in self._places:
            self._places[number] = self._put(_RECORD.pack(number, 0, *_WORK))

    def end(self, number: int) -> None:
        """Notes that work on it has paused or ended; does nothing if there was none."""
        place = self._places.pop(number, None)
        if place is not None:
            self._clear(place)

    def open_call(self, call: OpenCall) -> int:
        """Notes a paid call; returns its place in the file."""
        return self._put(_packed(call))

    def update_call(self, place: int, call: OpenCall) -> None:
        """Notes what else is known of the call at this place."""
        self._records[place] = _packed(call)
        self._write(place, self._records[place])

    def close_call(self, place: int) -> None:
        """Notes that the cost of the call at this place is recorded elsewhere."""
        self._clear(place)

    def settle_calls(self) -> None:
        """Clears `unpaid`, once that is recorded elsewhere; `left` stays, in the file as well."""
        self.unpaid = ()
        self._rewrite(_RECORD.pack(number, 0, *_WORK) for number in self.left)

    def settle(self) -> None:
        """Clears `left` and `unpaid`, once both are recorded elsewhere; from now on the file is about this process."""
        self.left, self.unpaid = frozenset(), ()
        self._rewrite(())

    def close(self) -> None:
        """Ends all work and closes the file; the paid calls whose cost could not be recorded stay in it."""
        for number in tuple(self._places):
            self.end(number)
        if not self.left and not self.unpaid and not self._records:
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


def _packed(call: OpenCall) -> bytes:
    nano, texts = max(1, round(call.cost_usd * _NANO)), (call.provider, call.name, call.step)
    return _RECORD.pack(call.turn, nano, call.kind.encode(), call.person, call.group, *map(str.encode, texts))


def _call(turn: int, nano: int, kind: bytes, person: bytes, group: bytes, *texts: bytes) -> OpenCall:
    provider, name, step = (text.rstrip(b"\0").decode(errors="ignore") for text in texts)
    return OpenCall(
        turn=turn,
        kind="tool" if kind == b"tool\0" else "model",
        person=person,
        group=group if any(group) else b"",
        provider=provider,
        name=name,
        step=step,
        cost_usd=nano / _NANO,
    )


def _boot() -> str:
    with suppress(OSError):
        return _BOOT.read_text("ascii").strip()
    return ""
