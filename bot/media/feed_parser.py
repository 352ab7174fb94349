"""The content of a feed: RSS of every age, or Atom, up to where it is no XML any more. Runs in a cell.

Names of HTML, bare ampersands, characters that XML forbids and prefixes that were not declared end the reading of no
feed; tags that do not match do, at that place.
"""

import hashlib
import re
import sys
from collections import defaultdict
from collections.abc import Mapping, Sequence
from contextlib import suppress
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from html import escape
from html.entities import html5
from typing import Any
from urllib.parse import urljoin
from xml.etree.ElementTree import Element, TreeBuilder, tostring
from xml.parsers import expat

from bot.media.cell import Facts, FileRefused
from bot.media.texts import decode

MAX_ENTRIES = 50
"""How many entries of a feed are read, from the first on."""

_MAX_SUMMARY_CHARS = 1_500
_MAX_TITLE_CHARS = 500
_MAX_URL_CHARS = 2_000
_ROOTS = frozenset({"rss", "rdf:rdf", "feed"})
_SUMMARIES = ("description", "summary", "content:encoded", "content", "media:description", "itunes:summary")
_DATES = ("pubdate", "published", "issued", "updated", "modified", "dc:date", "dcterms:modified")

_REFERENCE = re.compile(
    r"(<!\[CDATA\[.*?(?:\]\]>|\Z))|&(?:#(x[0-9a-f]+|[0-9]+);?|([a-z]\w{0,31});)?", re.IGNORECASE | re.DOTALL
)
_XML_NAMES = frozenset({"amp", "lt", "gt", "quot", "apos"})
_OWN_NAMES = re.compile(r"<!ENTITY\s+(\w+)\s+[\"']")
_DECLARATION = re.compile(r"\s*<\?xml[^>]*>", re.IGNORECASE)
_ILLEGAL = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff\ufffe\uffff]")
_SECONDS = re.compile(r"([0-9]{9,10})(?:[0-9]{3})?(?:\.[0-9]+)?")
_ENDS_WITHOUT_ZONE = re.compile(r"(?:[0-9]:[0-9]{2}(?:[:.][0-9]+)*|[0-9]{4}-[0-9]{2}-[0-9]{2})$")
"""How a date ends that names no zone, rather than one that is not known."""


def preload() -> None:
    """See `bot.media.cell`: reads a feed once, with a date."""
    feed = b"<rss><channel><item><title>a &amp; b</title><pubDate>Sat, 21 Nov 2026 12:00:00 GMT</pubDate>"
    serve(feed, ("http://a.example/", "utf-8"))


def serve(data: bytes, arguments: Sequence[str]) -> tuple[Facts, bytes]:
    """See `bot.media.cell`; the arguments are the address of the feed, and what its server says of its encoding, or "".

    Returns no bytes. The facts are `title` and `entries`: objects with `key`, `url`, `title`, `summary`,
    `published_at`. Texts are still HTML; `url` and `published_at` (seconds since 1970) can be None.
    """
    url, charset = arguments
    text = _ILLEGAL.sub("", _DECLARATION.sub("", decode(data, charset), count=1)).strip()
    own = frozenset(_OWN_NAMES.findall(text[:4096]))
    root, is_whole = _parsed(_REFERENCE.sub(lambda found: _written(found, own), text).encode())
    found = [each for each in root.iter() if each.tag in {"item", "entry"}][:MAX_ENTRIES]
    if root.tag not in _ROOTS or not (is_whole or found):
        raise FileRefused("it is no feed")
    channel = _children(next(root.iter("channel"), root))
    facts = {
        "title": _text(channel, ("title",), _MAX_TITLE_CHARS),
        "entries": _entries(found, urljoin(url, root.get("xml:base", ""))),
    }
    return facts, b""


def _written(found: re.Match[str], own: frozenset[str]) -> str:
    """A reference as any XML parser reads it, half an emoji as a sign; `own` are names that the feed defines."""
    whole, (cdata, number, name) = found[0], found.groups()
    if cdata is not None or name in _XML_NAMES or name in own:
        return whole
    if number is not None:
        digits, base = (number[1:], 16) if number[0] in "xX" else (number, 10)
        code = int(digits.lstrip("0")[:9] or "0", base)  # Python reads no integer of more than 4,300 digits
        return "\ufffd" if code > sys.maxunicode or _ILLEGAL.match(chr(code)) else escape(chr(code))
    return escape(html5[f"{name};"]) if f"{name};" in html5 else "&amp;" + whole[1:]


