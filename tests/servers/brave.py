"""A double of Brave Search: web and news, with pages of our own.

Refuses what the real one refuses, in the same form (api-dashboard.search.brave.com, 2026-11-21): a missing key header
and a bad key are both 422, as are a query or a count out of range.
"""

from dataclasses import dataclass, field
from typing import Any

from aiohttp import web

from tests.servers.base import Seen, Server

KEY = "BSA-test-key-0123456789"
COMMON = {"q", "count", "country", "search_lang", "freshness"}
PARAMETERS = {
    "/res/v1/web/search": COMMON | {"offset", "safesearch", "text_decorations", "result_filter"},
    "/res/v1/news/search": COMMON | {"offset", "safesearch"},
}
MOST = {"/res/v1/web/search": 20, "/res/v1/news/search": 50}
LANGUAGES = {"en", "de", "fr", "jp", "pt-pt", "zh-hans", "nb"}


def page(title: str, url: str, description: str, **more: Any) -> dict[str, Any]:
    return {"title": title, "url": url, "description": description, "type": "search_result", "language": "en", **more}


PAGES = [
    page(
        "Lamps &amp; <strong>Signals</strong>",
        "https://www.lamps.example/signals?a=1",
        "How a <strong>lamp</strong> talks &quot;across&quot; the sea\u202e.",
        age="2 days ago",
        page_age="2026-11-19T08:00:00",
    ),
    page("No age", "http://plain.example/", "Words.", page_age="2026-01-02T03:04:05"),
    page("Script", "javascript:alert(1)", "Must not pass."),
    page("Third", "https://third.example/x", "More words."),
]


@dataclass
class Brave(Server):
    """`pages` are what every search finds, `limits` the rate headers of every answer."""

    pages: list[dict[str, Any]] = field(default_factory=lambda: list(PAGES))
    limits: dict[str, str] = field(default_factory=lambda: {"X-RateLimit-Limit": "50, 0"})

    def respond(self, seen: Seen, request: web.Request) -> web.StreamResponse:
        key, query = seen.headers.get("x-subscription-token"), seen.query
        if seen.path not in PARAMETERS:
            return refused(404, "NOT_FOUND")
        if key is None:
            loc = ["header", "x-subscription-token"]
            return refused(422, "VALIDATION", {"errors": [{"type": "missing", "loc": loc, "msg": "Field required"}]})
        if key != KEY:
            return refused(422, "SUBSCRIPTION_TOKEN_INVALID", {"component": "authentication"})
        if not _is_valid(seen.path, query):
            return refused(422, "VALIDATION")
        found = self.pages[: int(query.get("count", "20"))]
        if seen.path == "/res/v1/news/search":
            return web.json_response({"type": "news", "query": {}, "results": found}, headers=self.limits)
        body: dict[str, Any] = {"type": "search", "query": {"original": query["q"], "more_results_available": False}}
        if self.pages:
            body["web"] = {"type": "search", "results": found}
        return web.json_response(body, headers=self.limits)


def refused(status: int, code: str, meta: dict[str, Any] | None = None) -> web.StreamResponse:
    """An error in the shape that the live service uses."""
    error = {"id": "0", "status": status, "code": code, "detail": "No.", "meta": meta or {}}
    return web.json_response({"type": "ErrorResponse", "error": error, "time": 1}, status=status)


def refused_as_documented(status: int, code: str) -> web.StreamResponse:
    """An error in the shape that the reference shows."""
    errors = [{"id": "0", "status": status, "code": code, "detail": "No.", "meta": {}}]
    return web.json_response({"type": "ErrorResponse", "errors": errors, "time": 1}, status=status)


def _is_valid(path: str, query: dict[str, str]) -> bool:
    words = query.get("q", "").split()
    return (
        set(query) <= PARAMETERS[path]
        and 1 <= len(query.get("q", "")) <= 400
        and 1 <= len(words) <= 50
        and 1 <= int(query.get("count", "20")) <= MOST[path]
        and query.get("country", "US").isupper()
        and query.get("freshness", "pd") in {"pd", "pw", "pm", "py"}
        and query.get("search_lang", "en") in LANGUAGES
    )
