"""The beats of Aldis's loop: what its own process tells of it once a second, and where its threads were in a stall.

A loop that is late and has waited for a CPU for as long was held up by the machine; one that has run was computing
itself; what is neither waited for another thread, or for the disk.
"""

import json
import re
from contextlib import suppress
from dataclasses import asdict, dataclass
from itertools import pairwise
from pathlib import Path

_STALL = re.compile(r"^stall at ([0-9.]+)$", re.MULTILINE)


def stall_line(at_seconds: float) -> str:
    """What stands above the places of the threads in a stall."""
    return f"stall at {at_seconds:.3f}"


@dataclass(frozen=True, kw_only=True)
class Beat:
    """One second of a loop."""

    at_seconds: float
    """On the monotonic clock."""
    late_seconds: float
    """By how much the loop was late at worst since the one before."""
    ran_seconds: float
    """For how long the loop's thread has run since its start."""
    waited_seconds: float
    """For how long it had something to do and no CPU to do it on."""

    @property
    def line(self) -> str:
        return json.dumps(asdict(self))


@dataclass(frozen=True, kw_only=True)
class Stall:
    """The loop stood still."""

    at_seconds: float
    """On the monotonic clock."""
    threads: str
    """Where all of them were, as `faulthandler` tells it."""


@dataclass(frozen=True, kw_only=True)
class Beats:
    """All of a process."""

    beats: tuple[Beat, ...] = ()
    stalls: tuple[Stall, ...] = ()

    @property
    def waited_share(self) -> float:
        """The share of the time in which the loop had something to do and no CPU."""
        seconds = sum(later.at_seconds - former.at_seconds for former, later in pairwise(self.beats))
        waited = self.beats[-1].waited_seconds - self.beats[0].waited_seconds if self.beats else 0.0
        return waited / seconds if seconds else 0.0

    def since(self, at_seconds: float) -> "Beats":
        """Those after this time."""
        return Beats(
            beats=tuple(beat for beat in self.beats if beat.at_seconds >= at_seconds),
            stalls=tuple(stall for stall in self.stalls if stall.at_seconds >= at_seconds),
        )


def read_beats(file: Path) -> Beats:
    """What a process has told in its file; nothing where there is none."""
    lines = file.read_text("utf-8").splitlines() if file.exists() else []
    beats = tuple(Beat(**json.loads(line)) for line in lines if line.startswith("{"))
    _, *told = re.split(_STALL, "\n".join(line for line in lines if not line.startswith("{")))
    stalls = (Stall(at_seconds=float(at), threads=text.strip()) for at, text in zip(told[::2], told[1::2], strict=True))
    return Beats(beats=beats, stalls=tuple(stalls))


def cpu_seconds(thread: int) -> tuple[float, float]:
    """For how long a thread of this process has run so far, and for how long it waited for a CPU; 0 where nobody tells.

    Source: Linux, sched-stats (2026).
    """
    with suppress(OSError):
        ran, waited, _ = Path(f"/proc/self/task/{thread}/schedstat").read_text("ascii").split()
        return int(ran) / 1e9, int(waited) / 1e9
    return 0.0, 0.0
