"""A double of MediaWiki's action API as Wikipedia runs it: articles of our own by title or by search.

A title without an article is a page that is `missing`, an impossible title is `invalid` (mediawiki.org, 2026-11-21);
the other errors come from `tests.servers.wikimedia`.
"""

import re
from dataclasses import dataclass, field
from typing import Any

from aiohttp import web

from tests.servers.base import Seen
from tests.servers.wikimedia import Wikimedia, error, found

ALDIS = """An Aldis lamp is a signal lamp.

Ships carry it.


== History ==
Named after its inventor.


=== First use ===
At sea.


== See also ==
Heliograph"""
ARTICLES: dict[str, str] = {
    "Aldis lamp": ALDIS,
    "Heliograph": "A heliograph signals by sunlight.",
    "Stub": "",
    "Headless": "== Only ==\nA section.",
}
REDIRECTS = {"Signal lamp": "Aldis lamp"}
MEANINGS = {"Mercury": ("Mercury (element)", "Mercury (mythology)", "Mercury (planet)")}


@dataclass
class MediaWiki(Wikimedia):
    """`found` are the titles that every search finds, best first."""

    articles: dict[str, str] = field(default_factory=lambda: dict(ARTICLES))
    found: list[str] = field(default_factory=list)

    def respond(self, seen: Seen, request: web.Request) -> web.StreamResponse:
        query = seen.query
        if refusal := self.refused(seen):
            return refusal
        if query.get("generator") == "search":
            return self._search(query)
        if not query.get("titles"):
            return error("missingparam")
        if "|" in query["titles"]:
            return error("toomanyvalues")  # several titles, of which extracts come for the first alone
        return found([self._page(query)])

    def _search(self, query: dict[str, str]) -> web.StreamResponse:
        if not query.get("gsrsearch"):
            return error("missingparam")
        if not 1 <= int(query["gsrlimit"]) <= 500:
            return error("outofrange")
        rows = enumerate(self.found[: int(query["gsrlimit"])], start=1)
        pages = [{"pageid": number, "ns": 0, "title": title, "index": number} for number, title in rows]
        return found(pages[::-1])

    def _page(self, query: dict[str, str]) -> dict[str, Any]:
        title = query["titles"][:1].upper() + query["titles"][1:]
        if re.search(r"[#<>\[\]{}_]", title) or len(title.encode()) > 255:
            return {"title": title, "invalid": True, "invalidreason": "The requested page title is not valid."}
        if "redirects" in query:
            title = REDIRECTS.get(title, title)
        if title not in self.articles and title not in MEANINGS:
            return {"ns": 0, "title": title, "missing": True}
        page: dict[str, Any] = {"pageid": 1, "ns": 0, "title": title}
        asked = query["prop"].split("|")
        if "info" in asked and query.get("inprop") == "url":
            page["fullurl"] = f"https://en.wikipedia.example/wiki/{title.replace(' ', '_')}"
        if "extracts" in asked and query.get("explaintext") and query.get("exsectionformat") == "wiki":
            page["extract"] = self.articles.get(title, f"{title} may refer to:")
        if "pageprops" in asked and query.get("ppprop") == "disambiguation" and title in MEANINGS:
            page["pageprops"] = {"disambiguation": ""}
        if "links" in asked and query.get("plnamespace") == "0":
            page["links"] = [{"ns": 0, "title": link} for link in MEANINGS.get(title, ())][: int(query["pllimit"])]
        return page
