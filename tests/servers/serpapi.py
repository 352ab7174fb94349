"""A double of SerpApi with pages of our own, after serpapi.com (2026-11-21).

A wrong key is a 401, a missing query or a parameter out of range a 400, and a search without results a 200 that
contains an error.
"""

from dataclasses import dataclass, field
from typing import Any

from aiohttp import web

from tests.servers.base import Seen, Server

KEY = "serpapi-test-key-0123456789"
NOTHING = "Google hasn't returned any results for this query."
PARAMETERS = {"engine", "q", "api_key", "hl", "gl", "tbs", "start", "safe", "location", "google_domain"}
RESULTS = [
    {
        "position": 1,
        "title": "Lamps &amp; signals",
        "link": "https://www.lamps.example/google",
        "displayed_link": "lamps.example › google",
        "snippet": "A lamp that <em>talks</em> ...",
        "date": "3 days ago",
    },
    {"position": 2, "title": "No snippet", "link": "https://flags.example/"},
    {"position": 3, "title": "No page", "link": "javascript:alert(1)", "snippet": "x"},
]


@dataclass
class SerpApi(Server):
    """`results` is what every search finds."""

    results: list[dict[str, Any]] = field(default_factory=lambda: list(RESULTS))

    def respond(self, seen: Seen, request: web.Request) -> web.StreamResponse:
        query = seen.query
        if (seen.method, seen.path) == ("GET", "/account.json"):  # serpapi.com/account-api, 2026-11-22
            if query.get("api_key") != KEY:
                return _refused(401, "Invalid API key. Your API key should be here: https://serpapi.com/manage-api-key")
            return web.json_response({"account_id": "5ac5", "api_key": KEY, "total_searches_left": 5958})
        if seen.path != "/search.json" or seen.method != "GET":
            return web.Response(status=404, text="<html>404</html>", content_type="text/html")
        if query.get("api_key") != KEY:
            return _refused(401, "Invalid API key")
        if not query.get("q"):
            return _refused(400, "Missing query `q` parameter.")
        if query.get("engine") not in {"google", "google_light", "google_news_light"}:
            return _refused(400, f"Unsupported `{query.get('engine')}` search engine.")
        if set(query) - PARAMETERS or query.get("tbs", "qdr:d") not in {"qdr:d", "qdr:w", "qdr:m", "qdr:y"}:
            return _refused(400, "Unsupported parameter.")
        body: dict[str, Any] = {"search_metadata": {"id": "0", "status": "Success"}}
        if not self.results:
            return web.json_response(body | {"error": NOTHING})
        kind = "news_results" if query["engine"] == "google_news_light" else "organic_results"
        return web.json_response(body | {kind: self.results})


def _refused(status: int, why: str) -> web.StreamResponse:
    return web.json_response({"error": why}, status=status)
