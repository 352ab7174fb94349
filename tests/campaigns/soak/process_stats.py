"""Figures of a process: what the kernel tells of it, what its own metrics page tells, and its files.

Source: Linux, proc(5) (2026). Where there is no /proc, as on macOS, there are none.
"""

import asyncio
import os
import time
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path

import aiohttp

PROC = Path("/proc")

_PAGE_SECONDS = 10.0


@dataclass(frozen=True, kw_only=True)
class ProcessStats:
    """One look at a process."""

    at_seconds: float
    """On the monotonic clock."""
    resident_bytes: int
    threads: int
    descriptors: int
    cpu_seconds: float
    """What it has used since its start."""


def stats(process_id: int) -> ProcessStats | None:
    """A look at the process; None where the kernel does not tell, or the process is gone."""
    place = PROC / str(process_id)
    try:
        status = dict(line.split(":", 1) for line in (place / "status").read_text("utf-8").splitlines())
        used = (place / "stat").read_text("utf-8").rpartition(")")[2].split()[11:13]
        descriptors = sum(1 for _ in (place / "fd").iterdir())
        return ProcessStats(
            at_seconds=time.monotonic(),
            resident_bytes=int(status["VmRSS"].split()[0]) * 1024,
            threads=int(status["Threads"]),
            descriptors=descriptors,
            cpu_seconds=sum(map(int, used)) / os.sysconf("SC_CLK_TCK"),
        )
    except (OSError, KeyError):
        return None


@dataclass(frozen=True, kw_only=True)
class Files:
    """The sizes of the store's files."""

    database_bytes: int
    log_bytes: int
    """Of the write-ahead log."""

    @classmethod
    def of(cls, database: Path) -> "Files":
        log = database.with_name(f"{database.name}-wal")
        sizes = [path.stat().st_size if path.exists() else 0 for path in (database, log)]
        return cls(database_bytes=sizes[0], log_bytes=sizes[1])


@dataclass
class Page:
    """The page of figures that Aldis serves; each look at it has a connection of its own."""

    url: str
    _http: aiohttp.ClientSession
    answer_seconds: list[float] = field(default_factory=list[float])
    """How long each look took."""

    async def figures(self) -> dict[str, float]:
        """The figures by name, without `aldis_`; empty where there is no answer."""
        began_seconds = time.monotonic()
        try:
            async with asyncio.timeout(_PAGE_SECONDS), self._http.get(self.url) as response:
                text = await response.text()
        except (aiohttp.ClientError, TimeoutError):
            return {}
        self.answer_seconds.append(time.monotonic() - began_seconds)
        lines = [line.split() for line in text.splitlines() if not line.startswith("#")]
        return {name.removeprefix("aldis_"): float(value) for name, value in lines}


@asynccontextmanager
async def page(port: int) -> AsyncGenerator[Page]:
    """The page of figures at this port."""
    async with aiohttp.ClientSession(connector=aiohttp.TCPConnector(force_close=True)) as http:
        yield Page(f"http://127.0.0.1:{port}/metrics", http)