def _parsed(document: bytes) -> tuple[Element, bool]:
    """The tree up to the first fault, and whether there was none. Names are in small letters, with prefixes."""
    builder, parser, opened = TreeBuilder(), expat.ParserCreate("utf-8"), list[Element]()

    def begin(tag: str, attributes: dict[str, str]) -> None:
        opened.append(builder.start(tag.lower(), attributes))

    parser.StartElementHandler, parser.EndElementHandler = begin, builder.end
    parser.CharacterDataHandler = builder.data
    try:
        parser.Parse(document, True)  # noqa: FBT003 - it takes no names
    except expat.ExpatError:
        with suppress(IndexError):
            builder.end("")  # so that the last words are kept
        return opened[0] if opened else Element(""), False
    return opened[0], True


def _entries(found: Sequence[Element], base: str) -> list[dict[str, Any]]:
    """The entries, each with a key of its own; an address that several have leads to none of them."""
    entries, names, titles_at = list[dict[str, Any]](), list[str](), defaultdict[str, set[str]](set)
    for element in found:
        fields = _children(element)
        title, link = _text(fields, ("title",), _MAX_TITLE_CHARS), _link(element, fields, base)
        published = next(filter(None, (read_date(_text(fields, (date,), 100)) for date in _DATES)), None)
        summary = _text(fields, _SUMMARIES, _MAX_SUMMARY_CHARS)
        entries.append({"url": link or None, "title": title, "summary": summary, "published_at": published})
        names.append(element.get("rdf:about") or _text(fields, ("guid", "id"), sys.maxsize) or link)  # of any length
        titles_at[link].add(title)
    for entry, name in zip(entries, names, strict=True):
        link = entry["url"] or ""
        key = name if name and names.count(name) == 1 else f"{name}|{link}|{entry['title']}|{entry['published_at']}"
        entry["key"] = hashlib.sha256(key.encode(errors="replace")).hexdigest()[:32]
        entry["url"] = link if link and len(titles_at[link]) == 1 else None
    return entries


def _children(of: Element) -> dict[str, Element]:
    """The first element of each name right below, those in a group of media included."""
    below = [*of, *(each for group in of if group.tag == "media:group" for each in group)]
    return {each.tag: each for each in reversed(below)}


def _text(fields: Mapping[str, Element], names: Sequence[str], most: int) -> str:
    """The text of the first of these that has any, with the markup inside it; "" if none has."""
    for name in names:
        if (field := fields.get(name)) is not None:
            field.tail = None
            words = tostring(field, encoding="unicode") if len(field) else (field.text or "")
            if words.strip():
                return words.strip()[:most]
    return ""


def _link(entry: Element, fields: Mapping[str, Element], base: str) -> str:
    """Its address; that of its recording or file if it has no other; "" if it has none."""
    own = [each for each in entry if each.tag == "link" and each.get("rel", "alternate") == "alternate"]
    guid = fields.get("guid")
    named = guid.text if guid is not None and guid.get("isPermaLink", "true") != "false" else None
    files = (
        each.get("url") or each.get("href")
        for each in entry
        if each.tag == "enclosure" or each.get("rel") == "enclosure"
    )
    for address in (*(each.get("href") or each.text for each in own), named, *files):
        with suppress(ValueError):
            if address and address.strip():
                return urljoin(base, address.strip())[:_MAX_URL_CHARS]
    return ""


def read_date(written: str) -> int | None:
    """Returns a date in seconds since 1970, UTC where it names no zone; None if its form or zone is not known."""
    text = " ".join(written.split())
    if found := _SECONDS.fullmatch(text):
        return int(found[1])
    for read_form in (datetime.fromisoformat, parsedate_to_datetime):
        with suppress(ValueError, TypeError, LookupError, OverflowError):
            at = read_form(text)
            is_known = at.tzinfo is not None or _ENDS_WITHOUT_ZONE.search(text) is not None
            return int(at.replace(tzinfo=at.tzinfo or UTC).timestamp()) if is_known else None
    return None
