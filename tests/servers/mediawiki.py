"""MediaWiki's action API as Wikipedia runs it: articles by title or by search, with articles of our own.

Refuses as Wikipedia does (mediawiki.org, 2026-11-21): who may not ask is turned away, every other error is a 200 with
`error` in the body; a title that nobody has written about is a page that is `missing`, one that cannot be is `invalid`.
"""

import re
from dataclasses import dataclass, field
from typing import Any

from aiohttp import web

from tests.servers.base import Seen
from tests.servers.wikimedia import Wikimedia

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
        if not seen.path.endswith("/w/api.php"):
            return web.Response(status=404, text="<html>Not found</html>", content_type="text/html")
        if query.get("format") != "json" or query.get("formatversion") != "2" or query.get("action") != "query":
            return _error("badvalue")
        if query.get("generator") == "search":
            return self._search(query)
        if not query.get("titles"):
            return _error("missingparam")
        if "|" in query["titles"]:
            return _error("toomanyvalues")  # several titles, of which extracts come for the first alone
        return web.json_response({"batchcomplete": True, "query": {"pages": [self._page(query)]}})

    def _search(self, query: dict[str, str]) -> web.StreamResponse:
        if not query.get("gsrsearch"):
            return _error("missingparam")
        if not 1 <= int(query["gsrlimit"]) <= 500:
            return _error("outofrange")
        if not self.found:
            return web.json_response({"batchcomplete": True})
        rows = enumerate(self.found[: int(query["gsrlimit"])], start=1)
        pages = [{"pageid": number, "ns": 0, "title": title, "index": number} for number, title in rows]
        return web.json_response({"batchcomplete": True, "query": {"pages": pages[::-1]}})

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


def _error(code: str) -> web.StreamResponse:
    return web.json_response({"error": {"code": code, "info": "No."}, "servedby": "mw-test"})
