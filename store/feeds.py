"""The feeds that are read, and their articles, with a full-text index over the words.

    settings, /feeds --> feeds --due--> read (elsewhere) --note, keep--> articles + index --> search, recent

Public text: it stands open in the database (see `schema/012_feeds.sql`), and no conversation has a part in it. What is
looked for is not written down. The index is SQLite's FTS5 with `articles` as its content: every change of an article is
made in both, within one transaction.

Source: https://sqlite.org/fts5.html, external content tables, bm25, implicit AND (2026-11).
"""

import unicodedata
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime

from store.repository import Repository, millis, millis_if, moment_if

MAX_FEEDS = 50
"""How many feeds there may be, unless the settings name more: one after the other is read, and each may take its time.
"""

MAX_WORDS = 12
"""How many words of a query count."""

_MAX_PRUNED = 500  # at a time, so that nobody waits long for the transaction
_MAX_WORD_CHARS = 60

WORDS_TABLE = (
    "CREATE VIRTUAL TABLE IF NOT EXISTS article_words USING fts5 (title, summary, content = 'articles', "
    "content_rowid = 'id', tokenize = 'porter unicode61 remove_diacritics 2')"
)
_FEED = "id, given, is_set, url, title, etag, last_modified, digest, due_at, read_at, failures, trouble"
_FOUND = (
    "SELECT feed_id AS feed, feeds.title AS feed_title, feeds.url AS feed_url, articles.url AS url, "
    "articles.title AS title, articles.summary AS summary, published_at, is_dated "
)
# bm25 is negative, the better the smaller; a hit of a week ago counts half of one of today. A word in the title says
# more than one in the summary.
_RANK = "bm25(article_words, 3.0, 1.0) / (1.0 + max(0, ? - published_at) / 604800000.0)"


