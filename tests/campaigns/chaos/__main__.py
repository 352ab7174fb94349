"""`python -m tests.campaigns.chaos [--kills N] [--seed N] ...`: long rounds, each followed by its audit.

Ctrl-C ends the kills early; what has happened so far is audited all the same. The exit status is 0 where every property
holds, and 1 where one is broken; the seed stands in what is printed.
"""

import argparse
import asyncio
import signal
import sys
import tempfile
import time
from pathlib import Path

from tests.campaigns.chaos import audit
from tests.campaigns.chaos.evidence import Evidence, Finding
from tests.campaigns.chaos.phones import WAYS
from tests.campaigns.chaos.rounds import Progress, played
from tests.campaigns.chaos.world import Size


def main() -> None:
    parser = argparse.ArgumentParser(
        prog="python -m tests.campaigns.chaos", description="Kill Aldis under load, and look."
    )
    parser.add_argument("--rounds", type=int, default=1, help="how many, each with the next seed (default: 1)")
    parser.add_argument(
        "--kills", type=int, default=500, help="how many lives of a round end by SIGKILL (default: 500)"
    )
    parser.add_argument("--stops", type=int, default=0, help="how many lives more end by SIGTERM (default: 0)")
    parser.add_argument("--restarts", type=int, default=0, help="how often those begin anew before (default: 0)")
    parser.add_argument("--way", choices=WAYS, default="unix", help="how Aldis hears (default: unix)")
    parser.add_argument("--rate", type=float, default=20.0, help="letters a second (default: 20)")
    parser.add_argument("--seed", type=int, default=1, help="what happens (default: 1)")
    parser.add_argument(
        "--groups", type=int, default=5, help="how many; without any, everybody writes alone (default: 5)"
    )
    parser.add_argument("--folder", type=Path, help="the disk for the store (default: that of temporary files)")
    options = parser.parse_args()
    seeds = range(options.seed, options.seed + options.rounds)
    sizes = [
        Size(
            seed=seed,
            kills=options.kills,
            stops=options.stops,
            restarts=options.restarts,
            way=options.way,
            rate_per_second=options.rate,
            groups=options.groups,
        )
        for seed in seeds
    ]
    status = 0
    for size in sizes:
        holds, was_stopped = _holds(size, options.folder)
        status = status if holds else 1
        if was_stopped:
            break
    sys.exit(status)


def _holds(size: Size, disk: Path | None) -> tuple[bool, bool]:
    """Play one round and print what the audit finds; gives whether all holds, and whether somebody pressed Ctrl-C."""
    began = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="aldis-chaos-", dir=disk) as folder:
        evidence, was_stopped = asyncio.run(_played(size, Path(folder)))
    found = audit.findings(evidence)
    sys.stdout.write(report(evidence, found, size, time.monotonic() - began))
    return not any(finding.violations for finding in found), was_stopped


async def _played(size: Size, folder: Path) -> tuple[Evidence, bool]:
    stop = asyncio.Event()
    loop = asyncio.get_running_loop()

    def stopping() -> None:
        stop.set()
        loop.remove_signal_handler(signal.SIGINT)  # a second one ends everything at once

    loop.add_signal_handler(signal.SIGINT, stopping)
    return await played(size, folder, stop=stop, told=_tell), stop.is_set()


def _tell(progress: Progress) -> None:
    sys.stderr.write(
        f"{progress.seconds:6.0f} s  {progress.kills:4} kills  {progress.stops:4} stops  "
        f"{progress.letters:6,} letters  {progress.sent:6,} sent\n"
    )
    sys.stderr.flush()


def report(evidence: Evidence, found: tuple[Finding, ...], size: Size, seconds: float) -> str:
    """The properties, a line each, and below each what breaks it."""
    letters, sent = len(evidence.pen.letters), len(evidence.sent)
    rate = letters / evidence.seconds
    what = f"--way {size.way} --seed {size.seed}"
    lines = [f"{what}: {seconds:.0f} s, {letters:,} letters ({rate:.0f} a second), {sent:,} messages sent"]
    lines += map(str, found)
    broken = sum(bool(finding.violations) for finding in found)
    lines.append(f"{broken} of {len(found)} properties are broken; again with {what}" if broken else "All hold.")
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    main()
