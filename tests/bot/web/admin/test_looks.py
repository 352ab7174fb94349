"""Whether what stands on the pages can be read: the contrast of the colours that the style sheet puts together.

Source: WCAG 2.2, 1.4.3 and 1.4.11 (2023-10-05): 4.5 for words, 3 for what borders a field or shows the focus.
"""

import re
from pathlib import Path

import pytest

STYLE = (Path(__file__).parents[4] / "bot" / "web" / "admin" / "static" / "style.css").read_text()
LIGHT, DARK = (
    dict(re.findall(r"--([\w-]+): (#[0-9a-f]{6})", scheme)) for scheme in STYLE.split("prefers-color-scheme: dark", 1)
)
WORDS = [
    *((ink, paper) for ink in ("ink", "soft", "accent") for paper in ("paper", "panel")),
    ("on-accent", "accent"),
    ("panel", "bad"),
    ("ok", "ok-paper"),
    ("warn", "warn-paper"),
    ("bad", "bad-paper"),
]
SHAPES = [(shape, paper) for shape in ("soft", "accent", "focus", "plot") for paper in ("paper", "panel")]


def luminance(colour: str) -> float:
    shares = [int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)]
    red, green, blue = (share / 12.92 if share <= 0.04045 else ((share + 0.055) / 1.055) ** 2.4 for share in shares)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def contrast(one: str, other: str) -> float:
    darker, lighter = sorted((luminance(one), luminance(other)))
    return (lighter + 0.05) / (darker + 0.05)


@pytest.mark.parametrize("scheme", [LIGHT, DARK], ids=["light", "dark"])
def test_every_pair_of_colours_can_be_told_apart(scheme: dict[str, str]) -> None:
    """Words by 4.5 to 1, borders of fields, the focus and bars by 3 to 1, by day and by night."""
    assert {pair: ratio for pair in WORDS if (ratio := contrast(scheme[pair[0]], scheme[pair[1]])) < 4.5} == {}
    assert {pair: ratio for pair in SHAPES if (ratio := contrast(scheme[pair[0]], scheme[pair[1]])) < 3} == {}


def test_no_other_colours_are_put_together() -> None:
    """A rule that names a paper for words of another kind stands in the list above, or is looked at by nobody."""
    painted = re.findall(r"background: var\(--([\w-]+)\); (?:border[^;]*; )*color: var\(--([\w-]+)\)", STYLE)
    assert painted
    assert {(ink, paper) for paper, ink in painted} <= set(WORDS)
