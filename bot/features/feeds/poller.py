"""Reads the feeds, one after the other, each when it is due, and keeps their articles. Nothing waits for it.

    due --> read (`bot.media.feeds`) --> its state and its articles, in one transaction --> the next
                                    |--> trouble: at growing intervals (`pause_seconds`)
                                    '--> gone for good: never again

Everything that has to last is in the store: after a crash the same feed is due, and is requested with its validators
again.
"""

import logging
from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime, timedelta

from bot.clock import Clock, is_set_within
from bot.logs import describe_error
from bot.media.feeds import FeedNews, FeedReader, FeedValidators, Gone, Piece, Reading, Trouble, Unchanged
from bot.metrics import Counts
from store import Article, Feed, Repositories, Store, StoreError
from tools import NewsOptions

_log = logging.getLogger(__name__)

_MAX_NAP_SECONDS = 60.0
"""The longest sleep: the machine's clock may be set in the meantime, and old articles must go."""
_MIN_NAP_SECONDS = 0.05
_PAUSE_SECONDS = 30.0
MAX_PAUSE_SECONDS = 86_400.0
"""The longest pause, however long a feed asks for or fails: it is read once a day."""
_GONE = "gone"


class FeedPoller:
    """The loop of the feeds. `reader` None means that news are turned off, and nothing is read."""

    def __init__(
        self,
        store: Store,
        clock: Clock,
        counts: Counts,
        reader: FeedReader | None,
        *,
        news: NewsOptions,
    ) -> None:
        self._store = store
        self._clock = clock
        self._counts = counts
        self._reader = reader
        self._news = news
        self._every_seconds = 60.0 * news.poll_minutes
        self._kept = timedelta(days=news.kept_days)
        self._is_settled = False

    async def run(self) -> None:
        """Reads what is due, again and again; ends only by cancellation, or at once if there is nothing to read."""
        wakeup = self._store.wakeups["feeds"]
        while True:
            wakeup.clear()
            try:
                seconds = await self.attend_all()
            except Exception as error:  # noqa: BLE001  (it is retried)
                _log.error("reading feeds failed: %s", describe_error(error))
                seconds = _PAUSE_SECONDS
            if seconds is None:
                return
            await is_set_within(wakeup, seconds)

    async def attend_all(self) -> float | None:
        """Reads every feed that is due; returns the seconds until the next look, None for never.

        Raises:
            StoreError: what was read could not be kept; try again later.
        """
        if self._reader is None or not await self._settled():
            return None
        while (feed := await self._store.read(lambda repos: repos.feeds.due(self._clock.now()))) is not None:
            await self._attend(self._reader, feed)

        def prune(repos: Repositories) -> int:
            return repos.feeds.prune(before=self._clock.settled_now() - self._kept, limit=self._news.max_entries)

        while await self._store.transaction(prune):
            continue
        next_at = await self._store.read(lambda repos: repos.feeds.next_due_at())
        if next_at is None:
            return _MAX_NAP_SECONDS
        seconds = (next_at - self._clock.now()).total_seconds()
        return min(max(seconds, _MIN_NAP_SECONDS), _MAX_NAP_SECONDS)

    async def _attend(self, reader: FeedReader, feed: Feed) -> None:
        """Reads one feed and keeps its articles; an unexpected failure postpones it like any other."""
        marks = FeedValidators(etag=feed.etag, last_modified=feed.last_modified, digest=feed.digest)
        try:
            reading = await reader.read(feed.url, marks)
            await self._store.transaction(lambda repos: self._keep(repos, feed, reading))
        except StoreError:
            raise
        except Exception as error:  # noqa: BLE001  (otherwise it would stay due, ahead of all others)
            _log.error("reading feed %d failed: %s", feed.id, describe_error(error))
            await self._store.transaction(lambda repos: self._keep(repos, feed, Trouble(word="failed")))

    async def _settled(self) -> bool:
        """Whether feeds can be read here; the first time, adds those of the settings to the others."""
        if self._is_settled:
            return True

        def settle(repos: Repositories) -> bool:
            if not repos.feeds.can_search():
                return False
            now = self._clock.now()
            longest = timedelta(seconds=max(MAX_PAUSE_SECONDS, self._every_seconds))
            repos.feeds.pull_in(until=now + longest)
            repos.feeds.settle_set(self._news.feeds, now=now)
            return True

        self._is_settled = await self._store.transaction(settle)
        if not self._is_settled:
            _log.error(
                "TOOLS__NEWS: no feeds are read, for the SQLite of this Python lacks FTS5, its full-text search: use a "
                "Python whose sqlite3 has it, such as those of Debian, python.org or the Docker image"
            )
        return self._is_settled

    def _keep(self, repos: Repositories, feed: Feed, reading: Reading) -> None:
        now = self._clock.wall()
        match reading:
            case Trouble(word=word):
                self._note(repos, replace(feed, failures=feed.failures + 1, trouble=word), reading.pause_seconds)
                self._count_failure(feed, word)
            case Gone():
                repos.feeds.note(replace(feed, due_at=None, failures=0, trouble=_GONE))
                self._count_failure(feed, _GONE)
            case Unchanged():
                self._note(repos, self._read(feed, reading, now), reading.pause_seconds)
                self._counts.add("feeds_unchanged")
            case FeedNews():
                read = replace(self._read(feed, reading, now), title=reading.title or feed.title)
                if self._note(repos, read, reading.pause_seconds):
                    for _ in range(repos.feeds.keep(feed.id, self._articles(reading.pieces, now))):
                        self._counts.add("feed_articles")
                self._counts.add("feeds_read")

    def _read(self, feed: Feed, reading: FeedNews | Unchanged, now: datetime) -> Feed:
        """The feed, just read."""
        marks = reading.marks
        return replace(
            feed,
            url=reading.url,
            etag=marks.etag,
            last_modified=marks.last_modified,
            digest=marks.digest,
            read_at=now,
            failures=0,
            trouble=None,
        )

    def _note(self, repos: Repositories, feed: Feed, wanted_seconds: float) -> bool:
        seconds = pause_seconds(
            every_seconds=self._every_seconds,
            wanted_seconds=wanted_seconds,
            failures=feed.failures,
        )
        return repos.feeds.note(replace(feed, due_at=self._clock.now() + timedelta(seconds=seconds)))

    def _articles(self, pieces: Sequence[Piece], now: datetime) -> list[Article]:
        """The articles recent enough to be kept. None is dated later than now, or it would stay on top of all
        others.
        """
        articles = [
            Article(
                key=piece.key,
                url=piece.url,
                title=piece.title,
                summary=piece.summary,
                published_at=min(piece.published_at or now, now),
                is_dated=piece.published_at is not None and piece.published_at <= now,
            )
            for piece in pieces
        ]
        return [article for article in articles if article.published_at >= now - self._kept]

    def _count_failure(self, feed: Feed, word: str) -> None:
        self._counts.add("feeds_failed")
        _log.warning("feed %d cannot be read (%s)", feed.id, word)


def pause_seconds(*, every_seconds: float, wanted_seconds: float, failures: int) -> float:
    """Returns the seconds until a feed is read again; the operator, the feed and failures can each only delay it.

    Each failure doubles the interval, up to once a day: most feeds recover, and the others cost nothing.

    `every_seconds` is the operator's interval, `wanted_seconds` the feed's (0: none), `failures` how often it has
    failed since it was last read.
    """
    doublings = min(max(failures - 1, 0), 10)
    patient = max(every_seconds * 2**doublings, wanted_seconds)
    return min(patient, max(MAX_PAUSE_SECONDS, every_seconds))
