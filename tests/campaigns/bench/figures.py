"""The figures of a run, and their table."""

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True)
class Figure:
    """One measured value; `most` and `least` are the goal, None where there is none."""

    name: str
    value: float
    unit: str = ""
    most: float | None = None
    least: float | None = None

    @property
    def row(self) -> tuple[str, str, str, str]:
        value = f"{self.value:.2f} {self.unit}".rstrip()
        if self.most is not None:
            return self.name, value, f"at most {self.most:g}", "yes" if self.value <= self.most else "NO"
        if self.least is not None:
            return self.name, value, f"at least {self.least:g}", "yes" if self.value >= self.least else "NO"
        return self.name, value, "", ""


def table(figures: Sequence[Figure]) -> str:
    rows = [("figure", "value", "goal", "reached"), *(figure.row for figure in figures)]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines = [
        f"{name:<{widths[0]}}  {value:>{widths[1]}}  {goal:<{widths[2]}}  {reached}".rstrip()
        for name, value, goal, reached in rows
    ]
    return "\n".join([lines[0], "-" * (sum(widths) + 6), *lines[1:]])