@dataclass(frozen=True, kw_only=True, slots=True)
class Feed:
    """One feed, and how reading it goes."""

    id: int
    """What people call it."""
    given: str
    """The address as it was asked for."""
    is_set: bool
    """Whether it stands in the settings."""
    url: str
    """Where it is read now."""
    title: str
    """As it calls itself; empty until it was read."""
    etag: str | None
    last_modified: str | None
    digest: bytes | None
    """Of what was read last; None: nothing yet."""
    due_at: datetime | None
    """When it is read next; None: never again."""
    read_at: datetime | None
    """When it was read last, changed or not; None: never yet."""
    failures: int
    """Since then."""
    trouble: str | None
    """A word for what went wrong the last time; None: nothing."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Article:
    """What stands in a feed."""

    key: str
    """What the feed calls it; not empty."""
    url: str | None
    """In its one spelling; None: it has none."""
    title: str
    summary: str
    published_at: datetime
    is_dated: bool
    """Whether the feed says when; else `published_at` is when it was seen first."""


@dataclass(frozen=True, kw_only=True, slots=True)
class FoundArticle:
    """An article that was looked for."""

    feed: int
    feed_title: str
    feed_url: str
    url: str | None
    title: str
    summary: str
    published_at: datetime
    is_dated: bool


class Feeds(Repository):
    """The repository of the feeds. All methods run inside a transaction."""

    def can_search(self) -> bool:
        """Whether this SQLite has FTS5, without which there is no news."""
        return self.exists("SELECT 1 FROM pragma_module_list WHERE name = 'fts5'")

    def any(self) -> bool:
        """Whether there is a feed."""
        return self.exists("SELECT 1 FROM feeds LIMIT 1")

    def all(self) -> tuple[Feed, ...]:
        """Every feed, in the order in which they came."""
        return self._feeds("ORDER BY id")

    def counts(self) -> dict[int, int]:
        """How many articles of each feed are kept, by its id; those without any are left out."""
        return dict(self.rows("SELECT feed_id, count(*) FROM articles GROUP BY feed_id"))

    def settle_set(self, urls: Sequence[str], *, now: datetime) -> None:
        """Makes the feeds of the settings these and no others."""
        for feed in self.all():
            if feed.is_set and feed.given not in urls:
                self.remove(feed.id)
        for url in urls:
            self.execute("UPDATE feeds SET is_set = 1 WHERE given = ?", (url,))
            self.add(url, is_set=True, now=now)

    def add(self, url: str, *, is_set: bool = False, now: datetime) -> Feed | None:
        """Adds a feed; returns None where it is read already, or there are as many as may be.

        One of the settings (`is_set`) is read however many others there are.
        """
        [(count, known)] = self.rows("SELECT count(*), count(*) FILTER (WHERE ? IN (given, url)) FROM feeds", (url,))
        if known or (count >= MAX_FEEDS and not is_set):
            return None
        self.execute(
            "INSERT INTO feeds (given, is_set, url, due_at) VALUES (?, ?, ?, ?)", (url, is_set, url, millis(now))
        )
        self.notify("feeds")
        return self._feeds("WHERE given = ?", (url,))[0]

    def remove(self, feed: int) -> Feed | None:
        """Removes a feed with its articles, from the index too; returns None where there is none of this number."""
        known = self._feeds("WHERE id = ?", (feed,))
        if not known:
            return None
        if self._drop("feed_id = ?", (feed,)):
            # What was deleted stands in the index until its parts are merged: now.
            self.execute("INSERT INTO article_words (article_words) VALUES ('optimize')")
        self.execute("DELETE FROM feeds WHERE id = ?", (feed,))
        return known[0]

    def due(self, now: datetime) -> Feed | None:
        """The feed that is due first; None while none is due."""
        return next(iter(self._feeds("WHERE due_at <= ? ORDER BY due_at, id LIMIT 1", (millis(now),))), None)

    def next_due_at(self) -> datetime | None:
        """When the next feed is due; None where none ever is."""
        return moment_if(self.value("SELECT min(due_at) FROM feeds"))

    def pull_in(self, *, until: datetime) -> None:
        """Makes no feed due later than then."""
        self.execute("UPDATE feeds SET due_at = ?1 WHERE due_at > ?1", (millis(until),))

    def note(self, feed: Feed) -> bool:
        """Keeps how a feed stands; returns whether it is still there."""
        return self.exists(
            "UPDATE feeds SET url = ?, title = ?, etag = ?, last_modified = ?, digest = ?, due_at = ?, "
            "read_at = ?, failures = ?, trouble = ? WHERE id = ? RETURNING id",
            (
                *(feed.url, feed.title, feed.etag, feed.last_modified, feed.digest, millis_if(feed.due_at)),
                *(millis_if(feed.read_at), feed.failures, feed.trouble, feed.id),
            ),
        )

    def keep(self, feed: int, articles: Iterable[Article]) -> int:
        """Keeps these articles as what stands in the feed now; returns how many of them were new.

        One that another feed has brought before, under the same address, is left there.
        """
        self.execute(WORDS_TABLE)
        self.execute("UPDATE articles SET is_listed = 0 WHERE feed_id = ? AND is_listed", (feed,))
        return sum(self._keep(feed, article) for article in articles)

    def search(self, query: str, *, since: datetime, now: datetime, most: int) -> tuple[tuple[FoundArticle, ...], bool]:
        """The articles from `since` on in which all words of the query stand, the best and newest first.

        Where there is none, those with some of the words; the second value says whether all stood there. Words between
        double quotes have to follow each other. Whatever the query holds, it is words and nothing else.
        """
        words = _words(query)
        if not (words and self._has_index()):
            return (), True
        for joint in (" ", " OR "):
            found = self._find(
                "FROM article_words JOIN articles ON articles.id = article_words.rowid JOIN feeds ON feeds.id = "
                f"feed_id WHERE article_words MATCH ? AND published_at >= ? ORDER BY {_RANK}, articles.id DESC LIMIT ?",
                (joint.join(words), millis(since), millis(now), most),
            )
            if found:
                return found, joint == " "
        return (), True

    def recent(self, *, since: datetime, most: int, feeds: Sequence[int] | None = None) -> tuple[FoundArticle, ...]:
        """The newest articles from `since` on, newest first; of these feeds only, None: of all."""
        # Numbers of feeds, no words of anybody.
        chosen = "" if feeds is None else f"AND feed_id IN ({', '.join(str(int(feed)) for feed in feeds)}) "
        return self._find(
            f"FROM articles JOIN feeds ON feeds.id = feed_id WHERE published_at >= ? {chosen}"
            "ORDER BY published_at DESC, articles.id DESC LIMIT ?",
            (millis(since), most),
        )

    def prune(self, *, before: datetime, most: int) -> int:
        """Deletes articles from before then and the oldest beyond `most`, some hundreds at a time; returns how many.

        Those that stand in their feed still are left: they would come back as new.
        """
        spare = self.value("SELECT max(0, ? - count(*)) FROM articles WHERE is_listed", (most,))
        return self._drop(
            "id IN (SELECT id FROM articles WHERE NOT is_listed AND (published_at < ?1 OR id IN (SELECT id FROM "
            "articles WHERE NOT is_listed ORDER BY published_at DESC, id DESC LIMIT -1 OFFSET ?2)) "
            "ORDER BY id LIMIT ?3)",
            (millis(before), spare, _MAX_PRUNED),
        )

    def _keep(self, feed: int, article: Article) -> bool:
        known = self.rows(
            "SELECT id, feed_id, title, summary FROM articles WHERE (feed_id = ?1 AND key = ?2) OR url = ?3 "
            "ORDER BY feed_id = ?1 AND key = ?2 DESC LIMIT 1",
            (feed, article.key, article.url),
        )
        if not known:
            self._insert(feed, article)
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

    def _insert(self, feed: int, article: Article) -> None:
        [(number,)] = self.rows(
            "INSERT INTO articles (feed_id, key, url, title, summary, published_at, is_dated, is_listed) "
            "VALUES (?, ?, ?, ?, ?, ?, ?, 1) RETURNING id",
            (
                *(feed, article.key, article.url, article.title, article.summary),
                *(millis(article.published_at), article.is_dated),
            ),
        )
        self._index(number, article)

    def _index(self, number: int, article: Article) -> None:
        self.execute(
            "INSERT INTO article_words (rowid, title, summary) VALUES (?, ?, ?)",
            (number, article.title, article.summary),
        )

    def _unindex(self, condition: str, values: Sequence[object]) -> None:
        """Removes articles from the index, which needs the very words that were put in."""
        self.execute(
            "INSERT INTO article_words (article_words, rowid, title, summary) SELECT 'delete', id, title, summary "  # noqa: S608  (literals only)
            f"FROM articles WHERE {condition}",
            values,
        )

    def _drop(self, condition: str, values: Sequence[object]) -> int:
        """Deletes articles, from the index first; returns how many."""
        if not self._has_index():  # then there are none
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
    """The words of a query as strings of FTS5: quoted, so that none of them is an operator or breaks the syntax.

    What stands between double quotes is one string, whose words have to follow each other.
    """
    found: list[str] = []
    # FTS5 ends its reading at a zero, and nobody can encode a half character.
    whole = unicodedata.normalize("NFC", query.replace("\0", " ").encode(errors="ignore").decode())
    for at, piece in enumerate(whole.split('"')):
        # The odd pieces stood between quotes; one that never ends counts as loose words.
        is_phrase = at % 2 == 1 and whole.count('"') > at
        found += [" ".join(piece.split())] if is_phrase else piece.split()
    readable = [word[:_MAX_WORD_CHARS] for word in found if any(map(str.isalnum, word[:_MAX_WORD_CHARS]))]
    return [f'"{word}"' for word in readable[:MAX_WORDS]]
