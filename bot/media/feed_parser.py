"""The content of a feed: RSS of every age, or Atom, even if it breaks the rules.

Runs in a cell (`bot.media.cell`); the home of feedparser, which a feed can keep busy for minutes: one of 2 MB with
8,700 well-formed items took 23 s, one tag with 150,000 attributes more than two minutes (measured, on a busy machine).

Source: feedparser 6.0.14.
"""

import hashlib
import io
import json
import re
import sys
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from html.entities import html5
from typing import Any, cast

import feedparser  # pyright: ignore[reportMissingTypeStubs] (it has none)

from bot.media.cell import Facts, FileRefused, load_all
from bot.media.texts import decode

MAX_ENTRIES = 50
"""How many entries of a feed are read, from the first on."""

_MAX_SUMMARY_CHARS = 1_500
_MAX_TITLE_CHARS = 500
_MAX_URL_CHARS = 2_000
_NO_FEED = "it is no feed"
_REFERENCE = re.compile(
    rb"(<!\[CDATA\[.*?(?:\]\]>|\Z))|&(?:#(?:[xX]([0-9a-fA-F]+)|([0-9]+));?|([A-Za-z][A-Za-z0-9]{0,31});)?", re.DOTALL
)
_MAX_DIGITS = 8  # behind the zeros; no character has a number this long
_HALVES = range(0xD800, 0xE000)
_UNREADABLE = b"&#xFFFD;"
_XML_NAMES = frozenset({b"amp", b"lt", b"gt", b"quot", b"apos"})
_ENTITY = re.compile(rb"<!ENTITY\s+([A-Za-z]\w{0,30})\s+[\"']((?:[^\"'<>&%]|&#\w{1,7};){0,200})[\"']")
_DECLARATION = re.compile(r"\s*<\?xml[^>]*>", re.IGNORECASE)
_ILLEGAL = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff]")
"""What ends the reading of XML wherever it stands."""

_SECONDS = re.compile(r"([0-9]{9,10})(?:[0-9]{3})?(?:\.[0-9]+)?")
_ENDS_WITHOUT_ZONE = re.compile(r"(?:[0-9]:[0-9]{2}(?:[:.][0-9]+)*|[0-9]{4}-[0-9]{2}-[0-9]{2})$")
"""How a date ends that names no zone, rather than one that is not known."""
# How the first entries end, and how such a feed is closed: what follows need not be read at all.
_ENDINGS = (
    (re.compile(rb"</item\s*>", re.IGNORECASE), b"<rdf:rdf", b"</rdf:RDF>"),
    (re.compile(rb"</item\s*>", re.IGNORECASE), b"", b"</channel></rss>"),
    (re.compile(rb"</entry\s*>", re.IGNORECASE), b"", b"</feed>"),
)

_WARMING = (
    b"""<rss version='2.0'><channel><item><title>a &amp; b</title><description>&lt;p>c&lt;/p></description>
    <pubDate>Sat, 21 Nov 2026 12:00:00 GMT</pubDate></item></channel></rss>""",
    b"""<feed xmlns='http://www.w3.org/2005/Atom'><entry><updated>2026-11-21T12:00:00Z</updated><content type='xhtml'>
    <div xmlns='http://www.w3.org/1999/xhtml'>a</div></content></entry></feed>""",
    b"<rss version='2.0'><channel><item><title>never closed",
)


def preload() -> None:
    """See `bot.media.cell`: loads all of feedparser, and runs each way of reading once."""
    load_all(feedparser)
    for feed in _WARMING:
        read(feed, url="http://a.example/", charset="utf-8")


def serve(data: bytes, arguments: Sequence[str]) -> tuple[Facts, bytes]:
    """See `bot.media.cell`; the arguments are the address and the encoding of `read`."""
    url, charset = arguments
    return read(data, url=url, charset=charset)


def read(data: bytes, *, url: str, charset: str) -> tuple[Facts, bytes]:
    """Returns the entries as JSON: a list of objects with `key`, `url`, `title`, `summary`, `published`.

    `url` is where the feed was found, and the base of relative addresses in it; `charset` is what its server says, ""
    if it says nothing. Texts are still HTML; `url` and `published` (seconds since 1970) can be None. The facts are
    `title` (of the feed) and `ttl_minutes` (0: not given).

    Raises:
        FileRefused: it is not a feed.
    """
    text = _ILLEGAL.sub("", _DECLARATION.sub("", decode(data, charset), count=1))
    document = text.encode(errors="ignore")
    # Given bytes, it would first try them as the name of a local file, and read that. The texts are made plain later;
    # resolving addresses in them would be wasted work.
    found = cast(
        "dict[str, Any]",
        feedparser.parse(  # pyright: ignore[reportUnknownMemberType] (untyped there)
            io.BytesIO(_REFERENCE.sub(_reference(dict(_ENTITY.findall(document[:4096]))), _beginning(document))),
            response_headers={"content-type": "application/xml; charset=utf-8", "content-location": url},
            resolve_relative_uris=False,
        ),
    )
    if not found.get("version"):
        raise FileRefused(_NO_FEED)
    channel = found.get("feed", {})
    entries = _entries(found.get("entries", ())[:MAX_ENTRIES])
    ttl = _text(channel, "ttl", 6)
    facts = {
        "title": _text(channel, "title", _MAX_TITLE_CHARS),
        "ttl_minutes": int(ttl) if ttl.isdecimal() else 0,
    }
    return facts, json.dumps(entries).encode()


