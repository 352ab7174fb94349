"""What Markdown becomes in Signal: exact texts and ranges, and what holds for whatever a model writes."""

from collections import Counter

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bot.events import Styled, utf16_offsets
from bot.formatting.layout import style_beginning
from bot.formatting.markdown import tokens
from bot.formatting.spans import borders, sendable_text

Row = tuple[str, str, str, tuple[str, ...]]
"""A name, the Markdown, the text, and its ranges as signal-cli writes them: start, length and style."""


STYLES: list[Row] = [
    ("plain", "Hello, world.", "Hello, world.", ()),
    ("bold", "a **b** c", "a b c", ("2:1:BOLD",)),
    ("italic", "a *b* c", "a b c", ("2:1:ITALIC",)),
    ("struck", "a ~~b~~ c", "a b c", ("2:1:STRIKETHROUGH",)),
    ("spoiler", "a ||b c|| d", "a b c d", ("2:3:SPOILER",)),
    ("code", "a `b c` d", "a b c d", ("2:3:MONOSPACE",)),
    ("bold italic", "***a***", "a", ("0:1:BOLD", "0:1:ITALIC")),
    ("spoiler in bold in struck", "~~a **b ||c||**~~", "a b c", ("0:5:STRIKETHROUGH", "2:3:BOLD", "4:1:SPOILER")),
    ("style over lines", "**a\nb**", "a\nb", ("0:3:BOLD",)),
    ("space inside code", "a `` `b` `` c", "a `b` c", ("2:3:MONOSPACE",)),
    ("no markers in code", "`**a** ~~b~~ ||c||`", "**a** ~~b~~ ||c||", ("0:17:MONOSPACE",)),
    ("unclosed", "**a *b ~~c ||d `e", "**a *b ~~c ||d `e", ()),
    ("spaced markers", "2 * 3 * 4 ** 5 || 6 ~~ 7", "2 * 3 * 4 ** 5 || 6 ~~ 7", ()),
    ("emphasis beside punctuation", '(*a*), "**b**"!', '(a), "b"!', ("1:1:ITALIC", "6:1:BOLD")),
    ("label before a word", "**Note:**this", "Note:this", ("0:5:BOLD",)),
    ("part of word", "**Haupt**bahnhof", "Hauptbahnhof", ("0:5:BOLD",)),
]

BLOCKS: list[Row] = [
    ("heading close", "text\n## Title ##\ntext", "text\n\nTitle\n\ntext", ("6:5:BOLD",)),
    ("heading styles", "### a *b* `c`", "a b c", ("0:5:BOLD", "2:1:ITALIC", "4:1:MONOSPACE")),
    ("heading empty", "#", "#", ()),
    ("hashtag", "#tag and C# too", "#tag and C# too", ()),
    ("underline", "Title\n=====\ntext", "Title\n=====\ntext", ()),
    ("rule below text", "a\n---\nb", "a\n\n———\n\nb", ()),
    ("bullets", "- a\n* b", "• a\n• b", ()),
    ("plus", "2\n+ 3\n= 5", "2\n+ 3\n= 5", ()),
    ("nested list", "- a\n  - b\n    - c\n- d", "• a\n  • b\n    • c\n• d", ()),
    ("numbers", "3. a\n4. b\n   - c", "3. a\n4. b\n   • c", ()),
    ("loose", "- a\n\n- b\n\n  c", "• a\n\n• b\n\n  c", ()),
    ("item lines", "- a\n  b\nc", "• a\n  b\n  c", ()),
    ("list after text", "Text:\n- a\n- b\n\nafter", "Text:\n• a\n• b\n\nafter", ()),
    ("tasks", "- [ ] a\n- [x] **b**\n- [X] c\n- [y] d", "☐ a\n☑ b\n☑ c\n• [y] d", ("6:1:BOLD",)),
    ("empty items", "-\n- a\n-", "•\n• a\n•", ()),
    ("year", "1986. A year.\n\nIn\n1986. what", "1986. A year.\n\nIn\n1986. what", ()),
    ("quote in list", "- a\n  > b\n  > c", "• a\n  > b\n  > c", ()),
    ("quote", "> a\n> b", "> a\n> b", ()),
    ("more than", ">50% of people", "> 50% of people", ()),
    ("empty quote", "a\n\n>\n\nb", "a\n>\n\nb", ()),
    ("code block", "```python\nif a:\n    b **c**\n```", "if a:\n    b **c**", ("0:17:MONOSPACE",)),
    ("unclosed fence", "```\na\nb", "a\nb", ("0:3:MONOSPACE",)),
    ("empty fence", "a\n```\n```\nb", "a\nb", ()),
    ("words behind a fence", "```just words", "just words", ("0:10:MONOSPACE",)),
    ("code in list", "1. a\n   ```sh\n   b\n     c\n   ```\n2. d", "1. a\nb\n  c\n\n2. d", ("5:5:MONOSPACE",)),
    ("code first in item", "- ```\n  a\n  b\n  ```", "•\na\nb", ("2:3:MONOSPACE",)),
    ("code in quote", "> ```\n> a\n> b\n> ```", "> a\n> b", ("2:5:MONOSPACE",)),
    ("indented", "a\n\n    b\n      c\n\nd", "a\n\n    b\n      c\n\nd", ()),
]

