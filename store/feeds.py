"""Feeds and their articles, with a full-text index.

    settings, /feeds --> feeds --due--> read (elsewhere) --note, keep--> articles --> search, recent

The text is public, so it is not sealed (see `store/schema`), and nothing in it comes from a conversation.
Searches are not recorded.

Source: https://sqlite.org/fts5.html, bm25, implicit AND (2026-11).
"""

import unicodedata
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime

from store.repository import Repository, moment_if

MAX_FEEDS = 50
"""The most feeds, unless the settings name more."""
MAX_WORDS = 12
"""The most words of a query that count."""
_MAX_PRUNED = 500  # per transaction, so that others do not wait long for it
_MAX_WORD_CHARS = 60

_FEED = (
    "id, given, is_set, url, title, etag, last_modified, due_at, read_at, trouble, "
    "(SELECT count(*) FROM articles WHERE feed_id = feeds.id) AS articles"
)
_FOUND = (
    "SELECT feed_id AS feed, feeds.title AS feed_title, feeds.url AS feed_url, key, articles.url AS url, "
    "articles.title AS title, articles.summary AS summary, published_at, is_dated "
)
# bm25 is negative; smaller is better. A hit from a week ago counts half as much as one from today, and a word in the
# title more than one in the summary.
_RANK = "bm25(article_words, 3.0, 1.0) / (1.0 + max(0, ? - published_at) / 604800000.0)"


@dataclass(frozen=True, kw_only=True, slots=True)
class Feed:
    """A feed, known by its number, and the state of reading it."""

    id: int
    given: str
    """The address as given; `url` is where it is read from now."""
    is_set: bool
    """Whether it comes from the settings."""
    url: str
    title: str
    etag: str | None
    last_modified: str | None
    due_at: datetime | None
    """When it is read next; None: given up by an earlier version, until the next start."""
    read_at: datetime | None
    trouble: str | None
    """What went wrong the last time, as one word."""
    articles: int = 0


@dataclass(frozen=True, kw_only=True, slots=True)
class Article:
    """An entry of a feed."""

    key: str
    """The id that the feed gives it."""
    url: str | None
    title: str
    summary: str
    published_at: datetime
    is_dated: bool
    """Whether the feed gives the date; otherwise `published_at` is when it was first seen."""


@dataclass(frozen=True, kw_only=True, slots=True)
class FoundArticle(Article):
    """An article found by a search, with its feed."""

    feed: int
    feed_title: str
    feed_url: str


