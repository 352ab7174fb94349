"""Counts of what happened since the start, by name, for the health page and the log. No labels, no words of people."""

from collections import Counter
from collections.abc import Callable


class Counts:
    """A counter for each name."""

    def __init__(self) -> None:
        self._counts: Counter[str] = Counter()
        self._elsewhere: dict[str, Callable[[], int]] = {}

    def add(self, name: str, more: int = 1) -> int:
        """Count one more, or several; gives the new count."""
        self._counts[name] += more
        return self._counts[name]

    def watch(self, name: str, count: Callable[[], int]) -> None:
        """Take a count in that is kept elsewhere."""
        self._elsewhere[name] = count

    def all(self) -> dict[str, int]:
        """Every name that was counted, in alphabetical order."""
        elsewhere = {name: number for name, count in self._elsewhere.items() if (number := count())}
        return dict(sorted({**self._counts, **elsewhere}.items()))
