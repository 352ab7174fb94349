"""The figures of a run: a table for people, JSON for comparing, and the machine they were measured on."""

import json
import os
import platform
import sqlite3
import statistics
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path

_PACKAGES = ("anthropic", "openai", "aiohttp", "pydantic")
_SYNCS = 50
_LOOPS = 7


@dataclass(frozen=True, kw_only=True)
class Figure:
    """One measured value; `most` and `least` are the goal, None where there is none."""

    name: str
    value: float | None
    """None where this machine cannot tell."""
    unit: str = ""
    most: float | None = None
    least: float | None = None

    @property
    def ok(self) -> bool | None:
        """Whether the goal is reached; None without a goal or a value."""
        if self.value is None or (self.most is None and self.least is None):
            return None
        return (self.most is None or self.value <= self.most) and (self.least is None or self.value >= self.least)

    @property
    def goal(self) -> str:
        if self.most is not None:
            return f"at most {self.most:g}"
        return f"at least {self.least:g}" if self.least is not None else ""


def table(figures: Sequence[Figure]) -> str:
    """The figures in aligned columns under a heading."""
    rows = [("figure", "value", "goal", "reached"), *map(_row, figures)]
    widths = [max(len(row[column]) for row in rows) for column in range(4)]
    lines = [
        f"{name:<{widths[0]}}  {value:>{widths[1]}}  {goal:<{widths[2]}}  {ok}".rstrip()
        for name, value, goal, ok in rows
    ]
    return "\n".join([lines[0], "-" * (sum(widths) + 6), *lines[1:]])


def written(figures: Sequence[Figure], machine: dict[str, object], path: Path) -> None:
    """Write everything as JSON."""
    rows = [{**asdict(figure), "ok": figure.ok} for figure in figures]
    path.write_text(json.dumps({"machine": machine, "figures": rows}, indent=2) + "\n", "utf-8")


def machine(folder: Path) -> dict[str, object]:
    """What the figures depend on."""
    return {
        "date": datetime.now(UTC).isoformat(timespec="seconds"),
        "cpu": _cpu(),
        "cores": os.cpu_count(),
        "load_before": os.getloadavg()[0],
        "system": f"{platform.system()} {platform.release()}",
        "python": platform.python_version(),
        "sqlite": sqlite3.sqlite_version,
        "packages": {name: version(name) for name in _PACKAGES},
        "fsync_ms": _fsync_ms(folder),
        "loop_ms": _loop_ms(),
    }


def _row(figure: Figure) -> tuple[str, str, str, str]:
    value = "unknown" if figure.value is None else f"{figure.value:.2f} {figure.unit}".rstrip()
    return figure.name, value, figure.goal, {True: "yes", False: "NO", None: ""}[figure.ok]


def _cpu() -> str:
    path = Path("/proc/cpuinfo")
    lines = path.read_text("utf-8").splitlines() if path.exists() else []
    names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.processor() or platform.machine()


def _loop_ms() -> float:
    """What a million rounds of a loop take: tells a quick machine from a slow or a crowded one."""
    took: list[float] = []
    for _ in range(_LOOPS):
        began_at = time.monotonic()
        for _ in range(1_000_000):
            pass
        took.append(1000 * (time.monotonic() - began_at))
    return round(statistics.median(took), 1)


def _fsync_ms(folder: Path) -> float:
    """What the disk under the stores takes to keep a page: the median of a few."""
    took: list[float] = []
    with (folder / "synced").open("wb") as file:
        for _ in range(_SYNCS):
            file.write(bytes(4096))
            file.flush()
            began_at = time.monotonic()
            os.fsync(file.fileno())
            took.append(1000 * (time.monotonic() - began_at))
    return round(statistics.median(took), 3)
