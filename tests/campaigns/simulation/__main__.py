"""`python -m tests.campaigns.simulation [--seeds 10000] [--first 0] [--pairs] [--processes 2]`: a long round.

Prints each promise with the number of times that it was looked at. Ends with status 1 when one was broken, and tells
which story broke it (`--seeds 1 --first N` plays seed N alone), where Aldis was killed, and the steps of the story.
"""

import argparse
import multiprocessing
import os
import sys
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ProcessPoolExecutor, as_completed
from functools import partial

from tests.campaigns.simulation import schedules
from tests.campaigns.simulation.scenario import SMALL
from tests.campaigns.simulation.schedules import Tally

_AT_A_TIME = 50


def parts(options: argparse.Namespace) -> Iterator[Callable[[], Tally]]:
    """The round in parts that can be played side by side."""
    end = options.first + options.seeds
    for first in range(options.first, end, _AT_A_TIME):
        yield partial(schedules.of_seeds, range(first, min(first + _AT_A_TIME, end)))
    for story in SMALL if options.pairs else ():
        yield partial(schedules.of_singles, story)
        for first in schedules.firsts(story):
            yield partial(schedules.of_pairs_after, story, first)


def merged(options: argparse.Namespace) -> Tally:
    """What came of all parts."""
    tally = Tally()
    with ProcessPoolExecutor(options.processes, mp_context=multiprocessing.get_context("spawn")) as pool:
        futures: list[Future[Tally]] = [pool.submit(part) for part in parts(options)]
        for future in as_completed(futures):
            tally.merge(future.result())
    return tally


def report(tally: Tally, seconds: float) -> str:
    """The figures as text."""
    lines = [f"{count:>12,}  {promise}" for promise, count in sorted(tally.checked.items())]
    lines += ["", *(f"{count:>12,}  {figure}" for figure, count in sorted(tally.figures.items()))]
    lines += ["", f"{tally.stories:,} stories of {tally.steps:,} steps in {seconds:.0f} s"]
    if tally.broken:
        lines += ["", *tally.broken, "", *tally.traces]
    return "\n".join([*lines, f"{len(tally.broken)} promises broken"])


def main() -> int:
    parser = argparse.ArgumentParser(
        prog="python -m tests.campaigns.simulation", description="Kill Aldis at every step."
    )
    parser.add_argument("--seeds", type=int, default=1000, help="how many seeds (1000)")
    parser.add_argument("--first", type=int, default=0, help="the first of them (0)")
    parser.add_argument("--pairs", action="store_true", help="also every step and every pair of steps of small stories")
    parser.add_argument("--processes", type=int, default=os.cpu_count(), help="how many side by side (one a core)")
    options = parser.parse_args()
    began = time.monotonic()
    tally = merged(options)
    sys.stdout.write(report(tally, time.monotonic() - began) + "\n")
    return 1 if tally.broken else 0


if __name__ == "__main__":
    sys.exit(main())
