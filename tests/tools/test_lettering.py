"""What of people's and places' names can be drawn, and with which marks."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tools.lettering import drawable, letters


@pytest.mark.parametrize(
    ("words", "drawn"),
    [
        ("Köln, Málaga  Besançon", "Köln, Málaga Besançon"),
        ("Łódź", "Łódź"),
        ("Großbær Žďár", "Grossbaer Žd’ár"),
        ("Nha\N{NO-BREAK SPACE}Tra\u0309ng", "Nha Trang"),
        ("東京 (8 °C)", "(8 °C)"),
        ("Токио 東京", ""),
        ("Санкт-Петербург", ""),
        ("Tokyo東京\N{ZERO WIDTH SPACE}", "Tokyo"),
        ("o\u0438\u0306", "o"),
        ("\u0301a", "a"),
        ("21/11 – 23/11", "21/11 - 23/11"),
    ],
)
def test_words_are_drawn_as_well_as_they_can_be(words: str, drawn: str) -> None:
    """Unknown marks and letters are left out, and so is a word of which no letter is left."""
    assert drawable(words) == drawn


def test_letters_have_the_lines_of_their_marks() -> None:
    """An accent above, a cedilla below, a stroke across, and two marks of one letter."""
    found = [(letter.base, [side for side, _ in letter.marks]) for letter in letters("aéçłế")]
    assert found == [("a", []), ("e", ["above"]), ("c", ["below"]), ("l", ["across"]), ("e", ["above", "above"])]
    acute, grave = ([letter.marks for letter in letters(sign)] for sign in "éè")
    assert acute != grave


@given(st.text(st.characters(exclude_categories=["Cs"]), max_size=12))
def test_any_words_can_be_taken_apart(words: str) -> None:
    """What is drawable once is so again, and every base is a sign of the font."""
    kept = drawable(words)
    assert drawable(kept) == kept
    assert all(letter.base.isascii() or letter.base in "°·«»‘’“”‹›…±" for letter in letters(kept))
