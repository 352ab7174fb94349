"""The repository of the feeds: which there are, what stood in them, and finding it again, whatever is looked for."""

from dataclasses import replace
from datetime import datetime, timedelta
from pathlib import Path

from store import MAX_FEEDS, Article, Feed, FoundArticle, Repositories, Store
from store.feeds import MAX_WORDS, _words
from tests.conftest import NOON
from tests.store.lives import found as words_on_disk

LAMPS, SHIPS = "https://lamps.example/feed", "https://ships.example/feed"
STRANGE = (
    *("", " ", '"', '""', '"""', "'", "*", "-", "lamp*", "lamp OR ship", "NOT lamp", "AND", "NEAR(lamp ship, 2)"),
    *("title: lamp", "title : lamp", "{title} : lamp", "^lamp", "lamp + ship", "lamp(", ")", "a-b", "l'été", "日本"),
    *("lamp\0ship", "lamp; DROP TABLE feeds", "\ud800lamp", "lamp " * 5000, "x" * 100_000, '"' * 9999),
)
LONG_AGO = NOON - timedelta(days=400)


def article(title: str, url: str | None = None, *, at: datetime = NOON, summary: str = "", key: str = "") -> Article:
    url = url or f"https://lamps.example/{title.replace(' ', '-')}"
    return Article(key=key or title, url=url, title=title, summary=summary, published_at=at, is_dated=True)


async def added(store: Store, url: str = LAMPS, **more: bool) -> Feed:
    feed = await store.transaction(lambda repos: repos.feeds.add(url, now=NOON, **more))
    assert feed is not None
    return feed


async def kept(store: Store, feed: Feed, *articles: Article) -> int:
    return await store.transaction(lambda repos: repos.feeds.keep(feed.id, articles))


async def found(store: Store, query: str, *, since: datetime = LONG_AGO, limit: int = 10) -> list[str]:
    def search(repos: Repositories) -> tuple[FoundArticle, ...]:
        return repos.feeds.search(query, since=since, now=NOON, limit=limit)[0]

    return [one.title for one in await store.read(search)]


async def recent(store: Store, *, since: datetime = LONG_AGO, limit: int = 10) -> list[str]:
    return [one.title for one in await store.read(lambda repos: repos.feeds.recent(since=since, limit=limit))]


async def assert_index_is_whole(store: Store) -> None:
    """The index holds exactly the words of the articles: SQLite compares them, and fails where it does not."""
    await store.transaction(
        lambda repos: repos.feeds.execute(
            "INSERT INTO article_words (article_words, rank) VALUES ('integrity-check', 1)"
        )
    )


class TestFeeds:
    async def test_the_same_feed_is_not_read_twice_nor_more_than_may_be(self, store: Store) -> None:
        """Also where it has moved to; what the settings name is read all the same."""
        lamps = await added(store)
        await store.transaction(lambda repos: repos.feeds.note(replace(lamps, url=SHIPS)))

        def more(repos: Repositories) -> list[Feed | None]:
            return [repos.feeds.add(url, now=NOON) for url in (LAMPS, SHIPS)]

        assert await store.transaction(more) == [None, None]

        def many(repos: Repositories) -> list[Feed | None]:
            return [repos.feeds.add(f"https://x.example/{number}", now=NOON) for number in range(MAX_FEEDS)]

        assert (await store.transaction(many)).count(None) == 1
        assert await store.read(lambda repos: len(repos.feeds.all())) == MAX_FEEDS
        await store.transaction(lambda repos: repos.feeds.settle_set(["https://set.example/"], now=NOON))
        assert (await store.read(lambda repos: repos.feeds.all()))[-1].given == "https://set.example/"

    async def test_feeds_of_the_settings_come_and_go_with_them(self, store: Store) -> None:
        """With what stood in them; those that an admin added stay, and become the settings' where they are named."""
        await added(store, "https://admin.example/")

        async def settle(*urls: str) -> list[tuple[str, bool]]:
            await store.transaction(lambda repos: repos.feeds.settle_set(urls, now=NOON))
            return [(feed.given, feed.is_set) for feed in await store.read(lambda repos: repos.feeds.all())]

        assert await settle(LAMPS) == [("https://admin.example/", False), (LAMPS, True)]
        lamps = (await store.read(lambda repos: repos.feeds.all()))[1]
        await kept(store, lamps, article("Lit"))
        assert await settle(LAMPS) == [("https://admin.example/", False), (LAMPS, True)]
        assert await found(store, "lit") == ["Lit"]
        assert await settle(SHIPS, "https://admin.example/") == [("https://admin.example/", True), (SHIPS, True)]
        assert await recent(store) == []

    async def test_a_feed_that_was_removed_leaves_nothing(self, store: Store, path: Path) -> None:
        """No row, no word of it on the disk; noting what was read of it meanwhile changes nothing."""
        lamps = await added(store)
        await kept(store, lamps, article("Lighthouse keepers unite", summary="on the quay"))
        await kept(
            store, lamps, article("Another")
        )  # a second part of the index, so that the first is not gone with it
        await store.checkpoint()
        assert words_on_disk(path, b"lighthous") == ["aldis.db"]
        assert await store.transaction(lambda repos: repos.feeds.remove(lamps.id)) == lamps
        assert await store.transaction(lambda repos: repos.feeds.remove(lamps.id)) is None
        assert not await store.transaction(lambda repos: repos.feeds.note(lamps))
        assert await found(store, "lighthouse") == []
        await store.checkpoint()
        assert words_on_disk(path, b"lighthous") == []
        await assert_index_is_whole(store)


