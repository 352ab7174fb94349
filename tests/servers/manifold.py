"""A double of Manifold's API, with questions of our own.

Answers and refuses as the real one (docs.manifold.markets/api, 2026-11-21): lists leave out answers and descriptions;
an unknown id is a 404 with a message.
"""

from dataclasses import dataclass, field
from typing import Any

from aiohttp import web

from tests.servers.base import Seen, Server

FULL_ONLY = {"answers", "textDescription"}


def question(key: str, text: str, **more: Any) -> dict[str, Any]:
    row: dict[str, Any] = {"id": key, "question": text, "url": f"https://manifold.markets/keeper/{key.lower()}"}
    row |= {"closeTime": 1859500800000, "volume": 241.4, "volume24Hours": 0, "totalLiquidity": 102.66}
    return row | {"isResolved": False, "creatorUsername": "keeper", **more}


QUESTIONS = [
    question("EvIhz", "Will the lamp be lit?", probability=0.6213, outcomeType="BINARY", textDescription="By noon."),
    question(
        "Wh0",
        "Who lights the lamp?",
        outcomeType="MULTIPLE_CHOICE",
        volume=5000,
        answers=[
            {"id": "a1", "text": "The keeper", "probability": 0.25},
            {"id": "a2", "text": "The captain", "probability": 0.75},
        ],
    ),
    question("Old", "Was the lamp lit?", probability=0.99, isResolved=True, resolution="YES"),
]


@dataclass
class Manifold(Server):
    """A search finds every question that holds a word of the term."""

    questions: list[dict[str, Any]] = field(default_factory=lambda: list(QUESTIONS))

    def respond(self, seen: Seen, request: web.Request) -> web.StreamResponse:
        if seen.path == "/v0/search-markets":
            return self._search(seen.query)
        for row in self.questions:
            if seen.path in {f"/v0/market/{row['id']}", f"/v0/slug/{row['id'].lower()}"}:
                return web.json_response(row)
        return web.json_response({"message": "Contract not found"}, status=404)

    def _search(self, query: dict[str, str]) -> web.StreamResponse:
        if query.get("filter") not in {"all", "open", "closed", "resolved"} or not 0 <= int(query["limit"]) <= 1000:
            return web.json_response({"message": "Error validating request."}, status=400)
        words = query["term"].lower().split()
        found = [row for row in self.questions if any(word in row["question"].lower() for word in words)]
        if query["filter"] == "open":
            found = [row for row in found if not row["isResolved"]]
        lite = [{name: item for name, item in row.items() if name not in FULL_ONLY} for row in found]
        return web.json_response(lite[: int(query["limit"])])
