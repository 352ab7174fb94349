"""News from feeds: the loop that reads them, the articles, kept and searched in the store, the tools `intel_search` and
`intel_recent`, and the command about feeds: everybody can list them, admins add and remove them.

    due --> read (`bot.media.feeds`) --> its state and its articles, in one transaction --> the next
                                    |--> trouble: at growing intervals (`pause_seconds`)
                                    '--> gone for good: never again

After a crash the same feed is due, and is requested with its validators again.
The tools are offered as long as there is a feed, from the settings or from an admin: `FeedService` is asked again for
every turn. Searches stay on this machine.
"""

import logging
import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Annotated, Any
from urllib.parse import urlsplit
from zoneinfo import ZoneInfo

from pydantic import Field

from bot.chat.intents import plain_name
from bot.clock import Clock, is_set_within
from bot.commands.base import Answer, Call, CommandContext, CommandGroup, WrongForm, command
from bot.i18n.catalogues import Sentence, say
from bot.i18n.locale import moment
from bot.logs import describe_error
from bot.media.feeds import GONE, FeedReader, FeedValidators, Piece, Reading
from bot.metrics import Counts
from store import Article, Feed, FoundArticle, Repositories, Store, StoreError
from tools import (
    MAX_DAYS,
    Arguments,
    BadArguments,
    Intent,
    NewsOptions,
    Result,
    Tool,
    ToolContext,
    ToolSpec,
    canonical_url,
    clean_query,
    shorten,
)

ABOUT_FEEDS = Sentence("ABOUT_FEEDS", "shows the news feeds I read; admins add and remove them.")
FEEDS_OFF = Sentence("FEEDS_OFF", "I'm not reading news feeds here: that's switched off, or this machine can't do it.")
NO_FEEDS = Sentence("NO_FEEDS", "I'm not reading any news feeds yet. An admin can add one with `/feeds add URL`.")
FEED_LINE = Sentence("FEED_LINE", "- {number}: {name}: read on {when} (articles kept: {count})")
FEED_LINE_WAITING = Sentence("FEED_LINE_WAITING", "- {number}: {name}: not read yet")
FEED_ADDED = Sentence("FEED_ADDED", "I'm reading {name} from now on. `/feeds` shows in a minute whether it works.")
FEED_KNOWN = Sentence("FEED_KNOWN", "I'm already reading that feed, or as many as I can.")
FEED_NO_ADDRESS = Sentence(
    "FEED_NO_ADDRESS", "That isn't a web address. It has to begin with https:// and mustn't contain a password."
)
FEED_REMOVED = Sentence("FEED_REMOVED", "I've stopped reading {name} and deleted its articles.")
FEED_IS_SET = Sentence("FEED_IS_SET", "{name} is in my settings. The person who runs me can remove it there.")
FEED_ONLY_ADMINS = Sentence("FEED_ONLY_ADMINS", "Only my admins can change which feeds I read.")
NO_SUCH_FEED = Sentence("NO_SUCH_FEED", "There's no feed with that number; `/feeds` alone shows them all.")
FEED_UNREADABLE = Sentence("FEED_UNREADABLE", "That isn't a feed I can read.")
FEED_UNREACHABLE = Sentence("FEED_UNREACHABLE", "It can't be reached.")
FEED_GONE = Sentence("FEED_GONE", "Its server says it's gone for good.")
_TROUBLES: Mapping[str, Sentence] = {
    **dict.fromkeys(("no_feed", "unreadable", "too_large"), FEED_UNREADABLE),
    "gone": FEED_GONE,
}

_MAX_RESULTS = 20
_MAX_QUERY_CHARS = 400
_MAX_SNIPPET_CHARS = 400


Days = Annotated[int, Field(ge=1, le=MAX_DAYS, description="How many days back from now, such as 7.")]
Limit = Annotated[int, Field(ge=1, le=_MAX_RESULTS, description="The most results.")]

_log = logging.getLogger(__name__)

