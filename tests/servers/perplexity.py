"""A double of Perplexity's Search API with pages of our own, after docs.perplexity.ai (2026-11-21).

A wrong key can be answered by a page of its proxy.
"""

from dataclasses import dataclass, field
from typing import Any

from aiohttp import web

from tests.servers.base import Seen, Server

KEY = "pplx-test-key-0123456789"
FIELDS = {
    *("query", "max_results", "max_tokens", "max_tokens_per_page", "country", "search_type"),
    *("search_domain_filter", "search_language_filter", "search_recency_filter"),
}
RESULTS = [
    {
        "title": "Lamps",
        "url": "https://www.lamps.example/perplexity",
        "snippet": "A long passage of the page. " * 80,
        "date": "2026-11-02",
        "last_updated": "2026-11-18",
    },
    {"title": "Flags", "url": "https://flags.example/", "snippet": "...", "date": None, "last_updated": None},
    {"title": "No page", "url": "about:blank", "snippet": "...", "date": None, "last_updated": None},
]


@dataclass
class Perplexity(Server):
    """`results` is what every search finds."""

    results: list[dict[str, Any]] = field(default_factory=lambda: list(RESULTS))

    def respond(self, seen: Seen, request: web.Request) -> web.StreamResponse:
        if seen.headers.get("authorization") != f"Bearer {KEY}":
            return web.Response(status=401, text="<html>401 Authorization Required</html>", content_type="text/html")
        if seen.path != "/search" or seen.method != "POST":
            return _refused(404, "not_found")
        body = seen.json()
        if not _is_valid(body):
            return _refused(400, "bad_request")
        return web.json_response({"id": "0", "results": self.results[: body.get("max_results", 10)]})


def _refused(status: int, kind: str) -> web.StreamResponse:
    return web.json_response({"error": {"message": "No.", "type": kind, "code": status}}, status=status)


def _is_valid(body: dict[str, Any]) -> bool:
    filters = body.get("search_domain_filter", [])
    return (
        set(body) <= FIELDS
        and bool(body.get("query"))
        and 1 <= body.get("max_results", 10) <= 20
        and len(filters) <= 20
        and len({name.startswith("-") for name in filters}) <= 1
        and body.get("search_recency_filter", "day") in {"hour", "day", "week", "month", "year"}
    )
