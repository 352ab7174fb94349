"""News from feeds: the loop that reads them, the articles, kept and searched in the store, the tools `intel_search` and
`intel_recent`, and the command about feeds: everybody can list them, admins add and remove them.

    due --validators--> 304 ------------------------> nothing new
                    |-> a feed, opened in a cell ---> its articles, kept with its state in one transaction
                    '-> anything else, no answer ---> trouble: asked again an interval later

Its content comes from a stranger, even if an admin chose it: only the public web is asked, sizes and times are bounded,
and it is opened in a process of its own. After a crash the same feed is due, and is requested with its validators
again. The tools are offered as long as there is a feed, from the settings or from an admin: `FeedService` is asked
again for every turn. Searches stay on this machine.

Source: RFC 9110 (13.1, 15.4); most feed servers answer conditional requests (2026-11).
"""

import logging
import re
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from decimal import Decimal
from functools import partial
from http import HTTPStatus
from typing import Annotated, Any
from urllib.parse import urlsplit
from zoneinfo import ZoneInfo

from pydantic import AfterValidator, BaseModel, ConfigDict, Field

from bot.chat.intents import plain_name
from bot.clock import Clock, is_set_within
from bot.commands.base import Answer, Call, CommandGroup, WrongForm, command
from bot.i18n.catalogues import Sentence, say
from bot.i18n.locale import moment
from bot.logs import describe_error
from bot.media.sandbox import Sandbox, check_facts
from bot.metrics import Counts
from store import Article, Feed, FoundArticle, Repositories, Store
from tools import (
    MAX_DAYS,
    Arguments,
    BadArguments,
    Embedder,
    FetchedPage,
    Fetcher,
    Intent,
    NewsOptions,
    Result,
    Tool,
    TooLarge,
    ToolContext,
    ToolError,
    ToolSource,
    ToolSpec,
    canonical_url,
    clean_query,
    distance,
    fuse,
    plain,
    shorten,
)

ABOUT_FEEDS = Sentence("ABOUT_FEEDS", "shows the news feeds I read; admins add and remove them.")
FEEDS_OFF = Sentence("FEEDS_OFF", "I'm not reading news feeds here: that's switched off.")
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

MAX_BYTES = 2_000_000
"""The largest feed that is read."""

_MAX_MARK_CHARS = 500
_ACCEPTED = ("application/atom+xml", "application/rss+xml", "application/xml", "application/*", "text/*", "")
_NO_FEED, _UNREACHABLE = "no_feed", "unreachable"
"""What can be the trouble with a feed."""
_MIN_NAP_SECONDS, _MAX_NAP_SECONDS = 0.05, 60.0
_PAUSE_SECONDS = 30.0
_EMBED_SECONDS = 8.0
_MAX_RANKED = 50

Days = Annotated[int, Field(ge=1, le=MAX_DAYS, description="How many days back from now, such as 7.")]
Limit = Annotated[int, Field(ge=1, le=20, description="The most results.")]

_log = logging.getLogger(__name__)


class FeedService(ToolSource):
    """The news tools, available as long as there is a feed."""

    def __init__(self, tools: Sequence[Tool], store: Store) -> None:
        self._tools = tuple(tools)
        self._store = store

    async def tools(self) -> Sequence[Tool]:
        """See `tools.ToolSource`."""
        return self._tools if await self._store.read(lambda repos: repos.feeds.all()) else ()


def name_of(title: str, url: str) -> str:
    """The name of a feed for people: its title, or else its host."""
    return shorten(title, 80) or (urlsplit(url).hostname or "").removeprefix("www.")


class IntelSearchArguments(Arguments):
    """The articles to search for."""

    query: str = Field(min_length=1, max_length=400, description="A few words in the language of the news.")
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
        seldom="news in the feeds chosen here; before web_search",
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

    def __init__(self, store: Store, embedder: Embedder | None = None) -> None:
        """With an `embedder` it also finds what says the same in other words."""
        self._store = store
        self._embedder = embedder

    async def run(self, arguments: IntelSearchArguments, context: ToolContext) -> Result:
        """Returns matching articles; an empty list and a message if there are none.

        Raises:
            BadArguments: the query contains nothing readable.
        """
        query = clean_query(arguments.query)
        if not any(map(str.isalnum, query)):
            raise BadArguments("The query contains no words.")
        since, now, limit = context.now - timedelta(days=arguments.from_days), context.now, arguments.limit
        vector = None
        cost = Decimal(0)
        if self._embedder is not None:
            with suppress(ToolError):  # its words find it all the same
                [vector], tokens = await self._embedder.embed([query], timeout_seconds=_EMBED_SECONDS)
                cost = self._embedder.cost_usd(tokens) or cost

        def search(repos: Repositories) -> tuple[Sequence[FoundArticle], bool]:
            found, has_all_words = repos.feeds.search(query, since=since, now=now, limit=_MAX_RANKED)
            if vector is None or self._embedder is None:
                return found[:limit], has_all_words
            vectors = repos.feeds.vectors(self._embedder.model, since=since)
            nearest = sorted(vectors, key=lambda one, vector=vector: distance(one[1], vector))[:_MAX_RANKED]
            return fuse(found, repos.feeds.of_ids(id_ for id_, _ in nearest))[:limit], has_all_words or bool(nearest)

        found, has_all_words = await self._store.read(search)
        data: dict[str, Any] = {"query": query}
        if not found:
            data["message"] = "The feeds had nothing about it in this period; try other words, more days or web_search."
        elif not has_all_words:
            data["message"] = "No article contains all of these words; these contain some of them."
        return Result(data=data | {"results": list(map(_row, found))}, cost_usd=cost)


