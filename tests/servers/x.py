"""A double of X's API v2, recent search, with posts of our own.

Refuses what the real one refuses, in the same form (docs.x.com, 2026-11-21): a missing token; a query that is empty,
longer than 512 characters or with unknown operators; fewer than 10 or more than 100 posts; a start more than seven days
ago; unknown parameters. `credits` is the number of posts paid for. A search finds every post that contains one of the
query's words.
"""

import re
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any

from aiohttp import web

from tests.servers.base import Seen, Server

TOKEN = "x-bearer-test"
NOW = datetime.fromisoformat("2026-11-21T14:30:15Z")
PARAMETERS = {"query", "max_results", "sort_order", "start_time", "tweet.fields", "expansions", "user.fields"}
OPERATORS = {
    *("from", "to", "url", "conversation_id", "lang", "is", "has"),
    *("min_likes", "min_reposts", "min_replies"),
}


def post(key: str, text: str, author: str = "42", **more: Any) -> dict[str, Any]:
    row: dict[str, Any] = {"id": key, "text": text, "author_id": author, "lang": "en"}
    row |= {"created_at": "2026-11-20T09:05:00.000Z", "edit_history_tweet_ids": [key]}
    metrics = {"retweet_count": 5, "reply_count": 2, "like_count": 42, "quote_count": 1, "impression_count": 900}
    return row | {"public_metrics": metrics, **more}


USERS = [
    {"id": "42", "username": "keeper", "name": "The Keeper", "verified": True},
    {"id": "43", "username": "cook", "name": "The Cook", "verified": False},
]
POSTS = [
    post("1900000000000000003", "The lamp is lit &amp; turns."),
    post("1900000000000000002", "Who lit the lamp?", "43"),
    post("1900000000000000001", "Another lamp.", "42"),
]


@dataclass
class X(Server):
    posts: list[dict[str, Any]] = field(default_factory=lambda: list(POSTS))
    users: list[dict[str, Any]] = field(default_factory=lambda: list(USERS))
    credits: int = 1000

    def respond(self, seen: Seen, request: web.Request) -> web.StreamResponse:
        if (seen.method, seen.path) != ("GET", "/2/tweets/search/recent"):
            return refused(404, "Not Found Error")
        if seen.headers.get("authorization") != f"Bearer {TOKEN}":
            return refused(401, "Unauthorized")
        if (mistake := _mistake(seen.query)) is not None:
            return refused(400, "Invalid Request", mistake)
        if self.credits <= 0:
            return refused(402, "CreditsDepleted", "Your enrolled account does not have any credits.")
        return web.json_response(self._found(seen.query))

    def _found(self, query: dict[str, str]) -> dict[str, Any]:
        words = re.findall(r"\w+", query["query"].lower())
        found = [row for row in self.posts if any(word in row["text"].lower() for word in words)]
        found = found[: int(query["max_results"])]
        self.credits -= len(found)
        if not found:
            return {"meta": {"result_count": 0}}
        authors = {row["author_id"] for row in found}
        users = [user for user in self.users if user["id"] in authors]
        ids = [row["id"] for row in found]
        meta = {"result_count": len(found), "newest_id": max(ids), "oldest_id": min(ids)}
        return {"data": found, "includes": {"users": users}, "meta": meta}


def refused(status: int, title: str, detail: str = "", **headers: str) -> web.StreamResponse:
    body = {"title": title, "detail": detail or title, "type": "about:blank", "status": status}
    return web.json_response(body, status=status, headers=headers)


def _mistake(query: dict[str, str]) -> str | None:
    if unknown := sorted(query.keys() - PARAMETERS):
        return f"The query parameter [{unknown[0]}] is not one of the known ones."
    if not 1 <= len(query.get("query", "")) <= 512:
        return "The length of 'query' must be from 1 to 512."
    if not 10 <= int(query.get("max_results", "10")) <= 100:
        return f"The `max_results` query parameter value [{query['max_results']}] is not between 10 and 100"
    if query.get("sort_order", "recency") not in {"recency", "relevancy"}:
        return "The `sort_order` is invalid."
    start = query.get("start_time")
    if start is not None and datetime.fromisoformat(start) <= NOW - timedelta(days=7):
        return "'start_time' must be on or after seven days ago."
    names = re.findall(r"([^\s()-]+?):", re.sub(r'"[^"]*"', " word ", query["query"]))
    if invalid := [name for name in names if name not in OPERATORS]:
        return f"Reference to invalid operator '{invalid[0]}'. Operator is not available in current product."
    return None
