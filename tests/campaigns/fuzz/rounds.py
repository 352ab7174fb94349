"""A round: so many examples of one target, each made from its own number, with what is worth knowing of them."""

import resource
import sys
import time
import traceback
from collections import Counter
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from random import Random

SHOWN_CHARACTERS = 400


class Violation(AssertionError):
    """Something that must hold did not; the message names the example, so that it can be made again alone."""


@dataclass(kw_only=True)
class Round:
    """Examples `first` to `first + count` of a seed. Only its length tells a short round from a long one."""

    target: str
    count: int
    seed: int = 1
    first: int = 0
    outcomes: Counter[str] = field(default_factory=Counter[str])
    slowest_seconds: float = 0.0
    slowest: str = ""
    seconds: float = 0.0
    growth_bytes: int = 0
    """By how much the most memory that the process ever had has grown since the first tenth of the round."""
    _number: int = 0

    def randoms(self) -> Iterator[Random]:
        """A source of chance for each example: the same for the same seed and number, whatever ran before."""
        began, settled_bytes = time.perf_counter(), most_memory_bytes()
        for done in range(self.count):
            if done == self.count // 10:
                settled_bytes = most_memory_bytes()
            self._number = self.first + done
            yield Random(f"{self.target}|{self.seed}|{self._number}")
        self.seconds = time.perf_counter() - began
        self.growth_bytes = most_memory_bytes() - settled_bytes

    @contextmanager
    def trying(self, shown: object, *, is_example: bool = True) -> Generator[None]:
        """Time what is done with an example, and not what is done with all of them; what it raises is a violation."""
        began = time.perf_counter()
        try:
            yield
        except Exception as error:
            where = f"{self.target}: example {self._number} of seed {self.seed}"
            why = "".join(traceback.format_exception(error)[-3:])
            raise Violation(f"{where}: {in_short(shown)}\n{why}") from error
        seconds = time.perf_counter() - began
        if is_example and seconds > self.slowest_seconds:
            self.slowest_seconds, self.slowest = seconds, in_short(shown)

    def figures(self) -> str:
        outcomes = ", ".join(f"{name} {count:,}" for name, count in self.outcomes.most_common())
        return (
            f"{self.target}: {self.count:,} examples of seed {self.seed}, no violation, {self.seconds:.1f} s,"
            f" {most_memory_bytes() / 2**20:.0f} MB at most (+{self.growth_bytes / 2**20:.1f} MB since the first tenth)"
            f"\n  {outcomes}\n  slowest: {self.slowest_seconds * 1000:.1f} ms for {self.slowest}"
        )


def most_memory_bytes() -> int:
    most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return most if sys.platform == "darwin" else most * 1024


def in_short(value: object) -> str:
    text = repr(value)
    cut = f"... ({len(text):,} characters)"
    return text if len(text) <= SHOWN_CHARACTERS else text[: SHOWN_CHARACTERS - len(cut)] + cut
