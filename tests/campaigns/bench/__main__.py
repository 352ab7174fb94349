"""`python -m tests.campaigns.bench [--quick]`: measure, and print the table.

A goal that is missed is said in the table and nowhere else: the exit status is 0 unless something broke.
"""

import argparse
import asyncio
import os
import platform
import re
import sys
import tempfile
from pathlib import Path

from tests.campaigns.bench import evidence, runs, searching, upkeep
from tests.campaigns.bench.figures import Figure, table
from tests.campaigns.bench.runs import Size
from tests.campaigns.proc import PROC

QUICK = Size(
    blocks=2,
    block_turns=15,
    depths=(10, 60),
    around=6,
    turns_each=1,
    crowds=1,
    starts=1,
    rhythms=("10 min",),
    people=(1,),
    bill_turns=20,
    messages=2_000,
    claims=3,
    passages=1_000,
)
_DISK = Path("/var/tmp")
"""Unlike /tmp it lies on a disk. Source: the Filesystem Hierarchy Standard 3.0, 5.15 (2015)."""


async def measured(size: Size, folder: Path) -> list[Figure]:
    found: list[Figure] = []
    for vendor in size.vendors:
        found += await runs.cpu(vendor, folder, size)
    found += await runs.growth(size.vendors[0], folder, size)
    found += await runs.side_by_side(size.vendors[0], folder, size)
    found += await upkeep.measured(folder / "upkeep", size.messages)
    found += await evidence.measured(folder, size.claims)
    found += await searching.measured(folder, size.passages)
    found += await runs.bills(size)
    for vendor in size.started_with:
        found += await runs.start(vendor, folder, size)
    return found


def report(size: Size, disk: Path) -> str:
    """Measure in a new folder on this disk; gives the table, with the machine below."""
    with tempfile.TemporaryDirectory(prefix="aldis-bench-", dir=disk) as folder:
        found = asyncio.run(measured(size, Path(folder)))
    cpu = re.search(r"model name\s*: (.*)", (PROC / "cpuinfo").read_text("utf-8"))
    name = cpu[1] if cpu else platform.machine()
    return f"{table(found)}\n\n{name}, {os.cpu_count()} cores, Python {platform.python_version()}\n"


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tests.campaigns.bench", description="Measure Aldis, on Linux.")
    parser.add_argument("--quick", action="store_true", help="about twenty seconds instead of minutes, less exact")
    options = parser.parse_args()
    sys.stdout.write(report(QUICK if options.quick else Size(), _DISK))


if __name__ == "__main__":
    main()
