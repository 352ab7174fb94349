"""Pages of HTML as text: what people would read of them, and nothing that a page can do to whoever reads it."""

from typing import Any

import pytest

from bot.media import pages
from bot.media.cell import FileRefused
from bot.media.library import Library, page_text
from tests.cells import sandbox
from tools import BadArguments, PageLink, PageText

HERE = "https://pier.example/lamps/aldis"
WORDS = "Signal lamps talk across the water, one flash at a time. " * 5
PAGE = f"""<!DOCTYPE html><html lang="en-GB"><head><title>Lamps &amp; flags
 </title><meta property="article:published_time" content="2026-11-02T10:30:00Z">
<script>if (a < b) document.write("<p>written</p>")</script><style>p {{ color: red }}</style></head>
<body><header>Site</header><nav><a href="/all">All pages</a></nav>
<main><header><h1>The <em>Aldis</em> lamp</h1></header>
<p>{WORDS}<a href="../morse?a=1&amp;b=2#top">Morse
code</a>, then more.<br>A new line
<ul><li>one<li>two <b>bold</b></ul>
<table><tr><th>Speed<th>Words<tr><td>slow<td>8</table>
<pre>dit  dah
  dit</pre>
<aside>Buy!</aside></main><footer>(c)</footer></body></html>"""


def read(html: str) -> PageText:
    return page_text(*pages.serve(html.encode(errors="surrogatepass"), ("", "html")), url=HERE)


def test_a_page_is_read_as_people_read_it() -> None:
    """Blocks are apart, words within a line together; what surrounds the article is left out."""
    assert read(PAGE) == PageText(
        title="Lamps & flags",
        date="2026-11-02 10:30",
        language="en-GB",
        links=(PageLink(text="Morse code", url="https://pier.example/morse?a=1&b=2"),),
        has_script=True,
        text=(
            f"# The Aldis lamp\n\n{WORDS}Morse code, then more.\nA new line\n\n- one\n- two bold\n\n"
            "Speed | Words\nslow | 8\n\ndit  dah\n  dit"
        ),
    )


PARTS = {
    "<article>Short.</article><p>Around.": "Short.\n\nAround.",
    f"<article>{WORDS}</article><article>Two.</article>": f"{WORDS.strip()}\n\nTwo.",
    f"<div role=main>{WORDS}</div><p>Around.": WORDS.strip(),
    "<p>1 &lt; 2 &amp; a<b>b</b>c < d": "1 < 2 & abc < d",
    "<p>a<script>x</script><!-- <p>b --> c<textarea>y</textarea>": "a c",
    "<p>hidden\u202e\U000e0041 <svg><text>drawn</text></svg>": "hidden",
    "<p>unended <a href='x": "unended",
    "<table><tr><th>Who<th>Price<th>Note<tr><td>Adult<td rowspan=2>10 €<td>ID<tr><td>Senior<td>none</table>": (
        "Who | Price | Note\nAdult | 10 € | ID\nSenior | 10 € | none"
    ),
    "<table><tr><th rowspan=2 colspan=2>Tour<th>Low<th>High<tr><td>1<td>2<tr><td colspan=3><td>4</table>": (
        "Tour |  | Low | High\nTour |  | 1 | 2\n |  |  | 4"
    ),
    "<table><tr><td rowspan=99>A<td>1<tr><td>2</table>B": "A | 1\nA | 2\n\nB",
    "": "",
}


def test_the_part_that_matters_is_chosen() -> None:
    """One article or main part of some length; else the body; what is no text never."""
    assert {html: read(html).text for html in PARTS} == PARTS


