"""The news: feeds are read in the background, kept, searched by the model, and listed and changed by a command."""

import asyncio
from collections.abc import AsyncGenerator, Sequence
from dataclasses import dataclass, field, replace
from datetime import timedelta
from typing import Any

import pytest
from aiohttp import web

from bot.clock import SetClock
from bot.features import feeds as phrases
from bot.features.feeds import (
    MAX_BYTES,
    FeedPoller,
    FeedService,
    IntelRecent,
    IntelRecentArguments,
    IntelSearch,
    IntelSearchArguments,
    Piece,
    _Content,
)
from bot.media.cell import FileRefused
from bot.media.sandbox import check_facts
from bot.metrics import Counts
from store import Article, Feed, Repositories, Store
from tests.bot.chat.turn_helpers import calls, contents, says
from tests.bot.commands.test_commands import ask, plain
from tests.bot.loops.app_harness import app_harness
from tests.cells import sandbox
from tests.conftest import NOON
from tests.servers.envelopes import ALICE, BOB, GROUP, message
from tests.servers.feeds import HOSTILE, FeedSite, Item, rss
from tests.tools.conftest import USER_AGENT
from tests.tools.sites import only_here
from tests.waiting import eventually_found
from tools import BadArguments, Fetcher, NewsOptions, ToolContext

HOUR = 3600
LIT = Item(title="The lamp is lit", link="/lit", at=NOON - timedelta(hours=3), summary="<b>At dusk</b> on the quay")
OLD = Item(title="The lamp of old", link="/old", at=NOON - timedelta(days=90))


@dataclass
class Newsroom:
    site: FeedSite
    fetcher: Fetcher
    clock: SetClock
    counts: Counts = field(default_factory=Counts)

    def feed_poller(self, store: Store, *paths: str) -> FeedPoller:
        # Unchecked: a feed of the settings is never one of this machine.
        urls = tuple(self.site.url + path for path in paths)
        news = NewsOptions.model_construct(feeds=urls, poll_minutes=60, kept_days=30, max_entries=100)
        return FeedPoller(store, self.clock, self.counts, self.fetcher, sandbox(), news)


@pytest.fixture
async def room(clock: SetClock) -> AsyncGenerator[Newsroom]:
    async with (
        FeedSite(feeds={"/feed": rss(LIT, OLD)}) as site,
        Fetcher(USER_AGENT, **only_here(site.port)) as fetcher,
    ):
        yield Newsroom(site, fetcher, clock)


async def feeds_of(store: Store) -> Sequence[Feed]:
    return await store.read(lambda repos: repos.feeds.all())


async def titles(store: Store) -> list[str]:
    recent = await store.read(lambda repos: repos.feeds.recent(since=NOON - timedelta(days=400), limit=50))
    return [story.title for story in recent]


async def test_a_feed_of_the_settings_is_read_when_it_is_due(store: Store, room: Newsroom) -> None:
    """At once, and then each hour, with what it is known by; what is too old is not kept, nor what is old and gone."""
    feed_poller = room.feed_poller(store, "/feed")
    assert await feed_poller.attend_all() == 60
    assert await titles(store) == ["The lamp is lit"]
    [feed] = await feeds_of(store)
    assert (feed.title, feed.read_at, feed.trouble) == ("The Lamp Post", NOON, None)
    assert feed.due_at == NOON + timedelta(seconds=HOUR)
    room.clock.move(0.99 * HOUR)
    await feed_poller.attend_all()
    assert len(room.site.requests) == 1
    room.clock.move(0.02 * HOUR)
    await feed_poller.attend_all()
    assert room.site.requests[-1].headers["if-none-match"] == feed.etag
    assert room.counts.all() == {"feed_articles": 1, "feeds_read": 1, "feeds_unchanged": 1}
    room.site.feeds["/feed"] = rss(Item(title="Later", link="/later", at=NOON + timedelta(days=90)))
    for hours, kept in ((2, ["Later", "The lamp is lit"]), (31 * 24, ["Later"])):
        room.clock.move(hours * HOUR)
        await feed_poller.attend_all()
        assert await titles(store) == kept
    [later] = await store.read(lambda repos: repos.feeds.recent(since=NOON, limit=9))
    assert later.published_at == NOON + timedelta(hours=3.01)  # a date to come is when it was first seen