class TestKeeping:
    async def test_an_article_is_kept_once(self, store: Store) -> None:
        """By what its feed calls it, and by its address over all feeds; what has changed in it is changed."""
        lamps, ships = await added(store), await added(store, SHIPS)
        assert await kept(store, lamps, article("Lit", key="a"), article("Dark", key="b")) == 2
        assert await kept(store, lamps, article("Lit", key="a"), article("Dark again", key="b")) == 0
        assert await kept(store, ships, article("Stolen", "https://lamps.example/Lit"), article("Afloat")) == 1
        assert await kept(store, lamps, article("Lit", key="another id")) == 0
        assert sorted(await recent(store)) == ["Afloat", "Dark again", "Lit"]
        assert await found(store, "dark") == ["Dark again"]
        assert await store.read(lambda repos: repos.feeds.counts()) == {lamps.id: 2, ships.id: 1}
        await assert_index_is_whole(store)

    async def test_what_is_old_or_too_much_goes_unless_it_stands_in_its_feed(self, store: Store) -> None:
        """The oldest first; what stands in its feed would be found anew at the next reading, as news."""
        lamps = await added(store)
        ages = [*range(4), 40, 41]
        for days in ages:
            await kept(store, lamps, article(f"Number {days}", at=NOON - timedelta(days=days)))

        async def prune(limit: int) -> int:
            before = NOON - timedelta(days=30)
            return await store.transaction(lambda repos: repos.feeds.prune(before=before, limit=limit))

        assert [await prune(100), await prune(100)] == [1, 0]
        assert await recent(store) == [f"Number {days}" for days in (0, 1, 2, 3, 41)]
        assert await found(store, "40") == []
        assert [await prune(3), await prune(3)] == [2, 0]
        assert await recent(store) == [f"Number {days}" for days in (0, 1, 41)]
        await assert_index_is_whole(store)

    async def test_a_feed_with_new_ids_each_time_pushes_out_no_other(self, store: Store) -> None:
        """Whatever it is asked, it tells all its articles anew, and dates them now."""
        restless, quiet = await added(store), await added(store, "https://quiet.example/feed")
        for number in range(3):
            await kept(store, quiet, article(f"Quiet {number}", at=NOON - timedelta(days=number + 1)))
        for number in range(20):
            await kept(store, restless, article(f"Restless {number}", at=NOON + timedelta(minutes=number)))
        assert await store.transaction(lambda repos: repos.feeds.prune(before=LONG_AGO, limit=7)) == 16
        assert await recent(store) == [
            *(f"Restless {number}" for number in (19, 18, 17, 16)),
            "Quiet 0",
            "Quiet 1",
            "Quiet 2",
        ]
        await assert_index_is_whole(store)


class TestSearching:
    async def test_the_best_and_newest_come_first(self, store: Store) -> None:
        """A word in the title counts more, age counts against it; endings and accents do not matter."""
        lamps = await added(store)
        await kept(
            store,
            lamps,
            article("Élection of a keeper", at=NOON - timedelta(days=2)),
            article("Election day", at=NOON - timedelta(days=30)),
            article("Keepers hold elections", at=NOON),
            article("The tide", summary="An election is near.", at=NOON),
            article("Nothing else", at=NOON),
        )
        assert await found(store, "election") == [
            "Keepers hold elections",
            "Élection of a keeper",
            "The tide",
            "Election day",
        ]
        assert await found(store, "ELECTIONS", since=NOON - timedelta(days=1)) == ["Keepers hold elections", "The tide"]
        assert await found(store, "election", limit=1) == ["Keepers hold elections"]

    async def test_all_words_count_and_then_some(self, store: Store) -> None:
        """Where no article has all of them, those with some are given, and it is told."""
        lamps = await added(store)
        await kept(store, lamps, article("Red lamp"), article("Green lamp"))

        async def search(query: str) -> tuple[set[str], bool]:
            given, has_all = await store.read(
                lambda repos: repos.feeds.search(query, since=LONG_AGO, now=NOON, limit=9)
            )
            return {one.title for one in given}, has_all

        assert await search("lamp red") == ({"Red lamp"}, True)
        assert await search("red ship") == ({"Red lamp"}, False)
        assert await search('"red" "lamp"') == ({"Red lamp"}, True)

    async def test_whatever_is_looked_for_is_words(self, store: Store) -> None:
        """No operator, column or quote of it reaches the search, nothing breaks, and nothing takes long."""
        await kept(store, await added(store), article("lamp"))
        for query in STRANGE:
            assert await found(store, query) in ([], ["lamp"])
            assert len(_words(query)) <= MAX_WORDS
