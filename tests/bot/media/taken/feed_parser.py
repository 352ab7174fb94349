"""A cell that a feed has taken over: it answers in the right form what no cell answers. Run in one.

Which of the answers it gives is the path of the feed.
"""

import json
import os
from collections.abc import Sequence
from typing import NoReturn
from urllib.parse import urlsplit

from tests.bot.media.hostile import say

ENTRIES = [{"key": "", "url": 7, "title": "x" * 9_000, "summary": None, "published_at": "now"}]
CONTENT = {"title": "Taken", "ttl_minutes": 1, "entries": ENTRIES}
ANSWERS = {
    "/feed": json.dumps([CONTENT, 0]) + "\n",
    "/number": "7\n",
    "/deep": "[" * 1_000_000 + "\n",
    "/refused": json.dumps([{"refused": {"words": "x" * 1000}}, 0]) + "\n",
}


def preload() -> None:
    pass


def serve(data: bytes, arguments: Sequence[str]) -> NoReturn:
    say(ANSWERS[urlsplit(arguments[0]).path].encode())
    os._exit(0)