async def test_a_feed_that_fails_is_asked_again(store: Store, room: Newsroom) -> None:
    """It holds no other up; when it comes back all is forgiven."""
    feed_poller = room.feed_poller(store, "/broken", "/feed")
    await feed_poller.attend_all()
    assert await titles(store) == ["The lamp is lit"]
    [broken, _] = await feeds_of(store)
    assert (broken.trouble, broken.due_at) == ("unreachable", NOON + timedelta(seconds=HOUR))
    room.site.feeds["/broken"] = rss(Item(title="Mended", link="/mended", at=NOON))
    room.clock.move(HOUR)
    await feed_poller.attend_all()
    assert [feed.trouble for feed in await feeds_of(store)] == [None, None]
    assert "Mended" in await titles(store)
    assert room.counts.all()["feeds_failed"] == 1


async def test_a_feed_that_was_given_up_by_an_earlier_version_is_read_again(store: Store, room: Newsroom) -> None:
    """Where a feed was gone for good, it was never due again."""
    feed_poller = room.feed_poller(store, "/feed")
    await feed_poller.attend_all()
    [feed] = await feeds_of(store)
    await store.transaction(lambda repos: repos.feeds.note(replace(feed, due_at=None, trouble="gone")))
    again = room.feed_poller(store, "/feed")
    await again.attend_all()
    room.clock.move(24 * HOUR)
    await again.attend_all()
    assert [one.trouble for one in await feeds_of(store)] == [None]


async def test_a_clock_that_was_ahead_for_a_while_keeps_no_feed_from_being_read(store: Store, room: Newsroom) -> None:
    """It is read again by the right time."""
    feed_poller = room.feed_poller(store, "/feed")
    for seconds in (400 * 24 * HOUR, -400 * 24 * HOUR, 0):
        room.clock.step(seconds)
        room.clock.follow(room.clock.new_step())
        await feed_poller.attend_all()
    assert len(room.site.requests) == 2


# In the chat


async def test_a_feed_that_an_admin_adds_is_searched_without_a_restart(
    store: Store, clock: SetClock, room: Newsroom
) -> None:
    """The loop is woken and reads it; the model is offered the tools from then on, and its source is cited."""

    async def have_been_read() -> bool:
        return all(feed.read_at for feed in await feeds_of(store))

    news = FeedService((IntelSearch(store), IntelRecent(store)), store)
    async with app_harness(store, clock, sources=(news,), admins=frozenset({ALICE.uuid})) as aldis:
        await aldis.deliver(message("Anything new?"))
        await aldis.answered(1)
        assert [offer.name for offer in aldis.model.requests[-1].tools] == []
        feed_poller = asyncio.create_task(room.feed_poller(store).run())
        assert (await ask(aldis, f"/feeds add {room.site.url}/feed")).startswith("I'm reading 127.0.0.1 from now on.")
        await eventually_found(have_been_read)
        assert await ask(aldis, "/feeds") == "• 1: The Lamp Post: read on Sat, 21 Nov 2026, 12:00 (articles kept: 1)"
        aldis.model.script = [calls(("intel_search", {"query": "lamp dusk"})), says("It is lit [1].")]
        await aldis.deliver(message("What of the lamp?"))
        await aldis.answered(4)
        assert [offer.name for offer in aldis.model.requests[-1].tools] == ["intel_search", "intel_recent"]
        assert '"feed":"The Lamp Post"' in contents(aldis.model.requests[-1])[-1]
        assert aldis.transport.sent[-1].content.text == f"It is lit [1].\n\n[1] {room.site.url}/lit"
        assert await ask(aldis, "/feeds remove 1") == "I've stopped reading The Lamp Post and deleted its articles."
        await aldis.deliver(message("And now?"))
        await aldis.answered(6)
        assert [offer.name for offer in aldis.model.requests[-1].tools] == []
        feed_poller.cancel()
        await asyncio.wait([feed_poller])


