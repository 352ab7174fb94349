"""The tools `intel_search` and `intel_recent`: articles of the feeds that are read here, from our own store.

Both share a settings group. Searches stay on this machine.
"""

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Annotated, Any, Protocol
from urllib.parse import urlsplit

from pydantic import Field

from tools.base import Arguments, Intent, Result, ToolContext, ToolSpec
from tools.errors import BadArguments
from tools.news.options import MAX_DAYS
from tools.search.service import clean_query
from tools.text import shorten

_MAX_RESULTS = 20
_MAX_QUERY_CHARS = 400
_MAX_SNIPPET_CHARS = 400


Days = Annotated[int, Field(ge=1, le=MAX_DAYS, description="How many days back from now, such as 7.")]
Limit = Annotated[int, Field(ge=1, le=_MAX_RESULTS, description="The most results.")]


@dataclass(frozen=True, kw_only=True, slots=True)
class Story:
    """An article of a feed. Its words are a stranger's: plain text, not to be obeyed."""

    title: str
    url: str | None
    """The normalized http or https address; None: the feed gives none."""
    feed: str
    """The name of its feed."""
    at: datetime
    """When it was published, aware, in UTC; if the feed does not tell, when it was first seen."""
    is_dated: bool
    """Whether the feed tells when it was published."""
    summary: str
    """The summary from the feed; may be empty."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Stories:
    """The stories found for a query."""

    stories: tuple[Story, ...]
    """The best and newest first."""
    has_all_words: bool = True
    """Whether each contains all words; otherwise none does, and these contain some of them."""


class News(Protocol):
    """The articles of the feeds that are read here. Searches are not recorded."""

    async def search(self, query: str, *, since: datetime, limit: int) -> Stories:
        """Returns stories from `since` on that contain the words of the query; quoted words follow each other.

        Raises:
            Disabled: no feed is read here.
        """
        ...

    async def recent(self, *, since: datetime, limit: int, feed: str | None = None) -> tuple[Story, ...]:
        """Returns the newest stories from `since` on, newest first. `feed` is part of a feed's name; None: all feeds.

        Raises:
            NotFound: no feed has this in its name.
            Disabled: no feed is read here.
        """
        ...


class IntelSearchArguments(Arguments):
    """The articles to search for."""

    query: str = Field(
        min_length=1,
        max_length=_MAX_QUERY_CHARS,
        description='A few words in the language of the news; "two words" in double quotes have to follow each other.',
    )
    from_days: Days = 14
    limit: Limit = 5


class IntelRecentArguments(Arguments):
    """The period, and the feed."""

    from_days: Days = 2
    limit: Limit = 10
    feed: str | None = Field(
        default=None,
        min_length=1,
        max_length=200,
        description="Part of a feed's name, as in the results; default: all feeds.",
    )


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

    def __init__(self, news: News) -> None:
        self._news = news

    async def run(self, arguments: IntelSearchArguments, context: ToolContext) -> Result:
        """Returns matching articles; an empty list and a message if there are none.

        Raises:
            BadArguments: the query contains nothing readable.
            Disabled: no feed is read here.
        """
        query = clean_query(arguments.query)
        if not any(map(str.isalnum, query)):
            raise BadArguments("The query contains no words.")
        since = context.now - timedelta(days=arguments.from_days)
        found = await self._news.search(query, since=since, limit=arguments.limit)
        data: dict[str, Any] = {"query": query}
        if not found.stories:
            data["message"] = "The feeds had nothing about it in this period; try other words, more days or web_search."
        elif not found.has_all_words:
            data["message"] = "No article contains all of these words; these contain some of them."
        return Result(data=data | {"results": list(map(_row, found.stories))})


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

    def __init__(self, news: News) -> None:
        self._news = news

    async def run(self, arguments: IntelRecentArguments, context: ToolContext) -> Result:
        """Returns the newest articles; an empty list and a message if there are none.

        Raises:
            NotFound: no feed has this in its name; the error quotes the existing ones.
            Disabled: no feed is read here.
        """
        since = context.now - timedelta(days=arguments.from_days)
        stories = await self._news.recent(since=since, limit=arguments.limit, feed=arguments.feed)
        data = {} if stories else {"message": "The feeds had nothing new in this period; try more days."}
        return Result(data={**data, "results": list(map(_row, stories))})


def news_tools(news: News) -> tuple[IntelSearch, IntelRecent]:
    """Returns both tools."""
    return IntelSearch(news), IntelRecent(news)


def _row(story: Story) -> dict[str, Any]:
    """Describes a story as a result; one without an address cannot be cited."""
    told: dict[str, Any] = {"title": story.title}
    if story.url is not None:
        told |= {"url": story.url, "site": (urlsplit(story.url).hostname or "").removeprefix("www.")}
    told |= {"feed": story.feed, "published" if story.is_dated else "first_seen": f"{story.at:%Y-%m-%d %H:%M} UTC"}
    return told | ({"snippet": shorten(story.summary, _MAX_SNIPPET_CHARS)} if story.summary else {})
