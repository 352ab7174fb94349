"""A text put together from pieces and cut into parts keeps its styles where they belong, and its characters whole."""

from itertools import accumulate

import pytest
from wcwidth import iter_graphemes

from bot.events import Style, Styled, StyleRange
from bot.formatting.spans import PLAIN, Span, StyledText, borders, fitting, join_pieces

BOLD = frozenset({Style.BOLD})
BOTH = frozenset({Style.BOLD, Style.ITALIC})


def bold(start: int, end: int) -> Span:
    return Span(start=start, end=end, style=Style.BOLD)


def italic(start: int, end: int) -> Span:
    return Span(start=start, end=end, style=Style.ITALIC)


def test_pieces_are_merged_and_trimmed() -> None:
    """Pieces of one style that touch are one span; white space at the edges of a span or the text belongs to none."""
    page = join_pieces(
        [("\n ", BOLD), (" a ", BOLD), ("b ", BOTH), ("c", PLAIN), (" ", BOLD), ("d", BOTH), ("\n", PLAIN)]
    )
    assert page == StyledText(text="a b c d", spans=(bold(0, 3), italic(2, 3), bold(6, 7), italic(6, 7)))


@pytest.mark.parametrize(
    ("start", "end", "text", "spans"),
    [
        (0, 11, "ab cd ef gh", (bold(0, 8), italic(3, 11))),
        (0, 6, "ab cd", (bold(0, 5), italic(3, 5))),
        (3, 9, "cd ef", (bold(0, 5), italic(0, 5))),
        (8, 11, " gh", (italic(1, 3),)),
        (2, 3, "", ()),
    ],
)
def test_part(start: int, end: int, text: str, spans: tuple[Span, ...]) -> None:
    """A part has the styles that reach into it, cut and trimmed, counted from its own start."""
    page = StyledText(text="ab cd ef gh", spans=(bold(0, 8), italic(3, 11)))
    assert page.part(start, end) == StyledText(text=text, spans=spans)


def test_style_covers_whole_characters() -> None:
    """A style on a part of a character is on all of it, and styles that meet there are one."""
    page = join_pieces([("e", BOLD), ("\u0301", PLAIN), ("x", BOLD), ("🇩", PLAIN), ("🇪", BOTH)])
    assert page.spans == (bold(0, 5), italic(3, 5))


def test_styled_counts_in_utf16() -> None:
    """Ranges go out in UTF-16 code units, the longer first where two begin together."""
    page = join_pieces([("😀 ", PLAIN), ("a", BOTH), ("😀", BOLD)])
    assert page.for_signal() == Styled(
        text="😀 a😀",
        styles=(StyleRange(start=3, length=3, style=Style.BOLD), StyleRange(start=3, length=1, style=Style.ITALIC)),
    )


def test_no_character_is_cut() -> None:
    """It has borders at its two ends only; nothing joins a line end, and a space joins nothing before it."""
    for character in (  # accents, emoji, flags, variants, kana, jamo, Indic conjuncts, Thai, Arabic, Hebrew
        *("a", "e\u0301", "a\u0308\u0304", "🎉", "❤\ufe0f", "1\ufe0f\u20e3", "👍🏽", "👨‍👩‍👧‍👦", "👩🏽‍🚀", "🇩🇪"),
        *("🏴\U000e0067\U000e0062\U000e0065\U000e006e\U000e0067\U000e007f", "葛\U000e0100", "ｶ\uff9e", "か\u3099"),
        *("\u1112\u1161\u11ab", "가\u11ab", "क्षि", "क्\u093cष", "\u0d4eക", "กำ", "\u0600١", "שׁ"),
    ):
        text, whole = f"x{character}{character} y", len(character)
        found = [index for index, mark in enumerate(borders(text)) if mark]
        assert found == [0, 1, 1 + whole, 1 + 2 * whole, *range(2 + 2 * whole, len(text) + 1)], ascii(character)
    for text, marks in (("\n\u0301", [1, 1, 1]), ("\u200d ", [1, 1, 1]), (" \u0301", [1, 0, 1])):
        assert list(borders(text)) == marks


def test_signs_that_are_not_looked_up_join_nothing() -> None:
    """Each of the first 12,288 has the borders that the library gives it, beside itself, a letter and a bullet."""
    signs = [chr(point) for point in range(0x3000) if chr(point) != "\r"]
    for text in (side for sign in signs for side in (sign + sign, f"a{sign}é", f"•{sign}→")):
        ends = set(accumulate(map(len, iter_graphemes(text)), initial=0))
        assert list(borders(text)) == [int(place in ends) for place in range(len(text) + 1)], ascii(text)


@pytest.mark.parametrize(("limit_bytes", "end"), [(0, 1), (1, 2), (2, 2), (3, 3), (6, 3), (7, 4), (9, 4)])
def test_fitting(limit_bytes: int, end: int) -> None:
    """As many code points as fit in so many bytes, never half of one."""
    assert fitting("xaé😀", 1, limit_bytes) == end
