"""`python -m tests.campaigns.simulation [--seeds 10000] [--first 0] [--processes 2]`: a long round.

Prints each promise with the number of times that it was looked at. Ends with status 1 when one was broken, and tells
which story broke it (`--seeds 1 --first N` plays seed N alone), where Aldis was killed, and the steps of the story.
"""

import argparse
import multiprocessing
import os
import sys
import time
from concurrent.futures import ProcessPoolExecutor

from tests.campaigns.simulation.schedules import Tally, of_seeds

_AT_A_TIME = 50


def merged(options: argparse.Namespace) -> Tally:
    tally, seeds = Tally(), range(options.first, options.first + options.seeds)
    with ProcessPoolExecutor(options.processes, mp_context=multiprocessing.get_context("spawn")) as pool:
        for part in pool.map(of_seeds, [seeds[at : at + _AT_A_TIME] for at in range(0, len(seeds), _AT_A_TIME)]):
            tally.merge(part)
    return tally


def report(tally: Tally, seconds: float) -> str:
    lines = [f"{count:>12,}  {promise}" for promise, count in sorted(tally.checked.items())]
    lines += ["", f"{tally.stories:,} stories of {tally.steps:,} steps, {tally.kills:,} kills, in {seconds:.0f} s"]
    if tally.broken:
        lines += ["", *tally.broken, "", *tally.traces]
    return "\n".join([*lines, f"{len(tally.broken)} promises broken"])


def main() -> int:
    parser = argparse.ArgumentParser(
        prog="python -m tests.campaigns.simulation", description="Kill Aldis at every step."
    )
    parser.add_argument("--seeds", type=int, default=1000, help="how many seeds (1000)")
    parser.add_argument("--first", type=int, default=0, help="the first of them (0)")
    parser.add_argument("--processes", type=int, default=os.cpu_count(), help="how many side by side (one a core)")
    options = parser.parse_args()
    began = time.monotonic()
    tally = merged(options)
    sys.stdout.write(report(tally, time.monotonic() - began) + "\n")
    return 1 if tally.broken else 0


if __name__ == "__main__":
    sys.exit(main())
