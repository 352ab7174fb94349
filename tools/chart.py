"""Draws charts: curves or bars over common steps in panels one above the other.

Charts are drawn at double size and scaled down, because Pillow does not smooth lines. Pillow's own font has only ASCII
and a few signs, so letters are drawn without accents, and words of other scripts are left out (`drawable`). If there is
nothing to draw, or the machine cannot draw, the bytes are empty and the caller has to use words.

Source: Pillow 13.0.0, `ImageFont.load_default` and `ImageDraw`, 2026-11-22. A chart takes 0.1 seconds and 60 KB.
"""

import functools
import importlib
import io
import itertools
import logging
import math
import string
import unicodedata
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

_log = logging.getLogger(__name__)

PNG = "image/png"

_LARGER = 2
_WIDTH, _PANEL_HEIGHT, _HEAD_HEIGHT = 900, 260, 56
_LEFT, _RIGHT, _TOP, _BOTTOM = 64, 24, 44, 34
_TITLE_SIZE, _NAME_SIZE, _LABEL_SIZE = 24, 18, 16
_PAPER, _INK, _PALE_INK, _GRID = "#ffffff", "#1f2430", "#5b6270", "#d9dce2"
_CURVES = ("#c2410c", "#1d5fbf", "#15803d", "#7e22ce")
_MAX_TICKS = 5
_LABEL_GAP = 14
_MAX_TITLE_CHARS = 60
_BAR_WIDTH = 0.7  # share of the width of a step
_SPELLED = str.maketrans(
    {"ä": "ae", "ö": "oe", "ü": "ue", "Ä": "Ae", "Ö": "Oe", "Ü": "Ue", "ß": "ss", "æ": "ae", "œ": "oe"}
    | {"ø": "o", "Ø": "O", "ł": "l", "Ł": "L"}
    | dict.fromkeys("‐‑‒–—−", "-")
)
_BARE = frozenset(string.ascii_letters + string.digits + string.punctuation + " °·«»‘’“”‹›…±")
"""What Pillow's own font has. Source: Pillow 13.0.0, the glyphs of `ImageFont.load_default`, 2026-11-24."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Panel:
    """A curve or a row of bars, with its axis."""

    name: str
    """What it shows, with the unit."""
    values: Sequence[float | None]
    """One for each step; None leaves a gap."""
    lowest: float | None = None
    """The axis starts here or lower; None: the values decide."""
    highest: float | None = None
    """The axis ends here or higher; None: the values decide."""
    bars: bool = False
    """Whether to draw bars that start at zero instead of a curve."""


def line_chart(
    title: str,
    labels: Mapping[int, str],
    panels: Sequence[Panel],
    *,
    mark: tuple[float, str] | None = None,
    decimal_point: str = ".",
) -> bytes:
    """Draws a PNG with a curve or bars in each panel; equal input gives equal pictures.

    `labels` are written below the steps with those numbers, as far as they fit. `mark` is a position between the first
    and last step, with a word: a line through all panels. The axes have `decimal_point`. Panels without values are left
    out. If none is left, or the machine cannot draw, the bytes are empty.
    """
    shown = [panel for panel in panels if any(value is not None for value in panel.values)]
    if not shown:
        return b""

    def draw(drawing: _Drawing) -> None:
        _draw_title(drawing, title)
        for number, panel in enumerate(shown):
            plot = _plot(panel, top=_HEAD_HEIGHT + number * _PANEL_HEIGHT)
            colour = _CURVES[number % len(_CURVES)]
            _draw_frame(drawing, plot, panel.name, labels, colour, decimal_point)
            if panel.bars:  # bars would hide the mark, while the word of the mark would hide a curve
                _draw_bars(drawing, plot, panel.values, colour)
            if mark is not None:
                _draw_mark(drawing, plot, *mark)
            if not panel.bars:
                _draw_curves(drawing, plot, panel.values, colour)

    return _picture(_WIDTH, _HEAD_HEIGHT + _PANEL_HEIGHT * len(shown), draw)


class _Drawing:
    """Draws in the coordinates of the finished picture."""

    def __init__(self, canvas: Any) -> None:
        """`canvas` is one of Pillow's `ImageDraw`."""
        self._canvas = canvas

    def line(self, points: Sequence[tuple[float, float]], colour: str, width: float = 1) -> None:
        larger = [(x * _LARGER, y * _LARGER) for x, y in points]
        self._canvas.line(larger, fill=colour, width=round(width * _LARGER), joint="curve")

    def dot(self, x: float, y: float, colour: str, radius: float) -> None:
        box = [side * _LARGER for side in (x - radius, y - radius, x + radius, y + radius)]
        self._canvas.ellipse(box, fill=colour)

    def box(self, left: float, top: float, right: float, bottom: float, colour: str) -> None:
        """A filled box, given by its sides in any order."""
        across, down = sorted((left, right)), sorted((top, bottom))
        sides = [side * _LARGER for side in (across[0], down[0], across[1], down[1])]
        self._canvas.rectangle(sides, fill=colour)

    def words(self, x: float, y: float, words: str, size: int, *, anchor: str, colour: str = _INK) -> None:
        """Text whose left end, middle or right end (`l`, `m`, `r`) and half height are at a point."""
        place = (x * _LARGER, y * _LARGER)
        self._canvas.text(place, words, fill=colour, font=_font(size), anchor=f"{anchor}m")

    def note(self, x: float, y: float, words: str, *, anchor: str) -> None:
        """Small text on a background of its own, so that no line crosses it."""
        place, font, edge = (x * _LARGER, y * _LARGER), _font(_LABEL_SIZE), 2 * _LARGER
        left, top, right, bottom = self._canvas.textbbox(place, words, font=font, anchor=f"{anchor}m")
        self._canvas.rectangle((left - edge, top - edge, right + edge, bottom + edge), fill=_PAPER)
        self._canvas.text(place, words, fill=_INK, font=font, anchor=f"{anchor}m")

    def label_width(self, words: str) -> float:
        return _font(_LABEL_SIZE).getlength(words) / _LARGER


