"""Reading a feed over the network: asked with its marks, opened in a cell, put into plain words; and what goes wrong.

One machine's first address stands for the public web; the site is a real server, the cells are real processes.
"""

from collections.abc import AsyncGenerator
from dataclasses import dataclass

import pytest
from aiohttp import web

from bot.media.cell import FileRefused
from bot.media.feeds import GONE, MAX_BYTES, FeedReader, FeedValidators, Piece, Reading, _Content
from bot.media.sandbox import check_facts
from tests.cells import sandbox
from tests.conftest import NOON
from tests.servers.feeds import HOSTILE, FeedSite, Item, rss
from tests.tools.conftest import USER_AGENT
from tests.tools.sites import Names, only_here
from tools import Fetcher

LIT = Item(title="Lit &amp; bright", link="/lit#now", at=NOON, guid="7", summary="<p>At <b>dusk</b></p>")


@dataclass
class Reader:
    """A reader of the feeds of one site."""

    site: FeedSite

    async def __call__(
        self, path: str = "/feed", marks: FeedValidators | None = None, *, base: str | None = None
    ) -> Reading:
        names = Names({"inside.example": [["127.0.0.2"]]})
        async with Fetcher(USER_AGENT, reach=only_here(self.site.port), resolve=names) as fetcher:
            reader = FeedReader(fetcher, sandbox())
            return await reader.read((base or self.site.url) + path, marks or FeedValidators())

    async def news(self, path: str = "/feed") -> Reading:
        reading = await self(path)
        assert reading.is_changed
        return reading


@pytest.fixture
async def site() -> AsyncGenerator[FeedSite]:
    async with FeedSite(feeds={"/feed": rss(LIT)}) as running:
        yield running


@pytest.fixture
def read(site: FeedSite) -> Reader:
    return Reader(site)


async def test_a_feed_comes_in_plain_words(site: FeedSite, read: Reader) -> None:
    """Without tags; addresses whole and in their one spelling; times in UTC."""
    news = await read.news()
    assert (news.title, news.url, news.pause_seconds) == ("The Lamp Post", f"{site.url}/feed", 0)
    [piece] = news.pieces
    assert (piece.title, piece.summary) == ("Lit & bright", "At dusk")
    assert piece.url == f"{site.url}/lit"
    assert piece.published_at == NOON
    far = Piece.model_validate(piece.model_dump() | {"published_at": 253_402_300_799})
    assert far.published_at is not None
    assert far.published_at.year == 9999


async def test_a_feed_that_has_not_changed_is_not_sent_again(site: FeedSite, read: Reader) -> None:
    """The marks go back as they came; a server that knows none of that is seen through by the bytes."""
    first = await read.news()
    again = await read(marks=first.marks)
    assert (again.trouble, again.is_changed) == ("", False)
    assert again.marks == first.marks
    seen = site.requests[-1].headers
    assert (seen["if-none-match"], seen["if-modified-since"]) == (first.marks.etag, first.marks.last_modified)
    assert (first.marks.etag or "").startswith('W/"')
    site.has_marks = False
    bare = await read(marks=first.marks)
    assert (bare.trouble, bare.is_changed) == ("", False)
    assert (bare.marks.etag, bare.marks.digest) == (None, first.marks.digest)
    site.feeds["/feed"] = rss(Item(title="Dark", link="/dark"))
    assert (await read(marks=first.marks)).is_changed


async def test_a_feed_that_has_moved_for_good_is_read_there_from_now_on(site: FeedSite, read: Reader) -> None:
    """Behind permanent redirects only, as far as the way began with them; also where nothing has changed."""
    site.moves = {"/old": (301, "/older"), "/older": (308, "/feed"), "/away": (302, "/old"), "/half": (301, "/away")}
    news = await read.news("/old")
    assert news.url == f"{site.url}/feed"
    for asked, found in (("/old", "/feed"), ("/away", "/away"), ("/half", "/away")):
        again = await read(asked, news.marks)
        assert (again.trouble, again.is_changed) == ("", False)
        assert again.url == site.url + found


