"""How an answer is cut into messages: where, how many, with which styles, and what is never broken."""

import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bot.events import Style, Styled, utf16_offsets
from bot.formatting.spans import borders
from bot.formatting.split import LIMIT_BYTES, MAX_MESSAGE_BYTES, one_message, parts, split, visible
from tests.bot.formatting.test_markdown import ANYTHING, ranges

MARK = "… (cut: the answer was too long)"


def cut(markdown: str, limit_bytes: int = 200, max_parts: int = 5) -> tuple[Styled, ...]:
    return parts(markdown, limit_bytes=limit_bytes, max_parts=max_parts, cut_mark=MARK)


def texts(markdown: str, limit_bytes: int = 200, max_parts: int = 5) -> tuple[str, ...]:
    return tuple(part.text for part in cut(markdown, limit_bytes, max_parts))


def words(count: int, word: str = "word") -> str:
    return " ".join([word] * count)


def size_bytes(part: Styled) -> int:
    return len(part.text.encode())


def seen(part: Styled) -> list[tuple[str, frozenset[Style]]]:
    units = utf16_offsets(part.text)
    styles: list[set[Style]] = [set() for _ in part.text]
    for each in part.styles:
        for index in range(units.index(each.start), units.index(each.start + each.length)):
            styles[index].add(each.style)
    pairs = zip(part.text, styles, strict=True)
    return [(char, frozenset(style)) for char, style in pairs if not char.isspace() and char != ">"]


def test_an_answer_without_words_is_sent_as_it_stands_or_not_at_all() -> None:
    """Nothing visible is nothing to send; something visible is never answered with silence."""
    for answer in ("", " \n\t ", "\x00\x1b", "\u00a0\u3000\n"):
        assert parts(answer) == ()
    for answer in ("**", "[]()", "```\n```", "\x00[]()"):
        assert parts(answer) == (Styled(text=answer.strip("\x00")),)
    assert one_message(" \n", cut_mark=MARK) == (None, True)


def test_short_answer_is_one_part() -> None:
    """What fits is not cut: 2,000 bytes are one message, one more makes two."""
    assert len(parts("a" * LIMIT_BYTES)) == 1
    assert [size_bytes(part) for part in parts("é" * 1000 + "a")] == [2000, 1]


CUTS = [
    ("paragraph", "\n\n", (f"{words(20)}\n\n{words(8)}. More\nline", words(20))),
    ("line", "\n", (f"{words(20)}\n{words(8)}. More", words(20))),
    ("sentence", " ", (f"{words(15)}. {words(20)}.", f"More {words(20)}")),
    ("quoted sentence", " ", (f"“{words(15)}? {words(20)}!”", f"More {words(20)}")),
    ("word", " ", (words(40), words(10))),
    ("number is no sentence", " ", (f"{words(32)} item 3. {words(6)}", words(12))),
    ("abbreviation is no sentence", " ", (f"{words(34)} z. B. {words(5)}", words(12))),
    ("small letter begins no sentence", " ", (f"{words(33)} e.g. {words(6)}", words(12))),
    ("after little text another border is better", " ", (f"Yes.\n\n{words(20)}. {words(10)}.", f"More {words(30)}")),
    ("character", "", ("a" * 200, "a" * 50)),
    ("chinese sentence", "", ("中文句子在这里。" * 8, "中文句子在这里。" * 2)),
    ("chinese comma", "", ("中文句子在这里，" * 8, "中文句子在这里，" * 2)),
    ("chinese without a pause", "", ("中" * 66, "中" * 10)),
    ("emoji at the edge", "", ("a" * 198, "😀" * 3)),
    ("family at the edge", "", ("a" * 190, "👨‍👩‍👧‍👦!")),
    ("flags at the edge", "", ("x" + "🇩🇪" * 24, "🇩🇪" * 3)),
    ("accents at the edge", "", ("a" * 199, "e\u0301" * 3)),
    ("endless character", "", ("a" + "\u0301" * 99, "\u0301" * 30)),
    ("nested list keeps its indentation", "\n", (f"• {words(30)}", f"  • {words(20)}")),
    ("quote", "\n>\n", (f"> {words(20)}", f"> {words(20)}\n\nend")),
    (
        "stop with a variant",
        "",
        ("中文句子在这里。\ufe00" * 7 + "中文句", "子在这里。\ufe00" + "中文句子在这里。\ufe00"),
    ),
    ("space with an accent", "", ("a" * 199, " \u0301b" * 2)),
]


def test_parts_end_where_a_reader_would_pause() -> None:
    """At a paragraph, else a line, else a sentence, else a word, else between two characters."""
    for name, glue, wanted in CUTS:
        assert texts(glue.join(wanted).replace("•", "-")) == wanted, name


