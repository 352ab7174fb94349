"""The settings of the feeds and of the tools that search them."""

from typing import Annotated

from pydantic import AfterValidator, Field

from tools.base import FIXED, CommaList, Options

_MAX_FEEDS = 50
MAX_DAYS = 365


def _as_feed(given: str) -> str:
    from tools.web.addresses import canonical_url  # where feeds are set: httpx comes with it

    url = canonical_url(given)
    if url is None:
        raise ValueError("must be a comma-separated list of addresses such as https://example.org/feed.xml")
    return url


class NewsOptions(Options):
    """The settings `TOOLS__NEWS__<FIELD>`, of both tools and of the feed poller."""

    known_to = ()
    """The feeds' servers see that they are polled, but never what is searched for."""
    feeds: Annotated[
        tuple[Annotated[str, AfterValidator(_as_feed)], ...],
        CommaList,
        AfterValidator(lambda feeds: tuple(dict.fromkeys(feeds))),
        Field(max_length=_MAX_FEEDS),
    ] = ()
    """The RSS and Atom feeds to read: a comma-separated list of at most 50 public addresses. Admins can add others with
    `/feeds`. Without any feed, models are not offered these tools."""
    poll_minutes: Annotated[int, FIXED] = 60
    """How often each feed is polled."""
    kept_days: Annotated[int, FIXED] = 30
    """How long articles are kept."""
    max_entries: Annotated[int, FIXED] = 5000
    """The largest number of articles in all feeds; the oldest of the largest feeds are removed first."""

    def idle_services(self) -> dict[str, str]:
        """See `Options`: your own feeds, as long as the settings name none."""
        return {} if self.feeds else {"the feeds that you name": "FEEDS"}
