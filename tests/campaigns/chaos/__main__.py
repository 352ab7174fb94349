"""`python -m tests.campaigns.chaos [--kills N] [--seed N] ...`: a long round, followed by its audit.

The exit status is 0 where every property holds, and 1 where one is broken; the seed stands in what is printed.
"""

import argparse
import asyncio
import sys
import tempfile
import time
from pathlib import Path

from tests.campaigns.chaos import audit
from tests.campaigns.chaos.phones import WAYS
from tests.campaigns.chaos.rounds import played
from tests.campaigns.chaos.world import Size


def main() -> None:
    parser = argparse.ArgumentParser(
        prog="python -m tests.campaigns.chaos", description="Kill Aldis under load, and look."
    )
    parser.add_argument("--kills", type=int, default=500, help="how many lives end by SIGKILL (default: 500)")
    parser.add_argument("--stops", type=int, default=0, help="how many lives more end by SIGTERM (default: 0)")
    parser.add_argument("--way", choices=WAYS, default="unix", help="how Aldis hears (default: unix)")
    parser.add_argument("--seed", type=int, default=1, help="what happens (default: 1)")
    parser.add_argument("--groups", type=int, default=5, help="how many; 0: everybody writes alone (default: 5)")
    size = Size(**vars(parser.parse_args()))
    began = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="aldis-chaos-") as folder:
        here = asyncio.run(played(size, Path(folder)))
    found = audit.findings(here)
    broken = sum(bool(finding.violations) for finding in found)
    what, seconds = f"--way {size.way} --seed {size.seed}", time.monotonic() - began
    lines = [
        f"{what}: {seconds:.0f} s, {len(here.pen.letters):,} letters, {len(here.phones.sent):,} messages sent",
        *map(str, found),
        f"{broken} of {len(found)} properties are broken; again with {what}" if broken else "All hold.",
    ]
    sys.stdout.write("\n".join(lines) + "\n")
    sys.exit(1 if broken else 0)


if __name__ == "__main__":
    main()
