"""The content of a web page: HTML, or any other text.

    page --decoded, sieved--> safe HTML --parsed--> article | main | body, without what surrounds it --> lines, links

Headings begin with `#`, list items with `-`, table cells are separated by ` | `, and blocks by an empty line. Runs in a
cell (`bot.media.cell`); the only home of selectolax. Left to others: what of it is visible, which links lead anywhere
(`bot.media.pdf_port`), where the page came from and how much of it is shown (`tools.web.tool`).

Source: selectolax 1.0.2 (MIT): at most `MAX_CHARS` of what `bot.media.sieve` lets through take it a few hundredths of a
second (measured 2026-11-22).
"""

import codecs
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from selectolax.lexbor import LexborHTMLParser, LexborNode

from bot.media.cell import Facts
from bot.media.sieve import sieve_page
from bot.media.texts import tidy

MAX_CHARS = 1_000_000
"""How many characters of an HTML page are read; the rest is left out."""

HTML = "html"
"""The kind of a page with markup; any other is taken as it is."""

_MAX_LINKS = 1_000  # a page can link to one place ten thousand times
_MAX_LABEL_CHARS = 200
_MAX_LINKS_CHARS = 150_000
"""Of the words and addresses of all links: each takes up to 12 bytes as JSON, and `bot.media.sandbox` takes 2 MB."""
_MIN_CHARS = 200
"""How long an article or a main part must be to stand for the page."""

_SURROUNDINGS = frozenset({"nav", "footer", "aside"})
_FOOTNOTE = re.compile(r"\s*\[\s*(\w{1,3})\s*\]\s*")
_INLINE = frozenset({"-text", "a"})
_CELLS = frozenset({"td", "th"})
_UNSEEN = re.compile("[\u00ad\u200b-\u200f\u202a-\u202e\u2060-\u206f\ufe00-\ufe0f\ufeff\U000e0000-\U000e0fff]")
"""The most common invisible characters, which do not count towards the length of a part."""

# Encodings that pages are written in; Python knows more, among them some that unpack or run code.
_ENCODING = re.compile(
    r"utf-?8|utf-?16(?:le|be)?|us-ascii|(?:iso-?8859|windows|cp)-?\d{1,4}|koi8-[ru]|gb2312|gbk|gb18030|big5"
    r"|euc-(?:jp|kr)|shift[-_]jis|iso-2022-jp|macintosh"
)
# By the web's standard these names mean their larger sisters.
_READ_AS = {"iso-8859-1": "windows-1252", "us-ascii": "windows-1252", "gb2312": "gb18030", "gbk": "gb18030"}
_MARKS = ((codecs.BOM_UTF8, "utf-8-sig"), (codecs.BOM_UTF16_LE, "utf-16"), (codecs.BOM_UTF16_BE, "utf-16"))
_META = re.compile(rb"<meta[^>]{0,200}charset\s*=\s*[\"']?([a-z0-9_-]{1,40})", re.IGNORECASE)
_META_BYTES = 1_024


def preload() -> None:
    """See `bot.media.cell`: has the parser read a page once."""
    serve(b"<title>a</title><main><p>b <a href='/c'>d</a></main>", ("", HTML))


def serve(data: bytes, arguments: Sequence[str]) -> tuple[Facts, bytes]:
    """See `bot.media.cell`; the arguments are the encoding as the server names it, or "", and the kind of the page.

    Returns the text in UTF-8. The facts, all as the page has them: `title`, `date`, `language`, `base` (of its relative
    links, "" means its own address), `links` (words and address of each), `has_password` (whether it asks for one),
    `has_script`.
    """
    charset, kind = arguments
    text = _decoded(data, charset)
    if kind != HTML:
        return {}, text.encode(errors="ignore")
    facts, text = read(text)
    return facts, text.encode(errors="ignore")


def read(page: str) -> tuple[Facts, str]:
    """Returns the facts about an HTML page, and its text, in which there may still be invisible characters."""
    safe = sieve_page(page[:MAX_CHARS])
    body = LexborHTMLParser(safe.html).body
    written = _written(body) if body is not None else _Writer()
    facts = {
        "title": safe.title,
        "date": safe.date,
        "language": safe.language,
        "base": safe.base,
        "links": written.links,
        "has_password": safe.has_password,
        "has_script": safe.has_script,
    }
    return facts, written.text


