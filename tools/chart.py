"""Draws curves or bars over common steps in panels one above the other, such as the weather by the hour.

Charts are drawn at double size and scaled down, because Pillow does not smooth lines; all lengths here are those of the
double size. Pillow's own font has only ASCII and a few signs, so letters are drawn without accents, and words of other
scripts are left out (`drawable`). If there is nothing to draw, the bytes are empty and the caller has to use words.

Source: Pillow 13.0.0, `ImageFont.load_default` and `ImageDraw`, 2026-11-22. A chart takes 0.1 seconds and 60 KB.
"""

import functools
import io
import itertools
import math
import string
import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

PNG = "image/png"

_WIDTH, _PANEL_HEIGHT, _HEAD_HEIGHT = 1800, 520, 112
_LEFT, _RIGHT, _TOP, _BOTTOM = 128, 48, 88, 68
_TITLE_SIZE, _NAME_SIZE, _LABEL_SIZE = 48, 36, 32
_PAPER, _INK, _PALE_INK, _GRID = "#ffffff", "#1f2430", "#5b6270", "#d9dce2"
_CURVES = ("#c2410c", "#1d5fbf", "#15803d", "#7e22ce")
_GRID_WIDTH, _CURVE_WIDTH = 2, 6
_MAX_TICKS = 5
_LABEL_GAP = 28
_MAX_TITLE_CHARS = 60
_BAR_WIDTH = 0.7  # share of the width of a step
_LITTLE_RAIN = {"mm": 1.0, "inch": 0.05}
_LABEL_EVERY_HOURS = 3
_MAX_HOURS_LABELLED = 26  # charts of more hours label the days
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


CHART_WORDS: Mapping[str, tuple[str, str, str]] = {
    "en": ("Temperature", "Chance of rain", "Rain and snow per hour"),
    "de": ("Temperatur", "Regenwahrscheinlichkeit", "Regen und Schnee pro Stunde"),
    "fr": ("Température", "Risque de pluie", "Pluie et neige par heure"),
    "es": ("Temperatura", "Probabilidad de lluvia", "Lluvia y nieve por hora"),
}
"""The names of the three panels by ISO code of the language."""


def weather_chart(
    place: str,
    steps: Sequence[datetime],
    values: Sequence[Sequence[float | None]],
    units: tuple[str, str],
    language: str,
) -> bytes:
    """Draws warmth, chance and amount of rain by hours; `units` are of the first and the last. Empty without any."""
    from babel.dates import format_skeleton  # noqa: PLC0415 - as below

    language = language if language in CHART_WORDS else "en"
    names = CHART_WORDS[language]
    warmth, wet = units
    temperature, chance, amount = values
    panels = (
        Panel(name=f"{names[0]} ({warmth})", values=temperature),
        Panel(name=f"{names[1]} (%)", values=chance, lowest=0, highest=100),
        # A tenth of a millimetre must not look like a flood.
        Panel(name=f"{names[2]} ({wet})", values=amount, lowest=0, highest=_LITTLE_RAIN.get(wet), bars=True),
    )

    def day(at: datetime, parts: str) -> str:
        return format_skeleton(parts, at, locale="en_GB" if language == "en" else language)

    if len(steps) <= _MAX_HOURS_LABELLED:
        every = 1 if len(steps) <= _LABEL_EVERY_HOURS * 3 else _LABEL_EVERY_HOURS
        labels = {number: f"{at:%H:%M}" for number, at in enumerate(steps) if at.hour % every == 0}
    else:
        labels = {number: day(at, "Ed") for number, at in enumerate(steps) if at.hour == 0}
    period = " - ".join(dict.fromkeys(day(at, "MMMEd") for at in (*steps[:1], *steps[-1:])))
    title = ": ".join(filter(None, (drawable(place), period)))
    return line_chart(title, labels, panels, point="." if language == "en" else ",")


