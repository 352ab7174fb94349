"""Line charts as pictures: curves over the same steps, one panel above the other, each with its own axis.

Drawn twice as large and scaled down, for Pillow draws lines with stairs. The letters are Pillow's own, which know ASCII
and the degree sign only; others are written without their accents or left out. Left to others: what the curves mean.

Source: Pillow 13.0.0, `ImageFont.load_default` and `ImageDraw`, 2026-11-22. A chart takes 0.1 seconds and 60 KB.
"""

import functools
import io
import math
import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from PIL import Image, ImageDraw, ImageFont

CONTENT_TYPE = "image/png"

_LARGER = 2
_WIDTH, _PANEL_HEIGHT, _HEAD_HEIGHT = 900, 260, 56
_LEFT, _RIGHT, _TOP, _BOTTOM = 64, 24, 44, 34
_TITLE_SIZE, _NAME_SIZE, _LABEL_SIZE = 24, 18, 16
_PAPER, _INK, _PALE_INK, _GRID = "#ffffff", "#1f2430", "#5b6270", "#d9dce2"
_CURVES = ("#c2410c", "#1d5fbf", "#15803d", "#7e22ce")
_MOST_TICKS = 5
_LABEL_GAP = 14
_MAX_TITLE_CHARS = 60


@dataclass(frozen=True, kw_only=True, slots=True)
class Panel:
    """A curve and its axis."""

    name: str
    """What it shows, with the unit."""
    values: Sequence[float | None]
    """One for each step; None leaves a gap in the curve."""
    lowest: float | None = None
    """Where the axis begins at the latest; None lets the values decide."""
    highest: float | None = None
    """Where the axis ends at the earliest; likewise."""


