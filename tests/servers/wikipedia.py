"""Doubles of MediaWiki's action API as Wikimedia runs it: articles found by every search, and articles by title.

Every error but those of access is a 200 with `error` in the body; a title without an article is a page that is
`missing`, an impossible title is `invalid` (mediawiki.org, 2026-11-21). A User-Agent is required and must not be that
of a library (the User-Agent policy of foundation.wikimedia.org, 2026-11-22).
"""

import re
from dataclasses import dataclass, field
from typing import Any

from aiohttp import web

from tests.servers.base import Seen, Server

GENERIC_AGENTS = ("python-httpx", "python-requests", "curl", "Python-urllib")
FOUND = [
    {"title": "Heliograph", "index": 2, "extract": "A heliograph signals by sunlight.", "fullurl": "heliograph"},
    {"title": "Aldis lamp", "index": 1, "extract": "A signal lamp " + "is a light " * 60, "fullurl": "aldis"},
    {"title": "Semaphore", "index": 3, "fullurl": "semaphore"},
]
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
class Wikipedia(Server):
    """`articles` is what every search finds, in no order, as MediaWiki lists them."""

    articles: list[dict[str, Any]] = field(default_factory=lambda: list(FOUND))

    def respond(self, seen: Seen, request: web.Request) -> web.StreamResponse:
        agent, wanted = seen.headers.get("user-agent", ""), {"format": "json", "formatversion": "2", "action": "query"}
        if not agent or agent.startswith(GENERIC_AGENTS):
            return web.Response(status=403, text="Please set a user-agent and respect our robot policy.")
        if not seen.path.endswith("/w/api.php"):
            return web.Response(status=404, text="<html>Not found</html>", content_type="text/html")
        if not wanted.items() <= seen.query.items():
            return error("badvalue")
        return self._answer(seen.query)

    def _answer(self, query: dict[str, str]) -> web.StreamResponse:
        if not query.get("gsrsearch"):
            return error("missingparam")
        if len(query["gsrsearch"]) > 300:
            return error("cirrussearch-query-too-long")
        if not 1 <= int(query["gsrlimit"]) <= 500:
            return error("outofrange")
        return found([self._row(row, query) for row in self.articles if row["index"] <= int(query["gsrlimit"])])

    def _row(self, article: dict[str, Any], query: dict[str, str]) -> dict[str, Any]:
        page = {"pageid": article["index"], "ns": 0, **article}
        page["fullurl"] = f"https://en.wikipedia.org/wiki/{article['fullurl']}"
        if "extracts" not in query.get("prop", "") or "exintro" not in query or "explaintext" not in query:
            page.pop("extract", None)
        if query.get("inprop") != "url":
            page.pop("fullurl")
        return page


@dataclass
class MediaWiki(Wikipedia):
    """Articles by title, too; `found` are the titles that every search finds, best first."""

    texts: dict[str, str] = field(default_factory=lambda: dict(ARTICLES))
    found: list[str] = field(default_factory=list)

    def _answer(self, query: dict[str, str]) -> web.StreamResponse:
        if query.get("generator") == "search":
            rows = enumerate(self.found, start=1)
            self.articles = [{"title": title, "index": number, "fullurl": title} for number, title in rows][::-1]
            return super()._answer(query)
        if not query.get("titles"):
            return error("missingparam")
        # Of several titles, extracts come for the first alone.
        return error("toomanyvalues") if "|" in query["titles"] else found([self._page(query)])

    def _page(self, query: dict[str, str]) -> dict[str, Any]:
        title = query["titles"][:1].upper() + query["titles"][1:]
        if re.search(r"[#<>\[\]{}_]", title) or len(title.encode()) > 255:
            return {"title": title, "invalid": True, "invalidreason": "The requested page title is not valid."}
        title = REDIRECTS.get(title, title) if "redirects" in query else title
        if title not in self.texts and title not in MEANINGS:
            return {"ns": 0, "title": title, "missing": True}
        page: dict[str, Any] = {"pageid": 1, "ns": 0, "title": title}
        asked = query["prop"].split("|")
        if "info" in asked and query.get("inprop") == "url":
            page["fullurl"] = f"https://en.wikipedia.org/wiki/{title.replace(' ', '_')}"
        if "extracts" in asked and query.get("explaintext") and query.get("exsectionformat") == "wiki":
            page["extract"] = self.texts.get(title, f"{title} may refer to:")
        if "pageprops" in asked and query.get("ppprop") == "disambiguation" and title in MEANINGS:
            page["pageprops"] = {"disambiguation": ""}
        if "links" in asked and query.get("plnamespace") == "0":
            page["links"] = [{"ns": 0, "title": link} for link in MEANINGS.get(title, ())][: int(query["pllimit"])]
        return page


def error(code: str) -> web.StreamResponse:
    return web.json_response({"error": {"code": code, "info": "No."}, "servedby": "mw-test"})


def found(pages: list[dict[str, Any]]) -> web.StreamResponse:
    query = {"query": {"pages": pages}} if pages else {}
    return web.json_response({"batchcomplete": True, **query})
