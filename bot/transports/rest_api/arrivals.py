"""Frames that arrived over a websocket and by posts, queued in order and without duplicates.

With a webhook, signal-cli-rest-api delivers every frame twice, to the websocket and to the webhook; either can be the
first, and either can miss some. Left to others: reading the websocket (`rest_api`), answering posts (`webhook`).
"""

import asyncio
import hashlib
import json
import time
from collections import deque
from dataclasses import dataclass
from typing import Literal

from bot.transports.rest_api.webhook import Post

Way = Literal["websocket", "webhook"]

_MAX_REMEMBERED = 4096
"""How many frames that came only one way are remembered."""


@dataclass(frozen=True, kw_only=True, slots=True)
class QueuedFrame:
    """A frame, or a post whose frame is already queued (`raw` None); `post` waits for an answer."""

    raw: str | None
    post: Post | None


class Arrivals:
    """A queue of frames. `max_ahead` is how many can be in it before no more are read from a websocket.

    `is_paired`: there is a webhook, so what comes one way also comes the other way.
    """

    def __init__(self, *, max_ahead: int, is_paired: bool) -> None:
        self.changed = asyncio.Event()
        """Set when something has arrived."""
        self.lacks_posts_since: float | None = None
        """Since when frames have come over the websocket without a post; None while posts come."""
        self._line: deque[QueuedFrame] = deque()
        self._max_ahead = max_ahead
        self._is_paired = is_paired
        self._has_room = asyncio.Event()
        self._lone: dict[bytes, tuple[Way, int]] = {}
        """By the digest of a frame: which way it has come more often, and by how much."""

    def post(self, post: Post) -> None:
        """Adds a post that has arrived."""
        self.lacks_posts_since = None
        is_new = self._is_new(post.frame, "webhook")
        self._add(QueuedFrame(raw=post.frame if is_new else None, post=post))

    async def frame(self, raw: str) -> None:
        """Adds a frame that arrived over the websocket; returns when there is room for another."""
        if not self._is_paired:
            self._add(QueuedFrame(raw=raw, post=None))
        elif self._is_new(raw, "websocket"):
            self.lacks_posts_since = self.lacks_posts_since or time.monotonic()
            self._add(QueuedFrame(raw=raw, post=None))
        while len(self._line) >= self._max_ahead:
            self._has_room.clear()
            await self._has_room.wait()

    def first(self) -> QueuedFrame | None:
        """Returns the first item of the queue without removing it; None if it is empty."""
        return self._line[0] if self._line else None

    @property
    def has_post(self) -> bool:
        """Whether the bridge is waiting for the answer to a queued post."""
        return any(arrival.post is not None for arrival in self._line)

    def take(self) -> None:
        """Removes the first item of the queue."""
        self._line.popleft()
        self._has_room.set()

    def _add(self, arrival: QueuedFrame) -> None:
        self._line.append(arrival)
        self.changed.set()

    def _is_new(self, raw: str, way: Way) -> bool:
        """Whether it has not come the other way: the n-th of equal frames one way is the n-th the other way."""
        digest = hashlib.blake2b(_canonical(raw).encode("utf-8", "surrogatepass"), digest_size=16).digest()
        first_way, count = self._lone.pop(digest, (way, 0))
        count += 1 if first_way == way else -1
        if count:
            self._lone[digest] = first_way, count
        if len(self._lone) > _MAX_REMEMBERED:
            del self._lone[next(iter(self._lone))]
        return first_way == way


def _canonical(raw: str) -> str:
    """The frame in one spelling: in a post it is part of other JSON, with other spaces and escapes."""
    try:
        return json.dumps(json.loads(raw))
    except (ValueError, RecursionError):
        return raw
