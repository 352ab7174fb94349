"""The content of a web page: HTML, or any other text.

    page --decoded--> HTML --parsed--> article | main | body, without what surrounds it --> lines, links

Headings begin with `#`, list items with `-`, table cells are separated by ` | `, and blocks by an empty line. Runs in a
cell (`bot.media.cell`), whose time limits what a page can take that was made to be slow. The home of selectolax.

Source: selectolax 1.0.2 (MIT), whose lexbor took 2.9 s for a tag of 252 kB and 6.2 s for nesting of 244 kB (measured
2026-11-21); WHATWG HTML, 4.2.5.3 (refresh).
"""

import re
from collections.abc import Sequence
from typing import Any

from selectolax.lexbor import LexborHTMLParser, LexborNode

from bot.media.cell import Facts
from bot.media.texts import decode
from tools import clean_text

MAX_CHARS = 1_000_000
"""How many characters of an HTML page are read; the rest is left out."""

HTML = "html"
"""The kind of a page with markup; any other is taken as it is."""

_MAX_LINKS = 100  # each character takes up to 12 bytes as JSON, and `bot.media.sandbox` takes 2 MB
_MAX_LABEL_CHARS, _MAX_ADDRESS_CHARS = 200, 1_000
_MIN_CHARS = 200
"""How long an article or a main part must be to stand for the page."""

_UNREAD = (
    *("annotation-xml", "audio", "button", "canvas", "object", "script", "select", "style", "svg", "template"),
    *("textarea", "video", "xmp"),
)
_SURROUNDINGS = ("nav", "footer", "aside")
_DATE_NAMES = ("article:published_time", "datepublished", "date", "dc.date", "dcterms.date", "pubdate")
_MAX_HEAD_CHARS = 500
_REFRESH = re.compile(r"\s*(\d{1,6})[\d.]*\s*[;,\s]\s*(?:url\s*=\s*)?[\"']?([^\"']+)", re.IGNORECASE)
_MAX_REFRESH_SECONDS = 10  # a page that waits longer is there to be read
_FOOTNOTE = re.compile(r"\s*\[\s*(\w{1,3})\s*\]\s*")  # square brackets are the model's citations
_BLOCKS = """address, article, blockquote, br, caption, dd, details, div, dl, dt, fieldset, figcaption, figure, form,
    frame, h1, h2, h3, h4, h5, h6, header, hr, iframe, li, main, ol, p, pre, section, summary, table, tbody, tfoot,
    thead, tr, ul"""
_LINES = frozenset({"dd", "dt", "tr"})
_GROUPS = frozenset({"ol", "tbody", "thead", "ul"})
_LINKS = "a[href], frame[src], iframe[src]"
_SPANS = "sup, sub, del, s, strike, math, msup, msub, msubsup, mfrac, mroot, msqrt, annotation"
"""What is written out before reading, because without its markup a number or a word would mean something else."""
_FORMS = {"msup": "{}^{}", "msub": "{}_{}", "msubsup": "{}_{}^{}", "mfrac": "{}/{}", "mroot": "{}^(1/{})"}
_ORDINAL = re.compile(r"st|nd|rd|th|er|re|ère|ème|tm|sm|[\[(].*", re.IGNORECASE | re.DOTALL)
"""A raised ending that changes no number, or the mark of a footnote."""
_SINGLE = re.compile(r"[+\u2212-]?[\w.,]+")
_LOWERED, _RAISED = str.maketrans("0123456789", "₀₁₂₃₄₅₆₇₈₉"), str.maketrans("₀₁₂₃₄₅₆₇₈₉", "0123456789")
_FRACTION = re.compile("([0-9])?\\^([0-9]+)[/\u2044]([₀-₉]+)")
_TEX = "\0"
_BLANK_LINES = re.compile(r"\n{3,}")
_HIDDEN = re.compile(r"display\s*:\s*none|visibility\s*:\s*hidden", re.IGNORECASE)
_STRUCK = re.compile(r"text-decoration[^;]*line-through", re.IGNORECASE)
_FORMULA = re.compile(r"\b(?:tex|latex|math|mwe-math|formula|equation)", re.IGNORECASE)
_MAX_COLUMNS, _MAX_ROWS = 20, 100  # of one cell

_END, _ITEM, _ITEM_END, _SPACE = "\x01", "\x02", "\x03", "\x04"
"""Put between the words: the end of a line, one before an item of a list, the end of its mark, space that stays."""
_BAR = f"{_SPACE}|{_SPACE}"
_SIGNS = str.maketrans({_END: "\n", _ITEM: "\n", _ITEM_END: "", _SPACE: " "})


def preload() -> None:
    """See `bot.media.cell`: has the parser read a page once."""
    serve(b"<title>a</title><main><p>b <a href='/c'>d</a></main>", ("", HTML))


