"""A double of Polymarket's Gamma API, with events of our own.

Answers and refuses as the real one (docs.polymarket.com, 2026-11-21): `q` is required, lists are JSON within texts,
numbers are texts or numbers, and an unknown slug is a 404. A market by its number names its event, without its markets.
"""

import json
from dataclasses import dataclass, field
from typing import Any

from aiohttp import web

from tests.servers.base import Seen, Server


def traded(question: str, prices: list[str], **more: Any) -> dict[str, Any]:
    row: dict[str, Any] = {"id": "512724", "question": question, "outcomes": json.dumps(["Yes", "No"])}
    row |= {"outcomePrices": json.dumps(prices), "clobTokenIds": '["111", "222"]', "volume": "250000.0"}
    return row | {"active": True, "closed": False, "umaResolutionStatuses": "[]", **more}


def event(slug: str, title: str, *markets: dict[str, Any], **more: Any) -> dict[str, Any]:
    row: dict[str, Any] = {"id": "903", "slug": slug, "title": title, "description": "Resolves YES if it happens."}
    row |= {"endDate": "2028-11-07T00:00:00Z", "active": True, "closed": False, "liquidity": 15000.5}
    row |= {"tags": [{"id": "2", "label": "Politics", "slug": "politics"}, {"label": "All", "forceHide": True}]}
    return row | {"volume": 250000.0, "volume24hr": 1234.5, "markets": list(markets), **more}


EVENTS = [
    event("lamp-2028", "Will the lamp be lit in 2028?", traded("Will the lamp be lit?", ["0.615", "0.385"])),
    event(
        "who-lights-it",
        "Who lights the lamp?",
        traded("Will the keeper light it?", ["0.2", "0.8"], groupItemTitle="The keeper", id="512801"),
        traded("Will the captain light it?", ["0.7", "0.3"], groupItemTitle="The captain"),
        traded("Will the cook light it?", ["0", "1"], groupItemTitle="The cook", closed=True),
        traded("Will nobody light it?", [], outcomePrices=None),
    ),
    event("lamp-2020", "Was the lamp lit in 2020?", traded("Was it?", ["0", "1"], closed=True), closed=True),
]


@dataclass
class Polymarket(Server):
    """A search finds every event whose title holds a word of the query."""

    events: list[dict[str, Any]] = field(default_factory=lambda: list(EVENTS))

    def respond(self, seen: Seen, request: web.Request) -> web.StreamResponse:
        if seen.path == "/public-search":
            return self._search(seen.query)
        if seen.path.startswith("/events/slug/"):
            slug = seen.path.removeprefix("/events/slug/")
            for row in self.events:
                if row["slug"] == slug:
                    return web.json_response(row)
            return web.json_response({"type": "not found error", "error": "slug not found"}, status=404)
        if seen.path.startswith("/markets/"):
            for row in self.events:
                for market in row["markets"]:
                    if market["id"] == seen.path.removeprefix("/markets/"):
                        of = {name: row[name] for name in ("id", "slug", "title", "endDate")}
                        more = {"slug": "a-market", "endDate": row["endDate"], "description": row["description"]}
                        return web.json_response({**market, **more, "liquidity": "15000.5", "events": [of]})
            return web.json_response({"type": "not found error", "error": "id not found"}, status=404)
        return web.json_response({"error": "not found"}, status=404)

    def _search(self, query: dict[str, str]) -> web.StreamResponse:
        if not query.get("q"):
            return web.json_response({"type": "validation error", "error": "q is required"}, status=422)
        words = query["q"].lower().split()
        found = [row for row in self.events if any(word in row["title"].lower() for word in words)]
        if query.get("keep_closed_markets") != "1":
            found = [row for row in found if not row["closed"]]
        found = found[: int(query["limit_per_type"])]
        return web.json_response(
            {"events": found or None, "pagination": {"hasMore": False, "totalResults": len(found)}}
        )
