"""What Linux tells of a process. Source: proc(5) (2026)."""

import os
from dataclasses import dataclass
from pathlib import Path

PROC = Path("/proc")


@dataclass(frozen=True, kw_only=True)
class Usage:
    """What a process holds now, and the CPU time that it has taken so far, in all its threads."""

    resident_bytes: int
    threads: int
    descriptors: int
    cpu_seconds: float


def cpu_seconds(process_id: int) -> float:
    """The user and system time that it has taken so far, all threads; also of one that has just ended."""
    # The name of the program comes before, in brackets; fields 14 and 15.
    fields = (PROC / str(process_id) / "stat").read_text("utf-8").rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def usage(process_id: int) -> Usage:
    """Look at a process. Raises `OSError` where it is gone, or `KeyError` where it ends in this moment."""
    place = PROC / str(process_id)
    status = dict(line.split(":", 1) for line in (place / "status").read_text("utf-8").splitlines())
    return Usage(
        resident_bytes=int(status["VmRSS"].split()[0]) * 1024,
        threads=int(status["Threads"]),
        descriptors=len(list((place / "fd").iterdir())),
        cpu_seconds=cpu_seconds(process_id),
    )
