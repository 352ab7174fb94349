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
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from tests.campaigns.fuzz import calculator, envelopes, models, streams
from tests.campaigns.fuzz.rounds import Round, Violation


@dataclass(frozen=True, kw_only=True)
class Target:
    """A kind of input at one place where it comes in; `check` takes a round and an empty folder."""

    name: str
    count: int
    check: Callable[[Round, Path], Awaitable[None]]

    @property
    def word(self) -> str:
        """How the command line calls it: the first word of the name."""
        return self.name.partition(" ")[0]


async def _read(round_: Round, _: Path) -> None:
    envelopes.check(round_)


TARGETS = (
    Target(name="calculator", count=calculator.COUNT, check=lambda round_, _: calculator.check(round_)),
    Target(name="envelopes", count=envelopes.COUNT, check=_read),
    Target(
        name="envelopes over signal-cli", count=streams.COUNT, check=lambda round_, _: streams.check_signal_cli(round_)
    ),
    Target(
        name="envelopes over the rest-api", count=streams.COUNT, check=lambda round_, _: streams.check_rest_api(round_)
    ),
    Target(name="envelopes through the intake", count=streams.INTAKE_COUNT, check=streams.check_intake),
    *(
        Target(
            name=f"models ({kind})", count=models.COUNT, check=lambda round_, _, kind=kind: models.check(round_, kind)
        )
        for kind in models.KINDS
    ),
)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the rounds that were asked for; gives the exit status."""
    words = list(dict.fromkeys(target.word for target in TARGETS))
    parser = argparse.ArgumentParser(prog="python -m tests.campaigns.fuzz", description="Fuzz Aldis.")
    parser.add_argument("target", nargs="?", choices=words, help="one of them alone (default: all, in this order)")
    parser.add_argument("--count", type=int, metavar="N", help="how many examples a round (default: each its own)")
    parser.add_argument("--seed", type=int, metavar="S", default=secrets.randbits(32), help="default: a new one")
    parser.add_argument("--from", type=int, metavar="N", dest="first", default=0, help="the first example (default: 0)")
    options = parser.parse_args(arguments)
    chosen = [target for target in TARGETS if options.target in {None, target.word}]
    gc.freeze()  # else the slowest example is the one during which everything was looked through
    logging.disable(logging.CRITICAL)  # each bad frame is a warning
    try:
        failed = [target for target in chosen if not _passes(target, options)]
    finally:
        logging.disable(logging.NOTSET)
        gc.unfreeze()
    return 1 if failed else 0


def _passes(target: Target, options: argparse.Namespace) -> bool:
    count = target.count if options.count is None else options.count
    round_ = Round(target=target.name, count=count, seed=options.seed, first=options.first, tell=_tell)
    with tempfile.TemporaryDirectory(prefix="aldis-fuzz-") as folder:
        try:
            asyncio.run(_run(target, round_, Path(folder)))
        except Violation as violation:
            _tell(f"VIOLATION in {violation}")
            return False
    _tell(round_.figures())
    return True


async def _run(target: Target, round_: Round, folder: Path) -> None:
    await target.check(round_, folder)


def _tell(text: str) -> None:
    sys.stdout.write(f"{text}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(main())
