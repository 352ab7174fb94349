"""A double of Frankfurter's API v2, with rates of our own against the euro.

Answers and refuses as the real one (lineofflight/frankfurter, `lib/versions/v2.rb`, 2026-11-22): rows for `/v2/rates`,
422 for unknown or unreadable parameters, 404 elsewhere, both with `status` and `message`.
"""

from dataclasses import dataclass, field
from typing import Any

from aiohttp import web

from tests.servers.base import Seen, Server

RATES: dict[str, Any] = {"USD": 1.1416, "GBP": 0.86, "JPY": 176.25, "CHF": 0.9324, "CUP": 25}
KNOWN_PARAMETERS = {"base", "quotes", "date", "from", "to", "providers", "group", "expand"}


@dataclass
class Frankfurter(Server):
    """`rates` are what one euro is worth; that of GBP is of the day before."""

    rates: dict[str, Any] = field(default_factory=lambda: dict(RATES))

    def respond(self, seen: Seen, request: web.Request) -> web.StreamResponse:
        if seen.path != "/v2/rates":
            return _refused(404, "not found")
        if unknown := set(seen.query) - KNOWN_PARAMETERS:
            return _refused(422, f"unknown parameters: {', '.join(sorted(unknown))}")
        if seen.query.get("base", "EUR") != "EUR":
            return _refused(422, f"invalid currency: {seen.query['base']}")
        days = dict.fromkeys(self.rates, "2026-11-20") | {"GBP": "2026-11-19"}
        rows = [{"date": days[code], "base": "EUR", "quote": code, "rate": rate} for code, rate in self.rates.items()]
        return web.json_response(rows, headers={"Cache-Control": "public, max-age=900"})


def _refused(status: int, message: str) -> web.StreamResponse:
    return web.json_response({"status": status, "message": message}, status=status)
