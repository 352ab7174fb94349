"""`python -m tests.campaigns.soak [--conversations N] [--seconds N] [--seed N] [--folder PATH]`: plays a round.

Ctrl-C ends it early; what was seen so far is audited all the same. The exit status is 1 where a property is broken.
"""

import argparse
import asyncio
import signal
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from tests.campaigns.bench.figures import table
from tests.campaigns.chaos.evidence import Finding
from tests.campaigns.soak.audit import audit, figures
from tests.campaigns.soak.play import Record, Size, play


def main() -> None:
    parser = argparse.ArgumentParser(
        prog="python -m tests.campaigns.soak", description="Write to Aldis for minutes, and look."
    )
    parser.add_argument("--conversations", type=int, default=200, help="how many write at random (default: 200)")
    parser.add_argument("--seconds", type=float, default=180, help="for how long they write (default: 180)")
    parser.add_argument("--seed", type=int, default=1, help="what they write, and when (default: 1)")
    parser.add_argument("--folder", type=Path, help="the disk for the store (default: that of temporary files)")
    options = parser.parse_args()
    size = Size(seed=options.seed, conversations=options.conversations, seconds=options.seconds)
    with tempfile.TemporaryDirectory(prefix="aldis-soak-", dir=options.folder) as folder:
        record = asyncio.run(_played(size, Path(folder)))
    found = audit(record)
    sys.stdout.write(report(record, found))
    sys.exit(1 if any(finding.violations for finding in found) else 0)


async def _played(size: Size, folder: Path) -> Record:
    stop, loop = asyncio.Event(), asyncio.get_running_loop()

    def stopping() -> None:
        stop.set()
        loop.remove_signal_handler(signal.SIGINT)  # a second one ends everything at once

    def tell(line: str) -> None:
        sys.stderr.write(f"{line}\n")

    loop.add_signal_handler(signal.SIGINT, stopping)
    return await play(size, folder, stop=stop, on_progress=tell)


def report(record: Record, found: Sequence[Finding]) -> str:
    """The figures, then the properties, a line each, and below each what breaks it."""
    head = f"seed {record.size.seed}" + (", ended early: answers are not looked at" if record.was_stopped else "")
    broken = sum(bool(finding.violations) for finding in found)
    ending = f"{broken} of {len(found)} properties are broken." if broken else "All hold."
    return "\n".join([head, "", table(figures(record)), "", *map(str, found), ending]) + "\n"


if __name__ == "__main__":
    main()
