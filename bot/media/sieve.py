"""Pure: sieves a stranger's HTML on its way to a parser. The result is rewritten, small, and harmless to parse.

    page --tokens--> known tags, their few attributes, words --> SievedPage.html, bounded in tags, depth and length
                 '-> title, date, language, base, where it sends browsers on, whether it has a password field or scripts

A page can make any native parser hang: with a hundred thousand attributes in one tag, or elements nested as deep.
Refusing long tags is not enough, because where a tag ends depends on what precedes it, and a page can have a guard and
a parser disagree about that (`<script><a x="</script><b y="> ...`). So none of the page's markup is passed on: what
this reader has understood is written anew, and the parser reads only that. Each character is looked at once or twice,
whatever the page contains; input that is not HTML loses some words at worst.

Source: WHATWG HTML, tokenization (2026-11-21); lexbor behind selectolax 1.0.2 took 2.9 s for a tag of 252 kB and 6.2 s
for nesting of 244 kB (measured 2026-11-21).
"""

import html
import re
from collections.abc import Mapping
from dataclasses import dataclass, field

MAX_TAGS = 50_000
"""How many tags are passed on; what follows them loses its structure, but not its words."""

MAX_DEPTH = 200
"""How many elements can be open at once; deeper ones are left out, but not their words."""

_MAX_ATTRIBUTE_CHARS = 2_000
_MAX_HEAD_CHARS = 500

# A tag that ends without `>` is consumed all the same: if it were scanned again from the next tag, a page of half tags
# would take quadratic time.
_OPENING = re.compile(
    r"""<([a-z][a-z0-9-]*+)(?![^\s/>])((?>(?:[^<>"'=]++|=\s*+(?>(?:"[^"]*+"|'[^']*+')?)|["'])*))(>?)""", re.IGNORECASE
)
_CLOSING = re.compile(r"</([a-z][a-z0-9-]*+)", re.IGNORECASE)
_ATTRIBUTE = re.compile(
    r"""([a-z][a-z0-9_:.-]*+)(?>(?:\s*+=\s*+(?:"([^"]*+)"|'([^']*+)'|([^\s"'=<>]++)))?)""", re.IGNORECASE
)

_REFRESH = re.compile(r"\s*(\d{1,6})[\d.]*\s*[;,\s]\s*(?:url\s*=\s*)?[\"']?([^\"']+)", re.IGNORECASE)
_MAX_REFRESH_SECONDS = 10  # a page that waits longer is there to be read

_UNREAD = """annotation annotation-xml audio button canvas iframe object script select style svg template textarea title
    video xmp"""
_ENDS = {name: re.compile(f"</{name}", re.IGNORECASE) for name in _UNREAD.split()}
_VOID = frozenset({"br", "hr"})
# A parser closes these by itself, so a row of them is not nesting.
_SELF_CLOSING = frozenset({"a", "p", "li", "tr", "td", "th", "dt", "dd"})
_BLOCK_NAMES = """address article aside blockquote body caption dd details div dl dt fieldset figcaption figure footer
    form h1 h2 h3 h4 h5 h6 header li main nav ol p pre section summary table tbody td tfoot th thead tr ul"""
_BLOCKS = frozenset(_BLOCK_NAMES.split())
_SPANS = frozenset("annotation del math mfrac mi mn mo mrow msqrt msub msup s strike sub sup".split())  # noqa: SIM905
"""What is no block, but changes what the words mean."""
_KEPT = _BLOCKS | _VOID | _SPANS | {"a"}
_LISTS = {"ol": ("start", "reversed", "type"), "li": ("value",)}
"""The attributes that number the items of a list."""
_DATE_NAMES = ("article:published_time", "datepublished", "date", "dc.date", "dcterms.date", "pubdate", "time")


@dataclass(frozen=True, kw_only=True, slots=True)
class SievedPage:
    """A page, ready for a parser. All texts but `html` are unescaped, as the page has them: a stranger's words."""

    html: str
    """The body: known tags with an address, a role or numbers at most, and words."""
    title: str
    """Empty if there is none."""
    date: str
    """When it was published, as its head says; empty if it does not."""
    language: str
    """As the page calls it, such as `de-DE`; empty if it does not."""
    base: str
    """The base of its links, possibly relative itself; empty means the page's own address."""
    refresh: str
    """Where it sends browsers on after some seconds, possibly relative; empty if it does not."""
    has_password: bool
    """Whether it asks for a password."""
    has_script: bool
    """Whether it contains JavaScript."""


def sieve_page(page: str) -> SievedPage:
    """Returns the page, read as far as possible; never fails."""
    reader = _Reader(page)
    reader.read()
    head = reader.head
    return SievedPage(
        html="".join(reader.written),
        title=" ".join(head.get("title", "").split()),
        date=next((head[name] for name in _DATE_NAMES if name in head), ""),
        language=head.get("language", ""),
        base=head.get("base", ""),
        refresh=head.get("refresh", ""),
        has_password=reader.has_password,
        has_script=reader.has_script,
    )


