"""Counts what has happened since the start, for the health page and the log.

Names are words of Aldis: never people's words, names or numbers.
"""

from collections import Counter
from collections.abc import Callable


class Counts:
    """The counts of one run, each zero at the start."""

    def __init__(self) -> None:
        self._counts: Counter[str] = Counter()
        self._elsewhere: dict[str, Callable[[], int]] = {}

    def add(self, name: str, more: int = 1) -> int:
        """Adds to a count; returns the new count."""
        self._counts[name] += more
        return self._counts[name]

    def watch(self, name: str, count: Callable[[], int]) -> None:
        """Includes a count that is kept elsewhere."""
        self._elsewhere[name] = count

    def all(self) -> dict[str, int]:
        """All nonzero counts, in alphabetical order."""
        elsewhere = {name: number for name, count in self._elsewhere.items() if (number := count())}
        return dict(sorted({**self._counts, **elsewhere}.items()))
