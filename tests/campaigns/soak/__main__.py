"""`python -m tests.campaigns.soak [--conversations N] [--seconds N] [--seed N]`: plays a round.

The exit status is 1 where a property is broken.
"""

import argparse
import asyncio
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
        prog="python -m tests.campaigns.soak", description="Write to Aldis for minutes, and look; on Linux."
    )
    parser.add_argument("--conversations", type=int, default=200, help="how many write at random (default: 200)")
    parser.add_argument("--seconds", type=float, default=180, help="for how long they write (default: 180)")
    parser.add_argument("--seed", type=int, default=1, help="what they write, and when (default: 1)")
    size = Size(**vars(parser.parse_args()))
    with tempfile.TemporaryDirectory(prefix="aldis-soak-") as folder:
        record = asyncio.run(play(size, Path(folder)))
    found = audit(record)
    sys.stdout.write(report(record, found))
    sys.exit(1 if any(finding.violations for finding in found) else 0)


def report(record: Record, found: Sequence[Finding]) -> str:
    """The figures, then the properties, a line each, and below each what breaks it."""
    broken = sum(bool(finding.violations) for finding in found)
    ending = f"{broken} of {len(found)} properties are broken." if broken else "All hold."
    return "\n".join([f"seed {record.size.seed}", "", table(figures(record)), "", *map(str, found), ending]) + "\n"


if __name__ == "__main__":
    main()