@dataclass
class _Writer:
    """The text as it grows."""

    pieces: list[str] = field(default_factory=list[str])
    links: list[tuple[str, str]] = field(default_factory=list[tuple[str, str]])
    """Words and address of each link, as they are on the page."""
    room: int = _MAX_LINKS_CHARS
    """For characters of further links."""

    @property
    def text(self) -> str:
        return "".join(self.pieces)

    @property
    def length(self) -> int:
        """The number of visible characters."""
        return len(tidy(_UNSEEN.sub("", self.text)))

    def write(self, words: str, *, is_verbatim: bool) -> None:
        if is_verbatim:
            self.pieces.append(words)
            return
        line = " ".join(words.split())
        before = " " if words[:1].isspace() and self.pieces and not self.pieces[-1].endswith((" ", "\n")) else ""
        after = " " if line and words[-1:].isspace() else ""
        self.pieces.append(before + line + after)

    def mark(self, sign: str) -> None:
        if sign:
            self.pieces.append(sign)

    def link(self, node: LexborNode) -> None:
        found = (node.text(deep=True)[:_MAX_LABEL_CHARS], node.attributes.get("href") or "")
        self.room -= sum(map(len, found))
        if len(self.links) < _MAX_LINKS and self.room >= 0:
            self.links.append(found)


def _written(body: LexborNode) -> _Writer:
    """The part of the page that matters, written out."""
    main = body.css_first('main, [role="main"]')
    articles = body.css("article")
    for part in (main, articles[0] if len(articles) == 1 else None):
        if part is not None and (writer := _walked(part, _SURROUNDINGS)).length >= _MIN_CHARS:
            return writer
    writer = _walked(body, _SURROUNDINGS | {"header"})
    return writer if writer.length else _walked(body, frozenset())


def _walked(part: LexborNode, left_out: frozenset[str]) -> _Writer:
    writer = _Writer()
    verbatim = 0
    for node, is_open in _steps(part, left_out):
        name = node.tag or ""
        if name == "-text":
            writer.write(_words(node), is_verbatim=verbatim > 0)
            continue
        verbatim += (1 if is_open else -1) if name == "pre" else 0
        if name == "a" and is_open:
            writer.link(node)
        elif name not in _INLINE:
            writer.mark(_mark(name, is_open=is_open))
    return writer


def _words(node: LexborNode) -> str:
    """The words of a text; the mark of a footnote in round brackets, because square ones are the model's citations."""
    words, above = node.text_content or "", node.parent
    mark = _FOOTNOTE.fullmatch(words)
    is_footnote = mark and above is not None and above.tag == "a" and "#" in (above.attributes.get("href") or "")
    return f"({mark[1]})" if mark and is_footnote else words


def _mark(name: str, *, is_open: bool) -> str:
    """The text that marks the beginning or the end of a block."""
    if name in _CELLS:
        return "" if is_open else " | "
    if name in {"tr", "br", "li", "dt", "dd"}:
        return "\n- " if name == "li" and is_open else "\n" if is_open else ""
    if is_open and len(name) == len("h1") and name[0] == "h" and name[1].isdigit():
        return f"\n\n{'#' * int(name[1])} "
    return "\n" if name in {"ul", "ol", "tbody", "thead"} else "\n\n"


def _steps(part: LexborNode, left_out: frozenset[str]) -> Iterator[tuple[LexborNode, bool]]:
    """Every node below the part as it begins and, except for text, as it ends; in the order of the page."""
    open_nodes: list[LexborNode] = []
    node = part.child
    while node is not None or open_nodes:
        if node is None:
            node = open_nodes.pop()
            yield node, False
            node = node.next
        elif node.tag in left_out:
            node = node.next
        elif node.tag == "-text":
            yield node, True
            node = node.next
        else:
            yield node, True
            open_nodes.append(node)
            node = node.child


def _decoded(body: bytes, charset: str) -> str:
    """The text of the body, in the encoding of its byte order mark, or else of the header, the page itself, or
    UTF-8.
    """
    mark = next((name for sign, name in _MARKS if body.startswith(sign)), None)
    found = _META.search(body[:_META_BYTES])
    named = charset or (found[1].decode("ascii") if found else "")
    return body.decode(mark or _known(named), errors="replace")


def _known(named: str) -> str:
    """Python's name for an encoding of the web; `utf-8` for anything else."""
    name = named.lower()
    if not _ENCODING.fullmatch(name):
        return "utf-8"
    try:
        return codecs.lookup(_READ_AS.get(name, name)).name
    except LookupError:
        return "utf-8"
