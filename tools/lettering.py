"""Latin letters with their marks, for fonts that have only ASCII: what can be drawn of words, and the lines to add.

    drawable (words) -> words;   letters (words) -> letters, each with the lines of its marks

A letter is its ASCII base with the lines of an accent, dots, a cedilla or a stroke over it (`é`, `ü`, `ç`, `ł`); `ß`,
`æ`, `œ` and `þ` become two letters. A mark without lines here is left out (`ả` is drawn as `a`), and so is a letter
without an ASCII base. A word that loses all its letters this way, such as `東京`, is left out whole.
"""

import string
import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

Line = Sequence[tuple[float, float]]
"""Points joined by a line; a single one is a dot. The first number goes to the right, the second downwards."""

Side = Literal["above", "below", "across"]

_SPELLED: Mapping[str, str] = {
    "ß": "ss",
    "ẞ": "SS",
    "æ": "ae",
    "Æ": "AE",
    "œ": "oe",
    "Œ": "OE",
    "þ": "th",
    "Þ": "Th",
    "ı": "i",
    # As the caron of tall letters is written.
    "ď": "d’",
    "ť": "t’",
    "ľ": "l’",
    "Ľ": "L’",
    **dict.fromkeys("‐‑‒–—−", "-"),
}
_BARE = frozenset(string.ascii_letters + string.digits + string.punctuation + " °·«»‘’“”‹›…±")
"""What Pillow's own font has. Source: Pillow 13.0.0, the glyphs of `ImageFont.load_default`, 2026-11-24."""

_MARKS: Mapping[str, tuple[Side, Sequence[Line]]] = {
    "\N{COMBINING GRAVE ACCENT}": ("above", [[(-0.1, -0.14), (0.04, 0)]]),
    "\N{COMBINING ACUTE ACCENT}": ("above", [[(-0.04, 0), (0.1, -0.14)]]),
    "\N{COMBINING CIRCUMFLEX ACCENT}": ("above", [[(-0.12, 0), (0, -0.13), (0.12, 0)]]),
    "\N{COMBINING TILDE}": (
        "above",
        [[(-0.13, -0.03), (-0.08, -0.08), (-0.03, -0.08), (0.03, -0.04), (0.08, -0.04), (0.13, -0.09)]],
    ),
    "\N{COMBINING MACRON}": ("above", [[(-0.12, -0.06), (0.12, -0.06)]]),
    "\N{COMBINING BREVE}": ("above", [[(-0.12, -0.12), (-0.07, -0.03), (0.07, -0.03), (0.12, -0.12)]]),
    "\N{COMBINING DOT ABOVE}": ("above", [[(0, -0.05)]]),
    "\N{COMBINING DIAERESIS}": ("above", [[(-0.11, -0.05)], [(0.11, -0.05)]]),
    "\N{COMBINING RING ABOVE}": (
        "above",
        [[(0, 0), (-0.07, -0.03), (-0.07, -0.11), (0, -0.14), (0.07, -0.11), (0.07, -0.03), (0, 0)]],
    ),
    "\N{COMBINING DOUBLE ACUTE ACCENT}": ("above", [[(-0.11, 0), (-0.01, -0.14)], [(0.05, 0), (0.15, -0.14)]]),
    "\N{COMBINING CARON}": ("above", [[(-0.12, -0.13), (0, 0), (0.12, -0.13)]]),
    "\N{COMBINING DOT BELOW}": ("below", [[(0, 0.06)]]),
    "\N{COMBINING COMMA BELOW}": ("below", [[(0.02, 0.04), (-0.03, 0.16)]]),
    "\N{COMBINING CEDILLA}": ("below", [[(0.01, -0.02), (0, 0.05), (0.08, 0.09), (0.05, 0.16), (-0.07, 0.16)]]),
    "\N{COMBINING OGONEK}": ("below", [[(0.14, -0.02), (0.08, 0.08), (0.1, 0.15), (0.19, 0.15)]]),
}
"""Lines in heights of the font, from the middle of the top of the letter, or of its lower end if below."""

_CROSSED: Mapping[str, tuple[str, Line]] = {
    "ø": ("o", [(0.05, 1.05), (0.95, -0.05)]),
    "Ø": ("O", [(0.08, 1.03), (0.92, -0.03)]),
    "ł": ("l", [(0.05, 0.58), (0.95, 0.4)]),
    "Ł": ("L", [(0.06, 0.6), (0.5, 0.4)]),
    "đ": ("d", [(0.45, 0.2), (1.0, 0.2)]),
    "ð": ("d", [(0.45, 0.2), (1.0, 0.2)]),
    "Đ": ("D", [(0.02, 0.5), (0.44, 0.5)]),
    "Ð": ("D", [(0.02, 0.5), (0.44, 0.5)]),
    "ħ": ("h", [(0.02, 0.2), (0.5, 0.2)]),
    "Ħ": ("H", [(0.02, 0.25), (0.98, 0.25)]),
}
"""Letters with a stroke that Unicode does not take apart: the base, and the line in shares of its width and height."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Letter:
    """A letter that can be drawn."""

    base: str
    """A sign that the font has."""
    marks: Sequence[tuple[Side, Sequence[Line]]] = ()
    """Above and below: in heights of the font, from the middle of that end; across: in shares of width and height."""

    @property
    def has_mark_above(self) -> bool:
        """Whether an `i` or `j` loses its dot."""
        return any(side == "above" for side, _ in self.marks)


def drawable(words: str) -> str:
    """Returns the words as far as they can be drawn, with single spaces; empty if none of them can be."""
    return unicodedata.normalize("NFC", " ".join(filter(None, map(_drawable_word, words.split()))))


def letters(words: str) -> list[Letter]:
    """Returns the letters of words from `drawable`, from left to right."""
    return [_letter(sign) for sign in _signs(words)]


def _drawable_word(word: str) -> str:
    spelled = "".join(_SPELLED.get(sign, sign) for sign in unicodedata.normalize("NFC", word))
    kept = "".join(
        sign[0] + "".join(mark for mark in sign[1:] if mark in _MARKS)
        for sign in _signs(spelled)
        if sign[0] in _BARE or sign[0] in _CROSSED
    )
    return kept if any(map(str.isalnum, kept)) or not any(map(str.isalnum, word)) else ""


def _signs(words: str) -> Iterator[str]:
    """Yields each letter with the marks that follow it."""
    sign = ""
    for part in unicodedata.normalize("NFD", words):
        if sign and unicodedata.combining(part):
            sign += part
            continue
        if sign:
            yield sign
        sign = part
    if sign:
        yield sign


def _letter(sign: str) -> Letter:
    base, line = _CROSSED.get(sign[0], (sign[0], ()))
    stroke: list[tuple[Side, Sequence[Line]]] = [("across", [line])] if line else []
    return Letter(base=base, marks=[*stroke, *(_MARKS[mark] for mark in sign[1:])])
