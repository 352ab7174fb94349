"""Frames that come twice stand in the line once, and a post is answered only when its frame is written down."""

import asyncio
import json

import pytest

from bot.transports.rest_api import arrivals
from bot.transports.rest_api.arrivals import Arrivals, Way
from bot.transports.rest_api.webhook import Post
from tests.servers.envelopes import message

A, B = (json.dumps(message(text)) for text in ("a", "b"))
W: Way = "websocket"
P: Way = "webhook"


def spelled_anew(frame: str) -> str:
    return json.dumps(json.loads(frame), ensure_ascii=False, indent=1)


async def come(line: Arrivals, *steps: tuple[Way, str]) -> list[Post]:
    posts: list[Post] = []
    for way, frame in steps:
        if way == W:
            await line.frame(frame)
        else:
            posts.append(Post(frame, ""))
            line.post(posts[-1])
    return posts


def taken(line: Arrivals) -> list[tuple[str | None, bool]]:
    """What stands in the line: the frame, and whether a post waits with it."""
    found: list[tuple[str | None, bool]] = []
    while (first := line.first()) is not None:
        found.append((first.raw, first.post is not None))
        line.take()
    return found


@pytest.mark.parametrize(
    ("steps", "line"),
    [
        ([(W, A), (P, A)], [(A, False), (None, True)]),
        ([(P, A), (W, A)], [(A, True)]),
        ([(W, A), (W, B), (P, A), (P, B)], [(A, False), (B, False), (None, True), (None, True)]),
        ([(P, A), (P, B), (W, B), (W, A)], [(A, True), (B, True)]),
        ([(P, A), (P, B), (W, A)], [(A, True), (B, True)]),  # the websocket has missed one
        ([(W, A), (P, B)], [(A, False), (B, True)]),  # the webhook has
        ([(W, A), (W, A), (P, A), (P, A)], [(A, False), (A, False), (None, True), (None, True)]),
        ([(W, A), (P, A), (W, A), (P, A)], [(A, False), (None, True)] * 2),
        ([(W, A), (P, A), (P, A), (W, A)], [(A, False), (None, True), (A, True)]),
        ([(W, "no json"), (P, A), (W, "no json")], [("no json", False), (A, True), ("no json", False)]),
    ],
)
async def test_each_frame_once(steps: list[tuple[Way, str]], line: list[tuple[str | None, bool]]) -> None:
    """In the order in which they came first, by whichever way; the n-th of equal ones by one way is the n-th by the
    other. The end of a frame that stands before it already is a post without a frame.
    """
    both = Arrivals(max_ahead=100, is_paired=True)
    await come(both, *steps)
    assert taken(both) == line


async def test_a_frame_that_is_spelled_anew_is_the_same() -> None:
    """A post has it within other JSON."""
    both = Arrivals(max_ahead=100, is_paired=True)
    await come(both, (W, spelled_anew(A)), (P, A))
    assert taken(both) == [(spelled_anew(A), False), (None, True)]


async def test_without_a_webhook_everything_counts() -> None:
    """Signal may deliver the same again: that is for the inbox to know."""
    alone = Arrivals(max_ahead=100, is_paired=False)
    await come(alone, (W, A), (W, A))
    assert taken(alone) == [(A, False), (A, False)]
    assert alone.lacks_posts_since is None


async def test_it_is_told_since_when_posts_are_missing() -> None:
    """From the first frame that came over the websocket alone, until a post comes."""
    both = Arrivals(max_ahead=100, is_paired=True)
    await come(both, (W, A))
    since = both.lacks_posts_since
    assert since is not None
    await come(both, (W, B))
    assert both.lacks_posts_since == since
    await come(both, (P, A))
    assert both.lacks_posts_since is None


async def test_what_stands_in_the_line_is_bounded() -> None:
    """Nothing more is read from a websocket until there is room; what was read already stands in the line."""
    line = Arrivals(max_ahead=2, is_paired=True)
    await line.frame(A)
    reading = asyncio.ensure_future(line.frame(B))
    for _ in range(5):
        await asyncio.sleep(0)
    assert not reading.done()
    line.take()
    await reading
    assert taken(line) == [(B, False)]


async def test_what_is_remembered_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of frames that came by one way alone the oldest are forgotten."""
    monkeypatch.setattr(arrivals, "_MAX_REMEMBERED", 3)
    both = Arrivals(max_ahead=100, is_paired=True)
    frames = [json.dumps(message(str(number))) for number in range(5)]
    for frame in frames:
        await come(both, (W, frame))
    taken(both)
    await come(both, (P, frames[2]), (P, frames[1]))
    assert taken(both) == [(None, True), (frames[1], True)]
