"""MediaWiki's action API with articles of our own.

Refuses as Wikipedia does (mediawiki.org, 2026-11-21): who may not ask is turned away, every other error is a 200 with
`error` in the body.
"""

from dataclasses import dataclass, field
from typing import Any

from aiohttp import web

from tests.servers.base import Seen
from tests.servers.wikimedia import Wikimedia

ARTICLES = [
    {"title": "Heliograph", "index": 2, "extract": "A heliograph signals by sunlight.", "fullurl": "heliograph"},
    {"title": "Aldis lamp", "index": 1, "extract": "A signal lamp " + "is a light " * 60, "fullurl": "aldis"},
    {"title": "Semaphore", "index": 3, "fullurl": "semaphore"},
]


@dataclass
class Wikipedia(Wikimedia):
    """`articles` is what every search finds, in no order, as MediaWiki lists them."""

    articles: list[dict[str, Any]] = field(default_factory=lambda: list(ARTICLES))

    def respond(self, seen: Seen, request: web.Request) -> web.StreamResponse:
        query = seen.query
        if refusal := self.refused(seen):
            return refusal
        if not seen.path.endswith("/w/api.php"):
            return web.Response(status=404, text="<html>Not found</html>", content_type="text/html")
        if query.get("format") != "json" or query.get("formatversion") != "2" or query.get("action") != "query":
            return _error("badvalue")
        if not query.get("gsrsearch"):
            return _error("missingparam")
        if len(query["gsrsearch"]) > 300:
            return _error("cirrussearch-query-too-long")
        if not 1 <= int(query["gsrlimit"]) <= 500:
            return _error("outofrange")
        if not self.articles:
            return web.json_response({"batchcomplete": True})
        pages = [self._page(article, query) for article in self.articles if article["index"] <= int(query["gsrlimit"])]
        return web.json_response({"batchcomplete": True, "query": {"pages": pages}})

    def _page(self, article: dict[str, Any], query: dict[str, str]) -> dict[str, Any]:
        page = {"pageid": article["index"], "ns": 0, **article}
        page["fullurl"] = f"https://en.wikipedia.example/wiki/{article['fullurl']}"
        if "extracts" not in query["prop"] or "exintro" not in query or "explaintext" not in query:
            page.pop("extract", None)
        if query.get("inprop") != "url":
            page.pop("fullurl")
        return page


def _error(code: str) -> web.StreamResponse:
    return web.json_response({"error": {"code": code, "info": "No."}, "servedby": "mw-test"})
