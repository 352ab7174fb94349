"""The tools of the news, over a port that a test fills."""

from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from tools import BadArguments, Disabled, NotFound, Stories, Story, ToolContext
from tools.news.options import NewsOptions
from tools.news.tool import IntelRecent, IntelRecentArguments, IntelSearch, IntelSearchArguments


@dataclass
class Archive:
    """Stands behind the port `News`: gives what a test has put in, and remembers what it was asked."""

    stories: tuple[Story, ...] = ()
    has_all_words: bool = True
    fails: Exception | None = None
    asked: list[tuple[Any, ...]] = field(default_factory=list[tuple[Any, ...]])

    async def search(self, query: str, *, since: datetime, limit: int) -> Stories:
        self.asked.append((query, since, limit))
        if self.fails is not None:
            raise self.fails
        return Stories(stories=self.stories[:limit], has_all_words=self.has_all_words)

    async def recent(self, *, since: datetime, limit: int, feed: str | None = None) -> tuple[Story, ...]:
        self.asked.append((feed, since, limit))
        if self.fails is not None:
            raise self.fails
        return self.stories[:limit]


NOW = datetime(2026, 11, 21, 14, 30, 15, tzinfo=UTC)  # as the context of these tests has it
LIT = Story(
    title="The lamp is lit",
    url="https://www.lamps.example/lit",
    feed="The Lamp Post",
    at=NOW - timedelta(hours=3),
    is_dated=True,
    summary="At dusk, " + "very " * 200,
)
BARE = Story(title="A note", url=None, feed="Notes", at=NOW - timedelta(days=1), is_dated=False, summary="")


class Asked:
    """Both tools over an archive."""

    def __init__(self, context: ToolContext) -> None:
        self.archive = Archive()
        self._search, self._recent = IntelSearch(self.archive), IntelRecent(self.archive)
        self._context = context

    async def search(self, query: str = "lamp", **arguments: Any) -> Any:
        return (await self._search.run(IntelSearchArguments(query=query, **arguments), self._context)).data

    async def recent(self, **arguments: Any) -> Any:
        return (await self._recent.run(IntelRecentArguments(**arguments), self._context)).data


@pytest.fixture
def ask(context: ToolContext) -> Asked:
    return Asked(context)


async def test_results_look_like_those_of_every_search(ask: Asked) -> None:
    """With feed, site and time; one without an address cannot be cited."""
    ask.archive.stories = (LIT, BARE)
    data = await ask.search("lit  lamp")
    assert data["query"] == "lit lamp"
    first, second = data["results"]
    snippet = first.pop("snippet")
    assert first == {
        "title": "The lamp is lit",
        "url": "https://www.lamps.example/lit",
        "site": "lamps.example",
        "feed": "The Lamp Post",
        "published": "2026-11-21 11:30 UTC",
    }
    assert snippet.startswith("At dusk, very")
    assert len(snippet) <= 400
    assert second == {"title": "A note", "feed": "Notes", "first_seen": "2026-11-20 14:30 UTC"}
    assert ["url" in row for row in (await ask.recent())["results"]] == [True, False]


async def test_days_are_counted_from_now(ask: Asked) -> None:
    """And what is asked is handed on as it stands, on one line."""
    await ask.search("red\nlamp", from_days=7, limit=3)
    await ask.recent(from_days=1, feed="Post")
    assert ask.archive.asked == [("red lamp", NOW - timedelta(days=7), 3), ("Post", NOW - timedelta(days=1), 10)]


async def test_a_query_without_words_is_refused(ask: Asked) -> None:
    """Signs alone, or what nobody sees."""
    for query in ("?!", "\u200b\u200b", '""'):
        with pytest.raises(BadArguments):
            await ask.search(query)
    assert ask.archive.asked == []


@pytest.mark.parametrize("error", [Disabled("no feed"), NotFound("no such feed")])
async def test_the_failures_of_the_port_come_through(ask: Asked, error: Exception) -> None:
    """As they are."""
    ask.archive.fails = error
    with pytest.raises(type(error)):
        await ask.recent()
    with pytest.raises(type(error)):
        await ask.search()


@pytest.mark.parametrize(
    ("given", "feeds"),
    [
        ("", ()),
        ("https://a.example/feed", ("https://a.example/feed",)),
        (
            " HTTPS://A.example:443/Feed?x=1 ,https://b.example , https://b.example",
            ("https://a.example/Feed?x=1", "https://b.example/"),
        ),
    ],
)
def test_feeds_are_a_comma_list_of_addresses(given: str, feeds: tuple[str, ...]) -> None:
    """Each once, in its one spelling; only then does the store know them again."""
    options = NewsOptions.model_validate({"feeds": given})
    assert options.feeds == feeds
    assert bool(options.idle_services()) is not bool(feeds)
    assert options.seen_by() == ()
