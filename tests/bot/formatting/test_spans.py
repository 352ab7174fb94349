"""A text put together from pieces and cut into parts keeps its styles where they belong."""

import pytest

from bot.events import Style, Styled, StyleRange
from bot.formatting.spans import PLAIN, Span, StyledText, join_pieces

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


def test_blank_pieces() -> None:
    """White space alone is no text, whatever its style."""
    assert join_pieces([(" \n", BOLD), ("", PLAIN)]) == StyledText(text="")


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


def test_followed_by() -> None:
    """A line behind a text has no style and a blank line before it."""
    assert join_pieces([("a", BOLD)]).followed_by("b") == StyledText(text="a\n\nb", spans=(bold(0, 1),))
