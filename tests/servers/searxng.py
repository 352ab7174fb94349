"""A double of a SearXNG instance, with results of our own; refuses as searx/webapp.py does (2026-11-21)."""

from dataclasses import dataclass, field
from typing import Any

from aiohttp import web

from tests.servers.base import Seen, Server

RESULTS = [
    {
        "url": "https://quay.example/lamps",
        "title": "Lamps on the quay",
        "content": "Signal lamps, <b>old</b> and new.",
        "publishedDate": "2026-10-09T08:07:06",
        "score": 1.0,
    },
    {"url": "ftp://files.example/x", "title": "No web address", "content": "x", "publishedDate": None},
    {"url": "https://harbour.example/", "title": "", "content": None, "publishedDate": None},
]


@dataclass
class SearXNG(Server):
    """`formats` is what the instance's `search.formats` allows, `refusal` the status with which others are refused;
    `silent` are the engines that do not answer it.
    """

    formats: tuple[str, ...] = ("html", "json")
    refusal: int = 403
    results: list[dict[str, Any]] = field(default_factory=lambda: list(RESULTS))
    silent: list[list[str]] = field(default_factory=list)

    def respond(self, seen: Seen, request: web.Request) -> web.StreamResponse:
        if seen.path != "/search":
            return web.Response(status=404, text="<html>Page not found</html>", content_type="text/html")
        if seen.query.get("format", "html") not in self.formats:
            return web.Response(status=self.refusal, text="<html>Forbidden</html>", content_type="text/html")
        if not seen.query.get("q"):
            return web.json_response({"error": "No query"}, status=400)
        if seen.query.get("time_range", "day") not in {"day", "week", "month", "year"}:
            return web.json_response({"error": "Invalid value for parameter time_range"}, status=400)
        given = {"query": seen.query["q"], "results": self.results, "unresponsive_engines": self.silent}
        return web.json_response(given | {"answers": [], "corrections": [], "infoboxes": [], "suggestions": []})
