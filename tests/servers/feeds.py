"""A site with feeds of our own: RSS and Atom that a test fills, and hostile feeds.

Answers as feed servers do (RFC 9110, 2026-11): a conditional request with the validators of the present content gets a
304 with an empty body. Validators are compared byte by byte, so a changed one never matches.
"""

import hashlib
from dataclasses import dataclass, field
from datetime import datetime
from email.utils import format_datetime
from html import escape

from aiohttp import web

from tests.servers.base import Seen, Server


@dataclass(frozen=True, kw_only=True)
class Item:
    """An entry; what is None is left out."""

    title: str
    link: str | None
    at: datetime | None = None
    guid: str | None = None
    summary: str = ""


def rss(*items: Item, title: str = "The Lamp Post") -> bytes:
    rows = "".join(map(_item, items))
    head = f"<title>{escape(title)}</title><link>https://lamp.example/</link><description>d</description>"
    return f'<?xml version="1.0" encoding="utf-8"?><rss version="2.0"><channel>{head}{rows}</channel></rss>'.encode()


def atom(*items: Item, title: str = "The Lamp Post") -> bytes:
    rows = "".join(map(_entry, items))
    return f'<feed xmlns="http://www.w3.org/2005/Atom"><title>{escape(title)}</title>{rows}</feed>'.encode()


def _item(item: Item) -> str:
    parts = {"title": item.title, "link": item.link, "guid": item.guid, "description": item.summary}
    at = "" if item.at is None else f"<pubDate>{format_datetime(item.at)}</pubDate>"
    tags = "".join(f"<{name}>{escape(text)}</{name}>" for name, text in parts.items() if text)
    return f"<item>{tags}{at}</item>"


def _entry(item: Item) -> str:
    at = "" if item.at is None else f"<updated>{item.at.isoformat()}</updated>"
    link = "" if item.link is None else f'<link href="{escape(item.link)}"/>'
    guid = "" if item.guid is None else f"<id>{escape(item.guid)}</id>"
    return (
        f'<entry><title>{escape(item.title)}</title>{link}{guid}{at}<summary type="html">{escape(item.summary)}'
        "</summary></entry>"
    )


HOSTILE = {
    "no feed": b"<html><body><p>Hello</p></body></html>",
    "nothing": b"",
    "noise": bytes(range(256)) * 40,
    "an external entity": (
        b'<?xml version="1.0"?><!DOCTYPE r [<!ENTITY e SYSTEM "file:///etc/passwd">]><rss version="2.0"><channel>'
        b"<title>&e;</title><item><title>&e;</title><link>https://lamp.example/e</link></item></channel></rss>"
    ),
    "tags that do not match": (
        b"<rss version='2.0'><channel><title>T</b></title><item><title>Lit</title><link>/lit</link></i>"
    ),
    "an address of another kind": rss(Item(title="Click", link="javascript:alert(1)", guid="x")),
    "invisible orders": rss(Item(title="Lit\u202e\u200b", link="/lit", summary="<b>now</b>\U000e0041")),
    "an absurd date": (
        b"<rss version='2.0'><channel><item><title>Old</title><link>/old</link>"
        b"<pubDate>Mon, 99 Foo 99999 99:99:99 +9999</pubDate></item></channel></rss>"
    ),
}


@dataclass
class FeedSite(Server):
    """Serves each path's feed with its marks; `moves` are redirects by path: status and where to."""

    feeds: dict[str, bytes] = field(default_factory=dict[str, bytes])
    moves: dict[str, tuple[int, str]] = field(default_factory=dict[str, tuple[int, str]])
    headers: dict[str, str] = field(default_factory=dict[str, str])
    has_marks: bool = True

    def respond(self, seen: Seen, request: web.Request) -> web.StreamResponse:
        if seen.path in self.moves:
            status, location = self.moves[seen.path]
            return web.Response(status=status, headers={"Location": location})
        body = self.feeds.get(seen.path)
        if body is None:
            return web.Response(status=404, text="nothing here")
        etag = f'W/"{hashlib.sha256(body).hexdigest()[:12]}"'
        marks = {"ETag": etag, "Last-Modified": "Sat, 21 Nov 2026 09:00:00 GMT"} if self.has_marks else {}
        if marks and seen.headers.get("if-none-match") == marks["ETag"]:
            return web.Response(status=304, headers={**marks, **self.headers})
        return web.Response(body=body, content_type="application/rss+xml", headers={**marks, **self.headers})