def _beginning(data: bytes) -> bytes:
    """The feed up to the last entry that is read, closed as its kind is closed; all of it if that cannot be found."""
    for ending, opening, closing in _ENDINGS:
        if opening in data[:4096].lower():
            ends = [match.end() for _, match in zip(range(MAX_ENTRIES), ending.finditer(data), strict=False)]
            if len(ends) == MAX_ENTRIES:
                return data[: ends[-1]] + closing
    return data


def _reference(own: Mapping[bytes, bytes]) -> Callable[[re.Match[bytes]], bytes]:
    """Returns what writes each reference of a feed so that any XML parser reads it; `own` are the names it defines.

    A name of HTML becomes its number, a bare `&` is escaped, and a number that no character has, which would end the
    reading of the whole feed, becomes a sign: some programs write each half of an emoji as its own number.
    """

    def written(found: re.Match[bytes]) -> bytes:
        whole, name = found[0], found[4]
        if found[1] is not None or name in _XML_NAMES:
            return whole
        if name is not None:
            letters = html5.get(f"{name.decode()};")
            if letters is None:
                return own.get(name, b"&amp;" + whole[1:])
            return "".join(f"&#{ord(letter)};" for letter in letters).encode()
        return b"&amp;" if whole == b"&" else _numbered(found)

    return written


def _numbered(number: re.Match[bytes]) -> bytes:
    digits, base = (number[2], 16) if number[2] else (number[3], 10)
    significant = digits.lstrip(b"0")
    code = int(significant or b"0", base) if len(significant) <= _MAX_DIGITS else sys.maxunicode + 1
    is_legal = code <= sys.maxunicode and code not in _HALVES and not _ILLEGAL.match(chr(code))
    return f"&#{code};".encode() if is_legal else _UNREADABLE


def _entries(found: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """The entries, each with a key of its own, which only has to be the same the next time.

    That is its id or address, unless several entries have the same; an address that several have leads to none of them.
    """
    links = [_link(entry) for entry in found]
    # A feed can use any id, of any length.
    names = [_text(entry, "id", sys.maxsize) or link for entry, link in zip(found, links, strict=True)]
    entries = list[dict[str, Any]]()
    for entry, link, name in zip(found, links, names, strict=True):
        title, published = _text(entry, "title", _MAX_TITLE_CHARS), _seconds(entry)
        key = name if name and names.count(name) == 1 else f"{name}|{link}|{title}|{published}"
        titles = {_text(each, "title", _MAX_TITLE_CHARS) for each, own in zip(found, links, strict=True) if own == link}
        entries.append(
            {
                "key": hashlib.sha256(key.encode(errors="replace")).hexdigest()[:32],
                "url": link if link and len(titles) == 1 else None,
                "title": title,
                "summary": _text(entry, "summary", _MAX_SUMMARY_CHARS) or _content(entry),
                "published": published,
            }
        )
    return entries


def _link(entry: Mapping[str, Any]) -> str:
    """Its address; that of its recording or file if it has no other; "" if it has none."""
    if link := _text(entry, "link", _MAX_URL_CHARS):
        return link
    return next(filter(None, (_text(each, "href", _MAX_URL_CHARS) for each in entry.get("enclosures", ()))), "")


def _text(of: Mapping[str, Any], name: str, most: int) -> str:
    value = of.get(name)
    return value.strip()[:most] if isinstance(value, str) else ""


def _content(entry: Mapping[str, Any]) -> str:
    """The beginning of an Atom entry's content, for one without a summary."""
    match entry.get("content"):
        case [{"value": str(value)}, *_]:
            return value.strip()[:_MAX_SUMMARY_CHARS]
        case _:
            return ""


def _seconds(entry: Mapping[str, Any]) -> int | None:
    """Returns when it was published, or else last changed; None if no date can be read."""
    for name in ("published", "updated"):
        written = entry[name] if name in entry else None  # noqa: SIM401  (`get` falls back to the other, and warns)
        if isinstance(written, str) and (seconds := read_date(written)) is not None:
            return seconds
    return None


def read_date(written: str) -> int | None:
    """Returns a date of a feed in seconds since 1970; None for one in no standard form, or in a zone that is not known.

    feedparser reads a beginning, takes CET or JST for UTC, and seconds for a year. A time without a zone is in UTC.
    """
    text = " ".join(written.split())
    if found := _SECONDS.fullmatch(text):
        return int(found[1])
    for read_form in (datetime.fromisoformat, parsedate_to_datetime):
        with suppress(ValueError, TypeError, LookupError, OverflowError):
            at = read_form(text)
            is_known = at.tzinfo is not None or _ENDS_WITHOUT_ZONE.search(text) is not None
            return int(at.replace(tzinfo=at.tzinfo or UTC).timestamp()) if is_known else None
    return None
