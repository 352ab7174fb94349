"""News for the tools: the articles of the feeds, kept and searched in the store.

The tools are offered as long as there is a feed, from the settings or from an admin: `FeedService` is asked again for
every turn.
"""

import logging
from collections.abc import Mapping, Sequence
from datetime import datetime
from urllib.parse import urlsplit

from bot.clock import Clock
from store import Feed, FoundArticle, Repositories, Store, StoreError
from tools import Disabled, NotFound, Stories, Story, Tool, shorten

_log = logging.getLogger(__name__)

_NO_FEEDS = "No news feed is read here; search the web instead."
_SHOWN_NAMES = 20
_SHOWN_CHARS = 80


class Feeds:
    """The articles of the feeds; the port of the tools `intel_search` and `intel_recent`."""

    def __init__(self, store: Store, clock: Clock) -> None:
        self._store = store
        self._clock = clock

    async def search(self, query: str, *, since: datetime, limit: int) -> Stories:
        """See `tools.News`."""

        def transact(repos: Repositories) -> Stories:
            _refuse_without(repos)
            found, has_all_words = repos.feeds.search(query, since=since, now=self._clock.wall(), limit=limit)
            return Stories(stories=tuple(map(_story, found)), has_all_words=has_all_words)

        return await self._store.read(transact)

    async def recent(self, *, since: datetime, limit: int, feed: str | None = None) -> tuple[Story, ...]:
        """See `tools.News`."""

        def transact(repos: Repositories) -> tuple[Story, ...]:
            _refuse_without(repos)
            chosen = None if feed is None else _chosen(repos.feeds.all(), feed)
            return tuple(map(_story, repos.feeds.recent(since=since, limit=limit, feeds=chosen)))

        return await self._store.read(transact)

    async def any(self) -> bool:
        """Whether any feed is read here."""
        return await self._store.read(lambda repos: repos.feeds.any() and repos.feeds.can_search())


class FeedService:
    """The news tools, available as long as there is a feed; a `tools.ToolSource`."""

    def __init__(self, tools: Sequence[Tool], feeds: Feeds) -> None:
        self._tools = tuple(tools)
        self._feeds = feeds

    async def tools(self) -> Sequence[Tool]:
        """See `tools.ToolSource`."""
        if not self._tools:
            return ()
        try:
            return self._tools if await self._feeds.any() else ()
        except StoreError as error:
            _log.error("unknown whether there are feeds: %s", error)
            return ()

    @property
    def absent(self) -> Mapping[str, str]:
        """See `tools.ToolSource`: having no feed is not a failure."""
        return {}

    @property
    def unfit(self) -> Mapping[str, tuple[str, ...]]:
        """See `tools.ToolSource`: none is."""
        return {}

    async def aclose(self) -> None:
        """See `tools.ToolSource`: nothing runs."""


def name_of(title: str, url: str) -> str:
    """The name of a feed for people: its title, or else its host."""
    return shorten(title, _SHOWN_CHARS) or (urlsplit(url).hostname or "").removeprefix("www.")


def _refuse_without(repos: Repositories) -> None:
    if not repos.feeds.any():
        raise Disabled(_NO_FEEDS)


def _chosen(feeds: Sequence[Feed], part: str) -> list[int]:
    """The feeds with this text in their name or host.

    Raises:
        NotFound: there is none; it quotes the names of all, which are words of strangers.
    """
    words = part.casefold()
    chosen = [
        feed.id
        for feed in feeds
        if words in name_of(feed.title, feed.url).casefold() or words in (urlsplit(feed.url).hostname or "")
    ]
    if not chosen:
        names = "; ".join(name_of(feed.title, feed.url) for feed in feeds[:_SHOWN_NAMES])
        raise NotFound("No feed has this in its name; those that there are stand beside this.", quoted=names)
    return chosen


def _story(found: FoundArticle) -> Story:
    return Story(
        title=found.title,
        url=found.url,
        feed=name_of(found.feed_title, found.feed_url),
        at=found.published_at,
        is_dated=found.is_dated,
        summary=found.summary,
    )
