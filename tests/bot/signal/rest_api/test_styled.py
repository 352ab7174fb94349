"""Markers for signal-cli-rest-api: what comes out of its parser is the text itself, with the styles that survive."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bot.events import Style, Styled, StyleRange
from bot.signal.rest_api.transport import styled_text
from tests.servers.signal_rest_api import parsed

BOLD, ITALIC, STRIKE, MONO, SPOILER = Style.BOLD, Style.ITALIC, Style.STRIKETHROUGH, Style.MONOSPACE, Style.SPOILER


def styled(text: str, *ranges: tuple[int, int, Style]) -> Styled:
    found = tuple(StyleRange(start=start, length=length, style=style) for start, length, style in ranges)
    return Styled(text=text, styles=found)


@pytest.mark.parametrize(
    ("message", "seen"),
    [
        ("*i* **b** ~s~", ("i b s", ["0:1:ITALIC", "2:1:BOLD", "4:1:STRIKETHROUGH"])),
        ("||x|| `m`", ("x m", ["0:1:SPOILER", "2:1:MONOSPACE"])),
        ("5 * 3 = 15", ("5  3 = 15", [])),
        ("* a\n* b", (" a\n b", ["0:3:ITALIC"])),
        ("a || b", ("a  b", [])),
        ("`a*b*c`", ("abc", ["1:1:ITALIC", "0:3:MONOSPACE"])),
        (r"C:\**bold**", ("C:**bold", [])),
        (r"\*\*\*\*", ("****", [])),
        (r"a | b \| c \n \\", ("a | b | c \\n \\\\", [])),
        ("👋🏾**bold**", ("👋🏾bold", ["4:4:BOLD"])),
        ("||**both**||", ("both", ["0:4:BOLD", "0:4:SPOILER"])),
        ("***both***", ("both", [])),
    ],
)
def test_the_double_reads_markers_as_the_bridge_does(message: str, seen: tuple[str, list[str]]) -> None:
    """The rules that the property below stands on, with their faults."""
    assert parsed(message) == seen


@pytest.mark.parametrize(
    ("content", "message"),
    [
        pytest.param(styled("a bold b", (2, 4, BOLD)), ("a **bold** b", True), id="one style"),
        pytest.param(styled("2*3 is 6", (7, 1, BOLD)), (r"2\*3 is **6**", True), id="specials are escaped"),
        pytest.param(styled("C:\\bold", (3, 4, BOLD)), ("C:\\bold", False), id="a backslash before the marker"),
        pytest.param(styled("*b", (1, 1, BOLD)), ("*b", False), id="a star before a star"),
        pytest.param(styled("🪴 b", (3, 1, ITALIC)), ("🪴 *b*", True), id="units become characters"),
        pytest.param(styled("ab", (0, 1, ITALIC), (1, 1, ITALIC)), ("*a*b", True), id="side by side"),
        pytest.param(styled("abc", (0, 2, BOLD), (1, 2, ITALIC)), ("**ab**c", True), id="crossing"),
        pytest.param(styled("🪴", (0, 1, BOLD)), ("🪴", False), id="half a character"),
        pytest.param(styled("ab", (1, 5, BOLD)), ("ab", False), id="outside the text"),
        pytest.param(styled("ab", (1, 0, BOLD)), ("ab", False), id="empty"),
    ],
)
def test_ranges_become_markers(content: Styled, message: tuple[str, bool]) -> None:
    """Every style that can be told is told; one that would be misread is left out."""
    assert styled_text(content) == message


ALPHABET = st.sampled_from([*"ab *~`|\\\n", "🪴", "e\u0301"])


@settings(max_examples=300, deadline=None)
@given(
    st.lists(ALPHABET, max_size=14).map("".join),
    st.lists(st.tuples(st.integers(0, 14), st.integers(0, 9), st.sampled_from(Style)), max_size=6),
)
def test_people_see_the_text_itself(text: str, ranges: list[tuple[int, int, Style]]) -> None:
    """Whatever the text and its styles: not a character is lost or added, and no style stands where none was asked."""
    content = styled(text, *sorted(ranges))
    message, is_styled = styled_text(content)
    seen, styles = parsed(message) if is_styled else (message, [])
    assert seen == text
    assert set(styles) <= {f"{style.start}:{style.length}:{style.style}" for style in content.styles}
    assert is_styled == bool(styles)