@dataclass(frozen=True, kw_only=True, slots=True)
class _Plot:
    """The position of the steps and values of a panel in the picture."""

    ticks: Sequence[float]
    top: float
    bottom: float
    pace: float
    """The distance between steps."""

    def x(self, step: float) -> float:
        return _LEFT + step * self.pace

    def y(self, value: float) -> float:
        low, high = self.ticks[0], self.ticks[-1]
        return self.bottom - (value - low) / (high - low) * (self.bottom - self.top)


def _plot(panel: Panel, *, top: float) -> _Plot:
    """Lays out a panel, whose steps reach its edges."""
    return _Plot(
        ticks=_ticks(panel),
        top=top + _TOP,
        bottom=top + _PANEL_HEIGHT - _BOTTOM,
        pace=(_WIDTH - _LEFT - _RIGHT) / max(len(panel.values) - 1, 1),
    )


def _draw_title(drawing: _Drawing, title: str) -> None:
    drawing.words(_LEFT, _HEAD_HEIGHT // 2, drawable(title)[:_MAX_TITLE_CHARS], _TITLE_SIZE, anchor="l")


def _draw_frame(
    drawing: _Drawing, plot: _Plot, name: str, labels: Mapping[int, str], colour: str, decimal_point: str
) -> None:
    drawing.words(_LEFT, plot.top - _TOP / 2, drawable(name), _NAME_SIZE, anchor="l", colour=colour)
    for tick in plot.ticks:
        drawing.line([(_LEFT, plot.y(tick)), (_WIDTH - _RIGHT, plot.y(tick))], _GRID)
        value = f"{round(tick, 6):g}".replace(".", decimal_point)
        drawing.words(_LEFT - 10, plot.y(tick), value, _LABEL_SIZE, anchor="r", colour=_PALE_INK)
    _draw_labels(drawing, plot, labels)


def _draw_curves(drawing: _Drawing, plot: _Plot, values: Sequence[float | None], colour: str) -> None:
    """Draws a curve for each run of values without a gap."""
    for is_gap, run in itertools.groupby(enumerate(values), key=lambda step: step[1] is None):
        points = [(plot.x(step), plot.y(value)) for step, value in run if value is not None]
        if is_gap:
            continue
        if len(points) > 1:
            drawing.line(points, colour, width=3)
        drawing.dot(*points[0], colour, radius=1.5 if len(points) > 1 else 4)
        drawing.dot(*points[-1], colour, radius=1.5 if len(points) > 1 else 4)


def _draw_bars(drawing: _Drawing, plot: _Plot, values: Sequence[float | None], colour: str) -> None:
    half = plot.pace * _BAR_WIDTH / 2
    for step, value in enumerate(values):
        if value:
            left, right = max(plot.x(step) - half, _LEFT), min(plot.x(step) + half, _WIDTH - _RIGHT)
            drawing.box(left, plot.y(value), right, plot.y(0), colour)


def _draw_mark(drawing: _Drawing, plot: _Plot, step: float, word: str) -> None:
    """Draws a line from top to bottom of a panel, with its word beside it inside the picture."""
    x, words = plot.x(step), drawable(word)
    drawing.line([(x, plot.top), (x, plot.bottom)], _INK, width=1.5)
    is_right = x + drawing.label_width(words) + _LABEL_GAP < _WIDTH - _RIGHT
    drawing.note(x + (6 if is_right else -6), plot.top + _LABEL_SIZE, words, anchor="l" if is_right else "r")


def _draw_labels(drawing: _Drawing, plot: _Plot, labels: Mapping[int, str]) -> None:
    """Draws the labels that fit beside each other and inside the picture, each with a line upwards."""
    taken = 0.0
    for step, label in sorted(labels.items()):
        x, words = plot.x(step), drawable(label)
        half = drawing.label_width(words) / 2
        drawing.line([(x, plot.top), (x, plot.bottom)], _GRID)
        if x - half >= taken and x + half <= _WIDTH:
            drawing.words(x, plot.bottom + _BOTTOM / 2, words, _LABEL_SIZE, anchor="m", colour=_PALE_INK)
            taken = x + half + _LABEL_GAP


def _ticks(panel: Panel) -> Sequence[float]:
    """Returns round values from below the lowest to above the highest, at least two; with zero for bars."""
    ends = (panel.lowest, panel.highest, 0.0 if panel.bars else None)
    bounds = [value for value in (*panel.values, *ends) if value is not None]
    low, high = min(bounds), max(bounds)
    rough = (high - low) / (_MAX_TICKS - 1) or 1
    power = 10.0 ** math.floor(math.log10(rough))
    step = next(factor * power for factor in (1, 2, 2.5, 5, 10) if factor * power >= rough * (1 - 1e-9))
    first, last = math.floor(low / step), math.ceil(high / step)
    return [number * step for number in range(first, max(last, first + 1) + 1)]


def drawable(words: str) -> str:
    """Returns the words as far as they can be drawn, without accents; empty if none of them can be."""
    return " ".join(filter(None, map(_drawable_word, words.split())))


def _drawable_word(word: str) -> str:
    spelled = unicodedata.normalize("NFD", unicodedata.normalize("NFC", word).translate(_SPELLED))
    kept = "".join(sign for sign in spelled if sign in _BARE)
    return kept if any(map(str.isalnum, kept)) or not any(map(str.isalnum, word)) else ""


def _picture(width: int, height: int, draw: Callable[[_Drawing], None]) -> bytes:
    """Returns what `draw` draws as a PNG; empty if the machine cannot draw."""
    try:
        picture = _pillow("Image").new("RGB", (width * _LARGER, height * _LARGER), _PAPER)
        draw(_Drawing(_pillow("ImageDraw").Draw(picture)))
    except (ImportError, OSError) as error:  # Pillow or its font library does not work here
        _log.warning("no chart can be drawn on this machine: %s", type(error).__name__)
        return b""
    file = io.BytesIO()
    picture.reduce(_LARGER).save(file, format="PNG")
    return file.getvalue()


@functools.cache
def _font(size: int) -> Any:
    return _pillow("ImageFont").load_default(size=size * _LARGER)


def _pillow(module: str) -> Any:
    """Imports a module of Pillow with the first chart, which saves memory and time at the start."""
    return importlib.import_module(f"PIL.{module}")
