"""Counts of what happened since the start, by name, for the health page and the log. No labels, no words of people."""

from collections import Counter


class Counts:
    """A counter for each name."""

    def __init__(self) -> None:
        self._counts: Counter[str] = Counter()

    def add(self, name: str) -> int:
        """Count one more; gives the new count."""
        self._counts[name] += 1
        return self._counts[name]

    def all(self) -> dict[str, int]:
        """Every name that was counted, in alphabetical order."""
        return dict(sorted(self._counts.items()))
