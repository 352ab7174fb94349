"""Plots as our own SVG: bars by day, and bars of the largest few. A table beside them has the numbers."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal

_WIDTH, _HEIGHT = 720, 212
_LEFT, _BOTTOM, _TOP = 104, 36, 10
_MAX_BARS = 8


@dataclass(frozen=True, slots=True)
class Bar:
    """One bar: its position and its values."""

    x: float
    y: float
    width: float
    height: float
    label: str
    value: Decimal


@dataclass(frozen=True, slots=True)
class Plot:
    """A plot that a template draws."""

    width: int
    height: int
    left: int
    """Where the bars begin, after the amounts of the grid."""
    bars: tuple[Bar, ...]
    grid: tuple[tuple[float, Decimal], ...]
    """The position of each line, and the amount beside it."""
    labels: tuple[tuple[float, str], ...] = ()
    """The positions of the labels below the bars, and the day of each in ISO format."""

    @property
    def is_empty(self) -> bool:
        """Whether there is nothing to see."""
        return not any(bar.value for bar in self.bars)


def by_day(values: Mapping[str, Decimal]) -> Plot:
    """Returns bars for days in their order; `values` by day in ISO format."""
    top = _round_up(max(values.values(), default=Decimal(0)))
    step = (_WIDTH - _LEFT) / max(1, len(values))
    room = _HEIGHT - _TOP - _BOTTOM
    bars = tuple(
        Bar(
            x=round(_LEFT + number * step + step * 0.12, 1),
            y=round(_TOP + room * (1 - float(value / top)), 1),
            width=round(step * 0.76, 1),
            height=round(room * float(value / top), 1),
            label=day,
            value=value,
        )
        for number, (day, value) in enumerate(values.items())
    )
    grid = tuple((round(_TOP + room * (1 - part / 2), 1), top * part / 2) for part in range(3))
    days = list(values)
    marks = range(0, len(days), max(1, len(days) // 5))
    labels = tuple((round(_LEFT + (mark + 0.5) * step, 1), days[mark]) for mark in marks)
    return Plot(_WIDTH, _HEIGHT, _LEFT, bars, grid, labels)


def largest(values: Mapping[str, Decimal]) -> Sequence[tuple[str, Decimal, float]]:
    """Returns the largest few: name, value, and percentage of the largest; the largest first."""
    found = sorted(values.items(), key=lambda pair: (-pair[1], pair[0]))[:_MAX_BARS]
    top = max((value for _, value in found), default=Decimal(0)) or Decimal(1)
    return [(name, value, round(float(value / top * 100), 1)) for name, value in found]


def _round_up(value: Decimal) -> Decimal:
    """The next of 1, 2, 5 times a power of ten; at least 0.01."""
    size = Decimal("0.01")
    while True:
        for step in (1, 2, 5):
            if size * step >= value:
                return size * step
        size *= 10
