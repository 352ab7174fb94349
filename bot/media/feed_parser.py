"""The content of a feed: RSS of every age, or Atom, even if it breaks the rules.

Runs in a cell (`bot.media.cell`); the home of feedparser, which a feed can keep busy for minutes: one of 2 MB with
8,700 well-formed items took 23 s, one tag with 150,000 attributes more than two minutes (measured, on a busy machine).

Source: feedparser 6.0.14.
"""

import calendar
import hashlib
import io
import json
import re
import sys
import time
from collections.abc import Mapping, Sequence
from typing import Any, cast

import feedparser  # pyright: ignore[reportMissingTypeStubs] (it has none)

from bot.media.cell import Facts, FileRefused, load_all

MAX_ENTRIES = 50
"""How many entries of a feed are read, from the first on."""

_MAX_SUMMARY_CHARS = 1_500
_MAX_TITLE_CHARS = 500
_MAX_URL_CHARS = 2_000
_NO_FEED = "it is no feed"
_NUMBERED = re.compile(rb"&#(?:[xX]([0-9a-fA-F]+)|([0-9]+))")
_MAX_DIGITS = 8  # behind the zeros; no character has a number this long
_HALVES = range(0xD800, 0xE000)
_UNREADABLE = b"&#xFFFD"
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
    kind = f"application/xml; charset={charset}" if charset else "application/xml"
    # Given bytes, it would first try them as the name of a local file, and read that. The texts are made plain later;
    # resolving addresses in them would be wasted work.
    found = cast(
        "dict[str, Any]",
        feedparser.parse(  # pyright: ignore[reportUnknownMemberType] (untyped there)
            io.BytesIO(_NUMBERED.sub(_readable, _beginning(data))),
            response_headers={"content-type": kind, "content-location": url},
            resolve_relative_uris=False,
        ),
    )
    if not found.get("version"):
        raise FileRefused(_NO_FEED)
    channel = found.get("feed", {})
    entries = [_entry(entry) for entry in found.get("entries", ())[:MAX_ENTRIES]]
    facts = {"title": _text(channel, "title", _MAX_TITLE_CHARS), "ttl_minutes": _minutes(channel.get("ttl"))}
    return facts, json.dumps(entries).encode()


def _beginning(data: bytes) -> bytes:
    """The feed up to the last entry that is read, closed as its kind is closed; all of it if that cannot be found."""
    for ending, opening, closing in _ENDINGS:
        if opening in data[:4096].lower():
            ends = [match.end() for _, match in zip(range(MAX_ENTRIES), ending.finditer(data), strict=False)]
            if len(ends) == MAX_ENTRIES:
                return data[: ends[-1]] + closing
    return data


def _readable(number: re.Match[bytes]) -> bytes:
    """A numeric character reference; one for a character that does not exist would end the reading of the whole feed.

    Halves of emoji are the usual case: some programs write each half as its own number.
    """
    digits, base = (number[1], 16) if number[1] else (number[2], 10)
    significant = digits.lstrip(b"0")
    code = int(significant or b"0", base) if len(significant) <= _MAX_DIGITS else sys.maxunicode + 1
    return number[0] if code <= sys.maxunicode and code not in _HALVES else _UNREADABLE


def _entry(entry: Mapping[str, Any]) -> Mapping[str, Any]:
    link = _text(entry, "link", _MAX_URL_CHARS)
    title = _text(entry, "title", _MAX_TITLE_CHARS)
    published = _seconds(entry)
    # A feed can use any id, of any length; the key only has to be the same the next time.
    named = _text(entry, "id", sys.maxsize) or link or f"{title}|{published}"
    return {
        "key": hashlib.sha256(named.encode(errors="replace")).hexdigest()[:32],
        "url": link or None,
        "title": title,
        "summary": _text(entry, "summary", _MAX_SUMMARY_CHARS) or _content(entry),
        "published": published,
    }


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
    for name in ("published_parsed", "updated_parsed"):
        told = entry[name] if name in entry else None  # noqa: SIM401  (`get` falls back to the other, and warns of it)
        if isinstance(told, time.struct_time):
            try:
                return calendar.timegm(told)
            except (ValueError, OverflowError):
                continue
    return None


def _minutes(ttl: object) -> int:
    return int(ttl) if isinstance(ttl, str) and re.fullmatch(r"[0-9]{1,6}", ttl) else 0