def serve(data: bytes, arguments: Sequence[str]) -> tuple[Facts, bytes]:
    """See `bot.media.cell`; the arguments are the encoding as the server names it, or "", and the kind of the page.

    Returns the text in UTF-8. The facts, all as the page has them: `title`, `date`, `language`, `base` (of its relative
    links, "" means its own address), `refresh` (where it sends browsers on, or ""), `links` (words and address of
    each), `has_password` (whether it asks for one), `has_script`.
    """
    charset, kind = arguments
    text = decode(data, charset, is_html=kind == HTML)
    if kind != HTML:
        return {}, text.encode(errors="ignore")
    tree = LexborHTMLParser(text[:MAX_CHARS])
    facts = _head(tree)
    _write_out(tree)
    part, written = _main_part(tree)
    links = [_link(node) for node in (part.css(_LINKS) if part is not None else ())]
    links = [link for link in links if len(link[1]) <= _MAX_ADDRESS_CHARS][:_MAX_LINKS]
    return facts | {"links": links}, written.encode(errors="ignore")


def _head(tree: LexborHTMLParser) -> dict[str, Any]:
    """What the page says about itself: the first of each."""
    named, refresh = dict[str, str](), ""
    for meta in tree.css("meta"):
        content = _given(meta, "content")
        name = _given(meta, "property") or _given(meta, "name") or _given(meta, "itemprop")
        named.setdefault(name.lower(), content[:_MAX_HEAD_CHARS])
        sent = _REFRESH.match(content) if _given(meta, "http-equiv").lower() == "refresh" else None
        if sent and int(sent[1]) <= _MAX_REFRESH_SECONDS:
            refresh = refresh or sent[2].strip()
    title = tree.css_first("title")
    return {
        "title": " ".join(title.text()[:_MAX_HEAD_CHARS].split()) if title is not None else "",
        "date": next((named[name] for name in _DATE_NAMES if name in named), "")
        or _given(tree.css_first("time[datetime]"), "datetime")[:_MAX_HEAD_CHARS],
        "language": _given(tree.css_first("html"), "lang")[:_MAX_HEAD_CHARS],
        "base": _given(tree.css_first("base"), "href"),
        "refresh": refresh,
        "has_password": any(_given(field, "type").lower() == "password" for field in tree.css("input")),
        "has_script": tree.css_first("script") is not None,
    }


def _given(node: LexborNode | None, name: str) -> str:
    """The value of an attribute; "" if there is none."""
    return (node.attributes.get(name) or "").strip() if node is not None else ""


def _write_out(tree: LexborHTMLParser) -> None:
    """Takes out what is no text or hidden, and writes as text what the markup says."""
    tree.strip_tags([*_UNREAD])
    for node in reversed(tree.css("[hidden], [style], img[alt], .katex-html, a[href*='#']")):  # the inner ones first
        style, words = _given(node, "style"), node.text()
        is_hidden = "hidden" in node.attributes or _HIDDEN.search(style) or "katex-html" in _given(node, "class")
        if node.tag == "img" and _FORMULA.search(f"{_given(node, 'class')} {_given(node, 'src')}"):
            node.replace_with(f" {_given(node, 'alt')} ")
        elif is_hidden and node.tag not in {"html", "body"}:
            node.decompose()
        elif node.tag == "a" and (mark := _FOOTNOTE.fullmatch(words)):
            node.replace_with(f"({mark[1]})")
        elif node.child is not None and _STRUCK.search(style) and node.tag not in {"del", "s", "strike"}:
            node.child.insert_before("~~")
            node.insert_child("~~")
    for node in reversed(tree.css(_SPANS)):
        node.replace_with(_in_words(node))
    _fill_tables(tree)
    for cell in tree.css("td, th"):
        cell.insert_after(_BAR)
    _mark_blocks(tree)


def _in_words(node: LexborNode) -> str:
    """An element that raises, lowers, strikes out or is part of a formula, with the signs that say so."""
    words = node.text()
    inner = words.strip()
    match node.tag:
        case "math":  # what comes behind the sign is the same formula in TeX
            return f" {inner.rpartition(_TEX)[2]} " if _TEX in inner else words
        case "annotation":
            return f"{_TEX}{inner}" if "tex" in _given(node, "encoding").lower() else ""
        case "sup":
            return f"^{_grouped(inner)}" if inner and not _ORDINAL.fullmatch(inner) else words
        case "sub":
            return inner.translate(_LOWERED) if inner.isdigit() or not inner else f"_{inner}"
        case "del" | "s" | "strike":
            return words.replace(inner, f"~~{inner}~~", 1) if inner else words
        case name:  # a part of a formula
            parts = [_grouped(part.text().strip()) for part in node.iter()]
            form = _FORMS.get(name or "", "")
            if form.count("{}") != len(parts):
                form, parts = "√{}" if name == "msqrt" else "{}", [_grouped(inner)]
            return form.format(*parts)


def _grouped(words: str) -> str:
    return words if _SINGLE.fullmatch(words) else f"({words})"


