"""A double of Tavily's search, with pages of our own.

Refuses what the real one refuses, in the same form (docs.tavily.com, 2026-11-21): a missing or wrong key is a 401, an
unknown field or a value out of range a 400; the keyless mode has its own envelope.
"""

from dataclasses import dataclass, field
from typing import Any

from aiohttp import web

from tests.servers.base import Answer, Seen, Server, answer_json

KEY = "tvly-test-key-0123456789"
FIELDS = (
    dict.fromkeys(("query", "topic", "search_depth", "time_range", "country"), str)
    | dict.fromkeys(("max_results", "chunks_per_source"), int)
    | dict.fromkeys(("include_domains", "exclude_domains"), list)
    | {"include_answer": bool}
)
RESULTS = [
    {
        "url": "https://www.lamps.example/tavily",
        "title": "Lamps <b>&amp;</b> signals",
        "score": 0.87,
        "published_date": "Wed, 18 Nov 2026 09:30:00 GMT",
        "content": "First chunk [...] second chunk\u202e",
        "raw_content": None,
    },
    {"url": "mailto:lamps@lamps.example", "title": "No page", "content": "x", "score": 0.5, "raw_content": None},
    {"url": "https://flags.example/", "title": "Flags", "content": "Flags too.", "score": 0.4, "raw_content": None},
]
PLAN_USED_UP = (
    "This request exceeds your plan's set usage limit. Please upgrade your plan or contact support@tavily.com"
)


@dataclass
class Tavily(Server):
    """`results` is what every search finds; `keyless` whether the keyless mode has anything left."""

    results: list[dict[str, Any]] = field(default_factory=lambda: list(RESULTS))
    keyless: bool = True

    def respond(self, seen: Seen, request: web.Request) -> web.StreamResponse:
        if (seen.method, seen.path) == ("GET", "/usage"):  # docs.tavily.com, "Usage", 2026-11-22
            if seen.headers.get("authorization") != f"Bearer {KEY}":
                return web.json_response({"detail": {"error": "Unauthorized: missing or invalid API key."}}, status=401)
            return web.json_response({"key": {"usage": 7, "limit": 1000}, "account": {"current_plan": "Researcher"}})
        if seen.path != "/search" or seen.method != "POST":
            return web.json_response({"detail": "Not Found"}, status=404)
        is_keyless = seen.headers.get("x-tavily-access-mode") == "keyless"
        if is_keyless and not self.keyless:
            error = {"code": "keyless_rate_limited", "message": "No.", "window": "day", "retry_after_seconds": 3600}
            return web.json_response({"error": error}, status=429)
        if not is_keyless and seen.headers.get("authorization") != f"Bearer {KEY}":
            return web.json_response({"detail": {"error": "Unauthorized: missing or invalid API key."}}, status=401)
        body = seen.json()
        if wrong := _wrong(body):
            return web.json_response({"detail": {"error": wrong}}, status=400)
        answer = "Lamps <b>signal</b>." if body.get("include_answer") else None
        found = self.results[: body.get("max_results", 5)]
        more = {"images": [], "response_time": 1.09, "request_id": "0"}
        return web.json_response({"query": body["query"], "answer": answer, "results": found, **more})


def refused(status: int, why: str) -> Answer:
    return answer_json({"detail": {"error": why}}, status=status)


def _wrong(body: dict[str, Any]) -> str:
    unknown = [name for name, value in body.items() if not isinstance(value, FIELDS.get(name, type(None)))]
    if unknown:
        return f"Invalid field: {unknown[0]}"
    if not 1 <= len(body.get("query", "")) <= 400:
        return "Query is too long. Max query length is 400 characters."
    if body.get("topic", "general") not in {"general", "news", "finance"}:
        return "Invalid topic. Must be 'general' or 'news'."
    if body.get("time_range", "day") not in {"day", "week", "month", "year"}:
        return "Invalid time range."
    if body.get("search_depth", "basic") not in {"basic", "advanced", "fast", "ultra-fast"}:
        return "Invalid search depth."
    return "" if 0 <= body.get("max_results", 5) <= 20 else "Invalid max_results."