_MAX_NAP_SECONDS = 60.0
"""The longest sleep: the machine's clock may be set in the meantime, and old articles must go."""
_MIN_NAP_SECONDS = 0.05
_PAUSE_SECONDS = 30.0
MAX_PAUSE_SECONDS = 86_400.0
"""The longest pause, however long a feed asks for or fails: it is read once a day."""
_SHOWN_CHARS = 80


class FeedService:
    """The news tools, available as long as there is a feed; a `tools.ToolSource`."""

    def __init__(self, tools: Sequence[Tool], store: Store) -> None:
        self._tools = tuple(tools)
        self._store = store

    async def tools(self) -> Sequence[Tool]:
        """See `tools.ToolSource`."""
        try:
            are_read = await self._store.read(lambda repos: bool(repos.feeds.all()) and repos.feeds.can_search())
        except StoreError as error:
            _log.error("unknown whether there are feeds: %s", error)
            are_read = False
        return self._tools if are_read else ()

    @property
    def absent(self) -> Mapping[str, str]:
        """See `tools.ToolSource`: having no feed is not a failure."""
        return {}

    async def aclose(self) -> None:
        """See `tools.ToolSource`: nothing runs."""


def name_of(title: str, url: str) -> str:
    """The name of a feed for people: its title, or else its host."""
    return shorten(title, _SHOWN_CHARS) or (urlsplit(url).hostname or "").removeprefix("www.")


class IntelSearchArguments(Arguments):
    """The articles to search for."""

    query: str = Field(
        min_length=1,
        max_length=_MAX_QUERY_CHARS,
        description="A few words in the language of the news.",
    )
    from_days: Days = 14
    limit: Limit = 5


class IntelRecentArguments(Arguments):
    """The period."""

    from_days: Days = 2
    limit: Limit = 10


class IntelSearch:
    """Searches the articles of the feeds of your choice."""

    spec = ToolSpec(
        name="intel_search",
        seldom="news on a subject in the feeds that people here have chosen; before web_search",
        description=(
            "Searches the news feeds that the people here have chosen, kept on this machine for some weeks: title,"
            " address, feed, time and the feed's summary of each article, the best and newest first. For news on a"
            " subject, use it before web_search: it is free and private, but knows only these feeds; web_fetch reads a"
            " whole article."
        ),
        arguments=IntelSearchArguments,
        intent=lambda given: Intent("search_feeds", {"query": given.query}),
        label="feeds",
    )

    def __init__(self, store: Store, clock: Clock) -> None:
        self._store = store
        self._clock = clock

    async def run(self, arguments: IntelSearchArguments, context: ToolContext) -> Result:
        """Returns matching articles; an empty list and a message if there are none.

        Raises:
            BadArguments: the query contains nothing readable.
        """
        query = clean_query(arguments.query)
        if not any(map(str.isalnum, query)):
            raise BadArguments("The query contains no words.")
        since = context.now - timedelta(days=arguments.from_days)
        limit, now = arguments.limit, self._clock.wall()
        found, has_all_words = await self._store.read(
            lambda repos: repos.feeds.search(query, since=since, now=now, limit=limit)
        )
        data: dict[str, Any] = {"query": query}
        if not found:
            data["message"] = "The feeds had nothing about it in this period; try other words, more days or web_search."
        elif not has_all_words:
            data["message"] = "No article contains all of these words; these contain some of them."
        return Result(data=data | {"results": list(map(_row, found))})


class IntelRecent:
    """Lists the latest articles of these feeds."""

    spec = ToolSpec(
        name="intel_recent",
        seldom="what is new in these feeds",
        description=(
            "Lists the latest articles of the news feeds that the people here have chosen, newest first: title,"
            " address, feed, time and the feed's summary of each. For 'what is new' without a subject; for a subject"
            " use intel_search. It knows only these feeds."
        ),
        arguments=IntelRecentArguments,
        intent=lambda _given: Intent("feeds"),
        label="feeds",
    )

    def __init__(self, store: Store, clock: Clock) -> None:
        self._store = store
        self._clock = clock

    async def run(self, arguments: IntelRecentArguments, context: ToolContext) -> Result:
        """Returns the newest articles; an empty list and a message if there are none."""
        since, limit = context.now - timedelta(days=arguments.from_days), arguments.limit
        stories = await self._store.read(lambda repos: repos.feeds.recent(since=since, limit=limit))
        data = {} if stories else {"message": "The feeds had nothing new in this period; try more days."}
        return Result(data={**data, "results": list(map(_row, stories))})


