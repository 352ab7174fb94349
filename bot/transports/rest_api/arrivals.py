"""What has come over a websocket and by posts and was not asked for yet: in order, and each frame once.

With a webhook signal-cli-rest-api hands every frame on twice, to the websocket and to the webhook; either may be the
first to arrive, and either may miss some. Left to others: reading the websocket (`rest_api`), answering posts
(`webhook`).
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
"""How many frames may have come by one way alone before the oldest are forgotten."""


@dataclass(frozen=True, kw_only=True, slots=True)
class QueuedFrame:
    """A frame, or the end of one that is in the line before it already (`raw` None); `post` waits for an answer."""

    raw: str | None
    post: Post | None


class Arrivals:
    """A line of frames. `max_ahead` is how many of them may stand in it before no more are read from a websocket.

    `is_paired`: there is a webhook, and what comes by one way comes by the other as well.
    """

    def __init__(self, *, max_ahead: int, is_paired: bool) -> None:
        self.changed = asyncio.Event()
        """Set when something has come."""
        self.lacks_posts_since: float | None = None
        """Since when frames come over the websocket that no post brings; None where posts come."""
        self._line: deque[QueuedFrame] = deque()
        self._max_ahead = max_ahead
        self._is_paired = is_paired
        self._has_room = asyncio.Event()
        self._lone: dict[bytes, tuple[Way, int]] = {}
        """By the digest of a frame: by which way it has come more often, and how much more often."""

    def post(self, post: Post) -> None:
        """A post has come."""
        self.lacks_posts_since = None
        is_new = self._is_new(post.frame, "webhook")
        self._add(QueuedFrame(raw=post.frame if is_new else None, post=post))

    async def frame(self, raw: str) -> None:
        """A frame has come over the websocket; returns when there is room for another."""
        if not self._is_paired:
            self._add(QueuedFrame(raw=raw, post=None))
        elif self._is_new(raw, "websocket"):
            self.lacks_posts_since = self.lacks_posts_since or time.monotonic()
            self._add(QueuedFrame(raw=raw, post=None))
        while len(self._line) >= self._max_ahead:
            self._has_room.clear()
            await self._has_room.wait()

    def first(self) -> QueuedFrame | None:
        """What is next in the line, and stays there; None where it is empty."""
        return self._line[0] if self._line else None

    @property
    def has_post(self) -> bool:
        """Whether the bridge waits for the answer to a post that stands in the line."""
        return any(arrival.post is not None for arrival in self._line)

    def take(self) -> None:
        """Take the first out of the line."""
        self._line.popleft()
        self._has_room.set()

    def _add(self, arrival: QueuedFrame) -> None:
        self._line.append(arrival)
        self.changed.set()

    def _is_new(self, raw: str, way: Way) -> bool:
        """Whether it has not come by the other way: the n-th of equal frames by one way is the n-th by the other."""
        digest = hashlib.blake2b(_canonical(raw).encode("utf-8", "surrogatepass"), digest_size=16).digest()
        first_way, count = self._lone.pop(digest, (way, 0))
        count += 1 if first_way == way else -1
        if count:
            self._lone[digest] = first_way, count
        if len(self._lone) > _MAX_REMEMBERED:
            del self._lone[next(iter(self._lone))]
        return first_way == way


def _canonical(raw: str) -> str:
    """The frame in one spelling: a post has it within other JSON, with other spaces and escapes."""
    try:
        return json.dumps(json.loads(raw))
    except (ValueError, RecursionError):
        return raw
