"""Pure: what stands on a page of HTML, as text that a model can read. The only home of selectolax.

    page --sieved--> safe HTML --parsed--> article | main | body, without what surrounds it --> lines of text, links

Headings begin with `#`, items of lists with `-`, cells of a table are separated by ` | `; there is an empty line
between blocks. Left to others: where the page came from and how much of it is shown (`tools.page`).

Source: selectolax 1.0.2 (MIT), which holds Python's lock while it parses: at most `MAX_CHARS` of what `tools.sieve`
lets through take it a few hundredths of a second (measured 2026-11-22).
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from urllib.parse import urljoin

from selectolax.lexbor import LexborHTMLParser, LexborNode

from tools.addresses import canonical_url
from tools.sieve import Sieved, sieved
from tools.text import cleaned, shortened

MAX_CHARS = 1_000_000
"""How much of a page is read; what stands behind is left out."""

MOST_LINKS = 200
"""The most links that are given of one page."""

_MOST_LOOKED_AT = 1_000  # a page may link to one place ten thousand times
_MAX_LINK_CHARS = 500
_MAX_LABEL_CHARS = 80
_MAX_TITLE_CHARS = 300
_FEWEST_CHARS = 200
"""What an article or a main part must at least hold to stand for the page."""

_SURROUNDINGS = frozenset({"nav", "footer", "aside"})
_INLINE = frozenset({"-text", "a"})
_CELLS = frozenset({"td", "th"})
_BLANK_LINES = re.compile(r"\n{3,}")
_ISO_DATE = re.compile(r"\d{4}-\d{2}-\d{2}(?:[T ]\d{2}:\d{2})?")


@dataclass(frozen=True, kw_only=True, slots=True)
class Link:
    """A link of the page: its words, perhaps "", and the whole address, canonical."""

    text: str
    url: str


@dataclass(frozen=True, kw_only=True, slots=True)
class Reading:
    """What stands on a page. A stranger's words, plain and `cleaned`."""

    text: str
    title: str = ""
    """"" where the page has none."""
    date: str = ""
    """`YYYY-MM-DD`, perhaps with the time, as the page itself says; "" where it does not."""
    language: str = ""
    links: tuple[Link, ...] = ()
    """Those within the text, each address once, in order; at most `MOST_LINKS`."""
    has_password: bool = False
    """Whether the page asks for a password."""
    has_script: bool = False
    """Whether JavaScript belongs to it, which may write more."""


def read(page: str, url: str) -> Reading:
    """What stands on the page of HTML that was found at `url`. Takes a second at worst; for a thread."""
    safe = sieved(page[:MAX_CHARS])
    body = LexborHTMLParser(safe.html).body
    title, date = cleaned(safe.title), _ISO_DATE.search(safe.date)
    written = _written(body) if body is not None else _Writer()
    return Reading(
        text=written.text,
        title=shortened(title, _MAX_TITLE_CHARS),
        date=date[0].replace("T", " ") if date else "",
        language=cleaned(safe.language)[:20],
        links=tuple(_links(written.links, safe, url)),
        has_password=safe.has_password,
        has_script=safe.has_script,
    )


@dataclass
class _Writer:
    """The text as it grows."""

    pieces: list[str] = field(default_factory=list[str])
    links: list[tuple[str, str]] = field(default_factory=list[tuple[str, str]])
    """Words and address of each link, as they stand on the page."""

    @property
    def text(self) -> str:
        lines = (line.rstrip().removesuffix(" |") for line in cleaned("".join(self.pieces)).split("\n"))
        return _BLANK_LINES.sub("\n\n", "\n".join(lines)).strip()

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
        if len(self.links) < _MOST_LOOKED_AT:
            self.links.append((node.text(deep=True), node.attributes.get("href") or ""))


def _written(body: LexborNode) -> _Writer:
    """The part of the page that matters, written out."""
    main = body.css_first('main, [role="main"]')
    articles = body.css("article")
    for part in (main, articles[0] if len(articles) == 1 else None):
        if part is not None and len((writer := _walked(part, _SURROUNDINGS)).text) >= _FEWEST_CHARS:
            return writer
    writer = _walked(body, _SURROUNDINGS | {"header"})
    return writer if writer.text else _walked(body, frozenset())


def _walked(part: LexborNode, left_out: frozenset[str]) -> _Writer:
    writer = _Writer()
    verbatim = 0
    for node, is_open in _steps(part, left_out):
        name = node.tag or ""
        if name == "-text":
            writer.write(node.text_content or "", is_verbatim=verbatim > 0)
            continue
        verbatim += (1 if is_open else -1) if name == "pre" else 0
        if name == "a" and is_open:
            writer.link(node)
        elif name not in _INLINE:
            writer.mark(_mark(name, is_open=is_open))
    return writer


def _mark(name: str, *, is_open: bool) -> str:
    """What stands for the beginning or the end of a block."""
    if name in _CELLS:
        return "" if is_open else " | "
    if name in {"tr", "br", "li", "dt", "dd"}:
        return "\n- " if name == "li" and is_open else "\n" if is_open else ""
    if is_open and len(name) == len("h1") and name[0] == "h" and name[1].isdigit():
        return f"\n\n{'#' * int(name[1])} "
    return "\n" if name in {"ul", "ol", "tbody", "thead"} else "\n\n"


def _steps(part: LexborNode, left_out: frozenset[str]) -> Iterator[tuple[LexborNode, bool]]:
    """Every node below the part as it begins and, but for text, as it ends; in the order of the page."""
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


def _links(found: list[tuple[str, str]], page: Sieved, url: str) -> Iterator[Link]:
    base = _joined(url, page.base) or url
    seen = {canonical_url(url)}
    for words, address in found:
        whole = canonical_url(_joined(base, address) or "")
        if whole is None or whole in seen or len(whole) > _MAX_LINK_CHARS:
            continue
        seen.add(whole)
        yield Link(text=shortened(" ".join(cleaned(words).split()), _MAX_LABEL_CHARS), url=whole)
        if len(seen) > MOST_LINKS:
            return


def _joined(base: str, address: str) -> str | None:
    try:
        return urljoin(base, address.strip())
    except ValueError:
        return None