async def test_articles_look_like_the_results_of_every_search(store: Store) -> None:
    """With feed, site and time; one without an address cannot be cited. Days are counted from now."""
    context, recent = ToolContext(now=NOON, timezone="UTC"), IntelRecent(store)

    async def results(**given: Any) -> Any:
        return (await recent.run(IntelRecentArguments(**given), context)).data["results"]

    assert await results() == []

    def keep(repos: Repositories) -> None:
        feed = repos.feeds.add("https://www.lamps.example/feed", now=NOON)
        assert feed is not None
        lit = {"key": "1", "url": "https://www.lamps.example/lit", "title": "The lamp is lit"}
        note = {"key": "2", "url": None, "title": "A note", "summary": ""}
        at = NOON - timedelta(hours=3)
        repos.feeds.keep(
            feed.id,
            [
                Article(**lit, summary="At dusk, " + "very " * 200, published_at=at, is_dated=True),
                Article(**note, published_at=at - timedelta(days=1), is_dated=False),
            ],
        )

    await store.transaction(keep)
    first, second = await results()
    snippet = first.pop("snippet")
    assert (snippet[:13], len(snippet) <= 400) == ("At dusk, very", True)
    assert first == {
        "title": "The lamp is lit",
        "url": "https://www.lamps.example/lit",
        "site": "lamps.example",
        "feed": "lamps.example",
        "published": "2026-11-21 09:00 UTC",
    }
    assert second == {"title": "A note", "feed": "lamps.example", "first_seen": "2026-11-20 09:00 UTC"}
    assert len(await results(from_days=1)) == len(await results(limit=1)) == 1
    search = IntelSearch(store)
    for query, found in (("dusk lit", 1), ("dusk flags", 1), ("flags", 0)):
        data = (await search.run(IntelSearchArguments(query=query), context)).data
        assert (len(data["results"]), "message" in data) == (found, query != "dusk lit")
    for query in ("?!", "\u200b\u200b", '""'):
        with pytest.raises(BadArguments):
            await search.run(IntelSearchArguments(query=query), context)


async def test_everybody_sees_the_feeds_and_admins_change_them(store: Store, clock: SetClock) -> None:
    """What goes wrong is told in words, in the language of the chat; the settings' own are left alone."""
    async with app_harness(store, clock, admins=frozenset({ALICE.uuid})) as aldis:
        assert await ask(aldis, "/feeds", author=BOB) == plain(phrases.NO_FEEDS.text)
        assert await ask(aldis, "/feeds add https://a.example/", author=BOB) == phrases.FEED_ONLY_ADMINS.text
        assert await ask(aldis, "/feeds add file:///etc/passwd") == phrases.FEED_NO_ADDRESS.text
        assert await ask(aldis, "/feeds add https://me:secret@a.example/") == phrases.FEED_NO_ADDRESS.text
        assert "a.example" in await ask(aldis, "/feeds add https://www.a.example/feed?key=SECRET")
        assert await ask(aldis, "/feeds add https://www.a.example/feed?key=SECRET") == phrases.FEED_KNOWN.text
        assert "/feeds, /feeds add URL or /feeds remove 2" in await ask(aldis, "/feeds subtract 1")
        for title, shown in (
            ("[*News*](https://evil.example)", "[*News*] (https[:]//evil[.]example)"),
            ("", "a.example"),
        ):
            await store.transaction(
                lambda repos, title=title: repos.feeds.execute("UPDATE feeds SET title = ?", (title,))
            )
            assert f"1: {shown}: not" in await ask(aldis, "/feeds")
        assert await ask(aldis, "/feeds remove 1", author=BOB) == phrases.FEED_ONLY_ADMINS.text
        assert await ask(aldis, "/feeds") == "• 1: a.example: not read yet"
        await store.transaction(lambda repos: repos.feeds.settle_set(["https://b.example/"], now=NOON))
        [a, b] = await feeds_of(store)
        await store.transaction(lambda repos: repos.feeds.note(replace(a, trouble="unreachable", read_at=None)))
        await store.transaction(lambda repos: repos.feeds.note(replace(b, trouble="status 404", read_at=None)))
        assert "2: b.example: not read yet. It can't be reached." in await ask(aldis, "/feeds")
        await store.transaction(lambda repos: repos.feeds.note(replace(b, trouble="no_feed", read_at=NOON)))
        assert await ask(aldis, "/feeds", group=GROUP, author=BOB) == (
            "• 1: a.example: not read yet. It can't be reached.\n"
            "• 2: b.example: read on Sat, 21 Nov 2026, 12:00 (articles kept: 0). That isn't a feed I can read."
        )
        heard = await ask(aldis, "/feeds remove 2")
        assert heard == "b.example is in my settings. The person who runs me can remove it there."
        assert await ask(aldis, "/feeds remove 7") == plain(phrases.NO_SUCH_FEED.text)
        assert "a.example" in await ask(aldis, "/feeds remove 1")
        await ask(aldis, "/language de")
        assert "Feed" in await ask(aldis, "/feeds")


