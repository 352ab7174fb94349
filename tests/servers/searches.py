"""Doubles of the search services, with pages of our own.

Each refuses what the real one refuses, in the same form: api-dashboard.search.brave.com, docs.tavily.com, serpapi.com,
docs.perplexity.ai and SearXNG's searx/webapp.py (2026-11-21); the accounts of Tavily ("Usage") and SerpApi ("Account
API"), 2026-11-22.
"""

from dataclasses import dataclass, field
from typing import Any, ClassVar
from urllib.parse import parse_qsl

from aiohttp import web

from tests.servers.base import Answer, Seen, Server, answer_json

Row = dict[str, Any]

PERIODS = {"day", "week", "month", "year"}


def page(title: str, url: str, description: str, **more: Any) -> Row:
    return {"title": title, "url": url, "description": description, "type": "search_result", "language": "en", **more}


BRAVE_PAGES = [
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
TAVILY_RESULTS = [
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
SERPAPI_RESULTS = [
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
PERPLEXITY_RESULTS = [
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
SEARXNG_RESULTS = [
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
class Brave(Server):
    """Web and news: `results` is what every search finds; a bad key is a 422, as is a value out of range."""

    KEY: ClassVar = "BSA-test-key-0123456789"
    WEB: ClassVar = "/res/v1/web/search"
    NEWS: ClassVar = "/res/v1/news/search"

    results: list[Row] = field(default_factory=lambda: list(BRAVE_PAGES))

    def respond(self, seen: Seen, request: web.Request) -> web.StreamResponse:
        key, query = seen.headers.get("x-subscription-token"), seen.query
        if seen.path not in {self.WEB, self.NEWS}:
            return brave_refusal(404, "NOT_FOUND")
        if key != self.KEY:
            return brave_refusal(422, "VALIDATION" if key is None else "SUBSCRIPTION_TOKEN_INVALID")
        if not self._is_valid(seen.path, query):
            return brave_refusal(422, "VALIDATION")
        found = self.results[: int(query.get("count", "20"))]
        if seen.path == self.NEWS:
            return web.json_response({"type": "news", "query": {}, "results": found})
        body: Row = {"type": "search", "query": {"original": query["q"], "more_results_available": False}}
        if self.results:
            body["web"] = {"type": "search", "results": found}
        return web.json_response(body)

    def _is_valid(self, path: str, query: dict[str, str]) -> bool:
        known = {"q", "count", "country", "search_lang", "freshness", "offset", "safesearch"}
        return (
            set(query) <= (known | {"text_decorations", "result_filter"} if path == self.WEB else known)
            and 1 <= len(query.get("q", "")) <= 400
            and 1 <= len(query.get("q", "").split()) <= 50
            and 1 <= int(query.get("count", "20")) <= (20 if path == self.WEB else 50)
            and query.get("country", "US").isupper()
            and query.get("freshness", "pd") in {"pd", "pw", "pm", "py"}
            and query.get("search_lang", "en") in {"en", "de", "fr", "jp", "pt-pt", "zh-hans", "nb"}
        )


def brave_refusal(status: int, code: str, *, is_documented: bool = False) -> web.StreamResponse:
    """An error of Brave, in the shape that the live service uses or in that of its reference."""
    error = {"id": "0", "status": status, "code": code, "detail": "No.", "meta": {}}
    errors = {"errors": [error]} if is_documented else {"error": error}
    return web.json_response({"type": "ErrorResponse", **errors, "time": 1}, status=status)


@dataclass
class Tavily(Server):
    """`results` is what every search finds; `keyless` whether the mode without a key has anything left."""

    KEY: ClassVar = "tvly-test-key-0123456789"
    FIELDS: ClassVar[dict[str, type]] = {
        **dict.fromkeys(("query", "topic", "search_depth", "time_range", "country"), str),
        **dict.fromkeys(("max_results", "chunks_per_source"), int),
        **dict.fromkeys(("include_domains", "exclude_domains"), list),
        "include_answer": bool,
    }

    results: list[Row] = field(default_factory=lambda: list(TAVILY_RESULTS))
    keyless: bool = True

    def respond(self, seen: Seen, request: web.Request) -> web.StreamResponse:
        is_keyless = seen.headers.get("x-tavily-access-mode") == "keyless"
        if (seen.method, seen.path) not in {("GET", "/usage"), ("POST", "/search")}:
            return web.json_response({"detail": "Not Found"}, status=404)
        if is_keyless and not self.keyless:
            error = {"code": "keyless_rate_limited", "message": "No.", "window": "day", "retry_after_seconds": 3600}
            return web.json_response({"error": error}, status=429)
        if not is_keyless and seen.headers.get("authorization") != f"Bearer {self.KEY}":
            return _tavily_refusal(401, "Unauthorized: missing or invalid API key.")
        if seen.path == "/usage":
            return web.json_response({"key": {"usage": 7, "limit": 1000}, "account": {"current_plan": "Researcher"}})
        body = seen.json()
        if wrong := self._mistake(body):
            return _tavily_refusal(400, wrong)
        answer = "Lamps <b>signal</b>." if body.get("include_answer") else None
        found = self.results[: body.get("max_results", 5)]
        more = {"images": [], "response_time": 1.09, "request_id": "0"}
        return web.json_response({"query": body["query"], "answer": answer, "results": found, **more})

    def _mistake(self, body: Row) -> str:
        for name, value in body.items():
            if not isinstance(value, self.FIELDS.get(name, type(None))):
                return f"Invalid field: {name}"
        if not 1 <= len(body.get("query", "")) <= 400:
            return "Query is too long. Max query length is 400 characters."
        for name, known in (
            ("topic", {"general", "news", "finance"}),
            ("time_range", PERIODS),
            ("search_depth", {"basic", "advanced", "fast", "ultra-fast"}),
            ("max_results", range(21)),
        ):
            if name in body and body[name] not in known:
                return f"Invalid {name}."
        return ""


def _tavily_refusal(status: int, words: str) -> web.StreamResponse:
    return web.json_response({"detail": {"error": words}}, status=status)


def plan_used_up(status: int) -> Answer:
    """A fault: what Tavily says when the plan, or what is paid for beyond it, is used up."""
    words = "This request exceeds your plan's set usage limit. Please upgrade your plan or contact support@tavily.com"
    return answer_json({"detail": {"error": words}}, status=status)


@dataclass
class SerpApi(Server):
    """`results` is what every search finds; without any the answer is a 200 that contains an error."""

    KEY: ClassVar = "serpapi-test-key-0123456789"
    PARAMETERS: ClassVar = {
        *("engine", "q", "api_key", "hl", "gl", "tbs", "start", "safe", "location", "google_domain"),
    }

    results: list[Row] = field(default_factory=lambda: list(SERPAPI_RESULTS))

    def respond(self, seen: Seen, request: web.Request) -> web.StreamResponse:
        query = seen.query
        if seen.method != "GET" or seen.path not in {"/account.json", "/search.json"}:
            return web.Response(status=404, text="<html>404</html>", content_type="text/html")
        if query.get("api_key") != self.KEY:
            return web.json_response({"error": "Invalid API key"}, status=401)
        if seen.path == "/account.json":
            return web.json_response({"account_id": "5ac5", "api_key": self.KEY, "total_searches_left": 5958})
        if wrong := self._mistake(query):
            return web.json_response({"error": wrong}, status=400)
        kind = "news_results" if query["engine"] == "google_news_light" else "organic_results"
        found = (
            {kind: self.results} if self.results else {"error": "Google hasn't returned any results for this query."}
        )
        return web.json_response({"search_metadata": {"id": "0", "status": "Success"}, **found})

    def _mistake(self, query: dict[str, str]) -> str:
        if not query.get("q"):
            return "Missing query `q` parameter."
        if query.get("engine") not in {"google", "google_light", "google_news_light"}:
            return f"Unsupported `{query.get('engine')}` search engine."
        if set(query) - self.PARAMETERS or query.get("tbs", "qdr:d") not in {"qdr:d", "qdr:w", "qdr:m", "qdr:y"}:
            return "Unsupported parameter."
        return ""


@dataclass
class Perplexity(Server):
    """`results` is what every search finds; a wrong key can be answered by a page of its proxy."""

    KEY: ClassVar = "pplx-test-key-0123456789"
    FIELDS: ClassVar = {
        *("query", "max_results", "max_tokens", "max_tokens_per_page", "country", "search_type"),
        *("search_domain_filter", "search_language_filter", "search_recency_filter"),
    }

    results: list[Row] = field(default_factory=lambda: list(PERPLEXITY_RESULTS))

    def respond(self, seen: Seen, request: web.Request) -> web.StreamResponse:
        if seen.headers.get("authorization") != f"Bearer {self.KEY}":
            return web.Response(status=401, text="<html>401 Authorization Required</html>", content_type="text/html")
        is_search = (seen.method, seen.path) == ("POST", "/search")
        if not is_search or not self._is_valid(seen.json()):
            status, kind = (400, "bad_request") if is_search else (404, "not_found")
            return web.json_response({"error": {"message": "No.", "type": kind, "code": status}}, status=status)
        return web.json_response({"id": "0", "results": self.results[: seen.json().get("max_results", 10)]})

    def _is_valid(self, body: Row) -> bool:
        filters = body.get("search_domain_filter", [])
        return (
            set(body) <= self.FIELDS
            and bool(body.get("query"))
            and 1 <= body.get("max_results", 10) <= 20
            and len(filters) <= 20
            and len({name.startswith("-") for name in filters}) <= 1
            and body.get("search_recency_filter", "day") in PERIODS | {"hour"}
        )


@dataclass
class SearXNG(Server):
    """`formats` is what the instance's `search.formats` allows, `refusal` the status with which others are refused;
    `silent` are the engines that do not answer it.
    """

    formats: tuple[str, ...] = ("html", "json")
    refusal: int = 403
    results: list[Row] = field(default_factory=lambda: list(SEARXNG_RESULTS))
    silent: list[list[str]] = field(default_factory=list)

    def respond(self, seen: Seen, request: web.Request) -> web.StreamResponse:
        if seen.path != "/search":
            return web.Response(status=404, text="<html>Page not found</html>", content_type="text/html")
        if seen.query.get("format", "html") not in self.formats:
            return web.Response(status=self.refusal, text="<html>Forbidden</html>", content_type="text/html")
        if not seen.query.get("q"):
            return web.json_response({"error": "No query"}, status=400)
        if seen.query.get("time_range", "day") not in PERIODS:
            return web.json_response({"error": "Invalid value for parameter time_range"}, status=400)
        given = {"query": seen.query["q"], "results": self.results, "unresponsive_engines": self.silent}
        return web.json_response(given | {"answers": [], "corrections": [], "infoboxes": [], "suggestions": []})


DUCKDUCKGO_RESULTS = [
    ("https://www.lamps.example/duck", "Lamps &amp; <b>signals</b>", "A lamp that <b>talks</b>\u202e."),
    ("https://duckduckgo.com/y.js?ad_domain=lamps.example", "An advertisement", "Buy."),
    ("javascript:alert(1)", "No page", "x"),
    ("https://flags.example/", "Flags", "Flags too."),
]


@dataclass
class DuckDuckGo(Server):
    """The pages for browsers without scripts (html.duckduckgo.com, as ddgs 9.16.1 reads them): `results` is what every
    search finds. A client that does not look like a browser gets the page about anomalies, whose status is 202.
    """

    results: list[tuple[str, str, str]] = field(default_factory=lambda: list(DUCKDUCKGO_RESULTS))
    page: str = ""
    """What is answered instead of results."""

    def respond(self, seen: Seen, request: web.Request) -> web.StreamResponse:
        form = dict(parse_qsl(seen.body.decode(), keep_blank_values=True))
        if (seen.method, seen.path) != ("POST", "/html/") or not form.get("q") or form["l"].count("-") != 1:
            return web.Response(status=400, text="<html>Error</html>", content_type="text/html")
        if "Mozilla/5.0" not in seen.headers["user-agent"] or "accept-language" not in seen.headers:
            return web.Response(status=202, text="<html>anomaly-modal</html>", content_type="text/html")
        rows = "".join(
            f'<div class="result results_links"><div class="links_main result__body"><h2 class="result__title">'
            f'<a class="result__a" href="{url}">{title}</a></h2>'
            f'<a class="result__snippet" href="{url}">{text}</a></div></div>'
            for url, title, text in self.results
        )
        return web.Response(text=self.page or f"<html><body>{rows}</body></html>", content_type="text/html")