def test_style_goes_on_in_the_next_part() -> None:
    """A style over a cut is in both parts, trimmed, with offsets of each part's own."""
    first, second = cut(f"😀 **{words(30)} *{words(20)}* end**")
    assert ranges(first) == ("3:194:BOLD", "153:44:ITALIC")
    assert ranges(second) == ("0:58:BOLD", "0:54:ITALIC")
    message, _ = one_message(f"😀 **{words(500)}**", cut_mark=MARK)
    assert message is not None
    assert [ranges(part) for part in split(message, max_parts=9, cut_mark=MARK)] == [("3:1994:BOLD",), ("0:504:BOLD",)]


def test_long_answer_ends_with_a_mark() -> None:
    """What does not fit is cut, and the last part says so within its limit, in plain words."""
    found = cut("**" + words(200) + "**", max_parts=3)
    assert [part.text for part in found] == [words(40), words(40), words(33) + "\n\n" + MARK]
    assert ranges(found[2]) == ("0:164:BOLD",)
    assert all(size_bytes(part) <= 200 for part in found)
    # An answer is read up to twice its room; one that shrinks below the room still says that it was cut.
    assert texts("a " + " " * 3000 + "b", max_parts=2) == (f"a\n\n{MARK}",)


def test_white_space_makes_no_part() -> None:
    """A run of white space longer than a part is passed over."""
    assert texts("```\na\n" + " " * 700 + "b\n```") == ("a", "b")
    assert [text.strip() for text in texts(f"```\n{words(30)}\n{' ' * 700}b\n```")] == [words(30), "b"]


HOSTILE = [
    *"*_[`<>\\$|🇩\u0301\u200d\ud800",
    *("**a", "[a](", "![", "](", "`a``", "<a:", "\\(", "\\[", "$$a", "http://", "**a**\u0301", "**中", "[a](<", "a\n"),
    *("*a **b ", "~~a ", "||a ", "> >\n", "- ", "1. ", "#\n", "|a|\n|-|\n", "a|b\n", "```\n", '[a](b "', "&amp;"),
    *("[![a](b)](c)", "\t- ", "***a ", "*_~~||a "),
]


def test_hostile_answers_end_with_the_mark() -> None:
    """Markers without end are read up to a bound, in a time that grows with it, and fit into the parts."""
    for atom in HOSTILE:
        found = cut(atom * (1_000_000 // len(atom)), limit_bytes=500, max_parts=3)
        assert 1 <= len(found) <= 3, atom
        assert found[-1].text.endswith(MARK), atom
        assert all(size_bytes(part) <= 500 for part in found), atom


@pytest.mark.parametrize("text", ["|a|b|\n|-|-|\n|c|d|\n\n", "```\n" + "a\n" * 500 + "```\n"])
def test_a_message_of_thousands_of_blocks_is_cut_quickly(text: str) -> None:
    """Whatever may be kept whole is looked at once: nobody else is answered meanwhile."""
    began = time.process_time()
    message, is_whole = one_message(text * (200_000 // len(text)), cut_mark=MARK)
    assert message is not None
    assert not is_whole
    assert time.process_time() - began < 20


@given(st.lists(ANYTHING, max_size=12).map("".join), st.integers(200, 400), st.integers(1, 4))
@settings(max_examples=150, deadline=None)
def test_parts_fit(markdown: str, limit_bytes: int, max_parts: int) -> None:
    """Whatever is written: at most so many parts, none blank, none too large, none split in a character."""
    found = cut(markdown, limit_bytes, max_parts)
    assert len(found) <= max_parts
    for part in found:
        assert part.text.strip()
        assert size_bytes(part) <= limit_bytes
        assert all(borders(part.text)[utf16_offsets(part.text).index(each.start)] for each in part.styles)


@given(st.lists(ANYTHING, min_size=3, max_size=30).map("\n".join), st.integers(200, 300))
@settings(max_examples=100, deadline=None)
def test_parts_lose_nothing(markdown: str, limit_bytes: int) -> None:
    """The parts together show every character of the whole, each with its styles, in order."""
    (whole, *_) = parts(markdown, limit_bytes=1_000_000, max_parts=1) or (Styled(text=""),)
    found = [pair for part in parts(markdown, limit_bytes=limit_bytes, max_parts=1000) for pair in seen(part)]
    assert found == seen(whole)


@pytest.mark.parametrize(("size", "is_whole"), [(MAX_MESSAGE_BYTES, True), (MAX_MESSAGE_BYTES + 1, False)])
def test_one_message_holds_what_signal_carries(size: int, is_whole: bool) -> None:
    """64 KiB, not one byte more; what is cut says so."""
    content, found = one_message("é" * (size // 2) + "a" * (size % 2), cut_mark=MARK)
    assert content is not None
    assert found is is_whole
    assert size_bytes(content) <= MAX_MESSAGE_BYTES
    assert content.text.endswith(MARK) is not is_whole


def test_a_page_that_grows_is_seen_to_its_end() -> None:
    """As some of CommonMark's examples: a rule and the bars of a quote are longer than their signs."""
    for markdown in ("---\nFoo\n---\nBar\n---\nBaz", "> > > foo\nBaz", "***\nBaz", "- a\n\n---\nBaz"):
        assert visible(markdown).text.endswith("Baz")
