"""Feeds and their articles, with a full-text index.

    settings, /feeds --> feeds --due--> read (elsewhere) --note, keep--> articles + index --> search, recent

The text is public, so it is not sealed (see `store/schema`), and nothing in it comes from a conversation.
Searches are not recorded. The index is SQLite's FTS5 with `articles` as its content: every change of an article is made
in both, within one transaction.

Source: https://sqlite.org/fts5.html, external content tables, bm25, implicit AND (2026-11).
"""

import unicodedata
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from datetime import datetime
from typing import Any

from store.repository import Repository, millis, millis_if, moment_if

MAX_FEEDS = 50
"""The most feeds, unless the settings name more. They are read a few at a time, and each may be slow."""

MAX_WORDS = 12
"""The most words of a query that count."""

_MAX_PRUNED = 500  # per transaction, so that others do not wait long for it
_MAX_WORD_CHARS = 60

WORDS_TABLE = (
    "CREATE VIRTUAL TABLE IF NOT EXISTS article_words USING fts5 (title, summary, content = 'articles', "
    "content_rowid = 'id', tokenize = 'porter unicode61 remove_diacritics 2')"
)
_FEED = "id, given, is_set, url, title, etag, last_modified, digest, due_at, read_at, trouble"
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
    """Its own title; empty until it was read."""
    etag: str | None
    last_modified: str | None
    digest: bytes | None
    """Digest of what was read last; None: nothing yet."""
    due_at: datetime | None
    """When it is read next; None: given up by an earlier version, until the next start."""
    read_at: datetime | None
    """When it was read last, changed or not; None: never."""
    trouble: str | None
    """What went wrong the last time, as one word; None: nothing."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Article:
    """An entry of a feed."""

    key: str
    """The id that the feed gives it; not empty."""
    url: str | None
    """The normalized address; None: it has none."""
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

    def counts(self) -> dict[int, int]:
        """Returns the number of kept articles by feed id, leaving out feeds without any."""
        return dict(self.rows("SELECT feed_id, count(*) FROM articles GROUP BY feed_id"))

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
        self.insert("feeds", given=url, is_set=is_set, url=url, due_at=millis(now))
        self.notify("feeds")
        return self._feeds("WHERE given = ?", (url,))[0]

    def remove(self, feed: int) -> Feed | None:
        """Removes a feed and its articles, also from the index; returns None if there is no such feed."""
        known = self._feeds("WHERE id = ?", (feed,))
        if not known:
            return None
        if self._drop("feed_id = ?", (feed,)):
            # Deleted words stay in the index until its parts are merged, which this does.
            self.execute("INSERT INTO article_words (article_words) VALUES ('optimize')")
        self.execute("DELETE FROM feeds WHERE id = ?", (feed,))
        return known[0]

    def due(self, now: datetime) -> Feed | None:
        """Returns the feed that has been due longest; None if none is due."""
        return next(iter(self._feeds("WHERE due_at <= ? ORDER BY due_at, id LIMIT 1", (millis(now),))), None)

    def next_due_at(self) -> datetime | None:
        """Returns when the next feed is due; None if none ever is."""
        return moment_if(self.value("SELECT min(due_at) FROM feeds"))

    def pull_in(self, *, until: datetime) -> None:
        """Makes every feed due at `until` at the latest."""
        self.execute("UPDATE feeds SET due_at = ?1 WHERE due_at > ?1 OR due_at IS NULL", (millis(until),))

    def note(self, feed: Feed) -> bool:
        """Keeps the state of a feed; returns whether the feed still exists."""
        return self.exists(
            "UPDATE feeds SET url = ?, title = ?, etag = ?, last_modified = ?, digest = ?, due_at = ?, "
            "read_at = ?, trouble = ? WHERE id = ? RETURNING id",
            (
                *(feed.url, feed.title, feed.etag, feed.last_modified, feed.digest, millis_if(feed.due_at)),
                *(millis_if(feed.read_at), feed.trouble, feed.id),
            ),
        )

    def keep(self, feed: int, articles: Iterable[Article]) -> int:
        """Keeps these articles as the present entries of the feed; returns how many stood in no feed before."""
        self.execute(WORDS_TABLE)
        self.execute("UPDATE articles SET is_listed = 0 WHERE feed_id = ? AND is_listed", (feed,))
        return sum(self._keep(feed, article) for article in articles)

    def search(
        self, query: str, *, since: datetime, now: datetime, limit: int
    ) -> tuple[tuple[FoundArticle, ...], bool]:
        """Returns the articles from `since` on that contain all words of the query, the best and newest first.

        If there are none, returns those with some of the words; the second value tells whether they contain all.
        Nothing in the query acts as search syntax.
        """
        words = _words(query)
        if not (words and self._has_index()):
            return (), True
        for joint in (" ", " OR "):
            found = self._find(
                "FROM article_words JOIN articles ON articles.id = article_words.rowid JOIN feeds ON feeds.id = "
                f"feed_id WHERE article_words MATCH ? AND published_at >= ? ORDER BY {_RANK}, articles.id DESC LIMIT ?",
                (joint.join(words), millis(since), millis(now), limit),
            )
            if found:
                return found, joint == " "
        return (), True

    def recent(self, *, since: datetime, limit: int) -> tuple[FoundArticle, ...]:
        """Returns the newest articles from `since` on, newest first."""
        return self._find(
            "FROM articles JOIN feeds ON feeds.id = feed_id WHERE published_at >= ? "
            "ORDER BY published_at DESC, articles.id DESC LIMIT ?",
            (millis(since), limit),
        )

    def prune(self, *, before: datetime, limit: int) -> int:
        """Deletes articles older than `before` and those beyond `limit`, some hundreds at a time; returns how many.

        The oldest of those feeds go first that have most, so that one that tells the same again and again under new ids
        pushes out only its own. Articles that are still in their feed stay: they would come back as new.
        """
        spare = self.value("SELECT max(0, ? - count(*)) FROM articles WHERE is_listed", (limit,))
        return self._drop(
            "id IN (SELECT id FROM (SELECT id, published_at, row_number() OVER (ORDER BY depth, published_at DESC, "
            "id DESC) AS place FROM (SELECT id, published_at, row_number() OVER (PARTITION BY feed_id "
            "ORDER BY published_at DESC, id DESC) AS depth FROM articles WHERE NOT is_listed) AS deep) AS placed "
            "WHERE published_at < ?1 OR place > ?2 ORDER BY id LIMIT ?3)",
            (millis(before), spare, _MAX_PRUNED),
        )

    def _keep(self, feed: int, article: Article) -> bool:
        known = self.rows(
            "SELECT id, feed_id, title, summary FROM articles WHERE (feed_id = ?1 AND key = ?2) OR url = ?3 "
            "ORDER BY feed_id = ?1 AND key = ?2 DESC LIMIT 1",
            (feed, article.key, article.url),
        )
        if not known:
            row: dict[str, Any] = asdict(article) | {"published_at": millis(article.published_at)}
            self._index(self.insert("articles", feed_id=feed, is_listed=True, **row), article)
            return True
        number, owner, *words = known[0]
        if owner == feed:
            self.execute("UPDATE articles SET is_listed = 1 WHERE id = ?", (number,))
            if words != [article.title, article.summary]:
                self._unindex("id = ?", (number,))
                self.execute(
                    "UPDATE articles SET title = ?, summary = ? WHERE id = ?", (article.title, article.summary, number)
                )
                self._index(number, article)
        return False

    def _index(self, number: int, article: Article) -> None:
        self.execute(
            "INSERT INTO article_words (rowid, title, summary) VALUES (?, ?, ?)",
            (number, article.title, article.summary),
        )

    def _unindex(self, condition: str, values: Sequence[object]) -> None:
        """Removes articles from the index, which needs exactly the words that were added."""
        self.execute(
            "INSERT INTO article_words (article_words, rowid, title, summary) SELECT 'delete', id, title, summary "  # noqa: S608  (literals only)
            f"FROM articles WHERE {condition}",
            values,
        )

    def _drop(self, condition: str, values: Sequence[object]) -> int:
        """Deletes articles, from the index first; returns how many."""
        if not self._has_index():  # then there are no articles
            return 0
        self._unindex(condition, values)
        return self.execute(f"DELETE FROM articles WHERE {condition}", values).rowcount  # noqa: S608  (literals only)

    def _has_index(self) -> bool:
        return self.exists("SELECT 1 FROM main.sqlite_master WHERE name = 'article_words'")

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