class IntelRecent:
    """Lists the latest articles of these feeds."""

    spec = ToolSpec(
        name="intel_recent",
        seldom="what is new in them",
        description=(
            "Lists the latest articles of the news feeds that the people here have chosen, newest first: title,"
            " address, feed, time and the feed's summary of each. For 'what is new' without a subject; for a subject"
            " use intel_search. It knows only these feeds."
        ),
        arguments=IntelRecentArguments,
        intent=lambda _given: Intent("feeds"),
        label="feeds",
    )

    def __init__(self, store: Store) -> None:
        self._store = store

    async def run(self, arguments: IntelRecentArguments, context: ToolContext) -> Result:
        """Returns the newest articles; an empty list and a message if there are none."""
        since, limit = context.now - timedelta(days=arguments.from_days), arguments.limit
        stories = await self._store.read(lambda repos: repos.feeds.recent(since=since, limit=limit))
        data = {} if stories else {"message": "The feeds had nothing new in this period; try more days."}
        return Result(data={**data, "results": list(map(_row, stories))})


def _row(found: FoundArticle) -> dict[str, Any]:
    """Describes an article as a result; one without an address cannot be cited. Its words are a stranger's."""
    row: dict[str, Any] = {"title": found.title}
    if found.url is not None:
        row |= {"url": found.url, "site": (urlsplit(found.url).hostname or "").removeprefix("www.")}
    row["feed"] = name_of(found.feed_title, found.feed_url)
    row["published" if found.is_dated else "first_seen"] = f"{found.published_at:%Y-%m-%d %H:%M} UTC"
    return row | ({"snippet": shorten(found.summary, 400)} if found.summary else {})


_ADD = re.compile(r"add\s+<?(?P<url>[^\s<>]+)>?", re.IGNORECASE)
_REMOVE = re.compile(r"remove\s+(?P<number>\d{1,9})", re.IGNORECASE)


@dataclass
class FeedCommands(CommandGroup):
    """The command about feeds. `is_on` is whether they are read at all."""

    is_on: bool
    timezone: str

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
            if not self.is_on:
                return say(FEEDS_OFF)
            if rest and not call.is_admin:
                return say(FEED_ONLY_ADMINS)
            if added:
                url = canonical_url(added["url"])
                feed = None if url is None else repos.feeds.add(url, now=self.context.clock.now())
                if feed is None:
                    return say(FEED_NO_ADDRESS if url is None else FEED_KNOWN)
                return say(FEED_ADDED, name=_name(feed))
            if removed:
                return _remove(repos, int(removed["number"]))
            return "\n".join(map(self._line, repos.feeds.all())) or say(NO_FEEDS)

        return answer

    def _line(self, feed: Feed) -> str:
        when = "" if feed.read_at is None else moment(feed.read_at.astimezone(ZoneInfo(self.timezone)))
        line = say(
            FEED_LINE_WAITING if feed.read_at is None else FEED_LINE,
            number=feed.id,
            name=_name(feed),
            count=feed.articles,
            when=when,
        )
        if feed.trouble is None:
            return line
        return f"{line}. {say(FEED_UNREADABLE if feed.trouble == _NO_FEED else FEED_UNREACHABLE)}"


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


def _plain(max_chars: int) -> AfterValidator:
    return AfterValidator(lambda words: shorten(plain(words), max_chars))


class Piece(BaseModel):
    """One article of a feed, in plain words; made of what a cell reports, see `bot.media.feed_parser`."""

    model_config = ConfigDict(frozen=True, val_temporal_unit="seconds")

    key: str = Field(min_length=1, max_length=64)
    """A short fingerprint of its id in the feed."""
    url: Annotated[str | None, AfterValidator(lambda url: url and canonical_url(url))]
    """In canonical form; None if it has none that leads anywhere."""
    title: Annotated[str, Field(max_length=1_000), _plain(300)]
    summary: Annotated[str, Field(max_length=10_000), _plain(800)]
    published_at: datetime | None
    """None if the feed does not say."""


class _Content(BaseModel):
    """What a cell reports about a feed."""

    title: Annotated[str, Field(max_length=1_000), _plain(300)]
    entries: tuple[Piece, ...] = Field(max_length=100)


def _mark(page: FetchedPage, name: str) -> str | None:
    """A header to be sent back; None if it is missing or could not be sent unchanged."""
    value = page.headers.get(name, "")
    return value if value and len(value) <= _MAX_MARK_CHARS and value.isascii() and value.isprintable() else None