TABLES: list[Row] = [
    (
        "table",
        "| Name | Age |\n|---|--:|\n| Ann | 30 |\n| Bo | 4 |",
        "Name  Age\n────  ───\nAnn   30\nBo    4",
        ("0:36:MONOSPACE",),
    ),
    (
        "wide table",
        "| City | Weather today |\n|---|---|\n| Berlin | **rain** and wind<br>later sun |\n| Rome | |",
        "City: Berlin\nWeather today: rain and wind\nlater sun\n\nCity: Rome\nWeather today: –",
        ("0:5:BOLD", "13:19:BOLD", "53:5:BOLD", "64:14:BOLD"),
    ),
    ("emoji table", "|a|b|\n|-|-|\n|🌧|中|", "a: 🌧\nb: 中", ("0:2:BOLD", "6:2:BOLD")),
    ("table without rows", "|a|b|\n|-|-|", "a | b", ()),
    ("surplus cells", "|a|b|\n|-|-|\n|1|2|3|4|", "a  b\n─  ─────────\n1  2 | 3 | 4", ("0:30:MONOSPACE",)),
    ("escaped pipe", "|a|b|\n|-|-|\n|`x\\|y`|z|", "a    b\n───  ─\nx|y  z", ("0:20:MONOSPACE",)),
    ("pipes without table", "a | b\nc | d", "a | b\nc | d", ()),
    ("no label", "| | Und wieviel davon insgesamt|\n|-|-|\n|a|b|", "a\nUnd wieviel davon insgesamt: b", ("2:28:BOLD",)),
]

LINKS: list[Row] = [
    ("link", "see [the page](https://a.de/b_c_d) now", "see the page (https://a.de/b_c_d) now", ()),
    ("host link", "[a.de](https://a.de/)", "https://a.de/", ()),
    ("link title", '[a](https://b "c d")', 'a (https://b "c d")', ()),
    ("empty label", "[](https://a.de)", "https://a.de", ()),
    ("image", "![a cat](https://b/c.png)", "a cat (https://b/c.png)", ()),
    ("autolink", "<https://a.de/x_y_z> <x@a.de>", "https://a.de/x_y_z x@a.de", ()),
    (
        "bare address",
        "https://a.de/__b__/*c*/~~d~~?e=1&amp;f, **https://g.de/h_i_**",
        "https://a.de/__b__/*c*/~~d~~?e=1&amp;f, https://g.de/h_i_",
        ("40:17:BOLD",),
    ),
    ("address of any scheme", "[a](javascript:b)", "a (javascript:b)", ()),
    ("reference", "[a][1]\n\n[1]: https://b", "[a][1]\n\n[1]: https://b", ()),
    ("brackets", "a [b] (c) [d]e", "a [b] (c) [d]e", ()),
]

