"""`python -m tests.campaigns.soak [--conversations N] [--seconds N] [--seed N] [--folder PATH]`: a round, figures,
properties.

Ctrl-C ends it early; what was seen so far is audited all the same. The exit status is 0 where every property that could
be looked at holds, and 1 where one is broken.
"""

import argparse
import asyncio
import signal
import sys
import tempfile
import time
from pathlib import Path

from tests.campaigns.bench.figures import table
from tests.campaigns.soak.audit import Audit, audit
from tests.campaigns.soak.figures import figures
from tests.campaigns.soak.record import Record, Size
from tests.campaigns.soak.rounds import Progress, played


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
    began = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="aldis-soak-", dir=options.folder) as folder:
        record = asyncio.run(_played(size, Path(folder)))
    found = audit(record)
    sys.stdout.write(report(record, found, time.monotonic() - began))
    sys.exit(1 if found.broken else 0)


async def _played(size: Size, folder: Path) -> Record:
    stop = asyncio.Event()
    loop = asyncio.get_running_loop()

    def stopping() -> None:
        stop.set()
        loop.remove_signal_handler(signal.SIGINT)  # a second one ends everything at once

    loop.add_signal_handler(signal.SIGINT, stopping)
    return await played(size, folder, stop=stop, told=_tell)


def _tell(progress: Progress) -> None:
    look = progress.stats
    held = f"{look.resident_bytes / 1e6:5.0f} MB  {look.descriptors:4} descriptors" if look else ""
    sys.stderr.write(
        f"{progress.seconds:6.0f} s  {progress.letters:6,} written  {progress.sent:6,} sent  {held}  {progress.doing}\n"
    )
    sys.stderr.flush()


def report(record: Record, found: Audit, seconds: float) -> str:
    """The figures, then the properties, a line each, and below each what breaks it."""
    head = f"seed {record.size.seed}, {seconds:.0f} s" + (", ended early" if record.was_stopped else "")
    lines = [head, "", table(figures(record)), "", *map(str, found.findings)]
    stalls = record.beats.since(record.measured_seconds).stalls
    lines += [f"STALLED        for half a second, at {stall.at_seconds:.1f}:\n{stall.threads}" for stall in stalls]
    lines += [f"SKIPPED        {words}" for words in found.skipped]
    ending = f"{found.broken} of {len(found.findings)} properties are broken" if found.broken else "All hold"
    lines.append(f"{ending}; {len(found.skipped)} could not be looked at." if found.skipped else f"{ending}.")
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    main()