class Feeds(Repository):
    """The repository of feeds. All methods run inside a transaction."""

    def all(self) -> tuple[Feed, ...]:
        """Returns all feeds in the order in which they were added."""
        return self._feeds("ORDER BY id")

    def settle_set(self, urls: Sequence[str], *, now: datetime) -> None:
        """Makes these the feeds of the settings, and removes former ones."""
        for feed in self.all():
            if feed.is_set and feed.given not in urls:
                self.remove(feed.id)
        for url in urls:
            self.execute("UPDATE feeds SET is_set = 1 WHERE given = ?", (url,))
            self.add(url, is_set=True, now=now)

    def add(self, url: str, *, is_set: bool = False, now: datetime) -> Feed | None:
        """Adds a feed; returns None if it exists, or there are `MAX_FEEDS`, which one of the settings ignores."""
        [(count, known)] = self.rows("SELECT count(*), count(*) FILTER (WHERE ? IN (given, url)) FROM feeds", (url,))
        if known or (count >= MAX_FEEDS and not is_set):
            return None
        self.insert("feeds", given=url, is_set=is_set, url=url, due_at=now)
        self.notify("feeds")
        return self._feeds("WHERE given = ?", (url,))[0]

    def remove(self, feed: int) -> None:
        """Removes a feed and its articles."""
        self.execute("DELETE FROM articles WHERE feed_id = ?", (feed,))
        # Deleted words stay in the index until its parts are merged, which this does.
        self.execute("INSERT INTO article_words (article_words) VALUES ('optimize')")
        self.execute("DELETE FROM feeds WHERE id = ?", (feed,))

    def due(self, now: datetime, *, until: datetime) -> Feed | None:
        """Returns the feed that has been due longest, or is due after `until`, when a clock was ahead; None: none."""
        condition = "WHERE due_at <= ? OR due_at > ? OR due_at IS NULL ORDER BY due_at, id LIMIT 1"
        return next(iter(self._feeds(condition, (now, until))), None)

    def next_due_at(self) -> datetime | None:
        """Returns when the next feed is due; None if none ever is."""
        return moment_if(self.value("SELECT min(due_at) FROM feeds"))

    def note(self, feed: Feed) -> bool:
        """Keeps the state of a feed; returns whether the feed still exists."""
        return self.exists(
            "UPDATE feeds SET url = ?, title = ?, etag = ?, last_modified = ?, due_at = ?, "
            "read_at = ?, trouble = ? WHERE id = ? RETURNING id",
            (feed.url, feed.title, feed.etag, feed.last_modified, feed.due_at, feed.read_at, feed.trouble, feed.id),
        )

    def keep(self, feed: int, articles: Iterable[Article]) -> int:
        """Keeps these articles as the present entries of the feed; returns how many stood in no feed before."""
        count = "SELECT count(*) FROM articles"
        before = self.value(count)
        self.execute("UPDATE articles SET is_listed = 0 WHERE feed_id = ? AND is_listed", (feed,))
        for one in articles:
            self.execute(
                "INSERT INTO articles (feed_id, key, url, title, summary, published_at, is_dated, is_listed) "
                "VALUES (?, ?, ?, ?, ?, ?, ?, 1) ON CONFLICT (feed_id, key) DO UPDATE SET is_listed = 1, "
                "title = excluded.title, summary = excluded.summary ON CONFLICT (url) DO UPDATE SET is_listed = 1, "
                "title = excluded.title, summary = excluded.summary WHERE feed_id = excluded.feed_id",
                (feed, one.key, one.url, one.title, one.summary, one.published_at, one.is_dated),
            )
        return self.value(count) - before

    def search(
        self, query: str, *, since: datetime, now: datetime, limit: int
    ) -> tuple[tuple[FoundArticle, ...], bool]:
        """Returns the best and newest articles from `since` on with all words, or else some, and whether with all."""
        words = _words(query)
        for joint in (" ", " OR ") if words else ():
            found = self._find(
                "FROM article_words JOIN articles ON articles.id = article_words.rowid JOIN feeds ON feeds.id = "
                f"feed_id WHERE article_words MATCH ? AND published_at >= ? ORDER BY {_RANK}, articles.id DESC LIMIT ?",
                (joint.join(words), since, now, limit),
            )
            if found:
                return found, joint == " "
        return (), True

    def vectors(self, model: str, *, since: datetime) -> list[tuple[int, bytes]]:
        """Returns the id and the vector of each article from `since` on that this model has embedded."""
        wanted = "embedded_by = ? AND vector IS NOT NULL AND published_at >= ?"
        return self.rows(f"SELECT id, vector FROM articles WHERE {wanted}", (model, since))  # noqa: S608  (literals only)

    def of_ids(self, ids: Iterable[int]) -> tuple[FoundArticle, ...]:
        """Returns these articles, in this order."""
        condition = "FROM articles JOIN feeds ON feeds.id = feed_id WHERE articles.id = ?"
        return tuple(one for id_ in ids for one in self._find(condition, (id_,)))

    def recent(self, *, since: datetime, limit: int) -> tuple[FoundArticle, ...]:
        """Returns the newest articles from `since` on, newest first."""
        return self._find(
            "FROM articles JOIN feeds ON feeds.id = feed_id WHERE published_at >= ? "
            "ORDER BY published_at DESC, articles.id DESC LIMIT ?",
            (since, limit),
        )

    def prune(self, *, before: datetime, limit: int) -> int:
        """Deletes articles older than `before` and the oldest beyond `limit`, a part at once; returns how many."""
        # Articles that are still in their feed stay: they would come back as new.
        return self.execute(
            "DELETE FROM articles WHERE id IN (SELECT id FROM (SELECT id, is_listed, published_at, row_number() OVER "
            "(ORDER BY is_listed DESC, published_at DESC, id DESC) AS place FROM articles) "
            "WHERE NOT is_listed AND (published_at < ? OR place > ?) LIMIT ?)",
            (before, limit, _MAX_PRUNED),
        ).rowcount

    def _feeds(self, condition: str, values: Sequence[object] = ()) -> tuple[Feed, ...]:
        return self.records(Feed, f"SELECT {_FEED} FROM feeds {condition}", values)  # noqa: S608  (literals only)

    def _find(self, condition: str, values: Sequence[object]) -> tuple[FoundArticle, ...]:
        return self.records(FoundArticle, _FOUND + condition, values)


def _words(query: str) -> list[str]:
    """Returns the words of a query as FTS5 strings, quoted so that none is an operator or breaks the syntax."""
    # FTS5 stops at a NUL, and lone surrogates cannot be encoded.
    plain = query.replace("\0", " ").replace('"', " ").encode(errors="ignore").decode()
    words = (word[:_MAX_WORD_CHARS] for word in unicodedata.normalize("NFC", plain).split())
    return [f'"{word}"' for word in words if any(map(str.isalnum, word))][:MAX_WORDS]