def line_chart(title: str, labels: Mapping[int, str], panels: Sequence[Panel]) -> bytes:
    """A PNG of the panels, one above the other; the same input gives the same picture.

    `labels` are written below the steps of those numbers, as far as there is room. Panels without any value are left
    out; where none is left the bytes are empty.
    """
    shown = [panel for panel in panels if any(value is not None for value in panel.values)]
    if not shown:
        return b""
    size = (_WIDTH * _LARGER, (_HEAD_HEIGHT + _PANEL_HEIGHT * len(shown)) * _LARGER)
    picture = Image.new("RGB", size, _PAPER)
    drawing = _Drawing(ImageDraw.Draw(picture))
    drawing.words(_LEFT, _HEAD_HEIGHT // 2, _drawable(title)[:_MAX_TITLE_CHARS], _TITLE_SIZE, anchor="lm")
    for number, panel in enumerate(shown):
        colour = _CURVES[number % len(_CURVES)]
        _draw_panel(drawing, panel, labels, top=_HEAD_HEIGHT + number * _PANEL_HEIGHT, colour=colour)
    return _png(picture.reduce(_LARGER))


class _Drawing:
    """Draws in the measures of the finished picture."""

    def __init__(self, canvas: ImageDraw.ImageDraw) -> None:
        self._canvas = canvas

    def line(self, points: Sequence[tuple[float, float]], colour: str, width: float = 1) -> None:
        larger = [(x * _LARGER, y * _LARGER) for x, y in points]
        self._canvas.line(larger, fill=colour, width=round(width * _LARGER), joint="curve")

    def dot(self, x: float, y: float, colour: str, radius: float) -> None:
        box = [side * _LARGER for side in (x - radius, y - radius, x + radius, y + radius)]
        self._canvas.ellipse(box, fill=colour)

    def words(self, x: float, y: float, words: str, size: int, *, anchor: str, colour: str = _INK) -> None:
        """Words at a point of theirs: `l`, `m`, `r` across and `t`, `m`, `b` down, as Pillow's anchors say."""
        self._canvas.text((x * _LARGER, y * _LARGER), words, fill=colour, font=_font(size), anchor=anchor)

    def width(self, words: str, size: int) -> float:
        return self._canvas.textlength(words, font=_font(size)) / _LARGER


@dataclass(frozen=True, kw_only=True, slots=True)
class _Axis:
    """From which value to which, over which height of the picture."""

    ticks: Sequence[float]
    top: float
    bottom: float

    def y(self, value: float) -> float:
        low, high = self.ticks[0], self.ticks[-1]
        return self.bottom - (value - low) / (high - low) * (self.bottom - self.top)


def _draw_panel(drawing: _Drawing, panel: Panel, labels: Mapping[int, str], *, top: float, colour: str) -> None:
    axis = _Axis(ticks=_ticks(panel), top=top + _TOP, bottom=top + _PANEL_HEIGHT - _BOTTOM)
    across = (_WIDTH - _LEFT - _RIGHT) / max(len(panel.values) - 1, 1)
    drawing.words(_LEFT, top + _TOP / 2, _drawable(panel.name), _NAME_SIZE, anchor="lm", colour=colour)
    for tick in axis.ticks:
        drawing.line([(_LEFT, axis.y(tick)), (_WIDTH - _RIGHT, axis.y(tick))], _GRID)
        drawing.words(_LEFT - 10, axis.y(tick), _number(tick), _LABEL_SIZE, anchor="rm", colour=_PALE_INK)
    _draw_labels(drawing, labels, across, axis)
    for curve in _curves(panel.values):
        points = [(_LEFT + step * across, axis.y(value)) for step, value in curve]
        if len(points) > 1:
            drawing.line(points, colour, width=3)
        drawing.dot(*points[0], colour, radius=1.5 if len(points) > 1 else 4)
        drawing.dot(*points[-1], colour, radius=1.5 if len(points) > 1 else 4)


def _draw_labels(drawing: _Drawing, labels: Mapping[int, str], across: float, axis: _Axis) -> None:
    """The labels that find room beside each other and inside the picture, each with a line upwards."""
    taken = 0.0
    for step, label in sorted(labels.items()):
        x, words = _LEFT + step * across, _drawable(label)
        half = drawing.width(words, _LABEL_SIZE) / 2
        drawing.line([(x, axis.top), (x, axis.bottom)], _GRID)
        if x - half >= taken and x + half <= _WIDTH:
            drawing.words(x, axis.bottom + _BOTTOM / 2, words, _LABEL_SIZE, anchor="mm", colour=_PALE_INK)
            taken = x + half + _LABEL_GAP


def _curves(values: Sequence[float | None]) -> Iterator[Sequence[tuple[int, float]]]:
    """The runs of values without a gap, each value with its step."""
    run: list[tuple[int, float]] = []
    for step, value in enumerate([*values, None]):
        if value is not None:
            run.append((step, value))
        elif run:
            yield run
            run = []


def _ticks(panel: Panel) -> Sequence[float]:
    """Round values from below the lowest to above the highest, at least two."""
    bounds = [value for value in (*panel.values, panel.lowest, panel.highest) if value is not None]
    low, high = min(bounds), max(bounds)
    step = _round_step((high - low) / (_MOST_TICKS - 1) or 1)
    first, last = math.floor(low / step), math.ceil(high / step)
    return [number * step for number in range(first, max(last, first + 1) + 1)]


def _round_step(rough: float) -> float:
    """The next 1, 2, 2.5 or 5 times a power of ten."""
    power = 10.0 ** math.floor(math.log10(rough))
    return next(factor * power for factor in (1, 2, 2.5, 5, 10) if factor * power >= rough * (1 - 1e-9))


def _number(value: float) -> str:
    return f"{round(value, 6):g}"


def _drawable(words: str) -> str:
    """The words in the letters that the font has."""
    plain = "".join(mark for mark in unicodedata.normalize("NFD", words) if not unicodedata.combining(mark))
    return " ".join("".join(mark for mark in plain if mark == "°" or " " <= mark <= "~").split())


@functools.cache
def _font(size: int) -> ImageFont.FreeTypeFont | ImageFont.ImageFont:
    return ImageFont.load_default(size=size * _LARGER)


def _png(picture: Image.Image) -> bytes:
    file = io.BytesIO()
    picture.save(file, format="PNG")
    return file.getvalue()