def news_tools(store: Store, clock: Clock) -> tuple[IntelSearch, IntelRecent]:
    """Returns both tools."""
    return IntelSearch(store, clock), IntelRecent(store, clock)


def _row(found: FoundArticle) -> dict[str, Any]:
    """Describes an article as a result; one without an address cannot be cited. Its words are a stranger's."""
    row: dict[str, Any] = {"title": found.title}
    if found.url is not None:
        row |= {"url": found.url, "site": (urlsplit(found.url).hostname or "").removeprefix("www.")}
    row["feed"] = name_of(found.feed_title, found.feed_url)
    row["published" if found.is_dated else "first_seen"] = f"{found.published_at:%Y-%m-%d %H:%M} UTC"
    return row | ({"snippet": shorten(found.summary, _MAX_SNIPPET_CHARS)} if found.summary else {})


_ADD = re.compile(r"add\s+<?(?P<url>[^\s<>]+)>?", re.IGNORECASE)
_REMOVE = re.compile(r"remove\s+(?P<number>\d{1,9})", re.IGNORECASE)


class FeedCommands(CommandGroup):
    """The command about feeds. `is_on` is whether they are read at all."""

    def __init__(self, context: CommandContext, *, is_on: bool, timezone: str) -> None:
        self._context = context
        self._is_on = is_on
        self._timezone = timezone

    @command(
        "/feeds [add URL|remove N]",
        ABOUT_FEEDS,
        section="later",
        examples=("/feeds", "/feeds add URL", "/feeds remove 2"),
    )
    async def _run(self, call: Call) -> Answer:
        """Shows the news feeds that are read, and their state; admins add and remove them."""
        rest = call.command.rest
        added, removed = _ADD.fullmatch(rest), _REMOVE.fullmatch(rest)
        if rest and not (added or removed):
            raise WrongForm

        def answer(repos: Repositories) -> str:
            if not (self._is_on and repos.feeds.can_search()):
                return say(FEEDS_OFF)
            if rest and not call.is_admin:
                return say(FEED_ONLY_ADMINS)
            if added:
                return self._add(repos, added["url"])
            return _remove(repos, int(removed["number"])) if removed else self._list(repos)

        return answer

    def _add(self, repos: Repositories, given: str) -> str:
        url = canonical_url(given)
        if url is None:
            return say(FEED_NO_ADDRESS)
        feed = repos.feeds.add(url, now=self._context.clock.now())
        return say(FEED_KNOWN) if feed is None else say(FEED_ADDED, name=_name(feed))

    def _list(self, repos: Repositories) -> str:
        counts = repos.feeds.counts()
        lines = [self._line(feed, counts.get(feed.id, 0)) for feed in repos.feeds.all()]
        return "\n".join(lines) or say(NO_FEEDS)

    def _line(self, feed: Feed, count: int) -> str:
        when = "" if feed.read_at is None else moment(feed.read_at.astimezone(ZoneInfo(self._timezone)))
        line = say(
            FEED_LINE_WAITING if feed.read_at is None else FEED_LINE,
            number=feed.id,
            name=_name(feed),
            count=count,
            when=when,
        )
        return line if feed.trouble is None else f"{line}. {say(_TROUBLES.get(feed.trouble, FEED_UNREACHABLE))}"