def line_chart(title: str, labels: Mapping[int, str], panels: Sequence[Panel], *, point: str = ".") -> bytes:
    """Draws a PNG with a curve or bars in each panel that has values, and the labels of steps that fit below."""
    from PIL import Image, ImageDraw  # noqa: PLC0415 - with the first chart, which saves memory and time at the start

    shown = [panel for panel in panels if any(value is not None for value in panel.values)]
    if not shown:
        return b""
    picture = Image.new("RGB", (_WIDTH, _HEAD_HEIGHT + _PANEL_HEIGHT * len(shown)), _PAPER)
    canvas = ImageDraw.Draw(picture)
    _write(canvas, _LEFT, _HEAD_HEIGHT / 2, title[:_MAX_TITLE_CHARS], _TITLE_SIZE)
    for number, panel in enumerate(shown):
        top = _HEAD_HEIGHT + number * _PANEL_HEIGHT + _TOP
        _draw_panel(canvas, panel, labels, top, _CURVES[number % len(_CURVES)], point)
    file = io.BytesIO()
    picture.reduce(2).save(file, format="PNG")
    return file.getvalue()


def _draw_panel(canvas: Any, panel: Panel, labels: Mapping[int, str], top: float, colour: str, point: str) -> None:
    """Draws a panel whose steps reach its edges: bars, or a curve for each run of values and a dot for one alone."""
    ticks = _ticks(panel)
    bottom = top + _PANEL_HEIGHT - _TOP - _BOTTOM
    pace = (_WIDTH - _LEFT - _RIGHT) / max(len(panel.values) - 1, 1)

    def y(value: float) -> float:
        return bottom - (value - ticks[0]) / (ticks[-1] - ticks[0]) * (bottom - top)

    _write(canvas, _LEFT, top - _TOP / 2, panel.name, _NAME_SIZE, colour=colour)
    for tick in ticks:
        canvas.line([(_LEFT, y(tick)), (_WIDTH - _RIGHT, y(tick))], fill=_GRID, width=_GRID_WIDTH)
        value = f"{round(tick / 1e6, 6):g}M" if abs(tick) >= 1e6 else f"{round(tick, 6):g}"  # noqa: PLR2004
        _write(canvas, _LEFT - 20, y(tick), value.replace(".", point), _LABEL_SIZE, anchor="r", colour=_PALE_INK)
    taken = 0.0
    for step, label in sorted(labels.items()):  # those that fit beside each other and inside the picture
        x, half = _LEFT + step * pace, _font(_LABEL_SIZE).getlength(drawable(label)) / 2
        canvas.line([(x, top), (x, bottom)], fill=_GRID, width=_GRID_WIDTH)
        if x - half >= taken and x + half <= _WIDTH:
            _write(canvas, x, bottom + _BOTTOM / 2, label, _LABEL_SIZE, anchor="m", colour=_PALE_INK)
            taken = x + half + _LABEL_GAP
    for _, run in itertools.groupby(enumerate(panel.values), key=lambda step: step[1] is None):
        points = [(_LEFT + step * pace, y(value)) for step, value in run if value or (value == 0 and not panel.bars)]
        if panel.bars:
            half = pace * _BAR_WIDTH / 2
            for x, height in points:
                left, right = max(x - half, _LEFT), min(x + half, _WIDTH - _RIGHT)
                canvas.rectangle((left, min(height, y(0)), right, max(height, y(0))), fill=colour)
        elif len(points) > 1:
            canvas.line(points, fill=colour, width=_CURVE_WIDTH, joint="curve")
        elif points:
            canvas.circle(points[0], _CURVE_WIDTH, fill=colour)


def _write(canvas: Any, x: float, y: float, words: str, size: int, anchor: str = "l", colour: str = _INK) -> None:
    """Writes words whose left end, middle or right end (`l`, `m`, `r`) and half height are at a point."""
    canvas.text((x, y), drawable(words), fill=colour, font=_font(size), anchor=f"{anchor}m")


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
    spelled = unicodedata.normalize("NFD", unicodedata.normalize("NFC", words).translate(_SPELLED))
    kept = "".join(sign for sign in spelled if sign in _BARE)
    return " ".join(kept.split()) if any(map(str.isalnum, kept)) else ""


@functools.cache
def _font(size: int) -> Any:
    from PIL import ImageFont  # noqa: PLC0415 - as above

    return ImageFont.load_default(size=size)