TEXT: list[Row] = [
    ("tags", "<b>a</b> <br> <!-- c -->\n<div>\nd\n</div>", "<b>a</b> <br> <!-- c -->\n<div>\nd\n</div>", ()),
    ("poem", "a\n  b\n    c", "a\n  b\n    c", ()),
    ("blank lines", "a\n\n\n\nb", "a\n\nb", ()),
    ("formula", "$x_1 * y_1 * z$ and $$a_b*c*$$", "$x_1 * y_1 * z$ and $$a_b*c*$$", ()),
    ("latex", "\\(a^*b^*\\) so \\[ x_{1} *y* \\]", "\\(a^*b^*\\) so \\[ x_{1} *y* \\]", ()),
    ("price", "$5 and *maybe* $6", "$5 and maybe $6", ("7:5:ITALIC",)),
    (
        "product",
        "5*3*2 = 30, a*b*c, (a)*b*(c), 2**3 + x**2 + y**2",
        "5*3*2 = 30, a*b*c, (a)*b*(c), 2**3 + x**2 + y**2",
        (),
    ),
    (
        "names",
        "snake_case_names, __init__.py, _id and a_b_",
        "snake_case_names, __init__.py, id and a_b",
        ("31:10:ITALIC",),
    ),
    (
        "stars",
        "Price* (*) and (*)\n*excl. tax, f***ing, ****1234",
        "Price* (*) and (*)\n*excl. tax, f***ing, ****1234",
        (),
    ),
    ("paths", "C:\\paths C:\\_a\\*.txt \\\\host\\_b ~/x and ~5", "C:\\paths C:\\_a\\*.txt \\\\host\\_b ~/x and ~5", ()),
    (
        "escapes",
        "\\*a\\* snake\\_case \\# \\~ \\| \\` \\$5 \\\\ \\d+\\.\\d",
        "*a* snake_case # ~ | ` $5 \\\\ \\d+\\.\\d",
        (),
    ),
    ("hard breaks", "one\\\n**two\\\nthree** \\\nfour", "one\ntwo\nthree\nfour", ("4:9:BOLD",)),
    ("hard breaks in a list and a quote", "- a\\\n  b\n\n> c\\\n> d", "• a\n  b\n\n> c\n> d", ()),
    ("no hard breaks", "C:\\dir\\\na\\\\\nb\\  \nend\\", "C:\\dir\\\na\\\\\nb\\\nend\\", ()),
    ("escaped angles", "\\<b\\>, 5 \\> 3 and \\</b\\>", "<b>, 5 > 3 and </b>", ()),
    ("escaped list", "1\\. a\n\\- b\n\\+ c\n\\> d", "1. a\n- b\n+ c\n> d", ()),
]

SCRIPTS: list[Row] = [
    (
        "emoji",
        "🎉 **👨\u200d👩\u200d👧\u200d👦** 🇩🇪 *👍🏽*",
        "🎉 👨\u200d👩\u200d👧\u200d👦 🇩🇪 👍🏽",
        ("3:11:BOLD", "20:4:ITALIC"),
    ),
    ("accent", "**e**́x", "éx", ("0:2:BOLD",)),
    ("arabic", "مرحبا *بالعالم*", "مرحبا بالعالم", ("6:7:ITALIC",)),
    ("chinese", "这是**重要**的。**“重点”**。下一句", "这是重要的。“重点”。下一句", ("2:2:BOLD", "6:4:BOLD")),
    ("japanese", "**「重要」**です", "「重要」です", ("0:4:BOLD",)),
    ("line ends", "a\r\nb\rc\u2028d\x0be", "a\nb\nc\nd\ne", ()),
    ("controls", "a\x00b\x1b[1mc\x7fd\x9fe", "ab[1mcde", ()),
    ("surrogates", "\ud83d\ude00 \ud83d a \ude00", "😀 � a �", ()),
    ("deep quote", ">>>>>>>>>>>>>>>>>>>>>>>>>>>>>> a", "> > > > > > > > > > > > >>>>>>>>>>>>>>>>>> a", ()),
]