async def test_what_a_server_says_of_the_next_time_is_heard(site: FeedSite, read: Reader) -> None:
    """The longer of Cache-Control and the feed's own time; Retry-After in seconds."""
    site.headers = {"Cache-Control": "public, max-age=7200"}
    first = await read.news()
    assert first.pause_seconds == 7200
    again = await read(marks=first.marks)
    assert again == Reading(url=f"{site.url}/feed", marks=first.marks, pause_seconds=7200)
    site.feeds["/feed"] = rss(LIT, more="<ttl>180</ttl>")
    assert (await read.news()).pause_seconds == 10_800
    for told, seconds in (("120", 120), ("soon", 0), ("-5", 0), ("9" * 30, 0)):
        for status in (429, 503):
            site.faults.append(lambda _, told=told, s=status: web.Response(status=s, headers={"Retry-After": told}))
            assert await read() == Reading(trouble=f"status {status}", pause_seconds=seconds)


async def test_what_has_ended_is_told_from_what_fails(site: FeedSite, read: Reader) -> None:
    """410 is for good; everything else may pass."""
    site.gone.add("/feed")
    assert await read() == Reading(trouble=GONE)
    assert await read("/nowhere") == Reading(trouble="status 404")
    site.faults.append(lambda _: web.Response(status=304))
    assert await read("/other") == Reading(trouble="status 304")  # an answer to a question that was not asked


async def test_only_the_public_web_is_asked(site: FeedSite, read: Reader) -> None:
    """Neither by the address nor by a redirect does a feed lead into a network of the house."""
    site.moves["/feed"] = (301, f"http://inside.example:{site.port}/feed")
    assert await read() == Reading(trouble="denied")
    assert await read(base=f"http://127.0.0.2:{site.port}") == Reading(trouble="denied")
    assert await read(base="http://127.0.0.1:1") == Reading(trouble="denied")


async def test_what_is_too_large_or_of_another_kind_is_not_opened(site: FeedSite, read: Reader) -> None:
    """A picture, a feed beyond the bound, nobody there."""
    site.faults.append(lambda _: web.Response(body=b"x", content_type="image/png"))
    assert await read() == Reading(trouble="no_feed")
    site.feeds["/feed"] = b" " * (MAX_BYTES + 1)
    assert await read() == Reading(trouble="too_large")
    await site.stop()
    assert await read() == Reading(trouble="unreachable")


async def test_hostile_feeds_end_in_words_or_trouble(site: FeedSite, read: Reader) -> None:
    """No feed breaks its reader; nothing invisible comes through; only addresses of the web do."""
    for name, body in HOSTILE.items():
        site.feeds["/" + name.replace(" ", "-")] = body
    assert await read("/noise") == Reading(trouble="unreadable")
    assert (await read.news("/an-address-of-another-kind")).pieces[0].url is None
    [piece] = (await read.news("/invisible-orders")).pieces
    assert (piece.title, piece.summary) == ("Lit", "now")


async def test_marks_that_cannot_go_back_as_they_came_are_dropped(site: FeedSite, read: Reader) -> None:
    """One of absurd length, one that no header can bear."""
    site.has_marks = False
    site.headers = {"ETag": '"' + "x" * 5000 + '"', "Last-Modified": "grün"}
    marks = (await read.news()).marks
    assert (marks.etag, marks.last_modified) == (None, None)


def test_what_a_taken_over_cell_says_of_a_feed_is_not_believed() -> None:
    """Each article has its key, and texts and a time of some size."""
    piece = {"key": "k", "url": None, "title": "Lit", "summary": "", "published_at": None}
    facts = {"title": "T", "ttl_minutes": 0, "entries": [piece]}
    assert check_facts(_Content, facts).entries[0].title == "Lit"
    for wrong in ({"key": ""}, {"url": 7}, {"title": "x" * 9_000}, {"summary": None}, {"published_at": "now"}):
        with pytest.raises(FileRefused):
            check_facts(_Content, facts | {"entries": [piece | wrong]})
    for wrong in ({"title": None}, {"ttl_minutes": -1}, {"entries": [piece] * 101}):
        with pytest.raises(FileRefused):
            check_facts(_Content, facts | wrong)
