"""A double of MediaWiki's action API whose articles are found by every search. Its errors are those of Wikimedia."""

from dataclasses import dataclass, field
from typing import Any

from aiohttp import web

from tests.servers.base import Seen
from tests.servers.wikimedia import Wikimedia, error, found

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
        if not query.get("gsrsearch"):
            return error("missingparam")
        if len(query["gsrsearch"]) > 300:
            return error("cirrussearch-query-too-long")
        if not 1 <= int(query["gsrlimit"]) <= 500:
            return error("outofrange")
        pages = [self._page(article, query) for article in self.articles if article["index"] <= int(query["gsrlimit"])]
        return found(pages)

    def _page(self, article: dict[str, Any], query: dict[str, str]) -> dict[str, Any]:
        page = {"pageid": article["index"], "ns": 0, **article}
        page["fullurl"] = f"https://en.wikipedia.example/wiki/{article['fullurl']}"
        if "extracts" not in query["prop"] or "exintro" not in query or "explaintext" not in query:
            page.pop("extract", None)
        if query.get("inprop") != "url":
            page.pop("fullurl")
        return page
