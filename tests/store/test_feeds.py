"""The repository of the feeds: which there are, what stood in them, and finding it again, whatever is looked for."""

from dataclasses import replace
from datetime import datetime, timedelta
from pathlib import Path

from store import MAX_FEEDS, Article, Feed, Repositories, Store
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


def article(title: str, url: str | None = None, *, days: float = 0, summary: str = "", key: str = "") -> Article:
    url, at = url or f"https://lamps.example/{title.replace(' ', '-')}", NOON - timedelta(days=days)
    return Article(key=key or title, url=url, title=title, summary=summary, published_at=at, is_dated=True)


def added(repos: Repositories, url: str = LAMPS) -> Feed:
    feed = repos.feeds.add(url, now=NOON)
    assert feed is not None
    return feed


def found(repos: Repositories, query: str, *, since: datetime = LONG_AGO, limit: int = 10) -> list[str]:
    return [one.title for one in repos.feeds.search(query, since=since, now=NOON, limit=limit)[0]]


def recent(repos: Repositories) -> list[str]:
    return [one.title for one in repos.feeds.recent(since=LONG_AGO, limit=10)]


def assert_index_is_whole(repos: Repositories) -> None:
    """The index holds exactly the words of the articles: SQLite compares them, and fails where it does not."""
    repos.feeds.execute("INSERT INTO article_words (article_words, rank) VALUES ('integrity-check', 1)")


class TestFeeds:
    def test_the_same_feed_is_not_read_twice_nor_more_than_may_be(self, repos: Repositories) -> None:
        """Also where it has moved to; what the settings name is read all the same."""
        repos.feeds.note(replace(added(repos), url=SHIPS))
        assert [repos.feeds.add(url, now=NOON) for url in (LAMPS, SHIPS)] == [None, None]
        many = [repos.feeds.add(f"https://x.example/{number}", now=NOON) for number in range(MAX_FEEDS)]
        assert many.count(None) == 1
        assert len(repos.feeds.all()) == MAX_FEEDS
        repos.feeds.settle_set(["https://set.example/"], now=NOON)
        assert repos.feeds.all()[-1].given == "https://set.example/"

    def test_feeds_of_the_settings_come_and_go_with_them(self, repos: Repositories) -> None:
        """With what stood in them; those that an admin added stay, and become the settings' where they are named."""
        admins = "https://admin.example/"
        added(repos, admins)

        def settle(*urls: str) -> list[tuple[str, bool]]:
            repos.feeds.settle_set(urls, now=NOON)
            return [(feed.given, feed.is_set) for feed in repos.feeds.all()]

        assert settle(LAMPS) == [(admins, False), (LAMPS, True)]
        repos.feeds.keep(repos.feeds.all()[1].id, [article("Lit")])
        assert settle(LAMPS) == [(admins, False), (LAMPS, True)]
        assert found(repos, "lit") == ["Lit"]
        assert settle(SHIPS, admins) == [(admins, True), (SHIPS, True)]
        assert recent(repos) == []

    async def test_a_feed_that_was_removed_leaves_nothing(self, store: Store, path: Path) -> None:
        """No row, no word of it on the disk; noting what was read of it meanwhile changes nothing."""

        def keep(repos: Repositories) -> Feed:
            lamps = added(repos)
            repos.feeds.keep(lamps.id, [article("Lighthouse keepers unite", summary="on the quay")])
            return lamps

        def remove(repos: Repositories) -> None:
            repos.feeds.remove(lamps.id)
            assert not repos.feeds.note(lamps)
            assert found(repos, "lighthouse") == []
            assert_index_is_whole(repos)

        lamps = await store.transaction(keep)
        # A second part of the index, so that the first is not gone with it.
        await store.transaction(lambda repos: repos.feeds.keep(lamps.id, [article("Another")]))
        await store.checkpoint()
        assert words_on_disk(path, b"lighthous") == ["aldis.db"]
        await store.transaction(remove)
        await store.checkpoint()
        assert words_on_disk(path, b"lighthous") == []


class TestKeeping:
    def test_an_article_is_kept_once(self, repos: Repositories) -> None:
        """By what its feed calls it, and by its address over all feeds; what has changed in it is changed."""
        lamps, ships = added(repos).id, added(repos, SHIPS).id
        stolen = article("Stolen", "https://lamps.example/Lit")
        for feed, articles, new in (
            (lamps, (article("Lit", key="a"), article("Dark", key="b")), 2),
            (lamps, (article("Lit", key="a"), article("Dark again", key="b")), 0),
            (ships, (stolen, article("Afloat")), 1),
            (lamps, (article("Lit", key="another id"),), 0),
        ):
            assert repos.feeds.keep(feed, articles) == new
            assert found(repos, "stolen") == []
        assert sorted(recent(repos)) == ["Afloat", "Dark again", "Lit"]
        assert found(repos, "dark") == ["Dark again"]
        assert {one.id: one.articles for one in repos.feeds.all()} == {lamps: 2, ships: 1}
        assert_index_is_whole(repos)

    def test_what_is_old_or_too_much_goes_unless_it_stands_in_its_feed(self, repos: Repositories) -> None:
        """The oldest first; what stands in its feed would be found anew at the next reading, as news."""
        lamps, before = added(repos), NOON - timedelta(days=30)
        for days in (*range(4), 40, 41):
            repos.feeds.keep(lamps.id, [article(f"Number {days}", days=days)])
        for limit, left in ((100, (0, 1, 2, 3, 41)), (3, (0, 1, 41))):
            count = len(recent(repos)) - len(left)
            assert [repos.feeds.prune(before=before, limit=limit) for _ in range(2)] == [count, 0]
            assert recent(repos) == [f"Number {days}" for days in left]
            assert found(repos, "40") == []
            assert_index_is_whole(repos)


class TestSearching:
    def test_the_best_and_newest_come_first(self, repos: Repositories) -> None:
        """A word in the title counts more, age counts against it; endings and accents do not matter."""
        articles = (
            article("Élection of a keeper", days=2),
            article("Election day", days=30),
            article("Keepers hold elections"),
            article("The tide", summary="An election is near."),
            article("Nothing else"),
        )
        repos.feeds.keep(added(repos).id, articles)
        wanted = ["Keepers hold elections", "Élection of a keeper", "The tide", "Election day"]
        assert found(repos, "election") == wanted
        assert found(repos, "ELECTIONS", since=NOON - timedelta(days=1)) == ["Keepers hold elections", "The tide"]
        assert found(repos, "election", limit=1) == ["Keepers hold elections"]

    def test_all_words_count_and_then_some(self, repos: Repositories) -> None:
        """Where no article has all of them, those with some are given, and the second value says so."""
        repos.feeds.keep(added(repos).id, [article("Red lamp"), article("Green lamp")])
        for query, has_all in (("lamp red", True), ("red ship", False), ('"red" "lamp"', True)):
            articles, is_whole = repos.feeds.search(query, since=LONG_AGO, now=NOON, limit=9)
            assert ({one.title for one in articles}, is_whole) == ({"Red lamp"}, has_all)

    def test_whatever_is_looked_for_is_words(self, repos: Repositories) -> None:
        """No operator, column or quote of it reaches the search, nothing breaks, and nothing takes long."""
        repos.feeds.keep(added(repos).id, [article("lamp")])
        for query in STRANGE:
            assert found(repos, query) in ([], ["lamp"])
            assert len(_words(query)) <= MAX_WORDS