def styled(markdown: str) -> Styled:
    return style_beginning(sendable_text(markdown), 20_000).for_signal()


def ranges(content: Styled) -> tuple[str, ...]:
    return tuple(f"{each.start}:{each.length}:{each.style}" for each in content.styles)


@pytest.mark.parametrize("rows", [STYLES, BLOCKS, TABLES, LINKS, TEXT, SCRIPTS])
def test_markdown_as_signal_shows_it(rows: list[Row]) -> None:
    """Each marker becomes its style, on whole characters; what is no marker comes out as it went in."""
    found = [(name, (content := styled(markdown)).text, ranges(content)) for name, markdown, _, _ in rows]
    assert found == [(name, text, expected) for name, _, text, expected in rows]


MARKDOWN = st.lists(
    st.sampled_from(
        [
            *"*_`[|\\$<>aé中。\n\t \u0301\u200d\ud83d\x00\U000e0067",
            *(
                "**",
                "__",
                "~~",
                "||",
                "``",
                "](b)",
                "![",
                "http://",
                "<br>",
                "bc",
                "👩🏽‍🚀",
                "🇩🇪",
                "क्षि",
                "שלום",
                "D. ",
            ),
            *("```\n", "# ", "> ", "- ", "1. ", "- [x] ", "\n\n", "  ", "|a|b|\n|-|-|\n|", "---\n"),
        ]
    ),
    max_size=40,
).map("".join)
ANYTHING = st.text(st.characters(exclude_categories=())) | MARKDOWN


@given(ANYTHING)
@settings(max_examples=150, deadline=None)
def test_ranges_are_valid(markdown: str) -> None:
    """Whatever is written: ranges are sorted, within the text, on whole characters, trimmed, merged."""
    content = styled(markdown)
    units = utf16_offsets(content.text)
    where = borders(content.text)
    assert list(content.styles) == sorted(content.styles, key=lambda each: each.start)
    last_end: dict[str, int] = {}
    for each in content.styles:
        start, end = units.index(each.start), units.index(each.start + each.length)
        assert start < end
        assert where[start]
        assert where[end]
        assert not content.text[end - 1].isspace()
        assert not (content.text[start].isspace() and where[start + 1])
        assert each.start > last_end.get(each.style, -1)
        last_end[each.style] = each.start + each.length


@given(MARKDOWN.filter(lambda text: "```" not in text and "~~~" not in text and "<br>" not in text))
@settings(max_examples=150, deadline=None)
def test_no_visible_character_is_lost(markdown: str) -> None:
    """Letters and digits are never markers, so all of them are there (a fence's language and `<br>` apart)."""
    there = Counter(char for char in styled(markdown).text.replace("☑", "x") if char.isalnum())
    wanted = Counter(char for char in markdown if char.isalnum())
    assert wanted <= there


def test_page_ends_at_its_limit() -> None:
    """A page is read up to its limit, and a table cannot make it much longer than that."""
    assert style_beginning("a" * 1000, 300).text == "a" * 300
    table = f"|{'head' * 40}|{'tail' * 40}|\n|-|-|\n" + "|a|b|\n" * 500
    assert 3000 <= len(style_beginning(table, 3000).text) < 3500


def test_large_table_stays_text() -> None:
    """A table of very many columns or rows is not filled up with empty cells, and loses nothing."""
    assert len(tokens("|" + "a|" * 30 + "\n|" + "-|" * 30 + "\n" + "b\n" * 300)) == 3
    long = "|a|\n|-|\n" + "b\n" * 300
    assert len([token for token in tokens(long) if token.type == "td_open"]) == 200
    assert styled(long).text.count("b") == 300