def _fill_tables(tree: LexborHTMLParser) -> None:
    """Puts an empty cell behind one for each further column that it takes, and its words into each further row: else
    what stands there would move under another heading.
    """
    for cell in tree.css("td[colspan], th[colspan]"):
        for _ in range(1, min(_integer(cell, "colspan", 1), _MAX_COLUMNS)):
            further = tree.create_node("td")
            if "rowspan" in cell.attributes:
                further.attrs["rowspan"] = _given(cell, "rowspan")
            cell.insert_after(further)
    for cell in tree.css("td[rowspan], th[rowspan]"):
        words, rows = " ".join(cell.text().split())[:_MAX_LABEL_CHARS], min(_integer(cell, "rowspan", 1), _MAX_ROWS)
        row = cell.parent
        place = 0 if row is None else [one.mem_id for one in _cells(row)].index(cell.mem_id)
        while row is not None and rows > 1:
            row = row.next
            if row is not None and row.tag == "tr":
                further, rows = tree.create_node("td"), rows - 1
                further.insert_child(words)
                there = _cells(row)[place:]
                if there:
                    there[0].insert_before(further)
                else:
                    row.insert_child(further)


def _cells(row: LexborNode) -> list[LexborNode]:
    return [one for one in row.iter() if one.tag in {"td", "th"}]


def _mark_blocks(tree: LexborHTMLParser) -> None:
    """Ends the line where a block begins or ends, and marks headings, items and frames."""
    numbers = dict[int, int]()  # of the last item of each list
    for node in tree.css(_BLOCKS):
        name = node.tag or ""
        before = after = _END if name in _GROUPS else 2 * _END
        if name in _LINES or name == "br":
            before, after = _END, ""
        elif name == "li":
            before, after = f"{_ITEM}{_bullet(node, numbers)} {_ITEM_END}", ""
        elif re.fullmatch("h[1-6]", name):
            before += f"{'#' * int(name[1])} "
        elif name in {"frame", "iframe"} and _given(node, "src"):
            before += _link(node)[0] + 2 * _END
        node.insert_before(before)
        node.insert_after(after)
    for node in [part for pre in tree.css("pre") for part in pre.traverse(include_text=True)]:
        if node.tag == "-text":
            words = (node.text_content or "").expandtabs(4)
            node.replace_with(words.replace(" ", _SPACE).replace("\n", _END))


def _bullet(item: LexborNode, numbers: dict[int, int]) -> str:
    """The mark of an item of a list: `-`, or its number."""
    above = item.parent
    if above is None or above.tag != "ol":
        return "-"
    following = numbers.get(above.mem_id, _integer(above, "start", 1) - 1) + 1
    numbers[above.mem_id] = _integer(item, "value", following)
    return f"{numbers[above.mem_id]}."


def _main_part(tree: LexborHTMLParser) -> tuple[LexborNode | None, str]:
    """The part of the page that matters, and its text; takes out what surrounds it."""
    body = tree.css_first("frameset") or tree.body
    tree.strip_tags([*_SURROUNDINGS])
    articles = tree.css("article")
    for part in (tree.css_first('main, [role="main"]'), articles[0] if len(articles) == 1 else None):
        if part is not None and len(text := _laid_out(part)) >= _MIN_CHARS:
            return part, text
    tree.strip_tags(["header"])
    return body, _laid_out(body) if body is not None else ""


def _laid_out(part: LexborNode) -> str:
    line = " ".join(part.text().split())
    line = re.sub(f" ?([{_END}{_ITEM}{_SPACE}]) ?", r"\1", line)
    line = re.sub(f"{_ITEM_END}[ {_END}]*", "", line)  # paragraphs do not part an item from its mark
    # Without what is invisible, which would leave lines that only look empty.
    lines = clean_text(_FRACTION.sub(_fraction, line.translate(_SIGNS))).split("\n")
    return _BLANK_LINES.sub("\n\n", "\n".join(line.rstrip().removesuffix(" |") for line in lines)).strip()


def _link(node: LexborNode) -> tuple[str, str]:
    """The words and the address of a link, or of a page within the page, as they are there."""
    if node.tag == "a":
        written = node.text()
        words = written.translate(_SIGNS)
        marks = "#-|" if words != written else ""  # of the blocks in it; others are its own, as in C#
        return words.strip(f"{marks} \n")[:_MAX_LABEL_CHARS], _given(node, "href")
    address = _given(node, "src")
    return f"[frame: {_given(node, 'title') or _given(node, 'name') or address}]"[:_MAX_LABEL_CHARS], address


def _fraction(found: re.Match[str]) -> str:
    """A fraction that was set small, as in recipes: its parts are neither power nor index."""
    return f"{f'{found[1]} ' if found[1] else ''}{found[2]}/{found[3].translate(_RAISED)}"


def _integer(node: LexborNode, name: str, otherwise: int) -> int:
    text = node.attributes.get(name)
    return int(text) if text and re.fullmatch(r"-?[0-9]{1,6}", text) else otherwise
