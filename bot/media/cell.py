"""The inside of a cell: a process of its own, in which one file of a stranger is opened, and which then ends.

A file may be made to crash, stall or bloat whatever opens it. A process can be ended whatever it does, its memory is
bounded, and nothing of Aldis is in its memory: no key, no other message, no open connection. It may not write to the
disk. What its user may read it could read, too, if a file took it over.
It reads the file from standard input and answers on standard output: one line of JSON, then bytes.
Left to others: starting it and ending it in time (`bot.media.warden`), the formats (`pictures`, `papers`).
"""

import json
import resource
import sys
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path

MAX_MEMORY_BYTES = 1_500_000_000
"""Of address space, of which a good part is libraries: a picture of the largest size takes a third of it."""

MAX_CPU_SECONDS = 60
"""For when nobody is left who would end it."""

_BOUNDS = (
    (resource.RLIMIT_AS, MAX_MEMORY_BYTES),
    (resource.RLIMIT_CPU, MAX_CPU_SECONDS),
    (resource.RLIMIT_FSIZE, 0),
    (resource.RLIMIT_CORE, 0),
)

Facts = Mapping[str, str | int | bool]


class Refused(Exception):
    """The file cannot be opened; the message completes "which cannot be opened: ..." for the model."""


def serve(work: Callable[[bytes], tuple[Facts, bytes]]) -> None:
    """Do the work once, from standard input to standard output."""
    _confine()
    try:
        facts, data = work(sys.stdin.buffer.read())
    except Refused as refusal:
        facts, data = {"refused": str(refusal)}, b""
    sys.stdout.buffer.write(json.dumps(facts).encode() + b"\n" + data)
    sys.stdout.buffer.flush()


def _confine() -> None:
    """Bound what the process may take; where the system knows no such bound, the warden's deadline remains."""
    # Where memory runs out after all, the kernel is to end the cell and not Aldis.
    with suppress(OSError):
        Path("/proc/self/oom_score_adj").write_text("1000", encoding="ascii")
    for what, most in _BOUNDS:
        with suppress(ValueError, OSError):
            resource.setrlimit(what, (most, most))