def _remove(repos: Repositories, number: int) -> str:
    feed = next((feed for feed in repos.feeds.all() if feed.id == number), None)
    if feed is None:
        return say(NO_SUCH_FEED)
    if feed.is_set:
        return say(FEED_IS_SET, name=_name(feed))
    repos.feeds.remove(number)
    return say(FEED_REMOVED, name=_name(feed))


def _name(feed: Feed) -> str:
    """Its name; a title is its server's words."""
    return name_of(plain_name(feed.title), feed.url)


class FeedPoller:
    """The loop of the feeds. `reader` None means that news are turned off, and nothing is read."""

    def __init__(
        self, store: Store, clock: Clock, counts: Counts, reader: FeedReader | None, *, news: NewsOptions
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
        if self._reader is None:
            return None
        self._is_settled = self._is_settled or await self._store.transaction(self._settle)
        if not self._is_settled:
            _log.error(
                "TOOLS__NEWS: no feeds are read, for the SQLite of this Python lacks FTS5, its full-text search: use a "
                "Python whose sqlite3 has it, such as those of Debian, python.org or the Docker image"
            )
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

    def _settle(self, repos: Repositories) -> bool:
        """Adds the feeds of the settings to the others; False: none can be kept here."""
        if not repos.feeds.can_search():
            return False
        now = self._clock.now()
        repos.feeds.pull_in(until=now + timedelta(seconds=max(MAX_PAUSE_SECONDS, self._every_seconds)))
        repos.feeds.settle_set(self._news.feeds, now=now)
        return True

    async def _attend(self, reader: FeedReader, feed: Feed) -> None:
        """Reads one feed and keeps its articles; an unexpected failure postpones it like any other."""
        marks = FeedValidators(etag=feed.etag, last_modified=feed.last_modified, digest=feed.digest)
        try:
            reading = await reader.read(feed.url, marks)
        except Exception as error:  # noqa: BLE001  (otherwise it would stay due, ahead of all others)
            _log.error("reading feed %d failed: %s", feed.id, describe_error(error))
            reading = Reading(trouble="failed")
        await self._store.transaction(lambda repos: self._keep(repos, feed, reading))

    def _keep(self, repos: Repositories, feed: Feed, reading: Reading) -> None:
        now, marks = self._clock.wall(), reading.marks
        if reading.trouble:
            self._counts.add("feeds_failed")
            _log.warning("feed %d cannot be read (%s)", feed.id, reading.trouble)
            failures = 0 if reading.trouble == GONE else feed.failures + 1
            feed = replace(feed, failures=failures, trouble=reading.trouble)
        else:
            feed = replace(
                feed,
                url=reading.url,
                title=reading.title or feed.title,
                etag=marks.etag,
                last_modified=marks.last_modified,
                digest=marks.digest,
                read_at=now,
                failures=0,
                trouble=None,
            )
        wanted_seconds = reading.pause_seconds
        pause = pause_seconds(every_seconds=self._every_seconds, wanted_seconds=wanted_seconds, failures=feed.failures)
        due_at = None if feed.trouble == GONE else self._clock.now() + timedelta(seconds=pause)
        is_there = repos.feeds.note(replace(feed, due_at=due_at))
        if reading.is_changed:
            kept = repos.feeds.keep(feed.id, self._articles(reading.pieces, now)) if is_there else 0
            for name in ("feeds_read", *["feed_articles"] * kept):
                self._counts.add(name)
        elif not reading.trouble:
            self._counts.add("feeds_unchanged")

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


def pause_seconds(*, every_seconds: float, wanted_seconds: float, failures: int) -> float:
    """Returns the seconds until a feed is read again; the operator, the feed and failures can each only delay it.

    Each failure doubles the interval, up to once a day: most feeds recover, and the others cost nothing.

    `every_seconds` is the operator's interval, `wanted_seconds` the feed's (0: none), `failures` how often it has
    failed since it was last read.
    """
    doublings = min(max(failures - 1, 0), 10)
    patient = max(every_seconds * 2**doublings, wanted_seconds)
    return min(patient, max(MAX_PAUSE_SECONDS, every_seconds))
