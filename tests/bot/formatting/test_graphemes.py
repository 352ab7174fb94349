"""What one character is, in scripts where that takes several code points, and what Signal cannot carry."""

import sys
import unicodedata
from itertools import accumulate

import pytest
from wcwidth import iter_graphemes

from bot.formatting.graphemes import MAX_CODE_POINTS, borders, fitting, sendable_text

CHARACTERS = [
    ("letter", "a"),
    ("accent", "e\u0301"),
    ("two accents", "a\u0308\u0304"),
    ("emoji", "🎉"),
    ("variation selector", "❤\ufe0f"),
    ("keycap", "1\ufe0f\u20e3"),
    ("skin tone", "👍🏽"),
    ("family", "👨‍👩‍👧‍👦"),
    ("profession with skin tone", "👩🏽‍🚀"),
    ("flag", "🇩🇪"),
    ("flag of tags", "🏴\U000e0067\U000e0062\U000e0065\U000e006e\U000e0067\U000e007f"),
    ("ideograph with variant", "葛\U000e0100"),
    ("halfwidth voiced kana", "ｶ\uff9e"),
    ("kana with mark", "か\u3099"),
    ("syllable of jamo", "\u1112\u1161\u11ab"),
    ("syllable and final", "가\u11ab"),
    ("devanagari conjunct", "क्षि"),
    ("conjunct with a nukta", "क्\u093cष"),
    ("dot reph", "\u0d4eക"),
    ("thai vowel", "กำ"),
    ("arabic number sign", "\u0600١"),
    ("hebrew points", "שׁ"),
]


@pytest.mark.parametrize("character", [each for _, each in CHARACTERS], ids=[name for name, _ in CHARACTERS])
def test_character_is_not_cut(character: str) -> None:
    """A character has borders at its two ends only, also beside others of its kind."""
    text = f"x{character}{character} y"
    whole = len(character)
    assert [index for index, mark in enumerate(borders(text)) if mark] == [
        0,
        1,
        1 + whole,
        1 + 2 * whole,
        *range(2 + 2 * whole, len(text) + 1),
    ]


def test_accents_of_every_script_join() -> None:
    """Every combining mark of Unicode joins the letter before it, but those that Unicode takes for letters: they stand
    beside one, in three scripts.
    """
    marks = [chr(point) for point in range(sys.maxunicode + 1) if unicodedata.category(chr(point)).startswith("M")]
    alone = [unicodedata.name(mark) for mark in marks if borders("a" + mark)[1]]
    assert len(alone) == 31
    assert all(name.startswith(("MYANMAR ", "TAI THAM VOWEL SIGN ", "AHOM VOWEL SIGN ")) for name in alone)


def test_line_feeds_and_spaces_are_characters_of_their_own() -> None:
    """Nothing joins a line end, and a space joins nothing before it."""
    assert list(borders("\n\u0301")) == [1, 1, 1]
    assert list(borders("\u200d ")) == [1, 1, 1]
    assert list(borders(" \u0301")) == [1, 0, 1]


def test_signs_that_are_not_looked_up_join_nothing() -> None:
    """Each sign of the first 12,288 has the borders that the library gives it, beside itself, a letter and a bullet:
    those that are taken for characters of their own are.
    """
    signs = [chr(point) for point in range(0x3000) if chr(point) != "\r"]
    for text in (side for sign in signs for side in (sign + sign, f"a{sign}é", f"•{sign}→")):
        ends = set(accumulate(map(len, iter_graphemes(text)), initial=0))
        assert list(borders(text)) == [int(place in ends) for place in range(len(text) + 1)], ascii(text)


def test_endless_character_is_cut() -> None:
    """Accents stacked without end do not make one character of a whole message."""
    marks = borders("a" + "\u0301" * 100)
    assert [index for index, mark in enumerate(marks) if mark] == [
        0,
        *range(MAX_CODE_POINTS, 101, MAX_CODE_POINTS),
        101,
    ]


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("a\tb\nc", "a\tb\nc"),
        ("a\r\nb\rc\x0bd\x0ce\x85f\u2028g\u2029h", "a\nb\nc\nd\ne\nf\ng\nh"),
        ("a\x00b\x07c\x1bd\x7fe\x9bf", "abcdef"),
        ("\ud83d\ude00\ud83d!\ude00", "😀\ufffd!\ufffd"),
        ("a\u200d\u200fb\ufeff", "a\u200d\u200fb\ufeff"),
    ],
)
def test_cleaned(text: str, wanted: str) -> None:
    """Line ends become one, controls go, halves of surrogate pairs are joined or replaced, all else stays."""
    assert sendable_text(text) == wanted


@pytest.mark.parametrize(("limit_bytes", "end"), [(0, 1), (1, 2), (2, 2), (3, 3), (6, 3), (7, 4), (9, 4)])
def test_fitting(limit_bytes: int, end: int) -> None:
    """As many code points as fit in so many bytes, never half of one."""
    assert fitting("xaé😀", 1, limit_bytes) == end
