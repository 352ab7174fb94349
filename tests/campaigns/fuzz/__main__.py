"""`python -m tests.campaigns.fuzz [TARGET] [--count N] [--seed S] [--from N]`: long rounds, with their figures.

Exit status 1 when something that must hold did not; the example is named, and made again with its seed and number:
`python -m tests.campaigns.fuzz calculator --seed 7 --from 812 --count 1`. What goes wrong in a stream names the last
frame of the batch it happened in, so ask for the hundred before it as well.
"""

import argparse
import asyncio
import gc
import logging
import secrets
import sys
import tempfile
from collections.abc import Callable, Coroutine, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from tests.campaigns.fuzz import calculator, envelopes, intake, models
from tests.campaigns.fuzz.rounds import Round, Violation

TARGETS: dict[str, tuple[int, Callable[[Round, Path], Coroutine[Any, Any, None]]]] = {
    "calculator": (calculator.COUNT, calculator.check),
    "envelopes": (envelopes.COUNT, envelopes.check),
    "envelopes through the intake": (intake.COUNT, intake.check),
    **{f"models ({kind})": (models.COUNT, partial(models.check, kind)) for kind in models.KINDS},
}
"""A kind of input at one place where it comes in: how many examples, and what checks a round in an empty folder."""


def main(arguments: Sequence[str] | None = None) -> int:
    words = list(dict.fromkeys(name.split()[0] for name in TARGETS))
    parser = argparse.ArgumentParser(prog="python -m tests.campaigns.fuzz", description="Fuzz Aldis.")
    parser.add_argument("target", nargs="?", choices=words, help="one of them alone (default: all, in this order)")
    parser.add_argument("--count", type=int, metavar="N", help="how many examples a round (default: each its own)")
    parser.add_argument("--seed", type=int, metavar="S", default=secrets.randbits(32), help="default: a new one")
    parser.add_argument("--from", type=int, metavar="N", dest="first", default=0, help="the first example (default: 0)")
    options = parser.parse_args(arguments)
    gc.freeze()  # else the slowest example is the one during which everything was looked through
    logging.disable(logging.CRITICAL)  # each bad frame is a warning
    try:
        chosen = [name for name in TARGETS if options.target in {None, name.split()[0]}]
        failed = [name for name in chosen if not _passes(name, options)]
    finally:
        logging.disable(logging.NOTSET)
        gc.unfreeze()
    return 1 if failed else 0


def _passes(name: str, options: argparse.Namespace) -> bool:
    count, check = TARGETS[name]
    round_ = Round(target=name, count=options.count or count, seed=options.seed, first=options.first)
    with tempfile.TemporaryDirectory(prefix="aldis-fuzz-") as folder:
        try:
            asyncio.run(check(round_, Path(folder)))
        except Violation as violation:
            _tell(f"VIOLATION in {violation}")
            return False
    _tell(round_.figures())
    return True


def _tell(text: str) -> None:
    sys.stdout.write(f"{text}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(main())
