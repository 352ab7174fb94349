"""Charts: read back as pictures, pixel by pixel."""

import io
from operator import sub
from typing import Any

from PIL import Image

from tools.chart import Panel, line_chart

FIRST, SECOND = (194, 65, 12), (29, 95, 191)
LABELS = {0: "Mon", 2: "Wed"}


def drawn(*panels: Panel, point: str = ".") -> Image.Image:
    return Image.open(io.BytesIO(line_chart("Title", LABELS, panels, point=point)))


def marks(picture: Image.Image, colour: tuple[int, int, int], box: tuple[int, int, int, int]) -> int:
    bare: Any = picture.crop(box).getcolors(1 << 20)
    return sum(count for count, found in bare if max(map(abs, map(sub, found, colour))) < 70)


def test_each_panel_has_its_curve_in_its_colour() -> None:
    """One below the other, on white paper, with words at the head, at the axis and below."""
    picture = drawn(Panel(name="A (°C)", values=[1, 2, 3]), Panel(name="B (%)", values=[3, 2, 1]))
    assert picture.size == (900, 576)
    upper, lower = (64, 100, 876, 280), (64, 360, 876, 540)
    assert marks(picture, FIRST, upper) > 500 > marks(picture, FIRST, lower) == 0
    assert marks(picture, SECOND, lower) > 500 > marks(picture, SECOND, upper) == 0
    for words in ((64, 10, 300, 50), (20, 90, 60, 290), (40, 285, 90, 315)):
        box = picture.crop(words)
        assert len(box.getcolors(1 << 20) or ()) > 5, words


def test_curves_rise_where_values_do_with_gaps_and_dots() -> None:
    """A line over a missing value would be a guess; a lonely value is a dot, and bars stand on zero."""
    picture = drawn(Panel(name="A", values=[0, 1, 2]))
    assert marks(picture, FIRST, (780, 95, 880, 130)) > 20
    assert marks(picture, FIRST, (70, 95, 160, 130)) == 0
    picture = drawn(Panel(name="A", values=[1, 1, None, 1, None, 0]))
    assert marks(picture, FIRST, (100, 95, 190, 290)) > 50
    assert marks(picture, FIRST, (250, 95, 530, 290)) == 0
    assert marks(picture, FIRST, (540, 95, 565, 290)) > 10
    picture = drawn(Panel(name="A", values=[10, 0, 5, None], bars=True))
    full, half, nothing = (66, 102, 150, 280), (515, 193, 690, 280), (250, 95, 420, 290)
    assert marks(picture, FIRST, full) == (150 - 66) * (280 - 102)
    assert marks(picture, FIRST, half) == (690 - 515) * (280 - 193)
    assert marks(picture, FIRST, nothing) == marks(picture, FIRST, (515, 95, 690, 189)) == 0


def test_any_values_can_be_drawn() -> None:
    """Always the same picture, or none; its axes have the decimal point of the language."""
    assert drawn(Panel(name="A", values=[0, 1])) != drawn(Panel(name="A", values=[0, 1]), point=",")
    for values in ([], [None], [1], [5, 5], [1e6, 1e6 + 1e-9], [-1e6, None, 1e6]):
        panels = [Panel(name="A", values=values)]
        assert bool(line_chart("t", LABELS, panels)) == any(value is not None for value in values)
        assert line_chart("t", LABELS, panels) == line_chart("t", LABELS, panels)
