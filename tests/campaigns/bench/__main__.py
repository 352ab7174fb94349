"""`python -m tests.campaigns.bench [--quick] [--json PATH] [--folder PATH]`: measure, print the table, write the JSON.

A goal that is missed is said in the table and nowhere else: the exit status is 0 unless something broke.
"""

import argparse
import asyncio
import sys
import tempfile
from dataclasses import replace
from pathlib import Path

from tests.campaigns.bench import figures, runs
from tests.campaigns.bench.children import REPOSITORY
from tests.campaigns.bench.figures import Figure
from tests.campaigns.bench.runs import Size

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
)
_DISK = Path("/var/tmp")
"""Unlike /tmp it lies on a disk. Source: the Filesystem Hierarchy Standard 3.0, 5.15 (2015)."""


async def measured(size: Size, folder: Path) -> list[Figure]:
    """All figures, measured in a folder that is empty."""
    found: list[Figure] = []
    for vendor in size.vendors:
        async with runs.opened(vendor, folder) as pair:
            found += await runs.cpu(pair, size)
            if vendor == size.vendors[0]:
                found += await runs.growth(pair, size)
                found += await runs.side_by_side(pair, size)
    found += await runs.store_steps(folder, size)
    found += await runs.bills(size)
    for vendor in size.started_with:
        found += await runs.start(vendor, folder, size)
    return found


def report(size: Size, folder: Path | None, path: Path) -> None:
    """Measure in a new folder within the given one, print the table, write the JSON to `path`."""
    parent = folder or (_DISK if _DISK.is_dir() else None)
    with tempfile.TemporaryDirectory(prefix="aldis-bench-", dir=parent) as place:
        machine = figures.machine(Path(place))
        found = asyncio.run(measured(size, Path(place)))
    figures.written(found, machine, path)
    beside = f"{machine['cpu']}, {machine['cores']} cores, Python {machine['python']}"
    sys.stdout.write(f"{figures.table(found)}\n\n{beside}; written to {path}\n")


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tests.campaigns.bench", description="Measure Aldis.")
    parser.add_argument("--quick", action="store_true", help="about twenty seconds instead of minutes, less exact")
    parser.add_argument("--json", type=Path, default=REPOSITORY / "bench.json", metavar="PATH", help="where to write")
    parser.add_argument("--folder", type=Path, metavar="PATH", help="the disk to measure on (default: /var/tmp)")
    parser.add_argument("--messages", type=int, metavar="N", help=f"in the large store (default: {Size.messages})")
    options = parser.parse_args()
    size = QUICK if options.quick else Size()
    report(replace(size, messages=options.messages or size.messages), options.folder, options.json)


if __name__ == "__main__":
    main()