# Reading one


async def read(
    room: Newsroom, store: Store, path: str = "/feed", known: Feed | None = None, *, base: str | None = None
) -> tuple[Feed, Sequence[Piece]]:
    nothing: dict[str, Any] = dict.fromkeys(("etag", "last_modified", "due_at", "read_at", "trouble"))
    url = (base or room.site.url) + path
    new = Feed(id=1, given=url, is_set=False, url=url, title="", **nothing)
    feed, pieces = await room.feed_poller(store).read(known or new)
    return feed, pieces or ()


async def test_a_feed_comes_in_plain_words(store: Store, room: Newsroom) -> None:
    """Without tags and what is invisible; addresses of the web, whole and in their one spelling; times in UTC."""
    room.site.feeds["/feed"] = rss(
        Item(title="Lit &amp; bright", link="/lit#now", at=NOON, guid="7", summary="<p>At <b>dusk</b></p>")
    )
    feed, [piece] = await read(room, store)
    assert (feed.title, feed.trouble) == ("The Lamp Post", None)
    assert (piece.title, piece.summary, piece.url) == ("Lit & bright", "At dusk", f"{room.site.url}/lit")
    assert piece.published_at == NOON
    far = Piece.model_validate(piece.model_dump() | {"published_at": 253_402_300_799})
    assert far.published_at is not None
    assert far.published_at.year == 9999
    for name, url, title in (("an address of another kind", None, "Click"), ("invisible orders", "/lit", "Lit")):
        room.site.feeds["/feed"] = HOSTILE[name]
        _, [piece] = await read(room, store)
        assert (piece.url, piece.title) == (url and room.site.url + url, title)


async def test_a_feed_that_has_not_changed_is_not_sent_again(store: Store, room: Newsroom) -> None:
    """The marks go back as they came, unless no header can bear them."""
    site = room.site
    first, _ = await read(room, store)
    again = await read(room, store, known=replace(first, trouble="unreachable"))
    assert again == (first, ())
    seen = site.requests[-1].headers
    assert (seen["if-none-match"], seen["if-modified-since"]) == (first.etag, first.last_modified)
    assert (first.etag or "").startswith('W/"')
    site.has_marks = False
    site.headers = {"ETag": '"' + "x" * 5000 + '"', "Last-Modified": "grün"}
    assert (await read(room, store, known=first))[0] == replace(first, etag=None, last_modified=None)


async def test_what_is_wrong_with_a_feed_is_told_in_a_word(store: Store, room: Newsroom) -> None:
    """Whether it is no feed or out of reach; only the public web is asked, also behind a redirect."""
    site = room.site
    site.moves = {"/moved": (301, "/feed"), "/inside": (301, f"http://127.0.0.2:{site.port}/feed")}
    assert (await read(room, store, "/moved"))[0].title == "The Lamp Post"
    site.faults.append(lambda _: web.Response(status=304))
    for path, base in (
        ("/feed", None),
        ("/nowhere", None),
        ("/inside", None),
        ("/feed", f"http://127.0.0.2:{site.port}"),
    ):
        assert (await read(room, store, path, base=base))[0].trouble == "unreachable"
    site.faults.append(lambda _: web.Response(body=b"x", content_type="image/png"))
    assert (await read(room, store))[0].trouble == "no_feed"
    site.feeds = {"/long": b" " * (MAX_BYTES + 1), "/noise": HOSTILE["noise"]}
    for path in site.feeds:
        assert (await read(room, store, path))[0].trouble == "no_feed"
    await site.stop()
    assert (await read(room, store))[0].trouble == "unreachable"


def test_what_a_taken_over_cell_says_of_a_feed_is_not_believed() -> None:
    """Each article has its key, and texts and a time of some size."""
    piece = {"key": "k", "url": None, "title": "Lit", "summary": "", "published_at": None}
    facts = {"title": "T", "entries": [piece]}
    assert check_facts(_Content, facts).entries[0].title == "Lit"
    for wrong in ({"key": ""}, {"url": 7}, {"title": "x" * 9_000}, {"summary": None}, {"published_at": "now"}):
        with pytest.raises(FileRefused):
            check_facts(_Content, facts | {"entries": [piece | wrong]})
    for wrong in ({"title": None}, {"entries": [piece] * 101}):
        with pytest.raises(FileRefused):
            check_facts(_Content, facts | wrong)