@dataclass
class _Reader:
    page: str
    written: list[str] = field(default_factory=list[str])
    head: dict[str, str] = field(default_factory=dict[str, str])
    has_password: bool = False
    has_script: bool = False
    _at: int = 0
    _tags: int = 0
    _depth: int = 0

    def read(self) -> None:
        page = self.page
        while (start := page.find("<", self._at)) >= 0:
            self._write_words(page[self._at : start])
            self._at = start
            self._read_markup(page[start + 1 : start + 2])
        self._write_words(page[self._at :])

    def _read_markup(self, sign: str) -> None:
        """Reads what begins at a `<`, and moves past it."""
        if sign == "!" and self.page.startswith("<!--", self._at):
            self._at = self._behind("-->", self._at + 2)
        elif sign in {"!", "?", "/"}:
            if sign == "/" and (closing := _CLOSING.match(self.page, self._at)):
                self._close(closing[1].lower())
            self._at = self._behind(">", self._at)
        elif opening := _OPENING.match(self.page, self._at):
            self._at = opening.end()
            if opening[3]:
                self._open(opening[1].lower(), opening[2])
        else:
            self._write_words("<")
            self._at += 1

    def _open(self, name: str, attributes: str) -> None:
        if name in {"frame", "iframe"}:
            self._link_frame(read_attributes(attributes))
        if name in _ENDS and not (name == "annotation" and "tex" in attributes.lower()):
            self._read_raw(name, attributes)
        elif name in {"meta", "html", "base", "input", "time"}:
            self._note(name, read_attributes(attributes))
        elif name in _KEPT and self._tags < MAX_TAGS and self._depth < MAX_DEPTH:
            self._tags += 1
            self._depth += name not in _VOID and name not in _SELF_CLOSING
            self.written.append(f"<{name}{_rewritten(name, attributes)}>")

    def _close(self, name: str) -> None:
        if name not in _KEPT or name in _VOID or self._tags >= MAX_TAGS:
            return
        self._tags += 1
        if name not in _SELF_CLOSING:
            self._depth = max(0, self._depth - 1)
        self.written.append(f"</{name}>")

    def _link_frame(self, given: Mapping[str, str]) -> None:
        """Writes a link to a page within the page."""
        if (address := given.get("src")) and self._tags < MAX_TAGS:
            self._tags += 2
            label = given.get("title") or given.get("name") or address
            self.written.append(f'<p><a href="{html.escape(address)}">{html.escape(f"[frame: {label}]")}</a><p>')

    def _read_raw(self, name: str, attributes: str) -> None:
        """Skips to the end of an element whose content is no markup of the page."""
        end = _ENDS[name].search(self.page, self._at)
        inside = self.page[self._at : end.start() if end else len(self.page)]
        self._at = self._behind(">", end.start()) if end else len(self.page)
        if name == "title":
            self.head.setdefault("title", html.unescape(inside[:_MAX_HEAD_CHARS]))
        elif name == "script" and read_attributes(attributes).get("type", "").startswith("math/tex"):
            self._write_words(inside)
        elif name == "script":
            self.has_script = True

    def _note(self, name: str, given: Mapping[str, str]) -> None:
        """Notes what the head and the forms say about the page."""
        if name == "meta":
            key = (given.get("property") or given.get("name") or given.get("itemprop") or "").lower()
            self.head.setdefault(key, given.get("content", "")[:_MAX_HEAD_CHARS])
            sent = (
                _REFRESH.match(given.get("content", "")) if given.get("http-equiv", "").lower() == "refresh" else None
            )
            if sent and int(sent[1]) <= _MAX_REFRESH_SECONDS:
                self.head.setdefault("refresh", sent[2].strip())
        elif name == "html":
            self.head.setdefault("language", given.get("lang", "")[:_MAX_HEAD_CHARS])
        elif name == "base":
            self.head.setdefault("base", given.get("href", ""))
        elif name == "time" and "datetime" in given:
            self.head.setdefault("time", given["datetime"][:_MAX_HEAD_CHARS])
        elif name == "input" and given.get("type", "").lower() == "password":
            self.has_password = True

    def _write_words(self, words: str) -> None:
        if words:
            self.written.append(words.replace("<", "&lt;"))

    def _behind(self, sign: str, start: int) -> int:
        """The position after the next such sign; the end of the page if there is none."""
        found = self.page.find(sign, start)
        return len(self.page) if found < 0 else found + len(sign)


def _rewritten(name: str, attributes: str) -> str:
    """The attributes that matter, in one spelling, with a space in front; empty if there are none."""
    if name in _LISTS:
        given = read_attributes(attributes)
        return "".join(f' {each}="{html.escape(given[each][:10])}"' for each in _LISTS[name] if each in given)
    if name == "a":
        href = read_attributes(attributes).get("href", "")
        return f' href="{html.escape(href)}"' if href else ""
    if name in {"div", "section"} and read_attributes(attributes).get("role", "").lower() == "main":
        return ' role="main"'
    return ""


def read_attributes(text: str) -> dict[str, str]:
    """Returns the attributes of a tag by lower-case name, the first of each; none for a tag that is absurdly long."""
    if len(text) > _MAX_ATTRIBUTE_CHARS:
        return {}
    found: dict[str, str] = {}
    for name, *values in _ATTRIBUTE.findall(text):
        found.setdefault(name.lower(), html.unescape("".join(values)).strip())
    return found
