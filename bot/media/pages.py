"""The content of a web page: HTML, or any other text.

    page --decoded--> HTML --parsed--> article | main | body, without what surrounds it --> lines, links

Headings begin with `#`, list items with `-`, table cells are separated by ` | `, and blocks by an empty line. Runs in a
cell (`bot.media.cell`), whose time is what a page can take that was made to be slow: a hundred thousand attributes in
one tag, or elements nested as deep. The only home of selectolax.

Source: selectolax 1.0.2 (MIT); lexbor behind it took 2.9 s for a tag of 252 kB and 6.2 s for nesting of 244 kB
(measured 2026-11-21); WHATWG HTML, 4.2.5.3 (refresh).
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from selectolax.lexbor import LexborHTMLParser, LexborNode

from bot.media.cell import Facts
from bot.media.texts import decode, tidy

MAX_CHARS = 1_000_000
"""How many characters of an HTML page are read; the rest is left out."""

HTML = "html"
"""The kind of a page with markup; any other is taken as it is."""

_MAX_LINKS = 100  # each character takes up to 12 bytes as JSON, and `bot.media.sandbox` takes 2 MB
_MAX_LABEL_CHARS, _MAX_ADDRESS_CHARS = 200, 1_000
_MIN_CHARS = 200
"""How long an article or a main part must be to stand for the page."""

_UNREAD = frozenset(
    """-comment annotation-xml audio button canvas object script select style svg template textarea title video
    xmp""".split()  # noqa: SIM905
)
_SURROUNDINGS = frozenset({"nav", "footer", "aside"}) | _UNREAD
_DATE_NAMES = ("article:published_time", "datepublished", "date", "dc.date", "dcterms.date", "pubdate")
_MAX_HEAD_CHARS = 500
_REFRESH = re.compile(r"\s*(\d{1,6})[\d.]*\s*[;,\s]\s*(?:url\s*=\s*)?[\"']?([^\"']+)", re.IGNORECASE)
_MAX_REFRESH_SECONDS = 10  # a page that waits longer is there to be read
_FOOTNOTE = re.compile(r"\s*\[\s*(\w{1,3})\s*\]\s*")  # square brackets are the model's citations
_BLOCKS = frozenset(
    """address article blockquote body br caption dd details div dl dt fieldset figcaption figure form frame h1 h2 h3 h4
    h5 h6 header hr iframe li main ol p pre section summary table tbody td tfoot th thead tr ul""".split()  # noqa: SIM905
)
_CELLS = frozenset({"td", "th"})
_FRAMES = frozenset({"frame", "iframe"})
_UNMARKED = (
    *("abbr", "b", "bdi", "bdo", "big", "cite", "code", "em", "font", "i", "kbd", "mark", "q", "small", "span"),
    *("strong", "tt", "u", "var"),
)
"""What is taken out before reading, so that the words around it are one text."""
_SPANS = "sup, sub, del, s, strike, math, msup, msub, msubsup, mfrac, mroot, msqrt, annotation"
"""What is written out before reading, because without its markup a number or a word would mean something else."""
_ORDINAL = re.compile(r"st|nd|rd|th|er|re|ère|ème|tm|sm|[\[(].*", re.IGNORECASE | re.DOTALL)
"""A raised ending that changes no number, or the mark of a footnote."""
_SINGLE = re.compile(r"[+\u2212-]?[\w.,]+")
_LOWERED, _RAISED = str.maketrans("0123456789", "₀₁₂₃₄₅₆₇₈₉"), str.maketrans("₀₁₂₃₄₅₆₇₈₉", "0123456789")
_FRACTION = re.compile("([0-9])?\\^([0-9]+)[/\u2044]([₀-₉]+)")
_TEX = "\0"
_HIDDEN = re.compile(r"display\s*:\s*none|visibility\s*:\s*hidden", re.IGNORECASE)
_STRUCK = re.compile(r"text-decoration[^;]*line-through", re.IGNORECASE)
_FORMULA = re.compile(r"\b(?:tex|latex|math|mwe-math|formula|equation)", re.IGNORECASE)
_MAX_COLUMNS, _MAX_ROWS = 20, 200  # of one cell, whose text stands in each of its rows


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
    body = tree.css_first("frameset") or tree.body
    written = _written(body) if body is not None else _Writer()
    return facts | {"links": written.links}, written.text.encode(errors="ignore")


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
    """Takes out what the page hides, and writes as text what its markup says of words and numbers."""
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
    tree.unwrap_tags(list(_UNMARKED))
    tree.merge_text_nodes()


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
            return _lowered(inner)
        case "del" | "s" | "strike":
            return words.replace(inner, f"~~{inner}~~", 1) if inner else words
        case _:
            return _formula(node.tag or "", [part.text().strip() for part in node.iter()])


def _formula(name: str, parts: list[str]) -> str:
    match name, parts:
        case "msup", [base, raised]:
            return f"{base}^{_grouped(raised)}"
        case "msub", [base, lowered]:
            return base + _lowered(lowered)
        case "msubsup", [base, lowered, raised]:
            return f"{base}{_lowered(lowered)}^{_grouped(raised)}"
        case "mfrac", [above, below]:
            return f"{_grouped(above)}/{_grouped(below)}"
        case "mroot", [base, degree]:
            return f"{_grouped(base)}^(1/{degree})"
        case _:
            return ("√" if name == "msqrt" else "") + _grouped("".join(parts))


def _grouped(words: str) -> str:
    return words if _SINGLE.fullmatch(words) else f"({words})"


def _lowered(words: str) -> str:
    return words.translate(_LOWERED) if words.isdigit() or not words else f"_{words}"


@dataclass
class _Writer:
    """The text as it grows."""

    pieces: list[str] = field(default_factory=list[str])
    links: list[tuple[str, str]] = field(default_factory=list[tuple[str, str]])
    """Words and address of each link, as they are on the page."""
    numbers: dict[int, int] = field(default_factory=dict[int, int])
    """The number of the last item of each list."""
    column: int = 0
    """That of the cell that is open or comes next."""
    cell_at: int = 0
    """Which piece is the first of the cell that is open."""
    held: dict[int, tuple[str, ...]] = field(default_factory=dict[int, tuple[str, ...]])
    """By column, the text of a cell for each further row that it stands in."""
    bullet_at: int = -1
    """Which piece came after the mark of an item: paragraphs do not part the two."""

    @property
    def text(self) -> str:
        return _FRACTION.sub(_fraction, "".join(self.pieces))

    def write(self, words: str, *, is_verbatim: bool) -> None:
        line = " ".join(words.split())
        before = " " if words[:1].isspace() and self.pieces and not self.pieces[-1].endswith((" ", "\n")) else ""
        after = " " if line and words[-1:].isspace() else ""
        self.pieces.append(words if is_verbatim else before + line + after)

    def mark(self, sign: str) -> None:
        if sign and not (sign.isspace() and self.bullet_at == len(self.pieces)):
            self.pieces.append(sign)

    def item(self, node: LexborNode) -> None:
        """Begins an item of a list: `-`, or its number."""
        above, bullet = node.parent, "-"
        if above is not None and above.tag == "ol":
            following = self.numbers.get(above.mem_id, _integer(above, "start", 1) - 1) + 1
            number = self.numbers[above.mem_id] = _integer(node, "value", following)
            bullet = f"{number}."
        self.pieces.append(f"\n{bullet} ")
        self.bullet_at = len(self.pieces)

    def table(self, node: LexborNode, name: str, *, is_open: bool) -> None:
        """Begins or ends a table, a row or a cell; a cell stands in each of its rows, as its text is needed there."""
        if is_open == (name in _CELLS):  # before a cell and at the end of a row: cells of the rows above
            while rest := self.held.pop(self.column, ()):
                self.pieces.append(f"{rest[0]} | ")
                self.held.update({self.column: rest[1:]} if rest[1:] else {})
                self.column += 1
            self.cell_at = len(self.pieces)
        if name not in _CELLS:
            self.column = 0
            self.held = {} if name == "table" else self.held
            self.mark(_mark(name, is_open=is_open))
        elif not is_open:
            columns = min(max(_integer(node, "colspan", 1), 1), _MAX_COLUMNS)
            rows = min(max(_integer(node, "rowspan", 1), 1), _MAX_ROWS) - 1
            words = " ".join("".join(self.pieces[self.cell_at :]).split())[:_MAX_LABEL_CHARS]
            self.held |= {self.column + each: (words,) * rows for each in range(columns) if rows}
            self.column += columns
            self.pieces.append(" | " * columns)

    def frame(self, node: LexborNode) -> None:
        """Writes a link to a page within the page."""
        if address := _given(node, "src"):
            label = f"[frame: {_given(node, 'title') or _given(node, 'name') or address}]"
            self.pieces.append(f"\n\n{label}\n\n")
            self.link(label, address)

    def link(self, words: str, address: str) -> None:
        if len(self.links) < _MAX_LINKS and len(address) <= _MAX_ADDRESS_CHARS:
            self.links.append((words[:_MAX_LABEL_CHARS], address))


def _written(body: LexborNode) -> _Writer:
    """The part of the page that matters, written out."""
    main = body.css_first('main, [role="main"]')
    articles = body.css("article")
    for part in (main, articles[0] if len(articles) == 1 else None):
        if part is not None and len(tidy((writer := _walked(part, _SURROUNDINGS)).text)) >= _MIN_CHARS:
            return writer
    writer = _walked(body, _SURROUNDINGS | {"header"})
    return writer if tidy(writer.text) else _walked(body, _UNREAD)


def _walked(part: LexborNode, left_out: frozenset[str]) -> _Writer:
    """Every node below the part as it begins and, except for text, as it ends; in the order of the page."""
    writer, verbatim = _Writer(), 0
    open_nodes, node = list[LexborNode](), part.child
    while node is not None or open_nodes:
        is_open = node is not None
        here = node if node is not None else open_nodes.pop()
        name = here.tag or ""
        if name == "-text":
            writer.write(here.text_content or "", is_verbatim=verbatim > 0)
        elif name not in left_out:
            verbatim += (1 if is_open else -1) if name == "pre" else 0
            _step(writer, here, name, is_open=is_open)
            if is_open:
                open_nodes.append(here)
                node = here.child
                continue
        node = here.next
    return writer


def _step(writer: _Writer, node: LexborNode, name: str, *, is_open: bool) -> None:
    """Writes what the beginning or the end of an element means."""
    if name == "a" and is_open:
        writer.link(node.text(), _given(node, "href"))
    elif name == "li" and is_open:
        writer.item(node)
    elif name in _FRAMES and is_open:
        writer.frame(node)
    elif name in {"table", "tr", "td", "th"}:
        writer.table(node, name, is_open=is_open)
    elif name in _BLOCKS:
        writer.mark(_mark(name, is_open=is_open))


def _fraction(found: re.Match[str]) -> str:
    """A fraction that was set small, as in recipes: its parts are neither power nor index."""
    return f"{f'{found[1]} ' if found[1] else ''}{found[2]}/{found[3].translate(_RAISED)}"


def _integer(node: LexborNode, name: str, otherwise: int) -> int:
    """The number that an attribute gives."""
    text = node.attributes.get(name)
    return int(text) if text and re.fullmatch(r"-?[0-9]{1,6}", text) else otherwise


def _mark(name: str, *, is_open: bool) -> str:
    """The text that marks the beginning or the end of a block."""
    if name in {"tr", "br", "li", "dt", "dd"}:
        return "\n" if is_open else ""
    if is_open and len(name) == len("h1") and name[0] == "h" and name[1].isdigit():
        return f"\n\n{'#' * int(name[1])} "
    return "\n" if name in {"ul", "ol", "tbody", "thead"} else "\n\n"