@dataclass
class FeedPoller:
    """The loop of the feeds: fetches those that are due, and opens them in cells."""

    store: Store
    clock: Clock
    counts: Counts
    fetcher: Fetcher
    sandbox: Sandbox
    news: NewsOptions
    is_settled: bool = False
    """Whether the feeds of the settings are among the others."""

    async def run(self) -> None:
        """Reads what is due, again and again; ends only by cancellation."""
        wakeup = self.store.wakeups["feeds"]
        while True:
            wakeup.clear()
            try:
                seconds = await self.attend_all()
            except Exception as error:  # noqa: BLE001  (it is retried)
                _log.error("reading feeds failed: %s", describe_error(error))
                seconds = _PAUSE_SECONDS
            await is_set_within(wakeup, seconds)

    async def attend_all(self) -> float:
        """Reads every feed that is due; returns the seconds until the next look.

        Raises:
            StoreError: what was read could not be kept; try again later.
        """
        if not self.is_settled:
            urls = self.news.feeds
            await self.store.transaction(lambda repos: repos.feeds.settle_set(urls, now=self.clock.now()))
            self.is_settled = True
        every = timedelta(minutes=self.news.poll_minutes)
        kept = timedelta(days=self.news.kept_days)

        def due(repos: Repositories) -> Feed | None:
            now = self.clock.now()
            return repos.feeds.due(now, until=now + every)

        while (feed := await self.store.read(due)) is not None:
            read, pieces = await self.read(feed)
            known = replace(read, due_at=self.clock.now() + every)
            await self.store.transaction(partial(self._keep, feed=known, pieces=pieces, since=self.clock.now() - kept))

        def prune(repos: Repositories) -> int:
            return repos.feeds.prune(before=self.clock.now() - kept, limit=self.news.max_entries)

        while not self.clock.doubt() and await self.store.transaction(prune):
            continue
        if (next_at := await self.store.read(lambda repos: repos.feeds.next_due_at())) is None:
            return _MAX_NAP_SECONDS
        seconds = (next_at - self.clock.now()).total_seconds()
        return min(max(seconds, _MIN_NAP_SECONDS), _MAX_NAP_SECONDS)

    def _keep(self, repos: Repositories, feed: Feed, pieces: Sequence[Piece] | None, since: datetime) -> None:
        now = self.clock.now()
        if feed.trouble is None:
            feed = replace(feed, read_at=now)
        else:
            self.counts.add("feeds_failed")
            _log.warning("feed %d cannot be read (%s)", feed.id, feed.trouble)
        is_there = repos.feeds.note(feed)
        if pieces is not None:
            articles = [
                Article(
                    key=piece.key,
                    url=piece.url,
                    title=piece.title,
                    summary=piece.summary,
                    # One that is dated later than now would stay on top of all others.
                    published_at=min(piece.published_at or now, now),
                    is_dated=piece.published_at is not None and piece.published_at <= now,
                )
                for piece in pieces
            ]
            recent = [article for article in articles if article.published_at >= since]
            kept = repos.feeds.keep(feed.id, recent) if is_there else 0
            for name in ("feeds_read", *["feed_articles"] * kept):
                self.counts.add(name)
        elif feed.trouble is None:
            self.counts.add("feeds_unchanged")

    async def read(self, feed: Feed) -> tuple[Feed, Sequence[Piece] | None]:
        """Asks for what is new in a feed, within a minute; raises nothing but cancellation. Returns the feed as it is
        known now, with its `trouble` if there is any, and its articles; None: those of the last time, or unreadable.
        """
        try:
            return await self._read(feed)
        except (BadArguments, TooLarge):
            return replace(feed, trouble=_NO_FEED), None
        except ToolError:
            return replace(feed, trouble=_UNREACHABLE), None
        except Exception as error:  # noqa: BLE001  (otherwise it would stay due, ahead of all others)
            _log.error("reading feed %d failed: %s", feed.id, describe_error(error))
            return replace(feed, trouble=_UNREACHABLE), None

    async def _read(self, feed: Feed) -> tuple[Feed, Sequence[Piece] | None]:
        marks = {"If-None-Match": feed.etag, "If-Modified-Since": feed.last_modified}
        sent = {name: mark for name, mark in marks.items() if mark is not None}
        page = await self.fetcher.get(
            feed.url, accept=_ACCEPTED, max_bytes=MAX_BYTES, timeout_seconds=30.0, headers=sent
        )
        if page.status == HTTPStatus.NOT_MODIFIED and sent:
            return replace(feed, trouble=None), None
        if not page.ok:
            return replace(feed, trouble=_UNREACHABLE), None
        facts, _ = await self.sandbox.open("feed_parser", page.body, page.url, page.charset or "", timeout_seconds=20.0)
        found = check_facts(_Content, facts)
        etag = _mark(page, "etag")
        last_modified = _mark(page, "last-modified")
        title = found.title or feed.title
        return replace(feed, title=title, etag=etag, last_modified=last_modified, trouble=None), found.entries