def test_links_are_whole_addresses_each_once() -> None:
    """Relative to where the page says; nothing that is no address of the web, no place within the page itself."""
    for html, urls in (
        ('<base href="/b/"><a href="x">x</a>', ["https://pier.example/b/x"]),
        ('<a href="javascript:x()">x</a><a href="mailto:a@b.example">y</a><a>z</a><a href="http://[">q</a>', []),
        ('<a href="#top">top</a><a href="/a">one</a><a href="/a#b">again</a>', ["https://pier.example/a"]),
    ):
        assert [link.url for link in read(html).links] == urls
    assert [link.text for link in read('<a href="/a"><h2>A title</h2></a>').links] == ["A title"]
    assert [link.text for link in read('<a href="/a">C#</a><a href="/b">-5</a>').links] == ["C#", "-5"]


SIZE = 2_000
HOSTILE = {
    "nested": "<div>" * SIZE,
    "unclosed": "<b><p>" * SIZE,
    "half attributes": '<a x="" y="' * SIZE,
    "entities": "<title>&#" + "9" * SIZE,
    "comments": "<!--" * SIZE,
    "formulas": "<math><msup><mi>x<sup>" * SIZE,
    "raised": "<p>1<sup>2</sup>/<sub>3</sub>" * SIZE,
    "frames": "<iframe src='\">&quot;<b a>' title='<'>" * SIZE,
}


async def test_a_page_is_the_same_in_a_cell() -> None:
    """With all that would have been loaded later, a thousand teasers, and an address without end."""
    library = Library(sandbox())
    for page in (PAGE, *HOSTILE.values()):
        assert await library.read(page.encode(), "html", url=HERE, max_chars=9) == read(page)
    assert (await library.read(b"<p>as it stands", "text", max_chars=9)).text == "<p>as it stands"
    page = f'<a href="/{"😀" * 200_000}">x</a>' + "".join(
        f'<p><a href="/{number}?{"x" * 400}">{"😀" * 350}</a>' for number in range(1_000)
    )
    found = await library.read(page.encode(), "html", url=HERE, max_chars=9)
    assert found == read(page)
    assert len(found.links) == pages._MAX_LINKS
    assert found.text.count("😀") == 350_000


def test_the_mark_of_a_footnote_is_no_citation() -> None:
    """Models cite what a search gave by numbers in square brackets, and copy those of a page into their answers."""
    marks = '<sup><a href="#n1">[1]</a></sup><a href="./Lamp#n-b"><span>[</span>b<span>]</span></a>'
    assert read(f'Lamps{marks} a[1] <a href="/x">[2]</a>').text == "Lamps(1)(b) a[1] [2]"


def test_the_date_and_a_login_are_what_the_page_says() -> None:
    """A date in its head, else its first time; nothing where it cannot be read; a field for a password is enough."""
    for html, date in (
        ('<meta name="date" content="2026-01-02">', "2026-01-02"),
        ('<time datetime="2026-03-04T05:06:07+01:00">x</time><time datetime="2020-01-01">', "2026-03-04 05:06"),
        ('<meta name="date" content="last week">', ""),
    ):
        assert read(html).date == date
    assert read("<form><input name=u><INPUT TYPE=Password></form>").has_password
    assert not read("<form><input name=password></form>").has_password


async def test_what_a_taken_over_cell_says_of_a_page_is_not_believed() -> None:
    """It is refused in words, as when it dies or is too slow; what fits is read as any page."""
    facts: dict[str, Any]
    for facts in ({"title": "x" * 2_000}, {"links": [["x"]]}, {"links": [["x", "/"]] * 1_001}, {"title": 7}):
        with pytest.raises(FileRefused):
            page_text(facts, b"", url=HERE)
    facts = {"links": [["a\u202eb", "javascript:x()"], ["c", "/d"]]}
    found = page_text(facts, b"e\xff\xe2\x80\xae", url=HERE)
    assert found == PageText(text="e\ufffd", links=(PageLink(text="c", url="https://pier.example/d"),))
    with pytest.raises(BadArguments, match="damaged"):
        await Library(sandbox("tests.bot.media")).read(b"", "html", max_chars=9)
    nested = b"<table><tr><td><a href=x>" * 20_000  # each step looks at all others
    with pytest.raises(FileRefused, match="too long"):
        await sandbox().open("pages", nested, "", "html", timeout_seconds=0.5, person="alice")
